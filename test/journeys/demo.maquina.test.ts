/**
 * `npm run demo` as a new user sees it: two logins that work at once, six months of notes, its printed next steps. A
 * second run leaves the first alone.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Pessoa } from '../support/painel.ts';
import { ownPort } from '../support/ports.ts';
import { freshDataDir, ROOT } from '../support/process.ts';
import { until } from '../support/until.ts';

const PATIENCE_MS = 900_000;
const DEMO = path.join(ROOT, 'scripts/demo.ts');
const folder = await freshDataDir();
// An environment that opens the service to other machines does not open the demonstration.
const open = { NFSE_HOST: '0.0.0.0', NFSE_PAINEL_HOST: '0.0.0.0', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nada' };
const env = { ...process.env, ...open, PORT: '0', NFSE_PAINEL_PORTA: String(await ownPort()) };

/** A command line that the demonstration prints. */
async function typed(line: string): Promise<string> {
  const own = { ...process.env, PORT: '0' };
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: ROOT, env: own });
  return stdout;
}

test('lets two people in, issues six months, says what to do next, and is not disturbed by a second one', {
  timeout: PATIENCE_MS,
}, async () => {
  const demo = spawn(process.execPath, [DEMO, '--pasta', folder], { cwd: ROOT, env });
  const ended = once(demo, 'close');
  let output = '';
  for (const stream of [demo.stdout, demo.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  const said = (what: RegExp): Promise<RegExpExecArray> =>
    until(async () => {
      assert.equal(demo.exitCode, null, output);
      return what.exec(output) ?? undefined;
    }, String(what));
  try {
    const [, origin] = await said(/aberto, depois de \d+ s: (http:\/\/localhost:\d+)\n[\s\S]*Só esta máquina/);
    const enter = async (login: string): Promise<{ pessoa: Pessoa; html: string }> => {
      const [, senha] = new RegExp(`login ${login} +senha (\\S+)`).exec(output)!;
      const pessoa = new Pessoa({ origin: origin! });
      await pessoa.open('/entrar');
      return { pessoa, html: (await pessoa.send('/entrar', { login, senha: senha! })).html };
    };
    assert.match((await enter('auditora')).html, /<h1>Hoje<\/h1>/);
    const clerk = await enter('atendente');
    assert.match(clerk.html, /Segundo fator/);
    const before = output.length;
    demo.stdin.write('\n');
    const codigo = await until(async () => /atendente agora: (\d{6})/.exec(output.slice(before))?.[1], 'a code');
    assert.match((await clerk.pessoa.send('/segundo-fator', { codigo })).html, /<h1>Hoje<\/h1>/);

    await said(/Ctrl-C encerra\./);
    const months = [...output.matchAll(/competência (\d{4}-\d\d) {2}(\d+) notas, (\d+) eventos, (\d+) recusas/g)];
    assert.equal(new Set(months.map(([, month]) => month)).size, 6, output);
    for (const [line, , ...counts] of months) assert.ok(Math.min(...counts.map(Number)) > 1, line);

    const second = promisify(execFile)(process.execPath, [DEMO, '--pasta', folder], { cwd: ROOT, env });
    await assert.rejects(second, /está em uso por outra demonstração \(processo \d+\)\..*--pasta/s);
    const lines = output.split('\n').map((line) => line.trim());
    const shown = async (named: string): Promise<string> => {
      const [, address] = / (http:\/\/127\.0\.0\.1:\S+)$/.exec(lines.find((line) => line.startsWith(named))!)!;
      return (await fetch(address!)).text();
    };
    assert.match(await shown('uma nota, como o tomador vê'), /<b>(?:Válida|Em processamento)\.<\/b>/);
    assert.match(await shown('uma nota retida'), /Espera por uma alíquota/);

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
