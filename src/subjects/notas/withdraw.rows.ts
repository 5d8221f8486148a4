/** Withdraws a nota that was never transmitted, at the municipality's request. */

import { insertAtos, type NovoAto } from '../../base/book/atos.ts';
import { insertTrail, returningEstado, type Standing } from '../../base/book/claims.ts';
import { type EventoRow, eventoThatNames } from '../../base/book/evento-rows.ts';
import { dequeue, isOfTipo } from '../../base/book/fila.ts';
import { followRefusal, moveWaitingEventos } from '../../base/book/follow-nota.ts';
import { isKeyOfSameParty } from '../../base/book/substituicao.ts';
import { type Db, dropNul, runTransaction } from '../../base/pg/open.ts';
import { mesOfChave } from '../../fiscal/chave.ts';
import { NOTA_FINAIS, type NotaEstado, notaMove } from '../../fiscal/nota.ts';

/** `mensagem`: the text that the nota shows; the others are for its trail and the municipality's. */
export type Retirada = Pick<NovoAto, 'quem' | 'via'> & { readonly mensagem: string; readonly motivo: string };

export type RetiradaResult =
  | 'retirada'
  | 'desconhecida'
  /** The nota replaces none: nothing can hold it for ever. */
  | 'nao_substitui'
  /** A worker holds the nota now. */
  | 'ocupada'
  /** This state allows no withdrawal. */
  | { readonly found: NotaEstado }
  /** The replaced nota is in a final state, so that this one goes on by itself. */
  | { readonly substituida: NotaEstado }
  /** An event of the replaced nota names this one, and may have cancelled the replaced one. */
  | { readonly evento: EventoRow };

/**
 * The replaced nota is locked first, so that no event on it can name this one. A lock on this nota is not waited for, since its holder may
 * want the other.
 */
export async function withdrawNota(
  pool: Db,
  tenant: string,
  chave: string,
  now: number,
  { mensagem, ...by }: Retirada,
): Promise<RetiradaResult> {
  const mes = mesOfChave(chave);
  const found = await pool.query<{ id: string; id_dps: string; substitui: string | null }>(
    'select id, id_dps, substitui from notas where tenant = $1 and mes = $2 and chave_acesso = $3',
    [tenant, mes, chave],
  );
  if (found.rows[0] === undefined) return 'desconhecida';
  const { id, id_dps, substitui } = found.rows[0];
  if (substitui === null) return 'nao_substitui';
  const propria = isKeyOfSameParty(chave, substitui) ? substitui : '';
  return runTransaction(pool, async (client) => {
    const replaced = await client.query<{ id: string; estado: NotaEstado }>(
      'select id, estado from notas where tenant = $1 and mes = $2 and chave_acesso = $3 for no key update',
      [tenant, mesOfChave(propria), propria],
    );
    // The place in the queue is locked first: a claiming worker locks it before the nota.
    const queued = `select claims from fila f where f.tenant = $1 and ${isOfTipo('nota')} and f.id = $2`;
    const free = await client.query<{ claims: string | null }>(`${queued} for update skip locked`, [tenant, id]);
    const isQueued = free.rows.length > 0 || (await client.query(queued, [tenant, id])).rows.length > 0;
    const own = await client.query<{ estado: NotaEstado }>(
      'select estado from notas where tenant = $1 and mes = $2 and id = $3 for no key update skip locked',
      [tenant, mes, id],
    );
    if (own.rows[0] === undefined || (isQueued && free.rows[0]?.claims !== null)) return 'ocupada';
    const { estado } = own.rows[0];
    const move = notaMove(estado, 'retirada');
    if (move === undefined) return { found: estado };
    const [antiga] = replaced.rows;
    if (antiga !== undefined && NOTA_FINAIS.includes(antiga.estado)) return { substituida: antiga.estado };
    const evento = antiga && (await eventoThatNames(client, tenant, antiga.id, chave));
    if (evento !== undefined) return { evento };
    const moved = await client.query<{ movimentos: number; dito: Standing['dito'] }>(
      `update notas t set estado = $4, mensagem_retorno = $5, movimentos = t.movimentos + 1
        where t.tenant = $1 and t.mes = $2 and t.id = $3 returning t.movimentos, ${returningEstado('nota', 't')}`,
      [tenant, mes, id, move.to, dropNul(mensagem)],
    );
    const made = { de: estado, gatilho: move.on, para: move.to, mensagem: dropNul(by.motivo), quem: dropNul(by.quem) };
    const { movimentos: movimento, dito } = moved.rows[0]!;
    await Promise.all([
      insertTrail(client, tenant, 'nota', [{ id, mes, movimento, em: now, ...made, dito }]),
      dequeue(client, tenant, 'nota', [id]),
      insertAtos(client, tenant, [actOn(chave, now, { de: estado, para: move.to }, by)]),
      client.query('delete from retidas where tenant = $1 and nota = $2', [tenant, id]),
    ]);
    await moveWaitingEventos(client, tenant, now, [{ id, mes, estado: move.to }]);
    await Promise.all(followRefusal(client, tenant, now, [{ id, id_dps, chave_acesso: chave }]));
    return 'retirada';
  });
}

function actOn(
  chave: string,
  em: number,
  { de, para }: { de: NotaEstado; para: NotaEstado },
  by: Omit<Retirada, 'mensagem'>,
): NovoAto {
  return { ...by, em, objeto: 'nota', chave, acao: 'retirada', antes: { estado: de }, depois: { estado: para } };
}
