/**
 * Checks one text against its simple type: the error in words for the integrator, and the corrected text if the correction is mechanical.
 * The element, in `read.ts`, decides the code of the fault.
 */
import { type Decimal, parseDecimal } from '../decimal.ts';
import { ownOf } from '../own.ts';
import { expectedInSentence, type SimpleType } from './simple-types.ts';

/** Codes of a type's faults, unless the element that uses the type names others (D-12). */
type TypeFaultKind = 'tipo' | 'valor' | 'formato' | 'vazio';

/** The error of a text, in words for the integrator. Lengths are in characters; `fix` is given only for a mechanical correction. */
export type TypeFault = {
  readonly kind: TypeFaultKind;
  readonly problem: string;
  readonly fix?: string;
  /** How the expected value follows the problem; a sentence of its own if absent. `never`: the problem already names it. */
  readonly expected?: 'after a colon' | 'never';
};

/** A corrected text longer than this is not repeated in the message, only in `correcao`. */
const FIX_SHOWN_MAX = 60;

/**
 * The error of a text and its remedy: the rest of a sentence that begins with the name of the field, full stop included. The message for an
 * empty text comes from the caller, which knows whether the field is required.
 */
export function sayFault(type: SimpleType, { kind, problem, fix, expected }: TypeFault): string {
  if (kind === 'vazio') return `${problem}.`;
  if (fix !== undefined) {
    if (fix.length > FIX_SHOWN_MAX || /[\n\r\t]/.test(fix)) return `${problem}. O texto certo está em correcao.`;
    return `${problem}. Envie ${/\s/.test(fix) ? `"${fix}"` : fix}.`;
  }
  if (expected === 'never') return `${problem}.`;
  const right = expectedInSentence(type);
  return expected === undefined ? `${problem}. Esperado: ${right}.` : `${problem}: ${right}.`;
}

const AFTER_COLON = { expected: 'after a colon' } as const;
const NEVER = { expected: 'never' } as const;

const compiled = new WeakMap<SimpleType, RegExp>();

function patternOf(type: SimpleType): RegExp | undefined {
  if (type.pattern === undefined) return undefined;
  let pattern = compiled.get(type);
  if (pattern === undefined) {
    pattern = new RegExp(`^(?:${type.pattern})$`);
    compiled.set(type, pattern);
  }
  return pattern;
}

/** A text longer than twice the maximum plus this is no typing error any more. */
const FAR_BEYOND = 100;

/**
 * Checks one text against its type. Returns undefined if it is valid; {@link readValue} gives its national spelling. One problem per value
 * is reported, the one that explains the most. `zone`: the time zone in which an instant has its day.
 */
export function checkText(type: SimpleType, value: string, zone?: string): TypeFault | undefined {
  const fault = faultOf(type, value, zone);
  if (fault?.fix === undefined || faultOf(type, fault.fix) === undefined) return fault;
  // A correction that would be refused again is not offered.
  const { fix: _fix, ...unmended } = fault;
  return unmended;
}

function faultOf(type: SimpleType, value: string, zone?: string): TypeFault | undefined {
  if (isBlank(value)) return { kind: 'vazio', problem: 'está vazio' };
  // A text far beyond its field is not examined further: normalising or correcting it could take minutes.
  if (value.length > type.max * 2 + FAR_BEYOND) return wrongSize(type, value);
  if (type.reads?.pattern.test(value)) return faultOf({ ...type, reads: undefined }, type.reads.as(value));
  switch (type.kind) {
    case 'enum':
      return checkEnum(type, value);
    case 'decimal':
      return checkDecimal(type, value);
    default:
      return checkPattern(type, value, zone);
  }
}

