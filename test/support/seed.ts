/**
 * The random values of tests, and their seed. The everyday run draws the same values each time, so failures and successes are reproducible.
 * The long run (NFSE_TEST_LONGO=1) draws new values, and more of them. NFSE_TEST_SEMENTE=N repeats a reported seed.
 */
import fc from 'fast-check';

export const LONG = process.env['NFSE_TEST_LONGO'] === '1';
/** The requested seed, if there is one. */
export const ASKED_SEED =
  process.env['NFSE_TEST_SEMENTE'] === undefined ? undefined : Number(process.env['NFSE_TEST_SEMENTE']);
export const SEED = ASKED_SEED ?? (LONG ? Date.now() % 1_000_000 : 20_261_121);

fc.configureGlobal({ seed: SEED });

/** Characters of all Unicode. fast-check's own `unit: 'binary'` would first build a table of them all, which takes a second. */
const character = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800));

/** Any text, by default a short one. */
export function anyText(maxLength = 10): fc.Arbitrary<string> {
  return fc.array(character, { maxLength }).map((characters) => characters.join(''));
}

export default fc;
