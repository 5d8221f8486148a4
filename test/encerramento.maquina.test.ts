/**
 * The end of the service as an operator requests it: a signal to npm, to the first process of a container, to npx, under load or at rest.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { describe, test } from 'node:test';
import { Client } from '../src/base/pg/pg.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { emit, request } from './support/http.ts';
import { pace } from './support/pace.ts';
import { ownPort } from './support/ports.ts';
import { freshDataDir, nfse, readyDataDir } from './support/process.ts';
import { startProxy } from './support/proxy.ts';
import { montarPalco } from './support/simulador.ts';
import { unlessStoodStill } from './support/standstill.ts';
import { SERVING, type Started, said, start } from './support/started.ts';
import { until, untilTrue } from './support/until.ts';

/** The child of the process that makes a namespace is the first process of that namespace. */
const firstOf = ({ child }: Started): Promise<number> =>
  until(
    async () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')) || undefined,
    'pid 1',
  );

/** The pause between two notes of a client: a constant stream of requests matters, not their number. */
const LINE_PAUSE_MS = 50;

type Load = { readonly answers: number[]; readonly broken: string[]; readonly done: Promise<void> };

/** A client with persistent connections, like an ERP, that issues one note after another until the port is closed. */
function issueOn(address: string, from: number): Load {
  const agent = new http.Agent({ keepAlive: true });
  const [answers, broken]: [number[], string[]] = [[], []];
  let closed = false;
  let number = from;
  const one = (body: string): Promise<void> =>
    new Promise((resolve) => {
      const options = { agent, method: 'POST', headers: { 'Content-Type': 'application/xml' } };
      const sent = http.request(`${address}/integracao/api/v1/nfse/v101`, options, (answer) => {
        answers.push(answer.statusCode!);
        answer.on('error', (error) => broken.push(String(error)));
        answer.resume().on('close', resolve);
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // A client that could not connect was not served, and knows that nothing was done.
        if (error.syscall === 'connect') closed = true;
        else broken.push(`${error.code} ${error.message}`);
        resolve();
      });
      sent.end(body);
    });
  const line = async (): Promise<void> => {
    while (!closed && broken.length === 0) {
      number += 1;
      await one(exampleXml({ serie: '1', nDPS: String(number) }));
      await pace(LINE_PAUSE_MS);
    }
  };
  return { answers, broken, done: Promise.all(Array.from({ length: 12 }, line)).then(() => agent.destroy()) };
}

