/**
 * The contract with the national environment. Its answers are data: only a structured refusal refuses, every doubt is asked about. What to
 * do about an answer is for who asks.
 */

import type { EventoNaNota } from '../fiscal/conflitos-evento.ts';
import type { NotaEstado } from '../fiscal/nota.ts';

/** What somebody asked the local authority to rehearse with a document (D-60). The national one does not look at it. */
export type ToSimulate = {
  /** The text that is kept with a note or an event, as `writeSimular` of `../fiscal/simular.ts` wrote it. */
  readonly simular?: string | undefined;
  /** When the note or the event came, in milliseconds: durations count from here. Needed beside `simular`. */
  readonly criado?: number | undefined;
};

/** What a local authority must know to judge a note that replaces another one of this service. */
export type ToJudge = {
  readonly substituida?:
    | {
        readonly chave_acesso: string;
        readonly estado: NotaEstado;
        /** Key that the event by which it was cancelled names. */
        readonly por: string | null;
      }
    | undefined;
};

/** A note that is shared, or asked about. */
type NamedNota = ToSimulate & ToJudge & { readonly chave_acesso: string };

export type DocumentToShare = NamedNota & {
  /** The signed document; a local authority does not look at it. */
  readonly xml: Uint8Array | undefined;
};

export type EventoAsked = ToSimulate & {
  /** `Id` of its `infEvento`: `EVT`, key, code and sequence. */
  readonly id: string;
  /** Of its note. */
  readonly chave_acesso: string;
};

/** An event on its way. */
export type EventoToShare = EventoAsked & {
  /** The signed document; a local authority does not look at it. */
  readonly xml: Uint8Array | undefined;
  /** The event itself, for a local authority: it judges by `conflictOf`. */
  readonly evento: EventoNaNota;
  /** What stands on the note already, for a local authority. */
  readonly naNota: readonly EventoNaNota[];
};

/** One reason of a refusal, as the ADN words it. */
export type AdnErro = {
  readonly codigo: string;
  readonly descricao: string;
  readonly complemento?: string | undefined;
};

/** `resposta`: what came about this document, as it came (`respostasTo`), to be kept. It is not shown to who has no right to the document. */
type Answered = { readonly resposta?: string };

/** Every `why` is a short Portuguese text without personal data: it may be stored and shown to an operator. */
export type AdnAnswer = Answered &
  /** `nsu`: the reception number that the ADN gave it (`NsuRecepcao`), when the answer told it. */
  (
    | { readonly kind: 'accepted'; readonly nsu: string | undefined }
    | { readonly kind: 'refused'; readonly erros: readonly AdnErro[] }
    /** It may have arrived or not: ask before sending again. `erros`: what was answered, where that could be read. */
    | { readonly kind: 'unknown'; readonly why: string; readonly erros?: readonly AdnErro[] }
    /** It certainly was not taken. `at`: when a try will be answered, in milliseconds, where that is known. */
    | { readonly kind: 'unavailable'; readonly why: string; readonly at?: number }
    /** The municipality's certificate or its permission: nothing is taken until an operator mends it. */
    | { readonly kind: 'misconfigured'; readonly why: string }
  );

/** What may become of a note besides. */
export type NotaAnswer =
  | AdnAnswer
  /** E1308: a note that replaces another is not taken before the event that says so is on that one. It goes later as it is. */
  | (Answered & { readonly kind: 'too_early'; readonly erros: readonly AdnErro[] });

/** What may become of an event besides. Each of these is a whole answer about this very event. */
export type EventoAnswer =
  | AdnAnswer
  | (Answered &
      /** E1831: the ADN does not know the note (yet). */
      (
        | { readonly kind: 'note_unknown'; readonly erros: readonly AdnErro[] }
        /** E1818: the ADN does not take the type from a municipality. */
        | { readonly kind: 'not_taken_here'; readonly erros: readonly AdnErro[] }
        /** E1805: the ADN has an event of this `Id`. Whether it is this one is asked with {@link Adn.findEventos}. */
        | { readonly kind: 'already_there'; readonly erros: readonly AdnErro[] }
        /** Reasons that nobody knows, or that exclude each other: sending it again would bring the same. For a person to read. */
        | { readonly kind: 'not_understood'; readonly why: string; readonly erros: readonly AdnErro[] }
      ));

export type NotaAsked = NamedNota & {
  /**
   * A reception number above which its own is, if it has one: the highest that was known when it was first announced ('0' when there
   * was none), and later the `place` of the last look.
   */
  readonly nsu_antes: string;
  /** The highest that is known now. */
  readonly nsu_agora: string;
};

/**
 * What the ADN has under a key, or the `Id` of an event. `place`: the number up to which a note surely has none. `goesOn`: the next look
 * goes on there.
 */
export type AdnKnowledge =
  | { readonly kind: 'known'; readonly nsu: string | undefined; readonly xml: Uint8Array | undefined }
  | { readonly kind: 'absent'; readonly place?: string }
  | { readonly kind: 'unavailable'; readonly why: string; readonly place?: string; readonly goesOn?: boolean };

/** Where troubles are told, with what they are about. */
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

/** An event that was received: its `Id` has the key of its note, its type and its sequence. `em`: as the ADN writes it. */
export type EventoRecebido = { readonly id: string; readonly em: string | undefined };

/** What was received of a municipality: keys of notes, events, and how many documents that are neither; or why that is not known. */
export type Recebidos =
  | { readonly chaves: readonly string[]; readonly eventos: readonly EventoRecebido[]; readonly outros: number }
  | { readonly problem: string };

export type Adn = {
  /** Whether {@link share} and {@link shareEventos} want the documents themselves. */
  readonly wantsDocuments: boolean;
  /** Documents that one claim should take now. */
  readonly batchMax: number;
  /** Notes that one {@link find} is for at most, besides those of a claim: all of them cost it little more than one. */
  readonly searchMax: number;
  /** Shares documents of one municipality; one answer for each key. Never throws for what the other side does. */
  share(tenant: string, documents: readonly DocumentToShare[]): Promise<ReadonlyMap<string, NotaAnswer>>;
  /** Asks whether notes are there already; one answer for each key. Never throws for what the other side does. */
  find(tenant: string, notas: readonly NotaAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>>;
  /**
   * Shares events of one municipality; one answer for each `Id`, and never an error for what the other side does. Those of one note go in
   * the order given. After one without a decision the others of its note are `unavailable`, unsent.
   */
  shareEventos(tenant: string, eventos: readonly EventoToShare[]): Promise<ReadonlyMap<string, EventoAnswer>>;
  /** Asks whether events are there already; one answer for each `Id`. Never throws for what the other side does. */
  findEventos(tenant: string, eventos: readonly EventoAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>>;
  /** All that it has received of the municipality after a reception number; absent where there is no such list. Never throws likewise. */
  received?(after: string): Promise<Recebidos>;
  /** Milliseconds until it is worth trying again; 0 when it is open for business. */
  pauseMs(): number;
};
