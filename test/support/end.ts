/** Ends a test file that does not end by itself once its last test has: something that it opened keeps its process. Loaded before each. */
import { after } from 'node:test';

/** For what the file closes at its end, on a machine that may stand still for a minute. */
const END_MAX_MS = 180_000;

// The runner itself is not a file of tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(() => {
    setTimeout(() => {
      console.error(
        `${process.argv[1]} has ended its tests, and left open: ${process.getActiveResourcesInfo().join(', ')}`,
      );
      process.exit(1);
    }, END_MAX_MS).unref();
  });
}