describe('SIGTERM to npm start', () => {
  const canUnshare =
    process.getuid?.() === 0 && spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0;
  const ways = [
    { name: 'that is not the first process', command: ['npm', 'start'], processes: '1', skip: false as const },
    { name: 'with two processes that answer', command: ['npm', 'start'], processes: '2', skip: false as const },
    {
      name: 'that is the first process of its namespace',
      command: ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child', 'npm', 'start'],
      processes: '1',
      skip: canUnshare ? (false as const) : 'pede root e unshare',
    },
  ];
  for (const { name, command, processes, skip } of ways) {
    const drains = async (): Promise<void> => {
      const dataDir = await readyDataDir();
      const PORT = String(await ownPort());
      const drain = { NFSE_ESPERA_AO_ENCERRAR: '3', NFSE_PROCESSOS: processes };
      const service = start(command, { NFSE_DATA_DIR: dataDir, PORT, ...drain });
      const address = (await said(service, SERVING))[1]!;
      const load = issueOn(address, 1_000);
      await untilTrue(() => load.answers.length > 50, 'the load runs');
      process.kill(command[0] === 'npm' ? service.child.pid! : await firstOf(service), 'SIGTERM');
      await said(service, /por 3 s ainda se atende/);

      // The connections are new, made after the signal.
      const ready = await request(address, '/health/ready', { headers: { Connection: 'close' } });
      assert.equal(ready.status, 503);
      assert.match(ready.body.mensagem, /está sendo encerrado/);
      assert.ok(Number(ready.headers.get('retry-after')) > 0);
      assert.equal((await request(address, '/health/live')).status, 200);
      const drained = load.answers.length;
      await load.done;
      assert.ok(load.answers.length > drained, 'it went on issuing while it drained');
      assert.deepEqual(load.broken, []);
      assert.deepEqual([...new Set(load.answers)], [201]);

      assert.equal(await service.ended, 0, service.output());
      await assert.rejects(request(address, '/health/live'), 'nobody answers any more');
      assert.ok(!existsSync(path.join(dataDir, 'pg/postmaster.pid')), 'the database stopped in order');
      // The database's log proves an orderly shutdown: a killed one recovers.
      assert.match(readFileSync(path.join(dataDir, 'postgres.log'), 'utf8'), /database system is shut down\s*$/);
    };
    test(`${name} drains, resets nobody, and ends in order with all that it started`, { skip }, () =>
      unlessStoodStill(drains),
    );
  }

  test('a second one ends at once, and the database is there for the next', async () => {
    const dataDir = await readyDataDir();
    const service = start(['npm', 'start'], { NFSE_DATA_DIR: dataDir, PORT: '0', NFSE_ESPERA_AO_ENCERRAR: '600' });
    const address = (await said(service, SERVING))[1]!;
    service.child.kill('SIGTERM');
    await said(service, /por 600 s ainda se atende/);
    // A second signal that comes sooner may be the first one, received by two ways.
    await pace(1_100);
    service.child.kill('SIGTERM');
    assert.equal(await service.ended, 143);
    await assert.rejects(request(address, '/health/live'));
    const shown = await nfse(['municipio', 'listar'], { NFSE_DATA_DIR: dataDir });
    assert.equal(shown.code, 0, shown.err);
  });

  for (const command of [
    ['npm', 'start'],
    ['bin/nfse', 'serve'],
  ]) {
    const endsOnce = async (): Promise<void> => {
      const dataDir = await readyDataDir();
      const service = start(command, { NFSE_DATA_DIR: dataDir, PORT: '0', NFSE_ESPERA_AO_ENCERRAR: '1' });
      const address = (await said(service, SERVING))[1]!;
      const load = issueOn(address, 1_000);
      await untilTrue(() => load.answers.length > 20, 'the load runs');
      service.child.kill('SIGTERM');
      service.child.kill('SIGTERM');
      await load.done;
      assert.deepEqual(load.broken, []);
      assert.deepEqual([...new Set(load.answers)], [201]);
      assert.equal(await service.ended, 0, service.output());
      assert.ok(!existsSync(path.join(dataDir, 'pg/postmaster.pid')));
    };
    test(`twice at once is one, to ${command.join(' ')}`, () => unlessStoodStill(endsOnce));
  }

  test('while it starts ends it when it has started', async () => {
    const dataDir = await readyDataDir();
    const service = start(['npm', 'start'], { NFSE_DATA_DIR: dataDir, PORT: '0', NFSE_ESPERA_AO_ENCERRAR: '0' });
    await said(service, /Iniciando/);
    service.child.kill('SIGTERM');
    assert.equal(await service.ended, 0, service.output());
    assert.ok(!existsSync(path.join(dataDir, 'pg/postmaster.pid')));
  });
});

describe('SIGTERM while the database', () => {
  const served = { PORT: '0', NFSE_ESPERA_AO_ENCERRAR: '0' };

  test('answers nothing: who waits is told so, and the service ends', { timeout: 600_000 }, async () => {
    const proxy = await startProxy(await freshDatabase());
    const service = start(['bin/nfse', 'serve'], { DATABASE_URL: databaseUrlOf(proxy.connection), ...served });
    const address = (await said(service, SERVING))[1]!;
    const issue = (number: number) => emit(address, exampleXml({ serie: '1', nDPS: String(number) }));
    assert.equal((await issue(1)).status, 201);
    proxy.way = 'swallowed';
    const sent = [2, 3, 4].map(issue);
    await untilTrue(() => proxy.swallowed > 0, 'the database is asked');
    service.child.kill('SIGTERM');
    for (const { status } of await Promise.all(sent)) assert.equal(status, 503);
    assert.equal(await service.ended, 0, service.output());
  });

  test('is being updated by another process: it is not waited for', async () => {
    const connection = await freshDatabase();
    const other = new Client(connection);
    await other.connect();
    onEnd(() => other.end());
    await other.query(`delete from migracoes where nome = (select max(nome) from migracoes)`);
    await other.query('begin; lock table migracoes_andamento in share update exclusive mode');
    for (const command of ['serve', 'transmitir']) {
      const env = { DATABASE_URL: databaseUrlOf(connection), NFSE_LOG_LEVEL: 'info', ...served };
      const service = start(['bin/nfse', command], env);
      await said(service, /espera por outro processo/);
      service.child.kill('SIGTERM');
      assert.equal(await service.ended, 0, service.output());
      assert.match(service.output(), /Encerrado durante a atualização do banco/);
    }
  });
});

