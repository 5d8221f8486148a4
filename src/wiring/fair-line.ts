/**
 * A queue in which the names have turns. When all places are taken, the newest entry of the longest line gives way to a name with fewer
 * entries.
 */
export type FairLine<One> = {
  /** Adds an entry. The result is the entry that has no place then, this one or another; undefined: all have one. */
  add(name: string, one: One): One | undefined;
  next(): One | undefined;
  readonly size: number;
  /** Removes all entries and returns them. */
  empty(): readonly One[];
};

export function openFairLine<One>(places: number): FairLine<One> {
  /** In the order of their turns; none is empty. */
  const lines = new Map<string, One[]>();
  let taken = 0;
  return {
    add: (name, one) => {
      const own = lines.get(name) ?? [];
      const longest = [...lines.values()].reduce((most, line) => (line.length > most.length ? line : most), own);
      if (taken === places && longest.length <= own.length + 1) return one;
      const displaced = taken === places ? longest.pop() : undefined;
      if (displaced === undefined) taken += 1;
      own.push(one);
      lines.set(name, own);
      return displaced;
    },
    next: () => {
      const [first] = lines;
      if (first === undefined) return undefined;
      const [name, line] = first;
      lines.delete(name);
      const one = line.shift();
      taken -= 1;
      if (line.length > 0) lines.set(name, line);
      return one;
    },
    get size() {
      return taken;
    },
    empty: () => {
      const all = [...lines.values()].flat();
      lines.clear();
      taken = 0;
      return all;
    },
  };
}
