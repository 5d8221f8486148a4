/** What whoever owns the database tries so that the service itself tells a changed row as if nothing had happened. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { balcao } from './support/eventos.ts';
import { startTestService, type TestService } from './support/service.ts';
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
