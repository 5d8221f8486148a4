/** Time-dependent tests on a machine that may stop in the middle. */

const LOOK_EVERY_MS = 100;
/** A longer pause of this process may have used up the time of the test. */
const STANDSTILL_MS = 1_000;
const TRIALS_MAX = 5;

/** Runs a test, and repeats it if it failed while this process stood still. */
export async function unlessStoodStill(trial: () => Promise<void>): Promise<void> {
  for (let left = TRIALS_MAX; ; left -= 1) {
    let before = Date.now();
    let longestMs = 0;
    const look = (): void => {
      const now = Date.now();
      longestMs = Math.max(longestMs, now - before);
      before = now;
    };
    const watch = setInterval(look, LOOK_EVERY_MS);
    try {
      return await trial();
    } catch (error) {
      look();
      if (left === 1 || longestMs < STANDSTILL_MS) throw error;
    } finally {
      clearInterval(watch);
    }
  }
}

/**
 * Counts the milliseconds in which this process ran: at most one interval counts between two ticks. A limit on this count also holds on a
 * machine that pauses, or gives this process little time.
 */
export function countTimeAwake(): () => number {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), LOOK_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    return turns * LOOK_EVERY_MS;
  };
}
