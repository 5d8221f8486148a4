/**
 * Money and rates, exact. Every amount and percentage of the national layout has two decimals (15V2, 3V2, 2V2, 1V2). A decimal is therefore
 * a bigint that counts hundredths: R$ 10.25 is 1025n, and 3.05 % is 305n. Native operators compare decimals. Sums and differences use
 * `add`, `sub` and `sum`, which keep the type.
 *
 * No conversion uses a float (decided in D-05). There is no other scale and no locale: `R$ 1.234,56` is left to the code that prints it.
 */

declare const twoPlaces: unique symbol;

export type Decimal = bigint & { readonly [twoPlaces]: true };

/** A tie rounds away from zero with `half-up`, and to the even neighbour with `half-even`. */
export type Rounding = 'half-up' | 'half-even';

/** Integer digits of TSDec15V2, the widest amount of the layout. */
const INTEGER_DIGITS_MAX = 15;

/** The longest text that is parsed: far above any amount, so that a hostile number costs nothing. */
const TEXT_LENGTH_MAX = 64;

/** One, in hundredths. */
const UNIT = 100n;

/** One hundred percent, in hundredths of a percentage point. */
const WHOLE = 10_000n;

/** TSDec15V2 (XSD 1.01): no sign, no exponent, no leading zero, no decimals or exactly two. */
const CANONICAL = /^(?:0|[1-9]\d{0,14})(?:\.\d\d)?$/;

/** A number by RFC 8259, in its parts. */
const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

export const ZERO = 0n as Decimal;

/** Reads the text of an XML element. A text that the national schema would not accept is undefined. */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > TEXT_LENGTH_MAX || !CANONICAL.test(text)) return undefined;
  const point = text.length - 3;
  if (text[point] !== '.') return (BigInt(text) * UNIT) as Decimal;
  return BigInt(text.slice(0, point) + text.slice(point + 1)) as Decimal;
}

/**
 * Reads the text of a JSON number, or of a JSON string that holds one, digit by digit. `1000.5`, `-2`, `10.500` and `1.0E7` (as some
 * serializers write large numbers) have two exact decimals and are read. `0.005` has more and is undefined: rounding a declared value would
 * change it silently.
 */
export function readDecimal(text: string): Decimal | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const match = JSON_NUMBER.exec(text);
  if (match === null) return undefined;
  const [, sign, integer = '', fraction = '', exponent = '0'] = match;
  const digits = (integer + fraction).replace(/^0+/, '');
  if (digits === '') return ZERO;

  // value × 100 = digits × 10^shift
  const shift = 2 - fraction.length + Number(exponent);
  if (digits.length + shift > INTEGER_DIGITS_MAX + 2) return undefined;
  if (shift < 0 && /[1-9]/.test(digits.slice(shift))) return undefined;
  const hundredths = BigInt(shift < 0 ? digits.slice(0, shift) : digits + '0'.repeat(shift));
  return (sign === '-' ? -hundredths : hundredths) as Decimal;
}

/** A constant of our own source or data: a text that does not parse is a bug there. */
export function decimal(text: string): Decimal {
  const value = readDecimal(text);
  if (value === undefined) throw new RangeError(`Not a decimal with at most two places: ${text}`);
  return value;
}

