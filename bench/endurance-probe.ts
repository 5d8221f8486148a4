/**
 * A probe that `--import` loads into each thread of the service. It writes the thread's memory and the delay of its
 * event loop every few seconds, into the folder of `BENCH_PROBE`.
 */
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { threadId } from 'node:worker_threads';

/** Bytes; milliseconds of delay of the event loop, the longest of a hundred looks. */
export type Held = {
  readonly thread: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
  readonly late: number;
};

const LOOK_MS = 5_000;

const folder = process.env['BENCH_PROBE'];
if (folder !== undefined) {
  const file = path.join(folder, `${process.pid}-${threadId}.json`);
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  setInterval(() => {
    const { heapUsed, heapTotal, external } = process.memoryUsage();
    const late = delay.percentile(99) / 1e6;
    delay.reset();
    writeFileSync(
      `${file}.novo`,
      JSON.stringify({ thread: threadId, heapUsed, heapTotal, external, late } satisfies Held),
    );
    // A reader always finds a whole file.
    renameSync(`${file}.novo`, file);
  }, LOOK_MS).unref();
}
