/** The operator's side of the eventos: the list of problems, and the moves by hand. */

import { insertAtos, type NovoAto } from '../../base/book/atos.ts';
import { insertTrail, returningEstado, type Standing } from '../../base/book/claims.ts';
import {
  EVENTO_READ,
  type EventoRow,
  JOIN_NOTA,
  openCancelamento,
  QUEUES,
  readEvento,
} from '../../base/book/evento-rows.ts';
import { dequeue, enqueue, isOfTipo } from '../../base/book/fila.ts';
import { constraintOf } from '../../base/pg/constraint.ts';
import { type Db, dropNul, ONE_BY_ONE, runPipeline } from '../../base/pg/open.ts';
import { quoteWords } from '../../base/pg/sql.ts';
import {
  EVENTO_ANTES_DO_ENVIO,
  EVENTO_MOVES,
  EVENTO_PROBLEMAS,
  type EventoEstado,
  type EventoMove,
  type EventoTrigger,
} from '../../fiscal/evento.ts';
import { movesTo } from '../../fiscal/machine.ts';

/** Moves of an operator. */
export type OperatorTrigger = Extract<
  EventoTrigger,
  'reprocessamento' | 'separacao' | 'retirada' | 'dispensa' | 'arquivamento'
>;

export type MoveResult =
  | { readonly evento: EventoRow }
  /** The state machine has no such move from this state. */
  | { readonly found: EventoEstado }
  /** Reprocessing would create a second open cancellation of the nota, beside this one. */
  | { readonly conflict: 'cancelamento_aberto'; readonly evento: EventoRow }
  /** Reprocessing would cancel a nota that is cancelled already. */
  | { readonly conflict: 'nota_cancelada' };

/** An event that entered its state before this moment (milliseconds) is stuck. */
export type StuckBefore = { readonly pendente: number; readonly aguardando: number };

type EventoCount = {
  readonly estado: EventoEstado;
  /** The events are stuck, or ended without success. */
  readonly temProblema: boolean;
  readonly eventos: number;
};

/** A filter of events with a problem. */
export type ProblemaFilter = {
  /** `id` of a nota. */
  readonly nota?: string | undefined;
  readonly estado?: EventoEstado | undefined;
  /** Code of the environment's answer. */
  readonly codigo?: string | undefined;
  /** Lists refusals that follow from another party's events, in place of the problems. */
  readonly entrePartes?: boolean | undefined;
};

/** Number of events with the same problem. */
export type ProblemaCount = {
  readonly estado: EventoEstado;
  readonly codigo_retorno: string | null;
  readonly eventos: number;
  readonly notas: number;
};

/** An event with a problem; `quantos`: events of its nota with the same problem, including this one. */
type ProblemaRow = EventoRow & { readonly quantos: number };

type ProblemaPage = {
  /** Lines of the page. */
  readonly eventos: readonly ProblemaRow[];
  /** Lines of all pages; zero on a page beyond the last one. */
  readonly linhas: number;
};

export function eventoOperations(pool: Db) {
  return {
    /** Counts the events of a tenant that are under way or have a problem, by state. */
    count: async (tenant: string, before: StuckBefore): Promise<readonly EventoCount[]> => {
      const values = [tenant, new Date(before.pendente), new Date(before.aguardando)];
      return (await pool.query<EventoCount>(COUNT, values)).rows;
    },
    /** Counts events by problem: the gravest first, then the most frequent. */
    countProblemas: async (
      tenant: string,
      before: StuckBefore,
      filter: ProblemaFilter,
    ): Promise<readonly ProblemaCount[]> => {
      const { text, values } = problemas(tenant, filter, before);
      const query = `select estado, codigo_retorno, count(*)::int as eventos, count(distinct nota)::int as notas
        from (${text}) x group by estado, codigo_retorno
        order by array_position($${values.length + 1}::text[], estado), eventos desc, codigo_retorno`;
      return (await pool.query<ProblemaCount>(query, [...values, EVENTO_PROBLEMAS])).rows;
    },
    listProblemas: readProblemas.bind(null, pool),
    archive: archiveEventos.bind(null, pool),
    move: moveEvento.bind(null, pool),
  };
}

/** An event under way for too long: it was not sent, or its nota was not authorised. */
function isStuck(pendente: string, aguardando: string): string {
  return `e.aberto and case e.estado when 'pendente' then e.desde < ${pendente}
  when 'aguardando_autorizacao_nota' then coalesce(e.aguardando_desde, e.desde) < ${aguardando} else false end`;
}

/** The same list as in the partial indexes. */
const STOPPED = quoteWords(EVENTO_PROBLEMAS.filter((estado) => !EVENTO_ANTES_DO_ENVIO.some((one) => one === estado)));
export const IS_IN_VAIN = `not e.aberto and e.estado in (${STOPPED})
  and e.arquivado_em is null and not e.entre_partes`;

const IS_ENTRE_PARTES = 'e.entre_partes and e.arquivado_em is null';

