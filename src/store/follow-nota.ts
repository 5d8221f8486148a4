/** What becomes of others when a nota is decided: of the events that wait for it, and of the notas that replace it. */
import { EVENTO_ANTES_DO_ENVIO, EVENTO_MOVES, type EventoMove, type EventoTrigger } from '../fiscal/evento.ts';
import { movesTo } from '../fiscal/machine.ts';
import { NOTA_FINAIS, type NotaEstado } from '../fiscal/nota.ts';
import { trailOf } from './claims.ts';
import { ONE_BY_ONE } from './open.ts';
import type { PoolClient } from './pg.ts';
import { planOnce } from './planned.ts';
import { quoteWords } from './sql.ts';
import { replacesOwn } from './substituicao.ts';

/**
 * Makes a nota that waits for the end of the one that it replaces due at once. A nota that somebody holds, or is about to, keeps its own
 * time, which is near.
 */
const WAKE_SUBSTITUTAS = planOnce(
  'wake_substitutas',
  `update notas n set due_at = $2
  from (select s.id from unnest($3::bigint[]) as x (id)
      join notas o on o.tenant = $1 and o.id = x.id and o.estado in (${quoteWords(NOTA_FINAIS)})
      join notas s on s.tenant = $1 and s.substitui = o.chave_acesso and ${replacesOwn('s')}
        and s.due_at > $2 and s.claims is null
    ${ONE_BY_ONE} for update of s skip locked) w
  where n.tenant = $1 and n.id = w.id`,
);

/** Makes due what replaces these notas, if they are at their end, in the transaction that brought them there. */
export function wakeSubstitutas(
  client: PoolClient,
  tenant: string,
  now: number,
  notas: readonly string[],
): readonly Promise<unknown>[] {
  if (notas.length === 0) return [];
  return [client.query(WAKE_SUBSTITUTAS([tenant, new Date(now), notas]))];
}

/** In both statements the literal states are those of the partial index. */
const BEFORE_SENDING = `e.estado = any ($STATES::text[]) and e.estado in (${quoteWords(EVENTO_ANTES_DO_ENVIO)})`;

const HAS_WAITING = planOnce(
  'has_waiting',
  `select 1 from eventos e where e.tenant = $1 and ${BEFORE_SENDING.replace('$STATES', '$2')} limit 1`,
);

/** Why an event was waived whose nota was refused, or withdrawn; the nota's own words follow. */
const OF_REFUSED_NOTA = 'A nota foi recusada, e o evento não tem o que mudar';

const MOVE_WAITING = planOnce(
  'move_waiting',
  `with found as (
    select e.id, e.estado, n.mensagem_retorno as motivo from unnest($3::bigint[]) as x (id)
      join notas n on n.tenant = $1 and n.id = x.id and n.estado = $4
      join eventos e on e.tenant = $1 and e.nota = x.id and ${BEFORE_SENDING.replace('$STATES', '$5')}
    ${ONE_BY_ONE} for update of e
  ), moved as (
    update eventos e set estado = $7, desde = $2, due_at = $8, aguardando_desde = null, movimentos = e.movimentos + 1,
      mensagem_retorno = case when $7 = 'dispensado' then '${OF_REFUSED_NOTA}' || coalesce(': ' || found.motivo, '.') end,
      codigo_retorno = null, erros_adn = null
    from found where e.tenant = $1 and e.id = found.id
    returning e.id, e.movimentos, found.estado as de
  )
  ${trailOf('evento', { em: '$2', de: 'de', gatilho: '$6', para: '$7' })}`,
);

/** What a decision about a nota does to its events that were not sent yet. */
const ON_DECISION = [
  { estado: 'autorizada', on: 'autorizacao_nota' },
  { estado: 'recusada', on: 'recusa_nota' },
] as const satisfies readonly { readonly estado: NotaEstado; readonly on: EventoTrigger }[];

/**
 * Wakes or waives the events of notas in the transaction that settles these. `decided`: where each nota should have come to; the events of
 * one that somebody else holds stay. Mostly there are none: one look into an empty index.
 */
export async function moveWaitingEventos(
  client: PoolClient,
  tenant: string,
  now: number,
  decided: readonly { readonly id: string; readonly estado: NotaEstado }[],
): Promise<readonly Promise<unknown>[]> {
  const decisions = ON_DECISION.flatMap(({ estado, on }) => {
    const notas = decided.filter((nota) => nota.estado === estado).map(({ id }) => id);
    return notas.length === 0 ? [] : [{ estado, notas, ...movesTo<EventoMove>(EVENTO_MOVES, on) }];
  });
  if (decisions.length === 0) return [];
  const from = decisions.flatMap((decision) => decision.from);
  const waiting = await client.query(HAS_WAITING([tenant, from]));
  if (waiting.rowCount === 0) return [];
  const at = new Date(now);
  return decisions.map(({ estado, notas, from, on, to, due }) => {
    const values = [tenant, at, notas, estado, from, on, to, due === 'now' ? at : null];
    return client.query(MOVE_WAITING(values));
  });
}
