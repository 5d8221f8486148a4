/** The worker's side of the eventos: taking what is due in the order of each nota, and writing what came of it. */
import { randomUUID } from 'node:crypto';
import { CODIGOS_ENTRE_PARTES } from '../fiscal/conflitos-evento.ts';
import type { ErrosAdn } from '../fiscal/erros-adn.ts';
import {
  EVENTO_ANTES_DO_ENVIO,
  EVENTO_MOVES,
  type EventoEstado,
  type EventoMove,
  type EventoTrigger,
} from '../fiscal/evento.ts';
import { movesTo } from '../fiscal/machine.ts';
import { NOTA_MOVES, type NotaMove, RASCUNHOS } from '../fiscal/nota.ts';
import { claimStatement, claimValues, createSettle, type Settlement, trailOf } from './claims.ts';
import type { EventoRow } from './evento-rows.ts';
import { wakeSubstitutas } from './follow-nota.ts';
import { type Db, dropNul, ONE_BY_ONE } from './open.ts';
import { planOnce } from './planned.ts';
import { quoteWords } from './sql.ts';

/** Columns of an event that a claim answers. */
const CLAIMED = [
  'nota',
  'codigo_tipo_evento',
  'numero_sequencial',
  'cancela',
  'tentativas',
  'reprocessamentos_count',
  'autor',
  'campos',
  'criado_em',
] as const satisfies readonly (keyof EventoRow)[];

/** An event that the worker holds for a while; its announcement is counted among its retries, when it is one. */
export type ClaimedEvento = Pick<EventoRow, 'id' | 'chave_acesso' | (typeof CLAIMED)[number]> & {
  /** Where it was found: one that was announced before (`enviado`, `erro`) is asked about before it is sent again. */
  readonly found: EventoEstado;
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
};

/** SQL: whether the row of an alias is the oldest open event of its nota. The others are sent after it. */
function isFirst(tenant: string, e = 'e'): string {
  return `not exists (select 1 from eventos b
    where b.tenant = ${tenant} and b.nota = ${e}.nota and b.due_at is not null and b.ordem < ${e}.ordem)`;
}

const DRAFTS = quoteWords(RASCUNHOS);
const BEFORE_SENDING = quoteWords(EVENTO_ANTES_DO_ENVIO);

/** Nothing of the nota `n` is sent yet. */
const IS_DRAFT = `n.estado in (${DRAFTS})`;

/** SQL: whether a claim would take the event `x` of the tenant `m`, which is due: to send it, or to let it wait for its nota. */
export const EVENTO_IS_TAKEN = `(${isFirst('m.tenant', 'x')} or (x.estado = 'pendente' and exists (
    select 1 from notas n where n.tenant = m.tenant and n.id = x.nota and ${IS_DRAFT})))`;

/** How long a later event of a draft waits. The authorisation of the nota wakes it earlier. */
const FOLLOWS_MS = 3_600_000;

/** Where each trigger of a claim leads, from wherever it finds the event. */
const LEADS_TO = (['anuncio', 'recusa_nota', 'nota_nao_autorizada'] as const)
  .map((on) => `when '${on}' then '${movesTo<EventoMove>(EVENTO_MOVES, on).to}'`)
  .join(' ');

/**
 * `first` and `others`: the first due event of each nota, and those after it that are due too. What follows an event that is not due, or
 * that somebody holds, is left by `ready`. The nota is locked for the moment, so that nobody decides it meanwhile.
 *
 * The order of the events of a draft does not matter, since none is sent: `waiting` takes what follows the first. Those are counted apart,
 * so that a nota with many hinders nobody. Only the first is looked at again soon; the authorisation of the nota wakes them all.
 */
const DUE = `first as (
    select e.id, e.nota, e.ordem, e.estado as found, e.due_at, n.estado as nota_estado, n.chave_acesso
    from eventos e join notas n on n.tenant = $1 and n.id = e.nota
    where e.tenant = $1 and e.due_at <= $2 and ${isFirst('$1')}
      and ($7 or (n.estado in (${DRAFTS}, 'recusada') and e.estado in (${BEFORE_SENDING})))
    order by e.due_at limit $6 for update of e skip locked for share of n skip locked
  ), others as (
    select e.id, e.nota, e.ordem, e.estado as found, f.due_at, f.nota_estado, f.chave_acesso
    from first f join eventos e on e.tenant = $1 and e.nota = f.nota and e.ordem > f.ordem and e.due_at <= $2
    where f.nota_estado not in (${DRAFTS})
    order by f.due_at, f.nota, e.ordem limit $6 for update of e skip locked
  ), waiting as (
    select e.id, e.nota, e.ordem, e.estado as found, e.due_at, n.estado as nota_estado, n.chave_acesso
    from eventos e join notas n on n.tenant = $1 and n.id = e.nota
    where e.tenant = $1 and e.due_at <= $2 and e.estado = 'pendente' and ${IS_DRAFT} and not (${isFirst('$1')})
    order by e.due_at limit $6 for update of e skip locked for share of n skip locked
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
    where not exists (select 1 from eventos b where b.tenant = $1 and b.nota = t.nota and b.due_at is not null
      and b.ordem < t.ordem and b.id not in (select id from taken))
    order by t.due_at, t.nota, t.ordem limit $6
  ), moving as (
    select ready.*, false as follows from ready union all select w.*, 'nota_nao_autorizada', true from waiting w
  ), due as (
    select m.*, case m.gatilho ${LEADS_TO} end as para,
      case m.gatilho when 'anuncio' then $4::timestamptz when 'nota_nao_autorizada'
        then $5::timestamptz + case when m.follows then ${FOLLOWS_MS} else 0 end * interval '1 ms' end as ate
    from moving m
  )`;

