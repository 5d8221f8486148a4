/** The one way to wake the worker: whoever has made something due rings, wherever the worker sleeps. */

export type Alarm = {
  /** For a tenant, or for whoever it may be. */
  ring(tenant?: string): void;
  /** Forgets that it rang, and tells for whom: that is about to be looked at. Undefined: for whoever it may be. */
  hush(): readonly string[] | undefined;
  /** Until it rings, or for so long; not at all where it has rung. */
  sleep(ms: number): Promise<void>;
};

export function createAlarm(): Alarm {
  let hasRung = false;
  let isForAll = false;
  const tenants = new Set<string>();
  let end: (() => void) | undefined;
  return {
    ring: (tenant) => {
      hasRung = true;
      if (tenant === undefined) isForAll = true;
      else tenants.add(tenant);
      end?.();
    },
    hush: () => {
      const rung = isForAll ? undefined : [...tenants];
      hasRung = false;
      isForAll = false;
      tenants.clear();
      return rung;
    },
    sleep: async (ms) => {
      if (hasRung) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}

/** Rings once for all tenants for whom something is made due in one turn of the event loop: the bell may hang in another thread. */
export function ringOnce(ring: (tenants: readonly string[]) => void): (tenant: string) => void {
  const tenants = new Set<string>();
  return (tenant) => {
    tenants.add(tenant);
    if (tenants.size > 1) return;
    setImmediate(() => {
      const all = [...tenants];
      tenants.clear();
      ring(all);
    });
  };
}
