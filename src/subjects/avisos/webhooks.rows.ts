/** Webhook addresses as their owner sees and changes them. */

import { folhasApagadas, insertEntrada, insertRegistradas, takeAway } from '../../base/book/auditoria-entradas.ts';
import { insertRows } from '../../base/pg/mergeable.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { inTurn } from '../../base/pg/turn.ts';
import { raizOf } from '../../fiscal/chave.ts';
import type { TipoDeAviso } from '../../fiscal/mudanca.ts';

/** `documento`: empty if the address is the municipality's own. Moments in milliseconds. */
export type NovoWebhook = {
  readonly id: string;
  readonly documento: string;
  readonly url: string;
  /** Empty: all of them. */
  readonly tipos: readonly TipoDeAviso[];
  readonly descricao: string | undefined;
  readonly segredo: Buffer;
  readonly criadoEm: number;
};

export type WebhookRow = {
  readonly id: string;
  readonly documento: string;
  readonly url: string;
  readonly tipos: readonly TipoDeAviso[];
  readonly descricao: string | null;
  readonly ativo: boolean;
  /** It has not yet proved that it wants messages. */
  readonly pendente: boolean;
  readonly criado_em: Date;
  readonly anterior_ate: Date | null;
  readonly falhas: number;
  readonly proxima: Date | null;
  readonly problema: string | null;
  readonly problema_em: Date | null;
};

const COLUMNS =
  'id, documento, url, tipos, descricao, ativo, pendente, criado_em, anterior_ate, falhas, proxima, problema, problema_em';

const INSERT = insertRows<NovoWebhook>('insert_webhook', 'webhooks', [
  ['id text', ({ id }) => id],
  ['documento text', ({ documento }) => documento],
  ['url text', ({ url }) => url],
  ['tipos text[]', ({ tipos }) => `{${tipos.join(',')}}`],
  ['descricao text', ({ descricao }) => descricao ?? null],
  ['segredo bytea', ({ segredo }) => segredo],
  ['criado_em timestamptz', ({ criadoEm }) => new Date(criadoEm).toISOString()],
  // The question whether it wants messages is due at once.
  ['pendente boolean', () => true],
  ['proxima timestamptz', ({ criadoEm }) => new Date(criadoEm).toISOString()],
]);

const FIND = `select ${COLUMNS} from webhooks where tenant = $1 and id = $2`;
const LIST_OF_PARTES = `select ${COLUMNS} from webhooks where tenant = $1 and id > $2 and documento <> '' order by id limit $3`;
const LIST = `select ${COLUMNS} from webhooks where tenant = $1 and ($2::text is null or documento = $2) order by criado_em, id`;
/** Owner of an address: the root of a CNPJ, a whole CPF, or the municipality itself. */
export const RAIZ = 'left(documento, case length(documento) when 14 then 8 else 11 end)';
/**
 * The planner would use a dedicated index for queries of due addresses too. The documents of a root are neighbours in the existing index.
 */
const COUNT = `select count(*)::int as da_raiz, (count(*) filter (where documento = $3::text))::int as do_documento
  from webhooks where tenant = $1 and documento between rpad($2::text, length($3::text), '0') and rpad($2::text, length($3::text), 'Z') and ${RAIZ} = $2`;
/** A changed URL must be proved anew. */
const CHANGE = `update webhooks set url = coalesce($4, url), tipos = coalesce($5::text[], tipos), descricao = coalesce($6, descricao),
    ativo = coalesce($7, ativo), pendente = pendente or coalesce($4 <> url, false), falhas = case when $7 or $4 <> url then 0 else falhas end,
    proxima = case when $7 or $4 <> url then least(coalesce(proxima, $8), $8) else proxima end,
    alterado = alterado or coalesce($7, false) or coalesce($4 <> url, false), rapido = rapido and not coalesce($4 <> url, false)
  where tenant = $1 and id = $2 and documento = $3 returning ${COLUMNS}`;
/** Makes all pending deliveries of an address due now. */
export const ALL_NOW = `update entregas set due_at = $3 where tenant = $1 and webhook = $2 and estado = 'pendente' and due_at > $3`;
const ROTATE = `update webhooks set segredo_anterior = segredo, anterior_ate = $5, segredo = $4
  where tenant = $1 and id = $2 and documento = $3 returning ${COLUMNS}`;

