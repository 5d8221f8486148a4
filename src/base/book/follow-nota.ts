/** Effects of the decision about a nota: on the events that wait for it, and on the notas that replace it. */
import { EVENTO_ANTES_DO_ENVIO, EVENTO_MOVES, type EventoMove, type EventoTrigger } from '../../fiscal/evento.ts';
import { movesTo } from '../../fiscal/machine.ts';
import type { NotaEstado } from '../../fiscal/nota.ts';
import { asArrays, insertRows, planMergeable } from '../pg/mergeable.ts';
import { ONE_BY_ONE } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planMonthly, planOnce } from '../pg/planned.ts';
import { quoteWords } from '../pg/sql.ts';
import type { Traced } from '../traces/traces.ts';
import { insertTrail, returningEstado, type Standing } from './claims.ts';
import { dequeue, enqueue, groupByMes, isOfTipo, type Ref } from './fila.ts';
import { freeDps } from './identidades.ts';

/**
 * Makes a nota due at once that waits for the end of the one that it replaces. A claimed or locked nota keeps its own time, which is near.
 */
const WAKE_SUBSTITUTAS = planOnce(
  'wake_substitutas',
  `update fila f set due_at = $2
  from (select q.id from unnest($3::text[]) as x (chave)
      join substituicoes s on s.tenant = $1 and s.substituida = x.chave
      join fila q on q.tenant = $1 and ${isOfTipo('nota', 'q')} and q.id = s.nota and q.due_at > $2 and q.claims is null
    where x.chave || '' = x.chave for update of q skip locked) w
  where f.tenant = $1 and ${isOfTipo('nota')} and f.id = w.id`,
);

/** Makes the substitutes of notas with these keys due. This happens in the transaction that brought the notas to their end. */
export function wakeSubstitutas(
  client: PoolClient,
  tenant: string,
  now: number,
  chaves: readonly string[],
): readonly Promise<unknown>[] {
  if (chaves.length === 0) return [];
  return [client.query(WAKE_SUBSTITUTAS([tenant, new Date(now), chaves]))];
}

/** Effects of refused or withdrawn notas: series and number are free (D-20), and their substitutes need not wait. */
export function followRefusal(
  client: PoolClient,
  tenant: string,
  now: number,
  refused: readonly { readonly id: string; readonly id_dps: string; readonly chave_acesso: string }[],
): readonly Promise<unknown>[] {
  if (refused.length === 0) return [];
  const chaves = refused.map(({ chave_acesso }) => chave_acesso);
  return [freeDps(client, tenant, refused), ...wakeSubstitutas(client, tenant, now, chaves)];
}

const INSERT_RECUSADAS = insertRows<Ref & { readonly em: number }>(
  'insert_notas_recusadas',
  'notas_recusadas',
  [
    ['nota bigint', ({ id }) => id],
    ['mes integer', ({ mes }) => mes],
    ['em timestamptz', ({ em }) => new Date(em).toISOString()],
  ],
  'on conflict (tenant, nota) do nothing',
);

/**
 * Lists notas as refused, in the transaction that refuses them. `now`: milliseconds. An index by state would be written with every move of a
 * nota (D-825).
 */
export function insertRecusadas(
  client: PoolClient,
  tenant: string,
  now: number,
  refused: readonly Ref[],
): readonly Promise<unknown>[] {
  if (refused.length === 0) return [];
  return [
    client.query(
      INSERT_RECUSADAS(
        tenant,
        refused.map(({ id, mes }) => ({ id, mes, em: now })),
      ),
    ),
  ];
}

/** The literal states in both statements are those of the partial index. */
const BEFORE_SENDING = `e.estado = any ($STATES::text[]) and e.estado in (${quoteWords(EVENTO_ANTES_DO_ENVIO)})`;

