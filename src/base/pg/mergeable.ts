/**
 * Statements that are declared once, for the rows of one tenant ($1) and for rows that carry their tenants. A statement costs the server
 * about the same for one row and for many. Transactions of several municipalities use the second form (`merge.ts`).
 */
import type { QueryConfig } from './pg.ts';
import { type Planned, planMonthly, planOnce } from './planned.ts';
import { type ArrayColumn, listColumns, unnestRows } from './sql.ts';

/** A call of a statement for one tenant. */
export type Mergeable = QueryConfig & { readonly merging: Merging };

/** The parameters of a call: its tenant, its rows, and the others. */
type Call = { readonly tenant: string; readonly values: readonly unknown[]; readonly others: readonly unknown[] };

/** `key`: calls with the same one are of the same statement, and {@link joinCalls} makes one of them. */
type Merging = Call & { readonly key: string; readonly join: (calls: readonly Call[]) => QueryConfig };

/** One statement for calls of different tenants. Its rows have the column `tenant`. */
export function joinCalls(calls: readonly Mergeable[]): QueryConfig {
  return calls[0]!.merging.join(calls.map(({ merging }) => merging));
}

/** The rows of a call as parameters, without its tenant; and the calls of several tenants as parameters, with their tenants. */
export type Encoding<Row> = {
  readonly valuesOf: (rows: readonly Row[]) => unknown[];
  readonly join: (calls: readonly Call[]) => unknown[];
  /** SQL: the relation `x`, and the number of its last parameter. The one of several tenants has the column `tenant`. */
  readonly ofOne: readonly [relation: string, last: number];
  readonly ofSeveral: readonly [relation: string, last: number];
};

/** The parts of a statement that differ between its forms. */
export type Form = {
  readonly rows: string;
  /** The tenant of a row. */
  readonly tenant: string;
  /** The month, in a statement for one month. */
  readonly mes: string;
  /** The first parameter after the rows. */
  readonly other: string;
  readonly isOfSeveral: boolean;
};

/** Makes the further parameters of a statement for several tenants out of those of the calls. */
type JoinOthers = (others: readonly (readonly unknown[])[]) => unknown[];
const WITHOUT: JoinOthers = () => [];

/** Declares a statement for the rows of a call. Its result has the column `tenant`, if it has rows. */
export function planMergeable<Row>(
  name: string,
  encoding: Encoding<Row>,
  textOf: (form: Form) => string,
  joinOthers = WITHOUT,
) {
  const make = declareForms(encoding, name, joinOthers, (ownName, last, form) =>
    planOnce(ownName, textOf({ ...form, mes: '', other: `$${last + 1}` })),
  );
  return (tenant: string, rows: readonly Row[], ...others: readonly unknown[]): Mergeable =>
    make(tenant, rows, others, undefined);
}

/** The same for rows of one month. */
export function planMergeableMonthly<Row>(
  name: string,
  encoding: Encoding<Row>,
  textOf: (form: Form) => string,
  joinOthers = WITHOUT,
) {
  const make = declareForms(encoding, name, joinOthers, (ownName, last, form) =>
    planMonthly(ownName, textOf({ ...form, mes: `$${last + 1}`, other: `$${last + 2}` }), last + 1),
  );
  return (tenant: string, mes: number, rows: readonly Row[], ...others: readonly unknown[]): Mergeable =>
    make(tenant, rows, others, mes);
}

/** Declares both forms; the result makes the calls. `plan`: declares one of them, by its name and the last parameter of its rows. */
function declareForms<Row>(
  { ofOne, ofSeveral, valuesOf, join }: Encoding<Row>,
  name: string,
  joinOthers: JoinOthers,
  plan: (name: string, last: number, form: Pick<Form, 'rows' | 'tenant' | 'isOfSeveral'>) => Planned,
) {
  const one = plan(name, ofOne[1], { rows: ofOne[0], tenant: '$1', isOfSeveral: false });
  const several = plan(nameOfSeveral(name), ofSeveral[1], {
    ...{ rows: ofSeveral[0], tenant: 'x.tenant' },
    isOfSeveral: true,
  });
  return (tenant: string, rows: readonly Row[], others: readonly unknown[], mes: number | undefined): Mergeable => {
    const values = valuesOf(rows);
    const ofMes = mes === undefined ? [] : [mes];
    const joinAll: Merging['join'] = (calls) =>
      several([...join(calls), ...ofMes, ...joinOthers(calls.map((call) => call.others))]);
    const merging = { key: [name, ...ofMes].join(' '), tenant, values, others, join: joinAll };
    return { ...one([tenant, ...values, ...ofMes, ...others]), merging };
  };
}

