/**
 * Announce, sign, send, settle: what the worker does with the due events of one tenant.
 *
 * As with notas (`deliver.ts`): claiming commits the announcement, an event found already announced is asked about before it
 * is sent again, and settling writes only what still carries our claim. What differs is that an event has a budget of
 * retries for failures of its own (D-52), and that it never goes before its note.
 */
import type { Adn, AdnErro, AdnKnowledge, EventoAnswer, EventoAsked, EventoToShare } from '../adn/adn.ts';
import { EVENTO_PROFILE } from '../documents/signed.ts';
import { type Signer, signatureElement, signatureValueOf } from '../documents/signing.ts';
import { ANULACAO_REJEICAO, annulsOnlyHere, standingOn } from '../fiscal/conflitos-evento.ts';
import { type ErrosAdn, sanitized } from '../fiscal/erros-adn.ts';
import { type EventoMove, type EventoTrigger, eventoMove, falhaAfter } from '../fiscal/evento.ts';
import { eventoId, signedPartOfEvento, withEventoSignature } from '../fiscal/layout/evento.ts';
import { naNota } from '../flows/na-nota.ts';
import type { World } from '../flows/world.ts';
import type { ClaimedEvento, EventoClaim, EventoSettlement } from '../store/claim-eventos.ts';
import type { Municipio } from '../store/municipios.ts';
import type { EventoOnNota } from '../store/on-notas.ts';
import type { Recebida } from '../store/recepcoes.ts';
import {
  backoff,
  type Delivered,
  jittered,
  LEASE_MS,
  MISCONFIGURED_PAUSE_MS,
  recovered,
  type Signed,
} from './notas.ts';

/** A wake-up by the note's authorisation may be lost with whoever should give it; this look catches what it left (D-51). */
const POLL_MS = 60_000;
/** Before each of the three retries: trouble of some minutes must not use them up, and most of it is over in a moment. */
const RETRY_MS = [1_000, 30_000, 300_000] as const;
/** The longest that an event waits for itself; and one that follows another on a draft, which the note's authorisation wakes. */
export const EVENTO_WAIT_MAX_MS = RETRY_MS[2];
export const EVENTO_DE_RASCUNHO_WAIT_MAX_MS = 3_600_000 + POLL_MS;
/** Events of one claim: each is a question of its own where the national environment takes them one by one. */
const BATCH_MAX = 100;

const NOTHING: Delivered = { delivered: 0, isFull: false, pauseMs: 0 };

