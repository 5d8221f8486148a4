/**
 * Deliveries of changes to webhook addresses. The rows are written in the transaction that gives the changes their places. One worker at a
 * time takes an address and stores the results of its attempts. Changes of a note are sent in their order.
 */

import { insertRows } from '../../base/pg/mergeable.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { unnestRows } from '../../base/pg/sql.ts';
import type { Traced } from '../../base/traces/traces.ts';
import { MES_FECHADO } from '../../fiscal/mudanca.ts';
import { ALL_NOW, type EntregaRow, RAIZ, type Tentativa, tellWebhook, type WebhookRow } from './webhooks.rows.ts';

/** One message at a time is tried after so many failures in a row. */
export const FALHAS_PARA_PARAR = 3;

/** A change that was given its place. `cursor`: the cursor of the document's reader after this change. */
export type Contada = Traced & {
  readonly documento: string;
  readonly nota: string;
  readonly ordem: number;
  readonly tipo: string;
  readonly mudanca: string;
  readonly cursor: string;
};

type NovaEntrega = Pick<Contada, 'nota' | 'ordem' | 'mudanca' | 'cursor' | 'traceparent'> & {
  readonly webhook: string;
  readonly em: string;
};

const INSERT = insertRows<NovaEntrega>(
  'insert_entregas',
  'entregas',
  [
    ['webhook text', ({ webhook }) => webhook],
    ['ordem bigint', ({ ordem }) => ordem],
    ['nota bigint', ({ nota }) => nota],
    ['mudanca text', ({ mudanca }) => mudanca],
    ['cursor text', ({ cursor }) => cursor],
    ['traceparent text', ({ traceparent }) => traceparent ?? null],
    ['estado text', () => 'pendente'],
    ['due_at timestamptz', ({ em }) => em],
    ['criada_em timestamptz', ({ em }) => em],
  ],
  'on conflict (tenant, webhook, ordem) do nothing',
);

const LISTENING = `select id, documento, tipos from webhooks where tenant = $1 and ativo and (documento = '' or documento = any ($2::text[]))`;
/** An address that fails, or is not yet proved, keeps the moment of its next attempt. */
const RING = `update webhooks set proxima = case when (falhas >= ${FALHAS_PARA_PARAR} or pendente) and proxima is not null then proxima
    else least(coalesce(proxima, $3), $3) end
  where tenant = $1 and id = any ($2::text[])`;

/** Writes the deliveries of changes, in the transaction that gives them their places. `now`: milliseconds. */
export async function insertEntregas(
  client: PoolClient,
  tenant: string,
  contadas: readonly Contada[],
  now: number,
): Promise<void> {
  const documentos = [...new Set(contadas.map(({ documento }) => documento))];
  const { rows } = await client.query<Pick<WebhookRow, 'id' | 'documento' | 'tipos'>>(LISTENING, [tenant, documentos]);
  if (rows.length === 0) return;
  const em = new Date(now).toISOString();
  const novas = rows.flatMap(({ id, documento, tipos }) => {
    const wanted = contadas.filter(
      (one) =>
        (documento === '' || one.documento === documento) && (tipos.length === 0 || tipos.includes(one.tipo as never)),
    );
    // The municipality gets a change once, with the place of its first party, which is the provider.
    const once =
      documento === ''
        ? [...Map.groupBy(wanted, ({ ordem }) => ordem).values()].map(([first]) => first as Contada)
        : wanted;
    return once.map(({ documento: _of, tipo: _kind, ...nova }) => ({ webhook: id, em, ...nova }));
  });
  if (novas.length === 0) return;
  await client.query(INSERT(tenant, novas));
  const rung = [...new Set(novas.map(({ webhook }) => webhook))];
  await client.query(RING, [tenant, rung, new Date(now)]);
}

const LISTENING_MES = `select id from webhooks where tenant = $1 and ativo and documento = ''
  and (tipos = '{}' or '${MES_FECHADO}' = any (tipos))`;

