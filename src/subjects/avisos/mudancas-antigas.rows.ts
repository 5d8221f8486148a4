/** Deletes old changes, block by block. */
import type { PoolClient } from '../../base/pg/pg.ts';

const OLDEST = 'select em from mudancas where tenant = $1 order by em limit $2';
const FORGET = 'delete from mudancas where tenant = $1 and em >= $2 and em <= $3 returning bloco';
const FORGOTTEN = 'update mudancas_ate set mais_antigo = $2 where tenant = $1 and mais_antigo < $2';

/** Rows deleted in one transaction. */
const FORGET_STEP = 2_000;

/** Deletes some of the changes of a tenant from before a moment (milliseconds); returns whether there may be more. */
export async function forgetOldest(client: PoolClient, tenant: string, before: number): Promise<boolean> {
  const { rows } = await client.query<{ em: Date }>(OLDEST, [tenant, FORGET_STEP]);
  const old = rows.filter(({ em }) => +em < before);
  const [first, last] = [old[0], old.at(-1)];
  if (first === undefined || last === undefined) return false;
  // A block has one moment and is deleted whole, so its number shows that it is gone.
  const gone = (await client.query<{ bloco: string }>(FORGET, [tenant, first.em, last.em])).rows;
  const newest = Math.max(...gone.map(({ bloco }) => Number(bloco)));
  await client.query(FORGOTTEN, [tenant, newest + 1]);
  return old.length === FORGET_STEP;
}