const COUNT = `select estado, problema as "temProblema", count(*)::int as eventos from (
    select e.estado, ${isStuck('$2', '$3')} as problema from eventos e where e.tenant = $1 and e.aberto
    union all
    select e.estado, true from eventos e where e.tenant = $1 and ${IS_IN_VAIN}
  ) x group by estado, problema`;

type Statement = { readonly text: string; readonly values: readonly unknown[] };

/** Events with a problem; a lower `urgencia` is more urgent. Only failed events are selected without `before`. */
function problemas(tenant: string, filter: ProblemaFilter, before?: StuckBefore): Statement {
  const { nota, estado, codigo, entrePartes } = filter;
  const values: unknown[] = [tenant];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const filters = [
    nota === undefined ? '' : ` and e.nota = ${place(nota)}`,
    estado === undefined ? '' : ` and e.estado = ${place(estado)}`,
    codigo === undefined ? '' : ` and e.codigo_retorno = ${place(codigo)}`,
  ].join('');
  const found = (condition: string, urgencia: string): string =>
    `select e.id, e.nota, e.estado, e.codigo_retorno, ${urgencia} as urgencia
      from eventos e where e.tenant = $1 and ${condition}${filters}`;
  const inVain = found(entrePartes ? IS_ENTRE_PARTES : IS_IN_VAIN, '-extract(epoch from e.desde)');
  if (entrePartes || before === undefined) return { text: inVain, values };
  const stuck = isStuck(place(new Date(before.pendente)), place(new Date(before.aguardando)));
  return { text: `${inVain} union all ${found(stuck, 'extract(epoch from e.desde)')}`, values };
}

/**
 * Events with a problem, the gravest first: refused ones from the newest on, stuck ones from the oldest on. Events of one nota with the
 * same problem are one line, unless the filter names the nota.
 */
async function readProblemas(
  pool: Db,
  tenant: string,
  before: StuckBefore,
  filter: ProblemaFilter,
  { from, max }: { readonly from: number; readonly max: number },
): Promise<ProblemaPage> {
  const { text, values } = problemas(tenant, filter, before);
  const at = values.length;
  const inOrder = `array_position($${at + 1}::text[], x.estado), x.urgencia, x.id`;
  const query = `with linhas as (
      select (array_agg(id order by urgencia, id))[1] as id, estado, min(urgencia) as urgencia, count(*)::int as quantos
      from (${text}) p group by nota, estado, codigo_retorno${filter.nota === undefined ? '' : ', id'}
    ), pagina as (
      select x.*, (count(*) over ())::int as linhas from linhas x order by ${inOrder} limit $${at + 2} offset $${at + 3}
    )
    select ${EVENTO_READ}, x.quantos, x.linhas
    from pagina x join eventos e on e.tenant = $1 and e.id = x.id ${JOIN_NOTA} ${QUEUES}
    order by ${inOrder}`;
  type Line = ProblemaRow & { readonly linhas: number };
  const { rows } = await pool.query<Line>(query, [...values, EVENTO_PROBLEMAS, max, from]);
  return { eventos: rows, linhas: rows[0]?.linhas ?? 0 };
}

/** Final states that an operator sets for an undecided event. */
const ENDED = quoteWords([
  movesTo<EventoMove>(EVENTO_MOVES, 'retirada').to,
  movesTo<EventoMove>(EVENTO_MOVES, 'dispensa').to,
]);

/** Each move of an event locks its place in the queue before its row. */
const LOCK_QUEUED = `select 1 from fila f where f.tenant = $1 and ${isOfTipo('evento')} and f.id = $2 for update`;

const MOVE = `with found as (
    select e.id, e.estado,
      e.estado = any ($8::text[]) and not ($4 = 'reprocessamento' and e.cancela and n.estado = 'cancelada') as may
    from eventos e ${JOIN_NOTA} where e.tenant = $1 and e.id = $2 for update of e
  ), moved as (
    update eventos e set estado = $5, desde = case when $5 = found.estado then e.desde else $3 end, aberto = $6,
      aguardando_desde = null, movimentos = e.movimentos + 1,
      -- What the environment once said is not why an operator ended it; of a refusal it stays what the integrator reads.
      mensagem_retorno = case when $4 = 'arquivamento' then e.mensagem_retorno else coalesce($7, e.mensagem_retorno) end,
      codigo_retorno = case when $5 in (${ENDED}) then null else e.codigo_retorno end,
      erros_adn = case when $5 in (${ENDED}) then null else e.erros_adn end,
      arquivado_em = case when $4 = 'arquivamento' then $3 end
    from found where e.tenant = $1 and e.id = found.id and found.may
    returning e.id, e.mes, e.movimentos, ${returningEstado('evento', 'e')}
  )
  select f.estado, m.id, m.mes, m.movimentos, m.dito from found f left join moved m on true`;

/** A moved row; a null `id`: nothing was moved. */
type Moved = (Standing & { readonly movimentos: number }) | { readonly id: null };

/** The operator of a move. `motivo` is for the municipality's trail; the event's trail has the message that it shows. */
type Mover = Pick<NovoAto, 'quem' | 'via' | 'motivo'>;

