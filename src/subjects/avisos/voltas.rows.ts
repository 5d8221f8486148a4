/** Distinguishes changes sent after a restoration from those sent before it. */

/** Smallest distance between the numbers and blocks of two restorations. */
export const POR_LINHA = 1_000_000;

/** Places from this block on were given after a restoration; no database reaches it otherwise. */
const VOLTA_DESDE = 1_000_000_000;

/** Mark of changes after a restoration; undefined without one. */
export function voltaOfBloco(bloco: number): number | undefined {
  return bloco < VOLTA_DESDE ? undefined : bloco;
}
