/** Attempts of the database's owner to make a verification find nothing. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import { balcao } from '../../../test/support/eventos.ts';
import { movedBy } from '../../../test/support/moments.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { DECADES, type Party, testParties } from '../../../test/support/signatures.ts';
import { CHAVE_BYTES, holdChaves } from '../../base/book/auditoria-chave.ts';
import { pemOf } from '../../documents/pki.ts';
import { createStore } from '../../wiring/store.ts';
import { exportMunicipio } from '../municipios/exportar.ts';
import { importMunicipio } from '../municipios/importar.ts';
import { conferirAuditoria, sealDays } from './auditoria.ts';

const SLUG = 'integracao';

/** The two times at which a chain may begin: together with its municipality, or later, in a database of the previous version. */
const BEGINNINGS = ['with its municipality', 'when there are notes'] as const;
/** Makes the state of the previous version, in which the chain has not begun. */
const NOT_BEGUN = ['auditoria', 'auditoria_ate'].map((tabela) => `delete from ${tabela} where tenant = $1`);

for (const beginning of BEGINNINGS) {
  describe(`a chain that began ${beginning}, and is made to begin again`, () => {
    let service: TestService;
    const open = async (): Promise<void> => {
      while (await service.store.auditoria.openEtapa(SLUG, service.clock.now));
    };
    const verify = async () => {
      const { auditoria } = service.store;
      while ((await auditoria.place(SLUG)) > 0);
      return (await auditoria.verify(SLUG, [])).achados.map(({ tipo, tabela }) => `${tipo} ${tabela}`);
    };

    beforeEach(async () => {
      // A worker would begin the chain at another moment.
      service = await startTestService({ worker: false });
      const here = balcao(service.address, SLUG);
      if (beginning === 'when there are notes') for (const text of NOT_BEGUN) await service.pool.query(text, [SLUG]);
      for (const nDPS of ['1', '2']) await here.issue({ serie: '1', nDPS });
      await open();
      assert.deepEqual(await verify(), []);
    });

    test('does not hide what was changed, and is found itself', async () => {
      await service.pool.query('update notas set valor_servico = 7 where numero_dps = 1');
      assert.deepEqual(await verify(), ['linha_alterada notas']);
      await service.pool.query('update auditoria_ate set aberta_em = null, abrindo = null where tenant = $1', [SLUG]);
      await open();
      const found = await verify();
      assert.ok(found.includes('linha_alterada notas'), `${found}`);
      assert.ok(found.includes('abertura_repetida undefined'), `${found}`);
    });

    test('nor does one that is told to begin in the middle hide a row that no entry spoke of', async () => {
      const { pool } = service;
      await pool.query(
        `insert into prestadores (tenant, documento, razao_social, autorizado, logradouro, numero, bairro, cep, origem, criado_em)
          select tenant, '99999999000191', razao_social, true, logradouro, numero, bairro, cep, origem, now() from prestadores where tenant = $1 limit 1`,
        [SLUG],
      );
      assert.deepEqual(await verify(), ['linha_sem_entrada prestadores']);
      const abrindo = JSON.stringify({ vista: 'prestadores' });
      await pool.query('update auditoria_ate set aberta_em = null, abrindo = $2 where tenant = $1', [SLUG, abrindo]);
      await open();
      assert.ok((await verify()).includes('linha_sem_entrada prestadores'));
    });
  });
}

