/** The worker's side of the eventos: claims due ones in the order of each nota, and writes their outcomes. */
import { randomUUID } from 'node:crypto';
import { createSettle, insertTrail, returningEstado, type Settlement, type Standing } from '../../base/book/claims.ts';
import { type EventoRow, JOIN_NOTA } from '../../base/book/evento-rows.ts';
import { groupByMes, isOfTipo, type Ref } from '../../base/book/fila.ts';
import { wakeSubstitutas } from '../../base/book/follow-nota.ts';
import { type Db, dropNul, ONE_BY_ONE, runPipeline } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { planMonthly, planOnce } from '../../base/pg/planned.ts';
import { listColumns, quoteWords } from '../../base/pg/sql.ts';
import type { Traced } from '../../base/traces/traces.ts';
import { CODIGOS_ENTRE_PARTES } from '../../fiscal/conflitos-evento.ts';
import type { ErrosAdn } from '../../fiscal/erros-adn.ts';
import {
  EVENTO_ANTES_DO_ENVIO,
  EVENTO_MOVES,
  type EventoEstado,
  type EventoMove,
  type EventoTrigger,
} from '../../fiscal/evento.ts';
import { movesTo } from '../../fiscal/machine.ts';
import { NOTA_MOVES, type NotaMove, RASCUNHOS } from '../../fiscal/nota.ts';

/** Columns of an event that a claim returns. */
const CLAIMED = [
  'nota',
  'mes_nota',
  'codigo_tipo_evento',
  'numero_sequencial',
  'cancela',
  'reprocessamentos_count',
  'autor',
  'campos',
  'criado_em',
] as const satisfies readonly (keyof EventoRow)[];

/** An event that the worker holds for a while; a repeated announcement counts as one of its retries. */
export type ClaimedEvento = Pick<EventoRow, 'id' | 'mes' | 'chave_acesso' | (typeof CLAIMED)[number]> &
  Traced & {
    /** The state before the claim. An event that was announced before (`enviado`, `erro`) is searched before it is sent again. */
    readonly found: EventoEstado;
    readonly tentativas: number;
    readonly simular: string | null;
    /** The highest known reception number at its first announcement. */
    readonly nsu_antes: string;
  };

export type EventoClaim = {
  readonly token: string;
  /** Announced events. Those of one nota are in the order of registration, with no earlier open one left out. */
  readonly eventos: readonly ClaimedEvento[];
  /** Moved events, including those that wait for their nota or are waived with it. `max` or more: there may be others. */
  readonly moved: number;
};

export type EventoSettlement = Settlement<EventoMove> & {
  /** The earlier answer is erased when undefined. */
  readonly codigo_retorno?: string | undefined;
  readonly erros_adn?: ErrosAdn | null | undefined;
  /** The nota that the event cancels: it is locked before the event. */
  readonly cancelada?: Ref | undefined;
};

/**
 * SQL: an earlier open event of the alias's nota for which `more` is true. The lookup by the whole key runs for each row. A join might read
 * all open events of the tenant, which `offset 0` prevents.
 */
function hasEarlier(tenant: string, e: string, more = 'true'): string {
  return `exists (select 1 from eventos b where b.tenant = ${tenant} and b.nota = ${e}.nota and b.aberto
    and b.ordem < ${e}.ordem and ${more} offset 0)`;
}

/** SQL: whether the alias's row is the oldest open event of its nota. The others are sent after it. */
function isFirst(tenant: string, e = 'e'): string {
  return `not ${hasEarlier(tenant, e)}`;
}

const DRAFTS = quoteWords(RASCUNHOS);
const BEFORE_SENDING = quoteWords(EVENTO_ANTES_DO_ENVIO);

/** The nota `n` was not sent yet. */
const IS_DRAFT = `n.estado in (${DRAFTS})`;

/**
 * SQL: whether a claim would take the due event `x` of tenant `m`, to send it or leave it waiting. An unsent nota is in the queue or held,
 * so that no monthly table is read.
 */