const CLAIM = planOnce(
  'claim_eventos',
  claimStatement('evento', {
    due: DUE,
    set: [
      'desde = case when d.para = d.found then t.desde else $2 end',
      "reprocessamentos_count = t.reprocessamentos_count + (d.found = 'erro')::int",
      "ultimo_reprocessamento_em = case when d.found = 'erro' then $2 else t.ultimo_reprocessamento_em end",
      `aguardando_desde = case d.gatilho when 'nota_nao_autorizada' then coalesce(t.aguardando_desde, $2)
      when 'anuncio' then t.aguardando_desde end`,
    ],
    answers: [
      ...CLAIMED.map((column) => `t.${column}`),
      ...['d.chave_acesso', 't.simular', 't.nsu_antes', 'd.gatilho as movido_por'],
    ],
    orderBy: ['d.due_at', 't.nota', 'd.ordem'],
  }),
);

/** Notas before their eventos: those that this settlement is going to cancel. */
const LOCK_NOTAS = planOnce(
  'lock_notas',
  `select n.id from notas n where n.tenant = $1 and n.id in (
    select e.nota from unnest($2::bigint[]) as x (id) join eventos e on e.tenant = $1 and e.id = x.id and e.cancela ${ONE_BY_ONE})
  order by n.id for no key update`,
);

/** Triggers with which the authority has given its final word. */
const FINAL_WORDS = quoteWords(['conclusao', 'recusa', 'dispensa'] satisfies EventoTrigger[]);
const CANCELAMENTO = movesTo<NotaMove>(NOTA_MOVES, 'cancelamento');

/** A cancellation that was processed cancels its nota. */
const CANCELLED = `, cancelled as (
    update notas n set estado = '${CANCELAMENTO.to}', data_cancelamento = $3, movimentos = n.movimentos + 1
    from moved m where m.cancela and m.para = 'processado' and n.tenant = $1 and n.id = m.nota
      and n.estado in (${quoteWords(CANCELAMENTO.from)})
    returning n.id, n.movimentos
  ), trail_of_notas as (
    ${trailOf('nota', { em: '$3', de: `'${CANCELAMENTO.from[0]}'`, gatilho: "'cancelamento'", para: `'${CANCELAMENTO.to}'` }, 'cancelled')}
  )`;

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
      const values = [...claimValues(tenant, now, token, leaseUntil), new Date(pollAt), max, mayAnnounce];
      type Moved = ClaimedEvento & { readonly movido_por: EventoTrigger };
      const { rows } = await pool.query<Moved>(CLAIM(values));
      const eventos = rows.flatMap(({ movido_por, ...evento }) => (movido_por === 'anuncio' ? [evento] : []));
      return { token, eventos, moved: rows.length };
    },
    /** Writes the outcome of the events that still carry the token, cancels their notas, wakes what replaces those; returns how many did. */
    settle: createSettle<EventoSettlement>(pool, 'evento', {
      columns: [
        ['codigo text', ({ codigo_retorno }) => dropNul(codigo_retorno)],
        ['erros text', ({ erros_adn }) => (erros_adn ? JSON.stringify(erros_adn) : null)],
        [
          'entre_partes boolean',
          ({ move, codigo_retorno }) => move.on === 'recusa' && CODIGOS_ENTRE_PARTES.has(codigo_retorno ?? ''),
        ],
      ],
      set: [
        'desde = case when x.para = x.de then t.desde else $3 end',
        `processado_em = case when x.gatilho in (${FINAL_WORDS}) then $3 else t.processado_em end`,
        `aguardando_desde = case x.gatilho when 'nota_desconhecida' then coalesce(t.aguardando_desde, $3)
          when 'adiamento' then t.aguardando_desde end`,
        'codigo_retorno = x.codigo',
        'erros_adn = x.erros::jsonb',
        'entre_partes = x.entre_partes',
      ],
      returning: ', t.nota, t.cancela',
      after: CANCELLED,
      isTold: true,
      write: async (client, { tenant, now, settlements }, settle) => {
        const concluded = settlements.filter(({ move }) => move.on === 'conclusao').map(({ id }) => id);
        const locked =
          concluded.length === 0 ? undefined : client.query<{ id: string }>(LOCK_NOTAS([tenant, concluded]));
        const [result, notas] = await Promise.all([settle(), locked]);
        const cancelled = (notas?.rows ?? []).map(({ id }) => id);
        return { result, writes: wakeSubstitutas(client, tenant, now, cancelled) };
      },
    }),
  };
}
