/** Copies of a municipality's own PostgreSQL: by its address alone, and of Debian's package as it is installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { casaOf, digestTables, emissionAt, folderFor, freshCopias, untilSettled } from '../../../test/support/copia.ts';
import { databaseUrlOf } from '../../../test/support/database.ts';
import { readyDataDir, startServiceProcess } from '../../../test/support/process.ts';
import { installed } from '../../../test/support/tools.ts';
import { openEmbedded } from '../../base/pg/embedded.ts';
import { Client } from '../../base/pg/pg.ts';

const quiet = { info() {}, warn: console.error, error: console.error };
const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

/** Debian's own server, of another version than the embedded one. */
const BIN = '/usr/lib/postgresql/15/bin';
const isRoot = process.getuid?.() === 0;
const noDebian =
  noServer ||
  (!isRoot
    ? 'only root runs a server as another account'
    : !(existsSync(`${BIN}/postgres`) || (installed('postgresql-15') && existsSync(`${BIN}/postgres`)))
      ? 'PostgreSQL 15 of Debian is not here'
      : false);

/** Issues, makes a copy meanwhile, judges it, and restores it into a folder. */
async function goThrough(
  url: string,
  connection: ConstructorParameters<typeof Client>[0],
): Promise<{ readonly pg: string; readonly copias: string; readonly tables: ReadonlyMap<string, string> }> {
  const copias = await freshCopias();
  const casa = casaOf(path.join(await folderFor('nada'), 'dados'), copias, { DATABASE_URL: url });
  const service = await startServiceProcess(casa.env);
  const emissao = emissionAt(() => service.address);
  await emissao.more(20);
  const issuing = emissao.goOn();
  const said = await casa.done('fazer');
  await issuing.stop();
  assert.match(said, /AVISO {2}o seu PostgreSQL não arquiva o WAL/);
  const client = new Client(connection);
  await client.connect();
  await untilSettled(client);
  await casa.done('fazer', '--manter', '1');
  const tables = await digestTables(client);
  await client.end();
  await service.end('SIGINT');
  assert.match(await casa.done('conferir'), /volta inteira/);
  const nowhere = await casa.copia('restaurar');
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.err, /dê --para PASTA/);
  const folder = await folderFor('volta');
  await chmod(folder, 0o755);
  const pg = path.join(folder, 'pg');
  const out = await casa.done('restaurar', '--para', pg);
  assert.match(out, /Sirva essa pasta com o seu PostgreSQL/);
  return { pg, copias, tables };
}

describe('copies of a PostgreSQL of one’s own', { timeout: 900_000 }, () => {
  test('by its address, with the program of the same version', { skip: noServer }, async () => {
    const server = await openEmbedded({ dataDir: await readyDataDir(), log: quiet });
    onEnd(() => server.stop());
    const { pg, tables } = await goThrough(databaseUrlOf(server.connection), server.connection);
    const again = await openEmbedded({ dataDir: path.dirname(pg), log: quiet });
    onEnd(() => again.stop());
    const client = new Client(again.connection);
    await client.connect();
    const found = await digestTables(client);
    await client.end();
    assert.deepEqual(Object.fromEntries(found), Object.fromEntries(tables));
  });

  test('a user who may not copy is told what to grant', { skip: noServer }, async () => {
    const server = await openEmbedded({ dataDir: await readyDataDir(), log: quiet });
    onEnd(() => server.stop());
    const client = new Client(server.connection);
    await client.connect();
    await client.query('create role comum login; grant pg_read_all_data to comum; grant all on schema public to comum');
    await client.end();
    const url = databaseUrlOf({ ...server.connection, user: 'comum' });
    const casa = casaOf(path.join(await folderFor('nada'), 'dados'), await freshCopias(), { DATABASE_URL: url });
    const { code, err } = await casa.copia('fazer');
    assert.equal(code, 1, err);
    assert.match(err, /o usuário comum do banco não pode copiar o servidor.*alter role "comum" replication/);
    assert.deepEqual(readdirSync(casa.copias), []);
    const pooled = casaOf(casa.dataDir, casa.copias, { DATABASE_URL: url, NFSE_PGBOUNCER: '1' });
    assert.match((await pooled.copia('fazer')).err, /por um PgBouncer não se copia o servidor/);
  });

  test('Debian’s PostgreSQL 15, compared with its own pg_verifybackup', { skip: noDebian }, async () => {
    const folder = await folderFor('debian');
    await chmod(folder, 0o755);
    const data = path.join(folder, 'dados');
    await mkdir(data);
    const [uid, gid] = ['-u', '-g'].map((which) =>
      Number(spawnSync('id', [which, 'postgres'], { encoding: 'utf8' }).stdout),
    );
    await chown(data, uid!, gid!);
    await chown(folder, uid!, gid!);
    const as = (program: string, ...args: readonly string[]): string => {
      const { status, stdout, stderr } = spawnSync(path.join(BIN, program), args, {
        uid: uid!,
        gid: gid!,
        cwd: folder,
        encoding: 'utf8',
      });
      assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
      return stdout;
    };
    as('initdb', '-D', data, '--data-checksums', '--auth=trust', '--encoding=UTF8', '--locale=C');
    const begin = (where: string): string =>
      as(
        'pg_ctl',
        '-D',
        where,
        '-w',
        '-l',
        path.join(folder, 'log'),
        '-o',
        `-k ${folder} -c listen_addresses=`,
        'start',
      );
    const end = (where: string): string => as('pg_ctl', '-D', where, '-m', 'fast', '-w', 'stop');
    begin(data);
    let running: string | undefined = data;
    onEnd(() => void (running !== undefined && end(running)));
    as('psql', '-h', folder, '-U', 'postgres', '-c', 'create role nfse login replication');
    as('psql', '-h', folder, '-U', 'postgres', '-c', 'create database nfse owner nfse');
    const connection = { host: folder, port: 5432, user: 'nfse', database: 'nfse' };
    const { pg, copias, tables } = await goThrough(databaseUrlOf(connection), connection);
    end(data);
    running = undefined;

    const [sistema] = readdirSync(copias);
    const [id] = readdirSync(path.join(copias, sistema!, 'copias'));
    const copia = path.join(copias, sistema!, 'copias', id!);
    assert.match(await readFile(path.join(copia, 'manifesto.json'), 'utf8'), /"versao": "15\./);
    const plain = path.join(folder, 'aberta');
    await mkdir(plain);
    const script =
      'gunzip < "$1/base.tar.gz" | tar -x -C "$2"; gunzip < "$1/backup_manifest.gz" > "$2/backup_manifest"; chmod -R a+rX "$2"';
    assert.equal(spawnSync('bash', ['-euo', 'pipefail', '-c', script, 'x', copia, plain]).status, 0);
    const verified = spawnSync(path.join(BIN, 'pg_verifybackup'), [plain], { encoding: 'utf8' });
    assert.match(verified.stdout, /backup successfully verified/, verified.stderr);

    assert.equal((await stat(pg)).uid, uid);
    assert.equal(existsSync(path.join(pg, 'recovery.signal')), false);
    begin(pg);
    running = pg;
    const client = new Client(connection);
    await client.connect();
    const found = await digestTables(client);
    await client.end();
    end(pg);
    running = undefined;
    assert.deepEqual(Object.fromEntries(found), Object.fromEntries(tables));
  });
});
