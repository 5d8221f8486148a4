/**
 * Documents that this process has just stored, for the worker beside it, which would read them back a moment later (measured: half of the
 * database's time under load). A document that is not here is read.
 */
import type { AnnouncedClaim } from './claim-notas.ts';

/** Characters kept, about two seconds of the fastest issuing measured. */
const CHARACTERS_MAX = 16_000_000;

/**
 * Told of each commit: documents of a tenant that it has just stored, by nota, and the claim under which they were announced. A claim
 * without notas is one of which nobody knows whether it was committed.
 */
export type OnStored = (
  tenant: string,
  documents: readonly (readonly [id: string, nfse: string])[],
  claim?: AnnouncedClaim,
) => void;

export type Recent = {
  put(tenant: string, id: string, text: string): void;
  /** The text of a document, which is then no longer kept. */
  take(tenant: string, id: string): string | undefined;
};

export function recentDocuments(): Recent {
  const kept = new Map<string, string>();
  let characters = 0;
  const forget = (key: string, text: string): void => {
    kept.delete(key);
    characters -= text.length;
  };
  return {
    put: (tenant, id, text) => {
      kept.set(`${tenant}/${id}`, text);
      characters += text.length;
      for (const [key, oldest] of kept) {
        if (characters <= CHARACTERS_MAX) break;
        forget(key, oldest);
      }
    },
    take: (tenant, id) => {
      const key = `${tenant}/${id}`;
      const text = kept.get(key);
      if (text !== undefined) forget(key, text);
      return text;
    },
  };
}
