/** Waiting for what comes by itself, for as long as it takes where the machine is slow. */
import { setTimeout as pause } from 'node:timers/promises';

/** Past this it will not come any more. */
const PATIENCE_MS = 180_000;
const LOOK_EVERY_MS = 20;

/** Asks until there is an answer; `what` says what was waited for in vain. */
export async function until<T>(ask: () => Promise<T | undefined>, what: string): Promise<T> {
  const began = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() - began > PATIENCE_MS) throw new Error(`${what}: not within ${PATIENCE_MS / 1_000} s`);
    await pause(LOOK_EVERY_MS);
  }
}
