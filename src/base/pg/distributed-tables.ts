/** The tables of the schema, and where the rows of each belong on a distributed database. No table is named here. */
import type { Db } from './open.ts';
import type { ClientBase } from './pg.ts';
import { inOrder } from './tabelas.ts';

export type Asker = Pick<ClientBase, 'query'> | Pick<Db, 'query'>;

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
