/**
 * Authorities and revocation lists by which signatures were judged, unchanged. Each is stored once, when a signature is first judged by it,
 * and documents refer to it by a number. A note costs four bytes.
 */

import { type Db, runTransaction } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { NotWritten } from '../pg/unavailable.ts';
import { insertRegistradas } from './auditoria-entradas.ts';
import { keepCertificados } from './recepcoes.ts';

/** A document in DER, under its SHA-256. */
type Guardado = { readonly impressao: Buffer; readonly der: Buffer };

/** `cadeia`: from the authority that issued the signer's certificate to the anchor. */
type Fundamento = {
  readonly impressao: Buffer;
  readonly cadeia: readonly Guardado[];
  readonly listas: readonly Guardado[];
};

/** A stored basis of judgement: documents in DER. */
type FundamentoGuardado = {
  /** Moment at which a signature was first judged by it. */
  readonly em: Date;
  readonly cadeia: readonly Buffer[];
  readonly listas: readonly Buffer[];
};

/** A remembered entry expires after this time, because the municipality may have been deleted and made anew. */
const STORED_FRESH_MS = 3_600_000;
/** Maximum number of remembered entries: a few for each municipality. */
const STORED_MAX = 100_000;

export function fundamentoStore(pool: Db) {
  const stored = new Map<string, { readonly done: Promise<number>; readonly at: number }>();
  return {
    /** Stores a basis that is missing, and returns its number. `now`: milliseconds. */
    keep: (tenant: string, fundamento: Fundamento, now: number): Promise<number> => {
      const key = `${tenant}/${fundamento.impressao.toString('hex')}`;
      const before = stored.get(key);
      if (before !== undefined && performance.now() - before.at < STORED_FRESH_MS) return before.done;
      if (stored.size >= STORED_MAX) stored.clear();
      const done = runTransaction(pool, (client) => insertFundamento(client, tenant, fundamento, now));
      stored.set(key, { done, at: performance.now() });
      done.catch(() => stored.delete(key));
      return done;
    },
    find: async (tenant: string, id: number): Promise<FundamentoGuardado | undefined> => {
      const { rows } = await pool.query<FundamentoGuardado>(FIND, [tenant, id]);
      return rows[0];
    },
  };
}

const LISTS_THERE = 'select impressao from listas_revogados where tenant = $1 and impressao = any ($2::bytea[])';
const INSERT_LIST = `insert into listas_revogados (tenant, impressao, der)
  values ($1, $2, $3) on conflict (tenant, impressao) do nothing`;
/** A writer of numbers locks the row of the municipality. Issuing does not wait for this lock. */
const LOCK = 'select 1 from municipios where tenant = $1 for no key update';
const THERE = 'select id from fundamentos where tenant = $1 and impressao = $2';
/** The values come from a `select`, because Citus refuses a subquery as a value. */
const INSERT = `insert into fundamentos (tenant, id, impressao, em, cadeia, listas)
  select m.tenant, coalesce((select max(f.id) from fundamentos f where f.tenant = $1), 0) + 1, $2::bytea, $3::timestamptz, $4::bytea[], $5::bytea[]
  from municipios m where m.tenant = $1 returning id`;

/** Lists have megabytes, so a stored list is not sent again. */
async function insertFundamento(
  client: PoolClient,
  tenant: string,
  { impressao, cadeia, listas }: Fundamento,
  now: number,
): Promise<number> {
  if ((await client.query(LOCK, [tenant])).rowCount === 0) throw new NotWritten(`there is no municipio ${tenant}`);
  type Row = { readonly id: number };
  const [before] = (await client.query<Row>(THERE, [tenant, impressao])).rows;
  if (before !== undefined) return before.id;
  const [certificados, lists] = [cadeia, listas].map((some) => some.map((one) => one.impressao));
  await Promise.all(keepCertificados(client, tenant, cadeia));
  const there = (await client.query<Pick<Guardado, 'impressao'>>(LISTS_THERE, [tenant, lists])).rows;
  for (const { impressao: print, der } of listas) {
    if (!there.some((one) => one.impressao.equals(print))) await client.query(INSERT_LIST, [tenant, print, der]);
  }
  const values = [tenant, impressao, new Date(now), certificados, lists];
  const { id } = (await client.query<Row>(INSERT, values)).rows[0]!;
  await insertRegistradas(client, tenant, 'fundamentos', { which: 't.id = $6::int', values: [id] });
  return id;
}

const FIND = `select f.em,
    array (select c.der from unnest(f.cadeia) with ordinality k (impressao, place)
      join certificados c on c.tenant = $1 and c.impressao = k.impressao order by k.place) as cadeia,
    array (select l.der from unnest(f.listas) with ordinality k (impressao, place)
      join listas_revogados l on l.tenant = $1 and l.impressao = k.impressao order by k.place) as listas
  from fundamentos f where f.tenant = $1 and f.id = $2`;
