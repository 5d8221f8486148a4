/**
 * Token buckets in the memory of this process, one for each client that is counted. Misses and quotas use the same ones. Several
 * processes count each for itself.
 */

/** A bucket holds at most `size`, and an empty one is full again after `refillMs`. */
export type Measure = { readonly size: number; readonly refillMs: number };

/** `size`: of the measure that filled the bucket last. `moved`: when the bucket was last put at the end of the table. */
type Bucket = { left: number; size: number; at: number; moved: number };

/** How often a bucket is moved to the end of the table, which is ordered by last use. Moving costs more than all else here. */
const MOVE_EVERY_MS = 1_000;

export type Buckets = ReturnType<typeof openBuckets>;

/** `now`: milliseconds of a clock that only goes forward. `keysMax`: beyond it the key unused for longest is forgotten. */
export function openBuckets(now: () => number, keysMax: number) {
  const buckets = new Map<string, Bucket>();
  const refill = (bucket: Bucket, { size, refillMs }: Measure): number => {
    const at = now();
    // What was used stays used when a measure is made larger or smaller.
    const before = Math.max(0, bucket.left + (size - bucket.size));
    bucket.left = Math.min(size, before + ((at - bucket.at) * size) / refillMs);
    bucket.size = size;
    bucket.at = at;
    return bucket.left;
  };
  return {
    /** What is left for a key. */
    left: (key: string, measure: Measure): number => {
      const bucket = buckets.get(key);
      return bucket === undefined ? measure.size : refill(bucket, measure);
    },
    /** Takes all or nothing. The result is the milliseconds until there would be enough; 0: it was taken. */
    take: (key: string, measure: Measure, cost: number): number => {
      const known = buckets.get(key);
      const { size } = measure;
      const bucket = known ?? { left: size, size, at: now(), moved: Number.NEGATIVE_INFINITY };
      const left = refill(bucket, measure);
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

/** Addresses that are counted together, and as how many single addresses they may count. */
export type Network = { readonly name: string; readonly times: number };

/**
 * One host has a whole /64 of IPv6 addresses, and a rented /48 has 65,536 such networks. Together they count as sixteen: strangers
 * run fewer programs than that within one /48.
 */
export const SITE_TIMES = 16;

/** The networks of an address, from the smallest to the largest; of IPv4 the address alone. */
export function networksOf(address: string): readonly Network[] {
  if (!address.includes(':')) return [{ name: address, times: 1 }];
  const groups = groupsOf(address);
  const mapped = ipv4In(groups);
  if (mapped !== undefined) return [{ name: mapped, times: 1 }];
  const name = (count: number): string =>
    groups
      .slice(0, count)
      .map((group) => group.toString(16))
      .join(':');
  return [
    { name: name(4), times: 1 },
    { name: `${name(3)}/48`, times: SITE_TIMES },
  ];
}

/** An IPv4 address that is written as IPv6 (RFC 4291, 2.5.5.2) becomes plain IPv4; any other stays as it is. */
export function bareAddress(address: string): string {
  return (address.includes(':') ? ipv4In(groupsOf(address)) : undefined) ?? address;
}

function ipv4In(groups: readonly number[]): string | undefined {
  const [a, b, c, d, e, mark, high, low] = groups;
  if (groups.length !== 8 || a || b || c || d || e || mark !== 0xffff) return undefined;
  return [high! >> 8, high! & 255, low! >> 8, low! & 255].join('.');
}

/** The eight numbers of an IPv6 address, whose end may be written as IPv4. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = address.replace(/%.*$/s, '').split('::');
  const first = numbersOf(head);
  const last = numbersOf(tail ?? '');
  return [...first, ...Array<number>(Math.max(0, 8 - first.length - last.length)).fill(0), ...last];
}

function numbersOf(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
