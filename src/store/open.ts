/**
 * Opens the store: a pool on PostgreSQL. Which server it is (embedded or given by DATABASE_URL) makes no difference here or below;
 * `migrate.ts` brings its schema up to date.
 */
import { Pool, type PoolClient, type PoolConfig } from './pg.ts';

/** Connections of one process: one batch of issuances a tenant at a time, the worker, and readings beside them. */
const CONNECTIONS_MAX = 12;
/** A statement of ours takes milliseconds; one that takes this long is stuck and must not hold a caller for ever. */
const STATEMENT_TIMEOUT_MS = 30_000;
/**
 * Every statement of ours finds its rows by whole keys: one look-up in an index a row, whatever the statistics say. So
 * scans and the joins that need them are off; and a plan made while a table was empty, which may take the wrong index
 * and would be kept while the table grows (measured: a fifth of the rate), is made anew at each execution, which a
 * group of notes pays once. Compiling plans does not pay for milliseconds.
 */
const SESSION = Object.entries({
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
})
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

/**
 * A list of ids as a relation that the planner takes for a single row: an equality of which it knows nothing is rare to
 * it. So it looks each id up by the whole key. Taken for as many rows as it has, it makes any index that begins with the
 * tenant look cheaper, and all notas of the tenant are read to settle two hundred (measured, and growing with them).
 */
export const ONE_BY_ONE = 'where x.id + 0 = x.id';

export type Db = Pool;

/** A pool that pipelines: statements of one transaction are sent without waiting for each other's answers. */
export function openPool(connection: PoolConfig, onError: (error: Error) => void): Db {
  const pool = new Pool({
    ...connection,
    max: CONNECTIONS_MAX,
    pipeline: true,
    application_name: 'nfse',
    options: SESSION,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    connectionTimeoutMillis: 10_000,
  } as PoolConfig);
  // An idle connection that the server closes is replaced at the next use; it must not end the process.
  pool.on('error', onError);
  // Nor must one that is lost while it is in use: its statements fail, and the pool replaces it.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export async function transaction<Result>(pool: Db, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  return pipelined(pool, async (client) => ({ result: await work(client), writes: [] }));
}

/**
 * The same, with fewer waits: `begin` travels with the first statements of `work`, and `commit` with the writes that it
 * returns without awaiting them. A write that fails makes the server roll back, and its error is thrown.
 */
export async function pipelined<Result>(
  pool: Db,
  work: (client: PoolClient) => Promise<{ readonly result: Result; readonly writes: readonly Promise<unknown>[] }>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const begun = client.query('begin');
    const [, { result, writes }] = await Promise.all([begun, work(client)]);
    const [ended] = await Promise.all([client.query('commit'), ...writes]);
    // A transaction that had failed is ended by `commit` too, and says so only here.
    if (ended.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
