/** The tables of a database that contain a text. Every column of every table in the catalogue is searched, as text or as bytes. */
import type { Db } from '../../src/base/pg/open.ts';

const COLUMNS = `select c.relname as tabela, a.attname as coluna, format_type(a.atttypid, null) as tipo
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relname, a.attnum`;

/** Names of tables with a row that contains the text. */
export async function mentionsOf(pool: Pick<Db, 'query'>, text: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ tabela: string; coluna: string; tipo: string }>(COLUMNS);
  const found: string[] = [];
  for (const [tabela, columns] of Map.groupBy(rows, (row) => row.tabela)) {
    const conditions = columns.map(({ coluna, tipo }) =>
      tipo === 'bytea' ? `position($1::text::bytea in "${coluna}") > 0` : `strpos("${coluna}"::text, $1::text) > 0`,
    );
    const { rowCount } = await pool.query(`select 1 from "${tabela}" where ${conditions.join(' or ')} limit 1`, [text]);
    if (rowCount === 1) found.push(tabela);
  }
  return found;
}