describe('what somebody changes between the entry that tells it and the beginning of the chain', () => {
  /** Changes to rows that the chain records once more when it begins. */
  const CHANGES = [
    ['notas', 'update notas set valor_servico = 7 where tenant = $1'],
    ['notas_estado', `update notas set mensagem_retorno = 'x' where tenant = $1`],
    ['documentos', `update documentos set nfse = '<NFSe/>' where tenant = $1`],
    ['trilha_notas', `update trilha_notas set mensagem = 'x' where tenant = $1`],
    ['municipios', 'update municipios set limite_endereco = 7 where tenant = $1'],
    ['atos', `update atos set quem = 'outro' where tenant = $1`],
  ] as const;
  let service: TestService;
  const verify = async () => {
    const { auditoria } = service.store;
    while ((await auditoria.place(SLUG)) > 0);
    return (await auditoria.verify(SLUG, [])).achados.map(({ tipo, tabela }) => `${tipo} ${tabela}`);
  };

  /** A note, a setting and its act, all recorded in the chain. */
  beforeEach(async () => {
    service = await startTestService({ worker: false });
    for (const text of NOT_BEGUN) await service.pool.query(text, [SLUG]);
    await balcao(service.address, SLUG).issue({ serie: '1', nDPS: '1' });
    const { store, clock } = service;
    const municipio = (await store.municipios.readFresh(SLUG))!;
    const ato = { quem: 'fulano', via: 'comando', objeto: 'municipio', chave: SLUG, acao: 'alterado' } as const;
    await store.municipios.update({ ...municipio, limiteEndereco: 8 }, [{ em: clock.now, ...ato }]);
  });
  const open = async (): Promise<void> => {
    while (await service.store.auditoria.openEtapa(SLUG, service.clock.now));
  };

  for (const placing of ['before', 'after'] as const) {
    test(`is found, be entries given places ${placing} it begins`, async () => {
      if (placing === 'before') while ((await service.store.auditoria.place(SLUG)) > 0);
      for (const [, text] of CHANGES) await service.pool.query(text, [SLUG]);
      await open();
      const found = await verify();
      for (const [vista] of CHANGES) {
        assert.ok(found.includes(`linha_recontada ${vista}`), `${vista}: ${found}`);
        assert.ok(found.includes(`linha_alterada ${vista}`), `${vista}: ${found}`);
      }
    });
  }

  test('is found of a row that was taken away, and put in again', async () => {
    const { pool, store, clock } = service;
    const token = { documento: '11222333000181', impressao: Buffer.alloc(32, 1), escopos: ['notas'] };
    const columns = 'tenant, id, documento, impressao, escopos, criado_em, expira_em, por';
    const put = (): Promise<unknown> =>
      pool.query(`insert into tokens (${columns}) values ($1, 't1', $2, $3, $4, $5, $5, 'ensaio')`, [
        ...[SLUG, token.documento, token.impressao, token.escopos, new Date(clock.now)],
      ]);
    await pool.query(
      `insert into auditoria (tenant, id, itens, resumos) values ($1, gen_random_uuid(), '-["tokens","t1"]', sha256('x'))`,
      [SLUG],
    );
    while ((await store.auditoria.place(SLUG)) > 0);
    await put();
    await open();
    assert.deepEqual(await verify(), ['linha_recontada tokens', 'linha_sem_entrada tokens']);
  });

  test('is no finding of what changes, where the version before has written beside this one', async () => {
    await service.pool.query(
      `update migracoes set aplicada_em = ${movedBy('aplicada_em', '1 hour')} where nome like '%-auditoria.sql'`,
    );
    for (const [, text] of CHANGES) await service.pool.query(text, [SLUG]);
    await open();
    const found = new Set((await verify()).map((one) => one.split(' ')[1]));
    assert.deepEqual([...found].toSorted(), ['atos', 'documentos', 'notas', 'trilha_notas']);
  });

  test('and is nothing where the municipality was made with its chain: it is begun already', async () => {
    const { store, pool, clock } = service;
    await store.municipios.create({ tenant: 'nova', ambiente: 'homologacao', codigoIbge: undefined }, clock.now);
    assert.notEqual((await store.auditoria.readState('nova'))?.abertaEm, null);
    assert.deepEqual(await store.auditoria.listSemAbertura(), [SLUG]);
    await pool.query(`insert into retencoes select 'nova', 202611, 'processo', 'fulano', now()`);
    assert.equal(await store.auditoria.openEtapa('nova', clock.now), false);
    while ((await store.auditoria.place('nova')) > 0);
    const { achados } = await store.auditoria.verify('nova', []);
    assert.deepEqual(
      achados.map(({ tipo, tabela }) => `${tipo} ${tabela}`),
      ['linha_sem_entrada retencoes'],
    );
  });
});

