/**
 * The tables of the database from its catalog, for copying rows into another database and for deleting a tenant. The result says which have
 * rows of tenants, their columns, and the order in which they can be filled. No table is named here except the lists of migrations.
 */
import type { ClientBase } from './pg.ts';

type Coluna = { readonly nome: string; readonly tipo: string };

export type Tabela = {
  readonly nome: string;
  /** Its key begins with the tenant; the other tables are national, or the service's own. */
  readonly isOfTenant: boolean;
  /** Columns to write, without the tenant in tables with rows of tenants. */
  readonly colunas: readonly Coluna[];
  /** Columns of the primary key, likewise without the tenant. Generated columns are not among the columns to write. */
  readonly chave: readonly Coluna[];
};

type Row = Omit<Tabela, 'isOfTenant'> & { readonly refere: readonly string[] };

/** The tables of our schema. Lists of migrations and months are not copied, and tables of extensions are not ours. */
const TABLES = `select c.relname as nome,
    (select coalesce(json_agg(json_build_object('nome', a.attname, 'tipo', format_type(a.atttypid, a.atttypmod)) order by a.attnum), '[]')
      from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as colunas,
    (select coalesce(json_agg(json_build_object('nome', a.attname, 'tipo', format_type(a.atttypid, a.atttypmod)) order by k.place), '[]') from pg_index i cross join unnest(i.indkey) with ordinality k (attnum, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum where i.indrelid = c.oid and i.indisprimary) as chave,
    (select coalesce(json_agg(distinct f.relname), '[]') from pg_constraint k join pg_class f on f.oid = k.confrelid
      where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0 and k.confrelid <> c.oid and not f.relispartition) as refere
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relpersistence = 'p' and c.relname not like 'migracoes%' and c.relname <> 'meses'
    and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by c.relname`;

/** All tables, each after those that it references. */
export async function readTabelas(client: Pick<ClientBase, 'query'>): Promise<readonly Tabela[]> {
  const { rows } = await client.query<Row>(TABLES);
  return inOrder(rows).map(({ nome, colunas, chave }) => {
    if (chave.length === 0) throw new Error(`the table ${nome} has no primary key`);
    const isOfTenant = chave.some((coluna) => coluna.nome === TENANT);
    const own = (all: readonly Coluna[]): readonly Coluna[] => all.filter((one) => !isOfTenant || one.nome !== TENANT);
    return { nome, isOfTenant, colunas: own(colunas), chave: own(chave) };
  });
}

export const TENANT = 'tenant';

/**
 * Deletes the rows of a tenant, in tables that reference others first (D-775). `isMeant`: of which tables. The caller's transaction locks
 * the row of the tenant before.
 */
export async function deleteOfTenant(
  client: Pick<ClientBase, 'query'>,
  tenant: string,
  isMeant: (tabela: string) => boolean,
): Promise<void> {
  const tabelas = await readTabelas(client);
  for (const { nome, isOfTenant } of tabelas.toReversed()) {
    if (isOfTenant && isMeant(nome)) await client.query(`delete from ${nome} where ${TENANT} = $1`, [tenant]);
  }
}

/** Sorts tables, each after those among them that its foreign keys reference. */
export function inOrder<One extends { readonly nome: string; readonly refere: readonly string[] }>(
  found: readonly One[],
): readonly One[] {
  const sorted: One[] = [];
  const rest = new Map(found.map((one) => [one.nome, one]));
  const take = (one: One | undefined): void => {
    if (one === undefined || !rest.delete(one.nome)) return;
    for (const nome of one.refere) take(rest.get(nome));
    sorted.push(one);
  };
  for (const one of found) take(one);
  return sorted;
}

/** The differences that keep rows of `theirs` out of `ours`, in Portuguese: another table, another column. Undefined: none. */
export function describeDifference(theirs: readonly Tabela[], ours: readonly Tabela[]): string | undefined {
  const shown = (tabelas: readonly Tabela[]): readonly string[] =>
    tabelas.flatMap(({ nome, colunas }) => colunas.map((coluna) => `${nome}.${coluna.nome} ${coluna.tipo}`));
  const [one, other] = [new Set(shown(theirs)), new Set(shown(ours))];
  const names = [...one.symmetricDifference(other)].sort();
  return names.length === 0 ? undefined : names.slice(0, 5).join(', ');
}
