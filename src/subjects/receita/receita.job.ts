/** Repeated work of the sums of months. */
import type { Repeated } from '../../base/delivery/repetition.ts';
import { SALAS } from '../../base/world/lugares.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';

/** A longer pause adds more notes of one provider together, which is most of the cost (D-820, D-857). */
const PAUSE_MS = 5 * MINUTE_MS;

export const REPEATED: readonly Repeated[] = [
  {
    trabalho: 'receita',
    everyMs: MINUTE_MS / 4,
    trouble: 'as notas novas não puderam ser somadas nos seus meses',
    work: ({ store, now }) => store.contagemDaReceita.countDue(now(), SALAS.receita, PAUSE_MS),
  },
];