const HAS_WAITING = planMergeable<never>(
  'has_waiting',
  asArrays([]),
  ({ rows, tenant, other }) => `select e.tenant from ${rows} cross join lateral (
    select e.tenant from eventos e where e.tenant = ${tenant} and ${BEFORE_SENDING.replace('$STATES', other)} limit 1) e`,
  (calls) => [[...new Set(calls.flatMap(([states]) => states as readonly string[]))]],
);

/** Reason for waiving an event whose nota was refused or withdrawn; the message of the nota follows. */
const OF_REFUSED_NOTA = 'A nota foi recusada, e o evento não tem o que mudar';

/** $8: the month of the notas. */
const MOVE_WAITING = planMonthly(
  'move_waiting',
  `with found as (
    select e.id, e.estado, f.traceparent, n.mensagem_retorno as motivo from unnest($3::bigint[]) as x (id)
      join notas n on n.tenant = $1 and n.mes = $8 and n.id = x.id and n.estado = $4
      join eventos e on e.tenant = $1 and e.nota = x.id and ${BEFORE_SENDING.replace('$STATES', '$5')}
      join fila f on f.tenant = $1 and ${isOfTipo('evento')} and f.id = e.id
    ${ONE_BY_ONE} for update of f, e
  )
  update eventos e set estado = $6, desde = $2, aberto = $7, aguardando_desde = null, movimentos = e.movimentos + 1,
    mensagem_retorno = case when $6 = 'dispensado' then '${OF_REFUSED_NOTA}' || coalesce(': ' || found.motivo, '.') end,
    codigo_retorno = null, erros_adn = null
  from found where e.tenant = $1 and e.id = found.id
  returning e.id, e.mes, e.movimentos, found.estado as de, found.traceparent, ${returningEstado('evento', 'e')}`,
  8,
);

/** Effects of a decision about a nota on its events that were not sent yet. */
const ON_DECISION = [
  { estado: 'autorizada', on: 'autorizacao_nota' },
  { estado: 'recusada', on: 'recusa_nota' },
] as const satisfies readonly { readonly estado: NotaEstado; readonly on: EventoTrigger }[];

/**
 * Wakes or waives the events of notas in the transaction that settles the notas. `decided`: the state that each nota should have; events of
 * a nota in another state stay. Mostly there are no events, and the cost is one look into an empty index.
 */
export async function moveWaitingEventos(
  client: PoolClient,
  tenant: string,
  now: number,
  decided: readonly (Ref & { readonly estado: NotaEstado })[],
): Promise<void> {
  const decisions = ON_DECISION.flatMap(({ estado, on }) => {
    const notas = decided.filter((nota) => nota.estado === estado);
    const { from, to, due } = movesTo<EventoMove>(EVENTO_MOVES, on);
    return [...groupByMes(notas)].map(([mes, some]) => ({
      estado,
      mes,
      notas: some.map(({ id }) => id),
      on,
      from,
      to,
      due,
    }));
  });
  if (decisions.length === 0) return;
  const from = decisions.flatMap((decision) => decision.from);
  const waiting = await client.query(HAS_WAITING(tenant, [], from));
  if (waiting.rowCount === 0) return;
  const moving = decisions.map(async ({ estado, mes, notas, from, on, to, due }) => {
    const isDue = due === 'now';
    const values = [tenant, new Date(now), notas, estado, from, to, isDue, mes];
    type Moved = Standing & Traced & { readonly movimentos: number; readonly de: string };
    const { rows } = await client.query<Moved>(MOVE_WAITING(values));
    if (rows.length === 0) return;
    const moves = rows.map(({ movimentos, ...row }) => ({
      ...row,
      movimento: movimentos,
      em: now,
      gatilho: on,
      para: to,
    }));
    await Promise.all([
      insertTrail(client, tenant, 'evento', moves),
      isDue
        ? enqueue(
            client,
            tenant,
            'evento',
            rows.map(({ id, mes }) => ({ id, mes, dueAt: now })),
          )
        : dequeue(
            client,
            tenant,
            'evento',
            rows.map(({ id }) => id),
          ),
    ]);
  });
  await Promise.all(moving);
}
