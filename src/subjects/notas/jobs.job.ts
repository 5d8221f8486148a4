/** Due and repeated work of notes. */
import { mesOf } from '../../base/book/meses.ts';
import { BATCH_MAX } from '../../base/delivery/announced.ts';
import type { Kind } from '../../base/delivery/lanes.ts';
import type { Repeated } from '../../base/delivery/repetition.ts';
import { SALAS } from '../../base/world/lugares.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../fiscal/moment.ts';
import { deliverNotas } from './deliver.job.ts';
import { releaseNotas } from './release.job.ts';

/** A batch of few notas also has a request under way: at most 250 of production at once. */
const BATCH_PLACES_MIN = 16;

export const JOBS: readonly Kind[] = [
  { kind: 'notas', lanes: 2, places: { least: BATCH_PLACES_MIN, most: BATCH_MAX }, deliver: deliverNotas },
  { kind: 'retidas', lanes: 1, deliver: releaseNotas },
];

/** The period of the names that are learned each minute. */
const RECENT_MS = 31 * DAY_MS;
const trouble = 'os nomes das notas novas não puderam ser lidos para a busca';

/** Names on notes are learned for the search of the console. */
export const REPEATED: readonly Repeated[] = [
  {
    trabalho: 'nomes',
    everyMs: MINUTE_MS,
    trouble,
    work: ({ store, now }) => store.nomes.learn(mesOf(now() - RECENT_MS), SALAS.nomes),
  },
  { trabalho: 'nomes_antigos', everyMs: HOUR_MS, trouble, work: ({ store }) => store.nomes.learn(0, SALAS.nomes) },
];
