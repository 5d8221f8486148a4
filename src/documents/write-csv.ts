/** A table as CSV, as the imports read it and spreadsheets of this country open it: semicolons, CRLF, a mark of UTF-8 in front. */

/** Byte order mark, by which a spreadsheet knows UTF-8. */
const BOM = '\uFEFF';
const NEEDS_QUOTES = /[;"\r\n]/;
/** A spreadsheet would run such a text as a formula (CWE-1236); numbers stay. */
const FORMULA = /^[=@\t\r]|^[+-](?!\d+(?:,\d+)?$)/;

/** The lines of a table, made while they are read. */
export async function* writeCsv(
  head: readonly string[],
  rows: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
): AsyncGenerator<string> {
  yield `${BOM}${lineOf(head)}`;
  for await (const row of rows) yield lineOf(row);
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(';')}\r\n`;
}

function cellOf(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
