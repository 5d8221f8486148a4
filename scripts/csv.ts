/**
 * CSV tables into the rows of a declared type: parsers of one cell, and the catalogs made of them.
 *
 * The module knows no particular table and touches no file. A cell that lacks the form its column declares is a fault:
 * nothing is guessed.
 */
import { readCsvText } from '../src/documents/csv.ts';

/** A row, read by column. An unknown column is a fault, not an empty cell. */
export type Row = (column: string) => string;

export type Parser<Value> = (cell: string) => Value;
export type Column<Value> = (row: Row) => Value;

/** One column for each property of a row; an optional property may be `null`, a required one never. */
export type Columns<R> = {
  readonly [K in keyof R]-?: Column<undefined extends R[K] ? Exclude<R[K], undefined> | null : R[K]>;
};

export interface Declaration<R> {
  readonly file: string;
  /** The documents behind the rows, for the head of the file. */
  readonly fonte: string;
  readonly rows: (read: (table: string) => readonly Row[]) => readonly Row[];
  readonly columns: Columns<R>;
  /** The properties that together are unique. */
  readonly key: readonly (keyof R & string)[];
  /** Assumptions of our code about the table, in words and as a test of each row. */
  readonly assume?: readonly (readonly [statement: string, holds: (row: Row) => boolean])[];
  /** A column in which every value of a closed list must occur. */
  readonly covers?: readonly [column: keyof R & string, values: readonly string[]];
}

export interface Written {
  readonly text: string;
  readonly faults: readonly string[];
}

export interface Catalog {
  readonly file: string;
  readonly write: (read: (table: string) => readonly Row[], date: string, by: string) => Written;
}

/** Makes a catalog from a declaration: the text of its file, and all faults found. */
export function catalog<R>(declaration: Declaration<R>): Catalog {
  const { file, fonte, key, assume = [], covers } = declaration;
  const columns: readonly (readonly [string, Column<unknown>])[] = Object.entries(declaration.columns);
  const names = columns.map(([name]) => name);
  return {
    file,
    write(read, date, by) {
      const faults: string[] = [];
      const seen = new Set<string>();
      const lines = declaration.rows(read).map((row, at) => {
        const fault = (message: string) => void faults.push(`${file}, row ${at + 1}: ${message}`);
        const line = columns.map(([name, column]) =>
          attempt(
            () => column(row),
            (message) => fault(`${name}: ${message}`),
          ),
        );
        const id = JSON.stringify(key.map((name) => line[names.indexOf(name)]));
        if (seen.has(id)) fault(`the key ${id} occurs twice`);
        seen.add(id);
        for (const [statement, holds] of assume) {
          if (!attempt(() => holds(row), fault)) fault(`no longer true: ${statement} (${id})`);
        }
        return line;
      });
      if (lines.length === 0) faults.push(`${file}: no rows`);
      const [covered, values] = covers ?? ['', []];
      const present = new Set(lines.map((line) => line[names.indexOf(covered)]));
      const missing = values.filter((value) => !present.has(value));
      faults.push(...missing.map((value) => `${file}: no row with ${covered} ${value}`));
      return { text: render({ fonte, data: date, gerado_por: by, colunas: names }, lines), faults };
    },
  };
}

/** One row per line, so that a changed table shows its changed rows. */
function render(head: Readonly<Record<string, unknown>>, lines: readonly (readonly unknown[])[]): string {
  const properties = Object.entries(head).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
  );
  const rows = lines.map((line) => `    ${JSON.stringify(line)}`).join(',\n');
  return `{\n${properties.join('\n')}\n  "linhas": [\n${rows}\n  ]\n}\n`;
}

function attempt<Value>(make: () => Value, fault: (message: string) => void): Value | undefined {
  try {
    return make();
  } catch (error) {
    fault((error as Error).message);
    return undefined;
  }
}

/** The column must be filled. */
export function cell<Value>(column: string, parse: Parser<Value>): Column<Value> {
  return (row) => {
    const content = row(column);
    if (content === '') throw new Error(`${column} is empty`);
    return parse(content);
  };
}

/** The column may be empty, where no source gives a value: `null`. */
export function maybe<Value>(column: string, parse: Parser<Value>): Column<Value | null> {
  return (row) => (row(column) === '' ? null : parse(row(column)));
}

export function text(content: string): string {
  if (content !== content.trim() || /[\p{Cc}\ufffd]/u.test(content)) throw new Error(`"${content}" is not clean text`);
  return content;
}

export function match(pattern: RegExp): Parser<string> {
  return (content) => {
    if (!pattern.test(content)) throw new Error(`"${content}" does not match ${pattern}`);
    return content;
  };
}

export function oneOf<Value extends string>(values: readonly Value[]): Parser<Value> {
  return (content) => {
    const found = values.find((value) => value === content);
    if (found === undefined) throw new Error(`"${content}" is none of ${values.join(', ')}`);
    return found;
  };
}

/** The tables write true in three ways. */
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
  ['S', true],
  ['N', false],
]);

export function flag(content: string): boolean {
  const value = FLAGS.get(content);
  if (value === undefined) throw new Error(`"${content}" is neither yes nor no`);
  return value;
}

/** The rows of a CSV table with a header; one fault refuses the whole table. `name` is for messages. */
export function parseCsv(source: string, name: string): readonly Row[] {
  if (source.startsWith('\ufeff')) throw new Error(`${name}: begins with a byte order mark`);
  if (source === '') throw new Error(`${name}: is empty`);
  const { header, records } = readCsvText(source);
  const columns = new Map(header.map((column, at) => [column, at]));
  if (columns.size !== header.length) throw new Error(`${name}: a column occurs twice in the header`);
  return records.map((record) => {
    if ('problem' in record) throw new Error(`${name}: line ${record.linha}: ${record.problem}`);
    return (column) => {
      const content = record.cells[columns.get(column) ?? -1];
      if (content === undefined) throw new Error(`${name} has no column ${column}`);
      return content;
    };
  });
}