/** The places of months are below those of changes, in their order, and above those of trials. */
const BEFORE_CHANGES = -10_000_000;

/** Writes the deliveries of a closed month (202611), in the transaction that closes it. A month waits for the one before it. */
export async function insertEntregasDoMes(client: PoolClient, tenant: string, mes: number, now: number): Promise<void> {
  const { rows } = await client.query<Pick<WebhookRow, 'id'>>(LISTENING_MES, [tenant]);
  if (rows.length === 0) return;
  const em = new Date(now).toISOString();
  const place = { ordem: BEFORE_CHANGES + mes, nota: '0', mudanca: `mes ${mes}`, cursor: '' };
  await client.query(
    INSERT(
      tenant,
      rows.map(({ id }) => ({ webhook: id, em, ...place })),
    ),
  );
  await client.query(RING, [tenant, rows.map(({ id }) => id), new Date(now)]);
}

/** An address that was taken. `segredos`: those that sign. */
export type Taken = Pick<WebhookRow, 'id' | 'documento' | 'url' | 'falhas' | 'pendente'> & {
  readonly segredo: Buffer;
  readonly segredo_anterior: Buffer | null;
  readonly anterior_ate: Date | null;
};

/** A message that is due; the trace is that of the change. */
export type EntregaDevida = EntregaRow & Traced;

/** Speed of an address: quick if its latest answers were; slow otherwise, and as long as it is unknown. */
export type Pace = 'quick' | 'slow';

/** Processes that find enough work at the same moment, each by skipping the rows that others hold. */
const TAKERS = 4;

/**
 * Each owner has one turn after the other; addresses under way count as turns of their owner. Addresses with the fewest failures go first,
 * so that a new one does not wait for those that hang. Rows are locked by id: a join with the turns would compare all with all.
 */
const TAKE = `with turns as (
    select id, falhas, proxima, coalesce(reservado_ate > $2, false) as reservado,
      row_number() over (partition by ${RAIZ} order by coalesce(reservado_ate > $2, false) desc, falhas, proxima) as vez
    from webhooks where tenant = $1 and rapido = $6 and ativo and proxima <= $2
  ), first as (
    select array(select id from turns where not reservado order by vez, falhas, proxima limit ${TAKERS} * $5::int) as ids
  ), due as (
    select w.id from webhooks w where w.tenant = $1 and w.id = any ((select ids from first)::text[])
      and w.rapido = $6 and w.ativo and w.proxima <= $2 and (w.reservado_ate is null or w.reservado_ate <= $2)
      and exists (select 1 from municipios m where m.tenant = $1 and not m.fechado)
    order by array_position((select ids from first), w.id) limit $5::int for update of w skip locked
  )
  update webhooks w set claims = $3, reservado_ate = $4, alterado = false where w.tenant = $1 and w.id = any (array(select id from due))
  returning w.id, w.documento, w.url, w.falhas, w.pendente, w.segredo, w.segredo_anterior, w.anterior_ate`;

const COLUMNS = `e.ordem::text, e.nota::text, e.mudanca, e.cursor, e.estado, e.tentativas, e.due_at, e.criada_em, e.entregue_em, e.registro, e.traceparent`;
const DUE = `select ${COLUMNS} from entregas e where e.tenant = $1 and e.webhook = $2 and e.estado = 'pendente' and e.due_at <= $3
    and not exists (select 1 from entregas p where p.tenant = $1 and p.webhook = $2 and p.nota = e.nota and p.ordem < e.ordem
      and p.estado = 'pendente' and p.due_at > $3)
  order by e.ordem limit $4`;
const OLDEST = `select ${COLUMNS} from entregas e where e.tenant = $1 and e.webhook = $2 and e.estado = 'pendente' order by e.ordem limit 1`;

