/** A JSON value of a kind that its field does not have: what is said about it, and what to send in its place. */
import { quoted } from '../fault.ts';
import { asCode, propertyText } from './correct-json.ts';
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
    ...(right === undefined ? {} : { correcao: propertyText(name, JSON.stringify(right)) }),
  };
}
