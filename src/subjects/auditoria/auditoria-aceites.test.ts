/** An operator accepts a finding: it raises no more alarms, is named by every verification, and covers no later finding. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { nfseBeside } from '../../../test/support/cli.ts';
import { databaseUrlOf, freshDatabase } from '../../../test/support/database.ts';
import { balcao } from '../../../test/support/eventos.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { startTestService } from '../../../test/support/service.ts';
import { DECADES, testParties } from '../../../test/support/signatures.ts';
import { until } from '../../../test/support/until.ts';
import { sealDays } from './auditoria.ts';

const SLUG = 'integracao';
const MOTIVO = 'ordem judicial 5001-33.2026';

test('a finding of the audit chain that is accepted', async (t) => {
  const connection = await freshDatabase();
  const env = { DATABASE_URL: databaseUrlOf(connection) };
  const service = await startTestService({ connection });
  const folder = freshFolder();
  const verificar = (...more: readonly string[]) => nfseBeside(['auditoria', 'verificar', SLUG, ...more], env);
  const aceitar = (...more: readonly string[]) => nfseBeside(['auditoria', 'aceitar', SLUG, ...more], env);
  /** The identifiers of findings that are not accepted. */
  const found = async (): Promise<readonly string[]> => {
    const { code, out } = await verificar('--json');
    const json = JSON.parse(out);
    assert.equal(code, json.confere ? 0 : 1);
    assert.equal(json.total, json.achados.length);
    return json.achados.map(({ id }: { id: string }) => id);
  };

  const here = balcao(service.address, SLUG);
  for (const number of ['1', '2']) {
    const nota = await here.issue({ serie: '1', nDPS: number });
    await until(async () => (await here.nota(nota)).body.nota?.status === 'autorizada' || undefined, 'autorizada');
  }
  const { auditoria } = service.store;
  await until(async () => (await auditoria.readState(SLUG))?.abertaEm ?? undefined, 'it was begun');
  await until(async () => (await auditoria.readState(SLUG))?.semLugarDesde === null || undefined, 'all placed');
  await service.stopWorker();

  await t.test('is named with who, when and why, and is no alarm', async () => {
    await service.pool.query(`update notas set simular = '7' where numero_dps = 1`);
    const [id, ...others] = await found();
    assert.deepEqual(others, []);
    assert.match((await verificar()).out, new RegExp(`^notas \\d+ \\d+: .* \\[${id}\\]$`, 'm'));
    assert.equal((await aceitar(id!)).code, 2, 'a reason is asked for');
    assert.equal((await aceitar(id!, '--motivo', ' ')).code, 1);
    const unknown = await aceitar(id!, '0123456789abcdef', '--motivo', MOTIVO);
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /Não há agora o achado 0123456789abcdef em integracao.*Nada foi aceito/);
    assert.deepEqual(await found(), [id], 'of some that are named, all or none');

    const done = await aceitar(id!, '--motivo', MOTIVO);
    assert.equal(done.code, 0, done.err);
    assert.match(done.out, /^aceito: notas/);
    assert.equal((await service.store.auditoria.readState(SLUG))?.conferida?.achados, 0);
    const { code, out } = await verificar();
    assert.equal(code, 0, out);
    assert.match(out, new RegExp(`\\[${id}\\], aceito por \\S.* em 20\\d\\d-\\S+Z: ${MOTIVO}`));
    assert.match(out, /Confere, fora 1 achado aceito, dito acima/);
    assert.match((await aceitar(id!, '--motivo', MOTIVO)).err, new RegExp(`Já aceito: ${id}`));
    const [ato] = await service.store.atos.list(SLUG, { objeto: 'auditoria' }, 1);
    assert.deepEqual([ato?.acao, ato?.chave, ato?.motivo], ['achado aceito', id, MOTIVO]);
  });

  await t.test('covers nothing that is changed later, be it the same row', async () => {
    await service.pool.query(`update notas set simular = '8' where numero_dps = 1`);
    const later = await found();
    assert.equal(later.length, 1);
    await service.pool.query(`update notas set simular = '7' where numero_dps = 1`);
    assert.deepEqual(await found(), []);
    await service.pool.query(`update notas set simular = '7' where numero_dps = 2`);
    assert.equal((await found()).length, 1);
    assert.equal((await aceitar(...(await found()), '--motivo', MOTIVO)).code, 0);
    assert.deepEqual(await found(), []);
  });

  await t.test('is an entry of the chain: written or taken away by hand it is found itself', async () => {
    const { pool } = service;
    const forged = `insert into atos (em, id, tenant, quem, via, objeto, chave, acao, motivo)
      select em + interval '1 second', gen_random_uuid(), tenant, quem, via, objeto, $1, acao, motivo from atos where objeto = 'auditoria' limit 1`;
    await pool.query(`update documentos set recebido_assinatura = 'AA==' where nota = (select min(id) from notas)`);
    const [change] = await found();
    await pool.query(forged, [change]);
    const { achados, aceitos } = JSON.parse((await verificar('--json')).out);
    assert.deepEqual(
      achados.map(({ tipo, tabela }: Record<string, string>) => [tipo, tabela]),
      [['linha_sem_entrada', 'atos']],
    );
    assert.equal(aceitos.length, 3);
    await pool.query(`delete from atos where objeto = 'auditoria'`);
    const kinds = JSON.parse((await verificar('--json')).out).achados.map((one: Record<string, string>) => one['tipo']);
    assert.deepEqual(kinds.toSorted(), [...Array(3).fill('linha_alterada'), ...Array(2).fill('linha_apagada')]);
  });

  await t.test('may be of the chain itself', async () => {
    const { pool } = service;
    const before = await found();
    await pool.query(`update auditoria set sobre = 'outra coisa' where lugar = 2`);
    const [broken, ...more] = (await found()).filter((id) => !before.includes(id));
    assert.deepEqual(more, []);
    assert.equal((await aceitar(broken!, '--motivo', MOTIVO)).code, 0);
    assert.deepEqual((await found()).toSorted(), before.toSorted());
    await pool.query(`update auditoria set sobre = 'mais uma' where lugar = 2`);
    assert.equal((await found()).length, before.length + 1);
  });

  await t.test('may be of a seal: of its signature, or of its text', async () => {
    const { pool, store, clock, world } = service;
    const { provider } = await testParties(Date.now(), DECADES);
    const [certificado, chave] = ['municipio.pem', 'municipio.key'].map((name) => path.join(folder, name));
    writeFileSync(certificado!, provider.pem);
    writeFileSync(chave!, provider.keyPem, { mode: 0o600 });
    const municipio = (await store.municipios.readFresh(SLUG))!;
    const chaves = { certificado: certificado!, chave: chave! };
    await store.municipios.update({
      ...municipio,
      adn: { url: 'https://adn.exemplo.gov.br', ca: undefined, chaves },
    });
    await sealDays({ ...world, now: () => clock.now });
    while ((await store.auditoria.place(SLUG)) > 0);
    const before = await found();
    if (before.length > 0) assert.equal((await aceitar(...before, '--motivo', MOTIVO)).code, 0);
    assert.deepEqual(await found(), []);

    await pool.query(
      `update auditoria_selos set assinatura = set_byte(assinatura, length(assinatura) - 1, get_byte(assinatura, length(assinatura) - 1) # 1)`,
    );
    const wrong = JSON.parse((await verificar('--json')).out);
    assert.deepEqual(wrong.achados.map(({ tipo, tabela }: Record<string, string>) => [tipo, tabela]).toSorted(), [
      ['linha_alterada', 'auditoria_selos'],
      ['selo_invalido', 'auditoria_selos'],
    ]);
    assert.match(
      (await verificar()).out,
      /^auditoria_selos 20\d\d-\d\d-\d\d: a assinatura do selo .* \[[0-9a-f]{16}\]$/m,
    );
    assert.equal((await store.auditoria.readState(SLUG))?.conferida?.achados, 2);
    const done = await aceitar(...(await found()), '--motivo', MOTIVO);
    assert.equal(done.code, 0, done.err);
    assert.equal((await store.auditoria.readState(SLUG))?.conferida?.achados, 0, 'the alarm is off');
    const { code, out } = await verificar();
    assert.equal(code, 0, out);
    assert.match(out, /auditoria_selos .*aceito por/);

    // Another fault of the same seal is another finding.
    await pool.query(`update auditoria_selos set texto = replace(texto, '"municipio":"', '"municipio":"x')`);
    const kinds = JSON.parse((await verificar('--json')).out).achados.map((one: Record<string, string>) => one['tipo']);
    assert.deepEqual(kinds.toSorted(), ['linha_alterada', 'selo_invalido']);
  });
});
