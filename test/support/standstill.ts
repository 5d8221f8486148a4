/** Trials that a clock decides, on a machine that may stand still in the midst of them. */

const LOOK_EVERY_MS = 100;
/** A pause of this process that is longer may have cost the trial its time. */
const STANDSTILL_MS = 1_000;
const TRIALS_MAX = 5;

/** Makes a trial, and another one where it failed while this process stood still. */
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
 * Milliseconds in which this process had its turns, until it is asked: of the time between two of them no more than a turn counts. A limit
 * on it holds on a machine that stands still or gives this process little.
 */
export function countTimeAwake(): () => number {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), LOOK_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    return turns * LOOK_EVERY_MS;
  };
}
