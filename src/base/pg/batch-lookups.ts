/** Combines look-ups of the same turn of the event loop into one statement a tenant. The issuance path need not wait row by row. */

/** `load` returns the values found for the keys; a missing key is undefined. */
export function batchLookups<Value>(
  load: (tenant: string, keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (tenant: string, key: string) => Promise<Value | undefined> {
  const waiting = new Map<string, { keys: Set<string>; found: Promise<ReadonlyMap<string, Value>> }>();
  return async (tenant, key) => {
    let batch = waiting.get(tenant);
    if (batch === undefined) {
      const keys = new Set<string>();
      const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        waiting.delete(tenant);
        return load(tenant, [...keys]);
      });
      batch = { keys, found };
      waiting.set(tenant, batch);
    }
    batch.keys.add(key);
    return (await batch.found).get(key);
  };
}
