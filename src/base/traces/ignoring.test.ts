/** The errors that are ignored by name: silent as a rule, and shown when a person asks for them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { ignoring } from './ignoring.ts';

const PROGRAM = `
  import { ignoring } from ${JSON.stringify(path.join(import.meta.dirname, 'ignoring.ts'))};
  await Promise.reject(new Error('ECONNRESET')).catch(ignoring('the socket may be gone already'));`;

function runWith(debug: string): string {
  const env = { ...process.env, NODE_DEBUG: debug };
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', PROGRAM], {
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stderr;
}

test('an ignored error is no answer', async () => {
  const found = await Promise.reject<string>(new Error('gone')).catch(ignoring('nothing is left to end'));
  assert.equal(found, undefined);
});

test('NODE_DEBUG=nfse shows the reason and the error, and nothing else does', () => {
  assert.match(runWith('nfse'), /^NFSE \d+: ignored, since the socket may be gone already: Error: ECONNRESET$/m);
  assert.doesNotMatch(runWith(''), /ignored/);
});
