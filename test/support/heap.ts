/** What a process holds once all that nobody needs any more is gone: a measure of memory that does not hang on when the collector ran. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LONG } from './seed.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'major'; execution: 'async' }) => Promise<void>;

/** Parts of a run between which the heap is looked at; up to the second one, the service, the compiler and the caches warm up. */
const PARTS = [0.25, 0.5, 0.75, 1] as const;
const WARM = 1;
/** What may be held more at the end than when it was warm: compiled code and caches that are still being filled. */
const GROWTH_MAX_BYTES = (LONG ? 16 : 4) * 1024 * 1024;

/**
 * Bytes of the heap that are held after full collections. Several, each after a turn of the event loop: what waits for a finalizer
 * (parsed documents, sockets) is let go only between two of them.
 */
export async function heldBytes(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await collect({ type: 'major', execution: 'async' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

/**
 * Runs `runUntil(end)` for each part of `all` and asserts that the second half left nothing behind. `forget` drops what the test itself
 * has gathered meanwhile.
 */
export async function assertHoldsNothing(
  context: TestContext,
  all: number,
  runUntil: (end: number) => Promise<unknown>,
  forget: () => void,
): Promise<void> {
  const held: number[] = [];
  for (const part of PARTS) {
    await runUntil(Math.ceil(all * part));
    forget();
    held.push(await heldBytes());
  }
  context.diagnostic(`held MiB ${held.map((bytes) => (bytes / 1024 / 1024).toFixed(1)).join(' ')}`);
  const growth = held.at(-1)! - held[WARM]!;
  assert.ok(growth < GROWTH_MAX_BYTES, `${growth} bytes are held more after all than after half of them: ${held}`);
}
