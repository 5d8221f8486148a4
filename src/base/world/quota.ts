/** The amount that a request may still store. The thread that received the request keeps the count (D-263). */
import type { RefusalKeeping, Refused } from './idempotency.ts';

/** A refusal, or undefined. Another thread may keep the count. */
type Answer = Refused | undefined | Promise<Refused | undefined>;

export type Quota = RefusalKeeping & {
  /**
   * Counts a request against its address before any work. `documentos`: 1 until the number is known; a later call with more counts only the
   * difference.
   */
  enter(documentos?: number): Answer;
  /** Counts the same for a provider, once the provider is known to be the author. */
  take(prestador: string | undefined, documentos?: number): Answer;
};
