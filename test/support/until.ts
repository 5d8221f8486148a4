/** Waiting for what comes by itself, for as long as it takes where the machine is slow. */
import { setTimeout as pause } from 'node:timers/promises';

/** Past this it will not come any more. */
const PATIENCE_MS = 180_000;
const LOOK_EVERY_MS = 5;

/** Asks until there is an answer; `what` says what was waited for in vain. */
export async function until<T>(ask: () => Promise<T | undefined>, what: string): Promise<T> {
  // The monotonic clock may be in the hand of the test.
  const began = Date.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() - began > PATIENCE_MS) throw new Error(`${what}: not within ${PATIENCE_MS / 1_000} s`);
    await pause(LOOK_EVERY_MS);
  }
}

/** Asks until it is so. */
export async function untilTrue(isSo: () => boolean, what: string): Promise<void> {
  await until(async () => isSo() || undefined, what);
}
