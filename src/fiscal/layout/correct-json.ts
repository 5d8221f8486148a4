/**
 * Corrections of a JSON body: the text of `correcao` replaces the property that `campo` names, name and value, or the member of a list
 * (D-212).
 */
import { quoted } from '../fault.ts';
import { checkText } from './check-text.ts';
import { CORRECTION_MAX } from './correct-xml.ts';
import { decimalText } from './decimal-text.ts';
import { type JsonValue, kindOf } from './json-value.ts';
import type { SimpleType } from './simple-types.ts';

/** The text of a property. */
export function propertyText(name: string, value: string): string {
  return `${JSON.stringify(name)}: ${value}`;
}

/** The text of a value for its correct property, corrected if possible; undefined for null. */
export function rightValue(value: JsonValue, type: SimpleType, isInteger = false): string | undefined {
  if (value.kind !== 'string' && value.kind !== 'number') return undefined;
  if (value.kind === 'number' && type.kind !== 'decimal' && !isInteger) {
    const code = asCode(value.text, type);
    return code === undefined ? undefined : JSON.stringify(code);
  }
  const text = type.kind === 'decimal' ? decimalText(value, type) : value.text;
  const problem = checkText(type, text);
  if (problem?.kind === 'vazio') return undefined;
  return problem?.fix === undefined ? jsonText(value) : JSON.stringify(problem.fix);
}

/** A value in JSON again, numbers as they were written; undefined if it is too long to be sent back. */
export function jsonText(value: JsonValue): string | undefined {
  const text = writeValue(value, CORRECTION_MAX);
  return text.length > CORRECTION_MAX ? undefined : text;
}

/** Stops once the text is longer than a correction may be; `left` is the remaining length. */
function writeValue(value: JsonValue, left: number): string {
  switch (value.kind) {
    case 'object':
      return joinParts('{}', value.members, left, ({ name, value: one }, rest) =>
        propertyText(name, writeValue(one, rest)),
      );
    case 'array':
      return joinParts('[]', value.items, left, writeValue);
    case 'string':
      return value.text.length > left ? value.text : JSON.stringify(value.text);
    case 'null':
      return 'null';
    default:
      return value.text;
  }
}

function joinParts<One>(
  marks: string,
  all: readonly One[],
  left: number,
  write: (one: One, left: number) => string,
): string {
  let text = '';
  for (const one of all) {
    if (text.length > left) break;
    text += `${text === '' ? '' : ', '}${write(one, left - text.length)}`;
  }
  return marks[0] + text + marks[1];
}

/** A number as the code that it may mean: with the zeros that a number loses. */
function asCode(text: string, type: SimpleType): string | undefined {
  if (text.length > CODE_MAX || !/^[0-9]+$/.test(text)) return undefined;
  const padded = type.max > CODE_MAX ? [] : [text.padStart(type.min, '0'), text.padStart(type.max, '0')];
  return [text, ...padded].find((candidate) => checkText(type, candidate) === undefined);
}

/** A longer code is a key or a text, which has no leading zeros to lose. */
const CODE_MAX = 15;

// A value of a kind that its field does not accept: the message, and the replacement.

/** The parts of such a fault besides its place and its code. */
export type WrongKind = {
  readonly mensagem: string;
  readonly encontrado: string;
  readonly esperado: string;
  readonly correcao?: string;
};

/** `esperado`: the expected kind of value, as the end of a sentence. */
export function wrongKind(name: string, value: JsonValue, esperado: string): WrongKind {
  const mensagem = `${name} veio como ${kindOf(value)}; aqui vai ${esperado}.`;
  return { mensagem, encontrado: kindOf(value), esperado };
}

/** A number in the place of a text of digits, which keeps its zeros only between quotation marks. */
export function numberForText(name: string, number: string, type: SimpleType, isInteger = false): WrongKind {
  const right = asCode(number, type);
  const zeros = type.kind === 'digits' && type.min === type.max ? ', com os zeros à esquerda' : '';
  const advice = isInteger ? 'envie um número inteiro, só com dígitos' : `envie-o entre aspas${zeros}`;
  const send = right === undefined ? '' : `: ${JSON.stringify(right)}`;
  return {
    mensagem: `${name} veio como número (${quoted(number)}); ${advice}${send}.`,
    encontrado: quoted(number),
    esperado: type.expected,
    ...(right === undefined ? {} : { correcao: propertyText(name, JSON.stringify(right)) }),
  };
}
