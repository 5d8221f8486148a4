/** Pieces of SQL made from lists: of words, of columns, and of rows that travel as one array a column. */

import type { QueryConfig } from './pg.ts';
import { planOnce } from './planned.ts';

/** Fixed words, such as states, as a list in SQL. */
export function quoteWords(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}

/** Form `e.a, e.b`. */
export function listColumns(alias: string, columns: readonly string[]): string {
  return columns.map((column) => `${alias}.${column}`).join(', ');
}

/** Form `e.a = f.a and e.b = f.b`. */
export function equateColumns(one: string, other: string, columns: readonly string[]): string {
  return columns.map((column) => `${one}.${column} = ${other}.${column}`).join(' and ');
}

/** Name and type of a column, as `documento text`, and its value in a row. */
export type ArrayColumn<Row> = readonly [column: string, value: (row: Row, place: number) => unknown];

/** Rows as the relation `x` of a statement, whose parameters for them begin at `$first`. */
export function unnestRows<Row>(columns: readonly ArrayColumn<Row>[], first: number) {
  const named = columns.map(([column]) => column.split(' ') as [name: string, type: string]);
  const names = named.map(([name]) => name);
  const arrays = named.map(([, type], place) => `$${first + place}::${type}[]`);
  return {
    names,
    relation: `unnest(${arrays.join(', ')}) as x (${names.join(', ')})`,
    /** The parameters, an array for each column. */
    valuesOf: (rows: readonly Row[]): unknown[][] => columns.map(([, value]) => rows.map(value)),
  };
}

/** The JSON form of a column's value. */
function jsonOf(value: unknown): unknown {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value;
}

/**
 * Half of a surrogate pair, which JSON can contain and no text of the database can. The replacement character of UTF-8 takes its place, as
 * in an array of texts.
 */
const HALF = /\\ud[89a-f]/;

/** Rows as one text, for {@link insertRows}. */
function writeRows(rows: readonly (readonly unknown[])[]): string {
  const text = JSON.stringify(rows);
  if (!HALF.test(text)) return text;
  return JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value));
}

/**
 * Declares the insert of many rows of a tenant ($1), which travel as JSON ($2), one list of columns each. `more`: the rest of the
 * statement, such as `on conflict`. `computed`: columns that the statement fills. Both refer to `x`, and to parameters from $3 on. A
 * distributed schema runs it as one task on one server, since it starts from the tenant's own row. A tenant that does not exist inserts
 * nothing.
 */
export function insertRows<Row>(
  name: string,
  table: string,
  columns: readonly ArrayColumn<Row>[],
  more = '',
  computed: Readonly<Record<string, string>> = {},
) {
  const named = columns.map(([column]) => column.split(' ') as [name: string, type: string]);
  const names = named.map(([column]) => column);
  const read = named.map(([column, type], place) => `(e ->> ${place})::${type} as ${column}`);
  const statement = planOnce(
    name,
    `insert into ${table} (${['tenant', ...names, ...Object.keys(computed)].join(', ')})
      select ${['m.tenant', 'x.*', ...Object.values(computed)].join(', ')}
      from municipios m cross join (select ${read.join(', ')} from jsonb_array_elements($2::jsonb) e) x
      where m.tenant = $1 ${more}`,
  );
  return (tenant: string, rows: readonly Row[], ...others: readonly unknown[]): QueryConfig => {
    const written = rows.map((row, place) => columns.map(([, value]) => jsonOf(value(row, place))));
    return statement([tenant, writeRows(written), ...others]);
  };
}
