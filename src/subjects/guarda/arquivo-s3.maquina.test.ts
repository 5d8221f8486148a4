/** The archive in a bucket: the same operations as in a folder, over the network, and the answers while the store is down. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fillNotas } from '../../../test/support/cheio.ts';
import { databaseUrlOf, freshDatabase, poolOn } from '../../../test/support/database.ts';
import { request } from '../../../test/support/http.ts';
import { nfseKilled } from '../../../test/support/killed.ts';
import { nfse } from '../../../test/support/process.ts';
import { NOON, startTestService } from '../../../test/support/service.ts';
import { noSwift, type Swift, startSwift } from '../../../test/support/swift.ts';
import { until } from '../../../test/support/until.ts';
import { useArquivo } from '../../base/book/arquivo.ts';
import { arquivoBucket } from '../../base/book/arquivo-s3.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { readConfig } from '../../wiring/config.ts';
import { createStore } from '../../wiring/store.ts';
import { conferirArquivo, fecharMes, trazerMes } from './arquivar.ts';

const API = '/integracao/api/v1';
const MES = 202601;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

describe('the archive in a bucket', { skip: noSwift }, () => {
  let swift: Swift;
  before(async () => {
    swift = await startSwift();
  });
  /** The bucket with a prefix of each test's own. */
  const bucketOf = (prefixo: string) => ({ ...swift.bucket, prefixo });
  const envOf = (prefixo: string) => ({
    NFSE_ARQUIVO: `s3://${swift.bucket.nome}/${prefixo}`,
    AWS_ENDPOINT_URL_S3: swift.bucket.endpoint,
    AWS_REGION: swift.bucket.regiao,
    AWS_ACCESS_KEY_ID: swift.bucket.chave,
    AWS_SECRET_ACCESS_KEY: swift.bucket.segredo,
  });

  test('holds files of any size, and writes over none', async () => {
    const lugar = arquivoBucket(bucketOf('grandes'));
    const draft = async (parts: number) => {
      const one = await lugar.create('alfa');
      const all = Array.from({ length: parts }, () => randomBytes(1024 * 1024));
      for (const part of all) await one.append(part);
      return { written: await one.finish(Buffer.from('fim')), whole: Buffer.concat([...all, Buffer.from('fim')]), one };
    };
    for (const [nome, parts] of [
      ['alfa/pequeno.nfse', 1],
      ['alfa/grande.nfse', 35],
    ] as const) {
      assert.equal(await lugar.sizeOf(nome), undefined);
      const { written, whole, one } = await draft(parts);
      await lugar.publish(written, nome);
      await lugar.publish(written, nome);
      await one.drop();
      assert.equal(await lugar.sizeOf(nome), whole.length);
      for (const [at, length] of [
        [0, 1],
        [whole.length - 20, 20],
        [Math.floor(whole.length / 2), 70_000],
        [5, 0],
      ] as const) {
        const got = await lugar.reading(nome, (read) => read(at, length));
        assert.ok(got.equals(whole.subarray(at, at + length)), `${nome} ${at} ${length}`);
      }
      await assert.rejects(lugar.reading(nome, (read) => read(whole.length - 5, 10)));
    }
    const other = await draft(36);
    await assert.rejects(lugar.publish(other.written, 'alfa/grande.nfse'), /412/);
    await other.one.drop();
    await lugar.writeBeside('alfa/grande.nfse.sha256', 'um');
    assert.equal(String(await lugar.readBeside('alfa/grande.nfse.sha256')), 'um');
    assert.equal(await lugar.readBeside('alfa/outro.nfse.sha256'), undefined);
    assert.deepEqual(await lugar.list(), ['alfa/grande.nfse', 'alfa/grande.nfse.sha256', 'alfa/pequeno.nfse']);
    // A killed command leaves uploaded parts that were never combined.
    for (const nome of ['grande', 'alheio']) {
      const begun = await swift.ask('POST', `grandes/alfa/${nome}.nfse?uploads=`);
      const [, id] = /<UploadId>([^<]*)/.exec(begun)!;
      await swift.ask('PUT', `grandes/alfa/${nome}.nfse?partNumber=1&uploadId=${id}`, Buffer.alloc(100_000));
    }
    await lugar.remove('alfa/grande.nfse');
    await lugar.remove('alfa/grande.nfse');
    const left = (await swift.ask('GET', '?uploads=')).match(/<Key>[^<]*/g);
    assert.deepEqual(left, ['<Key>grandes/alfa/alheio.nfse']);
    assert.deepEqual(await lugar.list(), ['alfa/pequeno.nfse']);
  });

  test('a month is closed, looked at and brought back by commands that are killed in between', async () => {
    const connection = await freshDatabase();
    const pool = await poolOn(connection);
    const store = createStore(pool);
    await store.municipios.create({ tenant: 'alfa', ambiente: 'producao', codigoIbge: '3550308' }, NOON);
    await fillNotas(pool, 'alfa', 300, [MES]);
    const env = { DATABASE_URL: databaseUrlOf(connection), ...envOf('meses') };
    useArquivo(pool, bucketOf('meses'));
    const inDatabase = async (text: string) => (await pool.query(`select (${text}) as so`)).rows[0].so as boolean;
    const fechar = ['arquivo', 'fechar', '2026-01'];
    await nfseKilled(fechar, env, () => inDatabase('select count(*) > 0 from arquivos'));
    await nfseKilled(fechar, env, () => inDatabase('select count(*) > 0 from arquivos where pronto_em is not null'));
    const done = await nfse(fechar, env);
    assert.equal(done.code, 0, done.err);
    assert.equal(await inDatabase('select count(*) = 0 from documentos'), true);
    const checked = await nfse(['arquivo', 'conferir'], env);
    assert.deepEqual([checked.code, checked.out.split('\n').length], [0, 3], checked.out + checked.err);
    const [row] = (await pool.query('select chave_acesso from notas limit 1')).rows;
    assert.equal((await store.notas.findByChave('alfa', row.chave_acesso))!.nfse, '<NFSe/>'.repeat(60));
    const brought = await nfse(['arquivo', 'trazer', '2026-01'], env);
    assert.equal(brought.code, 0, brought.err);
    assert.equal(await inDatabase('select count(*) = 300 from documentos'), true);
    const refused = await nfse(['arquivo', 'conferir'], { ...env, AWS_SECRET_ACCESS_KEY: 'nao-e-este-segredo' });
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /403 SignatureDoesNotMatch/);
    assert.doesNotMatch(refused.err + refused.out, /nao-e-este-segredo/);
  });

  test('is answered with 503 while the store is not there, and everything else goes on', async () => {
    const service = await startTestService();
    useArquivo(service.pool, bucketOf('consultas'));
    await service.pool.query('update municipios set guarda_dias = 0');
    const send = (nDPS: string) =>
      request(service.address, `${API}/nfse/v101`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml' },
        body: exampleXml({ serie: '1', nDPS }),
      });
    const { chave_acesso: chave, xml_nfse } = (await send('1')).body;
    const find = () => request(service.address, `${API}/nfse/${chave}`);
    await until(async () => ((await find()).body.nota.status === 'autorizada' ? true : undefined), 'it is authorised');
    const whole = (await find()).body;
    const later = { store: service.store, now: () => NOON + 100 * DAY_MS };
    assert.ok(!('problem' in (await fecharMes(later, '2026-11', () => undefined))));
    assert.deepEqual((await find()).body, whole);
    assert.equal(whole.nota.xml_nota ?? xml_nfse, xml_nfse);

    swift.freeze();
    service.logged.length = 0;
    // A time limit must survive garbage collection, although nothing else references it.
    const collecting = setInterval(collectGarbage, 500);
    const asked = await Promise.all(Array.from({ length: 60 }, find));
    clearInterval(collecting);
    for (const { status, headers, body } of asked) {
      assert.equal(status, 503);
      assert.equal(headers.get('retry-after'), '60');
      assert.match(JSON.stringify(body), /arquivo dos meses encerrados/);
    }
    const logged = JSON.stringify(service.logged);
    assert.match(logged, /integracao\/2026-11-[0-9a-f]{12}\.nfse não pôde ser lido em s3:\/\/arquivo\/consultas/);
    assert.match(logged, /não responde \(passou do tempo\)/);
    assert.ok(!logged.includes(swift.bucket.segredo));
    assert.equal((await send('2')).status, 201);
    const checked = await conferirArquivo(later, ['2026-11'], () => undefined).catch((error: Error) => error);
    assert.ok(checked instanceof Error || !('problemas' in checked) || checked.problemas.length > 0);
    swift.thaw();
    const again = async () => ((await find()).status === 200 ? true : undefined);
    await until(again, 'it is answered again');
    assert.deepEqual((await find()).body, whole);
    assert.deepEqual(await trazerMes(later, '2026-11', () => undefined), { trazido: true });
  });
});

test('a bucket needs keys, and says so', () => {
  const env = { NFSE_ARQUIVO: 's3://nfse-arquivo/producao/' };
  assert.throws(() => readConfig(env, false), /AWS_ACCESS_KEY_ID e AWS_SECRET_ACCESS_KEY/);
  const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
  assert.deepEqual(readConfig({ ...env, ...keys, AWS_REGION: 'sa-east-1' }, false).arquivo, {
    nome: 'nfse-arquivo',
    prefixo: 'producao',
    endpoint: 'https://s3.sa-east-1.amazonaws.com',
    regiao: 'sa-east-1',
    chave: 'a',
    segredo: 'b',
    sessao: undefined,
  });
  for (const text of ['arquivo', 's3:arquivo', 's3://', 's3://UM', 's3://um/../dois%20']) {
    assert.throws(() => readConfig({ ...keys, NFSE_ARQUIVO: text }, false), /NFSE_ARQUIVO/, text);
  }
  assert.equal(readConfig({ NFSE_ARQUIVO: '/srv/arquivo' }, false).arquivo, '/srv/arquivo');
});