/** Delivers one batch of events of a tenant, claimed under a token. Why nothing is sent is told by the notas' delivery, which meets it too. */
export async function deliverEventos(world: World, municipio: Municipio, ownToken?: string): Promise<Delivered> {
  const { tenant } = municipio;
  const transmission = await world.transmission(municipio);
  if ('problem' in transmission) {
    world.log.error({ tenant, problem: transmission.problem }, 'os eventos não podem ser transmitidos e esperam');
    await claimed(world, tenant, BATCH_MAX, false);
    return { ...NOTHING, pauseMs: MISCONFIGURED_PAUSE_MS };
  }
  const { adn, signer } = transmission;
  const max = Math.min(adn.batchMax, BATCH_MAX);
  // While the environment is unreachable nothing is announced, sent or counted (D-52); what waits for its note waits for it.
  const pauseMs = adn.pauseMs();
  if (pauseMs > 0) {
    await claimed(world, tenant, max, false);
    return { ...NOTHING, pauseMs };
  }
  const claim = await claimed(world, tenant, max, true, ownToken);
  const { token, moved } = claim;
  if (claim.eventos.length === 0) return { delivered: 0, isFull: moved >= max, pauseMs: 0 };
  const onlyHere = await waivedHere(world, tenant, claim.eventos);
  const eventos = claim.eventos.filter(({ id }) => !onlyHere.has(id));

  const documents = adn.wantsDocuments
    ? await signedDocuments(world, tenant, eventos, signer)
    : new Map<string, Signed>();
  const announced = eventos.filter(({ found }) => found === 'enviado' || found === 'erro');
  const known =
    announced.length === 0 ? new Map<string, AdnKnowledge>() : await adn.findEventos(tenant, announced.map(asked));

  const answers = new Map<string, EventoAnswer>();
  const held = new Map<string, Recebida>();
  for (const evento of announced) {
    const knowledge = known.get(idOf(evento));
    if (knowledge?.kind === 'known')
      answers.set(idOf(evento), found(world, tenant, evento, knowledge, documents, held));
    else if (knowledge?.kind === 'unavailable') answers.set(idOf(evento), knowledge);
  }
  const toSend = eventos.filter((evento) => !answers.has(idOf(evento)));
  if (toSend.length > 0) {
    const onNotas = await world.store.eventos.listOnNotas(tenant, [...new Set(toSend.map(({ nota }) => nota))]);
    const shared = await adn.shareEventos(
      tenant,
      toSend.map((evento) => toShare(evento, documents.get(evento.id)?.xml, onNotas.get(evento.nota) ?? [])),
    );
    for (const [id, answer] of shared) answers.set(id, answer);
    await askAboutTaken(world, tenant, adn, toSend, { answers, documents, held });
  }

  const settled = world.now();
  const isOpen = adn.pauseMs() > 0;
  const settlements = claim.eventos.map((evento) =>
    onlyHere.has(evento.id)
      ? { id: evento.id, move: moveFromSent('dispensa'), dueAt: undefined, mensagem_retorno: ONLY_HERE }
      : settlementOf(world, evento, answers.get(idOf(evento)), settled, {
          isOpen,
          recebida: held.get(evento.id) ?? { nsu: undefined, assinatura: documents.get(evento.id)?.assinatura },
        }),
  );
  const written = await world.store.eventos.settle(tenant, token, settled, settlements);
  if (written < settlements.length) {
    world.log.warn(
      { tenant, lost: settlements.length - written },
      'respostas de eventos não gravadas: o prazo da reserva havia acabado; os eventos são retomados',
    );
  }
  const misconfigured = [...answers.values()].find(({ kind }) => kind === 'misconfigured');
  if (misconfigured !== undefined && 'why' in misconfigured) {
    world.log.error({ tenant, problem: misconfigured.why }, 'o ADN não aceita os documentos do município');
  }
  return {
    delivered: claim.eventos.length,
    isFull: moved >= max,
    pauseMs: misconfigured === undefined ? 0 : MISCONFIGURED_PAUSE_MS,
  };
}

const ONLY_HERE =
  'A rejeição que este evento anula não está no ADN, que não a recebe de um município (E1818): a anulação também não é enviada, e vale neste município.';

/** Events that the national environment has no use for, by id. Nothing is read unless there is an annulment. */
async function waivedHere(
  world: World,
  tenant: string,
  eventos: readonly ClaimedEvento[],
): Promise<ReadonlySet<string>> {
  const annulments = eventos.filter(({ codigo_tipo_evento }) => codigo_tipo_evento === ANULACAO_REJEICAO);
  if (annulments.length === 0) return new Set();
  const onNotas = await world.store.eventos.listOnNotas(tenant, [...new Set(annulments.map(({ nota }) => nota))]);
  const waived = annulments.filter((evento) => {
    const { codigo_tipo_evento: codigo, autor, campos, chave_acesso } = evento;
    return annulsOnlyHere({ codigo, autor, campos, chave_acesso }, (onNotas.get(evento.nota) ?? []).map(naNota));
  });
  return new Set(waived.map(({ id }) => id));
}

