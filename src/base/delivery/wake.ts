/** The only way to wake the worker. Code that makes rows due rings; the worker may sleep in another thread or process. */

export type Alarm = {
  /** Rings for a tenant, or for all tenants. */
  ring(tenant?: string): void;
  /** Clears the ring, and returns its tenants, which the caller then serves. Undefined: all tenants. */
  hush(): readonly string[] | undefined;
  /** Sleeps until a ring, at most so long; returns at once after a ring. */
  sleep(ms: number): Promise<void>;
  /** Waits so long, whether or not it rings, so that more work comes together; a hurry ends the wait. */
  gather(ms: number): Promise<void>;
  hurry(): void;
};

export function createAlarm(): Alarm {
  let hasRung = false;
  let isForAll = false;
  const tenants = new Set<string>();
  const [sleep, gathering] = [createPause(), createPause()];
  return {
    gather: gathering.wait,
    hurry: gathering.end,
    ring: (tenant) => {
      hasRung = true;
      if (tenant === undefined) isForAll = true;
      else tenants.add(tenant);
      sleep.end();
    },
    hush: () => {
      const rung = isForAll ? undefined : [...tenants];
      hasRung = false;
      isForAll = false;
      tenants.clear();
      return rung;
    },
    sleep: async (ms) => {
      if (!hasRung) await sleep.wait(ms);
    },
  };
}

/** A wait of at most so many milliseconds, which another caller may end. */
function createPause(): { wait(ms: number): Promise<void>; end(): void } {
  let end: (() => void) | undefined;
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    end: () => end?.(),
  };
}

/** Gathers the messages of one turn of the event loop, in their order: another thread is woken once for all of them. */
export function gatherTurn<Message>(send: (messages: readonly Message[]) => void): (message: Message) => void {
  let gathered: Message[] = [];
  return (message) => {
    gathered.push(message);
    if (gathered.length > 1) return;
    setImmediate(() => {
      const messages = gathered;
      gathered = [];
      send(messages);
    });
  };
}
