/**
 * How often a client may ask for what is not there (D-40): keys and protocol numbers open what they name, so guessing
 * them is made slow. A bucket of misses for each address, in the memory of this process; who finds what it asks for is
 * never slowed down.
 */

/** A person who mistypes, or a program that looks for its last notes, stays far below. */
export const MISSES_MAX = 60;
const REFILL_PER_MS = MISSES_MAX / 60_000;
/** Questions that were under way together may overdraw the bucket, up to here. */
const DEBT_MAX = MISSES_MAX;
/** About 1 MiB; when there are more, the address that missed longest ago is forgotten. */
const CLIENTS_MAX = 10_000;

type Bucket = { readonly left: number; readonly at: number };

export type Misses = {
  /** Seconds to wait before asking; undefined when the client may ask. */
  waitOf(client: string): number | undefined;
  /** Counts a miss. `cost`: 1 for something that must not be guessed, less for what may be asked for in good faith. */
  count(client: string, cost: number): void;
};

/** `now`: milliseconds of a clock that only goes forward. */
export function countMisses(now: () => number): Misses {
  const buckets = new Map<string, Bucket>();
  const leftOf = (client: string): number => {
    const bucket = buckets.get(client);
    return bucket === undefined ? MISSES_MAX : Math.min(MISSES_MAX, bucket.left + (now() - bucket.at) * REFILL_PER_MS);
  };
  return {
    waitOf: (address) => {
      if (buckets.size === 0) return undefined;
      const left = leftOf(networkOf(address));
      return left >= 1 ? undefined : Math.ceil((1 - left) / REFILL_PER_MS / 1000);
    },
    count: (address, cost) => {
      const client = networkOf(address);
      const left = Math.max(-DEBT_MAX, leftOf(client) - cost);
      // Deleted first, so that the map stays in the order of the last miss.
      buckets.delete(client);
      if (buckets.size >= CLIENTS_MAX) buckets.delete(buckets.keys().next().value!);
      buckets.set(client, { left, at: now() });
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
