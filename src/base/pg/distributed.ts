/** A schema that Citus distributes: the pools that lead to its coordinator, its servers, and where the rows of each table belong. */
import { ignoring } from '../traces/ignoring.ts';
import type { ClientBase, Pool } from './pg.ts';
import { inOrder } from './tabelas.ts';

/** SQL: whether the database of a session has Citus. */
export const IS_DISTRIBUTED = `exists (select from pg_extension where extname = 'citus')`;

const coordinators = new WeakSet<object>();

export function noteCoordinator(client: object): void {
  coordinators.add(client);
}

/**
 * Asks every new connection of a pool before all other statements. The answer of a pooled connection is known from its opening
 * (`pooled.ts`).
 */
export function noteCoordinators(pool: Pool, isPooled = false): void {
  pool.on('connect', (client) => {
    if (isPooled) {
      if (coordinators.has(client)) coordinators.add(pool);
      return;
    }
    client
      .query<{ is: boolean }>(`select ${IS_DISTRIBUTED} as is`)
      .then(
        ({ rows }) => void (rows[0]!.is && coordinators.add(pool)),
        ignoring('it also reaches the next statement of the connection'),
      );
  });
}

/** Whether a pool leads to a coordinator, as far as its connections have answered. */
export function isDistributed(pool: Pool): boolean {
  return coordinators.has(pool);
}

export type No = { readonly host: string; readonly porta: number };

export type Place = No & {
  readonly tenant: string;
  readonly shard: string;
  /** The shard holds this municipality and no other. */
  readonly isolado: boolean;
};

export function nameNo({ host, porta }: No): string {
  return `${host}:${porta}`;
}

/** Places of municipalities, existing or new, in a distributed database. */
export async function findPlaces(db: Pick<Pool, 'query'>, tenants: readonly string[]): Promise<readonly Place[]> {
  const { rows } = await db.query<Place>(
    `select t.tenant, s.shardid::text as shard, n.nodename as host, n.nodeport as porta, s.shardminvalue = s.shardmaxvalue as isolado
     from unnest($1::text[]) as t (tenant)
       join pg_dist_shard s on s.shardid = get_shard_id_for_distribution_column('municipios', t.tenant)
       join pg_dist_placement p on p.shardid = s.shardid
       join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'`,
    [tenants],
  );
  return rows;
}

export type Asker = Pick<ClientBase, 'query'> | Pick<Pool, 'query'>;

export type Lugar = 'tenant' | 'referencia' | 'coordenador';

export type Tabela = {
  readonly nome: string;
  /** The place where its rows belong. */
  readonly lugar: Lugar;
  /** Otherwise all its rows are on the connected server. */
  readonly distribuida: boolean;
  /** Whether it must still be distributed. */
  readonly falta: boolean;
  /** Size of the rows that are on this server alone. */
  readonly bytes: number;
};

const TABLES = `select c.relname as nome, (select coalesce(sum(pg_relation_size(relid)), 0) from pg_partition_tree(c.oid))::float as bytes,
    exists (select from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
      where i.indrelid = c.oid and i.indisprimary and a.attname = 'tenant') as "temTenant",
    array (select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
      where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as refere, c.relpersistence = 'u' as "semLog"
  from pg_class c where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
  order by c.relname`;

type Found = {
  readonly nome: string;
  readonly bytes: number;
  readonly temTenant: boolean;
  readonly semLog: boolean;
  /** Tables that its foreign keys name. */
  readonly refere: readonly string[];
};

/** Version of Citus in this database; undefined: it is plain PostgreSQL. */
export async function citusVersion(db: Asker): Promise<string | undefined> {
  const { rows } = await db.query<{ extversion: string }>(
    `select extversion from pg_extension where extname = 'citus'`,
  );
  return rows[0]?.extversion;
}

/** All tables, each after those that its foreign keys name. */
export async function readTabelas(db: Asker): Promise<readonly Tabela[]> {
  const { rows } = await db.query<Found>(TABLES);
  const distributed = new Set((await citusVersion(db)) === undefined ? [] : await listDistributed(db));
  return inOrder(rows).map(({ nome, bytes, temTenant, semLog }) => {
    const belonging = temTenant ? 'tenant' : 'referencia';
    const distribuida = distributed.has(nome);
    return { nome, lugar: semLog ? 'coordenador' : belonging, distribuida, falta: !semLog && !distribuida, bytes };
  });
}

async function listDistributed(db: Asker): Promise<readonly string[]> {
  const text = `select c.relname as nome from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = current_schema()::regnamespace`;
  return (await db.query<{ nome: string }>(text)).rows.map(({ nome }) => nome);
}
