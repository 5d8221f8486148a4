/**
 * Buckets that several processes fill from. One process keeps the count; each of the others has a copy, which is never behind what it took
 * itself. While much is left it takes from its copy and reports a moment later; near the end it asks, so that a limit holds exactly.
 */
import {
  type Buckets,
  type OwnBuckets,
  openBuckets,
  type Short,
  TABLES,
  type TableName,
  type Wanted,
} from './buckets.ts';

/** What all other processes take between two reports, at most. Smaller limits are always asked about. */
const NEAR = 1_000;
/** How long a process keeps to itself what it took. */
const REPORT_MS = 100;

/** The answer of the count: what it refused for, if it did, and what is left of each bucket. */
export type Taken = { readonly short?: Short | undefined; readonly left: readonly number[] };

/** How a copy reaches the count. */
export type Count = {
  ask(table: TableName, wanted: readonly Wanted[]): Promise<Taken>;
  report(table: TableName, spent: readonly Wanted[]): void;
};

const NAMES = Object.keys(TABLES) as readonly TableName[];

export type Tables = Readonly<Record<TableName, OwnBuckets>>;

/** `now`: milliseconds of a clock that only goes forward. */
export function openTables(now: () => number): Tables {
  return Object.fromEntries(NAMES.map((name) => [name, openBuckets(now, TABLES[name])])) as Record<
    TableName,
    OwnBuckets
  >;
}

/** Takes in the process that counts. */
export function takeCounted(buckets: OwnBuckets, wanted: readonly Wanted[]): Taken {
  const short = buckets.take(wanted);
  return { short, left: wanted.map(({ key, measure }) => buckets.left(key, measure)) };
}

/** The buckets of a process that does not count. `own`: its copy, into which what others took is spent as it is told. */
export function copyBuckets(table: TableName, own: OwnBuckets, count: Count): Buckets {
  let spent = new Map<string, Wanted>();
  const report = (): void => {
    if (spent.size === 0) return;
    const all = [...spent.values()];
    spent = new Map();
    count.report(table, all);
  };
  const takeHere = (wanted: readonly Wanted[]): void => {
    if (spent.size === 0) setTimeout(report, REPORT_MS).unref();
    for (const one of wanted) {
      if (one.cost <= 0) continue;
      own.spend(one);
      spent.set(one.key, { ...one, cost: one.cost + (spent.get(one.key)?.cost ?? 0) });
    }
  };
  const ask = async (wanted: readonly Wanted[]): Promise<Short | undefined> => {
    // The count must know of all that was taken here.
    report();
    const { short, left } = await count.ask(table, wanted);
    wanted.forEach(({ key, measure }, place) => {
      const beyond = own.left(key, measure) - left[place]!;
      if (beyond > 0) own.spend({ key, measure, cost: beyond });
    });
    return short;
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
