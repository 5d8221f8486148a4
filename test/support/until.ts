/** Waits for an event to happen by itself, for as long as a slow machine needs. */
import { setTimeout as pause } from 'node:timers/promises';

/** The time after which the event will not happen any more. */
const PATIENCE_MS = 180_000;
/** No look takes longer. A longer pause means that the machine stood still, and so did the awaited work. */
const STANDSTILL_MS = 5_000;
/** The interval in which a passive wait counts its time. */
const PATIENCE_LOOK_MS = 1_000;
/** The first interval; later ones grow, since constant polling takes processor time from the awaited work. */
const LOOK_EVERY_MS = 5;
const LOOK_EVERY_MAX_MS = 100;

/** Repeats the question until there is an answer; `what` names the awaited event in the error. */
export async function until<T>(ask: () => Promise<T | undefined>, what: string): Promise<T> {
  let waitedMs = 0;
  // The monotonic clock may be under the control of the test.
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

/** Calls back after so much time in which the machine did not stand still, unless it is cancelled before. */
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

/** Waits until the condition is true. */
export async function untilTrue(isSo: () => boolean, what: string): Promise<void> {
  await until(async () => isSo() || undefined, what);
}

/** The time until the call, as a text: for output, not for comparison. */
export function startStopwatch(): () => string {
  const began = Date.now();
  return () => `${Date.now() - began} ms`;
}

const STAYS_LOOK_MS = 50;

/**
 * Checks repeatedly that a condition stays true: only time can show it. A machine that stands still checks less often, and reports no false
 * failure.
 */
export async function assertStays(isSo: () => boolean | Promise<boolean>, forMs: number, what: string): Promise<void> {
  for (let looks = Math.ceil(forMs / STAYS_LOOK_MS); looks > 0; looks -= 1) {
    await pause(STAYS_LOOK_MS);
    if (!(await isSo())) throw new Error(`${what}: it did not stay so`);
  }
}
