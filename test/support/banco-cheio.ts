/** Databases with rows that one version of the program left, before the next version starts. */

import type { Migration } from '../../src/base/pg/migrations.ts';
import { type Db, openPool } from '../../src/base/pg/open.ts';
import { Client, type ClientConfig } from '../../src/base/pg/pg.ts';
import { migrate } from '../../src/wiring/migrate.ts';
import { fillNotas } from './cheio.ts';
import { onEnd } from './cleanup.ts';
import { freshDatabase } from './database.ts';

/** Months of the rows. */
export const MESES = [202609, 202610, 202611] as const;

export type FullDatabase = { readonly connection: ClientConfig; readonly pool: Db; readonly client: Client };

/** A database of today with rows in several months, after its migrations. */
export async function fullDatabase(
  rows = 300,
  migrations: readonly Migration[] = [],
  meses: readonly number[] = MESES,
): Promise<FullDatabase> {
  const connection = await freshDatabase();
  const client = await session(connection);
  await client.query(`insert into municipios (tenant, ambiente, criado_em) values ('alfa', 'homologacao', now())`);
  const pool = openPool(connection, () => undefined);
  onEnd(() => pool.end());
  await fillNotas(pool, 'alfa', rows, meses);
  if (migrations.length > 0) await migrate(pool, undefined, undefined, migrations);
  return { connection, pool, client };
}

export async function session(connection: ClientConfig): Promise<Client> {
  const client = new Client(connection);
  await client.connect();
  onEnd(() => client.end());
  return client;
}
