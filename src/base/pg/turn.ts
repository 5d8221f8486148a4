/** Transactions that run one after another, so that data read by one is still valid when it writes (D-770). */
import { createHash } from 'node:crypto';
import { type Db, runTransaction } from './open.ts';
import type { PoolClient } from './pg.ts';

/** The lock row of a turn among all processes, held until the transaction ends. It is deleted like every count. */
const TAKE = `insert into contagens (contagem, rede, tamanho, resta, em, coube)
  values ('vez', $1, 1, 1, extract(epoch from clock_timestamp())::float8, true)
  on conflict (contagem, rede) do update set em = excluded.em`;

/** The last transaction of this process about a subject, by database. */
const allLast = new WeakMap<Db, Map<string, Promise<unknown>>>();

/** Runs `work` alone among the transactions about the same subject. Transactions of this process wait without a connection. */
export async function inTurn<Result>(
  pool: Db,
  about: string,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const last = allLast.getOrInsertComputed(pool, () => new Map());
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