describe('SIGTERM to another command', () => {
  test('nfse transmitir, by npm, ends in order', async () => {
    const dataDir = await readyDataDir();
    const more = start(['npm', 'run', 'nfse', '--', 'transmitir'], { NFSE_DATA_DIR: dataDir });
    await said(more, /Transmitindo o que está em/);
    more.child.kill('SIGTERM');
    assert.equal(await more.ended, 0, more.output());
    assert.match(more.output(), /Encerrando/);
    assert.ok(!existsSync(path.join(dataDir, 'pg/postmaster.pid')));
  });

  test('nfse adn-simulador, by npm, ends in order', async () => {
    const { certificado, chave, clientes } = await montarPalco();
    const dados = await freshDataDir();
    const files = ['--certificado', certificado, '--chave', chave, '--clientes', clientes, '--dados', dados];
    const adn = start(['npm', 'run', 'nfse', '--', 'adn-simulador', ...files, '--porta', '0', '--controle', '0'], {});
    const control = (await said(adn, /(http:\/\/127\.0\.0\.1:\d+)[\s\S]*Ctrl-C encerra/))[1]!;
    adn.child.kill('SIGTERM');
    assert.equal(await adn.ended, 0, adn.output());
    await assert.rejects(fetch(`${control}/estado`));
  });

  test('npx nfse, whose shell dies without a word, leaves nothing that goes on', async () => {
    const dataDir = await readyDataDir();
    const service = start(['npx', 'nfse', 'serve'], {
      NFSE_DATA_DIR: dataDir,
      PORT: '0',
      NFSE_ESPERA_AO_ENCERRAR: '0',
    });
    const address = (await said(service, SERVING))[1]!;
    service.child.kill('SIGTERM');
    await service.ended;
    await until(async () => !existsSync(path.join(dataDir, 'pg/postmaster.pid')) || undefined, 'the database stops');
    await assert.rejects(request(address, '/health/live'));
  });
});

describe('kill -9 of what was started', () => {
  /** Processes of a command's session, without the database server, which stops by itself with the program. */
  const left = (session: number): readonly string[] =>
    readdirSync('/proc').flatMap((pid) => {
      try {
        const [, , state, , , sid] = readFileSync(`/proc/${pid}/stat`, 'latin1')
          .replace(/\(.*\)/s, 'x')
          .split(' ');
        return state !== 'Z' && Number(sid) === session
          ? [readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')]
          : [];
      } catch {
        return [];
      }
    });

  const leavesNothing = async (command: readonly string[], env: NodeJS.ProcessEnv, isUp: RegExp): Promise<void> => {
    const started = start(command, env);
    await said(started, isUp);
    started.child.kill('SIGKILL');
    await until(async () => left(started.child.pid!).length === 0 || undefined, `${command.join(' ')} leaves nothing`);
  };

  for (const command of [
    ['bin/nfse', 'serve'],
    ['npx', 'nfse', 'serve'],
    ['npm', 'start'],
  ]) {
    for (const processes of ['1', '2']) {
      test(`${command.join(' ')}, of ${processes}, frees its port, and the next one begins there`, async () => {
        const port = String(await ownPort());
        const env = {
          NFSE_DATA_DIR: await readyDataDir(),
          PORT: port,
          NFSE_PROCESSOS: processes,
          NFSE_PAINEL_PORTA: '0',
        };
        await leavesNothing(command, env, SERVING);
        await leavesNothing(['bin/nfse', 'serve'], env, SERVING);
      });
    }
  }

  test('nfse transmitir and nfse adn-simulador, by each name', async () => {
    const { certificado, chave, clientes } = await montarPalco();
    for (const name of [['bin/nfse'], ['npm', 'run', 'nfse', '--']]) {
      await leavesNothing(
        [...name, 'transmitir'],
        { NFSE_DATA_DIR: await readyDataDir() },
        /Transmitindo o que está em/,
      );
      const files = ['--certificado', certificado, '--chave', chave, '--clientes', clientes];
      const where = ['--dados', await freshDataDir(), '--porta', '0', '--controle', '0'];
      await leavesNothing([...name, 'adn-simulador', ...files, ...where], {}, /Ctrl-C encerra/);
    }
  });
});
