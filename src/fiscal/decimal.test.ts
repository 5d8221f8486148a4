import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../test/support/seed.ts';
import {
  add,
  type Decimal,
  decimal,
  distance,
  divRound,
  effectiveRate,
  formatDecimal,
  formatRate,
  formatTax,
  keepRate,
  keepTax,
  parseDecimal,
  parseRate,
  percentOf,
  type Rate,
  readDecimal,
  roundRate,
  roundTax,
  shareOf,
  sub,
  sum,
  taxOf,
  ZERO,
} from './decimal.ts';

/** The result of a reader as text, so that a failure shows an amount and not a count of cents. */
const shown = (value: Decimal | undefined) => (value === undefined ? undefined : formatDecimal(value));

const hundredths = (digits: number) =>
  fc.bigInt({ min: -(10n ** BigInt(digits)) + 1n, max: 10n ** BigInt(digits) - 1n }).map((value) => value as Decimal);

/**
 * Rounding by long division: it writes the digits of the quotient one by one. The first dropped digit, and whether anything follows it,
 * decide the rounding. It shares no step with `divRound`.
 */
function roundByLongDivision(numerator: bigint, denominator: bigint, rounding: 'half-up' | 'half-even'): bigint {
  const negative = numerator < 0n !== denominator < 0n;
  const divisor = BigInt(denominator.toString().replace('-', ''));
  let written = '';
  let carried = 0n;
  for (const digit of numerator.toString().replace('-', '')) {
    carried = BigInt(carried.toString() + digit);
    let times = 0;
    while (carried >= divisor) {
      carried -= divisor;
      times += 1;
    }
    written += times;
  }
  carried *= 10n;
  let firstDropped = 0;
  while (carried >= divisor) {
    carried -= divisor;
    firstDropped += 1;
  }
  const exactTie = firstDropped === 5 && carried === 0n;
  const lastIsOdd = '13579'.includes(written.at(-1)!);
  const up = exactTie ? rounding === 'half-up' || lastIsOdd : firstDropped >= 5;
  const size = BigInt(written) + (up ? 1n : 0n);
  return negative ? -size : size;
}

test('parseDecimal reads what the national schema accepts', () => {
  for (const [text, expected] of [
    ['0', '0.00'],
    ['0.00', '0.00'],
    ['0.05', '0.05'],
    ['0.50', '0.50'],
    ['1', '1.00'],
    ['10', '10.00'],
    ['100', '100.00'],
    ['1000.00', '1000.00'],
    ['1234.56', '1234.56'],
    ['999999999999999', '999999999999999.00'],
    ['999999999999999.99', '999999999999999.99'],
  ] as const) {
    assert.equal(shown(parseDecimal(text)), expected, text);
  }
});

test('parseDecimal refuses every other spelling', () => {
  for (const text of [
    ...['', ' ', ' 1', '1 ', '1\n', '00', '01', '01.00', '.50', '1.', '1.0', '1.000', '1,00', '1.000,00', '+1', '-1'],
    ...['-0', '1e3', '1E3', '0x10', '1n', '1_000', 'NaN', 'Infinity', '１', '1000000000000000', '1000000000000000.00'],
    '9'.repeat(1_000_000),
  ]) {
    assert.equal(parseDecimal(text), undefined, text.slice(0, 40));
  }
});

test('readDecimal reads JSON numbers exactly', () => {
  for (const [text, expected] of [
    ['0', '0.00'],
    ['-0', '0.00'],
    ['0.0', '0.00'],
    ['0e9', '0.00'],
    ['5', '5.00'],
    ['1000.5', '1000.50'],
    ['1000.50', '1000.50'],
    ['1000.5000', '1000.50'],
    ['-0.05', '-0.05'],
    ['-12.3', '-12.30'],
    ['0.1', '0.10'],
    ['0.29', '0.29'], // 0.29 × 100 is 28.999999999999996 in floats
    ['1.15', '1.15'],
    ['1.0E7', '10000000.00'],
    ['1e3', '1000.00'],
    ['1.25e+1', '12.50'],
    ['125e-2', '1.25'],
    ['1250e-3', '1.25'],
    ['5e-2', '0.05'],
    ['999999999999999.99', '999999999999999.99'],
    ['9007199254740993', undefined], // sixteen integer digits
    ['900719925474099.31', '900719925474099.31'], // not a float
  ] as const) {
    assert.equal(shown(readDecimal(text)), expected, text);
  }
});

test('readDecimal refuses what has no two exact decimals', () => {
  for (const text of [
    ...[
      '',
      '0.005',
      '1.001',
      '-1.999',
      '1e-3',
      '15e-3',
      '1e-99',
      '1000000000000000',
      '1e15',
      '1e999999999',
      '1e-999999999',
    ],
    ...['+1', '01', '00', '.5', '5.', '1,5', ' 1', '1 ', '--1', '1e', 'e1', '0x1', 'NaN', 'Infinity', 'null', '１'],
    '9'.repeat(1_000_000),
  ]) {
    assert.equal(readDecimal(text), undefined, text.slice(0, 40));
  }
});

