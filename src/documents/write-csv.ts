/**
 * A table as CSV, in one dialect for every file that people open: semicolons, decimal commas, CRLF, a UTF-8 mark in front. The imports read
 * the exact values back.
 */

/** The byte order mark, by which a spreadsheet recognises UTF-8. */
const BOM = '\uFEFF';
const NEEDS_QUOTES = /[;"\r\n]/;
/** A spreadsheet would run such a text as a formula (CWE-1236). */
const FORMULA = /^[=@\t\r+-]/;
/** A spreadsheet would read such a text as a number, a date or an hour, and lose zeros and digits: a key, a CNPJ, 01.01, 2026-10-05. */
const MISREAD = new RegExp(
  [
    '^\\d[\\d.,]*(?:e[+-]?\\d*|%)?$',
    '^\\d{1,4}[-/.:]\\d{1,2}(?:[-/.:]\\d{1,4})?(?: \\d[\\d: +-]*)?$',
    // 15 de novembro, 2/jul, jan/26
    '^(?:\\d{1,2}[-/. ](?:de )?)?(?:jan|fev|feb|mar|abr|apr|mai|may|jun|jul|ago|aug|set|sep|out|oct|nov|dez|dec)[a-zç]*(?:[-/. ](?:de )?\\d{1,4})?$',
  ].join('|'),
  'i',
);
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** The lines of a table, made while they are read. `numeros`: the columns whose cells are numbers; all others are text. */
export async function* writeCsv(
  head: readonly string[],
  rows: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  numeros: ReadonlySet<string>,
): AsyncGenerator<string> {
  const areNumbers = head.map((column) => numeros.has(column));
  yield `${BOM}${writeCells(head)}`;
  for await (const row of rows) {
    yield writeCells(
      row.map((cell, at) => (areNumbers[at] && NUMBER.test(cell) ? cell.replace('.', ',') : markText(cell))),
    );
  }
}

/** A leading apostrophe marks a cell as text for a spreadsheet; a text that begins with one gets another (D-546). */
function markText(text: string): string {
  return FORMULA.test(text) || MISREAD.test(text) || text.startsWith("'") ? `'${text}` : text;
}

/** The text without the apostrophe that {@link writeCsv} put in front. */
export function unmarkText(text: string): string {
  const bare = text.slice(1);
  return text.startsWith("'") && markText(bare) === text ? bare : text;
}

/** A line of a table whose cells stay as they are, with its end. */
export function writeCells(cells: readonly string[]): string {
  return `${cells.map(quote).join(';')}\r\n`;
}

function quote(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
