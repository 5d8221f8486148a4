// The whole life of the embedded PostgreSQL: created, adopted, crashed, shared, stopped. Real servers, real kill -9.
// child.ts plays the service.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Client, Pool } from 'pg';
import { NotReady } from '../src/embedded.ts';
import { serves } from '../src/lock.ts';
import {
  canUnshare,
  dyingAt,
  ended,
  isLinux,
  isRoot,
  kill,
  NAME,
  needsLinux,
  needsRoot,
  open,
  PACKAGE,
  pidOf,
  presences,
  READY_WITHIN_MS,
  recorder,
  scratch,
  serious,
  serve,
  sql,
  start,
  timed,
  until,
  withCluster,
} from './support.ts';

describe('a vida do PostgreSQL embutido', { concurrency: 4 }, () => {
  // This test runs first: it is the longest, and nearly all of it is waiting.
  test('a parada não trava: depois de dez segundos é imediata, e a partida seguinte recupera', {
    skip: needsLinux,
  }, async (t) => {
    const place = await withCluster(t);
    const { log, entries } = recorder();
    const server = await open(place, log);
    await sql(server.connection, 'CREATE TABLE item (n int); INSERT INTO item VALUES (1)');
    const [checkpointer] = await sql(
      server.connection,
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'",
    );
    process.kill(Number(checkpointer!['pid']), 'SIGSTOP');
    await timed(t, 'parada de um servidor travado', () => server.stop());
    assert.match(serious(entries).join('\n'), /demora a parar; parada imediata/);
    const again = await open(place);
    assert.equal(again.started, true);
    assert.deepEqual(await sql(again.connection, 'SELECT n FROM item'), [{ n: 1 }]);
    await again.stop();
  });

  test('primeira partida, SQL e segunda partida', async (t) => {
    const place = scratch(t);
    const { dataDir } = place;
    const { log, entries } = recorder();
    const first = await timed(t, 'primeira partida, com initdb', () => open(place, log));
    assert.equal(first.started, true);
    assert.equal(first.location, join(realpathSync(dataDir), 'pg'));
    assert.match(entries.map((entry) => entry.msg).join('\n'), /os dados ficam em/);
    const [row] = await sql(
      first.connection,
      `SELECT current_user AS usuario, current_database() AS banco, pg_encoding_to_char(encoding) AS codificacao,
              upper('ação') AS maiusculas, current_setting('fsync') AS fsync, current_setting('jit') AS jit,
              current_setting('listen_addresses') AS rede, current_setting('server_version_num')::int AS versao
         FROM pg_database WHERE datname = current_database()`,
    );
    const { versao, ...settings } = row!;
    assert.ok(Number(versao) >= 180_000);
    assert.deepEqual(settings, {
      usuario: NAME,
      banco: NAME,
      codificacao: 'UTF8',
      maiusculas: 'AÇÃO',
      fsync: 'on',
      jit: 'off',
      rede: '',
    });
    assert.equal(statSync(first.connection.host).mode & 0o777, 0o700);
    const pid = pidOf(dataDir);
    await sql(first.connection, 'CREATE TABLE item (n int); INSERT INTO item VALUES (1)');
    await timed(t, 'parada', () => first.stop());
    assert.equal(await serves(pid, first.location), false);

    const again = await timed(t, 'segunda partida', () => open(place, log));
    assert.equal(again.started, true);
    assert.deepEqual(again.connection, first.connection);
    assert.deepEqual(await sql(again.connection, 'SELECT n FROM item'), [{ n: 1 }]);
    await again.stop();
    await again.stop();
    assert.deepEqual(serious(entries), []);
  });

  test('um comando que só abre e para termina por si, com o servidor parado', async (t) => {
    const place = await withCluster(t);
    const source = `
      import { Client } from 'pg';
      import { openEmbedded } from './src/embedded.ts';
      const [, dataDir, name] = process.argv;
      const log = { info() {}, warn() {}, error() {} };
      const server = await openEmbedded({ dataDir, name, log, createClient: (config) => new Client(config) });
      await server.stop();
      console.log('fim');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', source, place.dataDir, NAME], {
      cwd: PACKAGE,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    place.children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const [code] = await once(child, 'close', { signal: AbortSignal.timeout(READY_WITHIN_MS) });
    assert.equal(output, 'fim\n');
    assert.equal(code, 0);
    assert.equal(pidOf(place.dataDir), 0);
  });

  test('kill -9 no serviço: o próximo adota o servidor', async (t) => {
    const place = await withCluster(t);
    const service = await serve(place);
    assert.equal(service.said.started, true);
    await sql(service.said.connection, 'CREATE TABLE item (n int); INSERT INTO item VALUES (1)');
    const pid = pidOf(place.dataDir);
    await kill(service.process);

    const server = await timed(t, 'adoção', () => open(place));
    assert.equal(server.started, false);
    assert.equal(pidOf(place.dataDir), pid);
    assert.deepEqual(await sql(server.connection, 'SELECT n FROM item'), [{ n: 1 }]);
    await server.stop();
    assert.equal(await serves(pid, server.location), false, 'quem adotou e saiu por último para o servidor');
  });

  test('kill -9 em ambos: recuperação, nada confirmado se perde', async (t) => {
    const place = await withCluster(t);
    const service = await serve(place);
    const { connection } = service.said;
    await sql(connection, 'CREATE TABLE item (n int)');
    for (let n = 0; n < 50; n += 1) await sql(connection, `INSERT INTO item VALUES (${n})`);
    const pid = pidOf(place.dataDir);
    service.process.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await until(async () => !(await serves(pid, service.said.location)));
    assert.equal(pidOf(place.dataDir), pid, 'a trava velha ficou');

    const { log, entries } = recorder();
    const server = await timed(t, 'partida com recuperação', () => open(place, log));
    assert.equal(server.started, true);
    assert.deepEqual(await sql(server.connection, 'SELECT count(*)::int AS n FROM item'), [{ n: 50 }]);
    await sql(server.connection, 'INSERT INTO item VALUES (50)');
    await server.stop();
    assert.deepEqual(
      entries.filter((entry) => entry.level === 'error'),
      [],
    );
    assert.match(readFileSync(join(place.dataDir, 'postgres.log'), 'utf8'), /automatic recovery in progress/);
  });

  test('kill -9 no meio da criação: nada pela metade, e o próximo cria', async (t) => {
    const place = scratch(t);
    // The process finds the moment itself: initdb waits for nobody, but its result needs this process.
    const { child } = start(place, {
      before: ['--import', dyingAt(join(place.dataDir, 'pg.new-*', 'cluster', 'base'))],
    });
    await until(() => child.exitCode !== null || child.signalCode !== null);
    assert.equal(child.signalCode, 'SIGKILL');
    assert.equal(existsSync(join(place.dataDir, 'pg')), false);
    // The orphan initdb may still be writing; only old folders are removed.
    const old = join(place.dataDir, 'pg.new-antigo');
    mkdirSync(join(old, 'cluster'), { recursive: true });
    utimesSync(old, Date.now() / 1000 - 3_600, Date.now() / 1000 - 3_600);
    const server = await open(place);
    assert.equal(server.started, true);
    assert.equal(existsSync(old), false);
    await sql(server.connection, 'SELECT 1');
    await server.stop();
  });

  test('dois processos de uma vez num diretório vazio: um servidor', async (t) => {
    const place = scratch(t);
    const services = await Promise.all([serve(place), serve(place), serve(place)]);
    assert.deepEqual(services.map(({ said }) => said.started).sort(), [false, false, true]);
    const births = await Promise.all(
      services.map(({ said }) => sql(said.connection, 'SELECT pg_postmaster_start_time()::text AS em')),
    );
    assert.equal(new Set(births.map(([birth]) => birth!['em'])).size, 1);
    assert.deepEqual(readdirSync(place.dataDir).sort(), ['pg', 'postgres.log'], 'nada meio feito ficou para trás');

    // All leave at once: exactly one of them, the last, stops the server.
    const pid = pidOf(place.dataDir);
    await Promise.all(services.map(({ process }) => ended(process, 'SIGTERM')));
    assert.equal(await serves(pid, services[0]!.said.location), false);
  });

  test('dois processos de uma vez sem a vez do kernel: decide a trava do PostgreSQL', {
    skip: isRoot && isLinux ? canUnshare() : needsRoot,
  }, async (t) => {
    // Abstract sockets belong to a network namespace; each of these processes has its own, as two containers do.
    const place = scratch(t);
    const alone = { program: 'unshare', before: ['--net', process.execPath] };
    const services = await Promise.all([serve(place, alone), serve(place, alone)]);
    assert.deepEqual(services.map(({ said }) => said.started).sort(), [false, true]);
    assert.deepEqual(readdirSync(place.dataDir).sort(), ['pg', 'postgres.log']);
    await Promise.all(services.map(({ process }) => ended(process, 'SIGTERM')));
  });

  test('parar: só o último a sair para o servidor', async (t) => {
    const place = await withCluster(t);
    const service = await serve(place);
    const pid = pidOf(place.dataDir);
    const command = await open(place);
    assert.equal(command.started, false);
    await timed(t, 'saída de quem não é o último', () => command.stop());
    await sql(service.said.connection, 'SELECT 1');

    // A guest with a mere connection counts as well.
    const guest = new Client(service.said.connection);
    await guest.connect();
    await ended(service.process, 'SIGTERM');
    assert.equal(pidOf(place.dataDir), pid);
    await guest.query('SELECT 1');
    await guest.end();

    // A pool closed just before is not a guest.
    const last = await open(place);
    const pool = new Pool({ ...last.connection, max: 10 });
    await Promise.all(Array.from({ length: 10 }, () => pool.query('SELECT pg_sleep(0.05)')));
    await pool.end();
    await last.stop();
    assert.equal(await serves(pid, last.location), false);
  });

  test('o servidor morre: é iniciado de novo, no mesmo endereço, por quem notar primeiro', async (t) => {
    const place = await withCluster(t);
    const service = await serve(place);
    const { log, entries } = recorder();
    const server = await open(place, log);
    const before = server.connection;
    await sql(before, 'CREATE TABLE item (n int); INSERT INTO item VALUES (1)');
    for (const round of [1, 2]) {
      const pid = pidOf(place.dataDir);
      process.kill(pid, 'SIGKILL');
      await timed(t, `de volta após a ${round}ª morte`, () =>
        until(async () => pidOf(place.dataDir) !== pid && (await sql(before, 'SELECT n FROM item').catch(() => false))),
      );
      await until(async () => (await presences(before)) === 2);
    }
    assert.deepEqual(server.connection, before);
    assert.match(`${service.log()}${JSON.stringify(entries)}`, /havia morrido; foi iniciado de novo/);
    await server.stop();
    await ended(service.process, 'SIGTERM');
  });

  test('um processo do servidor cai: as conexões voltam, o servidor fica', async (t) => {
    const place = await withCluster(t);
    const { dataDir } = place;
    const { log, entries } = recorder();
    const server = await open(place, log);
    const pid = pidOf(dataDir);
    const victim = new Client(server.connection);
    victim.on('error', () => {});
    await victim.connect();
    const { rows } = await victim.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    process.kill(rows[0]!.pid, 'SIGKILL');
    await until(() => entries.some((entry) => /conexão .* refeita/.test(entry.msg)));
    assert.equal(pidOf(dataDir), pid);
    await sql(server.connection, 'SELECT 1');
    await server.stop();
  });

  test('o servidor recebe ordem de parar por fora: termina e é iniciado de novo', async (t) => {
    const place = await withCluster(t);
    const { dataDir } = place;
    const server = await open(place);
    const pid = pidOf(dataDir);
    process.kill(pid, 'SIGTERM');
    await until(async () => pidOf(dataDir) !== pid && (await sql(server.connection, 'SELECT 1').catch(() => false)));
    await server.stop();
  });

  test('o servidor demora: espera avisando, e adota', { skip: needsLinux }, async (t) => {
    const place = await withCluster(t);
    const service = await serve(place);
    const pid = pidOf(place.dataDir);
    await kill(service.process);
    process.kill(pid, 'SIGSTOP');
    const { log, entries } = recorder();
    const opening = open(place, log);
    await until(() => entries.some((entry) => /aguardando/.test(entry.msg)));
    process.kill(pid, 'SIGCONT');
    const server = await opening;
    assert.equal(server.started, false);
    await server.stop();
  });

  test('um servidor parado é esperado por um minuto, e o erro diz como fazê-lo seguir', {
    skip: needsLinux,
  }, async (t) => {
    const place = await withCluster(t);
    const service = await serve(place);
    const pid = pidOf(place.dataDir);
    await kill(service.process);
    process.kill(pid, 'SIGSTOP');
    const { log, entries } = recorder();
    const error = await open(place, log).catch((failure: Error) => failure);
    const told = entries.flatMap(({ msg }) => /aguardando .*ele não responde\): (\d+) s/.exec(msg)?.[1] ?? []);
    // An older version waited twice a minute.
    assert.ok(Number(told.at(-1)) < 100, told.join(' '));
    assert.ok(error instanceof NotReady, String(error));
    assert.match(error.message, /^O PostgreSQL embutido em \S+\/pg não ficou pronto em 60 s\. /);
    assert.match(error.message, new RegExp(`O processo ${pid} está parado .* kill -CONT ${pid} e inicie de novo`));
    assert.doesNotMatch(error.message, /outra saída|timeout/);
    process.kill(pid, 'SIGCONT');
    const server = await open(place);
    assert.equal(server.started, false);
    await server.stop();
  });
});
