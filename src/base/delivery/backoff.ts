/** Waits after a failed delivery, and the duration of a claim. */
import type { World } from '../world/world.ts';

/** Duration of a claim. The work under a claim takes less time; afterwards another process may own the outcome. */
export const LEASE_MS = 60_000;
/** Pause after a fault that only an operator can repair. */
export const MISCONFIGURED_PAUSE_MS = 60_000;
const BACKOFF_FIRST_MS = 1_000;
/** Longest wait of one document. The circuit handles an environment that does not answer at all. */
export const WAIT_MAX_MS = 60_000;

/**
 * Doubles up to its cap, and never gives a nota up (D-52). The failed attempt is counted already. Random time in the last quarter separates
 * documents that failed together.
 */
export function backoff(world: World, attempts: number, maxMs = WAIT_MAX_MS): number {
  return addJitter(world, Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(attempts - 1, 20), maxMs));
}

/** A random time between three quarters of a wait and the whole wait. */
export function addJitter(world: World, wholeMs: number): number {
  return Math.ceil(wholeMs * (0.75 + (0.25 * Number(world.randomDigits(3))) / 1_000));
}
