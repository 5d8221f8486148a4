/** What a test file has opened is closed when it ends, last opened first: a pool outlives what uses it. */
import { after } from 'node:test';

const closers: (() => unknown)[] = [];
const lasts: (() => unknown)[] = [];

/** All are called, even where one throws; the first that threw is told. */
export async function closeAll(): Promise<void> {
  const faults: unknown[] = [];
  const due = [...lasts];
  for (let close = closers.pop() ?? due.shift(); close !== undefined; close = closers.pop() ?? due.shift()) {
    try {
      await close();
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}

// A worker of the runner has many files, and calls it after each.
if (!process.argv[1]?.endsWith('/test-worker.ts')) after(closeAll);

export function onEnd(close: () => unknown): void {
  closers.push(close);
}

/** At the end of each file that this process runs, once all else is closed. */
export function onEveryEnd(look: () => unknown): void {
  lasts.push(look);
}
