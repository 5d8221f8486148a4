/** The pool on PostgreSQL, embedded or given by DATABASE_URL, and the transactions on it. `migrate.ts` brings the schema up to date. */
import { noteCoordinators } from './distributed.ts';
import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from './pg.ts';
import type { Planned } from './planned.ts';
import { renewPlans } from './plans.ts';
import type { Connection } from './servers.ts';
import { optionsOf, SESSION } from './session.ts';
import { isLocked, type Unavailability, UncertainCommit, unavailabilityOf } from './unavailable.ts';
import { causeOf, openWatchedPool, serverOf } from './watch.ts';

/** Connections of a pool that is not told how many: one batch of issuances a tenant at a time, the worker, and readings beside them. */
const CONNECTIONS_MAX = 12;
/** How long a connection is waited for, a granted one or a free one. */
const CONNECT_MAX_MS = 10_000;
/** Of what one part of the service does not use, another that was refused one gets it while it waits. */
const IDLE_MAX_MS = 5_000;
/** An idle connection is probed by the system after this, so that firewalls remember it and its end is noticed. */
const KEEP_ALIVE_MS = 5_000;

/**
 * A list of ids as a relation that the planner takes for a single row, since it knows nothing of this equality. So each id is looked up by
 * its whole key. For many rows any index of the tenant would look cheaper, and all its notas would be read (measured).
 */
export const ONE_BY_ONE = 'where x.id + 0 = x.id';

export type Db = Pool;

/** A text from outside may hold U+0000, which no column takes. */
export function dropNul(text: string | undefined): string | null {
  return text?.replaceAll('\0', '') ?? null;
}

/** A pool that sends the statements of a transaction without waiting between them. `isPatient`: for work by hand. */
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
  // Nor must one that is lost while it is in use: its statements fail, and the pool replaces it.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}

/** Reads what a tenant has under a value ($2). */
function rowsReader<Row extends QueryResultRow>(pool: Db, ask: Planned) {
  return async (tenant: string, value: string): Promise<readonly Row[]> =>
    (await pool.query<Row>(ask([tenant, value]))).rows;
}

/** The same, of one row. */
export function rowReader<Row extends QueryResultRow>(pool: Db, ask: Planned) {
  const read = rowsReader<Row>(pool, ask);
  return async (tenant: string, value: string): Promise<Row | undefined> => (await read(tenant, value))[0];
}

/**
 * Set with `begin` for the transaction, so that it holds behind a pooler and costs no wait. Who holds a row for longer is stuck; who is
 * gone in a transaction is ended by the server, which would keep its locks for hours.
 */
const BEGIN = 'set local idle_in_transaction_session_timeout = 10000; set local lock_timeout =';
const LOCK_TIMEOUT_MS = 2_000;
/** Where somebody was found to hold something: who waits there keeps others waiting. */
export const SHORT_LOCK_MS = 250;
/** Of a group of which so many wait for somebody, the rest is left to another time. */
export const LOCKED_MAX = 8;

/** Failures that are nobody's own: the next transaction meets them too. */
const OF_THE_SERVER: ReadonlySet<Unavailability> = new Set(['full', 'exhausted', 'crowded', 'read_only']);

export type TransactionOptions = {
  /** How long a lock is waited for, in milliseconds; then the transaction ends with `locked`. 0: as long as a statement may take. */
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

/** What a transaction came to, which may be one of the writes that nobody has awaited yet. */
export type Pipelined<Result> = {
  readonly result: Result | Promise<Result>;
  readonly writes: readonly Promise<unknown>[];
};

/**
 * The same, with fewer waits: `begin` travels with the first statements of `work`, and `commit` with the writes that it does not await. A
 * write that fails makes the server roll back, and its error is thrown.
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
  // As it was told to commit: of a write that fails before, the server answers that it rolled back.
  let isNodeLost = false;
  try {
    const begun = client.query(`begin isolation level read committed; ${BEGIN} ${lockMs}`);
    const [, { result, writes }] = await Promise.all([begun, work(client).then(catchWrites)]);
    isCommitSent = true;
    const commit = client.query('commit');
    commit.catch((error) => {
      isNodeLost = unavailabilityOf(error) === 'node_gone';
    });
    const [ended] = await Promise.all([commit, ...writes]);
    // A transaction that had failed is ended by `commit` too, and says so only here.
    if (ended.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    return result;
  } catch (failure) {
    const error = causeOf(failure, client);
    noteRefusal(pool, error);
    isDemoted = unavailabilityOf(error) === 'read_only';
    if (isDemoted) serverOf(pool)?.leaveReader(client);
    await client.query('rollback').catch((lost: Error) => {
      broken = lost;
    });
    // A connection that still answers has rolled the transaction back.
    if (isCommitSent && (broken !== undefined || isNodeLost)) throw new UncertainCommit(error);
    throw error;
  } finally {
    // Another server may have the address by now: a new connection finds out.
    client.release(broken ?? isDemoted);
  }
}

/** A write that fails after `begin` has failed is awaited by nobody; its failure must not end the process. */
function catchWrites<Work extends { readonly writes: readonly Promise<unknown>[] }>(done: Work): Work {
  for (const write of done.writes) write.catch(() => undefined);
  return done;
}

/** Whether the server takes writes is then tried (`readiness.ts`): that a small one was taken says nothing of the room for others. */
function noteRefusal(pool: Db, error: unknown): void {
  const server = serverOf(pool);
  if (server !== undefined && OF_THE_SERVER.has(unavailabilityOf(error) as Unavailability)) server.refusesWrites = true;
}

/** One statement in a transaction of its own, so that what is said of locks holds for it: the three travel together. */
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

/** Writes all together, or each by itself where somebody holds one of them; how many, as `write` counts them. */
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
