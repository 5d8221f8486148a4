/** The order of changes: that of their moments, and within one nota or evento that of their numbers. */

import type { NotaEstado } from '../../fiscal/nota.ts';
import { compareNumbers, type Mudou } from './mudancas-novas.ts';

/**
 * Orders changes by the moments that their writers' clocks gave. The changes of one nota or evento keep their sequence, even against the
 * clocks. No earlier move of a found change can follow: it was committed before the next one could be made.
 */
export function orderMudancas(all: readonly Mudou[]): readonly Mudou[] {
  if (isInOrder(all)) return all;
  const byItem = Map.groupBy(all, ({ item, id }) => `${item}${id}`);
  const moved = [...byItem.values()].flatMap((own) => {
    let [latest, rank] = [Number.NEGATIVE_INFINITY, 0];
    return own.toSorted(compareNumbers).map((mudou) => {
      rank = mudou.em > latest ? rankOf(mudou) : Math.max(rank, rankOf(mudou));
      latest = Math.max(latest, mudou.em);
      return { mudou, latest, rank };
    });
  });
  return moved.toSorted((one, other) => one.latest - other.latest || one.rank - other.rank).map(({ mudou }) => mudou);
}

/** Order within one moment: a decided nota releases its eventos, and a registered evento ends its nota. */
function rankOf({ item, para }: Mudou): number {
  if (item === 'evento') return 1;
  return para === ('cancelada' satisfies NotaEstado) ? 2 : 0;
}

/** The order is nearly always right already. */
function isInOrder(all: readonly Mudou[]): boolean {
  const moved = new Map<string, Mudou>();
  let [latest, rank] = [Number.NEGATIVE_INFINITY, 0];
  for (const mudou of all) {
    const { item, id, em } = mudou;
    const key = item === 'nota' ? id : `e${id}`;
    const own = rankOf(mudou);
    const isLate = compareNumbers(mudou, moved.get(key) ?? mudou) < 0;
    if (em < latest || (em === latest && own < rank) || isLate) return false;
    latest = em;
    rank = own;
    moved.set(key, mudou);
  }
  return true;
}