/** The result of one message. `dueAt`: moment of the next attempt; `isDead`: there is none. Moments in milliseconds. */
export type Resultado = {
  readonly ordem: string;
  readonly tentativa: Tentativa;
  readonly em: number;
  readonly isDelivered: boolean;
  readonly isDead: boolean;
  readonly dueAt: number;
};

const RESULTS = unnestRows<Resultado>(
  [
    ['ordem bigint', ({ ordem }) => ordem],
    ['estado text', ({ isDelivered, isDead }) => (isDelivered ? 'entregue' : isDead ? 'morta' : 'pendente')],
    ['due timestamptz', ({ dueAt }) => new Date(dueAt).toISOString()],
    ['entregue timestamptz', ({ isDelivered, em }) => (isDelivered ? new Date(em).toISOString() : null)],
    ['registro text', ({ tentativa }) => JSON.stringify(tentativa)],
  ],
  3,
);

/** Attempts that are kept of a message. */
const REGISTRO_MAX = 20;

const HOLD = 'select pendente, alterado from webhooks where tenant = $1 and id = $2 and claims = $3 for update';
const WRITE = `update entregas e set estado = x.estado, tentativas = e.tentativas + 1, due_at = x.due, entregue_em = x.entregue,
    registro = (case when jsonb_array_length(e.registro) >= ${REGISTRO_MAX} then e.registro - 0 else e.registro end) || x.registro::jsonb
  from ${RESULTS.relation} where e.tenant = $1 and e.webhook = $2 and e.ordem = x.ordem`;
const LATE = `update entregas set estado = 'morta' where tenant = $1 and webhook = $2 and ordem = any (array(
    select ordem from entregas where tenant = $1 and webhook = $2 and estado = 'pendente' and criada_em < $3 order by ordem limit 5000))`;
const NEXT = `select min(due_at) as due from entregas where tenant = $1 and webhook = $2 and estado = 'pendente'`;
/** An address that is switched off must prove itself anew. */
const RELEASE = `update webhooks set claims = null, reservado_ate = null, falhas = $3, proxima = $4, ativo = ativo and $5, pendente = $9 or not $5,
    problema = coalesce($6, problema), problema_em = case when $6::text is null then problema_em else $7 end,
    rapido = coalesce($8, rapido)
  where tenant = $1 and id = $2`;
const FORGET = `delete from entregas where tenant = $1 and webhook = $2 and ordem = any (array(
    select ordem from entregas where tenant = $1 and webhook = $2 and estado <> 'pendente' and criada_em < $3 order by ordem limit 2000))`;

/** No delivery waits for an address that wants no more messages; its owner may have them sent again. */
const END = `update entregas set estado = 'morta' where tenant = $1 and webhook = $2 and estado = 'pendente'`;
/** Rows deleted at once. */
const FORGET_STEP = 10_000;
/** No worker takes an address that is switched off, so this deletes its oldest rows. */
const FORGET_OFF = `delete from entregas e using (
    select w.id, y.ordem from webhooks w cross join lateral (select x.ordem, x.criada_em from entregas x
        where x.tenant = $1 and x.webhook = w.id order by x.ordem limit 2000) y
      where w.tenant = $1 and not w.ativo and y.criada_em < $2 limit ${FORGET_STEP}) v
  where e.tenant = $1 and e.webhook = v.id and e.ordem = v.ordem`;

const RELEASE_CHANGED = 'update webhooks set claims = null, reservado_ate = null where tenant = $1 and id = $2';

/** The state of an address after a batch. `falhas`: failures in a row; `paradoAte`: no attempt before it (milliseconds). */
export type Deixado = {
  readonly falhas: number;
  readonly paradoAte: number | undefined;
  /** The address answers again after a pause: its waiting deliveries are sent at once. */
  readonly isBack: boolean;
  /** The address is switched off: it refused further messages, or never proved that it wants any. */
  readonly isGone: boolean;
  /** The answer was a refusal of all messages (410): no delivery waits for it. */
  readonly isRefused: boolean;
  /** The address is not yet proved, and is asked at `paradoAte`. */
  readonly isPendente: boolean;
  /** Undefined: nothing was sent to it. */
  readonly isQuick: boolean | undefined;
  readonly problema: string | undefined;
  /** Older waiting deliveries are given up (milliseconds), and older finished ones are deleted. */
  readonly desistirAntes: number;
  readonly esquecerAntes: number;
};