const ENTREGA_COLUMNS = `ordem::text, nota::text, mudanca, cursor, estado, tentativas, due_at, criada_em, entregue_em, registro`;
const ENTREGAS = `select ${ENTREGA_COLUMNS} from entregas where tenant = $1 and webhook = $2 and ($3::text is null or estado = $3)
  and ($4::bigint is null or ordem < $4) order by entregas.ordem desc limit $5`;
const PENDENTES = `select count(*)::int as total from (select 1 from entregas
  where tenant = $1 and webhook = $2 and estado = $3 limit $4) e`;
const AGAIN = `update entregas set estado = 'pendente', due_at = $4, criada_em = $4 where tenant = $1 and webhook = $2
  and estado = 'morta' and ($3::bigint is null or ordem = $3)`;
const SOON = `update webhooks set proxima = least(coalesce(proxima, $3), $3) where tenant = $1 and id = $2`;
/** A trial has its moment as its place, below 0. */
const TRIALS =
  'select count(*)::int as total, max(ordem)::float8 as primeira, min(ordem)::float8 as ultima from entregas where tenant = $1 and webhook = $2 and ordem < $3';
const TRIAL = `insert into entregas (tenant, webhook, ordem, nota, mudanca, estado, due_at, criada_em)
  select tenant, id, $3::bigint, $3::bigint, $5::text, 'pendente', $4::timestamptz, $4::timestamptz from webhooks where tenant = $1 and id = $2
  on conflict (tenant, webhook, ordem) do nothing`;

/** The stored result of an attempt. `em`: ISO 8601. */
export type Tentativa = {
  readonly em: string;
  readonly ms: number;
  readonly status?: number;
  readonly problema?: string;
};

export const ESTADOS_ENTREGA = ['pendente', 'entregue', 'morta'] as const;
export type EstadoEntrega = (typeof ESTADOS_ENTREGA)[number];

export type EntregaRow = {
  readonly ordem: string;
  readonly nota: string;
  readonly mudanca: string | null;
  readonly cursor: string | null;
  readonly estado: EstadoEntrega;
  readonly tentativas: number;
  readonly due_at: Date;
  readonly criada_em: Date;
  readonly entregue_em: Date | null;
  readonly registro: readonly Tentativa[];
};

/** Limit of the count of pending deliveries. */
export const CONTADAS_MAX = 10_000;

type Change = {
  readonly url?: string | undefined;
  readonly tipos?: readonly TipoDeAviso[] | undefined;
  readonly descricao?: string | undefined;
  readonly ativo?: boolean | undefined;
};

/** Records the state of an address that was just written in the audit chain. */
export function tellWebhook(client: PoolClient, tenant: string, id: string): Promise<void> {
  return insertRegistradas(client, tenant, 'webhooks', { which: 't.id = $6', values: [id] });
}

