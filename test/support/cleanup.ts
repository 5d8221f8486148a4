/** What a test file has opened is closed when it ends, last opened first: a pool outlives what uses it. */
import { after } from 'node:test';

const closers: (() => unknown)[] = [];

after(async () => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
});

export function onEnd(close: () => unknown): void {
  closers.push(close);
}
