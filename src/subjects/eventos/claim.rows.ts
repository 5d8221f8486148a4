/** The worker's side of the eventos: taking what is due in the order of each nota, and writing what came of it. */
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

/** Columns of an event that a claim answers. */
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

/** An event that the worker holds for a while; its announcement is counted among its retries, when it is one. */
export type ClaimedEvento = Pick<EventoRow, 'id' | 'mes' | 'chave_acesso' | (typeof CLAIMED)[number]> &
  Traced & {
    /** Where it was found: one that was announced before (`enviado`, `erro`) is asked about before it is sent again. */
    readonly found: EventoEstado;
    readonly tentativas: number;
    readonly simular: string | null;
    /** The highest reception number known when it was first announced. */
    readonly nsu_antes: string;
  };

export type EventoClaim = {
  readonly token: string;
  /** Announced. Those of one nota follow each other in the order of registration, with nothing of the nota left out before. */
  readonly eventos: readonly ClaimedEvento[];
  /** Events moved, with those that only wait for their nota or are waived with it: when it is `max` or more there may be others. */
  readonly moved: number;
};

export type EventoSettlement = Settlement<EventoMove> & {
  /** What was answered before is forgotten. */
  readonly codigo_retorno?: string | undefined;
  readonly erros_adn?: ErrosAdn | null | undefined;
  /** The nota that it cancels with this: it is locked before the event. */
  readonly cancelada?: Ref | undefined;
};

/**
 * SQL: an earlier open event of the nota of an alias, of which `more` is true. Asked of each row by the whole key: as a join it might read
 * all that is open of the tenant, which `offset 0` forbids.
 */
function hasEarlier(tenant: string, e: string, more = 'true'): string {
  return `exists (select 1 from eventos b where b.tenant = ${tenant} and b.nota = ${e}.nota and b.aberto
    and b.ordem < ${e}.ordem and ${more} offset 0)`;
}

/** SQL: whether the row of an alias is the oldest open event of its nota. The others are sent after it. */
function isFirst(tenant: string, e = 'e'): string {
  return `not ${hasEarlier(tenant, e)}`;
}

const DRAFTS = quoteWords(RASCUNHOS);
const BEFORE_SENDING = quoteWords(EVENTO_ANTES_DO_ENVIO);

/** Nothing of the nota `n` is sent yet. */
const IS_DRAFT = `n.estado in (${DRAFTS})`;

/**
 * SQL: whether a claim would take the event `x` of the tenant `m`, which is due: to send it, or to let it wait for its nota. A nota of
 * which nothing is sent yet is in the queue, or held back: so the months need not be asked.
 */
export const EVENTO_IS_TAKEN = `(${isFirst('m.tenant', 'x')} or (x.estado = 'pendente' and (
    exists (select 1 from fila q where q.tenant = m.tenant and ${isOfTipo('nota', 'q')} and q.id = x.nota)
    or exists (select 1 from retidas r where r.tenant = m.tenant and r.nota = x.nota))))`;

/** How long a later event of a draft waits. The authorisation of the nota wakes it earlier. */
const FOLLOWS_MS = 3_600_000;

/** Where each trigger of a claim leads, from wherever it finds the event. */
const LEADS_TO = (['anuncio', 'recusa_nota', 'nota_nao_autorizada'] as const)
  .map((on) => `when '${on}' then '${movesTo<EventoMove>(EVENTO_MOVES, on).to}'`)
  .join(' ');

/** As expressions, so that they lead nobody to an index: queue and event are found by id. */
const IS_DUE = '(f.due_at <= $2) is true';
const IS_PENDENTE = "e.estado || '' = 'pendente'";
/** See {@link ONE_BY_ONE}. */
const EACH_DUE = ONE_BY_ONE.replaceAll('x.', 'd.');

/** Of a due event. */
const DUE_EVENTO = 'e.id, e.nota, e.ordem, e.estado as found, f.tentativas, f.traceparent';
/** Events that are due with their nota; row and queue are locked together, as whoever moves an event writes both. */
const FROM_DUE = `from fila f join eventos e on e.tenant = $1 and e.id = f.id ${JOIN_NOTA}
    where f.tenant = $1 and f.tipo = 'evento' and f.due_at <= $2`;
const LOCK_DUE = 'for update of f, e skip locked for share of n skip locked';

/**
 * `first` and `others`: the first due event of each nota, and those after it that are due too. What follows an event that is not due, or
 * that somebody holds, is left by `ready`. The nota is locked for the moment, so that nobody decides it meanwhile.
 *
 * The order of the events of a draft does not matter, since none is sent: `waiting` takes what follows the first. Those are counted apart,
 * so that a nota with many hinders nobody. Only the first is looked at again soon; the authorisation of the nota wakes them all.
 *
 * An event that is waived has no `ate`, and rests.
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

/** Notas before their eventos: those that this settlement is going to cancel. */
const LOCK_NOTAS = planMonthly(
  'lock_notas',
  `select n.id from unnest($3::bigint[]) as x (id) join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id
  ${ONE_BY_ONE} order by n.id for no key update of n`,
);

/** Triggers with which the authority has given its final word. */
const FINAL_WORDS = quoteWords(['conclusao', 'recusa', 'dispensa'] satisfies EventoTrigger[]);
const CANCELAMENTO = movesTo<NotaMove>(NOTA_MOVES, 'cancelamento');

const CANCEL_NOTAS = planMonthly(
  'cancel_notas',
  `update notas n set estado = '${CANCELAMENTO.to}', data_cancelamento = $4, movimentos = n.movimentos + 1
  from unnest($3::bigint[]) as x (id) ${ONE_BY_ONE} and n.tenant = $1 and n.mes = $2 and n.id = x.id
    and n.estado in (${quoteWords(CANCELAMENTO.from)})
  returning n.id, n.mes, n.movimentos, n.chave_acesso, ${returningEstado('nota', 'n')}`,
);

/** What is told of an event that was settled. */
type Moved = Pick<EventoRow, 'nota' | 'mes_nota' | 'cancela'>;

/** A cancellation that was processed cancels its nota, for the end of which those that replace it wait. */
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
     * Takes due events under a token and announces their sending, in one commit. An event that waits for its nota is due again at `pollAt`,
     * and one of a refused nota is waived. An event is left while an earlier one is under way outside this claim. `mayAnnounce` false:
     * nothing is to be sent.
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
    /** Writes the outcome of the events that still carry the token, cancels their notas, wakes what replaces those; returns how many did. */
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
        'desde = case when x.para = x.de then t.desde else $3 end',
        `processado_em = case when x.gatilho in (${FINAL_WORDS}) then $3 else t.processado_em end`,
        `aguardando_desde = case x.gatilho when 'nota_desconhecida' then coalesce(t.aguardando_desde, $3)
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