function checkEnum(type: SimpleType, value: string): TypeFault | undefined {
  if (type.values!.includes(value)) return undefined;
  const refused = ownOf(type.refusedValues ?? {}, value);
  if (refused !== undefined) return { kind: 'valor', problem: `traz um valor que não se emite: ${refused}` };
  const trimmed = value.trim();
  if (trimmed !== value && checkEnum(type, trimmed) === undefined) return spaces(trimmed);
  // The same code with its lost zeros, or without the zeros that a form put before it.
  const mended = [value.padStart(type.max, '0'), value.replace(/^0+(?=.)/, '')];
  const fix = fixIf(mended.find((one) => type.values!.includes(one)));
  return { kind: 'valor', problem: 'está fora dos valores aceitos', ...AFTER_COLON, ...fix };
}

function checkDecimal(type: SimpleType, value: string): TypeFault | undefined {
  if (patternOf(type)!.test(value)) {
    if (type.highest === undefined || parseDecimal(value)! <= type.highest) return undefined;
    return { kind: 'valor', problem: 'está acima do máximo', ...AFTER_COLON };
  }
  const trimmed = value.trim();
  if (trimmed !== value) return { ...spaces(trimmed), ...fixIf(decimalFix(type, trimmed)) };
  if (/^-\d+([.,]\d+)?$/.test(value)) return { kind: 'valor', problem: 'é negativo' };
  const plain = /^(\d+)(?:\.(\d+))?$/.exec(value);
  if (plain === null) {
    const problem = readingsOf(type, value) ?? 'não é um número decimal';
    return { kind: 'tipo', problem, ...fixIf(decimalFix(type, value)) };
  }
  const whole = plain[1]!.replace(/^0+(?=\d)/, '');
  // A text of a million digits is judged by its length: converting it to a number would take long.
  if (type.highest !== undefined && (whole.length > 15 || BigInt(whole) * 100n > type.highest)) {
    return { kind: 'valor', problem: 'está acima do máximo', ...AFTER_COLON };
  }
  if (whole.length > type.digits!) {
    return { kind: 'formato', problem: `tem mais de ${type.digits} dígitos inteiros` };
  }
  const readings = readingsOf(type, value);
  if (readings !== undefined) return { kind: 'formato', problem: readings };
  const problem =
    plain[2] !== undefined && plain[2].length !== 2
      ? `tem ${plain[2].length} casa(s) decimal(is) em vez de duas`
      : 'tem zeros à esquerda';
  return { kind: 'formato', problem, ...fixIf(decimalFix(type, value)) };
}

function bareDecimal(value: string): string {
  return value.replace(/^R\$\s*/, '').replace(/\s/g, '');
}

/** The possible meanings of `1.000` and `1,000` in words: a thousand, or one. Undefined if only one of them is in range. */
export function readingsOf(type: SimpleType, value: string): string | undefined {
  const [, whole, rest] = /^([1-9]\d{0,2})[.,](\d{3})$/.exec(bareDecimal(value)) ?? [];
  if (whole === undefined || rest === undefined) return undefined;
  const [thousands, decimals] = [`${whole}${rest}.00`, `${whole}.${rest.replace(/0$/, '')}`];
  const isEither = checkDecimal(type, thousands) === undefined && patternOf(type)!.test(decimals);
  return isEither ? `pode ser tanto ${thousands} como ${decimals}` : undefined;
}

/** Corrects only what does not change the amount: separators, missing or zero decimals, leading zeros. */
function decimalFix(type: SimpleType, value: string): string | undefined {
  let plain = bareDecimal(value);
  if (readingsOf(type, value) !== undefined) return undefined;
  // A comma separates thousands if a point follows it.
  if (/^\d{1,3}(,\d{3})+\.\d+$/.test(plain)) plain = plain.replaceAll(',', '');
  if (plain.includes(',')) {
    if (!/^\d{1,3}(\.\d{3})*,\d+$|^\d+,\d+$/.test(plain)) return undefined;
    plain = plain.replaceAll('.', '').replace(',', '.');
  }
  const match = /^0*(\d+)(?:\.(\d+?)0*)?$/.exec(plain);
  if (match === null || (match[2]?.length ?? 0) > 2) return undefined;
  const mended = `${match[1]!.replace(/^0+(?=\d)/, '')}.${(match[2] ?? '').padEnd(2, '0')}`;
  return checkDecimal(type, mended) === undefined ? mended : undefined;
}

