/**
 * Writes entries of the audit chain in the transaction that writes their rows: one entry a transaction. An entry gets no place here and
 * reads no other entry (D-664). Rows in memory are digested here; the statement digests the others itself, so that no entry costs a round
 * trip.
 */
import { randomUUID } from 'node:crypto';
import { asArrays, planMergeable } from '../pg/mergeable.ts';
import type { PoolClient, QueryConfig } from '../pg/pg.ts';
import { autenticadorInSql, autenticadorOf, feitioOf } from './auditoria-chave.ts';
import { type Folha, joinFolhas } from './auditoria-hash.ts';
import { AUDITADAS, apagada, rowInSql, type Vista } from './auditoria-tabelas.ts';

type Client = Pick<PoolClient, 'query'>;

type Entrada = {
  readonly id: string;
  readonly sobre: string | null;
  readonly itens: string;
  readonly resumos: Buffer;
  readonly autenticador: Buffer | null;
};

const INSERT = planMergeable<Entrada>(
  'insert_auditoria',
  asArrays([
    ['id uuid', ({ id }) => id],
    ['sobre text', ({ sobre }) => sobre],
    ['itens text', ({ itens }) => itens],
    ['resumos bytea', ({ resumos }) => resumos],
    ['autenticador bytea', ({ autenticador }) => autenticador],
  ]),
  ({ rows, tenant }) => `insert into auditoria (tenant, id, sobre, itens, resumos, autenticador)
    select m.tenant, x.id, x.sobre, x.itens, x.resumos, x.autenticador from municipios m cross join ${rows} where m.tenant = ${tenant}`,
);

/** Writes an entry about rows that are in memory. */
export async function insertEntrada(
  client: Client,
  tenant: string,
  folhas: readonly Folha[],
  sobre: string | null = null,
): Promise<void> {
  if (folhas.length === 0) return;
  const { itens, resumos } = joinFolhas(folhas);
  const id = randomUUID();
  const autenticador = autenticadorOf(tenant, { id, sobre: sobre ?? '', itens, resumos });
  await client.query(INSERT(tenant, [{ id, sobre, itens, resumos, autenticador }]));
}

/**
 * SQL: an entry of the leaves in memory ($4, $5) and of rows of a table as stored. `from`: which rows, as `t`, with parameters from $6 on.
 * `feitio`: the parameter with the key material of its authenticator.
 */
function withRows(vista: Vista, from: string, feitio: string): string {
  const { item, resumo } = rowInSql(vista);
  return `insert into auditoria (tenant, id, sobre, itens, resumos, autenticador)
    select m.tenant, $2::uuid, $3::text, e.itens, e.resumos, ${autenticadorInSql(feitio, '$3::text', 'e.itens', 'e.resumos')}
    from municipios m cross join lateral (
      select concat_ws(chr(10), nullif($4::text, ''), string_agg(r.item, chr(10) order by r.item)) as itens,
        $5::bytea || coalesce(string_agg(r.resumo, ''::bytea order by r.item), ''::bytea) as resumos
      from (select ${item} as item, ${resumo} as resumo ${from}) r
    ) e where m.tenant = $1 and e.itens <> ''`;
}

const ANY = new Map<string, string>();

/** Selects rows: a condition on `t`, or a source of `t`; with parameters from $6 on. */
export type Quais = ({ readonly which: string } | { readonly from: string }) & { readonly values?: readonly unknown[] };

/**
 * Writes how rows of a table stand now. This transaction must have written or locked them, so that no other one can change them. `others`:
 * further leaves of the entry.
 */
export async function insertRegistradas(
  client: Client,
  tenant: string,
  vista: Vista,
  quais: Quais,
  others: readonly Folha[] = [],
  sobre: string | null = null,
): Promise<void> {
  const { tabela } = AUDITADAS[vista];
  const from = 'from' in quais ? quais.from : `from ${tabela} t where t.tenant = $1 and (${quais.which})`;
  const values = quais.values ?? [];
  const feitio = `$${6 + values.length}::bytea`;
  const text = ANY.getOrInsertComputed(`${vista} ${from}`, () => withRows(vista, from, feitio));
  const { itens, resumos } = joinFolhas(others);
  const id = randomUUID();
  const asked: QueryConfig = { text, values: [tenant, id, sobre, itens, resumos, ...values, feitioOf(tenant, id)] };
  await client.query(asked);
}

/**
 * SQL: a `delete` of a table, under an alias. The statement returns the keys of the deleted rows, and each as `item`, for {@link
 * folhasApagadas}. Citus allows no function in `returning` that depends on settings.
 */
export function takeAway(vista: Vista, deletion: string, alias = 't'): string {
  const keys = AUDITADAS[vista].chave.filter((column) => column !== 'tenant').map((column) => `${alias}.${column}`);
  return `with t as (${deletion} returning ${keys.length === 0 ? `${alias}.tenant` : keys.join(', ')})
    select t.*, ${rowInSql(vista, 't').item} as item from t`;
}

/** Leaves of rows that a statement has just deleted ({@link takeAway}). */
export function folhasApagadas(rows: readonly { readonly item: string }[]): readonly Folha[] {
  return rows.map(({ item }) => {
    const [vista, ...chave] = JSON.parse(item) as [Vista, ...string[]];
    return apagada(vista, chave);
  });
}
