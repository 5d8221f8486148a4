/** A database for one test, with the schema. It is on the server that the run shares, or on that of a file that runs alone. */
import { randomBytes } from 'node:crypto';
import { type Db, openPool } from '../../src/base/pg/open.ts';
import type { ClientConfig } from '../../src/base/pg/pg.ts';
import { migrate } from '../../src/wiring/migrate.ts';
import { globalSetup, globalTeardown } from '../setup.ts';
import { onEach, setSettings } from './citus.ts';
import { onEnd, onEveryEnd } from './cleanup.ts';
import { checkSent, recordSent } from './sent.ts';
import { until } from './until.ts';

onEveryEnd(checkSent);
recordSent();

let alone: Promise<void> | undefined;

/** The connections of this run's servers: one, or those of a Citus, coordinator first. A file that runs alone starts its own server. */
export async function testServers(): Promise<readonly [ClientConfig, ...ClientConfig[]]> {
  if (process.env['NFSE_TEST_SERVERS'] === undefined) {
    if (alone === undefined) onEnd(globalTeardown);
    alone ??= globalSetup();
    await alone;
  }
  return JSON.parse(process.env['NFSE_TEST_SERVERS']!);
}

/** An empty database with the schema; it is dropped when the test file ends. */
export async function freshDatabase(): Promise<ClientConfig> {
  await testServers();
  // The copy is made file by file. It takes half the work of a log of each page, where no disk is waited for.
  return copiedDatabase(process.env['NFSE_TEST_MODELO']!);
}

/** The address of a database for `DATABASE_URL`; a socket is named by its folder. */
export function databaseUrlOf({ host, port, user, password, database }: ClientConfig): string {
  const secret = typeof password === 'string' ? `:${encodeURIComponent(password)}` : '';
  return `postgres://${user}${secret}@${encodeURIComponent(host!)}:${port}/${database}`;
}

/** A database without the schema; on a Citus, only the coordinator has it. */
export async function emptyDatabase(): Promise<ClientConfig> {
  const [server] = await testServers();
  return newDatabase([server], '');
}

/** A copy of a database without connections. */
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

/** Another pool on a database, as a second process has it. Its timeouts are long, since the machine may be slow, or those of a service. */
export async function poolOn(connection: ClientConfig, isPatient = true): Promise<ReturnType<typeof openPool>> {
  const pool = openPool(connection, () => undefined, isPatient);
  onEnd(() => pool.end());
  await migrate(pool);
  return pool;
}

/**
 * Drops a trigger and its function of the same name while a service writes. A bare drop would lock the partitions of a table before the
 * table. Writers lock the table first, so the server would end one of the two as a deadlock.
 */
export async function dropTrigger(pool: Db, name: string, table: string): Promise<void> {
  await pool.query(`begin; lock table ${table} in access exclusive mode;
    drop trigger ${name} on ${table}; drop function ${name}; commit`);
}

/** The backend process id of a client. */
export async function pidOf(client: Pick<Db, 'query'>): Promise<number> {
  return (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
}

/** Sessions that wait for a given one, on this server. */
const AWAITING = `select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and $1 = any (pg_blocking_pids(pid))`;
/** Sessions that wait on nodes of a Citus, as the coordinator numbers them. The view `citus_lock_waits` takes a second for the same. */
const AWAITING_ON_NODES = `select mod(waiting_global_pid, 10000000000)::int as pid
  from citus_internal_global_blocked_processes() where mod(blocking_global_pid, 10000000000) = $1`;

/**
 * Waits until another session waits for this one, and returns those that do. The check names this session, because a session whose lock was
 * just released may still look blocked. No other sign proves that a statement is blocked: elapsed time may be due to a slow machine.
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
