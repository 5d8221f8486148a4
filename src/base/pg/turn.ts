/** Transactions that go one after another: what one of them has read still stands when it writes. */
import { createHash } from 'node:crypto';
import { type Db, runTransaction } from './open.ts';
import type { PoolClient } from './pg.ts';

/** The row of a turn, held until the transaction ends, among all processes. It is forgotten as every count is. */
const TAKE = `insert into contagens (contagem, rede, tamanho, resta, em, coube)
  values ('vez', $1, 1, 1, extract(epoch from clock_timestamp())::float8, true)
  on conflict (contagem, rede) do update set em = excluded.em`;

/** By database: the last transaction of this process about a thing. */
const allLast = new WeakMap<Db, Map<string, Promise<unknown>>>();

/** Runs `work` alone among those about the same thing. In this process they wait without a connection. */
export async function inTurn<Result>(
  pool: Db,
  about: string,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const last = allLast.get(pool) ?? new Map<string, Promise<unknown>>();
  allLast.set(pool, last);
  const run = () =>
    runTransaction(
      pool,
      async (client) => {
        await client.query(TAKE, [createHash('sha256').update(about).digest('base64url')]);
        return work(client);
      },
      { lockMs: 0 },
    );
  const mine = (last.get(about) ?? Promise.resolve()).then(run, run);
  last.set(about, mine);
  try {
    return await mine;
  } finally {
    if (last.get(about) === mine) last.delete(about);
  }
}
