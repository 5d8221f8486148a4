/**
 * The contract with the national environment. Its answers are data: only a structured refusal refuses, and every doubt leads to a query.
 * The caller decides how to react to an answer.
 */

import type { EventoNaNota } from '../fiscal/conflitos-evento.ts';
import type { NotaEstado } from '../fiscal/nota.ts';

/** The rehearsal that a sender requested from the local authority with a document (D-60). The national environment ignores it. */
export type ToSimulate = {
  /** The text that is kept with a note or an event, as `writeSimular` of `../fiscal/simular.ts` wrote it. */
  readonly simular?: string | undefined;
  /** The arrival of the note or the event, in milliseconds: durations count from here. Required with `simular`. */
  readonly criado?: number | undefined;
};

/** The facts that a local authority needs to judge a note that replaces another one of this service. */
export type ToJudge = {
  readonly substituida?:
    | {
        readonly chave_acesso: string;
        readonly estado: NotaEstado;
        /** Key in the event that cancelled it. */
        readonly por: string | null;
      }
    | undefined;
};

/** A note that is shared, or queried. */
type NamedNota = ToSimulate & ToJudge & { readonly chave_acesso: string };

export type DocumentToShare = NamedNota & {
  /** The signed document; a local authority does not read it. */
  readonly xml: Uint8Array | undefined;
};

export type EventoAsked = ToSimulate & {
  /** `Id` of its `infEvento`: `EVT`, key, code and sequence. */
  readonly id: string;
  /** The key of its note. */
  readonly chave_acesso: string;
};

/** An event to be shared. */
export type EventoToShare = EventoAsked & {
  /** The signed document; a local authority does not read it. */
  readonly xml: Uint8Array | undefined;
  /** The event itself, for a local authority: it judges by `conflictOf`. */
  readonly evento: EventoNaNota;
  /** The events that stand on the note already, for a local authority. */
  readonly naNota: readonly EventoNaNota[];
};

/** One reason of a refusal, in the words of the ADN. */
export type AdnErro = {
  readonly codigo: string;
  readonly descricao: string;
  readonly complemento?: string | undefined;
};

/**
 * `resposta`: the unchanged answer about this document (`respostasTo`), to be kept. Only persons with a right to the document may see it.
 */
type Answered = { readonly resposta?: string };

/** Every `why` is a short Portuguese text without personal data: it may be stored and shown to an operator. */
export type AdnAnswer = Answered &
  /** `nsu`: the reception number from the ADN (`NsuRecepcao`), if the answer contains it. */
  (
    | { readonly kind: 'accepted'; readonly nsu: string | undefined }
    | { readonly kind: 'refused'; readonly erros: readonly AdnErro[] }
    /** The document may have arrived or not: query before sending again. `erros`: the errors of the answer, if it was readable. */
    | { readonly kind: 'unknown'; readonly why: string; readonly erros?: readonly AdnErro[] }
    /** The document was certainly not accepted. `at`: the time at which an attempt will be answered, in milliseconds, if known. */
    | { readonly kind: 'unavailable'; readonly why: string; readonly at?: number }
    /** The municipality's certificate or permission is wrong: nothing is accepted until an operator corrects it. */
    | { readonly kind: 'misconfigured'; readonly why: string }
  );

/** The additional outcome of a note. */
export type NotaAnswer =
  | AdnAnswer
  /** E1308: a note that replaces another is accepted only after the event on that one. It is sent again later, unchanged. */
  | (Answered & { readonly kind: 'too_early'; readonly erros: readonly AdnErro[] });

