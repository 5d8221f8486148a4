/**
 * How often a client is told that something is not there (D-40): keys and protocol numbers open what they name, so guessing them is
 * made slow. It is looked first, and only what is not there is counted, so that nobody loses what exists to the misses of another
 * behind the same address (D-216). A bucket of misses for each network of an address, in the memory of this process.
 */

import { type Measure, type Network, networksOf, openBuckets } from './buckets.ts';

/** A person who mistypes, or a program that looks for its last notes, stays far below. */
export const MISSES_MAX = 60;
const MISSES: Measure = { size: MISSES_MAX, refillMs: 60_000 };
/**
 * Misses beyond those are looked up all the same, this many a minute: far more than the programs of one address come to by mistake. Beyond
 * it the questions of an address go one after the other at this pace, so that the nine random digits of one key take months.
 */
export const LOOKS_MAX = 6_000;
const LOOKS: Measure = { size: LOOKS_MAX, refillMs: 60_000 };
const TURN_MS = LOOKS.refillMs / LOOKS.size;
/** So long a question waits for its turn; more of one address at once is a crowd. */
const TURN_MAX_MS = 10_000;
/** About 1 MiB; when there are more, the address that missed longest ago is forgotten. */
const CLIENTS_MAX = 10_000;

export type Misses = {
  /** Takes a turn: milliseconds until a client is looked up for, 0 at once; undefined when too many of its questions wait already. */
  turnOf(client: string): number | undefined;
  /**
   * Counts a miss; seconds until the client may be told of one again, undefined when it may be told of this one. `cost`: 1 for
   * something that must not be guessed, less for what may be asked for in good faith.
   */
  count(client: string, cost: number): number | undefined;
};

/** `now`: milliseconds of a clock that only goes forward. */
export function countMisses(now: () => number): Misses {
  const misses = openBuckets(now, CLIENTS_MAX);
  const looks = openBuckets(now, CLIENTS_MAX);
  /** When the last of those has its turn that wait for one; only of who has no looks left. */
  const turns = new Map<string, number>();
  return {
    turnOf: (address) => {
      if (looks.size === 0) return 0;
      const at = now();
      const next = networksOf(address).flatMap(({ name, times }) => {
        const last = turns.get(name) ?? at;
        // Nobody goes before those that wait.
        if (last <= at && looks.left(name, multiply(LOOKS, times)) >= 1) {
          turns.delete(name);
          return [];
        }
        return [{ name, turn: Math.max(at, last) + TURN_MS / times }];
      });
      const wait = Math.max(0, ...next.map(({ turn }) => turn - at));
      if (wait > TURN_MAX_MS) return undefined;
      for (const { name, turn } of next) {
        if (turns.size >= CLIENTS_MAX) turns.delete(turns.keys().next().value!);
        turns.set(name, turn);
      }
      return wait;
    },
    count: (address, cost) => {
      const networks = networksOf(address);
      let waitMs = 0;
      // What one host misses too much is not its neighbours'.
      for (const { name, times } of networks) waitMs ||= misses.take(name, multiply(MISSES, times), cost);
      if (waitMs === 0) return undefined;
      for (const { name, times } of networks) {
        const measure = multiply(LOOKS, times);
        looks.take(name, measure, Math.min(1, looks.left(name, measure)));
      }
      return Math.ceil(waitMs / 1_000);
    },
  };
}

function multiply({ size, refillMs }: Measure, times: Network['times']): Measure {
  return { size: size * times, refillMs };
}
