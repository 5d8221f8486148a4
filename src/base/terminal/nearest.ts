/** Finds the existing name that a mistyped one probably means. */

/** A text with more slips than this resembles no name. */
const SLIPS_MAX = 3;

/** The name that was probably meant, if any. */
export function findNearest(typed: string, names: readonly string[]): string | undefined {
  const bare = (text: string): string => text.replace(/^-+/, '').toLowerCase();
  const wanted = bare(typed);
  let best: string | undefined;
  let least = Math.min(SLIPS_MAX, Math.max(1, Math.floor(wanted.length / 3))) + 1;
  for (const name of names) {
    const slips = countSlips(wanted, bare(name));
    if (slips < least) [best, least] = [name, slips];
  }
  return best ?? names.find((name) => wanted.length > 2 && bare(name).startsWith(wanted));
}

/** Letters to insert, to leave out, to change, or to swap with the next: the distance of optimal string alignment. */
export function countSlips(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let least = Math.min(
        rows[row - 1]![column]! + 1,
        line[column - 1]! + 1,
        rows[row - 1]![column - 1]! + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) least = Math.min(least, rows[row - 2]![column - 2]! + 1);
      line.push(least);
    }
    rows.push(line);
  }
  return rows[one.length]![other.length]!;
}
