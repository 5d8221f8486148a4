/**
 * The order in which an answer tells what it found: that of the layout (D-211). What is absent stands at its place, a group before
 * what is in it, the DPS before the fields of the note. What no layout has stands last in its group.
 */
import { DPS, NFSE } from './nfse.ts';
import { elementsOf, type Group, type Item } from './vocabulary.ts';

/** Where a name stands among its siblings, and what is in it. */
type Places = ReadonlyMap<string, { readonly order: number; readonly inside: Places }>;

const NOWHERE: Places = new Map();

function placesOf(items: readonly Item[]): Places {
  const elements = elementsOf(items);
  return new Map(
    elements.map((item, order) => [
      item.name,
      { order, inside: item.kind === 'group' ? placesOf(item.items) : NOWHERE },
    ]),
  );
}

/** Sorts by place, for one layout given as its roots; what has one place stays in the order in which it came. */
export function orderOf(
  roots: readonly Group[],
): <Told>(found: readonly Told[], placeOf: (one: Told) => string) => readonly Told[] {
  const layout = placesOf(roots);
  return (found, placeOf) => {
    if (found.length < 2) return found;
    const keyed = found.map((one) => ({ one, key: keyOf(placeOf(one), layout) }));
    return keyed.toSorted((a, b) => compare(a.key, b.key)).map(({ one }) => one);
  };
}

const byDps = orderOf([DPS, NFSE]);

/** Faults or remarks about a DPS in the order of its layout. `placeOf`: where one stands, as an absolute path; its own without. */
export function inLayoutOrder<Told extends { readonly xpath: string }>(
  found: readonly Told[],
  placeOf: (one: Told) => string = ({ xpath }) => xpath,
): readonly Told[] {
  return byDps(found, placeOf);
}

const BEFORE_ALL = -1;
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** Of each step its place among its siblings and its number; an attribute stands before all of them. */
function keyOf(xpath: string, layout: Places): readonly number[] {
  const key: number[] = [];
  let places = layout;
  for (const step of xpath.split('/').slice(1)) {
    const [name, index] = step.split('[');
    const place = places.get(name!);
    key.push(place?.order ?? (step.startsWith('@') ? BEFORE_ALL : AFTER_ALL), Number.parseInt(index ?? '1', 10));
    places = place?.inside ?? NOWHERE;
  }
  return key;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const parted = a.findIndex((one, place) => one !== b[place]);
  if (parted < 0) return a.length - b.length;
  return parted < b.length ? a[parted]! - b[parted]! : 1;
}
