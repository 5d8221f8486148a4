/** The pool on PostgreSQL, embedded or named by DATABASE_URL, and the transactions on it. `migrate.ts` brings the schema up to date. */
import { ignoreLoss, ignoring } from '../traces/ignoring.ts';
import { shareSync } from './by-turns.ts';
import { noteCoordinators } from './distributed.ts';
import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from './pg.ts';
import type { Planned } from './planned.ts';
import { renewPlans } from './plans.ts';
import type { Connection } from './servers.ts';
import { optionsOf, SESSION } from './session.ts';
import { isLocked, type Unavailability, UncertainCommit, unavailabilityOf } from './unavailable.ts';
import { causeOf, openWatchedPool, serverOf } from './watch.ts';

/** Default size of a pool: one batch of issuances a tenant at a time, the worker, and readings beside them. */
const CONNECTIONS_MAX = 12;
/** Limit of the wait for a connection, new or free. */
const CONNECT_MAX_MS = 10_000;
/** Idle time after which a connection is closed. Another part of the service that was refused one can then get it. */
const IDLE_MAX_MS = 5_000;
/** The system probes an idle connection after this time, so that firewalls keep it open and its end is noticed. */
const KEEP_ALIVE_MS = 5_000;

/**
 * A condition whose result the planner cannot estimate, so that it takes a list of ids for a single row. Each id is then looked up by its
 * whole key. Otherwise any index of the tenant would look cheaper for many rows, and all its notas would be read (measured).
 */
export const ONE_BY_ONE = 'where x.id + 0 = x.id';

export type Db = Pool;

/** A text from outside may contain U+0000, which no column accepts. */
export function dropNul(text: string | undefined): string | null {
  return text?.replaceAll('\0', '') ?? null;
}

