/**
 * Loaded into the service by `--import`, in each of its threads: writes every few seconds what the thread holds, and how late its event loop
 * was meanwhile, into the folder that `BENCH_PROBE` names.
 */
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { threadId } from 'node:worker_threads';

/** Bytes; milliseconds by which the event loop was late, of a hundred looks the longest. */
export type Held = {
  readonly thread: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
  readonly late: number;
};

const LOOK_MS = 5_000;

const folder = process.env.BENCH_PROBE;
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
    // Whoever reads meanwhile finds a whole file.
    renameSync(`${file}.novo`, file);
  }, LOOK_MS).unref();
}
