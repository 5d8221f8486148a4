/** A JSON value of a kind that its field does not have: what is said about it, and what to send in its place. */
import { quoted } from '../fault.ts';
import { checkText } from './check-text.ts';
import { type JsonValue, kindOf } from './json-value.ts';
import type { SimpleType } from './simple-types.ts';

/** What such a fault says beside its place and its code. */
export type WrongKind = {
  readonly mensagem: string;
  readonly encontrado: string;
  readonly esperado: string;
  readonly correcao?: string;
};

/** `esperado`: what belongs there, as it ends a sentence. */
export function wrongKind(name: string, value: JsonValue, esperado: string): WrongKind {
  const mensagem = `${name} veio como ${kindOf(value)}; aqui vai ${esperado}.`;
  return { mensagem, encontrado: kindOf(value), esperado };
}

/** A number where a text of digits belongs, which keeps its zeros only between quotation marks. */
export function numberForText(name: string, number: string, type: SimpleType, isInteger = false): WrongKind {
  const right = asCode(number, type);
  const zeros = type.kind === 'digits' && type.min === type.max ? ', com os zeros à esquerda' : '';
  const advice = isInteger ? 'envie um número inteiro, só com algarismos' : `envie-o entre aspas${zeros}`;
  const send = right === undefined ? '' : `: ${JSON.stringify(right)}`;
  return {
    mensagem: `${name} veio como número (${quoted(number)}); ${advice}${send}.`,
    encontrado: quoted(number),
    esperado: type.expected,
    ...(right === undefined ? {} : { correcao: `"${name}": ${JSON.stringify(right)}` }),
  };
}

/** A number as a code may have meant it: with the zeros that a number loses. */
function asCode(text: string, type: SimpleType): string | undefined {
  if (text.length > CODE_MAX || !/^[0-9]+$/.test(text)) return undefined;
  const padded = type.max > CODE_MAX ? [] : [text.padStart(type.min, '0'), text.padStart(type.max, '0')];
  return [text, ...padded].find((candidate) => checkText(type, candidate) === undefined);
}

/** A longer code is a key or a text, which nobody begins with a row of zeros. */
const CODE_MAX = 15;
