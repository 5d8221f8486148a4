/** A database of a test's own, with the schema, on the server that the run shares (or on one of a file run alone). */
import { randomBytes } from 'node:crypto';
import { migrate, openPool } from '../../src/store/open.ts';
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
  return newDatabase(`template ${MODELO} strategy file_copy`);
}

/** One that has not even the schema. */
export function emptyDatabase(): Promise<ClientConfig> {
  return newDatabase('');
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

async function administer(server: ClientConfig, sql: string): Promise<void> {
  const client = new Client(server);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