/** What the environment shows of an event is taken for it only when it is what we wrote. */
function found(
  world: World,
  tenant: string,
  evento: ClaimedEvento,
  knowledge: Extract<AdnKnowledge, { kind: 'known' }>,
  documents: ReadonlyMap<string, Signed>,
  held: Map<string, Recebida>,
): EventoAnswer {
  const copy = recovered(knowledge, documents.get(evento.id), EVENTO_PROFILE);
  if (copy === 'another') {
    world.log.error({ tenant, evento: evento.id }, 'o ADN guarda outro documento sob o identificador de um evento');
    return { kind: 'not_understood', why: 'O ADN guarda outro documento sob o identificador deste evento.', erros: [] };
  }
  if (copy !== undefined) held.set(evento.id, copy);
  return { kind: 'accepted', nsu: knowledge.nsu };
}

type Gathered = {
  readonly answers: Map<string, EventoAnswer>;
  readonly documents: ReadonlyMap<string, Signed>;
  readonly held: Map<string, Recebida>;
};

/** What is due: announced, if it may be, or waiting for its note. */
function claimed(
  world: World,
  tenant: string,
  max: number,
  mayAnnounce: boolean,
  token?: string,
): Promise<EventoClaim> {
  const now = world.now();
  return world.store.eventos.claim(tenant, now, now + LEASE_MS, now + POLL_MS, max, mayAnnounce, token);
}

/** E1805: the environment has an event of that `Id`. Whether it is this one is asked, not assumed. */
async function askAboutTaken(
  world: World,
  tenant: string,
  adn: Adn,
  sent: readonly ClaimedEvento[],
  { answers, documents, held }: Gathered,
): Promise<void> {
  const taken = sent.filter((evento) => answers.get(idOf(evento))?.kind === 'already_there');
  if (taken.length === 0) return;
  const known = await adn.findEventos(tenant, taken.map(asked));
  for (const evento of taken) {
    const knowledge = known.get(idOf(evento));
    if (knowledge?.kind === 'known')
      answers.set(idOf(evento), found(world, tenant, evento, knowledge, documents, held));
    // A question without answer is asked again, and no failure of the event: it may well be there.
    else if (knowledge?.kind === 'unavailable') answers.set(idOf(evento), knowledge);
    else world.log.warn({ tenant, evento: evento.id }, 'o ADN diz ter um evento que não mostra');
  }
}

function idOf({ chave_acesso, codigo_tipo_evento, numero_sequencial }: ClaimedEvento): string {
  return eventoId(chave_acesso, codigo_tipo_evento, numero_sequencial);
}

function asked(evento: ClaimedEvento): EventoAsked {
  return { id: idOf(evento), chave_acesso: evento.chave_acesso, ...rehearsalOf(evento) };
}

function rehearsalOf({ simular, criado_em }: ClaimedEvento): { simular?: string; criado?: number } {
  return simular === null ? {} : { simular, criado: criado_em.getTime() };
}

function toShare(evento: ClaimedEvento, xml: Uint8Array | undefined, onNota: readonly EventoOnNota[]): EventoToShare {
  const { codigo_tipo_evento, numero_sequencial, autor, campos } = evento;
  return {
    id: idOf(evento),
    chave_acesso: evento.chave_acesso,
    xml,
    evento: { codigo: codigo_tipo_evento, numero_sequencial, autor, campos },
    naNota: standingOn(onNota.map(naNota)).filter(({ id }) => id !== evento.id),
    ...rehearsalOf(evento),
  };
}

async function signedDocuments(
  world: World,
  tenant: string,
  eventos: readonly ClaimedEvento[],
  signer: Signer | undefined,
): Promise<Map<string, Signed>> {
  const ids = eventos.map(({ id }) => id);
  const documents = new Map<string, Signed>();
  for (const [id, xml] of await world.store.eventos.readXml(tenant, ids)) {
    documents.set(id, signer === undefined ? { xml: Buffer.from(xml), assinatura: undefined } : signed(xml, signer));
  }
  return documents;
}

