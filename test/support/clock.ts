/** The monotonic clock of this process under the control of a test; failed tries and cached data age by it. */
import type { TestContext } from 'node:test';

/** The clock stands still until the test moves it. Its first value is a whole number, so that limits fall where the test says. */
export function monotonicClock(t: TestContext): { passMs(ms: number): void } {
  let now = Math.ceil(performance.now());
  t.mock.method(performance, 'now', () => now);
  return {
    passMs: (ms) => {
      now += ms;
    },
  };
}
