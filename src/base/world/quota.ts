/** What a request may still store, as far as whoever took it in keeps count of that (D-263). */
import type { RefusalKeeping, Refused } from './idempotency.ts';

/** A refusal: not now. The count may be another thread's to keep. */
type Answer = Refused | undefined | Promise<Refused | undefined>;

export type Quota = RefusalKeeping & {
  /**
   * Counts what a request brings against its address, before anything is done with it. `documentos`: 1 until more is known; called again with
   * more, only the rest is counted.
   */
  enter(documentos?: number): Answer;
  /** Counts the same for a provider, once it is known that it is the provider who asks. */
  take(prestador: string | undefined, documentos?: number): Answer;
};