/** Names of an operator's moves in the trail of the municipality. */
const ACOES: Readonly<Record<OperatorTrigger, string>> = {
  reprocessamento: 'reprocessado',
  separacao: 'separado',
  retirada: 'cancelado',
  dispensa: 'dispensado',
  arquivamento: 'arquivado',
};

/** An operator's action on an event, for the trail of the municipality. */
function actOn(
  id: string,
  trigger: OperatorTrigger,
  em: number,
  de: EventoEstado,
  para: EventoEstado,
  by: Mover,
): NovoAto {
  return {
    ...by,
    em,
    objeto: 'evento',
    chave: id,
    acao: ACOES[trigger],
    antes: { estado: de },
    depois: { estado: para },
  };
}

/**
 * Undefined: there is no such event. The settlement of a worker that holds the event then has no effect. `by` undefined: only in tests of
 * the machine.
 */
async function moveEvento(
  pool: Db,
  tenant: string,
  id: string,
  trigger: OperatorTrigger,
  now: number,
  mensagem: string | undefined,
  by?: Mover,
): Promise<MoveResult | undefined> {
  const { from, to, due } = movesTo<EventoMove>(EVENTO_MOVES, trigger);
  const isDue = due === 'now';
  type Row = { readonly estado: EventoEstado } & Moved;
  const said = { mensagem: dropNul(mensagem), quem: dropNul(by?.quem) };
  const values = [tenant, id, new Date(now), trigger, to, isDue, said.mensagem, from];
  try {
    const row = await runPipeline<Row | undefined>(pool, async (client) => {
      const locked = client.query(LOCK_QUEUED, [tenant, id]);
      const moving = client.query<Row>(MOVE, values);
      const [{ rows }] = await Promise.all([moving, locked]);
      const result = rows[0];
      if (result === undefined || result.id === null) return { result, writes: [] };
      const { mes, movimentos, estado, dito } = result;
      const move = { movimento: movimentos, em: now, de: estado, gatilho: trigger, para: to, ...said, dito };
      const queued = isDue
        ? enqueue(client, tenant, 'evento', [{ id, mes, dueAt: now }])
        : dequeue(client, tenant, 'evento', [id]);
      const atos = by === undefined ? [] : [actOn(id, trigger, now, estado, to, by)];
      const trail = insertTrail(client, tenant, 'evento', [{ id, mes, ...move }]);
      return { result, writes: [trail, queued, insertAtos(client, tenant, atos)] };
    });
    if (row === undefined) return undefined;
    if (row.id === null) return from.includes(row.estado) ? { conflict: 'nota_cancelada' } : { found: row.estado };
  } catch (error) {
    if (constraintOf(error) !== 'eventos_cancelamento_aberto') throw error;
    const self = await readEvento(pool, tenant, id);
    const evento = self && (await openCancelamento(pool, tenant, self.nota));
    // The other cancellation ended between the conflict and this query: the move may be tried again.
    if (evento === undefined) throw error;
    return { conflict: 'cancelamento_aberto', evento };
  }
  const evento = await readEvento(pool, tenant, id);
  return { evento: evento! };
}

/** Files all refused events with a problem, if their number is `expected`; returns their number. */
async function archiveEventos(
  pool: Db,
  tenant: string,
  filter: ProblemaFilter,
  expected: number,
  now: number,
  by: Mover,
): Promise<number> {
  const { from, to, on } = movesTo<EventoMove>(EVENTO_MOVES, 'arquivamento');
  const { text, values } = problemas(tenant, filter);
  const at = (place: number): string => `$${values.length + place}`;
  const query = `with found as (
      ${text} and e.estado = any (${at(1)}::text[]) order by e.id for update
    ), counted as (
      select count(*)::int as eventos from found
    ), moved as (
      update eventos e set arquivado_em = ${at(2)}, movimentos = e.movimentos + 1
      from found x, counted ${ONE_BY_ONE} and e.tenant = $1 and e.id = x.id and counted.eventos = ${at(3)}
      returning e.id, e.mes, e.movimentos, x.estado as de, ${returningEstado('evento', 'e')}
    )
    select c.eventos, m.id, m.mes, m.movimentos, m.de, m.dito from counted c left join moved m on true`;
  type Row = { readonly eventos: number; readonly de: EventoEstado } & Moved;
  return runPipeline(pool, async (client) => {
    const { rows } = await client.query<Row>(query, [...values, from, new Date(now), expected]);
    const moves = rows.flatMap((row) =>
      row.id === null
        ? []
        : [
            {
              ...{ id: row.id, mes: row.mes, movimento: row.movimentos, dito: row.dito },
              em: now,
              de: row.de,
              gatilho: on,
              para: to,
            },
          ],
    );
    const said = { mensagem: dropNul(by.motivo), quem: dropNul(by.quem) };
    const trail = moves.map((move) => ({ ...move, ...said }));
    const atos = moves.map(({ id, de }) => actOn(id, 'arquivamento', now, de, to, by));
    const writes = [insertTrail(client, tenant, 'evento', trail), insertAtos(client, tenant, atos)];
    return { result: rows[0]!.eventos, writes };
  });
}
