/**
 * Entries of the audit chain, written in the transaction that writes what they tell: one row a transaction, without a place and without
 * looking at any other (D-664). What is in hand is digested here; the rest by the statement itself, so that no entry costs a wait.
 */
import { randomUUID } from 'node:crypto';
import type { PoolClient, QueryConfig } from '../pg/pg.ts';
import { planOnce } from '../pg/planned.ts';
import { autenticadorInSql, autenticadorOf, feitioOf } from './auditoria-chave.ts';
import { type Folha, joinFolhas } from './auditoria-hash.ts';
import { AUDITADAS, type Auditada, apagada, rowInSql, type Vista } from './auditoria-tabelas.ts';

type Client = Pick<PoolClient, 'query'>;

const INSERT = planOnce(
  'insert_auditoria',
  `insert into auditoria (tenant, id, sobre, itens, resumos, autenticador)
    select m.tenant, $2::uuid, $3::text, $4::text, $5::bytea, $6::bytea from municipios m where m.tenant = $1`,
);

/** Writes what is told of rows that are in hand. */
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
  await client.query(INSERT([tenant, id, sobre, itens, resumos, autenticador]));
}

/**
 * SQL: an entry with what is in hand ($4, $5), and rows of a table as they stand; `from`: which, as `t`, with parameters from $6 on. `feitio`:
 * the parameter of which its authenticator is made.
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

/** Which rows: a condition on `t`, or where `t` is taken from; with parameters from $6 on. */
export type Quais = ({ readonly which: string } | { readonly from: string }) & { readonly values?: readonly unknown[] };

/**
 * Writes how rows of a table stand now. This transaction has written them, or holds them: another one may not be about to. `others`: what is
 * told besides.
 */
export async function insertRegistradas(
  client: Client,
  tenant: string,
  vista: Vista,
  quais: Quais,
  others: readonly Folha[] = [],
  sobre: string | null = null,
): Promise<void> {
  const { tabela } = AUDITADAS[vista] as Auditada;
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
 * SQL: a `delete` of a table, under an alias, that answers the keys of what it took away, and each as `item`, for {@link folhasApagadas}.
 * Citus lets `returning` itself call nothing that depends on settings (D-682).
 */
export function takeAway(vista: Vista, deletion: string, alias = 't'): string {
  const keys = AUDITADAS[vista].chave.filter((column) => column !== 'tenant').map((column) => `${alias}.${column}`);
  return `with t as (${deletion} returning ${keys.length === 0 ? `${alias}.tenant` : keys.join(', ')})
    select t.*, ${rowInSql(vista, 't').item} as item from t`;
}

/** Of rows that a statement has just taken away ({@link takeAway}). */
export function folhasApagadas(rows: readonly { readonly item: string }[]): readonly Folha[] {
  return rows.map(({ item }) => {
    const [vista, ...chave] = JSON.parse(item) as [Vista, ...string[]];
    return apagada(vista, chave);
  });
}
