/** What whoever owns the database tries so that a verification finds nothing. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { pemOf } from '../src/documents/pki.ts';
import { conferirAuditoria, sealDays } from '../src/flows/auditoria.ts';
import { balcao } from './support/eventos.ts';
import { freshFolder } from './support/openssl.ts';
import { startTestService, type TestService } from './support/service.ts';
import { DECADES, type Party, testParties } from './support/signatures.ts';

const SLUG = 'integracao';

/** When a chain begins: of a new municipality with nothing in it, of one from before the chain with all that it has. */
const BEGINNINGS = ['before there is a note', 'when there are notes'] as const;

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
      // Without a worker, which would begin the chain at a moment of its own.
      service = await startTestService({ worker: false });
      const here = balcao(service.address, SLUG);
      if (beginning === 'before there is a note') await open();
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

test('a seal is of the municipality: by its certificate, or by one of before of the same holder and of an authority that is trusted', async () => {
  const { store, world, clock } = await startTestService({ worker: false });
  const folder = freshFolder();
  const ancoras = freshFolder();
  // The other authority has the same name, and gives a certificate of the same holder.
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
