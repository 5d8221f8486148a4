/** How what was told after a restoration is told from what was told before it. */

/** Numbers and blocks by which restorations lie apart at least. */
export const POR_LINHA = 1_000_000;

/** From this block of changes on a place was given after a restoration; without one nobody comes so far. */
const VOLTA_DESDE = 1_000_000_000;

/** Mark of changes after a restoration; undefined without one. */
export function voltaOfBloco(bloco: number): number | undefined {
  return bloco < VOLTA_DESDE ? undefined : bloco;
}
