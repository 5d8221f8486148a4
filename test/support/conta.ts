/**
 * Recalculates the arithmetic of a worked case from its text. It uses fractions of whole numbers, so the project's own decimals play no
 * part.
 *
 *   line   campo: expression [= value …] [≈ value]
 *   `=`    holds exactly; `≈` is half up to two decimals, and may stand once, at the end
 *   terms  1234.56, + - x ( ), and a `%` behind a number or a bracket
 */
import assert from 'node:assert/strict';

export type Linha = { readonly campo: string; readonly valor: string };

/** The verified lines of a calculation; `valor` is the last value of a line. */
export function linhasDa(conta: Readonly<Record<string, string>>): readonly Linha[] {
  return Object.entries(conta).map(([campo, passos]) => {
    const line = `${campo} = ${passos}`;
    const steps = `= ${passos}`.split(/ (?==|≈)/);
    let value: Fraction | undefined;
    let last = '';
    for (const step of steps) {
      last = step.slice(1).trim();
      const next = evaluate(last);
      if (step.startsWith('≈')) {
        assert.equal(halfUp(value!), last, line);
        assert.equal(step, steps.at(-1), `${line}: a rounding ends the line`);
      } else if (value !== undefined) {
        assert.ok(equal(value, next), `${line}: ${last} is not what stands before it`);
      }
      value = next;
    }
    assert.match(last, /^\d+\.\d\d$/, `${line}: it ends with an amount`);
    return { campo, valor: last };
  });
}

type Fraction = { readonly top: bigint; readonly bottom: bigint };

const equal = (a: Fraction, b: Fraction): boolean => a.top * b.bottom === b.top * a.bottom;

/** The nearest hundredth, half up. Amounts here are never negative. */
function halfUp({ top, bottom }: Fraction): string {
  assert.ok(top >= 0n && bottom > 0n);
  const hundredths = (top * 200n + bottom) / (bottom * 2n);
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
}

function evaluate(text: string): Fraction {
  const tokens = text.match(/\d+(?:\.\d+)?|[-+x()%]/g) ?? [];
  assert.equal(tokens.join(''), text.replaceAll(' ', ''), `strange sign in ${text}`);
  let at = 0;
  const sum = (): Fraction => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-') {
      const sign = tokens[at++] === '+' ? 1n : -1n;
      const { top, bottom } = product();
      value = { top: value.top * bottom + sign * top * value.bottom, bottom: value.bottom * bottom };
    }
    return value;
  };
  const product = (): Fraction => {
    let value = term();
    while (tokens[at] === 'x') {
      at += 1;
      const { top, bottom } = term();
      value = { top: value.top * top, bottom: value.bottom * bottom };
    }
    return value;
  };
  const term = (): Fraction => {
    const token = tokens[at++];
    assert.ok(token, `${text} breaks off`);
    let value: Fraction;
    if (token === '(') {
      value = sum();
      assert.equal(tokens[at++], ')', text);
    } else {
      const [whole, decimals = ''] = token.split('.');
      value = { top: BigInt(whole + decimals), bottom: 10n ** BigInt(decimals.length) };
    }
    for (; tokens[at] === '%'; at += 1) value = { top: value.top, bottom: value.bottom * 100n };
    return value;
  };
  const value = sum();
  assert.equal(at, tokens.length, `${text} goes on after its end`);
  return value;
}
