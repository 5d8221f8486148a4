/**
 * What is read at every request and changes seldom (a municipality, its services, an establishment) is kept for a moment.
 * A change is seen by every process within that moment, without anybody telling anybody.
 */

const FRESH_MS = 2_000;
/** At most this many keys, so that made-up addresses cannot fill the memory. */
const KEYS_MAX = 20_000;

/** `isKept`: whether a value may be answered again; what is about to appear (a provider's first note) should not. */
export function remembered<Value>(
  load: (...key: readonly string[]) => Promise<Value>,
  isKept: (value: Value) => boolean = () => true,
): (...key: readonly string[]) => Promise<Value> {
  const known = new Map<string, { readonly at: number; readonly value: Promise<Value> }>();
  return (...parts) => {
    const key = parts.join(' ');
    const now = performance.now();
    const one = known.get(key);
    if (one !== undefined && now - one.at < FRESH_MS) return one.value;
    if (known.size >= KEYS_MAX) known.clear();
    const value = load(...parts);
    known.set(key, { at: now, value });
    const forget = (): void => {
      if (known.get(key)?.value === value) known.delete(key);
    };
    value.then((loaded) => {
      if (!isKept(loaded)) forget();
    }, forget);
    return value;
  };
}
