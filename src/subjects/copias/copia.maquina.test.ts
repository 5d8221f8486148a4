/**
 * Copies of the embedded database and their restoration. They go to a moment while notes were being issued, follow a crash of everything,
 * or start from damaged copies. The expected values were known before: answers that were given, and rows at the moment.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import {
  type Casa,
  casaOf,
  connectTo,
  digestTables,
  type Emissao,
  emissionAt,
  folderFor,
  likeIt,
  openCasa,
  PUBLIC_KEY,
  SECRET_KEY,
  untilArchived,
  untilSettled,
} from '../../../test/support/copia.ts';
import { ifThere, ROOT, serverProcesses, startServiceProcess } from '../../../test/support/process.ts';
import { SEED } from '../../../test/support/seed.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { untilTrue } from '../../../test/support/until.ts';
import { openEmbedded, takeCopyTurn } from '../../base/pg/embedded.ts';
import { Client } from '../../base/pg/pg.ts';
import { readConfig } from '../../wiring/config.ts';

const AGE = toolOr('age', 'age');
const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

const quiet = { info() {}, warn() {}, error: console.error };

let casa: Casa;
let emissao: Emissao;
/** File with the secret key. */
let chave: string;
/** A moment at rest with its rows, and a moment while notes were being issued. */
let rest: { readonly at: string; readonly tables: ReadonlyMap<string, string> };
let busy: number;
let sistema: string;

const copiesIn = (copias: string): readonly string[] => readdirSync(path.join(copias, sistema, 'copias')).toSorted();
const walIn = (copias: string): readonly string[] =>
  readdirSync(path.join(copias, sistema, 'wal'))
    .filter((name) => /^[0-9A-F]{24}/.test(name) && !name.endsWith('.resumo'))
    .toSorted();