export const EVENTO_IS_TAKEN = `(${isFirst('m.tenant', 'x')} or (x.estado = 'pendente' and (
    exists (select 1 from fila q where q.tenant = m.tenant and ${isOfTipo('nota', 'q')} and q.id = x.nota)
    or exists (select 1 from retidas r where r.tenant = m.tenant and r.nota = x.nota))))`;

/** The wait of a later event of a draft. The authorisation of the nota wakes it earlier. */
const FOLLOWS_MS = 3_600_000;

/** The target state of each trigger of a claim, for any state of the event. */
const LEADS_TO = (['anuncio', 'recusa_nota', 'nota_nao_autorizada'] as const)
  .map((on) => `when '${on}' then '${movesTo<EventoMove>(EVENTO_MOVES, on).to}'`)
  .join(' ');

/** Expressions, so that the planner does not choose an index for them: queue and event are found by id. */
const IS_DUE = '(f.due_at <= $2) is true';
const IS_PENDENTE = "e.estado || '' = 'pendente'";
/** See {@link ONE_BY_ONE}. */
const EACH_DUE = ONE_BY_ONE.replaceAll('x.', 'd.');

/** Columns of a due event. */
const DUE_EVENTO = 'e.id, e.nota, e.ordem, e.estado as found, f.tentativas, f.traceparent';
/** Due events with their nota; row and queue are locked together, since each move of an event writes both. */
const FROM_DUE = `from fila f join eventos e on e.tenant = $1 and e.id = f.id ${JOIN_NOTA}
    where f.tenant = $1 and f.tipo = 'evento' and f.due_at <= $2`;
const LOCK_DUE = 'for update of f, e skip locked for share of n skip locked';

/**
 * `first` and `others`: the first due event of each nota, and its later due events. `ready` drops events after one that is not due or is
 * locked. The nota is share-locked, so that its state does not change meanwhile.
 *
 * The order of a draft's events does not matter, since none is sent: `waiting` takes those after the first. They have a limit of their own,
 * so that a nota with many events delays no other. Only the first is checked again soon; the authorisation of the nota wakes them all.
 *
 * A waived event has no `ate`, and rests.
 */
