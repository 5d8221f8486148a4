/** A schema as the catalogues show it, one object a line: two databases of one version must have the same lines. */
import type { Db } from '../../src/base/pg/open.ts';

/**
 * Columns are compared by name, not by position: a column that replaced another stands last. Constraints and indexes have their definition
 * and validity. Those of a month, whose names nobody reads, have their parent instead. A column that came after a month has the server's own
 * statistics there.
 */
const THINGS = [
  `select format('%s.%s %s%s default %s generated %s storage %s statistics %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' end, pg_get_expr(d.adbin, d.adrelid), a.attgenerated, a.attstorage,
      case when not c.relispartition or a.attname = 'tenant' then a.attstattarget end)
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`,
  `select format('%s %s %s valid %s', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
    from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'`,
  `select format('%s valid %s ready %s part of %s', regexp_replace(pg_get_indexdef(indexrelid),
      case when c.relispartition then ' INDEX [^ ]+' else ' INDEX' end, ' INDEX'), indisvalid, indisready, h.inhparent::regclass)
    from pg_index i join pg_class c on c.oid = i.indexrelid left join pg_inherits h on h.inhrelid = c.oid
    where c.relnamespace = 'public'::regnamespace`,
  `select format('trigger %s on %s', tgname, tgrelid::regclass) from pg_trigger where not tgisinternal`,
  `select format('function %s', oid::regprocedure) from pg_proc where pronamespace = 'public'::regnamespace`,
  `select format('table %s options %s part of %s', relname, reloptions, h.inhparent::regclass)
    from pg_class c left join pg_inherits h on h.inhrelid = c.oid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')`,
];

/** Identical partitions of a table count as one object. */
export async function schemaOf(db: Pick<Db, 'query'>): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const text of THINGS) {
    const { rows } = await db.query<{ format: string }>(text);
    const found = new Set(rows.map(({ format }) => format.replace(/_\d{6}(?=\b|_)/g, '_MES')));
    lines.push(...[...found].toSorted());
  }
  return lines;
}
