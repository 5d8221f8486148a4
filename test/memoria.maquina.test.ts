/** The memory of an idle service with its console, as `npm start` runs it, once Node has kept what it compiled. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { startService } from '../scripts/stage.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { ownPort } from './support/ports.ts';
import { freshDataDir } from './support/process.ts';
import { until } from './support/until.ts';

/** 206 MB where it was measured; another machine maps more of the program, or has larger pages. */
const IDLE_MAX_BYTES = 240e6;

/** Resident bytes of a process with all its threads. */
function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
}

const skip = process.platform !== 'linux' && 'the memory of a process is read in /proc';

test('an idle service holds no more than it needs', { skip }, async (context) => {
  const env = {
    NFSE_DATA_DIR: await freshDataDir(),
    DATABASE_URL: databaseUrlOf(await freshDatabase()),
    NFSE_PAINEL_PORTA: String(await ownPort()),
  };
  // The first start compiles, and leaves what it compiled to the second.
  const first = await startService(env);
  onEnd(() => first.end('SIGINT'));
  await first.end('SIGINT');
  const service = await startService(env);
  onEnd(() => service.end('SIGINT'));
  let bytes = 0;
  const isSmall = async (): Promise<true | undefined> => {
    bytes = residentOf(service.pid);
    return bytes < IDLE_MAX_BYTES || undefined;
  };
  await until(isSmall, `below ${IDLE_MAX_BYTES} bytes`).catch((error: Error) =>
    assert.fail(`${error.message}: ${bytes}`),
  );
  context.diagnostic(`${(bytes / 1e6).toFixed(0)} MB`);
});