const CLAIM = planOnce(
  'claim_eventos',
  `with first as (
    select ${DUE_EVENTO}, f.due_at, n.estado as nota_estado, n.chave_acesso
    ${FROM_DUE} and ${isFirst('$1')}
      and ($7 or (n.estado in (${DRAFTS}, 'recusada') and e.estado in (${BEFORE_SENDING})))
    order by f.due_at limit $6 ${LOCK_DUE}
  ), others as (
    select ${DUE_EVENTO}, p.due_at, p.nota_estado, p.chave_acesso
    from first p join eventos e on e.tenant = $1 and e.nota = p.nota and e.aberto and e.ordem > p.ordem
      join fila f on f.tenant = $1 and ${isOfTipo('evento')} and f.id = e.id and ${IS_DUE}
    where p.nota_estado not in (${DRAFTS})
    order by p.due_at, p.nota, e.ordem limit $6 for update of f, e skip locked
  ), waiting as (
    select ${DUE_EVENTO}, f.due_at, n.estado as nota_estado, n.chave_acesso
    ${FROM_DUE} and ${IS_PENDENTE} and ${IS_DRAFT} and ${hasEarlier('$1', 'e')}
    order by f.due_at limit $6 ${LOCK_DUE}
  ), taken as (
    select * from first union all select * from others
  ), ready as (
    select t.*, case
        when t.found not in (${BEFORE_SENDING}) then 'anuncio'
        when t.nota_estado = 'recusada' then 'recusa_nota'
        when t.nota_estado in (${DRAFTS}) then 'nota_nao_autorizada'
        else 'anuncio'
      end as gatilho
    from taken t
    where not ${hasEarlier('$1', 't', 'b.id not in (select id from taken)')}
    order by t.due_at, t.nota, t.ordem limit $6
  ), moving as (
    select ready.*, $5::timestamptz as espera from ready
    union all select w.*, 'nota_nao_autorizada', $8::timestamptz from waiting w
  ), due as (
    select m.*, case m.gatilho ${LEADS_TO} end as para,
      case m.gatilho when 'anuncio' then $4::timestamptz when 'nota_nao_autorizada' then m.espera end as ate
    from moving m
  ), queued as (
    update fila f set due_at = d.ate, claims = case d.gatilho when 'anuncio' then $3::uuid end,
      tentativas = f.tentativas + (d.gatilho = 'anuncio')::int
    from due d ${EACH_DUE} and f.tenant = $1 and ${isOfTipo('evento')} and f.id = d.id and d.ate is not null
  ), rested as (
    delete from fila f using due d ${EACH_DUE} and f.tenant = $1 and ${isOfTipo('evento')} and f.id = d.id and d.ate is null
  ), known as (
    select coalesce((select nsu from recepcoes_adn where tenant = $1), 0) as nsu
  ), moved as (
    update eventos t set estado = d.para, aberto = d.ate is not null, movimentos = t.movimentos + 1,
      nsu_antes = case d.gatilho when 'anuncio' then coalesce(t.nsu_antes, known.nsu) end,
      desde = case when d.para = d.found then t.desde else $2 end,
      reprocessamentos_count = t.reprocessamentos_count + (d.found = 'erro')::int,
      ultimo_reprocessamento_em = case when d.found = 'erro' then $2 else t.ultimo_reprocessamento_em end,
      aguardando_desde = case d.gatilho when 'nota_nao_autorizada' then coalesce(t.aguardando_desde, $2)
        when 'anuncio' then t.aguardando_desde end
    from due d, known ${EACH_DUE} and t.tenant = $1 and t.id = d.id
    returning t.id, t.mes, t.movimentos, d.found, d.gatilho, d.para, d.tentativas + 1 as tentativas, d.chave_acesso,
      ${listColumns('t', CLAIMED)}, t.simular, t.nsu_antes, d.traceparent, d.due_at, d.ordem,
      ${returningEstado('evento', 't')}
  )
  select id, mes, movimentos, found, gatilho, para, tentativas, chave_acesso, ${CLAIMED.join(', ')}, simular, nsu_antes, traceparent, dito
  from moved order by due_at, nota, ordem`,
);

/** Locks notas before their eventos: those that this settlement is going to cancel. */
const LOCK_NOTAS = planMonthly(
  'lock_notas',
  `select n.id from unnest($3::bigint[]) as x (id) join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id
  ${ONE_BY_ONE} order by n.id for no key update of n`,
);

/** Triggers of the authority's final decision. */
const FINAL_WORDS = quoteWords(['conclusao', 'recusa', 'dispensa'] satisfies EventoTrigger[]);
const CANCELAMENTO = movesTo<NotaMove>(NOTA_MOVES, 'cancelamento');

const CANCEL_NOTAS = planMonthly(
  'cancel_notas',
  `update notas n set estado = '${CANCELAMENTO.to}', data_cancelamento = $4, movimentos = n.movimentos + 1
  from unnest($3::bigint[]) as x (id) ${ONE_BY_ONE} and n.tenant = $1 and n.mes = $2 and n.id = x.id
    and n.estado in (${quoteWords(CANCELAMENTO.from)})
  returning n.id, n.mes, n.movimentos, n.chave_acesso, ${returningEstado('nota', 'n')}`,
);

/** The columns of a settled event that are returned. */
type Moved = Pick<EventoRow, 'nota' | 'mes_nota' | 'cancela'>;

/** A processed cancellation cancels its nota and wakes the substitutes that wait for this. */
async function cancelNotas(
  client: PoolClient,
  tenant: string,
  now: number,
  notas: readonly (Ref & Traced)[],
): Promise<readonly Promise<unknown>[]> {
  type Row = Standing & { readonly movimentos: number; readonly chave_acesso: string };
  const cancelled = [...groupByMes(notas)].map(async ([mes, some]) => {
    const values = [tenant, mes, some.map(({ id }) => id), new Date(now)];
    return (await client.query<Row>(CANCEL_NOTAS(values))).rows;
  });
  const rows = (await Promise.all(cancelled)).flat();
  const { on: gatilho, from, to: para } = CANCELAMENTO;
  const moves = rows.map(({ id, mes, movimentos, dito }) => {
    const { traceparent } = notas.find((nota) => nota.id === id)!;
    return { id, mes, movimento: movimentos, em: now, de: from[0]!, gatilho, para, dito, traceparent };
  });
  const chaves = rows.map(({ chave_acesso }) => chave_acesso);
  return [insertTrail(client, tenant, 'nota', moves), ...wakeSubstitutas(client, tenant, now, chaves)];
}