/** The additional outcomes of an event. Each of these is a whole answer about this very event. */
export type EventoAnswer =
  | AdnAnswer
  | (Answered &
      /** E1831: the ADN does not know the note (yet). */
      (
        | { readonly kind: 'note_unknown'; readonly erros: readonly AdnErro[] }
        /** E1818: the ADN does not take the type from a municipality. */
        | { readonly kind: 'not_taken_here'; readonly erros: readonly AdnErro[] }
        /** E1805: the ADN has an event with this `Id`. {@link Adn.findEventos} tells whether it is this one. */
        | { readonly kind: 'already_there'; readonly erros: readonly AdnErro[] }
        /**
         * Unknown reasons, or reasons that exclude each other: sending the event again would have the same result. A person must read them.
         */
        | { readonly kind: 'not_understood'; readonly why: string; readonly erros: readonly AdnErro[] }
      ));

export type NotaAsked = NamedNota & {
  /**
   * A lower bound of the note's reception number. It begins as the highest number known when the note was announced, or '0'. Later it is
   * the `place` of the last search.
   */
  readonly nsu_antes: string;
  /** The highest number that is known now. */
  readonly nsu_agora: string;
};

/**
 * The document that the ADN holds for a key, or for the `Id` of an event. `place`: no reception number up to this one is the note's.
 * `goesOn`: the next search continues there.
 */
export type AdnKnowledge =
  | { readonly kind: 'known'; readonly nsu: string | undefined; readonly xml: Uint8Array | undefined }
  | { readonly kind: 'absent'; readonly place?: string }
  | { readonly kind: 'unavailable'; readonly why: string; readonly place?: string; readonly goesOn?: boolean };

/** The log for troubles, with their subjects. */
export type Log = Readonly<Record<'info' | 'warn' | 'error', (about: object, message: string) => void>>;

/**
 * The answer to the later events of a note, unsent, after this answer to the one before them. Undefined: that one was decided, and the next
 * may go.
 */
export function answerToTheNext(answer: EventoAnswer): EventoAnswer | undefined {
  if (answer.kind === 'note_unknown') return { kind: answer.kind, erros: answer.erros };
  if (!['unknown', 'unavailable', 'misconfigured'].includes(answer.kind)) return undefined;
  return { kind: 'unavailable', why: 'um evento anterior da mesma nota ainda não foi decidido' };
}

/** A received event: its `Id` contains the key of its note, its type and its sequence. `em`: in the notation of the ADN. */
export type EventoRecebido = { readonly id: string; readonly em: string | undefined };

/** The documents received of a municipality: keys of notes, events, and the number of other documents; or why they are unknown. */
export type Recebidos =
  | { readonly chaves: readonly string[]; readonly eventos: readonly EventoRecebido[]; readonly outros: number }
  | { readonly problem: string };

export type Adn = {
  /** Whether {@link share} and {@link shareEventos} want the documents themselves. */
  readonly wantsDocuments: boolean;
  /** The number of documents that one claim should take now. */
  readonly batchMax: number;
  /** The maximum number of notes in one {@link find}, besides those of a claim: all of them cost little more than one. */
  readonly searchMax: number;
  /** Shares documents of one municipality; one answer for each key. Never throws for a fault of the other side. */
  share(tenant: string, documents: readonly DocumentToShare[]): Promise<ReadonlyMap<string, NotaAnswer>>;
  /** Asks whether notes are there already; one answer for each key. Never throws for a fault of the other side. */
  find(tenant: string, notas: readonly NotaAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>>;
  /**
   * Shares events of one municipality, and answers for each `Id`. A fault of the ADN is an answer, not an error. Events of one note are
   * sent in the given order. An event without a decision makes the later ones of its note `unavailable`, unsent.
   */
  shareEventos(tenant: string, eventos: readonly EventoToShare[]): Promise<ReadonlyMap<string, EventoAnswer>>;
  /** Asks whether events are there already; one answer for each `Id`. Never throws for a fault of the other side. */
  findEventos(tenant: string, eventos: readonly EventoAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>>;
  /** All documents received of the municipality after a reception number; absent if there is no such list. Never throws either. */
  received?(after: string): Promise<Recebidos>;
  /** Milliseconds until another attempt makes sense; 0 if it does now. */
  pauseMs(): number;
};