test('formatDecimal always writes two decimals', () => {
  for (const [cents, expected] of [
    [0n, '0.00'],
    [1n, '0.01'],
    [-1n, '-0.01'],
    [-5n, '-0.05'],
    [10n, '0.10'],
    [99n, '0.99'],
    [-100n, '-1.00'],
    [100000n, '1000.00'],
    [99999999999999999n, '999999999999999.99'],
  ] as const) {
    assert.equal(formatDecimal(cents as Decimal), expected);
  }
});

test('a decimal that was written is read back', () => {
  fc.assert(
    fc.property(hundredths(17), (value) => {
      const text = formatDecimal(value);
      assert.match(text, /^-?(0|[1-9]\d*)\.\d\d$/);
      assert.equal(readDecimal(text), value);
      assert.equal(parseDecimal(text), value < 0n ? undefined : value);
    }),
  );
});

test('the position of the point is the only thing an exponent moves', () => {
  fc.assert(
    fc.property(hundredths(17), fc.integer({ min: 0, max: 20 }), (value, zeros) => {
      fc.pre(value !== 0n); // followed by zeros it would be 00, which is no JSON number
      assert.equal(readDecimal(`${value}e-2`), value);
      assert.equal(readDecimal(`${value}${'0'.repeat(zeros)}e-${zeros + 2}`), value);
      assert.equal(readDecimal(`${formatDecimal(value)}${'0'.repeat(zeros)}`), value);
    }),
  );
});

test('decimal is for constants and throws on anything else', () => {
  assert.equal(decimal('5.00'), 500n);
  assert.equal(decimal('-0.01'), -1n);
  assert.throws(() => decimal('0.001'), RangeError);
  assert.throws(() => decimal('five'), RangeError);
});

test('sums, differences and distances', () => {
  assert.equal(add(decimal('0.10'), decimal('0.20')), decimal('0.30'));
  assert.equal(sub(decimal('0.30'), decimal('0.31')), decimal('-0.01'));
  assert.equal(sum([]), ZERO);
  assert.equal(sum([decimal('0.10'), decimal('0.20'), decimal('-1.00')]), decimal('-0.70'));
  assert.equal(distance(decimal('1.00'), decimal('1.02')), decimal('0.02'));
  assert.equal(distance(decimal('1.02'), decimal('1.00')), decimal('0.02'));
  assert.equal(distance(decimal('-0.01'), decimal('0.01')), decimal('0.02'));
});

test('divRound at the tie and beside it, on both sides of zero', () => {
  for (const [numerator, denominator, halfUp, halfEven] of [
    [5n, 10n, 1n, 0n],
    [15n, 10n, 2n, 2n],
    [25n, 10n, 3n, 2n],
    [24n, 10n, 2n, 2n],
    [26n, 10n, 3n, 3n],
    [-5n, 10n, -1n, 0n],
    [-15n, 10n, -2n, -2n],
    [-25n, 10n, -3n, -2n],
    [-24n, 10n, -2n, -2n],
    [-26n, 10n, -3n, -3n],
    [25n, -10n, -3n, -2n],
    [-25n, -10n, 3n, 2n],
    [1n, 3n, 0n, 0n],
    [2n, 3n, 1n, 1n],
    [-2n, 3n, -1n, -1n],
    [0n, 7n, 0n, 0n],
    [21n, 7n, 3n, 3n],
    [-21n, 7n, -3n, -3n],
  ] as const) {
    assert.equal(divRound(numerator, denominator, 'half-up'), halfUp, `${numerator}/${denominator} half-up`);
    assert.equal(divRound(numerator, denominator, 'half-even'), halfEven, `${numerator}/${denominator} half-even`);
  }
  assert.throws(() => divRound(1n, 0n, 'half-up'), RangeError);
});

test('divRound agrees with long division by hand', () => {
  const any = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
  const divisors = fc.oneof(
    fc.constantFrom(2n, -2n, 10n, 100n, 10_000n, 100_000_000n),
    fc.bigInt({ min: 1n, max: 10n ** 12n }),
    fc.bigInt({ min: -(10n ** 12n), max: -1n }),
  );
  fc.assert(
    fc.property(any, divisors, fc.constantFrom('half-up' as const, 'half-even' as const), (n, d, rounding) => {
      assert.equal(divRound(n, d, rounding), roundByLongDivision(n, d, rounding));
    }),
  );
});

