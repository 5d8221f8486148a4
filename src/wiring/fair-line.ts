/**
 * A queue in which production and rehearsals alternate, each with its own places. The names on each side take turns: first the names of the
 * first level, and within each of them those of the second. A full side removes the newest entry of the name with the most, in favour of a
 * name with fewer.
 */
import type { Ambiente } from '../fiscal/ambiente.ts';

/** The owners of an entry, from the widest name on; all entries of a line have as many names. */
export type Names = readonly string[];

export type FairLine<One> = {
  /** Adds an entry. The result is the entry that has no place then, this one or another; undefined: all have one. */
  add(ambiente: Ambiente, names: Names, one: One): One | undefined;
  next(): One | undefined;
  readonly size: number;
  /** Removes all entries and returns them. */
  empty(): readonly One[];
};

/** `entries` belong to the last name; `lines` to the others, in the order of their turns, none of them empty. */
type Line<One> = { size: number; readonly entries: One[]; readonly lines: Map<string, Line<One>> };

const openLine = <One>(): Line<One> => ({ size: 0, entries: [], lines: new Map() });

export function openFairLine<One>(places: Readonly<Record<Ambiente, number>>): FairLine<One> {
  const sides = { producao: openLine<One>(), homologacao: openLine<One>() };
  let isTurnOf: Ambiente = 'producao';
  return {
    add: (ambiente, names, one) => {
      const side = sides[ambiente];
      if (side.size < places[ambiente]) {
        put(side, names, one);
        return undefined;
      }
      const displaced = displace(side, names);
      if (displaced === undefined) return one;
      put(side, names, one);
      return displaced;
    },
    next: () => {
      if (sides[isTurnOf].size === 0) isTurnOf = otherThan(isTurnOf);
      const one = takeNext(sides[isTurnOf]);
      isTurnOf = otherThan(isTurnOf);
      return one;
    },
    get size() {
      return sides.producao.size + sides.homologacao.size;
    },
    empty: () => {
      const all: One[] = [];
      for (const side of Object.values(sides)) while (side.size > 0) all.push(takeNext(side)!);
      return all;
    },
  };
}

function otherThan(ambiente: Ambiente): Ambiente {
  return ambiente === 'producao' ? 'homologacao' : 'producao';
}

function put<One>(line: Line<One>, [name, ...others]: Names, one: One): void {
  line.size += 1;
  if (name === undefined) line.entries.push(one);
  else put(line.lines.getOrInsertComputed(name, openLine<One>), others, one);
}

/** The newest entry of the name with the most entries. That name must have more than these names would have with one more. */
function displace<One>(line: Line<One>, [name, ...others]: Names): One | undefined {
  if (name === undefined) return undefined;
  const own = line.lines.get(name);
  const [longest, its] = longestOf(line);
  const isMore = its.size > (own?.size ?? 0) + 1;
  const displaced = isMore ? takeNewest(its) : own && displace(own, others);
  if (displaced === undefined) return undefined;
  line.size -= 1;
  if (isMore && its.size === 0) line.lines.delete(longest);
  return displaced;
}

function longestOf<One>({ lines }: Line<One>): [string, Line<One>] {
  const [first, ...others] = lines;
  return others.reduce((most, one) => (one[1].size > most[1].size ? one : most), first!);
}

function takeNewest<One>(line: Line<One>): One | undefined {
  line.size -= 1;
  if (line.lines.size === 0) return line.entries.pop();
  const [name, longest] = longestOf(line);
  const one = takeNewest(longest);
  if (longest.size === 0) line.lines.delete(name);
  return one;
}

function takeNext<One>(line: Line<One>): One | undefined {
  if (line.size === 0) return undefined;
  line.size -= 1;
  const [first] = line.lines;
  if (first === undefined) return line.entries.shift();
  const [name, its] = first;
  line.lines.delete(name);
  const one = takeNext(its);
  if (its.size > 0) line.lines.set(name, its);
  return one;
}
