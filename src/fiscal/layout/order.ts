/**
 * The order in which an answer lists its faults: that of the layout (D-113). An absent element stands at its place, a group before its
 * content, the DPS before the fields of the note. An element unknown to the layout stands last in its group.
 */
import { DPS, NFSE } from './nfse.ts';
import { elementsOf, type Group, type Item } from './vocabulary.ts';

/** The place of a name among its siblings, and its content. */
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

/** Sorts by place, for one layout given as its roots; entries of one place stay in their original order. */
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

/** Faults or remarks about a DPS in the order of its layout. `placeOf`: the absolute path of one; its own xpath by default. */
export function inLayoutOrder<Told extends { readonly xpath: string }>(
  found: readonly Told[],
  placeOf: (one: Told) => string = ({ xpath }) => xpath,
): readonly Told[] {
  return byDps(found, placeOf);
}

const BEFORE_ALL = -1;
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** The place and the number of each step among its siblings; an attribute precedes all of them. */
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
