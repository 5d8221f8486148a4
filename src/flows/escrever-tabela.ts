/** Rows as they leave in one answer: a table as CSV, or a line of JSON each. Both are written while the rows are read. */
import { writeCsv } from '../documents/write-csv.ts';

export const STREAM_TYPES = ['text/csv', 'application/x-ndjson'] as const;
export type StreamType = (typeof STREAM_TYPES)[number];

/** `columns`: of a CSV, in their order. */
export function writeTable(
  type: StreamType,
  columns: readonly string[],
  rows: AsyncIterable<object> | Iterable<object>,
): AsyncIterable<string> {
  return type === 'text/csv' ? writeCsv(columns, cellsOf(columns, rows)) : linesOf(rows);
}

async function* linesOf(rows: AsyncIterable<object> | Iterable<object>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}

async function* cellsOf(
  columns: readonly string[],
  rows: AsyncIterable<object> | Iterable<object>,
): AsyncGenerator<readonly string[]> {
  for await (const row of rows) {
    yield columns.map((column) => {
      const value: unknown = (row as Readonly<Record<string, unknown>>)[column];
      if (value === null || value === undefined) return '';
      if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(' ');
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    });
  }
}
