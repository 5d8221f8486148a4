/**
 * Measures that fill up again by themselves, one for each who is counted, in the memory of this process: what is told of too often, and
 * what is sent too much, are counted by the same machine. Processes beside one another count each for itself.
 */

/** A measure: so much at most, and full again after so many milliseconds. */
export type Measure = { readonly size: number; readonly refillMs: number };

/** `moved`: when it was last put at the end of its table. */
type Bucket = { left: number; at: number; moved: number };

/** The table is in the order of the last taking, to so many milliseconds: to move a bucket costs more than all else here. */
const MOVE_EVERY_MS = 1_000;

export type Buckets = {
  /** What is left for a key. */
  left(key: string, measure: Measure): number;
  /** Takes from what is left, all or nothing; milliseconds until there would be enough, 0 when it was taken. */
  take(key: string, measure: Measure, cost: number): number;
  readonly size: number;
};

/** `now`: milliseconds of a clock that only goes forward. `keysMax`: beyond it the key that took longest ago is forgotten, and is full again. */
export function openBuckets(now: () => number, keysMax: number): Buckets {
  const buckets = new Map<string, Bucket>();
  const filled = (bucket: Bucket, { size, refillMs }: Measure): number => {
    const at = now();
    bucket.left = Math.min(size, bucket.left + ((at - bucket.at) * size) / refillMs);
    bucket.at = at;
    return bucket.left;
  };
  return {
    left: (key, measure) => {
      const bucket = buckets.get(key);
      return bucket === undefined ? measure.size : filled(bucket, measure);
    },
    take: (key, measure, cost) => {
      const known = buckets.get(key);
      const bucket = known ?? { left: measure.size, at: now(), moved: Number.NEGATIVE_INFINITY };
      const left = filled(bucket, measure);
      if (bucket.at - bucket.moved >= MOVE_EVERY_MS) {
        bucket.moved = bucket.at;
        if (known !== undefined) buckets.delete(key);
        else if (buckets.size >= keysMax) buckets.delete(buckets.keys().next().value!);
        buckets.set(key, bucket);
      }
      if (left < cost) return ((cost - left) * measure.refillMs) / measure.size;
      bucket.left = left - cost;
      return 0;
    },
    get size() {
      return buckets.size;
    },
  };
}

/** A host has a whole /64 of IPv6 addresses to ask from, and an IPv4 address may come dressed as IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  const [head = '', tail = ''] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  // Each group as one number, however many zeros it is written with.
  const groups = [...first, ...zeros, ...last].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}
