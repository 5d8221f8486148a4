/** Makes the rows of a tenant equal to those of a file: existing rows are read, and only differences are written. */

import type { PoolClient } from '../pg/pg.ts';
import { equateColumns, unnestRows } from '../pg/sql.ts';
import { folhasApagadas, insertRegistradas, takeAway } from './auditoria-entradas.ts';
import type { Folha } from './auditoria-hash.ts';
import type { Vista } from './auditoria-tabelas.ts';

/** A column of a line, or a value from the database. */
export type Value = string | number | boolean | readonly string[] | null | undefined;

/** A row of the database, days `YYYY-MM-DD`. */
export type StoredRow = Readonly<Record<string, Value>>;

export type Table<Row> = {
  readonly table: Vista;
  /** Key columns of a row, without the tenant. */
  readonly key: readonly string[];
  /** Data columns of a row. */
  readonly told: readonly string[];
  /** Columns of the key that the database generates. */
  readonly generated?: readonly string[];
  /** Further columns of a new row, each in SQL. A value of the file takes precedence. */
  readonly born?: Readonly<Record<string, string>>;
  /** Types of the columns that are no text. */
  readonly types?: Readonly<Record<string, string>>;
  readonly tell: (column: string) => (row: Row) => Value;
};

/** The change of one row by an import: a row without `antes` is new, and one without `depois` is deleted. */
export type Mudanca = { readonly tabela: string; readonly antes?: StoredRow; readonly depois?: StoredRow };

/** Options of writing an import. */
export type Writing = {
  /** Nothing is written; the changes are only reported. */
  readonly isRehearsal: boolean;
  /** Id of the import under which the earlier rows are kept for undoing. */
  readonly importacao: string | undefined;
  readonly tell: (mudanca: Mudanca) => void;
};

export type Contagem = { readonly novos: number; readonly alterados: number; readonly iguais: number };

/** Several values travel as one text, since the arrays of one parameter must have one length. No value contains a space. */
const LIST = 'text[]';

export function rowMerger<Row>({ table, key, told, generated = [], born = {}, types = {}, tell }: Table<Row>) {
  const typeOf = (column: string): string => types[column] ?? 'text';
  const got = (column: string): string =>
    typeOf(column) === LIST ? `string_to_array(x.${column}, ' ')` : `x.${column}`;
  const gone = unnestRows<StoredRow>(
    key.map((column) => [`${column} ${typeOf(column)}`, (row) => row[column]]),
    2,
  );
  const sent = [...key, ...told].filter((column) => !generated.includes(column));
  const whole = unnestRows<Row>(
    sent.map((column) => {
      const read = tell(column);
      return typeOf(column) === LIST
        ? [`${column} text`, (row) => (read(row) as readonly string[] | undefined)?.join(' ')]
        : [`${column} ${typeOf(column)}`, read];
    }),
    2,
  );
  const keys = key.map(tell);
  const columnsRead = [...key, ...told]
    .map((column) => `s.${column}${typeOf(column) === 'date' ? '::text' : ''}`)
    .join(', ');
  const keep = keepRows(table, key, typeOf);
  const rowOf = (row: Row): StoredRow =>
    Object.fromEntries([...key, ...told].map((column) => [column, tell(column)(row) ?? null]));
  const texts = told.map((column) => [column, tell(column)] as const);
  const deletion = `delete from ${table} s using ${gone.relation} where s.tenant = $1 and ${equateColumns('s', 'x', key)}`;
  const remove = takeAway(table, deletion, 's');
  const tellWritten = tellRows(table, key, typeOf);
  // An `update` is avoided: without statistics its plan may read all rows of a tenant for each row.
  const write = `insert into ${table} (${['tenant', ...sent, ...Object.keys(born)].join(', ')})
    select ${['m.tenant', ...sent.map(got), ...Object.values(born)].join(', ')} from municipios m cross join ${whole.relation} where m.tenant = $1
    on conflict (tenant, ${key.join(', ')}) do update set ${told.map((column) => `${column} = excluded.${column}`).join(', ')}`;
  return {
    /** Reads the rows whose key columns `by` are among `keys`. */
    read: readByKeys(table, columnsRead),
    readAll: async (client: PoolClient, tenant: string): Promise<readonly StoredRow[]> =>
      (await client.query<StoredRow>(`select ${columnsRead} from ${table} s where s.tenant = $1`, [tenant])).rows,
    keyOf: (row: Row): string => keys.map((read) => read(row)).join(' '),
    storedKeyOf: (row: StoredRow): string => key.map((column) => row[column]).join(' '),
    /** Writes the rows that differ from `found`, by keys, and deletes the `retired` ones. */
    write: async (
      client: PoolClient,
      tenant: string,
      wanted: ReadonlyMap<string, Row>,
      found: ReadonlyMap<string, StoredRow>,
      retired: readonly StoredRow[],
      { isRehearsal, importacao, tell: tellMudanca }: Writing,
    ): Promise<Contagem> => {
      const changed: Row[] = [];
      let novos = 0;
      for (const [which, row] of wanted) {
        const stored = found.get(which);
        if (stored === undefined) novos += 1;
        else if (texts.every(([column, read]) => isSame(read(row), stored[column]))) continue;
        changed.push(row);
        tellMudanca({ tabela: table, ...(stored && { antes: stored }), depois: rowOf(row) });
      }
      for (const antes of retired) tellMudanca({ tabela: table, antes });
      if (!isRehearsal) {
        const touched = [...changed.map(rowOf), ...retired];
        if (importacao !== undefined) await keep(client, 'antes', tenant, importacao, touched);
        const asked = [tenant, ...gone.valuesOf(retired)];
        const removed = retired.length === 0 ? [] : (await client.query<{ item: string }>(remove, asked)).rows;
        if (changed.length > 0) await client.query(write, [tenant, ...whole.valuesOf(changed)]);
        if (touched.length > 0) await tellWritten(client, tenant, changed.map(rowOf), folhasApagadas(removed));
        if (importacao !== undefined) await keep(client, 'depois', tenant, importacao, touched);
      }
      return { novos, alterados: changed.length - novos, iguais: wanted.size - changed.length };
    },
  };
}

