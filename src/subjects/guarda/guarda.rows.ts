/**
 * Deletes rehearsal rows past the tenant's number of days (D-264): notes, events, documents, lots, providers that came from a DPS, and
 * expired tokens. Webhook addresses without a token go too (D-264). The oldest go first, a few at a time. Every statement itself checks
 * that the tenant is not in production. Counters stay: no number comes twice.
 */

import { folhasApagadas, insertEntrada, takeAway } from '../../base/book/auditoria-entradas.ts';
import { apagada } from '../../base/book/auditoria-tabelas.ts';
import { dequeue, groupByMes, type Ref } from '../../base/book/fila.ts';
import { mesOf } from '../../base/book/meses.ts';
import { askCount } from '../../base/book/receita-novas.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { AMBIENTES, GUARDA_MIN_DIAS } from '../../fiscal/ambiente.ts';
import { DAY_MS } from '../../fiscal/moment.ts';

/** Rows of one kind in one transaction: some milliseconds. */
const STEP_MAX = 200;

/** Tenants in one part: the wait of production does not grow with the number of sandboxes. */
const TENANTS = 20;

export function guardaStore(pool: Db) {
  /** The last tenant that was checked, and whether an earlier one may have more. */
  let after = '';
  let isMoreBefore = false;
  return {
    /** Deletes a part of the expired rows; returns whether there may be more. `now`: milliseconds. */
    forgetRehearsals: async (now: number): Promise<boolean> => {
      const asked = [after, TENANTS];
      const { rows } = await pool.query<{ tenant: string; guarda_dias: number | null }>(REHEARSALS, asked);
      const isEnd = rows.length < TENANTS;
      // A tenant whose check fails is left for the next round.
      after = isEnd ? '' : rows.at(-1)!.tenant;
      let more = isMoreBefore;
      for (const { tenant, guarda_dias } of rows) {
        const dias = guarda_dias ?? AMBIENTES.homologacao.guardaDias ?? 0;
        if (dias === 0) continue;
        const before = new Date(now - Math.max(dias, GUARDA_MIN_DIAS) * DAY_MS);
        for (const step of [forgetNotas, forgetLotes, forgetPrestadores, forgetTokens, forgetWebhooks]) {
          const count = await runTransaction(pool, (client) => step(client, tenant, before));
          // The next month follows after the last row of this one.
          more ||= count > 0;
        }
      }
      isMoreBefore = !isEnd && more;
      return more || !isEnd;
    },
  };
}

/** A month of the westernmost municipalities ends this much later. */
const WESTERN_MS = 5 * 3_600_000;

/**
 * Deletes the rows of sandboxes among these tenants up to a month, to which their clocks may be set back. Returns whether there are such
 * sandboxes.
 */
export async function forgetEnsaios(client: PoolClient, tenants: readonly string[], mes: number): Promise<boolean> {
  const before = new Date(Date.UTC(Math.floor(mes / 100), mes % 100) + WESTERN_MS);
  const { rows } = await client.query<{ tenant: string }>(ENSAIOS, [tenants]);
  for (const { tenant } of rows) {
    while ((await forgetNotas(client, tenant, before, mes)) > 0);
    while ((await forgetLotes(client, tenant, before)) > 0);
  }
  return rows.length > 0;
}

/** Queries across tenants. */
const ENSAIOS = 'select tenant from municipios where ensaio_ate is not null and tenant = any ($1::text[])';
const REHEARSALS = `select tenant, guarda_dias from municipios where ambiente = 'homologacao' and tenant > $1 order by tenant limit $2`;

const OF_A_REHEARSAL = `exists (select 1 from municipios m where m.tenant = $1 and m.ambiente = 'homologacao')`;

/** The first month with notes of a tenant. */
const OLDEST_MES = `select m.mes from meses m
  where m.mes <= $2 and (select true from notas n where n.tenant = $1 and n.mes = m.mes limit 1) order by m.mes limit 1`;

/** Notes of a month ($3). Only the oldest ones are examined, which come first in an index. */
const OLD_NOTAS = `select n.id, n.id_dps, n.substitui from notas n
  where n.tenant = $1 and n.mes = $3 and ${OF_A_REHEARSAL} and n.data_emissao < $2
    and n.id = any (array(select h.id from notas h where h.tenant = $1 and h.mes = $3 order by h.id limit ${STEP_MAX}))
  order by n.id for update skip locked`;

/** Protocols begin with their moment. */
const OLD_LOTES = `select l.id, l.mes from lotes l where l.tenant = $1 and ${OF_A_REHEARSAL} and l.recebido_em < $2
    and l.protocolo = any (array(select h.protocolo from lotes h where h.tenant = $1 order by h.protocolo limit ${STEP_MAX}))
  order by l.id for update skip locked`;

/** A provider that was removed while its notes remain is registered again with its next note. */
const OLD_PRESTADORES = takeAway(
  'prestadores',
  `delete from prestadores t where tenant = $1 and (documento, inscricao_comparavel) in (
    select p.documento, p.inscricao_comparavel from prestadores p
    where p.tenant = $1 and ${OF_A_REHEARSAL} and p.origem = 'dps' and p.criado_em < $2 limit ${STEP_MAX} for update skip locked)`,
);

const OLD_TOKENS = takeAway(
  'tokens',
  `delete from tokens t where t.tenant = $1 and ${OF_A_REHEARSAL} and id = any (array(
    select o.id from tokens o where o.tenant = $1 and o.expira_em < $2 order by o.expira_em limit ${STEP_MAX}))`,
);

