/**
 * The process that reads a spreadsheet: a thread reads, and this one measures. The library keeps what it unpacks outside of the heap, whose
 * limit does not see it (D-853).
 */
import { Worker } from 'node:worker_threads';

/** Twice what the largest good file takes. */
const MEMORY_MAX_BYTES = 1_536 * 1024 * 1024;
/** A hostile file fills a hundred megabytes in this time. */
const LOOK_EVERY_MS = 25;

const look = setInterval(() => {
  if (process.memoryUsage.rss() > MEMORY_MAX_BYTES) process.kill(process.pid, 'SIGKILL');
}, LOOK_EVERY_MS);
const reader = new Worker(new URL('./sheet-reader.ts', import.meta.url), { argv: process.argv.slice(2) });
reader.once('exit', (code) => {
  clearInterval(look);
  process.exitCode = code;
});
