/**
 * The schema on Citus, read from the catalog. A table whose primary key has `tenant` is distributed by it, and colocated with the tenant's
 * other tables. Any other table is a reference table, whole on every node. Unlogged tables stay on the coordinator, so that no write waits
 * for another server. Partitions go with their parents. This module names no table.
 */

import {
  type Asker,
  citusVersion,
  type Lugar,
  type No,
  nameNo,
  readTabelas,
  type Tabela,
} from '../../base/pg/distributed.ts';
import type { Tell } from '../../base/pg/migration-watch.ts';
import type { Db } from '../../base/pg/open.ts';
import { needSession } from '../../base/pg/pooled.ts';
import { SETTINGS } from '../../base/pg/session.ts';
import { mayTakeLong } from '../../base/pg/watch.ts';
import { joinNos } from './nos.rows.ts';

/** Shards of a database that is distributed for the first time. */
export const FRAGMENTOS = 32;

/** Distributes tables that a later migration created. They would otherwise stay on one server without notice. */
export async function distributeEsquecidas(pool: Db, tell: Tell): Promise<void> {
  if ((await listEsquecidas(pool)).length > 0) await distribute(pool, { nos: [], fragmentos: FRAGMENTOS, tell });
}

async function listEsquecidas(db: Asker): Promise<readonly Tabela[]> {
  if ((await citusVersion(db)) === undefined) return [];
  const tabelas = await readTabelas(db);
  return tabelas.some(({ distribuida }) => distribuida) ? tabelas.filter(({ falta }) => falta) : [];
}

/** Connections of services that began before this process did. */
export async function countServices(db: Asker): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'nfse'
       and backend_start < now() - make_interval(secs => $1)`,
    [process.uptime()],
  );
  return rows[0]!.count;
}

/** Tolerates another process that distributes the same table at this moment. */
async function distributeOnce(db: Asker, tabela: Tabela, fragmentos: number): Promise<void> {
  try {
    await distributeTabela(db, tabela, fragmentos);
  } catch (error) {
    const now = (await readTabelas(db)).find(({ nome }) => nome === tabela.nome);
    if (now?.distribuida !== true) throw error;
  }
}

/**
 * Distributes one table, colocated with the others; the first one gets the given number of shards. Its rows are copied, and writes to it
 * are blocked meanwhile.
 */
async function distributeTabela(db: Asker, { nome, lugar }: Tabela, fragmentos: number): Promise<void> {
  if (lugar === 'referencia') {
    await db.query('select create_reference_table($1::regclass)', [nome]);
    return;
  }
  const { rows } = await db.query<{ nome: string }>(
    `select c.relname as nome from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where p.partmethod = 'h' and c.relnamespace = current_schema()::regnamespace limit 1`,
  );
  if (rows[0] === undefined)
    await db.query(`select create_distributed_table($1::regclass, 'tenant', shard_count => $2)`, [nome, fragmentos]);
  else
    await db.query(`select create_distributed_table($1::regclass, 'tenant', colocate_with => $2)`, [
      nome,
      rows[0].nome,
    ]);
}

/** Deletes the hidden rows of a distributed table that stayed on their earlier server. */
async function discardLocal(db: Asker, { nome }: Tabela): Promise<void> {
  await db.query('select truncate_local_data_after_distributing_table($1::regclass)', [nome]);
}

const OF_CITUS = {
  // The limits of a transaction (`begin` in `open.ts`) must hold on the nodes too. A wait for a row lock on a node would otherwise never
  // end.
  'citus.propagate_set_commands': 'local',
  // A query of all shards uses the one connection to each node. Citus would otherwise open and close a connection for each shard.
  'citus.max_adaptive_executor_pool_size': '1',
  // A node that hangs accepts connections but does not answer (milliseconds).
  'citus.node_connection_timeout': '3000',
};

/** Settings of a distributed database, on every node. */
export const NODE_SETTINGS: Readonly<Record<string, string>> = { ...SETTINGS, ...OF_CITUS };

/**
 * Sets the settings of our connections for the database, on every node. Settings of a connection reach no other node, and no server behind
 * a pooler. Throws the error of a node.
 */
export async function setOnAllNodes(db: Asker): Promise<void> {
  const commands = Object.entries(NODE_SETTINGS).map(
    ([name, value]) => `execute format('alter database %I set ${name} = %L', current_database(), '${value}');`,
  );
  const { rows } = await db.query<{ success: boolean; result: string }>(
    'select success, result from run_command_on_all_nodes($1)',
    // Each node sets its own value. Citus would otherwise propagate the setting, which only the coordinator may do.
    [`do $$ begin set local citus.enable_ddl_propagation = off; ${commands.join(' ')} end $$`],
  );
  for (const { success, result } of rows) if (!success) throw new Error(result);
}

export type Distribuir = {
  /** Nodes to add; known nodes need not be named. */
  readonly nos: readonly No[];
  readonly fragmentos: number;
  /** Gets a line for the operator. */
  readonly tell: Tell;
};

/** Distributes the remaining tables over the known and the named nodes; a repeated call continues after an interruption. */
export async function distribute(pool: Db, { nos, fragmentos, tell }: Distribuir): Promise<void> {
  needSession(pool);
  const client = await pool.connect();
  mayTakeLong(client);
  try {
    await client.query('set statement_timeout = 0');
    for (const no of await joinNos(client, nos)) tell(`o nó ${nameNo(no)} entrou`);
    // Citus would otherwise do this with the first shard on a node, which fails for unlogged tables.
    await client.query(`select replicate_reference_tables('block_writes')`);
    await setOnAllNodes(client);
    const tabelas = await readTabelas(client);
    const left = tabelas.filter(({ falta }) => falta);
    for (const [place, tabela] of left.entries()) {
      const began = performance.now();
      await distributeOnce(client, tabela, fragmentos);
      const seconds = Math.round((performance.now() - began) / 1000);
      tell(`[${place + 1}/${left.length}] ${tabela.nome}: ${LUGARES[tabela.lugar]}, em ${seconds} s`);
    }
    // Rows that an interrupted run left behind are deleted too.
    for (const tabela of tabelas.filter(({ lugar, bytes }) => lugar !== 'coordenador' && bytes > 0))
      await discardLocal(client, tabela);
  } finally {
    client.release(true);
  }
}

const LUGARES: Readonly<Record<Lugar, string>> = {
  tenant: 'distribuída por município',
  referencia: 'inteira em cada nó',
  coordenador: 'no coordenador',
};
