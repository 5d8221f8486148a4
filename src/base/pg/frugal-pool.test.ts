/** A pool whose connections were all refused, in a process without other work. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const SCRIPT = `
  const { FrugalPool } = await import(${JSON.stringify(new URL('./frugal-pool.ts', import.meta.url).href)});
  const overview = { countOpen: () => 0, isWorthwhile: () => true };
  const pool = new FrugalPool({ max: 3, connectionTimeoutMillis: 200 }, overview);
  pool.heedRefusal();
  await pool.connect().catch((error) => console.log(error.kind));
`;

test('who waits for a connection is told that none came, and the process does not end before', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT]);
  assert.equal(stdout.trim(), 'crowded');
});
