/** The reachable memory of a process: a measure that does not depend on the timing of the garbage collector. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LONG } from './seed.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'major'; execution: 'async' }) => Promise<void>;

/** Fractions of a run after which the heap is measured. The service, the compiler and the caches warm up until the second one. */
const PARTS = [0.25, 0.5, 0.75, 1] as const;
const WARM = 1;
/** Allowed growth after the warm-up: compiled code, and caches that are still filling. */
const GROWTH_MAX_BYTES = (LONG ? 16 : 4) * 1024 * 1024;

/**
 * Bytes of the heap after full collections. Several collections run, each after a turn of the event loop. Objects with a finalizer (parsed
 * documents, sockets) are released only between two of them.
 */
export async function heldBytes(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await collect({ type: 'major', execution: 'async' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

/**
 * Runs `runUntil(end)` for each part of `all` and asserts that the second half leaked nothing. `forget` drops the data that the test itself
 * gathered meanwhile.
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
