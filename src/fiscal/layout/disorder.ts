/** E203 for a group whose elements stand in another order than the layout's: the misplaced elements, and the group in the correct order. */
import type { Fault } from '../fault.ts';
import { reorderGroup, type Source } from './correct-xml.ts';
import type { Elemento } from './tree.ts';

/** A child of a group: its name and its place in the national order; an element that may stand anywhere has none. */
export type Ordered = { readonly name: string; readonly order: number | undefined };

/**
 * One fault per group (D-212). Elements outside the longest ordered run are out of order. One moved element is therefore named once,
 * however many others it passed. A repeated element is ignored here: it has its fault already, and its correct copy is unknown. Undefined
 * if nothing else is out of order.
 */
export function orderFault(
  group: Elemento,
  children: readonly Ordered[],
  xpath: string,
  name: string,
  source: Source | undefined,
): Fault | undefined {
  const ordered = children.filter((child): child is Ordered & { order: number } => child.order !== undefined);
  const copies = new Map<string, number>();
  for (const child of ordered) copies.set(child.name, (copies.get(child.name) ?? 0) + 1);
  const placed = ordered.filter((child) => copies.get(child.name) === 1);
  const kept = longestOrderedRun(placed.map((child) => child.order));
  const right = placed.toSorted((a, b) => a.order - b.order).map((child) => child.name);
  const rules = placed.flatMap((child, place) => {
    if (kept.has(place)) return [];
    const passed = placed.find((other, at) => at < place && kept.has(at) && other.order > child.order);
    if (passed !== undefined) return [`${child.name} deve vir antes de ${passed.name}`];
    const awaited = placed.findLast((other, at) => at > place && kept.has(at) && other.order < child.order);
    return [`${child.name} deve vir depois de ${awaited?.name ?? right.at(-1)}`];
  });
  if (rules.length === 0) return undefined;
  const correcao = reorderGroup(group, sortingKeys(children), source);
  return {
    codigo: 'E203',
    xpath,
    mensagem: `Ordem errada em ${name}: ${rules.join('; ')}.`,
    encontrado: placed.map((other) => other.name).join(', '),
    esperado: right.join(', '),
    ...(correcao === undefined ? {} : { correcao }),
  };
}

/** An element without a place in the order stays behind its predecessor. */
function sortingKeys(children: readonly Ordered[]): readonly number[] {
  let key = -1;
  return children.map(({ order }) => {
    key = order ?? key;
    return key;
  });
}

/** Places of a longest non-decreasing subsequence (patience sorting, n log n). */
function longestOrderedRun(orders: readonly number[]): ReadonlySet<number> {
  const tails: number[] = [];
  const before: number[] = [];
  orders.forEach((order, place) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (orders[tails[middle]!]! <= order) low = middle + 1;
      else high = middle;
    }
    before[place] = low > 0 ? tails[low - 1]! : -1;
    tails[low] = place;
  });
  const kept = new Set<number>();
  for (let place = tails.at(-1) ?? -1; place >= 0; place = before[place]!) kept.add(place);
  return kept;
}
