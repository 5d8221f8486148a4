/** `scripts/prepare-machine.sh` installs every Debian package that a test names, and no other. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { PACKAGES as HIGH_AVAILABILITY } from './support/alta-configuracao.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
/** The packages of a call of `test/support/tools.ts`, or those that several calls share. */
const NAMED = /\btoolOr\(\s*(?:\w+|'[^']*'),\s*'([^']+)'|\binstalled\(\s*'([^']+)'|_PACKAGES =\s*'([^']+)'/g;

test('the machine is prepared with the packages that the tests name', () => {
  const tests = globSync(['{test,src}/**/*.ts', 'packages/*/test/**/*.ts'], { cwd: ROOT });
  const named = tests.flatMap((file) => [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(NAMED)]);
  const all = named.flatMap(([, ...groups]) => groups.join('').split(' '));
  const listed = execFileSync('sh', ['scripts/prepare-machine.sh', '--list'], { cwd: ROOT, encoding: 'utf8' });
  const expected = new Set([...all, ...Object.values(HIGH_AVAILABILITY)]);
  assert.ok(expected.size > 30);
  assert.deepEqual(listed.trim().split('\n').sort(), [...expected].sort());
});
