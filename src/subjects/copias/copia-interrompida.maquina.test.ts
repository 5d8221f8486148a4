/** A restoration under way, or one that was interrupted: no new, empty database takes the place of the missing one. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { casaOf, freshCopias } from '../../../test/support/copia.ts';
import { nfse, readyDataDir, startServiceProcess } from '../../../test/support/process.ts';

const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

test('a service does not begin anew beside a restoration that has not ended', {
  skip: noServer,
  timeout: 300_000,
}, async () => {
  const casa = casaOf(await readyDataDir(), await freshCopias());
  const service = await startServiceProcess(casa.env);
  await casa.done('fazer');
  await service.end('SIGINT');
  // The state after a power loss between the two renames: the old database is set aside, the new one is not in its place.
  const staging = path.join(path.dirname(casa.location), 'restauracao-1-0a0b0c0d');
  await mkdir(staging);
  await rename(casa.location, `${casa.location}-guardado-20261128T101500Z`);
  const { code, err } = await nfse(['serve'], casa.env);
  assert.equal(code, 1, err);
  assert.ok(err.includes(staging), err);
  assert.match(err, /nenhum novo é criado/);
  assert.ok(!existsSync(casa.location));
  await casa.done('restaurar');
  const again = await startServiceProcess(casa.env);
  assert.equal((await fetch(`${again.address}/health/ready`)).status, 200);
  await again.end('SIGINT');
  await rm(staging, { recursive: true });
});
