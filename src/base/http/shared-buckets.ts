/**
 * Buckets that several processes take from. The count is kept elsewhere, by the process that watches or in the database; each process has a
 * copy, which is never behind what it took itself. While much is left it takes from its copy and reports a moment later; near the end it asks, so that a limit holds exactly.
 */
import type { Buckets, OwnBuckets, Short, Wanted } from './buckets.ts';

/** What all other processes take between two reports, at most. Smaller limits are always asked about. */
const NEAR = 1_000;
/** How long a process keeps to itself what it took. */
const REPORT_MS = 100;

/** The answer of the count: what it refused for, if it did, and what is left of each bucket. */
export type Taken = { readonly short?: Short | undefined; readonly left: readonly number[] };

/** How a copy reaches the count. */
export type Count = {
  /** Undefined: it cannot be asked now. */
  ask(wanted: readonly Wanted[]): Promise<Taken | undefined>;
  /** May answer what is left; of a count that does not, what others took is told otherwise. */
  report(spent: readonly Wanted[]): undefined | Promise<readonly number[] | undefined>;
};

/** Takes in the process that counts. */
export function takeCounted(buckets: OwnBuckets, wanted: readonly Wanted[]): Taken {
  const short = buckets.take(wanted);
  return { short, left: wanted.map(({ key, measure }) => buckets.left(key, measure)) };
}

/** Buckets that are counted elsewhere. `own`: the copy, into which what others took is spent as it is told. */
export function copyBuckets(own: OwnBuckets, count: Count): Buckets {
  let spent = new Map<string, Wanted>();
  const learn = (wanted: readonly Wanted[], left: readonly number[]): void => {
    wanted.forEach(({ key, measure }, place) => {
      const beyond = own.left(key, measure) - left[place]!;
      if (beyond > 0) own.spend({ key, measure, cost: beyond });
    });
  };
  const report = async (): Promise<void> => {
    if (spent.size === 0) return;
    const all = [...spent.values()];
    spent = new Map();
    const left = await count.report(all);
    if (left !== undefined) learn(all, left);
  };
  const takeHere = (wanted: readonly Wanted[]): void => {
    if (spent.size === 0) setTimeout(() => void report(), REPORT_MS).unref();
    for (const one of wanted) {
      if (one.cost <= 0) continue;
      own.spend(one);
      spent.set(one.key, { ...one, cost: one.cost + (spent.get(one.key)?.cost ?? 0) });
    }
  };
  const ask = async (wanted: readonly Wanted[]): Promise<Short | undefined> => {
    // The count must know of all that was taken here.
    void report();
    const taken = await count.ask(wanted);
    if (taken === undefined) return own.take(wanted);
    learn(wanted, taken.left);
    return taken.short;
  };
  return {
    left: own.left,
    take: (wanted) => {
      // The others can only have taken more.
      const short = own.shortOf(wanted);
      if (short !== undefined) return short;
      if (wanted.some(({ key, measure, cost }) => own.left(key, measure) - cost < NEAR)) return ask(wanted);
      takeHere(wanted);
      return undefined;
    },
    get size() {
      return own.size;
    },
  };
}
