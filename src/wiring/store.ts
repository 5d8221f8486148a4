/** The store: the book, and the part of each subject. */
import type { Announce } from '../base/book/claim-notas.ts';
import { type OnStored, recentDocuments } from '../base/book/recent.ts';
import { createBook, type Store, type StoreSetup } from '../base/book/store.ts';
import type { Db } from '../base/pg/open.ts';
import { checkWriting } from '../base/pg/readiness.ts';
import { StoreUnavailable } from '../base/pg/unavailable.ts';
import { load, type SUBJECTS } from '../subjects/subjects.ts';

export type { Store } from '../base/book/store.ts';

/** A group of issuances takes milliseconds; one that takes this long waits for an unhealthy database. */
const ISSUING_MAX_MS = 5_000;

type PartOf<One> = One extends { default: { rows: () => Promise<(setup: StoreSetup) => infer Part> } } ? Part : never;
type Joined<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
/** Parts that the subjects announce; the compiler misses here what one only adds to {@link Store}. */
type Parts = Joined<PartOf<(typeof SUBJECTS)[number]>>;

const PARTS = await load(({ rows }) => rows);

/**
 * `onStored` announces every commit to another worker; without it the documents are kept for this process. `announce`: permission of such a
 * worker to announce the notas of a commit.
 */
export function createStore(pool: Db, onStored?: OnStored, announce?: Announce): Store {
  const recent = recentDocuments();
  const setup = { pool, recent, onStored: onStored ?? recent.keep, announce };
  const parts = Object.assign({}, ...PARTS.map((create) => create(setup))) as Parts;
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