describe('copies of the embedded database', { skip: noServer, timeout: 1_200_000 }, () => {
  before(async () => {
    const keys = await folderFor('chaves');
    chave = path.join(keys, 'secreta.txt');
    await writeFile(chave, `# of the tests\n${SECRET_KEY}\n`);
    const publica = path.join(keys, 'publica.txt');
    await writeFile(publica, `${PUBLIC_KEY}\n`);
    casa = await openCasa({ NFSE_COPIAS_CHAVE: publica });
    const service = await startServiceProcess(casa.env);
    emissao = emissionAt(() => service.address);
    const client = await connectTo(casa.location);
    sistema = (await client.query('select system_identifier::text as id from pg_control_system()')).rows[0].id;

    await emissao.more(20);
    const issuing = emissao.goOn();
    const first = await casa.done('fazer', '--rotulo', 'enquanto se emite');
    assert.match(first, /^Cópia \d{8}T\d{6}Z: .*, cifrada/m);
    assert.doesNotMatch(first, /AVISO/);
    await issuing.stop();
    await untilSettled(client);
    await client.query('begin isolation level repeatable read');
    const at = (
      await client.query(`select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`)
    ).rows[0].at;
    rest = { at, tables: await digestTables(client) };
    await client.query('commit');

    const again = emissao.goOn();
    const many = emissao.notas.length + 40 + (SEED % 40);
    await untilTrue(() => emissao.notas.length >= many, 'notes are issued');
    busy = Date.now();
    await untilTrue(() => emissao.notas.length >= many + 40, 'more notes are issued');
    await again.stop();
    await untilArchived(client, casa.copias);
    // More notes that are never archived; then all processes die and the disk is gone.
    await emissao.more(4);
    await client.end();
    const pids = serverProcesses(casa.dataDir);
    await service.end('SIGKILL');
    for (const pid of pids) ifThere(() => process.kill(pid, 'SIGKILL'));
    await untilTrue(() => !existsSync(`/proc/${pids[0]}`), 'the server is gone');
    await rm(casa.location, { recursive: true });
    await rm(path.join(casa.dataDir, 'wal-pronto'), { recursive: true });
  });

  /** Restores into a folder of its own, and queries a server on it. */
  const restoredTo = async <Result>(at: string, ask: (client: Client) => Promise<Result>): Promise<Result> => {
    const dataDir = await folderFor('volta');
    await chmod(dataDir, 0o755);
    const out = await casa.done('restaurar', '--ate', at, '--chave', chave, '--para', path.join(dataDir, 'pg'));
    assert.doesNotMatch(out, /PROBLEMA|AVISO/);
    const server = await openEmbedded({ dataDir, log: quiet });
    const client = new Client(server.connection);
    await client.connect();
    try {
      return await ask(client);
    } finally {
      await client.end();
      await server.stop();
    }
  };

  test('to a moment at rest: every table is as it was, row by row', async () => {
    const tables = await restoredTo(rest.at, digestTables);
    assert.deepEqual(Object.fromEntries(tables), Object.fromEntries(rest.tables));
  });

  test('to a moment while notes were issued: all that were answered before are there, none that were asked for after', async () => {
    const { rows } = await restoredTo(new Date(busy).toISOString(), (client) =>
      client.query<{ chave_acesso: string }>('select chave_acesso from notas'),
    );
    const found = new Set(rows.map(({ chave_acesso }) => chave_acesso));
    const lost = emissao.notas.filter((nota) => nota.respondida < busy && !found.has(nota.chave));
    const early = emissao.notas.filter((nota) => nota.pedida > busy && found.has(nota.chave));
    assert.deepEqual([lost, early], [[], []]);
    const before = emissao.notas.filter(({ respondida }) => respondida < busy).length;
    assert.ok(found.size >= before && before > 60, `${found.size} of ${before}`);
  });

  test('without a moment: to the end of what was archived; the service goes on, and its own archive with it', async () => {
    const out = await casa.done('restaurar', '--chave', chave);
    assert.match(out, /Inicie o serviço, e faça logo uma cópia nova/);
    const service = await startServiceProcess(casa.env);
    const client = await connectTo(casa.location);
    const { rows } = await client.query<{ n: number }>('select count(*)::int as n from notas');
    // Four notes were never archived.
    assert.equal(rows[0]!.n, emissao.notas.length - 4);
    const numbers = await client.query<{
      n: number;
    }>(`select count(*)::int as n from (select numero_dps - row_number() over
      (partition by prestador_cpf_cnpj order by numero_dps) as gap from notas where tenant = 'integracao') x where gap <> 0`);
    assert.equal(numbers.rows[0]!.n, 0);
    await untilArchived(client, casa.copias);
    await client.end();
    await service.end('SIGINT');
    // The timeline that the restoration began is part of the way, from the copy that was made before it.
    const judged = await casa.done('conferir', '--chave', chave);
    assert.match(judged, /volta inteira/);
    assert.match(judged, new RegExp(`notas\\s+${rows[0]!.n.toLocaleString('pt-BR').replaceAll('.', '\\.')}$`, 'm'));
    assert.ok(existsSync(path.join(casa.copias, sistema, 'wal/00000002.history.gz.age')));
  });

  test('a moment that cannot be gone back to is told, with those that can', async () => {
    const early = await casa.copia('restaurar', '--ate', '2001-01-01T00:00:00Z', '--chave', chave, '--guardar-atual');
    assert.deepEqual([early.code, early.out], [1, '']);
    assert.match(early.err, /é de antes do fim da cópia \d{8}T\d{6}Z: com ela volta-se a 20\d\d-/);
    const late = await casa.copia('restaurar', '--ate', '31/12/2099 10:30', '--chave', chave, '--guardar-atual');
    assert.deepEqual([late.code, late.out], [1, '']);
    assert.match(late.err, /2099-12-31T13:30:00.000Z, é de depois do último WAL arquivado que há: até 20\d\d-/);
    for (const text of ['ontem', '2026-02-30T10:00:00Z', '2026-11-28']) {
      const wrong = await casa.copia('restaurar', '--ate', text, '--chave', chave);
      assert.equal(wrong.code, 2, text);
      assert.match(wrong.err, /não é um momento: escreva-o como 2026-/);
    }
  });

  test('encrypted copies open with their key alone, and with programs of others', async () => {
    const none = await casa.copia('conferir');
    assert.match(none.err, /está cifrado: dê --chave ARQUIVO/);
    const other = path.join(path.dirname(chave), 'outra.txt');
    await writeFile(other, 'AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ3290GQ\n');
    const wrong = await casa.copia('conferir', '--chave', other);
    assert.match(wrong.err, /não foi cifrado para a chave|não tem uma chave secreta/);
    const [id] = copiesIn(casa.copias);
    const folder = path.join(casa.copias, sistema, 'copias', id!);
    for (const name of readdirSync(folder).filter((one) => one !== 'manifesto.json')) {
      const head = (await readFile(path.join(folder, name))).subarray(0, 21).toString();
      assert.equal(head, 'age-encryption.org/v1', name);
    }
    if (AGE === undefined) return;
    const out = await folderFor('aberta');
    const script = `age -d -i "$1" "$2" | gunzip | tar -x -C "$3"`;
    const { status, stderr } = spawnSync(
      'bash',
      ['-euo', 'pipefail', '-c', script, 'x', chave, path.join(folder, 'base.tar.gz.age'), out],
      { encoding: 'utf8' },
    );
    assert.equal(status, 0, stderr);
    assert.equal((await readFile(path.join(out, 'PG_VERSION'), 'utf8')).trim(), '18');
  });

  test('the secret key is no key to make copies with', async () => {
    const { code, err } = await casaOf(casa.dataDir, casa.copias, { NFSE_COPIAS_CHAVE: chave }).copia('fazer');
    assert.equal(code, 1);
    assert.match(err, /tem a chave secreta, que só abre cópias/);
    assert.doesNotMatch(err, /AGE-SECRET-KEY-1/);
  });

  describe('a damaged copy is refused, and what is damaged is named', () => {
    /** Damages a duplicate of the folder of copies; returns the output of both commands. */
    const harmed = async (harm: (copias: string, copia: string) => Promise<unknown>): Promise<string> => {
      const copias = await likeIt(casa.copias);
      await harm(copias, path.join(copias, sistema, 'copias', copiesIn(copias)[0]!));
      const other = casaOf(casa.dataDir, copias, {});
      const judged = await other.copia('conferir', '--chave', chave);
      assert.equal(judged.code, 1, judged.out);
      const para = path.join(await folderFor('volta'), 'pg');
      await chmod(path.dirname(para), 0o755);
      const restored = await other.copia('restaurar', '--chave', chave, '--para', para);
      assert.equal(restored.code, 1, restored.out);
      assert.equal(existsSync(para), false);
      assert.deepEqual(readdirSync(path.dirname(para)), []);
      const said = judged.err.split('\n')[0]!;
      assert.equal(restored.err.split('\n')[0], said);
      return judged.out + judged.err;
    };
    const flip = async (file: string): Promise<void> => {
      const handle = await open(file, 'r+');
      const at = Math.floor((await handle.stat()).size / 2);
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
      await handle.write(Buffer.of(buffer[0]! ^ 1), 0, 1, at);
      await handle.close();
    };

    test('a byte of the base', async () => {
      assert.match(
        await harmed((_, copia) => flip(path.join(copia, 'base.tar.gz.age'))),
        /base\.tar\.gz\.age está danificado/,
      );
    });

    test('a byte of a segment', async () => {
      let name = '';
      const said = await harmed((copias) => {
        name = walIn(copias).at(-2)!;
        return flip(path.join(copias, sistema, 'wal', name));
      });
      assert.match(said, new RegExp(`${name} está danificado`));
    });

    test('a segment that is missing in the middle, and how far one can go', async () => {
      let name = '';
      const said = await harmed(async (copias) => {
        name = walIn(copias)
          .filter((one) => one.startsWith('00000001'))
          .at(-1)!;
        await rm(path.join(copias, sistema, 'wal', name));
      });
      assert.match(said, new RegExp(`falta o segmento ${name.slice(0, 24)} do WAL .* até 20.* pode-se voltar`));
    });

    test('the last segment', async () => {
      const said = await harmed((copias) => rm(path.join(copias, sistema, 'wal', walIn(copias).at(-1)!)));
      assert.match(said, /falta o segmento [0-9A-F]{24} do WAL/);
    });

    test('a file of the copy that is missing, cut off, or not spoken of', async () => {
      assert.match(await harmed((_, copia) => rm(path.join(copia, 'base.tar.gz.age'))), /falta base\.tar\.gz\.age/);
      const cut = (_: string, copia: string) => truncate(path.join(copia, 'backup_manifest.gz.age'), 1_000);
      assert.match(await harmed(cut), /backup_manifest\.gz\.age tem 1000 bytes, e foi escrito com \d+/);
      assert.match(await harmed((_, copia) => rm(path.join(copia, 'manifesto.json'))), /falta manifesto\.json/);
      assert.match(
        await harmed((_, copia) => writeFile(path.join(copia, 'manifesto.json'), '{"formato":')),
        /manifesto\.json está danificado/,
      );
    });
  });

  test('fazer that is killed leaves no copy, and the next one sweeps what it left', async () => {
    const service = await startServiceProcess(casa.env);
    const folder = path.join(casa.copias, sistema, 'copias');
    const known = copiesIn(casa.copias);
    const child = spawn(process.execPath, [path.join(ROOT, 'src/main.js'), 'copia', 'fazer'], {
      env: { ...process.env, ...casa.env },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await untilTrue(() => readdirSync(folder).some((name) => name.startsWith('.fazendo-')), 'a copy is being made');
    child.kill('SIGKILL');
    await ended;
    const left = readdirSync(folder).filter((name) => name.startsWith('.fazendo-'));
    assert.equal(left.length, 1);
    const { copias } = JSON.parse(await casa.done('listar', '--json')) as { copias: { id: string }[] };
    assert.deepEqual(copias.map(({ id }) => id).toSorted(), known);

    const issued = emissionAt(() => service.address, 10_000);
    await issued.more(4);
    assert.equal(issued.notas.length, 4);
    await casa.done('fazer');
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('.')),
      [],
    );
    assert.equal(copiesIn(casa.copias).length, known.length + 1);
    await service.end('SIGINT');
  });

  test('restaurar that is killed changes nothing, and the next one takes away its server too', async () => {
    const dataDir = await folderFor('volta');
    await chmod(dataDir, 0o755);
    const para = path.join(dataDir, 'pg');
    const args = [path.join(ROOT, 'src/main.js'), 'copia', 'restaurar', '--chave', chave, '--para', para];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...casa.env }, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const lockIn = (): string | undefined =>
      readdirSync(dataDir)
        .map((name) => path.join(dataDir, name, 'pg/postmaster.pid'))
        .find((file) => existsSync(file) && readFileSync(file, 'utf8').includes('\n'));
    await untilTrue(() => lockIn() !== undefined, 'the copy has a server');
    const pid = Number(readFileSync(lockIn()!, 'utf8').split('\n')[0]);
    child.kill('SIGKILL');
    await ended;
    assert.equal(existsSync(para), false);
    await casa.done('restaurar', '--chave', chave, '--para', para);
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.startsWith('restauracao-')),
      [],
    );
    assert.equal(existsSync(path.join(para, 'PG_VERSION')), true);
    assert.equal(existsSync(`/proc/${pid}`), false);
  });

  test('of two at a time one is refused', async () => {
    const turn = await takeCopyTurn(casa.copias);
    const { code, err } = await casa.copia('fazer');
    turn?.();
    assert.equal(code, 1);
    assert.match(err, /outro nfse copia fazer está em andamento/);
  });

  test('what a way back to the days that are kept needs stays, with its log, and nothing else', async () => {
    if (copiesIn(casa.copias).length < 2) await casa.done('fazer');
    const before = copiesIn(casa.copias).toSorted();
    // The last of them is eight days old, and each before it a day older.
    for (const [at, id] of before.entries()) {
      const file = path.join(casa.copias, sistema, 'copias', id, 'manifesto.json');
      const manifesto = JSON.parse(await readFile(file, 'utf8'));
      const concluida = new Date(Date.now() - (7 + before.length - at) * 86_400_000).toISOString();
      await writeFile(file, JSON.stringify({ ...manifesto, concluida, autenticador: null }));
    }
    const out = await casa.done('fazer', '--manter', '7');
    const gone = before.slice(0, -1);
    for (const id of gone) assert.match(out, new RegExp(`Apagada a cópia ${id}\\.`));
    assert.match(
      out,
      new RegExp(`Apagado o que não se guarda mais: ${gone.length} cópias? e [\\d.]+ segmentos? do WAL, \\d`),
    );
    const [oldest, ...newer] = copiesIn(casa.copias).toSorted();
    assert.deepEqual(
      [oldest, newer.length],
      [before.at(-1), 1],
      'who goes back seven days begins with that of the eighth',
    );
    const folder = path.join(casa.copias, sistema, 'copias', oldest!);
    const { inicio, linha } = JSON.parse(await readFile(path.join(folder, 'manifesto.json'), 'utf8'));
    const [high, low] = (inicio as string).split('/').map((part) => Number.parseInt(part, 16));
    const hex = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0');
    const first = `${hex(linha)}${hex(high!)}${hex(low! >>> 24)}`;
    for (const name of walIn(casa.copias)) assert.ok(name.slice(8, 24) >= first.slice(8), `${name} is not needed`);
    assert.match(await casa.done('conferir', '--chave', chave), /volta inteira/);
  });

  test('a full disk, a folder that is not there and one that may not be written are told; the service goes on', async () => {
    const missing = await casaOf(casa.dataDir, path.join(casa.copias, 'nada')).copia('fazer');
    assert.deepEqual([missing.code, missing.out], [1, '']);
    assert.match(missing.err, /não existe: monte o disco, ou crie a pasta/);
    const file = path.join(await folderFor('arquivo'), 'x');
    await writeFile(file, '');
    assert.match((await casaOf(casa.dataDir, file).copia('listar')).err, /não é uma pasta/);
    assert.throws(
      () => readConfig({ NFSE_COPIAS: path.join(casa.dataDir, 'copias'), NFSE_DATA_DIR: casa.dataDir }, false),
      /estão uma na outra/,
    );
    assert.throws(
      () => readConfig({ NFSE_COPIAS: path.dirname(casa.dataDir), NFSE_DATA_DIR: casa.dataDir }, false),
      /estão uma na outra/,
    );
    assert.throws(() => readConfig({ NFSE_COPIAS: 'copias' }, false), /não é um caminho absoluto/);
    const small = path.join(await folderFor('cheio'), 'disco');
    await mkdir(small);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=755', 'tmpfs', small]);
    if (mounted.status !== 0) return;
    try {
      const service = await startServiceProcess({ ...casa.env, NFSE_COPIAS: small, NFSE_COPIAS_CHAVE: '' });
      const full = await casaOf(casa.dataDir, small).copia('fazer');
      assert.equal(full.code, 1);
      assert.match(full.err, /está cheio: nada do que estava lá se perdeu/);
      assert.deepEqual(JSON.parse((await casaOf(casa.dataDir, small).copia('listar', '--json')).out).copias, []);
      assert.equal((await fetch(`${service.address}/health/ready`)).status, 200);
      await service.end('SIGINT');
    } finally {
      spawnSync('umount', ['-l', small]);
    }
  });

  test('what cannot be taken to the copies waits, is told, and goes when it can', async () => {
    const away = `${casa.copias}-fora`;
    const service = await startServiceProcess(casa.env);
    const client = await connectTo(casa.location);
    await rename(casa.copias, away);
    try {
      const emissor = emissionAt(() => service.address, 20_000);
      await emissor.more(4);
      await client.query('select pg_switch_wal()');
      await untilTrue(() => /a cópia contínua não pôde levar o WAL/.test(service.output()), 'the trouble is told');
      assert.notDeepEqual(await readdir(path.join(casa.dataDir, 'wal-pronto')), []);
      assert.equal((await fetch(`${service.address}/health/ready`)).status, 200);
    } finally {
      await rename(away, casa.copias);
    }
    await untilArchived(client, casa.copias);
    await client.end();
    await service.end('SIGINT');
    assert.deepEqual(await readdir(path.join(casa.dataDir, 'wal-pronto')), []);
    assert.ok((await stat(casa.copias)).isDirectory());
  });

  test('a folder that the account of the server cannot enter is told', {
    skip: process.getuid?.() !== 0 && 'only root runs the server as another account',
  }, async () => {
    const folder = await folderFor('fechada');
    await chmod(folder, 0o700);
    const { code, err } = await casa.copia('restaurar', '--chave', chave, '--para', path.join(folder, 'pg'));
    assert.equal(code, 1);
    assert.match(err, /não entra em .*restauracao-.*chmod o\+x/);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('what is in the place is refused, or moved aside whole', async () => {
    const refused = await casa.copia('restaurar', '--chave', chave);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /já há dados em .*--guardar-atual/);
    const out = await casa.done('restaurar', '--chave', chave, '--guardar-atual');
    const [, kept] = /O banco de antes está inteiro em (\S+)\. /.exec(out)!;
    assert.equal(existsSync(path.join(kept!, 'PG_VERSION')), true);
    await rm(kept!, { recursive: true });
  });

  test('nothing is restored under a service that runs', async () => {
    const service = await startServiceProcess(casa.env);
    const { code, err } = await casa.copia('restaurar', '--chave', chave, '--guardar-atual');
    assert.equal(code, 1);
    assert.match(err, /está no ar: pare o serviço/);
    assert.equal((await fetch(`${service.address}/health/ready`)).status, 200);
    await service.end('SIGINT');
  });
});
