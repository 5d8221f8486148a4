/**
 * Token buckets, one for each counted client. Misses and quotas use the same ones. They are in the memory of one process;
 * `shared-buckets.ts` combines the counts of several processes.
 */

/** A bucket holds at most `size`, and an empty one is full again after `refillMs`. */
export type Measure = { readonly size: number; readonly refillMs: number };

/** An amount to take from a bucket. */
export type Wanted = { readonly key: string; readonly measure: Measure; readonly cost: number };

/** The first bucket with too little, by its place, and the milliseconds until it has enough. */
export type Short = { readonly place: number; readonly waitMs: number };

/** `size`: of the measure that filled the bucket last. `moved`: when the bucket was last put at the end of the table. */
type Bucket = { left: number; size: number; refillMs: number; at: number; moved: number };

/**
 * Least time between two moves of a bucket to the end of the table, which is ordered by last use. The move is the costliest operation here.
 */
const MOVE_EVERY_MS = 1_000;

/** Maximum number of keys in each table of a door: about 10 MiB of senders, 1 MiB of addresses. */
export const KEYS_MAX = { quotas: 50_000, misses: 10_000, looks: 10_000 } as const;

export type Buckets = {
  /** The amount left for a key. */
  left(key: string, measure: Measure): number;
  /** Takes from all of these or from none; undefined: it was taken. Another process may keep the count. */
  take(wanted: readonly Wanted[]): Short | undefined | Promise<Short | undefined>;
  readonly size: number;
};

export type OwnBuckets = ReturnType<typeof openBuckets>;

/** `now`: milliseconds of a monotonic clock. `keysMax`: beyond it the key unused for longest is forgotten. */
export function openBuckets(now: () => number, keysMax: number) {
  const buckets = new Map<string, Bucket>();
  const refill = (bucket: Bucket, { size, refillMs }: Measure): number => {
    const at = now();
    // The used amount stays the same when a measure is made larger or smaller.
    const before = Math.max(0, bucket.left + (size - bucket.size));
    bucket.left = Math.min(size, before + ((at - bucket.at) * size) / refillMs);
    bucket.size = size;
    bucket.refillMs = refillMs;
    bucket.at = at;
    return bucket.left;
  };
  const left = (key: string, measure: Measure): number => {
    const bucket = buckets.get(key);
    return bucket === undefined ? measure.size : refill(bucket, measure);
  };
  const shortOf = (wanted: readonly Wanted[]): Short | undefined => {
    const place = wanted.findIndex(({ key, measure, cost }) => left(key, measure) < cost);
    if (place < 0) return undefined;
    const { key, measure, cost } = wanted[place]!;
    return { place, waitMs: ((cost - left(key, measure)) * measure.refillMs) / measure.size };
  };
  /** Takes the cost, or the whole content if that is less. */
  const spend = ({ key, measure, cost }: Wanted): void => {
    const known = buckets.get(key);
    const { size } = measure;
    const bucket = known ?? { left: size, ...measure, at: now(), moved: Number.NEGATIVE_INFINITY };
    bucket.left = Math.max(0, refill(bucket, measure) - cost);
    if (bucket.at - bucket.moved < MOVE_EVERY_MS) return;
    bucket.moved = bucket.at;
    if (known !== undefined) buckets.delete(key);
    else if (buckets.size >= keysMax) buckets.delete(buckets.keys().next().value!);
    buckets.set(key, bucket);
  };
  return {
    left,
    shortOf,
    spend,
    take: (wanted: readonly Wanted[]): Short | undefined => {
      const short = shortOf(wanted);
      if (short === undefined) for (const one of wanted) if (one.cost > 0) spend(one);
      return short;
    },
    /** The used amounts of all buckets, in a form that can be spent from full ones. */
    used: (): readonly Wanted[] =>
      [...buckets].flatMap(([key, bucket]) => {
        const measure = { size: bucket.size, refillMs: bucket.refillMs };
        const cost = bucket.size - refill(bucket, measure);
        return cost > 0 ? [{ key, measure, cost }] : [];
      }),
    get size() {
      return buckets.size;
    },
  };
}
