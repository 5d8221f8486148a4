/**
 * Caches briefly the rarely changed data that every request reads: a municipality, its services, an establishment. Every process sees a
 * change after that time.
 */
import { CADASTRO_LIDO_MS } from '../../fiscal/ambiente.ts';

/** Maximum number of keys, so that invented addresses cannot fill the memory. */
const KEYS_MAX = 20_000;

/** Limit on the total weight of the cached values, besides the number of keys, for values of very different sizes. */
export type Bound<Value> = { readonly weightOf: (value: Value) => number; readonly max: number };

type Entry<Value> = { readonly at: number; readonly value: Promise<Value>; weight: number };

/** `isKept`: whether a value may be reused. A value about to change (before a provider's first note) should not be. */
export function cacheReads<Value>(
  load: (...key: readonly string[]) => Promise<Value>,
  isKept: (value: Value) => boolean = () => true,
  { weightOf, max }: Bound<Value> = { weightOf: () => 0, max: 0 },
): (...key: readonly string[]) => Promise<Value> {
  const known = new Map<string, Entry<Value>>();
  let weight = 0;
  const clear = (): void => {
    known.clear();
    weight = 0;
  };
  return (...parts) => {
    const key = parts.join(' ');
    const now = performance.now();
    const one = known.get(key);
    if (one !== undefined && now - one.at < CADASTRO_LIDO_MS) return one.value;
    if (known.size >= KEYS_MAX) clear();
    else weight -= one?.weight ?? 0;
    const entry: Entry<Value> = { at: now, value: load(...parts), weight: 0 };
    known.set(key, entry);
    const forget = (): void => {
      if (known.get(key) === entry) known.delete(key);
    };
    entry.value.then((loaded) => {
      if (known.get(key) !== entry) return;
      if (!isKept(loaded)) {
        forget();
        return;
      }
      entry.weight = weightOf(loaded);
      weight += entry.weight;
      if (weight > max) clear();
    }, forget);
    return entry.value;
  };
}
