/** Answers that are written while they are read: a table as CSV, or a line of JSON for each of its rows. */
import type { IncomingHttpHeaders } from 'node:http';
import { writeCsv } from '../../documents/write-csv.ts';
import type { Streamed } from './route.ts';

export const STREAM_TYPES = ['text/csv', 'application/x-ndjson'] as const;
export type StreamType = (typeof STREAM_TYPES)[number];

/** The type that the caller asks for by name; undefined: JSON. */
export function preferredType(
  { accept = '' }: Pick<IncomingHttpHeaders, 'accept'>,
  types: readonly StreamType[] = STREAM_TYPES,
): StreamType | undefined {
  const named = accept.split(',').map((one) => one.split(';')[0]!.trim().toLowerCase());
  return types.find((type) => named.includes(type));
}

export function streamed(
  type: StreamType,
  lines: AsyncIterable<string>,
  nome: string,
  headers: Readonly<Record<string, string>> = {},
): Streamed {
  const file = type === 'text/csv' ? { 'Content-Disposition': `attachment; filename="${nome}.csv"` } : {};
  return { streamed: inPieces(lines), type: `${type}; charset=utf-8`, headers: { ...file, ...headers } };
}

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
      return Array.isArray(value) ? value.join(' ') : String(value);
    });
  }
}

/** Lines are short: many travel together. */
const PIECE_CHARACTERS = 64 * 1024;

async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const line of lines) {
    piece += line;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
