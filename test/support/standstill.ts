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
