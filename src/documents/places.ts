/** Finds the line and the column of places in a text, both from 1. A line ends with LF, CR LF or CR; a column is a character. */

/** A place in a text. */
export type Place = { readonly linha: number; readonly coluna: number };

/** Finds the place of any offset of a text; the index for it is built at the first call. */
export function placesIn(text: string): (offset: number) => Place {
  let lines: number[] | undefined;
  let astral: number[] | undefined;
  return (offset) => {
    lines ??= startsOfLines(text);
    // A character beyond U+FFFF is two units of the text.
    astral ??= /[\ud800-\udbff]/.test(text) ? [...text.matchAll(/[\ud800-\udbff]/g)].map(({ index }) => index) : [];
    const linha = countBelow(lines, offset + 1);
    const start = lines[linha - 1]!;
    const twoUnits = countBelow(astral, offset) - countBelow(astral, start);
    return { linha, coluna: offset - start - twoUnits + 1 };
  };
}

function startsOfLines(text: string): number[] {
  const starts = [0];
  // Most texts end their lines with LF alone, which is found without a regular expression.
  if (!text.includes('\r')) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    return starts;
  }
  for (const { index, 0: end } of text.matchAll(/\r\n?|\n/g)) starts.push(index + end.length);
  return starts;
}

/** The number of ascending values below a bound. */
function countBelow(ascending: readonly number[], bound: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
