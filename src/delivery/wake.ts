/** The one way to wake the worker: whoever has made something due rings, wherever the worker sleeps. */

export type Alarm = {
  ring(): void;
  /** Forgets that it rang: what it rang for is about to be looked at. */
  hush(): void;
  /** Until it rings, or for so long; not at all where it has rung. */
  sleep(ms: number): Promise<void>;
};

export function createAlarm(): Alarm {
  let hasRung = false;
  let end: (() => void) | undefined;
  return {
    ring: () => {
      hasRung = true;
      end?.();
    },
    hush: () => {
      hasRung = false;
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

/** Rings once for all that is made due in one turn of the event loop: the bell may hang in another thread. */
export function ringOnce(ring: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      ring();
    });
  };
}
