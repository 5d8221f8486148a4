/** A copy is restored whole into a folder of any name. */
import assert from 'node:assert/strict';
import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { casaOf, emissionAt, folderFor, freshCopias } from '../../../test/support/copia.ts';
import { readyDataDir, startServiceProcess } from '../../../test/support/process.ts';

const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

/** Names with characters that a shell interprets within quotes, or PostgreSQL in a command. */
const NAMES = ['com espaço', "a'b", 'a"b', 'a$HOME', 'a`id`', 'a\\b', '100%fim', '%p%r%%'];

test('what was archived after the copy is there, whatever the folder is called', {
  skip: noServer,
  timeout: 300_000,
}, async () => {
  const casa = casaOf(await readyDataDir(), await freshCopias());
  const service = await startServiceProcess(casa.env);
  const emissao = emissionAt(() => service.address);
  await emissao.more(4);
  await casa.done('fazer');
  await emissao.more(20);
  await service.end('SIGINT');
  const base = await folderFor('nomes');
  await chmod(base, 0o755);
  for (const name of NAMES) {
    const folder = path.join(base, name);
    await mkdir(folder);
    await chmod(folder, 0o755);
    const out = await casa.done('restaurar', '--para', path.join(folder, 'pg'));
    assert.match(out, new RegExp(`^ *notas +${emissao.notas.length}$`, 'm'), `${name}\n${out}`);
  }
});
