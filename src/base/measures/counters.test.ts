/** The delay of the event loop as several watchers read it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

const PACE = new URL('../../../test/support/pace.ts', import.meta.url).href;

/** A thread that stood still once. Its clock of windows is held. */
const THREAD = `
  const { mock } = await import('node:test');
  const { pace } = await import(${JSON.stringify(PACE)});
  const { parentPort } = await import('node:worker_threads');
  const { takeSnapshot, watchLoop } = await import(${JSON.stringify(new URL('./counters.ts', import.meta.url).href)});
  mock.timers.enable({ apis: ['setInterval'] });
  watchLoop();
  const read = async () => {
    const snapshot = await takeSnapshot('1', 'requisicoes');
    return snapshot.find(({ name }) => name === 'nfse_laco_atraso_seconds').values[0].value;
  };
  // The measure begins with the first look.
  await pace(50);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  await pace(50);
  const found = [await read()];
  await pace(50);
  found.push(await read());
  mock.timers.tick(60_000);
  found.push(await read());
  parentPort.postMessage(found);
`;

test('each reading of one minute tells the same delay, and so does the next minute', async () => {
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`));
  const found = await new Promise<readonly number[]>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
  await thread.terminate();
  for (const seconds of found) assert.ok(seconds > 0.4, `read ${found.join(', ')}`);
});
