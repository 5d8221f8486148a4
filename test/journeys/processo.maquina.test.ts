/** `npm start` as a newcomer uses it, and the fate of the notes when the process is killed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openEmbedded } from '../../src/base/pg/embedded.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { atOnce } from '../support/at-once.ts';
import { onEnd } from '../support/cleanup.ts';
import { authorised, emit, noteByKey, request } from '../support/http.ts';
import { freshDataDir, nfse, ROOT, readyDataDir, startServiceProcess } from '../support/process.ts';
import { untilTrue } from '../support/until.ts';

const run = promisify(execFile);

test('the printed curl line gives a note, the printed query shows it authorised, Ctrl-C ends in order', async () => {
  const service = await startServiceProcess({ NFSE_DATA_DIR: await freshDataDir() });
  const ready = await request(service.address, '/health/ready');
  assert.equal(ready.status, 200);
  const curl = /^\s*(curl -s -X POST .*)$/m.exec(service.output())![1]!;
  const { stdout } = await run('bash', ['-c', curl], { cwd: ROOT });
  const issued = JSON.parse(stdout);
  assert.equal(issued.status, 'OK');
  await authorised(service.address, issued.chave_acesso);
  const query = /^\s*(curl -s \S+CHAVE_DE_ACESSO)$/m.exec(service.output())![1]!;
  const shown = await run('bash', ['-c', query.replace('CHAVE_DE_ACESSO', issued.chave_acesso)]);
  assert.equal(JSON.parse(shown.stdout).nota.status, 'autorizada');
  // A repetition of the same command makes another note: the sample has no number.
  const again = JSON.parse((await run('bash', ['-c', curl], { cwd: ROOT })).stdout);
  assert.notEqual(again.chave_acesso, issued.chave_acesso);

  const cli = await run(process.execPath, ['src/main.js', 'emitir', 'examples/dps.xml', '--url', service.address], {
    cwd: ROOT,
  });
  assert.match(cli.stdout, /chave +[0-9]{50}[\s\S]*autorizada/);
  assert.equal(await service.end('SIGINT'), 0);
});

test('killed in the midst of a load: every answered note is there, none twice', async () => {
  const dataDir = await readyDataDir();
  const first = await startServiceProcess({ NFSE_DATA_DIR: dataDir });
  const answered = new Map<number, string>();
  const sent = new Set<number>();
  let number = 0;
  let killed = false;
  const client = async (): Promise<void> => {
    while (!killed) {
      number += 1;
      const mine = number;
      sent.add(mine);
      try {
        const answer = await emit(first.address, exampleXml({ serie: '1', nDPS: String(mine) }));
        assert.equal(answer.status, 201);
        answered.set(mine, answer.body.chave_acesso);
      } catch (error) {
        if (!killed) throw error;
      }
    }
  };
  const clients = Array.from({ length: 30 }, client);
  await untilTrue(() => answered.size >= 400, 'four hundred notes are answered');
  killed = true;
  await first.end('SIGKILL');
  await Promise.allSettled(clients);

  const second = await startServiceProcess({ NFSE_DATA_DIR: dataDir });
  await atOnce(answered, async ([mine, chave]) => {
    const { status, body } = await authorisedOrFound(second.address, chave);
    assert.equal(status, 200, `note ${mine} was answered and is gone`);
    assert.equal(body.nota.numero_dps_nacional, String(mine));
  });
  // A request without an answer was stored once or not at all: its repetition completes it and never doubles it.
  const numbers = new Set<string>();
  await atOnce(sent, async (mine) => {
    const again = await emit(second.address, exampleXml({ serie: '1', nDPS: String(mine) }));
    const chave = again.body.chave_acesso ?? again.body.erros[0].chave_acesso;
    if (again.status === 422) assert.equal(again.body.codigo_erro, 'E0014');
    if (answered.has(mine)) assert.equal(chave, answered.get(mine));
    numbers.add(chave.slice(23, 36));
  });
  assert.equal(numbers.size, sent.size);
  const highest = [...numbers].sort().at(-1)!;
  assert.equal(Number(highest), sent.size, 'numbers have no gap');
  assert.equal(await second.end('SIGTERM'), 0);
});

/** A note is available at once; its authorisation may still be under way after the restart. */
async function authorisedOrFound(
  address: string,
  chave: string,
): Promise<{ status: number; body: { nota: { numero_dps_nacional: string | null } } }> {
  const answer = await noteByKey(address, chave);
  return answer.status !== 200 || answer.body.nota.numero_dps_nacional !== null ? answer : authorised(address, chave);
}

test('a PostgreSQL of your own by DATABASE_URL: nothing else changes', async () => {
  const quiet = { info() {}, warn() {}, error() {} };
  const server = await openEmbedded({ dataDir: await freshDataDir(), log: quiet, transport: 'tcp' });
  onEnd(() => server.stop());
  const { host, port, user, password, database } = server.connection;
  const DATABASE_URL = `postgres://${user}:${encodeURIComponent(password!)}@${host}:${port}/${database}`;
  const own = { DATABASE_URL, NFSE_DATA_DIR: path.join(await freshDataDir(), 'never') };
  const service = await startServiceProcess(own);
  assert.ok(!service.output().includes(password!), 'the password is not printed');
  const issued = await emit(service.address, exampleXml());
  assert.equal(issued.status, 201);
  await authorised(service.address, issued.body.chave_acesso);
  assert.doesNotMatch(service.output(), /NFSE_BASE_URL/);
  assert.equal(await service.end('SIGINT'), 0);

  const made = await nfse(['municipio', 'criar', 'exemplo', '--ibge', '3550308'], own);
  assert.equal(made.code, 0, made.err);
  const warned = await startServiceProcess(own);
  const warning = /"municipios":\["exemplo"\].*NFSE_BASE_URL não está definida/;
  await untilTrue(() => warning.test(warned.output()), 'the warning is in the log');
  assert.equal(await warned.end('SIGINT'), 0);
});

test('wrong settings are told before anything is opened', async () => {
  const start = (env: NodeJS.ProcessEnv): Promise<{ stderr: string; code: number }> =>
    run(process.execPath, ['src/main.js', 'serve'], { cwd: ROOT, env: { ...process.env, ...env } }).then(
      () => assert.fail('it should not start'),
      (error) => error,
    );
  const port = await start({ PORT: 'oitenta' });
  assert.equal(port.code, 1);
  assert.match(port.stderr, /PORT=oitenta não é uma porta/);
  const url = await start({ DATABASE_URL: 'mysql://u:segredo@h/b' });
  assert.match(url.stderr, /DATABASE_URL não é um endereço válido/);
  assert.doesNotMatch(url.stderr, /segredo/);
});
