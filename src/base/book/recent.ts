/**
 * Documents that this process has just stored, for its worker. The worker would otherwise read them back a moment later (measured: half of
 * the database's time under load). A document that is missing here is read from the database.
 */
import type { AnnouncedClaim } from './claim-notas.ts';

/** Number of characters kept, about two seconds of the fastest issuing measured. */
const CHARACTERS_MAX = 16_000_000;

/**
 * Called after each commit with the documents that it stored, by nota, and the claim under which they were announced. The commit of a claim
 * without notas is uncertain.
 */
export type OnStored = (
  tenant: string,
  documents: readonly (readonly [id: string, nfse: string])[],
  claim?: AnnouncedClaim,
) => void;

export type Recent = {
  put(tenant: string, id: string, text: string): void;
  /** Puts the documents of a commit. */
  readonly keep: OnStored;
  /** Returns the text of a document and forgets it. */
  take(tenant: string, id: string): string | undefined;
};

export function recentDocuments(): Recent {
  const kept = new Map<string, string>();
  let characters = 0;
  const forget = (key: string, text: string): void => {
    kept.delete(key);
    characters -= text.length;
  };
  const put: Recent['put'] = (tenant, id, text) => {
    kept.set(`${tenant}/${id}`, text);
    characters += text.length;
    for (const [key, oldest] of kept) {
      if (characters <= CHARACTERS_MAX) break;
      forget(key, oldest);
    }
  };
  return {
    put,
    keep: (tenant, documents) => {
      for (const [id, nfse] of documents) put(tenant, id, nfse);
    },
    take: (tenant, id) => {
      const key = `${tenant}/${id}`;
      const text = kept.get(key);
      if (text !== undefined) forget(key, text);
      return text;
    },
  };
}
