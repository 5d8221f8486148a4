/** Services and data that a flow may use: the one parameter that all flows share. */
import type { Adn } from '../../adn/adn.ts';
import type { Signer } from '../../documents/signing.ts';
import type { Trust } from '../../documents/trust.ts';
import type { Municipio } from '../book/municipios.ts';
import type { Store } from '../book/store.ts';

/** A message to a registered address. */
export type PedidoDeAviso = {
  /** Id of the address. All addresses of one host share its limits. */
  readonly id: string;
  /** Owner of the address: a document of a municipality, or the municipality. */
  readonly dono: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly corpo: string;
  /** Milliseconds since 1970, from the real clock and not from that of a sandbox. */
  readonly agora: number;
  /** Messages of rehearsals take no capacity from production. */
  readonly isEnsaio: boolean;
  /** The message asks whether messages are wanted, and the address has not confirmed yet. */
  readonly isDesafio: boolean;
};

/**
 * Outcome of a message: the status of the answer, with the beginning of the body if it was a confirmation request. Otherwise the reason why
 * there is none, in Portuguese, or the time until the host's turn, with nothing sent.
 */
export type RespostaDeAviso =
  | { readonly status: number; readonly corpo?: string }
  | { readonly problema: string }
  | { readonly adiadoMs: number };

export type PostAviso = (pedido: PedidoDeAviso) => Promise<RespostaDeAviso>;

export type Log = {
  /** Details for developers only; absent: they are not logged. */
  debug?(about: object, message: string): void;
  info(about: object, message: string): void;
  warn(about: object, message: string): void;
  error(about: object, message: string): void;
};

export type Transmission = {
  readonly adn: Adn;
  /** Signer of the transmitted documents; undefined if nothing leaves the host (D-35). */
  readonly signer: Signer | undefined;
};

/** `problem`: for the operator, in Portuguese. */
export type NoTransmission = { readonly problem: string };

export type World = {
  readonly store: Store;
  /** The connection of a municipality's notes to the national environment, or the reason for its absence. */
  readonly transmission: (municipio: Municipio) => Promise<Transmission | NoTransmission>;
  /** The certificates that a municipality trusts. */
  readonly trust: (municipio: Municipio) => Trust;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Decimal digits from a cryptographic source, at most 14 at a time. */
  readonly randomDigits: (count: number) => string;
  readonly log: Log;
  /** Version and commit of this program, stored with its judgements. Undefined: they are not stored. */
  readonly programa?: string;
  /** Sends one message to a registered address. */
  readonly postAviso: PostAviso;
  /** Whether addresses of the own network, and addresses without TLS, get messages as well. */
  readonly avisosPrivados?: boolean;
  /** Public address of the console, without a slash at its end. Undefined: unknown. */
  readonly painelUrl?: string;
  /** Called after a row of a tenant was made due (a note, an event, a lot). The worker then need not wait for its next look. */
  readonly wake: (tenant: string) => void;
};
