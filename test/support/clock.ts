/** The monotonic clock of this process in the hand of a test: by it misses are forgotten, and what was read grows old. */
import type { TestContext } from 'node:test';

/** It stands still until it is moved. A whole number at first, so that limits fall where the test says. */
export function monotonicClock(t: TestContext): { passMs(ms: number): void } {
  let now = Math.ceil(performance.now());
  t.mock.method(performance, 'now', () => now);
  return {
    passMs: (ms) => {
      now += ms;
    },
  };
}
