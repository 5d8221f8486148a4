/** A schema as the catalogues have it, one line a thing: what two databases of one version must have in common. */
import type { Db } from '../../src/store/open.ts';

/**
 * Columns by name, not by place: one that took the place of another stands last. Constraints and indexes with their definition and
 * whether they are valid.
 */
const THINGS = [
  `select format('%s.%s %s%s default %s generated %s storage %s statistics %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' end, pg_get_expr(d.adbin, d.adrelid), a.attgenerated, a.attstorage, a.attstattarget)
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
  `select format('%s %s %s valid %s', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
    from pg_constraint where connamespace = 'public'::regnamespace`,
  `select format('%s valid %s ready %s', pg_get_indexdef(indexrelid), indisvalid, indisready)
    from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace = 'public'::regnamespace`,
  `select format('trigger %s on %s', tgname, tgrelid::regclass) from pg_trigger where not tgisinternal`,
  `select format('function %s', oid::regprocedure) from pg_proc where pronamespace = 'public'::regnamespace`,
  `select format('table %s options %s', relname, reloptions) from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')`,
];

export async function schemaOf(db: Pick<Db, 'query'>): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const text of THINGS) {
    const { rows } = await db.query<{ format: string }>(text);
    lines.push(...rows.map(({ format }) => format).toSorted());
  }
  return lines;
}