/** The text with exactly two decimals, as the note and every answer print it. */
export function formatDecimal(value: Decimal): string {
  const digits = (value < 0n ? -value : value).toString().padStart(3, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export function add(a: Decimal, b: Decimal): Decimal {
  return (a + b) as Decimal;
}

export function sub(a: Decimal, b: Decimal): Decimal {
  return (a - b) as Decimal;
}

export function sum(values: readonly Decimal[]): Decimal {
  let total = 0n;
  for (const value of values) total += value;
  return total as Decimal;
}

/** The distance between two values, for the tolerances of the specification. */
export function distance(a: Decimal, b: Decimal): Decimal {
  return (a < b ? b - a : a - b) as Decimal;
}

/** `rate` percent of `base`, rounded once to the cent. */
export function percentOf(base: Decimal, rate: Decimal, rounding: Rounding = 'half-up'): Decimal {
  return divRound(base * rate, WHOLE, rounding) as Decimal;
}

/** `rate` percent of `base` without rounding, as text with at least two decimals. */
export function formatExactPercent(base: Decimal, rate: Decimal): string {
  return formatPlaces(base * rate, PRODUCT_PLACES);
}

/** Decimals of a base, of a rate, and of a hundredth. */
const PRODUCT_PLACES = 6;

/**
 * A rate of IBS or CBS in percent, exact. Some are published with three decimals, and a reduced rate may have more. The bigint counts 10⁻¹²
 * of a percentage point, which holds four decimals after two reductions of two.
 */
export type Rate = bigint & { readonly [twelvePlaces]: true };

declare const twelvePlaces: unique symbol;

/** Decimals of a {@link Rate}. */
const RATE_PLACES = 12;
/** A hundredth of a percentage point, and one hundred percent, in units of a rate. */
const RATE_HUNDREDTH = 10n ** BigInt(RATE_PLACES - 2);
const RATE_WHOLE = 10n ** BigInt(RATE_PLACES + 2);

/** The maximum number of decimals of a published rate: those that the calculator of the Receita Federal prints. */
const PUBLISHED_RATE = /^(?:0|[1-9]\d?)(?:\.(\d{1,4}))?$|^100(?:\.(0{1,4}))?$/;

/** A published rate as decimal text, `0.365`: percent from 0 to 100, at most four decimals. Undefined: the text is no rate. */
export function parseRate(text: string): Rate | undefined {
  const match = PUBLISHED_RATE.exec(text);
  if (match === null) return undefined;
  const [integer = '', fraction = ''] = text.split('.');
  return BigInt(integer + fraction.padEnd(RATE_PLACES, '0')) as Rate;
}

/** The rate as a note writes it: two decimals. */
export function roundRate(rate: Rate, rounding: Rounding): Decimal {
  return divRound(rate, RATE_HUNDREDTH, rounding) as Decimal;
}

/** The rate as text, with at least two decimals and no rounding. */
export function formatRate(rate: Rate): string {
  return formatPlaces(rate, RATE_PLACES);
}

function formatPlaces(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '').padEnd(2, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -places)}.${fraction}`;
}

/** p × (1 − r/100) × (1 − g/100), exact: the effective rate of IBS and CBS. */
export function effectiveRate(rate: Rate, reduction: Decimal = ZERO, redutor: Decimal = ZERO): Rate {
  if (reduction === ZERO && redutor === ZERO) return rate;
  return ((rate * (WHOLE - reduction) * (WHOLE - redutor)) / (WHOLE * WHOLE)) as Rate;
}

/** A tribute before it is written, exact: a bigint that counts 10⁻¹⁶ of the currency, which holds any {@link Rate} of any amount. */
export type Tax = bigint & { readonly [sixteenPlaces]: true };

declare const sixteenPlaces: unique symbol;

/** Decimals of a {@link Tax}. */
const TAX_PLACES = 16;
const POWERS = Array.from({ length: TAX_PLACES + 1 }, (_, exponent) => 10n ** BigInt(exponent));

/** `rate` percent of `base`. */
export function taxOf(base: Decimal, rate: Rate): Tax {
  return (base * rate) as Tax;
}

/** The tax as a note writes it: to the cent. */
export function roundTax(tax: Tax, rounding: Rounding): Decimal {
  return divRound(tax, POWERS[TAX_PLACES - 2]!, rounding) as Decimal;
}

/** The tax as text, with at least two decimals and no rounding. */
export function formatTax(tax: Tax): string {
  return formatPlaces(tax, TAX_PLACES);
}

/** A rate rounded to the given number of decimals of its fraction; its percentage has two fewer. */
export function keepRate(rate: Rate, places: number, rounding: Rounding): Rate {
  return keep(rate, RATE_PLACES + 2 - places, rounding) as Rate;
}

/** A tribute rounded to the given number of decimals. */
export function keepTax(tax: Tax, places: number, rounding: Rounding): Tax {
  return keep(tax, TAX_PLACES - places, rounding) as Tax;
}

function keep(value: bigint, dropped: number, rounding: Rounding): bigint {
  const unit = POWERS[dropped]!;
  return divRound(value, unit, rounding) * unit;
}

/** `share` percent of a rate or of a tribute, exact if both have few decimals. */
export function shareOf<Value extends Rate | Tax>(value: Value, share: Rate): Value {
  return ((value * share) / RATE_WHOLE) as Value;
}

/** The quotient rounded to an integer, with the same result on both sides of zero. */
export function divRound(numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  const quotient = numerator / denominator;
  const rest = numerator % denominator;
  if (rest === 0n) return quotient;

  const size = denominator < 0n ? -denominator : denominator;
  const twiceRest = rest < 0n ? -2n * rest : 2n * rest;
  const tieGoesAway = rounding === 'half-up' || quotient % 2n !== 0n;
  const goesAway = twiceRest > size || (twiceRest === size && tieGoesAway);
  if (!goesAway) return quotient;
  return numerator < 0n === denominator < 0n ? quotient + 1n : quotient - 1n;
}