/** The name of a statement in its form for several tenants. */
export function nameOfSeveral(name: string): string {
  return `${name}_of_several`;
}

/** SQL: a condition that holds. The planner expects few tenants by it, and looks up each by its key. */
function foreseeFew(tenant: string): string {
  return `where (${tenant}) || '' = (${tenant})`;
}

/** Rows as one array a column. A call without columns has one row. */
export function asArrays<Row>(columns: readonly ArrayColumn<Row>[]): Encoding<Row> {
  const { relation, valuesOf } = unnestRows(columns, 2);
  const several = unnestRows<Row>([['tenant text', () => undefined], ...columns], 1);
  const last = columns.length + 1;
  return {
    valuesOf,
    join: (calls) => {
      const all = calls.flatMap(({ tenant, values: [first] }) => {
        const rows = first === undefined ? 1 : (first as readonly unknown[]).length;
        return new Array<string>(rows).fill(tenant);
      });
      return [all, ...columns.map((_column, place) => calls.flatMap(({ values }) => values[place] as unknown[]))];
    },
    ofOne: [columns.length === 0 ? '(values (1)) as x (one)' : relation, last],
    ofSeveral: [`(select ${several.names.join(', ')} from ${several.relation} ${foreseeFew('x.tenant')}) x`, last],
  };
}

/** Rows as one JSON text, one list of columns each. The calls of several tenants are pairs of a tenant and its rows. */
function asJson<Row>(columns: readonly ArrayColumn<Row>[]): Encoding<Row> {
  const named = columns.map(([column]) => column.split(' ') as [name: string, type: string]);
  const read = named.map(([column, type], place) => `(e ->> ${place})::${type} as ${column}`).join(', ');
  const ofSeveral = `(select g ->> 0 as tenant, ${read} from jsonb_array_elements($1::jsonb) g
        cross join lateral jsonb_array_elements(g -> 1) e ${foreseeFew('g ->> 0')}) x`;
  return {
    valuesOf: (rows) => [writeRows(rows.map((row, place) => columns.map(([, value]) => jsonOf(value(row, place)))))],
    join: (calls) => [`[${calls.map(({ tenant, values }) => `[${JSON.stringify(tenant)},${values[0]}]`).join(',')}]`],
    ofOne: [`(select ${read} from jsonb_array_elements($2::jsonb) e) x`, 2],
    ofSeveral: [ofSeveral, 1],
  };
}

/** The JSON form of a column's value. */
function jsonOf(value: unknown): unknown {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value;
}

/** Half of a surrogate pair. JSON can contain it, but no text of the database: the replacement character of UTF-8 takes its place. */
const HALF = /\\ud[89a-f]/;

function writeRows(rows: readonly (readonly unknown[])[]): string {
  const text = JSON.stringify(rows);
  if (!HALF.test(text)) return text;
  return JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value));
}

/** Parts of an insert that depend on its form, or one text for both. */
type Part = string | ((form: Form) => string);

/**
 * Declares the insert of many rows, which travel as JSON. `more`: the rest of the statement, such as `on conflict`. `computed`: columns
 * that the statement fills. Both refer to `x`. A distributed schema runs it as one task on one server, since it starts from the tenant's
 * own row. A tenant that does not exist inserts nothing.
 */
export function insertRows<Row>(
  name: string,
  table: string,
  columns: readonly ArrayColumn<Row>[],
  more: Part = '',
  computed: Readonly<Record<string, Part>> = {},
) {
  const names = columns.map(([column]) => column.split(' ')[0]!);
  return planMergeable(name, asJson(columns), (form) => {
    const textOf = (part: Part): string => (typeof part === 'string' ? part : part(form));
    const values = ['m.tenant', listColumns('x', names), ...Object.values(computed).map(textOf)];
    return `insert into ${table} (${['tenant', ...names, ...Object.keys(computed)].join(', ')})
      select ${values.join(', ')} from municipios m cross join ${form.rows} where m.tenant = ${form.tenant} ${textOf(more)}`;
  });
}
