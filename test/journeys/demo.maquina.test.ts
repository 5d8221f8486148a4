/** `npm run demo` as a new user sees it: ten notes, its printed next steps, and a second run that leaves the first alone. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { freshDataDir, ROOT } from '../support/process.ts';

const PATIENCE_MS = 600_000;
const DEMO = path.join(ROOT, 'scripts/demo.ts');
const folder = await freshDataDir();
const env = { ...process.env, PORT: '0' };

/** A command line that the demonstration prints. */
async function typed(line: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: ROOT, env });
  return stdout;
}

test('issues ten notes, says what to do next, and is not disturbed by a second one', {
  timeout: PATIENCE_MS,
}, async () => {
  const demo = spawn(process.execPath, [DEMO, '--pasta', folder], { cwd: ROOT, env });
  const ended = once(demo, 'close');
  let output = '';
  const ready = new Promise<void>((resolve) => {
    const collect = (chunk: Buffer): void => {
      output += chunk;
      if (/Ctrl-C encerra/.test(output)) resolve();
    };
    demo.stdout.on('data', collect);
    demo.stderr.on('data', collect);
  });
  try {
    await Promise.race([ready, ended]);
    assert.equal(output.match(/autorizada em \d+ ms$/gm)?.length, 10, output);

    const second = promisify(execFile)(process.execPath, [DEMO, '--pasta', folder], { cwd: ROOT, env });
    await assert.rejects(second, /está em uso por outra demonstração \(processo \d+\)\..*--pasta/s);
    const lines = output.split('\n').map((line) => line.trim());
    const curl = lines.find((line) => line.startsWith('uma nota'))!;
    const [, note] = / (http\S+)$/.exec(curl)!;
    const { nota } = (await (await fetch(note!)).json()) as { nota: { status: string } };
    assert.equal(nota.status, 'autorizada');

    const [sign, send, ...more] = lines.filter((line) => line.startsWith('npm run -s nfse -- '));
    assert.deepEqual(more, []);
    await typed(sign!);
    assert.match(await typed(send!), /autorizada/i);
  } finally {
    demo.kill('SIGINT');
  }
  assert.deepEqual(await ended, [0, null], output);
});

test('says which options it has, and takes no folder of somebody else', async () => {
  const refused = (...args: readonly string[]): Promise<unknown> =>
    promisify(execFile)(process.execPath, [DEMO, ...args], { cwd: ROOT, env });
  await assert.rejects(refused('--encerra'), /não entendi --encerra\. Há duas opções/);
  await assert.rejects(refused('--pasta', path.join(ROOT, 'docs')), /não são de uma demonstração/);
});