/** A pool that sends the statements of a transaction without waiting between them. `isPatient`: for commands of an operator. */
export function openPool(connection: Connection, onError: (error: Error) => void, isPatient = false): Db {
  const settings = {
    ...connection,
    max: connection.max ?? CONNECTIONS_MAX,
    pipeline: true,
    application_name: 'nfse',
    options: connection.isPooled ? undefined : optionsOf(SESSION, connection),
    connectionTimeoutMillis: CONNECT_MAX_MS,
    idleTimeoutMillis: IDLE_MAX_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
  const pool = openWatchedPool(settings, isPatient ? 'command' : 'request');
  // An idle connection that the server closes is replaced at the next use; it must not end the process.
  pool.on('error', onError);
  renewPlans(pool);
  noteCoordinators(pool, connection.isPooled);
  // A connection that is lost in use must not end the process either: its statements fail, and the pool replaces it.
  pool.on('connect', (client) => void client.on('error', ignoreLoss));
  return pool;
}

/** Reads the rows of a tenant for a value ($2). */
function rowsReader<Row extends QueryResultRow>(pool: Db, ask: Planned) {
  return async (tenant: string, value: string): Promise<readonly Row[]> =>
    (await pool.query<Row>(ask([tenant, value]))).rows;
}

/** Reads a single row of a tenant for a value ($2). */
export function rowReader<Row extends QueryResultRow>(pool: Db, ask: Planned) {
  const read = rowsReader<Row>(pool, ask);
  return async (tenant: string, value: string): Promise<Row | undefined> => (await read(tenant, value))[0];
}

/**
 * Settings sent with `begin` for the transaction, so that they work behind a pooler and cost no wait. A session that holds a row for longer
 * is stuck. The server ends an idle transaction, whose locks it would otherwise keep for hours.
 */
const BEGIN = 'set local idle_in_transaction_session_timeout = 10000; set local lock_timeout =';
/** The extended form shares its `Sync` with the writes before it. */
const COMMIT: QueryConfig = { text: 'commit', queryMode: 'extended' } as QueryConfig;
const LOCK_TIMEOUT_MS = 2_000;
/** Limit of the wait after a lock was found to be held, because this wait delays others. */
export const SHORT_LOCK_MS = 250;
/** Number of locked members of a group after which the rest is left for later. */
export const LOCKED_MAX = 8;

/** Failures that concern the server, so that the next transaction meets them too. */
const OF_THE_SERVER: ReadonlySet<Unavailability> = new Set(['full', 'exhausted', 'crowded', 'read_only']);

export type TransactionOptions = {
  /** Limit of the wait for a lock, in milliseconds; afterwards the transaction ends with `locked`. 0: as long as a statement may take. */
  readonly lockMs?: number;
};

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export async function runTransaction<Result>(
  pool: Db,
  work: (client: PoolClient) => Promise<Result>,
  options?: TransactionOptions,
): Promise<Result> {
  return runPipeline(pool, async (client) => ({ result: await work(client), writes: [] }), options);
}

/** The result of a transaction, which may be one of the writes not awaited yet. */
export type Pipelined<Result> = {
  readonly result: Result | Promise<Result>;
  readonly writes: readonly Promise<unknown>[];
};

/**
 * Runs a transaction with fewer waits. `begin` travels with the first statements of `work`, and `commit` with its pending writes. A write
 * that fails makes the server roll back, and its error is thrown.
 */
export async function runPipeline<Result>(
  pool: Db,
  work: (client: PoolClient) => Promise<Pipelined<Result>>,
  { lockMs = LOCK_TIMEOUT_MS }: TransactionOptions = {},
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  let isDemoted = false;
  let isCommitSent = false;
  // Whether the commit itself failed by a lost node. The server answers a commit after a failed write with a rollback instead.
  let isNodeLost = false;
  try {
    const begun = client.query(`begin isolation level read committed; ${BEGIN} ${lockMs}`);
    shareSync(client, true);
    const [, { result, writes }] = await Promise.all([begun, work(client).then(catchWrites)]);
    isCommitSent = true;
    const commit = client.query(COMMIT);
    commit.catch((error) => {
      isNodeLost = unavailabilityOf(error) === 'node_gone';
    });
    const [ended] = await Promise.all([commit, ...writes]);
    // A failed transaction also accepts `commit`; only the command of the result shows the rollback.
    if (ended.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    serverOf(pool)?.noteCommit();
    return result;
  } catch (failure) {
    const error = causeOf(failure, client);
    noteRefusal(pool, error);
    shareSync(client, false);
    isDemoted = unavailabilityOf(error) === 'read_only';
    if (isDemoted) serverOf(pool)?.leaveReader(client);
    await client.query('rollback').catch((lost: Error) => {
      broken = lost;
    });
    // The server has rolled back if the connection still answers.
    if (isCommitSent && (broken !== undefined || isNodeLost)) throw new UncertainCommit(error);
    throw error;
  } finally {
    shareSync(client, false);
    // Another server may have taken over the address, so a new connection is opened.
    client.release(broken ?? isDemoted);
  }
}

function catchWrites<Work extends { readonly writes: readonly Promise<unknown>[] }>(done: Work): Work {
  for (const write of done.writes) write.catch(ignoring('no caller awaits a write once `begin` has failed'));
  return done;
}

/**
 * Notes that the server refused a write, so that writing is tested (`readiness.ts`). A small successful write does not prove that there is
 * room for others.
 */
function noteRefusal(pool: Db, error: unknown): void {
  const server = serverOf(pool);
  if (server !== undefined && OF_THE_SERVER.has(unavailabilityOf(error) as Unavailability)) server.refusesWrites = true;
}

/** One statement in a transaction of its own, so that the lock limits apply to it. All three statements travel together. */
export async function writeAlone<Row extends QueryResultRow>(
  pool: Db,
  query: QueryConfig,
  options?: TransactionOptions,
): Promise<QueryResult<Row>> {
  const work = async (client: PoolClient) => {
    const result = client.query<Row>(query);
    return { result, writes: [result] };
  };
  return runPipeline(pool, work, options);
}

/** Writes all together, or one by one if another transaction locks one of them. Returns their number, as `write` counts them. */
export async function writeUnlocked<One>(
  all: readonly One[],
  write: (some: readonly One[], options?: TransactionOptions) => Promise<number>,
): Promise<number> {
  try {
    return await write(all);
  } catch (error) {
    if (!isLocked(error)) throw error;
  }
  let written = 0;
  let locked = 0;
  for (const one of all) {
    if (locked === LOCKED_MAX) break;
    try {
      written += await write([one], { lockMs: SHORT_LOCK_MS });
    } catch (error) {
      if (!isLocked(error)) throw error;
      locked += 1;
    }
  }
  return written;
}