test('divRound at exact ties agrees with long division', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }),
      fc.constantFrom('half-up' as const, 'half-even' as const),
      (quotient, rounding) => {
        const tie = quotient * 10_000n + 5_000n;
        assert.equal(divRound(tie, 10_000n, rounding), roundByLongDivision(tie, 10_000n, rounding));
      },
    ),
  );
});

test('percentOf rounds at the half cent', () => {
  for (const [base, rate, halfUp, halfEven] of [
    ['850.00', '3.00', '25.50', '25.50'], // 25.5000
    ['1175.00', '3.05', '35.84', '35.84'], // 35.8375
    ['651.61', '2.00', '13.03', '13.03'], // 13.0322
    ['0.25', '2.00', '0.01', '0.00'], // 0.0050, tie
    ['0.75', '2.00', '0.02', '0.02'], // 0.0150, tie
    ['1.25', '2.00', '0.03', '0.02'], // 0.0250, tie
    ['0.24', '2.00', '0.00', '0.00'], // 0.0048
    ['100.50', '1.00', '1.01', '1.00'], // 1.0050, tie; 1.00499… in floats
    ['-1.25', '2.00', '-0.03', '-0.02'], // −0.0250, tie
    ['1000.00', '0.00', '0.00', '0.00'],
    ['0.00', '5.00', '0.00', '0.00'],
    ['1000.00', '100.00', '1000.00', '1000.00'],
    // 999999999999999.99 × 5 % = 49999999999999.9995
    ['999999999999999.99', '5.00', '50000000000000.00', '50000000000000.00'],
  ] as const) {
    assert.equal(formatDecimal(percentOf(decimal(base), decimal(rate))), halfUp, `${rate} % of ${base}`);
    assert.equal(formatDecimal(percentOf(decimal(base), decimal(rate), 'half-even')), halfEven, `${rate} % of ${base}`);
  }
});

test('percentOf agrees with long division by hand and with the mirror below zero', () => {
  fc.assert(
    fc.property(hundredths(17), fc.bigInt({ min: 0n, max: 10_000n }), (base, rate) => {
      const result = percentOf(base, rate as Decimal);
      assert.equal(result, roundByLongDivision(base * rate, 10_000n, 'half-up'));
      assert.equal(percentOf(-base as Decimal, rate as Decimal), -result);
    }),
  );
});

const rate = (text: string): Rate => {
  const read = parseRate(text);
  if (read === undefined) assert.fail(`${text} is no rate`);
  return read;
};

test('a rate is published with up to four decimals, from 0 to 100', () => {
  for (const [text, whole] of [
    ['0', '0.00'],
    ['0.1', '0.10'],
    ['0.365', '0.365'],
    ['3.2850', '3.285'],
    ['8.8', '8.80'],
    ['26.5001', '26.5001'],
    ['100.00', '100.00'],
  ] as const) {
    assert.equal(formatRate(rate(text)), whole, text);
  }
  for (const text of ['', '.5', '5.', '-1', '100.01', '101', '1e1', '0.00001', '007', '8,8', '8.8%']) {
    assert.equal(parseRate(text), undefined, text);
  }
});

test('a rate is written with two decimals', () => {
  for (const [text, up, even] of [
    ['0.365', '0.37', '0.36'],
    ['0.375', '0.38', '0.38'],
    ['3.285', '3.29', '3.28'],
    ['3.2849', '3.28', '3.28'],
    ['3.2851', '3.29', '3.29'],
    ['0.90', '0.90', '0.90'],
  ] as const) {
    assert.equal(formatDecimal(roundRate(rate(text), 'half-up')), up, text);
    assert.equal(formatDecimal(roundRate(rate(text), 'half-even')), even, text);
  }
});

test('effectiveRate is exact, and rounds once where it is printed', () => {
  for (const [text, reduction, redutor, exact, printed] of [
    ['0.10', '30.00', '0.00', '0.07', '0.07'], // 0.10 × 0.70
    ['0.90', '30.00', '0.00', '0.63', '0.63'], // 0.90 × 0.70
    ['0.00', '30.00', '0.00', '0.00', '0.00'],
    ['0.90', '0.00', '0.00', '0.90', '0.90'],
    ['0.90', '100.00', '0.00', '0.00', '0.00'],
    ['0.90', '60.00', '0.00', '0.36', '0.36'], // 0.90 × 0.40
    ['0.05', '30.00', '0.00', '0.035', '0.04'], // 0.05 × 0.70, tie
    ['0.05', '50.00', '0.00', '0.025', '0.03'], // tie
    ['0.05', '70.00', '0.00', '0.015', '0.02'], // tie
    ['8.50', '60.00', '10.00', '3.06', '3.06'], // 8.50 × 0.40 × 0.90
    ['0.90', '50.00', '50.00', '0.225', '0.23'], // tie
    ['0.05', '30.00', '20.00', '0.028', '0.03'], // 0.05 × 0.70 × 0.80
    ['0.07', '35.00', '45.00', '0.025025', '0.03'], // 0.07 × 0.65 × 0.55
    // Rounding twice would give 0.05 × 0.55 = 0.0275 → 0.03.
    ['0.09', '50.00', '45.00', '0.02475', '0.02'],
    ['3.285', '33.33', '12.34', '1.9198499877', '1.92'], // 3.285 × 0.6667 × 0.8766
  ] as const) {
    const actual = effectiveRate(rate(text), decimal(reduction), decimal(redutor));
    assert.equal(formatRate(actual), exact, `${text} − ${reduction} % − ${redutor} %`);
    assert.equal(formatDecimal(roundRate(actual, 'half-up')), printed, `${text} − ${reduction} % − ${redutor} %`);
  }
  assert.equal(effectiveRate(rate('8.40')), rate('8.40'));
});

