/**
 * Announce, send, settle: what the worker does with the due notas of one tenant.
 *
 * Claiming commits the announcement. A nota found already announced may have arrived: the ADN is asked about it first,
 * and it is sent again only when the ADN does not know it. Settling writes only what still carries our claim.
 */
import type { AdnAnswer, AdnErro } from '../adn/adn.ts';
import { type NotaMove, type NotaTrigger, notaMove } from '../fiscal/nota.ts';
import type { Municipio } from '../store/municipios.ts';
import type { ClaimedNota, NotaSettlement } from '../store/notas.ts';
import type { World } from './world.ts';

/** Time that a claim lasts; everything that a claim does takes less, or its outcome is no longer ours to write. */
const LEASE_MS = 60_000;
const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MAX_MS = 300_000;

/** `isFull`: there may be more that is due. */
export type Delivered = { readonly delivered: number; readonly isFull: boolean };

/** Delivers one batch of a tenant. */
export async function deliverNotas(world: World, municipio: Municipio): Promise<Delivered> {
  const adn = world.adn(municipio.ambiente);
  const { tenant } = municipio;
  const now = world.now();
  const claim = await world.store.claimNotas(tenant, now, now + LEASE_MS, adn.batchMax);
  if (claim.notas.length === 0) return { delivered: 0, isFull: false };

  const answers = new Map<string, AdnAnswer>();
  const announced = claim.notas.filter((nota) => nota.found === 'transmitida');
  if (announced.length > 0) {
    const known = await adn.find(
      tenant,
      announced.map(({ chave_acesso }) => ({ chave_acesso, nsu_antes: '0' })),
    );
    for (const { chave_acesso } of announced) {
      const knowledge = known.get(chave_acesso);
      if (knowledge?.kind === 'known') answers.set(chave_acesso, { kind: 'accepted', nsu: knowledge.nsu });
      if (knowledge?.kind === 'unavailable') answers.set(chave_acesso, knowledge);
    }
  }
  const toSend = claim.notas.filter(({ chave_acesso }) => !answers.has(chave_acesso));
  if (toSend.length > 0) {
    const documents = adn.wantsDocuments
      ? await world.store.nfseOf(
          tenant,
          toSend.map(({ id }) => id),
        )
      : undefined;
    const shared = await adn.share(
      tenant,
      toSend.map(({ id, chave_acesso }) => ({ chave_acesso, xml: documents?.get(id) })),
    );
    for (const [chave, answer] of shared) answers.set(chave, answer);
  }

  const settled = world.now();
  const settlements = claim.notas.map((nota) => settlementOf(nota, answers.get(nota.chave_acesso), settled));
  const written = await world.store.settleNotas(tenant, claim.token, settled, settlements);
  if (written < settlements.length) {
    world.log.warn({ tenant, lost: settlements.length - written }, 'outcomes not written: the lease had ended');
  }
  return { delivered: claim.notas.length, isFull: claim.notas.length === adn.batchMax };
}

function settlementOf(nota: ClaimedNota, answer: AdnAnswer | undefined, now: number): NotaSettlement {
  const settle = (on: NotaTrigger, mensagem: string | undefined, dueAt: number | undefined): NotaSettlement => ({
    id: nota.id,
    move: moveFromSent(on),
    mensagem,
    dueAt,
  });
  switch (answer?.kind) {
    case 'accepted':
      return settle('autorizacao', undefined, undefined);
    case 'refused':
      return settle('recusa', reasonOf(answer.erros), undefined);
    default:
      return settle('adiamento', undefined, now + backoff(nota.tentativas));
  }
}

/** Every outcome is a move from `transmitida`, because claiming announced the sending. */
function moveFromSent(on: NotaTrigger): NotaMove {
  const move = notaMove('transmitida', on);
  if (move === undefined) throw new Error(`the nota machine has no move ${on} from transmitida`);
  return move;
}

/** Doubles up to its cap; notas wait without a budget (D-52). The attempt that just failed is counted already. */
function backoff(attempts: number): number {
  return Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(attempts - 1, 20), BACKOFF_MAX_MS);
}

/** `mensagem_retorno` of a refused note: code and text of every reason, in the words of the ADN. */
function reasonOf(erros: readonly AdnErro[]): string {
  return erros
    .map(({ codigo, descricao, complemento }) => `${codigo}: ${descricao}${complemento ? ` (${complemento})` : ''}`)
    .join(' | ');
}
