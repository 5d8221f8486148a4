/** How long what could not be delivered waits, and how long a claim lasts. */
import type { World } from '../world/world.ts';

/** Time that a claim lasts; everything that a claim does takes less, or its outcome is no longer ours to write. */
export const LEASE_MS = 60_000;
/** Pause after a fault that only an operator can mend. */
export const MISCONFIGURED_PAUSE_MS = 60_000;
const BACKOFF_FIRST_MS = 1_000;
/** An environment that does not answer at all is the circuit's affair; a document alone need not wait longer than this. */
export const WAIT_MAX_MS = 60_000;

/**
 * Doubles up to its cap, without a budget for notas (D-52); the failed attempt is counted already. Chance in the last quarter keeps apart
 * what failed together.
 */
export function backoff(world: World, attempts: number, maxMs = WAIT_MAX_MS): number {
  return addJitter(world, Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(attempts - 1, 20), maxMs));
}

/** Between three quarters of a wait and the whole of it. */
export function addJitter(world: World, wholeMs: number): number {
  return Math.ceil(wholeMs * (0.75 + (0.25 * Number(world.randomDigits(3))) / 1_000));
}
