// Only this file imports `pg-copy-streams`: rows in PostgreSQL's own text form, one line a row.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from, to } from 'pg-copy-streams';
import type { ClientBase } from './pg.ts';

/** The rows of a query, in pieces that end anywhere. */
export function copyOut(client: ClientBase, question: string): Readable {
  return client.query(to(`copy (${question}) to stdout`));
}

/**
 * Writes rows into `target`, a table with its columns, and returns their number. Errors come from the server, or from the reader of `rows`.
 */
export async function copyIn(client: ClientBase, target: string, rows: AsyncIterable<Buffer>): Promise<number> {
  const writing = client.query(from(`copy ${target} from stdin`));
  await pipeline(Readable.from(rows, { objectMode: false }), writing);
  return writing.rowCount;
}
