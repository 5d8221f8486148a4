/** What a request may still store, as far as whoever took it in keeps count of that (D-263). */
import type { Refused } from './idempotency.ts';

export type Quota = {
  /**
   * Counts documents that a provider is to store, once it is known that it is the provider who asks. `more`: those of the request beyond
   * its first. A refusal: not now.
   */
  take(prestador: string | undefined, more?: number): Refused | undefined;
  /** Whether one more refusal may be kept for a repetition. */
  keepsRefusal(): boolean;
};
