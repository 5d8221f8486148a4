/**
 * Limits how often a client may learn that something does not exist (D-40). A key or protocol number gives access to its note, so guessing
 * must be slow. Only queries that found nothing are counted. Other clients behind the same address still get existing notes (D-40).
 */
import { CHEIO_EM_MS } from '../world/contagens.ts';
import type { Cota } from '../world/idempotency.ts';
import { type Network, networksOf } from '../world/redes.ts';
import { type Buckets, KEYS_MAX, type Measure } from './buckets.ts';

/** Mistyped keys, or a program that looks for its last notes, stay far below this limit. */
export const MISSES_MAX = 60;
const MISSES: Measure = { size: MISSES_MAX, refillMs: CHEIO_EM_MS };
/**
 * Queries beyond that limit are still looked up, this many a minute: far more than the programs of one address ask by mistake. Further ones
 * are looked up one after the other at this pace. Guessing the nine random digits of a key then takes months.
 */
export const LOOKS_MAX = 6_000;
const LOOKS: Measure = { size: LOOKS_MAX, refillMs: CHEIO_EM_MS };
const TURN_MS = LOOKS.refillMs / LOOKS.size;
/** A query that would wait longer for its turn is refused. */
const TURN_MAX_MS = 10_000;

/** More misses than a client may have, and the seconds until it may have another one. */
export type Excess = { readonly waitS: number; readonly cota: Cota };

export type Misses = ReturnType<typeof countMisses>;

/** `now`: milliseconds of a monotonic clock. `processes`: number of processes that answer one address, each at its share of the pace. */
export function countMisses(
  now: () => number,
  { misses, looks }: { readonly misses: Buckets; readonly looks: Buckets },
  processes = 1,
) {
  const turnMs = TURN_MS * processes;
  /** Moment of the last assigned turn, by network without looks left. */
  const turns = new Map<string, number>();
  return {
    /** Takes a turn: milliseconds until the query may be looked up; undefined if too many queries of the client wait already. */
    turnOf: (address: string): number | undefined => {
      if (looks.size === 0) return 0;
      const at = now();
      const next = networksOf(address).flatMap(({ name, times }) => {
        const last = turns.get(name) ?? at;
        // No query overtakes a waiting one.
        if (last <= at && looks.left(name, multiply(LOOKS, times)) >= 1) {
          turns.delete(name);
          return [];
        }
        return [{ name, turn: Math.max(at, last) + turnMs / times }];
      });
      const wait = Math.max(0, ...next.map(({ turn }) => turn - at));
      if (wait > TURN_MAX_MS) return undefined;
      for (const { name, turn } of next) {
        if (turns.size >= KEYS_MAX.looks) turns.delete(turns.keys().next().value!);
        turns.set(name, turn);
      }
      return wait;
    },
    /**
     * Counts a miss. Undefined: the client may learn of this one. `cost`: 1 for data that must not be guessed, less for queries that may be
     * made in good faith.
     */
    count: async (address: string, cost: number): Promise<Excess | undefined> => {
      const networks = networksOf(address);
      const wanted = networks.map(({ name, times }) => ({ key: name, measure: multiply(MISSES, times), cost }));
      // A host with too many misses takes nothing from the bucket of its neighbours.
      const short = await misses.take(wanted);
      if (short === undefined) return undefined;
      const looked = networks.map(({ name, times }) => {
        const measure = multiply(LOOKS, times);
        return { key: name, measure, cost: Math.min(1, looks.left(name, measure)) };
      });
      await looks.take(looked);
      const { size, refillMs } = wanted[short.place]!.measure;
      const cota = { nome: 'consultas', max: size, janelaS: refillMs / 1_000 };
      return { waitS: Math.max(1, Math.ceil(short.waitMs / 1_000)), cota };
    },
  };
}

function multiply({ size, refillMs }: Measure, times: Network['times']): Measure {
  return { size: size * times, refillMs };
}
