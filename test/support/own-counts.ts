/** Counts of a door of its own, so that a test takes nothing from the limits of another one. */
import { KEYS_MAX, type OwnBuckets, openBuckets } from '../../src/base/http/buckets.ts';

export function ownCounts(): Readonly<Record<keyof typeof KEYS_MAX, OwnBuckets>> {
  const open = (name: keyof typeof KEYS_MAX) => openBuckets(() => performance.now(), KEYS_MAX[name]);
  return { quotas: open('quotas'), misses: open('misses'), looks: open('looks') };
}
