/** Queries about an archived month answer as before. Its files are checked, can be brought back, and survive a kill at any point. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { fillNotas } from '../../../test/support/cheio.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import {
  databaseUrlOf,
  freshDatabase,
  freshPool,
  pidOf,
  poolOn,
  untilAwaited,
} from '../../../test/support/database.ts';
import { CANCELAMENTO } from '../../../test/support/eventos.ts';
import { ask, request } from '../../../test/support/http.ts';
import { nfseKilled } from '../../../test/support/killed.ts';
import { nfse } from '../../../test/support/process.ts';
import { call, consultaXml } from '../../../test/support/rps.ts';
import { NOON, startTestService, type TestService } from '../../../test/support/service.ts';
import { signedBy, testParties } from '../../../test/support/signatures.ts';
import { until } from '../../../test/support/until.ts';
import { useArquivo } from '../../base/book/arquivo.ts';
import type { Db } from '../../base/pg/open.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleJson, exampleXml } from '../../fiscal/rules/example.ts';
import { createStore } from '../../wiring/store.ts';
import { conferirArquivo, fecharMes, listArquivo, trazerMes } from './arquivar.ts';

const SLUG = 'integracao';
const API = `/${SLUG}/api/v1`;
const TABLES = ['documentos', 'trilha_notas', 'documentos_eventos', 'trilha_eventos', 'documentos_lotes'];

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-arquivo-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The archive files themselves, without the small ones beside them. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.nfse'))
    .map((name) => path.join(folder, name));

async function countsOf(pool: Db): Promise<readonly number[]> {
  const text = TABLES.map((table) => `(select count(*)::int from ${table}) as ${table}`).join(', ');
  return Object.values((await pool.query(`select ${text}`)).rows[0]);
}

describe('a note whose month was archived', () => {
  const folder = freshFolder();
  let service: TestService;
  let later: { store: TestService['store']; now: () => number };
  const issued: { chave: string; nfse: string; sent: Buffer; key: string }[] = [];
  let idEvento = '';

  const send = (body: Buffer, key: string) =>
    request(service.address, `${API}/nfse/v101`, {
      method: 'POST',
      headers: { 'Content-Type': body[0] === 0x7b ? 'application/json' : 'application/xml', 'Idempotency-Key': key },
      body: new Uint8Array(body),
    });
  const statusOf = async (chave: string) => (await request(service.address, `${API}/nfse/${chave}`)).body.nota.status;
  const cancel = (chave: string) =>
    request(service.address, `${API}/nfse/${chave}/eventos`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...CANCELAMENTO, cnpj_autor: '11222333000181' }),
    });

  before(async () => {
    const { provider } = await testParties(NOON);
    const interm = { 'interm/CNPJ': '11444777000161', 'interm/IM': '987', 'interm/xNome': 'Intermediário' };
    const sent: readonly Buffer[] = [
      Buffer.from(exampleXml({ ...interm, serie: '1', nDPS: '1' })),
      Buffer.from(`\ufeff${exampleXml({ serie: '1', nDPS: '2' }).replace(/^<\?xml.*?\?>/, '')}`, 'utf16le'),
      Buffer.from(exampleJson({ serie: '1', nDPS: '3' })!),
      Buffer.from(signedBy(exampleXml({ serie: '1', nDPS: '4' }).replace(/>\s+</g, '><'), provider)),
    ];
    service = await startTestService();
    useArquivo(service.pool, folder);
    // Rehearsals of this municipality do not expire.
    await service.pool.query('update municipios set guarda_dias = 0');
    for (const [place, one] of sent.entries()) {
      const { status, body } = await send(one, `chave-da-nota-${place}`);
      assert.equal(status, 201, JSON.stringify(body));
      const { chave_acesso: chave, xml_nfse } = body;
      issued.push({ chave, nfse: xml_nfse, sent: one, key: `chave-da-nota-${place}` });
      await until(async () => ((await statusOf(chave)) === 'autorizada' ? true : undefined), 'the note is authorised');
    }
    const registered = await cancel(issued[1]!.chave);
    assert.equal(registered.status, 201, JSON.stringify(registered.body));
    idEvento = String(registered.body.id_evento);
    await until(async () => ((await statusOf(issued[1]!.chave)) === 'cancelada' ? true : undefined), 'it is cancelled');
    later = { store: service.store, now: () => NOON + 100 * DAY_MS };
  });

  /** All public answers about the notes and the event. */
  async function told(): Promise<unknown> {
    const all: unknown[] = [];
    const store = createStore(service.pool);
    for (const { chave, sent, nfse: text, key } of issued) {
      const row = (await store.notas.findByChave(SLUG, chave))!;
      assert.equal(row.nfse, text, 'the note');
      const repeated = await send(sent, key);
      assert.deepEqual([repeated.status, repeated.body.xml_nfse], [201, text], 'the answer once more');
      const twice = await send(sent, `${key}-outra`);
      assert.equal(twice.body.erros[0].mesmo_conteudo, true, 'the same document again');
      assert.equal((await store.eventos.findNota(SLUG, { chave }))?.nfse.toString(), text);
      const read = await request(service.address, `${API}/nfse/${chave}`);
      const { text: pdf } = await ask(`${service.address}${API}/danfse/${chave}`);
      all.push(row, read.body.nota, pdf, await store.notas.listTrail(SLUG, row));
    }
    const evento = (await store.eventos.findById(SLUG, idEvento))!;
    all.push(await store.eventos.readDocuments(SLUG, idEvento), await store.eventos.listTrail(SLUG, evento));
    all.push(await store.eventos.readXml(SLUG, [evento]));
    const interm =
      '<IntermediarioServico><RazaoSocial>X</RazaoSocial><CpfCnpj><Cnpj>11444777000161</Cnpj></CpfCnpj></IntermediarioServico>';
    const [some, every] = [
      await call(service.address, 'ConsultarNfse', consultaXml(interm)),
      await call(service.address, 'ConsultarNfse', consultaXml('')),
    ];
    assert.equal(some.documento.match(/<InfNfse /g)?.length, 1, 'found by its intermediary');
    assert.equal(every.documento.match(/<InfNfse /g)?.length, issued.length);
    return [...all, some.documento, every.documento];
  }

  test('is answered as before, to the byte; moves on; and comes back', async () => {
    const whole = await told();
    const stored = await countsOf(service.pool);
    assert.ok('problem' in (await fecharMes({ ...later, now: () => NOON + 40 * DAY_MS }, '2026-11', () => {})));
    const closed = await fecharMes(later, '2026-11', () => undefined);
    assert.ok(!('problem' in closed), JSON.stringify(closed));
    assert.deepEqual(await countsOf(service.pool), [0, 0, 0, 0, 0]);
    assert.deepEqual(await told(), whole);
    assert.deepEqual(await fecharMes(later, '2026-11', () => undefined), { lockedMs: undefined });

    const [first] = issued;
    assert.equal((await cancel(first!.chave)).status, 201, 'an event on an archived note');
    await until(async () => ((await statusOf(first!.chave)) === 'cancelada' ? true : undefined), 'it is cancelled');
    const row = (await service.store.notas.findByChave(SLUG, first!.chave))!;
    const moves = (await service.store.notas.listTrail(SLUG, row)).map(({ para }) => para);
    assert.deepEqual([moves[0], moves.at(-1)], ['emitida', 'cancelada']);
    const after = await told();

    assert.deepEqual(await trazerMes(later, '2026-11', () => undefined), { trazido: true });
    assert.deepEqual(await told(), after);
    const back = await countsOf(service.pool);
    assert.ok(
      back.every((count, place) => count >= stored[place]!),
      `${back} of ${stored}`,
    );
    assert.ok(!('problem' in (await fecharMes(later, '2026-11', () => undefined))));
    assert.deepEqual(await told(), after);
    assert.equal(filesIn(folder).length, 2, 'the first file stays');
    const checked = await conferirArquivo(later, [], () => undefined);
    assert.deepEqual(checked, { problemas: [], conferidos: 2 });
    assert.match((await listArquivo(later)).find(({ mes }) => mes === '2026-11')?.arquivado_em ?? '', /^2027-/);
  });

  test('is answered with 503, and says why to the operator, while the archive is not there', async () => {
    const [first] = issued;
    renameSync(folder, `${folder}-longe`);
    service.logged.length = 0;
    const { status, body, headers } = await request(service.address, `${API}/nfse/${first!.chave}`);
    assert.equal(status, 503);
    assert.equal(headers.get('retry-after'), '60');
    assert.match(JSON.stringify(body), /arquivo dos meses encerrados/);
    assert.ok(service.logged.some(({ about }) => JSON.stringify(about).includes('.nfse')));
    const other = await send(Buffer.from(exampleXml({ serie: '1', nDPS: '99' })), 'chave-de-uma-outra');
    assert.equal(other.status, 201, 'and everything else goes on');
    renameSync(`${folder}-longe`, folder);
    assert.equal((await request(service.address, `${API}/nfse/${first!.chave}`)).status, 200);
  });
});

