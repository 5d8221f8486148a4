/** Answers that are written while their rows are read: a table as CSV, or a line of JSON for each row. */
import type { IncomingHttpHeaders } from 'node:http';
import { STREAM_TYPES, type StreamType } from '../world/escrever-tabela.ts';
import { preferType } from './negotiation.ts';
import type { Served } from './route.ts';

/** The type that the caller prefers to JSON; undefined: JSON. */
export function preferredType(
  headers: Pick<IncomingHttpHeaders, 'accept'>,
  types: readonly StreamType[] = STREAM_TYPES,
): StreamType | undefined {
  const type = preferType<StreamType | 'application/json'>(headers, ['application/json', ...types]);
  return type === 'application/json' ? undefined : type;
}

export function streamed(
  type: StreamType,
  lines: AsyncIterable<string>,
  nome: string,
  headers: Readonly<Record<string, string>> = {},
): Served {
  const file = type === 'text/csv' ? { 'Content-Disposition': `attachment; filename="${nome}.csv"` } : {};
  return { served: inPieces(lines), type: `${type}; charset=utf-8`, headers: { ...file, ...headers } };
}

/** Size of a piece; lines are short, and many are sent together. */
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
