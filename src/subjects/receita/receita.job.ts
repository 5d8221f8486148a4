/** Repeated work of the sums of months. */
import type { Repeated } from '../../base/delivery/repetition.ts';
import { SALAS } from '../../base/world/lugares.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';

export const REPEATED: readonly Repeated[] = [
  {
    trabalho: 'receita',
    // A longer pause adds more notes of one provider together, which is most of the cost (D-820).
    everyMs: 5 * MINUTE_MS,
    trouble: 'as notas novas não puderam ser somadas nos seus meses',
    work: ({ store, now }) => store.contagemDaReceita.countDue(now(), SALAS.receita),
  },
];
