/**
 * Whether the database accepts writes. No test is made while writes succeed; after a failure the failed operation is tried again. A busy
 * pool is not waited for (D-249).
 */
import { ignoreLoss } from '../traces/ignoring.ts';
import { type Db, runPipeline } from './open.ts';
import { Client } from './pg.ts';
import { IS_READ_ONLY } from './servers.ts';
import { StoreUnavailable, unavailabilityOf } from './unavailable.ts';
import { type ServerState, serverOf } from './watch.ts';

/** Time limit of the connection that is opened as a test. */
const OPEN_MAX_MS = 1_500;

/** A temporary table, which needs new room on the disk and is dropped with the transaction. */
const TRIAL = [
  'create temp table prova_de_escrita (dado text) on commit drop',
  `insert into prova_de_escrita select repeat('0', 1000) from generate_series(1, 1000)`,
];

/** Throws the obstacle to writing. */
export async function checkWriting(pool: Db): Promise<void> {
  const server = serverOf(pool);
  if (server?.absence !== undefined) throw server.absence();
  if (await readsOnly(pool, server)) throw new StoreUnavailable('read_only', 'the database takes no writes');
  if (server?.refusesWrites) await tryToWrite(pool, server);
}

async function readsOnly(pool: Db, server: ServerState | undefined): Promise<boolean> {
  if (server === undefined) return isReadOnly(pool);
  if (server.refusesConnections) return askAnew(server);
  if (!isBusy(pool)) return isReadOnly(pool);
  if (server.hasCommitted) return false;
  try {
    return await askAnew(server);
  } catch (error) {
    // The pool may hold all the connections that the server grants.
    if (unavailabilityOf(error) === 'crowded') return isReadOnly(pool);
    throw error;
  }
}

/** Whether a caller would wait for a connection. */
function isBusy(pool: Db): boolean {
  return pool.waitingCount > 0 || (pool.idleCount === 0 && pool.totalCount >= pool.options.max);
}

/** A read-only connection is not used again, because the address may belong to another server by now. */
async function isReadOnly(pool: Db): Promise<boolean> {
  const client = await pool.connect();
  let isLeft = true;
  try {
    isLeft = await asksReadOnly(client);
    if (isLeft) serverOf(pool)?.leaveReader(client);
    return isLeft;
  } finally {
    client.release(isLeft);
  }
}

async function asksReadOnly(client: Pick<Db, 'query'>): Promise<boolean> {
  return (await client.query<{ read_only: boolean }>(`select ${IS_READ_ONLY} as read_only`)).rows[0]!.read_only;
}

async function askAnew(server: ServerState): Promise<boolean> {
  const limits = { connectionTimeoutMillis: OPEN_MAX_MS, query_timeout: OPEN_MAX_MS };
  const client = new Client({ ...server.config, ...limits });
  client.on('error', ignoreLoss);
  try {
    await client.connect();
    server.refusesConnections = false;
    return await asksReadOnly(client);
  } finally {
    client.end().catch(ignoreLoss);
  }
}

/** A committed trial ends the doubt. Only the next write can tell if temporary tables are forbidden. */
async function tryToWrite(pool: Db, server: ServerState): Promise<void> {
  try {
    await runPipeline(pool, async (client) => ({ result: undefined, writes: TRIAL.map((text) => client.query(text)) }));
  } catch (error) {
    if (unavailabilityOf(error) !== undefined) throw error;
  }
  server.refusesWrites = false;
}
