/** A database of a test's own, with the schema, on the server that the run shares (or on one of a file run alone). */
import { randomBytes } from 'node:crypto';
import { migrate } from '../../src/base/pg/migrate.ts';
import { type Db, openPool } from '../../src/base/pg/open.ts';
import type { ClientConfig } from '../../src/base/pg/pg.ts';
import { globalSetup, globalTeardown } from '../setup.ts';
import { onEach, setSettings } from './citus.ts';
import { onEnd, onEveryEnd } from './cleanup.ts';
import { checkSent, recordSent } from './sent.ts';
import { until } from './until.ts';

onEveryEnd(checkSent);
recordSent();

let alone: Promise<void> | undefined;

/** How to reach the servers of this run: one, or those of a Citus, the coordinator first. A single file run by hand starts its own. */
export async function testServers(): Promise<readonly [ClientConfig, ...ClientConfig[]]> {
  if (process.env.NFSE_TEST_SERVERS === undefined) {
    if (alone === undefined) onEnd(globalTeardown);
    alone ??= globalSetup();
    await alone;
  }
  return JSON.parse(process.env.NFSE_TEST_SERVERS!);
}

/** A database with the schema and nothing in it; dropped when the test file ends. */
export async function freshDatabase(): Promise<ClientConfig> {
  await testServers();
  // Copied file by file: without a disk to wait for it is half the work of writing each page to the log.
  return copiedDatabase(process.env.NFSE_TEST_MODELO!);
}

/** The address of a database for `DATABASE_URL`; a socket is named by its folder. */
export function databaseUrlOf({ host, port, user, password, database }: ClientConfig): string {
  const secret = typeof password === 'string' ? `:${encodeURIComponent(password)}` : '';
  return `postgres://${user}${secret}@${encodeURIComponent(host!)}:${port}/${database}`;
}

/** One that has not even the schema; of a Citus the coordinator alone has it. */
export async function emptyDatabase(): Promise<ClientConfig> {
  const [server] = await testServers();
  return newDatabase([server], '');
}

/** A copy of one to which nobody is connected. */
export async function copiedDatabase(name: string): Promise<ClientConfig> {
  const servers = await testServers();
  const copy = await newDatabase(servers, `template ${name} strategy file_copy`);
  if (servers.length > 1) await setSettings(copy);
  return copy;
}

async function newDatabase(servers: readonly ClientConfig[], how: string): Promise<ClientConfig> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  onEnd(() => onEach(servers, `drop database if exists ${name} with (force)`));
  await onEach(servers, `create database ${name} ${how}`);
  return { ...servers[0], database: name };
}

/** A pool on a fresh database; closed when the test file ends. */
export async function freshPool(): Promise<ReturnType<typeof openPool>> {
  return poolOn(await freshDatabase());
}

/** One more pool on a database, as another process has it. It is patient, since the machine may be slow, or as patient as a service. */
export async function poolOn(connection: ClientConfig, isPatient = true): Promise<ReturnType<typeof openPool>> {
  const pool = openPool(connection, () => undefined, isPatient);
  onEnd(() => pool.end());
  await migrate(pool);
  return pool;
}

/**
 * Drops a trigger and its function of that name while a service writes. By itself it would lock the months of a table before the table, and
 * who writes locks the table first: of the two one would be ended as a deadlock.
 */
export async function dropTrigger(pool: Db, name: string, table: string): Promise<void> {
  await pool.query(`begin; lock table ${table} in access exclusive mode;
    drop trigger ${name} on ${table}; drop function ${name}; commit`);
}

/** The session of a client. */
export async function pidOf(client: Pick<Db, 'query'>): Promise<number> {
  return (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
}

/** Sessions that wait for one, on this server. */
const AWAITING = `select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and $1 = any (pg_blocking_pids(pid))`;
/** The same on a Citus: they wait on the nodes, where their parts run. Its names for sessions end with what the coordinator calls them. */
const AWAITING_ON_NODES = `select mod(waiting_gpid, 10000000000)::int as pid from citus_lock_waits
  where mod(blocking_gpid, 10000000000) = $1`;

/**
 * Until somebody waits for this very session, and who does: one that another has just let go may still look as if it waited.
 * Nothing else says that a statement is held up: time that goes by may as well be the machine's.
 */
export async function untilAwaited(pool: Pick<Db, 'query'>, pid: number): Promise<readonly number[]> {
  const texts = (await testServers()).length > 1 ? [AWAITING, AWAITING_ON_NODES] : [AWAITING];
  return until(async () => {
    for (const text of texts) {
      const { rows } = await pool.query<{ pid: number }>(text, [pid]);
      if (rows.length > 0) return rows.map((row) => row.pid);
    }
    return undefined;
  }, `somebody who waits for session ${pid}`);
}
