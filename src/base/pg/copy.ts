// The one door to `pg-copy-streams`: rows as PostgreSQL writes them itself, in its text form, one line a row.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from, to } from 'pg-copy-streams';
import type { ClientBase } from './pg.ts';

/** The rows of a question, in pieces that end anywhere. */
export function copyOut(client: ClientBase, question: string): Readable {
  return client.query(to(`copy (${question}) to stdout`));
}

/** Writes rows into `target`, a table with its columns; how many there were. What fails is told by the server, or by who reads `rows`. */
export async function copyIn(client: ClientBase, target: string, rows: AsyncIterable<Buffer>): Promise<number> {
  const writing = client.query(from(`copy ${target} from stdin`));
  await pipeline(Readable.from(rows, { objectMode: false }), writing);
  return writing.rowCount;
}