export function entregaStore(pool: Db) {
  return {
    /** Takes addresses of a pace with due deliveries, under a token, until a moment. Moments in milliseconds. */
    take: async (
      tenant: string,
      {
        now,
        until,
        token,
        max,
        pace,
      }: {
        readonly now: number;
        readonly until: number;
        readonly token: string;
        readonly max: number;
        readonly pace: Pace;
      },
    ): Promise<readonly Taken[]> =>
      (await pool.query<Taken>(TAKE, [tenant, new Date(now), token, new Date(until), max, pace === 'quick'])).rows,
    /**
     * Due deliveries of an address, in order. A failing address gets one message alone. It is the first due one, so that a message that is
     * always refused delays no other; otherwise the oldest.
     */
    listDue: async (
      tenant: string,
      { id, falhas }: Taken,
      now: number,
      max: number,
    ): Promise<readonly EntregaDevida[]> => {
      const isStopped = falhas >= FALHAS_PARA_PARAR;
      const { rows } = await pool.query<EntregaDevida>(DUE, [tenant, id, new Date(now), isStopped ? 1 : max]);
      if (rows.length > 0 || !isStopped) return rows;
      return (await pool.query<EntregaDevida>(OLDEST, [tenant, id])).rows;
    },
    /** Stores the results and releases the address. False: another process has taken it meanwhile. */
    settle: (
      tenant: string,
      { id }: Pick<Taken, 'id'>,
      token: string,
      now: number,
      resultados: readonly Resultado[],
      deixado: Deixado,
    ): Promise<boolean> =>
      runTransaction(pool, async (client) => {
        // Writers of deliveries hold the same row, so the next query sees all of them.
        const [held] = (await client.query<{ pendente: boolean; alterado: boolean }>(HOLD, [tenant, id, token])).rows;
        if (held === undefined) return false;
        if (resultados.length > 0) await client.query(WRITE, [tenant, id, ...RESULTS.valuesOf(resultados)]);
        const {
          falhas,
          paradoAte,
          isBack,
          isGone,
          isRefused,
          isPendente,
          isQuick,
          problema,
          desistirAntes,
          esquecerAntes,
        } = deixado;
        if (isBack || held.alterado) await client.query(ALL_NOW, [tenant, id, new Date(now)]);
        if (paradoAte !== undefined) await client.query(LATE, [tenant, id, new Date(desistirAntes)]);
        await client.query(FORGET, [tenant, id, new Date(esquecerAntes)]);
        const [next] = (await client.query<{ due: Date | null }>(NEXT, [tenant, id])).rows;
        const due = next?.due ?? null;
        // The owner changed the address meanwhile: the results are about the old one, and the owner's state stays.
        if (held.alterado) {
          await client.query(RELEASE_CHANGED, [tenant, id]);
          return true;
        }
        if (isRefused) await client.query(END, [tenant, id]);
        const isWaiting = paradoAte !== undefined && (due !== null || isPendente);
        const proxima = isWaiting ? new Date(paradoAte) : due;
        const values = [falhas, proxima, !isGone, problema ?? null, new Date(now), isQuick ?? null, isPendente];
        await client.query(RELEASE, [tenant, id, ...values]);
        if (isGone || isPendente !== held.pendente) await tellWebhook(client, tenant, id);
        return true;
      }),
    /** Deletes deliveries from before a moment (milliseconds) of addresses that are switched off; returns whether there may be more. */
    forgetOff: async (tenant: string, before: number): Promise<boolean> =>
      (await pool.query(FORGET_OFF, [tenant, new Date(before)])).rowCount === FORGET_STEP,
  };
}