test('effectiveRate agrees with long division and never exceeds the rate', () => {
  const percent = fc.bigInt({ min: 0n, max: 10_000n }).map((value) => value as Decimal);
  const published = fc.bigInt({ min: 0n, max: 1_000_000n });
  fc.assert(
    fc.property(published, percent, percent, (tenThousandths, reduction, redutor) => {
      const whole = (tenThousandths * 10n ** 8n) as Rate;
      const left = (10_000n - reduction) * (10_000n - redutor);
      assert.equal(effectiveRate(whole, reduction, redutor), tenThousandths * left);
      const expected = roundByLongDivision(tenThousandths * left, 10n ** 10n, 'half-up');
      assert.equal(roundRate(effectiveRate(whole, reduction, redutor), 'half-up'), expected);
      assert.ok(effectiveRate(whole, reduction, redutor) <= whole);
    }),
  );
});

test('a tribute is exact until it is written, and written to the cent once', () => {
  for (const [base, text, whole, up, even] of [
    ['1000.00', '3.285', '32.85', '32.85', '32.85'], // with 3.29 it would be 32.90
    ['1000.00', '0.365', '3.65', '3.65', '3.65'],
    ['980.00', '0.10', '0.98', '0.98', '0.98'],
    ['123.45', '3.285', '4.0553325', '4.06', '4.06'],
    ['100.00', '0.365', '0.365', '0.37', '0.36'],
    ['-100.00', '0.365', '-0.365', '-0.37', '-0.36'],
    ['10.00', '0.05', '0.005', '0.01', '0.00'],
    ['30.00', '0.05', '0.015', '0.02', '0.02'],
    ['0.00', '0.05', '0.00', '0.00', '0.00'],
  ] as const) {
    const tax = taxOf(decimal(base), rate(text));
    assert.equal(formatTax(tax), whole, `${text} % of ${base}`);
    assert.equal(formatDecimal(roundTax(tax, 'half-up')), up, `${text} % of ${base}`);
    assert.equal(formatDecimal(roundTax(tax, 'half-even')), even, `${text} % of ${base}`);
  }
});

test('what is kept on the way has so many places: of a rate in its fraction, of a tribute in the currency', () => {
  // 3.285 × 0.6667 × 0.8766 % = 0.019198499877
  const effective = effectiveRate(rate('3.285'), decimal('33.33'), decimal('12.34'));
  assert.equal(formatRate(keepRate(effective, 14, 'half-even')), '1.9198499877');
  assert.equal(formatRate(keepRate(effective, 8, 'half-even')), '1.91985');
  assert.equal(formatRate(keepRate(effective, 7, 'half-even')), '1.91985');
  assert.equal(formatRate(keepRate(effective, 4, 'half-even')), '1.92');
  assert.equal(formatTax(taxOf(decimal('0.01'), rate('0.0001'))), '0.00000001');
  // 0.01 × 0.00125 % = 0.000000125: a tie at the eighth place
  const tie = taxOf(decimal('0.01'), effectiveRate(rate('0.0025'), decimal('50.00')));
  assert.equal(formatTax(tie), '0.000000125');
  assert.equal(formatTax(keepTax(tie, 8, 'half-even')), '0.00000012');
  assert.equal(formatTax(keepTax(tie, 8, 'half-up')), '0.00000013');
  assert.equal(formatTax(keepTax(tie, 2, 'half-up')), '0.00');
});

test('a share of a rate and of a tribute is exact', () => {
  assert.equal(formatRate(shareOf(rate('8.40'), rate('10'))), '0.84');
  assert.equal(formatRate(shareOf(rate('8.4001'), rate('12.5'))), '1.0500125');
  assert.equal(formatTax(shareOf(taxOf(decimal('3.33'), rate('8.40')), rate('10'))), '0.027972');
  assert.equal(shareOf(rate('8.40'), rate('100')), rate('8.40'));
  assert.equal(shareOf(rate('8.40'), rate('0')), 0n);
});