function checkPattern(type: SimpleType, value: string, zone?: string): TypeFault | undefined {
  if (type.latin) {
    const fault = checkLatin(value);
    if (fault) return fault;
  } else if (NOT_XML.test(value)) {
    return { kind: 'formato', problem: 'tem um caractere de controle, que XML não admite' };
  }
  const length = characters(value);
  const pattern = patternOf(type);
  if (length > type.max || length < type.min || (pattern !== undefined && !pattern.test(value))) {
    // Spaces at the ends are the error only in a text with a form of its own.
    if (pattern !== undefined && value.trim() !== value) return spaces(value.trim());
    const mended = type.mend?.(value, zone);
    const isMended = mended !== undefined && mended !== value && checkPattern(type, mended) === undefined;
    const fix = isMended ? { fix: mended } : {};
    if (type.kind === 'date' || type.kind === 'datetime') {
      const day = DAY.test(value) ? type.also?.(value) : undefined;
      if (day !== undefined) return { kind: 'tipo', problem: day, ...NEVER, ...fix };
      const problem = DAY.test(value) ? 'está fora do período aceito' : 'não é uma data no formato pedido';
      return { kind: 'tipo', problem, ...AFTER_COLON, ...fix };
    }
    const bare = value.replace(/^0+/, '');
    if (fix.fix !== undefined && fix.fix === bare)
      return { kind: 'formato', problem: 'vai sem zeros à esquerda', ...fix };
    if (length > type.max || length < type.min) return { ...wrongSize(type, value), ...fix };
    return { kind: 'formato', problem: 'não tem o formato pedido', ...AFTER_COLON, ...fix };
  }
  const also = type.also?.(value);
  if (also === undefined) return undefined;
  return type.kind === 'date' ? { kind: 'tipo', problem: also, ...NEVER } : { kind: 'formato', problem: also };
}

/** The form of a date, whether or not the day exists. */
const DAY = /^\d{4}-\d{2}-\d{2}$/;

function wrongSize(type: SimpleType, value: string): TypeFault {
  const count = characters(value);
  const wanted = type.min === type.max ? `pede ${type.max}` : `aceita de ${type.min} a ${type.max}`;
  const problem = `tem ${count} ${count === 1 ? 'caractere' : 'caracteres'}, e o campo ${wanted}`;
  return { kind: 'formato', problem, ...(type.expectsSize === true ? NEVER : {}) };
}

/** Characters that no XML document can hold; XML itself cannot bring them, a JSON body can. */
const NOT_XML = /[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Whether a text is blank. White space is that of XML, so that a non-breaking space is an ordinary character. */
export function isBlank(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x09 && code !== 0x0d) return false;
  }
  return true;
}

/** Characters that the national reception cannot take are refused here at once, with their place and a safe replacement (D-34). */
function checkLatin(value: string): TypeFault | undefined {
  let position = 0;
  for (const character of value) {
    position += 1;
    const point = character.codePointAt(0)!;
    if (point >= 0x20 && point <= 0xff) continue;
    const breaks = point === 10 || point === 13 || point === 9;
    const name = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
    const problem = breaks
      ? `tem ${point === 9 ? 'uma tabulação' : 'uma quebra de linha'} (${name}) na posição ${position}, que este campo não aceita`
      : `tem na posição ${position} o caractere "${character}" (${name}), fora do Latin-1 que a recepção nacional aceita`;
    return { kind: 'formato', problem, ...fixIf(toLatin(value)) };
  }
  return value.startsWith(' ') || value.endsWith(' ') ? spaces(value.replace(/^ +| +$/g, '')) : undefined;
}

