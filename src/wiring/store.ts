/** The store: the book, and the part of each subject. */
import type { Announce } from '../base/book/claim-notas.ts';
import { type OnStored, recentDocuments } from '../base/book/recent.ts';
import { createBook, type Store } from '../base/book/store.ts';
import type { Db } from '../base/pg/open.ts';
import { checkWriting } from '../base/pg/readiness.ts';
import { StoreUnavailable } from '../base/pg/unavailable.ts';
import { loadParts, type PartsOf } from '../subjects/subjects.ts';

export type { Store } from '../base/book/store.ts';

/** A group of issuances takes milliseconds; one that takes this long waits for an unhealthy database. */
const ISSUING_MAX_MS = 5_000;

const PARTS = await loadParts(({ rows }) => rows);

/**
 * `onStored` announces every commit to another worker; without it the documents are kept for this process. `announce`: permission of such a
 * worker to announce the notas of a commit.
 */
export function createStore(pool: Db, onStored?: OnStored, announce?: Announce): Store {
  const recent = recentDocuments();
  const setup = { pool, recent, onStored: onStored ?? recent.keep, announce };
  const parts = Object.assign({}, ...PARTS.map((create) => create(setup))) as PartsOf<'rows'>;
  return {
    ...createBook(setup),
    ...parts,
    ping: async () => {
      await checkWriting(pool);
      if (parts.notas.issuingFor() > ISSUING_MAX_MS)
        throw new StoreUnavailable('slow', 'a group is under way for too long');
    },
    close: () => pool.end(),
  };
}