export function eventoClaims(pool: Db) {
  return {
    /**
     * Takes due events under a token and announces them, in one commit. An event that waits for its nota is due again at `pollAt`, and one
     * of a refused nota is waived. An event stays while an earlier one is under way outside this claim. `mayAnnounce` false: no event is to
     * be sent.
     */
    claim: async (
      tenant: string,
      now: number,
      leaseUntil: number,
      pollAt: number,
      max: number,
      mayAnnounce: boolean = true,
      token: string = randomUUID(),
    ): Promise<EventoClaim> => {
      const waits = [pollAt, pollAt + FOLLOWS_MS].map((at) => new Date(at));
      const values = [tenant, new Date(now), token, new Date(leaseUntil), waits[0], max, mayAnnounce, waits[1]];
      type Row = ClaimedEvento &
        Standing & {
          readonly movimentos: number;
          readonly gatilho: EventoTrigger;
          readonly para: EventoEstado;
        };
      return runPipeline(pool, async (client) => {
        const { rows } = await client.query<Row>(CLAIM(values));
        const moves = rows.map(({ id, mes, movimentos, found, gatilho, para, dito, traceparent }) => {
          return { id, mes, movimento: movimentos, em: now, de: found, gatilho, para, dito, traceparent };
        });
        const eventos = rows.flatMap(({ movimentos: _, dito: _told, gatilho, para: _to, ...evento }) =>
          gatilho === 'anuncio' ? [evento] : [],
        );
        const result = { token, eventos, moved: rows.length };
        return { result, writes: [insertTrail(client, tenant, 'evento', moves)] };
      });
    },
    /**
     * Writes the outcomes of events that still have the token, cancels their notas, and wakes the substitutes. Returns how many events had
     * it.
     */
    settle: createSettle<EventoSettlement, Moved>(pool, 'evento', {
      columns: [
        ['codigo text', ({ codigo_retorno }) => dropNul(codigo_retorno)],
        ['erros text', ({ erros_adn }) => (erros_adn ? JSON.stringify(erros_adn) : null)],
        [
          'entre_partes boolean',
          ({ move, codigo_retorno }) => move.on === 'recusa' && CODIGOS_ENTRE_PARTES.has(codigo_retorno ?? ''),
        ],
      ],
      set: [
        'aberto = x.due is not null',
        'desde = case when x.para = x.de then t.desde else x.agora end',
        `processado_em = case when x.gatilho in (${FINAL_WORDS}) then x.agora else t.processado_em end`,
        `aguardando_desde = case x.gatilho when 'nota_desconhecida' then coalesce(t.aguardando_desde, x.agora)
          when 'adiamento' then t.aguardando_desde end`,
        'codigo_retorno = x.codigo',
        'erros_adn = x.erros::jsonb',
        'entre_partes = x.entre_partes',
      ],
      returning: ['t.nota', 't.mes_nota', 't.cancela'],
      before: (client, { tenant, settlements }) => {
        const meses = groupByMes(settlements.flatMap(({ cancelada }) => cancelada ?? []));
        const inOrder = [...meses].sort(([one], [other]) => one - other);
        return Promise.all(
          inOrder.map(([mes, some]) => client.query(LOCK_NOTAS([tenant, mes, some.map(({ id }) => id)]))),
        );
      },
      after: async (client, { tenant, now }, moved) => {
        const cancelled = moved.filter(({ cancela, para }) => cancela && para === 'processado');
        if (cancelled.length === 0) return [];
        const notas = cancelled.map(({ nota, mes_nota, traceparent }) => ({ id: nota, mes: mes_nota, traceparent }));
        return cancelNotas(client, tenant, now, notas);
      },
    }),
  };
}
