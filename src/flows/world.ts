/** What a flow may touch: the one parameter that all of them share. */
import type { Adn } from '../adn/adn.ts';
import type { Ambiente } from '../fiscal/ambiente.ts';
import type { Store } from '../store/store.ts';

export type Log = {
  info(about: object, message: string): void;
  warn(about: object, message: string): void;
  error(about: object, message: string): void;
};

export type World = {
  readonly store: Store;
  readonly adn: (ambiente: Ambiente) => Adn;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Decimal digits from a cryptographic source, at most 14 at a time. */
  readonly randomDigits: (count: number) => string;
  readonly log: Log;
  /** Called after notas of a tenant were stored, so that the worker need not wait for its next look. */
  readonly wake: (tenant: string) => void;
};
