/** Closes a test file's resources when the file ends, in reverse order, since a pool must outlive its users. */
import { after } from 'node:test';

const closers: (() => unknown)[] = [];
const lasts: (() => unknown)[] = [];

/** All are called, even if one throws; the first error is thrown again. */
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

// A worker of the runner runs many files, and calls it after each.
if (!process.argv[1]?.endsWith('/test-worker.ts')) after(closeAll);

export function onEnd(close: () => unknown): void {
  closers.push(close);
}

/** Runs at the end of each file of this process, after everything else is closed. */
export function onEveryEnd(look: () => unknown): void {
  lasts.push(look);
}
