/** The log at a terminal: each entry is a line that a person reads, and a pipe gets the JSON of before. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { freshFolder } from '../../test/support/openssl.ts';
import { describeEntry } from './log.ts';

const AT = new Date(2026, 10, 30, 9, 5, 7).toISOString();

test('an entry is a local time, a word, a message and its data', () => {
  const entry = { level: 40, time: AT, municipios: ['alfa'], porta: 8080, msg: 'falta um endereço' };
  assert.equal(
    describeEntry(JSON.stringify(entry)),
    '09:05:07 Aviso: falta um endereço (municipios=["alfa"], porta=8080)\n',
  );
});

test('an error is told with its place, and without a second copy of its message', () => {
  const err = {
    type: 'Error',
    message: 'sem resposta',
    code: 'ETIMEDOUT',
    stack: 'Error: sem resposta\n    at one (a.ts:1:2)',
  };
  assert.equal(
    describeEntry(JSON.stringify({ level: 50, time: AT, err, msg: 'a ronda falhou' })),
    '09:05:07 Erro: a ronda falhou: sem resposta ETIMEDOUT\n    at one (a.ts:1:2)\n',
  );
});

/** `script` of util-linux gives a program a terminal; that of other systems is typed otherwise. */
const SCRIPT = '/usr/bin/script';
const skip = process.platform === 'linux' && existsSync(SCRIPT) ? false : 'pede o script do util-linux';

test('a terminal gets the line, from a thread as well, and a pipe gets JSON', { skip }, () => {
  const log = new URL('./log.ts', import.meta.url);
  const source = `
    const { isMainThread, Worker } = await import('node:worker_threads');
    const { createLog } = await import('${log}');
    const { log, flush } = createLog('info');
    log.warn({ porta: 1 }, isMainThread ? 'do processo' : 'da linha');
    flush();
    if (isMainThread) new Worker(process.argv[1]);
  `;
  const file = path.join(freshFolder(), 'log.mjs');
  writeFileSync(file, source);
  const piped = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  assert.deepEqual(
    piped.stderr
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg),
    ['do processo', 'da linha'],
  );
  const shown = spawnSync(SCRIPT, ['-qec', `${process.execPath} ${file}`, '/dev/null'], { encoding: 'utf8' });
  assert.match(
    shown.stdout,
    /^\d\d:\d\d:\d\d Aviso: do processo \(porta=1\)\r\n\d\d:\d\d:\d\d Aviso: da linha \(porta=1\)\r\n$/,
  );
});
