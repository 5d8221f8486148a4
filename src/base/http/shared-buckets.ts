/**
 * Buckets that several processes take from. The count is kept by the watching process or in the database. Each process has a copy, which
 * always includes its own takings. It takes from its copy and reports a moment later while much is left. It asks the count when little is
 * left, so that a limit is exact.
 */
import type { Buckets, OwnBuckets, Short, Wanted } from './buckets.ts';

/** Upper limit of the takings of all other processes between two reports. Smaller limits always need a question to the count. */
const NEAR = 1_000;
/** Longest time before a process reports its takings. */
const REPORT_MS = 100;

/** The answer of the count: the shortage that caused a refusal, if any, and the amount left in each bucket. */
export type Taken = { readonly short?: Short | undefined; readonly left: readonly number[] };

/** Access of a copy to the count. */
export type Count = {
  /** Undefined: the count is unreachable. */
  ask(wanted: readonly Wanted[]): Promise<Taken | undefined>;
  /** May return the amounts left. Other counts announce the takings of others separately. */
  report(spent: readonly Wanted[]): undefined | Promise<readonly number[] | undefined>;
};

/** Takes in the process that counts. */
export function takeCounted(buckets: OwnBuckets, wanted: readonly Wanted[]): Taken {
  const short = buckets.take(wanted);
  return { short, left: wanted.map(({ key, measure }) => buckets.left(key, measure)) };
}

/** Buckets that are counted elsewhere. `own`: the copy; reported takings of others are spent in it. */
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
    // The count must first know all local takings.
    void report();
    const taken = await count.ask(wanted);
    if (taken === undefined) return own.take(wanted);
    learn(wanted, taken.left);
    return taken.short;
  };
  return {
    left: own.left,
    take: (wanted) => {
      // The other processes can only have taken more.
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
