/** Databases as programs of before left them. */
import { readdirSync, readFileSync } from 'node:fs';
import { migrationNames } from '../../src/store/migrations.ts';
import { type Db, openPool } from '../../src/store/open.ts';
import { Client, type ClientConfig } from '../../src/store/pg.ts';
import { fillNotas } from './cheio.ts';
import { onEnd } from './cleanup.ts';
import { copiedDatabase, emptyDatabase } from './database.ts';

/** The files as databases applied them up to 080, where they were said anew since. */
export const BEFORE = new URL('../fixtures/migracoes-ate-080/', import.meta.url);
export const NOW = new URL('../../src/store/migrations/', import.meta.url);
export const LAST_BEFORE = '080-exige-numero.sql';

export function oldSql(nome: string): string {
  const folder = readdirSync(BEFORE).includes(nome) ? BEFORE : NOW;
  return readFileSync(new URL(nome, folder), 'utf8');
}

/** A database as a program of that time left it: with the files up to `last`, as they then were, and some rows. */
export async function databaseOf(
  last: string,
  rows = 300,
): Promise<{ connection: ClientConfig; pool: Db; client: Client }> {
  const connection = await copiedDatabase(await emptyOf.getOrInsertComputed(last, makeEmptyOf));
  const client = await session(connection);
  await client.query(`insert into municipios (tenant, ambiente, criado_em) values ('alfa', 'homologacao', now())`);
  await fillNotas(client, 'alfa', rows);
  const pool = openPool(connection, () => undefined);
  onEnd(() => pool.end());
  return { connection, pool, client };
}

/** Names of databases without rows, by the last file that they have: to copy one is quicker than to apply the files again. */
const emptyOf = new Map<string, Promise<string>>();

async function makeEmptyOf(last: string): Promise<string> {
  const connection = await emptyDatabase();
  const client = new Client(connection);
  await client.connect();
  await client.query('create table migracoes (nome text primary key, aplicada_em timestamptz not null)');
  for (const nome of (await migrationNames()).filter((one) => one <= last)) {
    await client.query(oldSql(nome));
    await client.query('insert into migracoes values ($1, now())', [nome]);
  }
  await client.end();
  return connection.database!;
}

export async function session(connection: ClientConfig): Promise<Client> {
  const client = new Client(connection);
  await client.connect();
  onEnd(() => client.end());
  return client;
}
