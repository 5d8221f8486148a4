/** Withdrawing a nota that was never transmitted, by the municipality's hand. */
import { NOTA_FINAIS, type NotaEstado, notaMove } from '../fiscal/nota.ts';
import { trailOf } from './claims.ts';
import { type EventoRow, eventoThatNames } from './evento-rows.ts';
import { moveWaitingEventos, wakeSubstitutas } from './follow-nota.ts';
import { type Db, dropNul, runTransaction } from './open.ts';
import { replacesOwn } from './substituicao.ts';

/** `mensagem`: what is shown of the nota; `motivo` and `quem`: for the trail. */
export type Retirada = { readonly mensagem: string; readonly motivo: string; readonly quem: string };

export type RetiradaResult =
  | 'retirada'
  | 'desconhecida'
  /** It replaces none: nothing can keep it for ever. */
  | 'nao_substitui'
  /** A worker holds it just now. */
  | 'ocupada'
  /** From there it cannot be withdrawn. */
  | { readonly found: NotaEstado }
  /** The nota that it replaces is at its end, so that it goes by itself. */
  | { readonly substituida: NotaEstado }
  /** An event of the replaced nota names it, and may have cancelled that one. */
  | { readonly evento: EventoRow };

/**
 * The replaced nota is locked first, so that no event on it comes to name this one. This one is not waited for: who has it may want that
 * one.
 */
export async function withdrawNota(
  pool: Db,
  tenant: string,
  chave: string,
  now: number,
  { mensagem, motivo, quem }: Retirada,
): Promise<RetiradaResult> {
  const found = await pool.query<{ id: string; substitui: string | null; propria: string | null }>(
    `select id, substitui, case when ${replacesOwn('n')} then substitui end as propria
      from notas n where tenant = $1 and chave_acesso = $2`,
    [tenant, chave],
  );
  if (found.rows[0] === undefined) return 'desconhecida';
  const { id, substitui, propria } = found.rows[0];
  if (substitui === null) return 'nao_substitui';
  return runTransaction(pool, async (client) => {
    const replaced = await client.query<{ id: string; estado: NotaEstado }>(
      'select id, estado from notas where tenant = $1 and chave_acesso = $2 for no key update',
      [tenant, propria],
    );
    const own = await client.query<{ estado: NotaEstado; claims: string | null }>(
      'select estado, claims from notas where tenant = $1 and id = $2 for no key update skip locked',
      [tenant, id],
    );
    if (own.rows[0] === undefined || own.rows[0].claims !== null) return 'ocupada';
    const { estado } = own.rows[0];
    const move = notaMove(estado, 'retirada');
    if (move === undefined) return { found: estado };
    const [antiga] = replaced.rows;
    if (antiga !== undefined && NOTA_FINAIS.includes(antiga.estado)) return { substituida: antiga.estado };
    const evento = antiga && (await eventoThatNames(client, tenant, antiga.id, chave));
    if (evento !== undefined) return { evento };
    await client.query(
      `with moved as (
          update notas set estado = $4, due_at = null, mensagem_retorno = $5, movimentos = movimentos + 1
          where tenant = $1 and id = $2 returning id, movimentos
        )
        ${trailOf('nota', { em: '$3', de: '$6', gatilho: '$7', para: '$4', mensagem: '$8', quem: '$9' })}`,
      [tenant, id, new Date(now), move.to, dropNul(mensagem), estado, move.on, dropNul(motivo), dropNul(quem)],
    );
    await Promise.all(await moveWaitingEventos(client, tenant, now, [{ id, estado: move.to }]));
    await Promise.all(wakeSubstitutas(client, tenant, now, [id]));
    return 'retirada';
  });
}
