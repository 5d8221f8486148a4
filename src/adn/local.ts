/**
 * The local authority of the sandbox, with which nothing leaves the host (D-60). It authorises each note, unless that note replaces one
 * that was already replaced or cancelled. It accepts each event that the national matrix allows.
 *
 * It stores nothing. The request for a rehearsal travels with the document (D-60). An answer depends on that request, on the document's
 * age, and on whether the document is sent or queried.
 */
import { conflictOf } from '../fiscal/conflitos-evento.ts';
import { readSimular, SIMULAR_MAX_MS, type Simulacao } from '../fiscal/simular.ts';
import {
  type Adn,
  type AdnAnswer,
  type AdnKnowledge,
  answerToTheNext,
  type DocumentToShare,
  type EventoAnswer,
  type EventoToShare,
  type NotaAnswer,
  type ToJudge,
  type ToSimulate,
} from './adn.ts';
import { meaningOf, NOT_TAKEN_HERE, NOTE_UNKNOWN } from './wire.ts';

const BATCH_MAX = 500;
/** Moments are in whole seconds, and clocks differ. */
const AHEAD_MS = 5_000;
/** An event may wait 24 hours for its note before the client must ask for help; this time is longer. */
const NOTE_UNKNOWN_MAX_MS = 25 * 3_600_000;

/** `now`: milliseconds since 1970. */
export function localAdn(now: () => number = Date.now): Adn {
  return {
    wantsDocuments: false,
    batchMax: BATCH_MAX,
    searchMax: 0,
    share: async (_tenant, documents) =>
      new Map(documents.map((document) => [document.chave_acesso, decideNota(document, now())])),
    find: async (_tenant, notas) =>
      new Map(
        notas.map((nota) => [nota.chave_acesso, objectionTo(nota) === undefined ? knowledgeOf(nota, now()) : ABSENT]),
      ),
    shareEventos: async (_tenant, eventos) => decideEventos(eventos, now()),
    findEventos: async (_tenant, eventos) => new Map(eventos.map((evento) => [evento.id, knowledgeOf(evento, now())])),
    pauseMs: () => 0,
  };
}

const ACCEPTED: AdnAnswer = { kind: 'accepted', nsu: undefined };
const ABSENT: AdnKnowledge = { kind: 'absent' };

/** Only the answer to an accepted document can be lost for good: a refusal would be sent again. */
function decideNota(document: DocumentToShare, now: number): NotaAnswer {
  const instead = rehearseNota(document, now);
  const objection = objectionTo(document);
  if (objection === undefined) return instead ?? ACCEPTED;
  return instead === undefined || (instead.kind === 'unknown' && isLost(document)) ? objection : instead;
}

/** The objection of the national rules to a note that replaces another, after its waiting time: E0044, E0046 and E1310. */
function objectionTo({
  chave_acesso,
  substituida,
}: ToJudge & { readonly chave_acesso: string }): AdnAnswer | undefined {
  if (substituida === undefined) return undefined;
  const { chave_acesso: chave, estado, por } = substituida;
  const refused = (codigo: string, descricao: string): AdnAnswer => ({
    kind: 'refused',
    erros: [{ codigo, descricao }],
  });
  if (estado === 'recusada') return refused('E0044', `A nota substituída, ${chave}, foi recusada e não existe.`);
  if (estado !== 'cancelada' || por === chave_acesso) return undefined;
  if (por === null) {
    return refused('E0046', `A nota ${chave} foi cancelada sem substituta, e uma nota cancelada não se substitui.`);
  }
  return refused(
    'E1310',
    `O evento cancelamento_por_substituicao da nota ${chave} traz a chave de outra nota, ${por}.`,
  );
}

/** Events in the given order: an accepted one stands on the note for those after it, and an undecided one delays them. */
function decideEventos(eventos: readonly EventoToShare[], now: number): Map<string, EventoAnswer> {
  const answers = new Map<string, EventoAnswer>();
  const accepted = new Map<string, EventoToShare['evento'][]>();
  const heldUp = new Map<string, EventoAnswer>();
  for (const one of eventos) {
    if (answers.has(one.id)) continue;
    const { chave_acesso, evento } = one;
    const before = accepted.get(chave_acesso) ?? [];
    const ahead = heldUp.get(chave_acesso);
    const instead = rehearseEvento(one, now);
    if (ahead !== undefined) answers.set(one.id, ahead);
    else if (instead !== undefined && !(instead.kind === 'unknown' && isLost(one))) {
      answers.set(one.id, instead);
      const waits = answerToTheNext(instead);
      if (waits !== undefined) heldUp.set(chave_acesso, waits);
    } else {
      // Only the answer to an accepted document can be lost for good: a refusal would be sent again.
      const verdict = judgeEvento(one, before);
      answers.set(one.id, verdict.kind === 'accepted' ? (instead ?? verdict) : verdict);
      if (verdict.kind === 'accepted') accepted.set(chave_acesso, [...before, evento]);
    }
  }
  return answers;
}

