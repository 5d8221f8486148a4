/** The nodes of a Citus cluster, and this database on each of them. */

import { type No, nameNo } from '../../base/pg/distributed.ts';
import type { Db } from '../../base/pg/open.ts';
import { Client, type ClientConfig, type PoolClient } from '../../base/pg/pg.ts';
import { ignoreLoss } from '../../base/traces/ignoring.ts';

/** The reason why a node cannot join the cluster, for the operator. */
export class NodeProblem extends Error {}

const CONNECT_MAX_MS = 10_000;

/** Nodes that may hold shards, in the order in which they joined; with `isCoordinator` the coordinator too. */
export async function listNos(db: Pick<Db, 'query'>, isCoordinator = false): Promise<readonly No[]> {
  const { rows } = await db.query<No>(
    `select nodename as host, nodeport as porta from pg_dist_node
     where noderole = 'primary' and (groupid <> 0 or $1) order by nodeid`,
    [isCoordinator],
  );
  return rows;
}

/**
 * Makes this server the coordinator of the database, and the named ones its nodes. Creates the database and the extension on servers that
 * lack them. Known nodes stay. Resolves with the new ones. Throws {@link NodeProblem}.
 */
export async function joinNos(client: PoolClient, nos: readonly No[]): Promise<readonly No[]> {
  const { host, port, user, password, database, ssl } = client as unknown as Client & ClientConfig;
  await needLibrary(client, 'este servidor');
  await client.query('create extension if not exists citus');
  if (!(await isCoordinatorKnown(client))) {
    await client.query('select citus_set_coordinator_host($1, $2)', [coordinatorFor(nos, host), port]);
  }
  const known = new Set((await listNos(client, true)).map(nameNo));
  const added = nos.filter((no) => !known.has(nameNo(no)));
  for (const no of added) {
    const at = { user, password, ssl, host: no.host, port: no.porta } as ClientConfig;
    await prepareNo(at, database!, nameNo(no));
    await client.query('select citus_add_node($1, $2)', [no.host, no.porta]);
  }
  return added;
}

async function isCoordinatorKnown(client: PoolClient): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_dist_node where groupid = 0');
  return rowCount !== 0;
}

const LOOPBACK = /^(?:127\.|::1$|localhost$|\/)/;

/** The address at which the nodes reach this server: the same as ours, unless it is a loopback address. */
function coordinatorFor(nos: readonly No[], host: string): string {
  if (!LOOPBACK.test(host)) return host;
  if (nos.every((no) => LOOPBACK.test(no.host))) return host.startsWith('/') ? '127.0.0.1' : host;
  throw new NodeProblem(
    `DATABASE_URL chega ao coordenador por ${host}, que só vale nesta máquina, e os nós estão em outras. Ponha em DATABASE_URL o endereço pelo qual os nós chegam a ele.`,
  );
}

async function needLibrary(client: Pick<Client, 'query'>, where: string): Promise<void> {
  const { rows } = await client.query<{ has: boolean }>(
    `select current_setting('shared_preload_libraries') ~ '\\mcitus\\M' as has`,
  );
  if (rows[0]!.has) return;
  throw new NodeProblem(
    `${where} não tem o Citus: instale o pacote dele, ponha citus em shared_preload_libraries e reinicie o PostgreSQL.`,
  );
}

async function prepareNo(at: ClientConfig, database: string, name: string): Promise<void> {
  try {
    await withClient({ ...at, database: 'postgres' }, async (client) => {
      await needLibrary(client, `o nó ${name}`);
      const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
      if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)}`);
    });
    await withClient({ ...at, database }, (client) => client.query('create extension if not exists citus'));
  } catch (error) {
    if (error instanceof NodeProblem) throw error;
    throw new NodeProblem(
      `não foi possível preparar o nó ${name}: ${(error as Error).message}. Confira o endereço, e que o usuário e a senha de DATABASE_URL entram nele como superusuário.`,
      { cause: error },
    );
  }
}

/** Nodes that do not answer the coordinator. */
export async function listSilentNos(db: Pick<Db, 'query'>): Promise<readonly No[]> {
  const { rows } = await db.query<No>(
    `select n.nodename as host, n.nodeport as porta from pg_dist_node n
       left join run_command_on_all_nodes('select 1', give_warning_for_connection_errors => true) r on r.nodeid = n.nodeid
     where n.noderole = 'primary' and r.success is not true order by n.groupid`,
  );
  return rows;
}

async function withClient(at: ClientConfig, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ ...at, connectionTimeoutMillis: CONNECT_MAX_MS });
  client.on('error', ignoreLoss);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end().catch(ignoreLoss);
  }
}
