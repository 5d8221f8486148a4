/**
 * Opens the store: a pool on PostgreSQL and the schema brought up to date. Which server it is (embedded or given by
 * DATABASE_URL) makes no difference here or below.
 */
import { readdir, readFile } from 'node:fs/promises';
import { importShipped } from './aliquotas.ts';
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

const MIGRATIONS = new URL('./migrations/', import.meta.url);

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

/**
 * Applies the migrations that are missing, each in its own transaction under a lock on the table that lists them, so
 * that processes starting at once wait for each other; and imports the rates that the program ships where there are none yet.
 * Returns the names of those applied.
 */
export async function migrate(pool: Db): Promise<readonly string[]> {
  await checkVersion(pool);
  const names = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
  await createList(pool);
  const applied: string[] = [];
  for (const name of names) {
    const sql = await readFile(new URL(name, MIGRATIONS), 'utf8');
    const fresh = await transaction(pool, async (client) => {
      await client.query('lock table migracoes in access exclusive mode');
      const { rowCount } = await client.query('select 1 from migracoes where nome = $1', [name]);
      if (rowCount !== 0) return false;
      await client.query(sql);
      await client.query('insert into migracoes (nome, aplicada_em) values ($1, now())', [name]);
      return true;
    });
    if (fresh) applied.push(name);
  }
  await importShipped(pool, Date.now());
  return applied;
}

/** PostgreSQL that the service is tested with, as the server numbers itself. */
const VERSION_MIN = 150_000;

async function checkVersion(pool: Db): Promise<void> {
  const { rows } = await pool.query<{ number: number; name: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as name`,
  );
  if (rows[0]!.number >= VERSION_MIN) return;
  throw new Error(`o PostgreSQL é da versão ${rows[0]!.name}; o serviço precisa da 15 ou de uma mais nova.`);
}

/** "If not exists" is not safe against itself: two processes may both find it missing, and one of them fails. */
async function createList(pool: Db): Promise<void> {
  const create = 'create table if not exists migracoes (nome text primary key, aplicada_em timestamptz not null)';
  try {
    await pool.query(create);
  } catch {
    await pool.query(create);
  }
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
