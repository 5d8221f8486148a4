/** Files of a copy never unpack into more than there is room for. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { onEnd } from '../../../test/support/cleanup.ts';
import { CopiaRecusada, collectUpTo, unseal } from './cifra.files.ts';

test('a file that unpacks into more than it may is refused before it is whole', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-copias-'));
  onEnd(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'base.gz');
  await writeFile(file, gzipSync(Buffer.alloc(3_000_000)));
  assert.equal((await unseal(file, [], collectUpTo(3_000_000))).length, 3_000_000);
  await assert.rejects(unseal(file, [], collectUpTo(2_999_999)), (error: Error) => {
    assert.ok(error instanceof CopiaRecusada);
    assert.match(error.message, /base\.gz está danificado, ou não pôde ser lido: aberto, tem mais de 2999999 bytes/);
    return true;
  });
});