function readByKeys(table: Vista, columnsRead: string) {
  return async (
    client: PoolClient,
    tenant: string,
    by: readonly string[],
    keys: readonly (readonly string[])[],
  ): Promise<readonly StoredRow[]> => {
    const wanted = unnestRows<readonly string[]>(
      by.map((column, place) => [`${column} text`, (parts) => parts[place]]),
      2,
    );
    // Each key is looked up by itself, as in `lookUpLines` (`listas.ts`).
    const text = `select s.* from ${wanted.relation} cross join lateral (
      select ${columnsRead} from ${table} s where s.tenant = $1 and ${equateColumns('s', 'x', by)} offset 0
      ) s where x.${by[0]} || '' = x.${by[0]}`;
    return (await client.query<StoredRow>(text, [tenant, ...wanted.valuesOf(keys)])).rows;
  };
}

/** Writes entries of the audit chain about written and deleted rows. */
function tellRows(table: Vista, key: readonly string[], typeOf: (column: string) => string) {
  const keys = unnestRows<StoredRow>(
    key.map((column) => [`${column} ${typeOf(column)}`, (row) => row[column]]),
    6,
  );
  const from = `from ${keys.relation} cross join lateral (
      select * from ${table} s where s.tenant = $1 and ${equateColumns('s', 'x', key)} offset 0
    ) t`;
  return (client: PoolClient, tenant: string, rows: readonly StoredRow[], removed: readonly Folha[]): Promise<void> =>
    insertRegistradas(client, tenant, table, { from, values: keys.valuesOf(rows) }, removed);
}

/** Keeps current rows whole and in the types of the database. A missing row leaves nothing. */
function keepRows(table: string, key: readonly string[], typeOf: (column: string) => string) {
  const keys = unnestRows<StoredRow>(
    key.map((column) => [`${column} ${typeOf(column)}`, (row) => row[column]]),
    3,
  );
  const chave = `concat_ws(' ', ${key.map((column) => `x.${column}`).join(', ')})`;
  const textOf = (
    which: 'antes' | 'depois',
  ): string => `insert into mudancas_importadas as l (tenant, importacao, tabela, chave, ${which})
    select m.tenant, $2::uuid, '${table}', ${chave}, to_jsonb(s) from municipios m cross join ${keys.relation} cross join lateral (
      select * from ${table} s where s.tenant = $1 and ${equateColumns('s', 'x', key)} offset 0
    ) s where m.tenant = $1 on conflict (tenant, importacao, tabela, chave) do update set ${which} = excluded.${which}`;
  return async (
    client: PoolClient,
    which: 'antes' | 'depois',
    tenant: string,
    importacao: string,
    rows: readonly StoredRow[],
  ): Promise<void> => {
    if (rows.length > 0) await client.query(textOf(which), [tenant, importacao, ...keys.valuesOf(rows)]);
  };
}

function isSame(one: Value, stored: Value): boolean {
  if (Array.isArray(one) && Array.isArray(stored)) return one.join(' ') === stored.join(' ');
  return (one ?? null) === (stored ?? null);
}