function signed(xml: string, signer: Signer): Signed {
  const { canonical, id } = signedPartOfEvento(xml);
  const valor = signatureValueOf(canonical, id, signer);
  const certificado = signer.certificate.der;
  const element = signatureElement(canonical, id, { value: valor, certificate: certificado });
  return { xml: Buffer.from(withEventoSignature(xml, element), 'utf8'), assinatura: { valor, certificado } };
}

function settlementOf(
  world: World,
  evento: ClaimedEvento,
  answer: EventoAnswer | undefined,
  now: number,
  { isOpen, recebida }: { readonly isOpen: boolean; readonly recebida: Recebida },
): EventoSettlement {
  const settle = (on: EventoTrigger, more: Omit<EventoSettlement, 'id' | 'move' | 'dueAt'> = {}): EventoSettlement => {
    const move = moveFromSent(on);
    return { id: evento.id, move, dueAt: dueOf(world, evento, move, now), ...more };
  };
  switch (answer?.kind) {
    case 'accepted':
      return settle('conclusao', {
        mensagem_retorno: 'Evento registrado.',
        recebida: { nsu: answer.nsu ?? recebida.nsu, assinatura: recebida.assinatura },
      });
    case 'refused':
      return settle('recusa', told(answer.erros));
    case 'note_unknown':
      return settle('nota_desconhecida', told(answer.erros));
    case 'not_taken_here':
      return settle('dispensa', told(answer.erros));
    case 'not_understood':
      return settle('incompreensao', { ...told(answer.erros), mensagem_retorno: answer.why });
    case 'misconfigured':
      return { ...settle('adiamento', { mensagem_retorno: answer.why }), dueAt: now + MISCONFIGURED_PAUSE_MS };
    case 'unavailable':
      // It was not taken. Of the environment as a whole that counts for nobody; so does a time that it has named itself.
      if (answer.at !== undefined) return { ...settle('adiamento'), dueAt: Math.max(answer.at, now + 1) };
      return isOpen ? settle('adiamento') : settle('adiamento', { mensagem_retorno: answer.why });
    case 'already_there':
      return settle(falhaAfter(evento.reprocessamentos_count), told(answer.erros));
    default: {
      const mensagem_retorno = answer?.why ?? 'o ADN não disse o que foi feito do evento';
      const said = { ...told(answer?.erros ?? []), mensagem_retorno };
      // It may have been taken, and is asked about first. While nobody can be reached it counts for no event (D-52).
      return settle(isOpen ? 'adiamento' : falhaAfter(evento.reprocessamentos_count), said);
    }
  }
}

/** Every outcome is a move from `enviado`, because claiming announced the sending. */
function moveFromSent(on: EventoTrigger): EventoMove {
  const move = eventoMove('enviado', on);
  if (move === undefined) throw new Error(`the event machine has no move ${on} from enviado`);
  return move;
}

function dueOf(world: World, evento: ClaimedEvento, { due, to }: EventoMove, now: number): number | undefined {
  switch (due) {
    case 'never':
      return undefined;
    case 'poll':
      return now + POLL_MS;
    default:
      // A retry of its own, or one more look at what counts for nobody.
      return now + (to === 'erro' ? retryIn(world, evento) : backoff(world, evento.tentativas));
  }
}

function retryIn(world: World, { reprocessamentos_count }: ClaimedEvento): number {
  return jittered(world, RETRY_MS[Math.min(reprocessamentos_count, RETRY_MS.length - 1)]!);
}

/** Code and words of the first reason, and all of them as they may be kept and shown. */
function told(erros: readonly AdnErro[]): Pick<EventoSettlement, 'codigo_retorno' | 'mensagem_retorno' | 'erros_adn'> {
  const [first] = erros;
  return {
    codigo_retorno: first?.codigo,
    mensagem_retorno: first && `${first.descricao}${first.complemento ? ` (${first.complemento})` : ''}`,
    erros_adn: erros.length === 0 ? null : (sanitized({ erros }) as ErrosAdn | null),
  };
}