/** The replacements for characters outside Latin-1, each with its characters. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map(
  [
    ['-', '\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2022'],
    ["'", '\u2018\u2019\u201a\u2032'],
    ['"', '\u201c\u201d\u201e\u2033'],
    ['...', '\u2026'],
    ['EUR', '\u20ac'],
    ['(TM)', '\u2122'],
    [' ', '\u2003\u2002\u2009'],
    ['', '\u200b\u200e\u200f\ufeff'],
    ['L', '\u0141'],
    ['l', '\u0142'],
    ['D', '\u0110'],
    ['d', '\u0111'],
    ['i', '\u0131'],
    ['OE', '\u0152'],
    ['oe', '\u0153'],
  ].flatMap(([to, characters]) => [...characters!].map((character) => [character, to!])),
);

function toLatin(value: string): string | undefined {
  let mended = '';
  for (const character of value.normalize('NFC')) {
    const point = character.codePointAt(0)!;
    if (point === 10 || point === 13 || point === 9) mended += ' ';
    else if (point >= 0x20 && point <= 0xff) mended += character;
    else {
      const latin = latinOf(character);
      // A text without some of its letters would say something else.
      if (latin === '' && /[\p{L}\p{N}]/u.test(character)) return undefined;
      mended += latin;
    }
  }
  mended = mended.replace(/ {2,}/g, ' ').trim();
  return mended === '' ? undefined : mended;
}

/** The nearest Latin-1 text for a character outside it; empty if there is none. */
function latinOf(character: string): string {
  const bare = character.normalize('NFKD').replace(/\p{M}/gu, '');
  return REPLACEMENTS.get(character) ?? (/^[ -ÿ]+$/.test(bare) ? bare : '');
}

function spaces(fix: string): TypeFault {
  return { kind: 'formato', problem: 'começa ou termina com espaço', fix };
}

function fixIf(fix: string | undefined): { fix: string } | Record<string, never> {
  return fix === undefined ? {} : { fix };
}

/** Length by XSD: code points, not UTF-16 units. */
function characters(value: string): number {
  const units = value.length;
  for (let at = 0; at < units; at += 1) {
    if ((value.charCodeAt(at) & 0xfc00) === 0xd800) return [...value].length;
  }
  return units;
}

/** The value that the model keeps for a text that {@link checkText} accepted: exact decimal, or national spelling. */
export function readValue(type: SimpleType, value: string): string | Decimal {
  if (type.kind === 'decimal') return parseDecimal(value)!;
  return type.reads?.pattern.test(value) ? type.reads.as(value) : value;
}

/** Reads a text as {@link readValue} does; undefined if {@link checkText} reports a fault. */
export type ReadText = (text: string) => string | Decimal | undefined;

/** The reader of a type, built once: a valid text is examined no further than necessary. */
export function textReaderOf(type: SimpleType): ReadText {
  const read = plainReaderOf(type);
  const { reads } = type;
  return reads === undefined ? read : (text) => read(reads.pattern.test(text) ? reads.as(text) : text);
}

function plainReaderOf(type: SimpleType): ReadText {
  const { kind, min, max, latin, highest, also } = type;
  if (kind === 'enum') {
    const values = new Set(type.values);
    return (text) => (values.has(text) ? text : undefined);
  }
  const pattern = patternOf(type);
  if (kind === 'decimal') {
    return (text) => {
      const value = pattern!.test(text) ? parseDecimal(text) : undefined;
      return value === undefined || highest === undefined || value <= highest ? value : undefined;
    };
  }
  return (text) => {
    const isPlain = isPlainText(text);
    if (!isPlain && (latin ? checkLatin(text) !== undefined : NOT_XML.test(text))) return undefined;
    const length = isPlain ? text.length : characters(text);
    if (length < min || length > max || isBlank(text) || pattern?.test(text) === false) return undefined;
    return also?.(text) === undefined ? text : undefined;
  };
}

/** Whether a text is of printable ASCII and neither begins nor ends with a space: a type without pattern accepts each such character. */
function isPlainText(text: string): boolean {
  const last = text.length - 1;
  if (text.charCodeAt(0) === 0x20 || text.charCodeAt(last) === 0x20) return false;
  for (let at = 0; at <= last; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}
