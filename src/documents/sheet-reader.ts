/**
 * The thread writes the first sheet of a spreadsheet as CSV. A row stands in the line of its number. Arguments: the spreadsheet, the CSV.
 * It ends with 1 if the file is no spreadsheet.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type CellObject, read, SSF } from '@e965/xlsx';
import { writeCells } from './write-csv.ts';

/** Digits that a double holds for certain: 2.0099999999999998 is 2.01. */
const SURE_DIGITS = 15;
/** The reader makes cells of no more columns than a register could ever have. */
const COLUMNS_MAX = 200;

type Rows = readonly (readonly (CellObject | undefined)[] | undefined)[];

function writeSheet(file: string, csv: string): void {
  const book = read(readFileSync(file), { dense: true, cellNF: true, cellHTML: false, cellFormula: false });
  const sheet: { '!data'?: Rows } | undefined = book.Sheets[book.SheetNames[0] ?? ''];
  const lines: string[] = [];
  for (const [at, row] of Object.entries(sheet?.['!data'] ?? [])) {
    while (lines.length < Number(at)) lines.push('\r\n');
    const cells = Array.from({ length: Math.min(row?.length ?? 0, COLUMNS_MAX) }, (_, place) =>
      describeCell(row?.[place]),
    );
    lines.push(writeCells(cells));
  }
  writeFileSync(csv, lines.join(''), { mode: 0o600 });
}

function describeCell(cell: CellObject | undefined): string {
  if (cell?.v === undefined || cell.v === null) return '';
  if (cell.t === 'b') return cell.v === true ? 'sim' : 'nao';
  if (cell.t === 'n') return describeNumber(Number(cell.v), String(cell.z ?? ''));
  return String(cell.t === 'e' ? cell.w : cell.v);
}

/** A number as a person reads it in its cell: a day as `YYYY-MM-DD`, a percentage without its sign. */
function describeNumber(number: number, format: string): string {
  if (SSF.is_date(format)) {
    const { y, m, d } = SSF.parse_date_code(number);
    return [String(y).padStart(4, '0'), ...[m, d].map((part) => String(part).padStart(2, '0'))].join('-');
  }
  const shown = format.includes('%') ? number * 100 : number;
  return Number.isSafeInteger(shown) ? String(shown) : String(Number(shown.toPrecision(SURE_DIGITS)));
}

const [file, csv] = process.argv.slice(2);
try {
  writeSheet(file!, csv!);
} catch {
  // Anything that the library throws means the same.
  process.exitCode = 1;
}