/** The municipality's own addresses stay. */
const OLD_WEBHOOKS = takeAway(
  'webhooks',
  `delete from webhooks t where t.tenant = $1 and ${OF_A_REHEARSAL} and id = any (array(
    select w.id from webhooks w where w.tenant = $1 and w.documento <> '' and w.criado_em < $2
      and not exists (select 1 from tokens k where k.tenant = $1 and k.documento = w.documento) limit ${STEP_MAX}))`,
);

async function forgetNotas(
  client: PoolClient,
  tenant: string,
  before: Date,
  lastMes = mesOf(before.getTime()),
): Promise<number> {
  const [oldest] = (await client.query<{ mes: number }>(OLDEST_MES, [tenant, lastMes])).rows;
  if (oldest === undefined) return 0;
  const { mes } = oldest;
  type Row = { id: string; id_dps: string; substitui: string | null };
  const { rows } = await client.query<Row>(OLD_NOTAS, [tenant, before, mes]);
  if (rows.length === 0) return 0;
  const notas = rows.map(({ id }) => id);
  await forgetEventos(client, tenant, notas);
  await dequeue(client, tenant, 'nota', notas);
  const identidades = 'delete from identidades where tenant = $1 and id_dps = any ($2) and nota = any ($3::bigint[])';
  await client.query(identidades, [tenant, rows.map(({ id_dps }) => id_dps), notas]);
  const substituicoes =
    'delete from substituicoes where tenant = $1 and substituida = any ($2) and nota = any ($3::bigint[])';
  await client.query(substituicoes, [tenant, rows.flatMap(({ substitui }) => substitui ?? []), notas]);
  for (const table of ['retidas', 'notas_recusadas', 'pendencias']) {
    await client.query(`delete from ${table} where tenant = $1 and nota = any ($2::bigint[])`, [tenant, notas]);
  }
  for (const table of ['documentos', 'trilha_notas']) await forgetOfMes(client, table, 'nota', tenant, mes, notas);
  await forgetOfMes(client, 'notas', 'id', tenant, mes, notas);
  await tellForgotten(client, tenant, 'nota', notas);
  await askCount(client, tenant, mes);
  return rows.length;
}

async function forgetEventos(client: PoolClient, tenant: string, notas: readonly string[]): Promise<void> {
  const ofNotas = 'delete from eventos where tenant = $1 and nota = any ($2::bigint[]) returning id, mes';
  const { rows } = await client.query<Ref>(ofNotas, [tenant, notas]);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await dequeue(client, tenant, 'evento', ids);
  await forgetByMes(client, ['documentos_eventos', 'trilha_eventos'], 'evento', tenant, rows);
  await tellForgotten(client, tenant, 'evento', ids);
}

async function forgetLotes(client: PoolClient, tenant: string, before: Date): Promise<number> {
  const { rows } = await client.query<Ref>(OLD_LOTES, [tenant, before]);
  if (rows.length === 0) return 0;
  const lotes = rows.map(({ id }) => id);
  await dequeue(client, tenant, 'lote', lotes);
  await client.query('delete from lotes_rps where tenant = $1 and lote = any ($2::bigint[])', [tenant, lotes]);
  await client.query('delete from lotes where tenant = $1 and id = any ($2::bigint[])', [tenant, lotes]);
  await forgetByMes(client, ['documentos_lotes'], 'lote', tenant, rows);
  await tellForgotten(client, tenant, 'lote', lotes);
  return rows.length;
}

async function forgetPrestadores(client: PoolClient, tenant: string, before: Date): Promise<number> {
  return forgetTold(client, OLD_PRESTADORES, tenant, before);
}

async function forgetTokens(client: PoolClient, tenant: string, before: Date): Promise<number> {
  return forgetTold(client, OLD_TOKENS, tenant, before);
}

/** Runs a deletion, records it in the audit chain, and returns the number of rows. */
async function forgetTold(client: PoolClient, text: string, tenant: string, before: Date): Promise<number> {
  const { rows } = await client.query<{ item: string }>(text, [tenant, before]);
  await insertEntrada(client, tenant, folhasApagadas(rows), GUARDA);
  return rows.length;
}

function tellForgotten(
  client: PoolClient,
  tenant: string,
  of: 'nota' | 'evento' | 'lote',
  ids: readonly string[],
): Promise<void> {
  return insertEntrada(
    client,
    tenant,
    ids.map((id) => apagada(of, [id])),
    GUARDA,
  );
}

/** The reason in the audit chain. */
const GUARDA = 'apagado: passou do prazo de guarda';

async function forgetWebhooks(client: PoolClient, tenant: string, before: Date): Promise<number> {
  const { rows } = await client.query<{ id: string; item: string }>(OLD_WEBHOOKS, [tenant, before]);
  await insertEntrada(client, tenant, folhasApagadas(rows), GUARDA);
  const gone = rows.map(({ id }) => id);
  if (gone.length > 0) {
    await client.query('delete from entregas where tenant = $1 and webhook = any ($2::text[])', [tenant, gone]);
  }
  return gone.length;
}

async function forgetByMes(
  client: PoolClient,
  tables: readonly string[],
  column: string,
  tenant: string,
  rows: readonly Ref[],
): Promise<void> {
  for (const [mes, some] of groupByMes(rows)) {
    const ids = some.map(({ id }) => id);
    for (const table of tables) await forgetOfMes(client, table, column, tenant, mes, ids);
  }
}

async function forgetOfMes(
  client: PoolClient,
  table: string,
  column: string,
  tenant: string,
  mes: number,
  ids: readonly string[],
): Promise<void> {
  const text = `delete from ${table} where tenant = $1 and mes = $2 and ${column} = any ($3::bigint[])`;
  await client.query(text, [tenant, mes, ids]);
}