describe('the files', () => {
  const MES = 202601;
  const NOTAS = 700;
  const TENANT = 'alfa';

  async function filled(pool: Db): Promise<void> {
    const store = createStore(pool);
    await store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: '3550308' }, NOON);
    await store.municipios.create({ tenant: 'beta', ambiente: 'producao', codigoIbge: '3304557' }, NOON);
    await fillNotas(pool, TENANT, NOTAS, [MES]);
    await fillNotas(pool, 'beta', 10, [MES]);
  }
  /** The content of all tables of the month, independent of its stored form. */
  async function contentOf(pool: Db): Promise<string> {
    const sum = createHash('sha256');
    const { notas } = createStore(pool);
    const { rows } = await pool.query<{ tenant: string; id: string; mes: number; chave_acesso: string }>(
      `select tenant, id, mes, chave_acesso from notas order by tenant, id`,
    );
    for (const { tenant, id, mes, chave_acesso } of rows) {
      const row = (await notas.findByChave(tenant, chave_acesso))!;
      sum.update(row.nfse).update((await notas.readReceived(tenant, { id: BigInt(id), mes }))!);
      sum.update(JSON.stringify(await notas.listTrail(tenant, row)));
    }
    return sum.digest('hex');
  }

  test('are written and brought back whole, though the command is killed at any point', async () => {
    const [folder, connection] = [freshFolder(), await freshDatabase()];
    const pool = await poolOn(connection);
    useArquivo(pool, folder);
    await filled(pool);
    const [before, counts] = [await contentOf(pool), await countsOf(pool)];
    const env = { DATABASE_URL: databaseUrlOf(connection), NFSE_ARQUIVO: folder };
    const names = (): readonly string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const has = (ending: string, count: number) => () =>
      names().filter((name) => name.endsWith(ending)).length >= count;
    const inDatabase = async (text: string) => (await pool.query(`select (${text}) as so`)).rows[0].so as boolean;
    const killed = async (command: string, when: () => boolean | Promise<boolean>): Promise<void> => {
      assert.equal(await nfseKilled(['arquivo', command, '2026-01'], env, when), null);
      assert.equal(await contentOf(pool), before, command);
    };
    await killed('fechar', has('.parcial', 1));
    await killed('fechar', () => inDatabase('select count(*) > 0 from arquivos where pronto_em is null'));
    await killed('fechar', has('.nfse', 1));
    await killed('fechar', has('.sha256', 1));
    await killed('fechar', () => inDatabase('select count(*) > 0 from arquivos where pronto_em is not null'));
    await killed('fechar', () => inDatabase('select count(*) = 0 from documentos'));
    const drafts = names().filter((name) => name.endsWith('.parcial'));
    assert.ok(drafts.length > 0);
    for (const name of drafts) utimesSync(path.join(folder, name), 0, 0);
    await pool.query('update meses set arquivado_em = null');
    assert.equal((await nfse(['arquivo', 'fechar', '2026-01'], env)).code, 0);
    const { rows } = await pool.query<{ nome: string }>('select nome from arquivos where pronto_em is not null');
    const registered = rows.flatMap(({ nome }) => [nome, `${nome}.sha256`]);
    assert.deepEqual(
      names().filter((name) => name.includes('.')),
      registered.toSorted(),
      'nothing is left behind',
    );
    assert.deepEqual([await contentOf(pool), await countsOf(pool)], [before, [0, 0, 0, 0, 0]]);
    await killed('trazer', () => inDatabase('select count(*) > 0 from documentos'));
    await killed('trazer', () => inDatabase('select count(*) > 300 from documentos'));
    assert.equal((await nfse(['arquivo', 'trazer', '2026-01'], env)).code, 0);
    assert.equal(await contentOf(pool), before);
    assert.deepEqual(await countsOf(pool), counts);
  });

  test('are written by one command at a time, and the others say so', async () => {
    const [folder, connection] = [freshFolder(), await freshDatabase()];
    const pool = await poolOn(connection);
    useArquivo(pool, folder);
    await filled(pool);
    await createStore(pool).municipios.create({ tenant: 'gama', ambiente: 'producao', codigoIbge: '5300108' }, NOON);
    await fillNotas(pool, 'gama', 300, [MES, 202602]);
    const before = await contentOf(pool);
    const env = { DATABASE_URL: databaseUrlOf(connection), NFSE_ARQUIVO: folder };
    const both = ['2026-01', '2026-02', '2026-01', '2026-02'];
    let waiting: readonly string[] = both;
    while (waiting.length > 0) {
      const done = await Promise.all(waiting.map((mes) => nfse(['arquivo', 'fechar', mes], env)));
      assert.ok(done.some(({ code }) => code === 0));
      for (const { code, err } of done)
        if (code !== 0)
          assert.match(err, /^Outro nfse arquivo fechar, arquivo trazer ou guarda eliminar está em andamento/);
      waiting = waiting.filter((_mes, place) => done[place]!.code !== 0);
    }
    assert.equal(await contentOf(pool), before);
    assert.equal(filesIn(folder).length, 4);
    const unknown = await nfse(['arquivo', 'conferir', '2019-01'], env);
    assert.equal(unknown.code, 1, unknown.out);
    assert.match(unknown.err, /De 2019-01 não há arquivo/);
    const checked = await nfse(['arquivo', 'conferir'], env);
    assert.deepEqual([checked.code, checked.out.split('\n').length], [0, 6], checked.out + checked.err);
  });

  test('are written by who comes a moment before another is done', async () => {
    const [folder, pool] = [freshFolder(), await freshPool()];
    useArquivo(pool, folder);
    await filled(pool);
    const other = await pool.connect();
    await other.query('begin; lock table arquivos in share update exclusive mode');
    const pid = await pidOf(other);
    const closing = fecharMes({ store: createStore(pool), now: Date.now }, '2026-01', () => undefined);
    await Promise.race([untilAwaited(pool, pid), closing]);
    await other.query('commit');
    other.release();
    assert.ok(!('problem' in (await closing)));
  });

  test('follow one another, though the turn of the first command is lost', async () => {
    const [folder, pool] = [freshFolder(), await freshPool()];
    useArquivo(pool, folder);
    await filled(pool);
    const before = await contentOf(pool);
    const { arquivo } = createStore(pool);
    const work = { now: Date.now, tell: () => undefined };
    let second: Promise<unknown> | undefined;
    const losing = arquivo.closeMes(MES, {
      ...work,
      tell: (line) => {
        if (second !== undefined || !line.startsWith('alfa/')) return;
        second = pool
          .query(`select pg_terminate_backend(pid) from pg_locks where relation = 'arquivos'::regclass
            and mode = 'ShareUpdateExclusiveLock' and database = (select oid from pg_database where datname = current_database())`)
          .then(() => arquivo.closeMes(MES, { ...work, sign: () => undefined }))
          // The handler is attached at once: this command may be refused long before the first ends.
          .catch((error: Error) => error);
      },
      sign: () => undefined,
    });
    const ends = [await losing.catch((error: Error) => error), await second!];
    for (const end of ends) if (end instanceof Error) assert.match(end.message, /^Outro nfse arquivo/);
    await arquivo.closeMes(MES, { ...work, sign: () => undefined });
    assert.equal(await contentOf(pool), before);
    assert.deepEqual(await countsOf(pool), [0, 0, 0, 0, 0]);
    const { rows } = await pool.query('select tenant, count(*)::int from arquivos group by tenant, anterior');
    assert.ok(rows.every(({ count }) => count === 1));
  });

  test('have no rehearsals that are to be forgotten', async () => {
    const [folder, pool] = [freshFolder(), await freshPool()];
    useArquivo(pool, folder);
    await filled(pool);
    const store = createStore(pool);
    await store.municipios.create({ tenant: 'ensaios', ambiente: 'homologacao', codigoIbge: undefined }, NOON);
    await fillNotas(pool, 'ensaios', 300, [MES]);
    await store.municipios.create({ tenant: 'guardados', ambiente: 'homologacao', codigoIbge: undefined }, NOON);
    await pool.query(`update municipios set guarda_dias = 0 where tenant = 'guardados'`);
    await fillNotas(pool, 'guardados', 10, [MES]);
    const world = { store, now: Date.now };
    assert.ok(!('problem' in (await fecharMes(world, '2026-01', () => undefined))));
    const tenants = filesIn(folder).map((file) => path.basename(path.dirname(file)));
    assert.deepEqual(tenants.toSorted(), ['alfa', 'beta', 'guardados']);
    for (const file of filesIn(folder)) if (file.includes('guardados')) rmSync(file);
    assert.deepEqual(await conferirArquivo(world, [], () => undefined), { problemas: [], conferidos: 3 });
  });

  test('do not wait for what is held, or under way, in a sandbox', async () => {
    const [folder, pool] = [freshFolder(), await freshPool()];
    useArquivo(pool, folder);
    await filled(pool);
    const store = createStore(pool);
    const aberto = {
      rede: Buffer.alloc(8),
      criadoEm: Date.now(),
      ate: Date.now() + 86_400_000,
      chave: Buffer.alloc(32),
      nome: undefined,
    };
    const max = { daRede: 9, todos: 9, desde: 0 };
    await store.municipios.create({ tenant: 'integracao', ambiente: 'homologacao', codigoIbge: undefined }, NOON);
    assert.equal(await store.ensaios.create('integracao', { ...aberto, tenant: 'ensaio-aaaaaa' }, max), 'made');
    // The sandbox's clock makes these rows recent: they have not expired.
    const now = `'2026-01-20T12:00:00Z'::timestamptz`;
    await fillNotas(pool, 'ensaio-aaaaaa', 3, [MES]);
    const notas = await pool.query<{ id: string }>(`select id from notas where tenant = 'ensaio-aaaaaa' order by id`);
    const [held, waiting] = notas.rows.map(({ id }) => id);
    await pool.query(
      `insert into retidas (tenant, nota, mes, tabela_aliquotas) values ('ensaio-aaaaaa', ${held}, ${MES}, 1)`,
    );
    await pool.query(
      `insert into fila (tenant, tipo, id, mes, due_at) values ('ensaio-aaaaaa', 'nota', ${waiting}, ${MES}, ${now})`,
    );
    const { arquivo } = store;
    assert.deepEqual(await arquivo.listEmAndamento(MES), []);
    await pool.query(`update municipios set guarda_dias = 0 where tenant = 'ensaio-aaaaaa'`);
    assert.ok(!('problem' in (await fecharMes({ store, now: Date.now }, '2026-01', () => undefined))));
    const tenants = filesIn(folder).map((file) => path.basename(path.dirname(file)));
    assert.deepEqual(tenants.toSorted(), ['alfa', 'beta']);
    for (const table of ['notas', 'retidas', 'fila', 'identidades']) {
      const { rows } = await pool.query(`select 1 from ${table} where tenant = 'ensaio-aaaaaa'`);
      assert.equal(rows.length, 0, table);
    }
  });

  test('that are damaged are named, with exit code 1', async () => {
    const [folder, connection] = [freshFolder(), await freshDatabase()];
    const pool = await poolOn(connection);
    await filled(pool);
    const env = { DATABASE_URL: databaseUrlOf(connection), NFSE_ARQUIVO: folder };
    assert.equal((await nfse(['arquivo', 'fechar', '2026-01'], env)).code, 0);
    const conferir = () => nfse(['arquivo', 'conferir'], env);
    assert.equal((await conferir()).code, 0);
    const file = filesIn(folder).find((name) => name.includes('alfa'))!;
    const bytes = readFileSync(file);
    const changed = Buffer.from(bytes);
    changed[Math.floor(bytes.length / 2)]! ^= 1;
    const damages: readonly (readonly [RegExp, () => void])[] = [
      [/SHA-256/, () => writeFileSync(file, changed)],
      [/bytes em vez de/, () => writeFileSync(file, bytes.subarray(0, -1))],
      [/não está em/, () => rmSync(file)],
      [/\.sha256/, () => writeFileSync(`${file}.sha256`, 'outro')],
    ];
    const sum = readFileSync(`${file}.sha256`);
    for (const [says, damage] of damages) {
      damage();
      const { code, err } = await conferir();
      assert.equal(code, 1);
      assert.match(err, says);
      assert.match(err, new RegExp(`alfa/${path.basename(file)}`));
      writeFileSync(file, bytes);
      writeFileSync(`${file}.sha256`, sum);
    }
    assert.equal((await conferir()).code, 0);
    writeFileSync(file, changed);
    assert.equal((await nfse(['arquivo', 'trazer', '2026-01'], env)).code, 1, 'nothing is brought of a damaged file');
  });

  test('are read by another program as the page says', async () => {
    const [folder, pool] = [freshFolder(), await freshPool()];
    useArquivo(pool, folder);
    await filled(pool);
    const world = { store: createStore(pool), now: Date.now };
    assert.ok(!('problem' in (await fecharMes(world, '2026-01', () => undefined))));
    const file = filesIn(folder).find((name) => name.includes('alfa'))!;
    execFileSync('sha256sum', ['-c', `${path.basename(file)}.sha256`], { cwd: path.dirname(file) });
    const bytes = readFileSync(file);
    const lines = bytes.toString('latin1').split('\n', 2);
    assert.equal(lines[0], 'NFSE-ARQUIVO 1');
    const head = JSON.parse(lines[1]!);
    assert.deepEqual([head.municipio, head.codigo_ibge, head.mes], ['alfa', '3550308', MES]);
    const dictionary = (number: number) => Buffer.from(head.dicionarios[number], 'base64');
    const footAt = Number(bytes.readBigUInt64BE(bytes.length - 16));
    const foot = JSON.parse(bytes.toString('utf8', footAt, bytes.length - 16));
    assert.equal(foot.linhas.documentos, NOTAS);
    let notas = 0;
    for (let at = foot.indice; at < footAt; at += 53) {
      const [from, length] = [Number(bytes.readBigUInt64BE(at + 9)), bytes.readUInt32BE(at + 17)];
      const record = bytes.subarray(from, from + length);
      assert.ok(hash('sha256', record, 'buffer').equals(bytes.subarray(at + 21, at + 53)));
      if (bytes[at] !== 0) continue;
      const jsonEnd = 4 + record.readUInt32LE(0);
      const json = zstdDecompressSync(record.subarray(4, jsonEnd), { dictionary: dictionary(head.dicionario) });
      const { id, linhas } = JSON.parse(json.toString());
      const [documento] = linhas.documentos;
      const pacote = record.subarray(jsonEnd, jsonEnd + documento.bytes.pacote);
      const inside = zstdDecompressSync(pacote, { dictionary: dictionary(documento.dicionario) });
      assert.equal(inside.toString('utf8', 8), '<DPS/>'.repeat(30) + '<NFSe/>'.repeat(60), `note ${id}`);
      assert.equal(linhas.trilha_notas.length, 3);
      notas += 1;
    }
    assert.equal(notas, NOTAS);
  });

  test('are signed by the municipality, as openssl verifies, and each names the one before', async () => {
    const [folder, pool] = [freshFolder(), await freshPool()];
    useArquivo(pool, folder);
    await filled(pool);
    await createStore(pool).municipios.create({ tenant: 'gama', ambiente: 'producao', codigoIbge: '5300108' }, NOON);
    await fillNotas(pool, 'gama', 20, [MES, 202602]);
    const [keyFile, certFile] = [path.join(folder, 'chave'), path.join(folder, 'certificado')];
    const made = ['-keyout', keyFile, '-out', certFile, '-subj', '/CN=gama', '-days', '30'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...made], { stdio: 'ignore' });
    const sql = `update municipios set adn_url = 'https://localhost', adn_certificado = $1, adn_chave = $2 where tenant = 'gama'`;
    await pool.query(sql, [certFile, keyFile]);
    const world = { store: createStore(pool), now: Date.now };
    for (const mes of ['2026-01', '2026-02']) assert.ok(!('problem' in (await fecharMes(world, mes, () => undefined))));
    const [first, second] = filesIn(folder)
      .filter((name) => name.includes('gama'))
      .toSorted();
    for (const file of [first!, second!]) {
      const openssl = (...args: string[]) => execFileSync('openssl', args, { encoding: 'utf8', cwd: folder });
      writeFileSync(path.join(folder, 'publica'), openssl('x509', '-in', `${file}.pem`, '-pubkey', '-noout'));
      const names = ['-verify', 'publica', '-signature', `${file}.assinatura`, `${file}.sha256`];
      assert.match(openssl('dgst', '-sha256', ...names), /Verified OK/);
    }
    const { anterior } = JSON.parse(readFileSync(second!, 'latin1').split('\n', 2)[1]!);
    assert.equal(anterior, readFileSync(`${first}.sha256`, 'utf8').slice(0, 64));
    assert.deepEqual(await conferirArquivo(world, [], () => undefined), { problemas: [], conferidos: 4 });
    const told: string[] = [];
    const later = { ...world, now: () => Date.now() + 60 * DAY_MS };
    await conferirArquivo(later, ['2026-01'], (line) => told.push(line));
    const says =
      /gama.*: íntegro, assinado em [\d-]+ por gama, cujo certificado venceu em [\d-]+, e valia quando assinou/;
    assert.match(told.join('\n'), says);
    const wrong = async (says: RegExp) => {
      const checked = await conferirArquivo(world, ['2026-01'], () => undefined);
      assert.match('problemas' in checked ? checked.problemas.join() : '', says);
    };
    const pem = readFileSync(`${first}.pem`);
    const other = ['-keyout', path.join(folder, 'outra'), '-out', `${first}.pem`, '-subj', '/CN=gama', '-days', '30'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...other], { stdio: 'ignore' });
    await wrong(/\.pem que não é o do certificado/);
    writeFileSync(`${first}.pem`, pem);
    writeFileSync(`${first}.assinatura`, readFileSync(`${second}.assinatura`));
    await wrong(/assinatura que não é dele/);
    await world.store.municipios.create({ tenant: 'delta', ambiente: 'producao', codigoIbge: '4106902' }, NOON);
    await fillNotas(pool, 'delta', 5, [202603]);
    const lines: string[] = [];
    assert.ok(
      !(
        'problem' in
        (await fecharMes({ ...later, now: () => Date.now() + 300 * DAY_MS }, '2026-03', (line) => lines.push(line)))
      ),
    );
    assert.match(lines[0]!, /^gama: o certificado vale de [\d-]+ a [\d-]+, e por isso nada é assinado/);
  });

  test('that came from another database are brought before the month is closed anew', async () => {
    const [folder, pool] = [freshFolder(), await freshPool()];
    useArquivo(pool, folder);
    await filled(pool);
    const before = await contentOf(pool);
    const world = { store: createStore(pool), now: Date.now };
    assert.ok(!('problem' in (await fecharMes(world, '2026-01', () => undefined))));
    // An import leaves this state: the rows of the municipality, with months that are only in this database.
    await pool.query('update meses set arquivado_em = null');
    await pool.query(
      `insert into trilha_notas select 'alfa', ${MES}, 7, 4, now(), 'autorizada', 'cancelamento', 'cancelada'`,
    );
    const refused = await fecharMes(world, '2026-01', () => undefined);
    assert.match('problem' in refused ? refused.problem : '', /nfse arquivo trazer 2026-01/);
    await pool.query('delete from trilha_notas');
    assert.deepEqual(await trazerMes(world, '2026-01', () => undefined), { trazido: true });
    assert.equal(await contentOf(pool), before);
    assert.deepEqual(await trazerMes(world, '2026-01', () => undefined), { trazido: false });
  });

  test('are not begun while anything of the month is under way, nor in a folder that is not there', async () => {
    const [folder, pool] = [freshFolder(), await freshPool()];
    useArquivo(pool, folder);
    await filled(pool);
    const world = { store: createStore(pool), now: Date.now };
    await pool.query(`insert into fila (tenant, tipo, id, mes, due_at) values ('beta', 'nota', 3, ${MES}, now())`);
    const refused = await fecharMes(world, '2026-01', () => undefined);
    assert.match('problem' in refused ? refused.problem : '', /beta: 1 \(nota\)/);
    await pool.query('delete from fila');
    rmSync(folder, { recursive: true });
    await assert.rejects(
      fecharMes(world, '2026-01', () => undefined),
      /ENOENT/,
    );
    mkdirSync(folder);
    assert.ok(!('problem' in (await fecharMes(world, '2026-01', () => undefined))));
  });
});
