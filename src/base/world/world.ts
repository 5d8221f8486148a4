/** What a flow may touch: the one parameter that all of them share. */
import type { Adn } from '../../adn/adn.ts';
import type { Signer } from '../../documents/signing.ts';
import type { Trust } from '../../documents/trust.ts';
import type { Store } from '../../wiring/store.ts';
import type { Municipio } from '../book/municipios.ts';

/** A message to an address that somebody has registered. */
export type PedidoDeAviso = {
  /** Of the address, which shares what it may with all others of its host. */
  readonly id: string;
  /** Whose it is: a document of a municipality, or the municipality. */
  readonly dono: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly corpo: string;
  /** Milliseconds since 1970, which no sandbox moves. */
  readonly agora: number;
  /** Rehearsals take nothing of what production may. */
  readonly isEnsaio: boolean;
  /** It asks whether messages are wanted, and nobody has said so yet. */
  readonly isDesafio: boolean;
};

/**
 * What came of a message: the status that was answered, with the beginning of the body where it was asked whether messages are wanted; why
 * there is none, in Portuguese; or in how long it is the turn of its host, to which nothing was sent.
 */
export type RespostaDeAviso =
  | { readonly status: number; readonly corpo?: string }
  | { readonly problema: string }
  | { readonly adiadoMs: number };

export type PostAviso = (pedido: PedidoDeAviso) => Promise<RespostaDeAviso>;

export type Log = {
  /** What is of use to nobody but a developer; absent: it is not kept. */
  debug?(about: object, message: string): void;
  info(about: object, message: string): void;
  warn(about: object, message: string): void;
  error(about: object, message: string): void;
};

export type Transmission = {
  readonly adn: Adn;
  /** Who signs what is shared; undefined where nothing leaves the host (D-35). */
  readonly signer: Signer | undefined;
};

/** `problem`: for the operator, in Portuguese. */
export type NoTransmission = { readonly problem: string };

export type World = {
  readonly store: Store;
  /** How notes of a municipality reach the national environment, or why they cannot. */
  readonly transmission: (municipio: Municipio) => Promise<Transmission | NoTransmission>;
  /** Whose certificates a municipality believes. */
  readonly trust: (municipio: Municipio) => Trust;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Decimal digits from a cryptographic source, at most 14 at a time. */
  readonly randomDigits: (count: number) => string;
  readonly log: Log;
  /** Version and commit of this program, kept with what it judges; where it is undefined, that is not kept. */
  readonly programa?: string;
  /** Sends one message to an address that somebody has registered. */
  readonly postAviso: PostAviso;
  /** Whether addresses of one's own network are told as well, and without TLS. */
  readonly avisosPrivados?: boolean;
  /** Called after something of a tenant was made due (a note, an event, a lot), so that the worker need not wait for its next look. */
  readonly wake: (tenant: string) => void;
};
