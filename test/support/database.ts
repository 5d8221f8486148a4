/** A database of a test's own, with the schema, on the server that the run shares (or on one of a file run alone). */
import { randomBytes } from 'node:crypto';
import { migrate } from '../../src/store/migrate.ts';
import { type Db, openPool } from '../../src/store/open.ts';
import { Client, type ClientConfig } from '../../src/store/pg.ts';
import { globalSetup, globalTeardown, MODELO } from '../setup.ts';
import { onEnd } from './cleanup.ts';

let alone: Promise<void> | undefined;

/** How to reach the server of this run. A single file run by hand starts its own. */
export async function testServer(): Promise<ClientConfig> {
  if (process.env.NFSE_TEST_SERVER === undefined) {
    if (alone === undefined) onEnd(globalTeardown);
    alone ??= globalSetup();
    await alone;
  }
  return JSON.parse(process.env.NFSE_TEST_SERVER!);
}

/** A database with the schema and nothing in it; dropped when the test file ends. */
export function freshDatabase(): Promise<ClientConfig> {
  // Copied file by file: without a disk to wait for it is half the work of writing each page to the log.
  return copiedDatabase(MODELO);
}

/** The address of a database for `DATABASE_URL`; a socket is named by its folder. */
export function databaseUrlOf({ host, port, user, password, database }: ClientConfig): string {
  const secret = typeof password === 'string' ? `:${encodeURIComponent(password)}` : '';
  return `postgres://${user}${secret}@${encodeURIComponent(host!)}:${port}/${database}`;
}

/** One that has not even the schema. */
export function emptyDatabase(): Promise<ClientConfig> {
  return newDatabase('');
}

/** A copy of one to which nobody is connected. */
export function copiedDatabase(name: string): Promise<ClientConfig> {
  return newDatabase(`template ${name} strategy file_copy`);
}

async function newDatabase(how: string): Promise<ClientConfig> {
  const server = await testServer();
  const name = `t_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} ${how}`);
  onEnd(() => administer(server, `drop database if exists ${name} with (force)`));
  return { ...server, database: name };
}

/** A pool on a fresh database; closed when the test file ends. */
export async function freshPool(): Promise<ReturnType<typeof openPool>> {
  return poolOn(await freshDatabase());
}

/** One more pool on a database, as another process has it. */
export async function poolOn(connection: ClientConfig): Promise<ReturnType<typeof openPool>> {
  const pool = openPool(connection, () => undefined);
  onEnd(() => pool.end());
  await migrate(pool);
  return pool;
}

/** The session of a client. */
export async function pidOf(client: Pick<Db, 'query'>): Promise<number> {
  return (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
}

/**
 * Until somebody waits for this very session, and who does: one that another has just let go may still look as if it waited.
 * Nothing else says that a statement is held up: time that goes by may as well be the machine's.
 */
export async function untilAwaited(pool: Db, pid: number): Promise<readonly number[]> {
  const text = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and $1 = any (pg_blocking_pids(pid))`;
  for (;;) {
    const { rows } = await pool.query<{ pid: number }>(text, [pid]);
    if (rows.length > 0) return rows.map((row) => row.pid);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function administer(server: ClientConfig, sql: string): Promise<void> {
  const client = new Client(server);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
