/** Waiting for what comes by itself, for as long as it takes where the machine is slow. */
import { setTimeout as pause } from 'node:timers/promises';

/** Past this it will not come any more. */
const PATIENCE_MS = 180_000;
/** One look takes no longer: more than this the machine stood still, and what is waited for did as well. */
const STANDSTILL_MS = 5_000;
/** How often somebody who waits without asking counts the time. */
const PATIENCE_LOOK_MS = 1_000;
/** At first; then ever slower: who looks all the time takes the processor from what it waits for. */
const LOOK_EVERY_MS = 5;
const LOOK_EVERY_MAX_MS = 100;

/** Asks until there is an answer; `what` says what was waited for in vain. */
export async function until<T>(ask: () => Promise<T | undefined>, what: string): Promise<T> {
  let waitedMs = 0;
  // The monotonic clock may be in the hand of the test.
  let before = Date.now();
  for (let waitMs = LOOK_EVERY_MS; ; waitMs = Math.min(waitMs * 1.2, LOOK_EVERY_MAX_MS)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    const now = Date.now();
    waitedMs += Math.min(now - before, STANDSTILL_MS);
    before = now;
    if (waitedMs > PATIENCE_MS) throw new Error(`${what}: not within ${PATIENCE_MS / 1_000} s`);
    await pause(waitMs);
  }
}

/** Calls once as much time went by in which the machine did not stand still, unless it is called off before. */
export function onPatienceEnd(patienceMs: number, giveUp: () => void): () => void {
  let [waitedMs, before] = [0, Date.now()];
  const timer = setInterval(() => {
    const now = Date.now();
    waitedMs += Math.min(now - before, STANDSTILL_MS);
    before = now;
    if (waitedMs < patienceMs) return;
    clearInterval(timer);
    giveUp();
  }, PATIENCE_LOOK_MS);
  return () => clearInterval(timer);
}

/** Asks until it is so. */
export async function untilTrue(isSo: () => boolean, what: string): Promise<void> {
  await until(async () => isSo() || undefined, what);
}

/** How long it takes until it is asked, as a text: to be told, and compared with nothing. */
export function startStopwatch(): () => string {
  const began = Date.now();
  return () => `${Date.now() - began} ms`;
}

const STAYS_LOOK_MS = 50;

/**
 * Looks at what is not to change, for so long as it is looked at often: only time can tell it. A machine that stands still looks less often,
 * and finds nothing that is no fault.
 */
export async function assertStays(isSo: () => boolean | Promise<boolean>, forMs: number, what: string): Promise<void> {
  for (let looks = Math.ceil(forMs / STAYS_LOOK_MS); looks > 0; looks -= 1) {
    await pause(STAYS_LOOK_MS);
    if (!(await isSo())) throw new Error(`${what}: it did not stay so`);
  }
}