function isLost(document: ToSimulate): boolean {
  const simulacao = simulacaoOf(document);
  return simulacao?.respostaPerdida === true && simulacao.rejeita === undefined;
}

function judgeEvento(
  { chave_acesso, evento, naNota }: EventoToShare,
  accepted: readonly EventoToShare['evento'][],
): EventoAnswer {
  const conflict = conflictOf([...naNota, ...accepted], { ...evento, chave_acesso });
  if (conflict === undefined) return ACCEPTED;
  return { kind: 'refused', erros: [{ codigo: conflict.codigo, descricao: conflict.mensagem }] };
}

// Rehearsals.

/** The answer to a document in place of a decision; undefined if the authority decides. */
function rehearse(document: ToSimulate, now: number): AdnAnswer | undefined {
  const simulacao = simulacaoOf(document);
  if (simulacao === undefined) return undefined;
  const criado = sinceOf(document, now);
  const { rejeita, respostaPerdida } = simulacao;
  const waiting = notYet(simulacao, criado, now);
  if (waiting !== undefined) return waiting;
  if (rejeita !== undefined) return refusal(rejeita, criado, now);
  return respostaPerdida && { kind: 'unknown', why: 'a resposta do ADN se perdeu (simulado)' };
}

/** A note that is rehearsed as too early waits, and is accepted in the end. */
function rehearseNota(document: ToSimulate, now: number): NotaAnswer | undefined {
  const answer = rehearse(document, now);
  if (answer?.kind !== 'refused' || meaningOf(answer.erros[0]!.codigo) !== 'early') return answer;
  const { erros } = answer;
  return now - sinceOf(document, now) < SIMULAR_MAX_MS ? { kind: 'too_early', erros } : undefined;
}

function rehearseEvento(document: EventoToShare, now: number): EventoAnswer | undefined {
  const answer = rehearse(document, now);
  if (answer?.kind !== 'refused') return answer;
  const { erros } = answer;
  const codigo = erros[0]?.codigo;
  if (codigo === NOT_TAKEN_HERE) return { kind: 'not_taken_here', erros };
  if (codigo !== NOTE_UNKNOWN) return answer;
  return now - sinceOf(document, now) < NOTE_UNKNOWN_MAX_MS ? { kind: 'note_unknown', erros } : undefined;
}

/** The arrival of a document. A time in the future means that the clock was set back since: the requested rehearsal is over. */
function sinceOf({ criado = 0 }: ToSimulate, now: number): number {
  return criado <= now + AHEAD_MS ? criado : Number.NEGATIVE_INFINITY;
}

function simulacaoOf({ simular }: ToSimulate): Simulacao | undefined {
  return simular === undefined ? undefined : readSimular(simular).simulacao;
}

function notYet(
  { atrasoMs = 0, indisponivelMs = 0 }: Simulacao,
  criado: number,
  now: number,
): Extract<AdnAnswer, { readonly kind: 'unavailable' }> | undefined {
  if (now < criado + indisponivelMs) return { kind: 'unavailable', why: 'o ADN não está respondendo (simulado)' };
  if (now >= criado + atrasoMs) return undefined;
  return { kind: 'unavailable', why: 'o ADN ainda não decidiu (simulado)', at: criado + atrasoMs };
}

/** Codes without a decision do not last for ever: a sender that repeats until there is a decision must come to an end. */
function refusal(codigo: string, criado: number, now: number): AdnAnswer | undefined {
  if (meaningOf(codigo) !== 'passing') {
    return { kind: 'refused', erros: [{ codigo, descricao: 'Recusa simulada, pedida por quem enviou o documento.' }] };
  }
  if (now - criado >= SIMULAR_MAX_MS) return undefined;
  return {
    kind: 'unknown',
    why: `o ADN está em manutenção ou com erro interno (${codigo}, simulado)`,
    erros: [{ codigo, descricao: 'Falha simulada, pedida por quem enviou o documento.' }],
  };
}

/** Nothing is stored, so only a document with a lost answer counts as received, and is known to queries. */
function knowledgeOf(asked: ToSimulate, now: number): AdnKnowledge {
  const simulacao = simulacaoOf(asked);
  if (simulacao === undefined) return { kind: 'absent' };
  const waiting = notYet(simulacao, sinceOf(asked, now), now);
  if (waiting !== undefined && waiting.at === undefined) return { kind: 'unavailable', why: waiting.why };
  return waiting === undefined && isLost(asked)
    ? { kind: 'known', nsu: undefined, xml: undefined }
    : { kind: 'absent' };
}
