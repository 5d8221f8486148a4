/** What whoever owns the database tries so that a verification finds nothing. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { pemOf } from '../src/documents/pki.ts';
import { conferirAuditoria, sealDays } from '../src/flows/auditoria.ts';
import { balcao } from './support/eventos.ts';
import { freshFolder } from './support/openssl.ts';
import { startTestService, type TestService } from './support/service.ts';
import { DECADES, type Party, testParties } from './support/signatures.ts';
import { until } from './support/until.ts';

const SLUG = 'integracao';

describe('a chain that is made to begin again', () => {
  let service: TestService;
  const verify = async () => {
    const { auditoria } = service.store;
    while ((await auditoria.place(SLUG)) > 0);
    return (await auditoria.verify(SLUG, [])).achados.map(({ tipo, tabela }) => `${tipo} ${tabela}`);
  };
  const openAgain = async (): Promise<void> => {
    const { store, pool, clock } = service;
    await pool.query('update auditoria_ate set aberta_em = null, abrindo = null where tenant = $1', [SLUG]);
    while (await store.auditoria.openEtapa(SLUG, clock.now));
  };

  before(async () => {
    service = await startTestService();
    const here = balcao(service.address, SLUG);
    for (const number of ['1', '2']) {
      const nota = await here.issue({ serie: '1', nDPS: number });
      await until(async () => (await here.nota(nota)).body.nota?.status === 'autorizada' || undefined, 'autorizada');
    }
    await until(async () => (await service.store.auditoria.readState(SLUG))?.abertaEm ?? undefined, 'it was begun');
    await service.stopWorker();
  });

  test('does not hide what was changed, and is found itself', async () => {
    await service.pool.query('update notas set valor_servico = 7 where numero_dps = 1');
    assert.deepEqual(await verify(), ['linha_alterada notas']);
    await openAgain();
    const found = await verify();
    assert.ok(found.includes('linha_alterada notas'), `${found}`);
    assert.ok(found.includes('abertura_repetida undefined'), `${found}`);
  });

  test('nor does one that is told to begin in the middle hide a row that no entry spoke of', async () => {
    const { pool, store, clock } = service;
    await pool.query(
      `insert into prestadores (tenant, documento, razao_social, autorizado, logradouro, numero, bairro, cep, origem, criado_em)
        select tenant, '99999999000191', razao_social, true, logradouro, numero, bairro, cep, origem, now() from prestadores where tenant = $1 limit 1`,
      [SLUG],
    );
    assert.ok((await verify()).includes('linha_sem_entrada prestadores'));
    const abrindo = JSON.stringify({ vista: 'prestadores' });
    await pool.query('update auditoria_ate set aberta_em = null, abrindo = $2 where tenant = $1', [SLUG, abrindo]);
    while (await store.auditoria.openEtapa(SLUG, clock.now));
    assert.ok((await verify()).includes('linha_sem_entrada prestadores'));
  });
});

test('a seal is of the municipality: by its certificate, or by one of before of the same holder and of an authority that is trusted', async () => {
  const { store, world, clock } = await startTestService();
  const folder = freshFolder();
  const ancoras = freshFolder();
  // The other authority has the same name, and gives a certificate of the same holder.
  const [own, others] = [await testParties(Date.now(), DECADES), await testParties(Date.now(), DECADES)];
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
  const problems = async (): Promise<readonly (string | null)[]> => {
    const done = await conferirAuditoria({ ...world, now: () => clock.now }, SLUG, [], () => undefined);
    assert.ok('selos' in done, JSON.stringify(done));
    return done.selos.map(({ problema }) => problema);
  };
  await until(async () => (await store.auditoria.readState(SLUG))?.abertaEm ?? undefined, 'the chain was begun');
  for (const [day, party] of [others.provider, own.provider, own.namesake].entries()) {
    await signsWith(party);
    await seal(day);
  }
  const [foreign, ...renewed] = await problems();
  assert.match(foreign!, /quem o assinou não é o município/);
  assert.deepEqual(renewed, [null, null]);
  await signsWith(undefined);
  for (const problem of await problems()) assert.match(problem!, /não se sabe se foi o município que o assinou/);
});
