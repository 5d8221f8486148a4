/** An amount of a JSON body in the spelling of the layout. */
import { formatDecimal, parseDecimal, readDecimal } from '../decimal.ts';
import { readingsOf } from './check-text.ts';
import type { JsonValue } from './json-value.ts';
import type { SimpleType } from './simple-types.ts';

/** A power of ten beyond this only says that the number is far too large, or far too small. */
const EXPONENT_MAX = 40;

/**
 * An amount in the spelling of the layout, if it has one. Otherwise the text is returned unchanged, so that the fault quotes it. A number
 * follows JSON; the text `1.000` may be a thousand.
 */
export function decimalText(
  { kind, text }: Extract<JsonValue, { kind: 'string' | 'number' }>,
  type: SimpleType,
): string {
  if (parseDecimal(text) !== undefined) return text;
  if (kind === 'string' && readingsOf(type, text) !== undefined) return text;
  const value = readDecimal(text);
  if (value !== undefined) return formatDecimal(value);
  const power = kind === 'number' ? /^(-?)([0-9]+)(?:\.([0-9]+))?[eE]([+-]?[0-9]+)$/.exec(text) : null;
  if (power === null) return text;
  const [, sign = '', whole = '', fraction = '', exponent] = power;
  const shift = Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, Number(exponent)));
  return sign + shiftPoint(whole, fraction, shift);
}

/** The digits with their point moved. */
function shiftPoint(whole: string, fraction: string, shift: number): string {
  if (shift >= 0) {
    const digits = fraction.padEnd(shift, '0');
    return trimZeros(whole + digits.slice(0, shift)) + (digits.length > shift ? `.${digits.slice(shift)}` : '');
  }
  const digits = whole.padStart(1 - shift, '0');
  return `${trimZeros(digits.slice(0, shift))}.${digits.slice(shift)}${fraction}`;
}

function trimZeros(digits: string): string {
  return digits.replace(/^0+(?=[0-9])/, '');
}
