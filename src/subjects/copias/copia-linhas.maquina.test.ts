/** A way back over a timeline whose only archived file is its history. */
import assert from 'node:assert/strict';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { casaOf, emissionAt, folderFor, freshCopias } from '../../../test/support/copia.ts';
import { readyDataDir, startServiceProcess } from '../../../test/support/process.ts';

const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

test('what was archived before a restoration is not lost with what came after it', {
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
  await casa.done('restaurar', '--guardar-atual');
  const again = await startServiceProcess(casa.env);
  const [sistema] = await readdir(casa.copias);
  const wal = path.join(casa.copias, sistema!, 'wal');
  await again.end('SIGINT');
  // A promoted server can leave this state: its disk dies after the transfer of the new timeline's history, and before its first segment.
  const names = await readdir(wal);
  assert.ok(names.includes('00000002.history.gz'), names.join());
  for (const name of names.filter((one) => one.startsWith('000000020'))) await rm(path.join(wal, name));
  const last = names
    .filter((one) => one.startsWith('000000010'))
    .sort()
    .at(-1)!;
  const ate = JSON.parse(await readFile(path.join(wal, 'ultimo.json'), 'utf8'));
  await writeFile(path.join(wal, 'ultimo.json'), JSON.stringify({ ...ate, segmento: last.slice(0, 24) }));

  const folder = await folderFor('volta');
  await chmod(folder, 0o755);
  const out = await casa.done('restaurar', '--para', path.join(folder, 'pg'));
  assert.match(out, new RegExp(`^ *notas +${emissao.notas.length}$`, 'm'), out);
});
