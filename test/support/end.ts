/**
 * What is loaded before each test file: it ends a file that does not end by itself once its last test has, because something that it opened
 * keeps its process, and it notes what the file cost.
 */
import { appendFileSync } from 'node:fs';
import { after } from 'node:test';
import { isMainThread } from 'node:worker_threads';
import { readCpuMs } from './cpu.ts';

/** For what the file closes at its end, on a machine that may stand still for a minute. */
const END_MAX_MS = 180_000;

// The runner itself is not a file of tests, and neither is a thread of one.
if (process.env.NODE_TEST_CONTEXT !== undefined && isMainThread) {
  after(() => {
    setTimeout(() => {
      console.error(
        `${process.argv[1]} has ended its tests, and left open: ${process.getActiveResourcesInfo().join(', ')}`,
      );
      process.exit(1);
    }, END_MAX_MS).unref();
  });
  const costs = process.env.NFSE_TEST_CUSTOS;
  if (costs !== undefined) {
    process.on('exit', () =>
      appendFileSync(costs, `${JSON.stringify({ file: process.argv[1], cpuMs: readCpuMs() })}\n`),
    );
  }
}