export function webhookStore(pool: Db) {
  return {
    /** The stored address, or the name of the limit that is reached: its document, or the root of it. */
    insert: (tenant: string, webhook: NovoWebhook, most: Most): Promise<WebhookRow | keyof Most> =>
      inTurn(pool, `webhooks ${tenant} ${raizOf(webhook.documento)}`, async (client) => {
        const { documento } = webhook;
        const counted = await client.query<Counted>(COUNT, [tenant, raizOf(documento), documento]);
        const { do_documento, da_raiz } = counted.rows[0]!;
        if (do_documento >= most.documento) return 'documento';
        if (da_raiz >= most.raiz) return 'raiz';
        await client.query(INSERT(tenant, [webhook]));
        await tellWebhook(client, tenant, webhook.id);
        return (await client.query<WebhookRow>(FIND, [tenant, webhook.id])).rows[0]!;
      }),
    find: async (tenant: string, id: string): Promise<WebhookRow | undefined> =>
      (await pool.query<WebhookRow>(FIND, [tenant, id])).rows[0],
    /** Addresses of a document, the oldest first; empty: those of the municipality; undefined: all. */
    list: async (tenant: string, documento: string | undefined): Promise<readonly WebhookRow[]> =>
      (await pool.query<WebhookRow>(LIST, [tenant, documento ?? null])).rows,
    /** A page of the addresses of documents, after an `id`. */
    listOfPartes: async (tenant: string, depois: string, max: number): Promise<readonly WebhookRow[]> =>
      (await pool.query<WebhookRow>(LIST_OF_PARTES, [tenant, depois, max])).rows,
    /** Undefined: the document has no address of this `id`. An address that is switched on again is tried at once. */
    change: (
      tenant: string,
      { id, documento }: Pick<WebhookRow, 'id' | 'documento'>,
      { url, tipos, descricao, ativo }: Change,
      now: number,
    ): Promise<WebhookRow | undefined> =>
      runTransaction(pool, async (client) => {
        const values = [url ?? null, tipos ?? null, descricao ?? null, ativo ?? null, new Date(now)];
        const [row] = (await client.query<WebhookRow>(CHANGE, [tenant, id, documento, ...values])).rows;
        if (row !== undefined) await tellWebhook(client, tenant, id);
        if (row !== undefined && ativo === true) await client.query(ALL_NOW, [tenant, id, new Date(now)]);
        return row;
      }),
    /** Another secret; the earlier one signs as well until a moment (milliseconds). */
    rotate: (
      tenant: string,
      { id, documento }: Pick<WebhookRow, 'id' | 'documento'>,
      segredo: Buffer,
      until: number,
    ): Promise<WebhookRow | undefined> =>
      runTransaction(pool, async (client) => {
        const { rows } = await client.query<WebhookRow>(ROTATE, [tenant, id, documento, segredo, new Date(until)]);
        if (rows[0] !== undefined) await tellWebhook(client, tenant, id);
        return rows[0];
      }),
    /** Deletes an address and all its deliveries. */
    remove: async (tenant: string, { id, documento }: Pick<WebhookRow, 'id' | 'documento'>): Promise<boolean> => {
      const taken = takeAway('webhooks', 'delete from webhooks t where tenant = $1 and id = $2 and documento = $3');
      const isTaken = await runTransaction(pool, async (client) => {
        const { rows } = await client.query<{ item: string }>(taken, [tenant, id, documento]);
        await insertEntrada(client, tenant, folhasApagadas(rows));
        return rows.length > 0;
      });
      if (!isTaken) return false;
      await pool.query('delete from entregas where tenant = $1 and webhook = $2', [tenant, id]);
      return true;
    },
    /** Deliveries of any state, the newest first, before an `ordem`. */
    listEntregas: async (
      tenant: string,
      webhook: string,
      { estado, before, max }: { readonly estado?: EstadoEntrega; readonly before?: string; readonly max: number },
    ): Promise<readonly EntregaRow[]> =>
      (await pool.query<EntregaRow>(ENTREGAS, [tenant, webhook, estado ?? null, before ?? null, max])).rows,
    /** Counts up to {@link CONTADAS_MAX}. */
    countEntregas: async (tenant: string, webhook: string, estado: 'pendente' | 'morta'): Promise<number> =>
      (await pool.query<{ total: number }>(PENDENTES, [tenant, webhook, estado, CONTADAS_MAX])).rows[0]!.total,
    /** Sends deliveries again that were given up, one or all; returns their number. */
    sendAgain: async (tenant: string, webhook: string, ordem: string | undefined, now: number): Promise<number> => {
      const again = (await pool.query(AGAIN, [tenant, webhook, ordem ?? null, new Date(now)])).rowCount ?? 0;
      if (again > 0) await pool.query(SOON, [tenant, webhook, new Date(now)]);
      return again;
    },
    /** Adds a trial message; `livreEm`: the address has its most trials until then (milliseconds). */
    addTrial: (tenant: string, webhook: string, mudanca: string | null, now: number, most: Trials) =>
      addTrial(pool, [tenant, webhook], { mudanca, now }, most),
  };
}

/** Highest numbers of addresses. */
type Most = { readonly documento: number; readonly raiz: number };
type Counted = { readonly do_documento: number; readonly da_raiz: number };

/** The most trials in a time (milliseconds). */
type Trials = { readonly max: number; readonly emMs: number };

/** The trials of a time: their number, and the places of the first and the last. */
type Tried = { readonly total: number; readonly primeira: number; readonly ultima: number | null };

async function addTrial(
  pool: Db,
  of: readonly [string, string],
  { mudanca, now }: { readonly mudanca: string | null; readonly now: number },
  { max, emMs }: Trials,
): Promise<'added' | { readonly livreEm: number }> {
  const added = await inTurn(pool, `ensaios ${of.join(' ')}`, async (client) => {
    const { rows } = await client.query<Tried>(TRIALS, [...of, emMs - now]);
    const { total, primeira, ultima } = rows[0]!;
    if (total >= max) return { livreEm: emMs - primeira };
    // A trial is sent before all other deliveries, and belongs to no note; two of one moment differ.
    await client.query(TRIAL, [...of, Math.min(-now, (ultima ?? 0) - 1), new Date(now), mudanca]);
    return 'added';
  });
  if (added === 'added') await pool.query(SOON, [...of, new Date(now)]);
  return added;
}