test('a seal is of the municipality: by its certificate, or by one of before of the same holder and of an authority that is trusted', async () => {
  const { store, world, clock } = await startTestService({ worker: false });
  const folder = freshFolder();
  const ancoras = freshFolder();
  // The other authority has the same name, and issues a certificate for the same holder.
  const [own, others] = [await testParties(clock.now, DECADES), await testParties(clock.now, DECADES)];
  writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', own.root.certificate));
  const signsWith = async (party: Party | undefined): Promise<void> => {
    const [certificado, chave] = [path.join(folder, 'municipio.pem'), path.join(folder, 'municipio.key')];
    writeFileSync(certificado, party?.pem ?? '');
    writeFileSync(chave, party?.keyPem ?? '', { mode: 0o600 });
    const municipio = (await store.municipios.readFresh(SLUG))!;
    const adn = { url: 'https://adn.exemplo.gov.br', ca: undefined, chaves: { certificado, chave } };
    await store.municipios.update({ ...municipio, adn, confianca: { ...municipio.confianca, ancoras } });
  };
  const seal = (day: number) => sealDays({ ...world, now: () => clock.now + day * 86_400_000 });
  const verify = async () => {
    const done = await conferirAuditoria({ ...world, now: () => clock.now }, SLUG, [], () => undefined);
    assert.ok('selos' in done, JSON.stringify(done));
    return done;
  };
  const problems = async () => (await verify()).selos.map(({ problema }) => problema);
  while (await store.auditoria.openEtapa(SLUG, clock.now));
  for (const [day, party] of [others.provider, own.provider, own.namesake].entries()) {
    await signsWith(party);
    await seal(day);
  }
  const [foreign, ...renewed] = await problems();
  assert.match(foreign!, /quem o assinou não é o município/);
  assert.deepEqual(renewed, [null, null]);
  await signsWith(undefined);
  const { selos, situacao, total } = await verify();
  for (const { problema } of selos) assert.match(problema!, /não se sabe se foi o município que o assinou/);
  assert.deepEqual([situacao, total], ['ainda_nao', 0]);
});

describe('a municipality that is brought from another service', () => {
  const [theirs, ours] = [Buffer.alloc(CHAVE_BYTES, 1), Buffer.alloc(CHAVE_BYTES, 2)];
  const andamento = { rows: () => undefined, tell: () => undefined };
  after(() => holdChaves([]));

  test('keeps its chain, which the key of this one vouches for as it came', async () => {
    holdChaves([theirs]);
    const { store, clock, world } = await startTestService({ worker: false });
    await store.municipios.create({ tenant: 'origem', ambiente: 'homologacao', codigoIbge: undefined }, clock.now);
    while ((await store.auditoria.place('origem')) > 0);
    // The entry has no place yet when it is exported.
    await store.municipios.update({ ...(await store.municipios.readFresh('origem'))!, limiteEndereco: 5 });
    const file = path.join(freshFolder(), 'origem.nfse');
    await exportMunicipio(world, 'origem', file, andamento);

    // The database of the destination is made after the key.
    holdChaves([ours], { entradas: 0, lugares: 0 });
    const pool = await freshPool();
    const there = createStore(pool);
    await importMunicipio({ store: there, now: () => clock.now }, file, 'destino', andamento);
    const found = async () => (await there.auditoria.verify('destino', [])).achados.map(({ tipo }) => tipo);
    assert.deepEqual(await found(), []);
    await there.municipios.update({ ...(await there.municipios.readFresh('destino'))!, limiteEndereco: 6 });
    while ((await there.auditoria.place('destino')) > 0);
    assert.deepEqual(await found(), []);
    const { autenticas, antes, outras } = (await there.auditoria.verify('destino', [])).chave;
    assert.ok(autenticas > 0 && antes > 0, `${autenticas} ${antes}`);
    assert.deepEqual(outras, []);

    await pool.query(`update auditoria set em = ${movedBy('em', '-1 second')} where lugar = 1`);
    assert.deepEqual(await found(), ['elo_quebrado']);
    await pool.query(`update auditoria set em = ${movedBy('em', '1 second')} where lugar = 1`);
    await pool.query('update auditoria set autenticador_lugar = null where octet_length(autenticador_lugar) = 41');
    assert.ok((await found()).includes('entrada_de_outra_chave'), "without it they are nobody's");
  });
});

test('the key is known of a database as soon as a process with it has written, before any place is given', async () => {
  const store = createStore(await freshPool());
  const written = async () => [await store.auditoria.hasEntradas(), await store.auditoria.hasChave()];
  const write = (tenant: string) =>
    store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, Date.now());
  assert.deepEqual(await written(), [false, false]);
  holdChaves([]);
  await write('sem-chave');
  assert.deepEqual(await written(), [true, false]);
  holdChaves([Buffer.alloc(CHAVE_BYTES, 3)]);
  try {
    await write('com-chave');
    assert.deepEqual(await written(), [true, true]);
    while ((await store.auditoria.place('com-chave')) > 0);
    assert.deepEqual(await written(), [true, true]);
  } finally {
    holdChaves([]);
  }
});
