/**
 * How often a client is told that something is not there (D-40): keys and protocol numbers open what they name, so guessing them is
 * made slow. It is looked first, and only what is not there is counted, so that nobody loses what exists to the misses of another
 * behind the same address (D-216). A bucket of misses for each address, in the memory of this process.
 */

/** A person who mistypes, or a program that looks for its last notes, stays far below. */
export const MISSES_MAX = 60;
const REFILL_PER_MS = MISSES_MAX / 60_000;
/**
 * Misses beyond those are looked up all the same, this many a minute: far more than the programs of one address come to by mistake. Beyond
 * it the questions of an address go one after the other at this pace, so that the nine random digits of one key take months.
 */
export const LOOKS_MAX = 6_000;
const LOOKS_PER_MS = LOOKS_MAX / 60_000;
/** So long a question waits for its turn; more of one address at once is a crowd. */
const TURN_MAX_MS = 10_000;
/** About 1 MiB; when there are more, the address that missed longest ago is forgotten. */
const CLIENTS_MAX = 10_000;

type Bucket = {
  readonly misses: number;
  readonly looks: number;
  readonly at: number;
  /** When the last of those has its turn that wait for one. */
  readonly turn: number;
};

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
  const buckets = new Map<string, Bucket>();
  const leftOf = (client: string): Bucket => {
    const at = now();
    const {
      misses,
      looks,
      turn,
      at: since,
    } = buckets.get(client) ?? { misses: MISSES_MAX, looks: LOOKS_MAX, turn: at, at };
    const passed = at - since;
    return {
      misses: Math.min(MISSES_MAX, misses + passed * REFILL_PER_MS),
      looks: Math.min(LOOKS_MAX, looks + passed * LOOKS_PER_MS),
      at,
      turn,
    };
  };
  return {
    turnOf: (address) => {
      if (buckets.size === 0) return 0;
      const client = networkOf(address);
      const bucket = leftOf(client);
      // Nobody goes before those that wait.
      if (bucket.looks >= 1 && bucket.turn <= bucket.at) return 0;
      const turn = Math.max(bucket.at, bucket.turn) + 1 / LOOKS_PER_MS;
      if (turn - bucket.at > TURN_MAX_MS) return undefined;
      buckets.set(client, { ...bucket, turn });
      return turn - bucket.at;
    },
    count: (address, cost) => {
      const client = networkOf(address);
      const bucket = leftOf(client);
      const { misses, looks } = bucket;
      const isTold = misses >= cost;
      // Deleted first, so that the map stays in the order of the last miss.
      buckets.delete(client);
      if (buckets.size >= CLIENTS_MAX) buckets.delete(buckets.keys().next().value!);
      const left = isTold ? { misses: misses - cost } : { looks: Math.max(0, looks - 1) };
      buckets.set(client, { ...bucket, ...left });
      return isTold ? undefined : Math.ceil((cost - misses) / REFILL_PER_MS / 1000);
    },
  };
}

/** A host has a whole /64 of IPv6 addresses to ask from, and an IPv4 address may come dressed as IPv6. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  const [head = '', tail = ''] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  return [...first, ...zeros, ...last].slice(0, 4).join(':');
}
