/** The archived log on its way to the copies, taken by a service and a command at once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { folderFor } from '../../../test/support/copia.ts';
import { ROOT } from '../../../test/support/process.ts';

const SISTEMA = '7000000000000000001';
const SEGMENTS = 40;
const PIECE = 1024 * 1024;

const SHIP = `import { shipWal } from './src/subjects/copias/wal.files.ts';
const [log, pasta] = process.argv.slice(1);
process.stdout.write(String(await shipWal(log, pasta, '${SISTEMA}', [])));`;

function ship(log: string, pasta: string): Promise<{ readonly code: number; readonly out: string }> {
  const args = ['--input-type=module', '-e', SHIP, log, pasta];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (out += text));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? -1, out })));
}

test('each segment is taken once, by one of those who come at once, and the last one is noted', async () => {
  const [log, pasta] = await Promise.all([folderFor('pronto'), folderFor('copias')]);
  await mkdir(log, { recursive: true });
  const names = Array.from({ length: SEGMENTS }, (_, at) => (at + 1).toString(16).toUpperCase().padStart(8, '0'));
  const segments = names.map((name) => `0000000100000000${name}`);
  for (const name of segments) await writeFile(path.join(log, name), randomBytes(PIECE));
  const done = await Promise.all([ship(log, pasta), ship(log, pasta), ship(log, pasta)]);
  for (const { code, out } of done) assert.equal(code, 0, out);
  assert.equal(
    done.reduce((sum, { out }) => sum + Number(out), 0),
    SEGMENTS,
  );
  assert.deepEqual(await readdir(log), []);
  const folder = path.join(pasta, SISTEMA, 'wal');
  const found = (await readdir(folder)).filter((name) => name !== 'ultimo.json' && !name.endsWith('.resumo')).sort();
  assert.deepEqual(
    found,
    segments.map((name) => `${name}.gz`),
  );
  assert.equal(JSON.parse(await readFile(path.join(folder, 'ultimo.json'), 'utf8')).segmento, segments.at(-1));
});
