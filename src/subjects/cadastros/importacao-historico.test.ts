/** The history of each provider that an import brought, changed or left alone, in words, and in the audit chain. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { startTestService } from '../../../test/support/service.ts';
import { listTrilha } from '../auditoria/trilha.ts';

const service = await startTestService({ worker: false });
const { pool, world, address, clock, store } = service;
const SLUG = 'vila';
const [A, B, C] = ['11222333000181', '11444777000161', '12ABC34501DE35'];
const folder = freshFolder();
await store.municipios.create({ tenant: SLUG, ambiente: 'homologacao', codigoIbge: '3550308' }, clock.now);

async function importRows(name: string, ...rows: readonly string[]): Promise<void> {
  const file = path.join(folder, name);
  writeFileSync(
    file,
    ['documento,razao_social,inscricao_municipal,simples_inicio,simples_fim', ...rows, ''].join('\n'),
  );
  const said = await nfseHere(['prestador', 'importar', file, '--municipio', SLUG], pool, false, address, world.now);
  assert.equal(said.code, 0, said.err);
  clock.now += 1_000;
}

async function historyOf(documento: string) {
  const found = await listTrilha(world, SLUG, { objeto: 'prestador', chave: documento });
  assert.ok('atos' in found);
  return found.atos.map(({ acao, mudancas, objeto }) => [objeto, acao, ...mudancas.map((one) => one.join('|'))]);
}

test('each provider of an import has its lines, and one that stayed as it was has none', async () => {
  await importRows('carga.csv', `${A},Alfa Ltda,100,2024-01-01,`, `${B},Beta Ltda,200,,`);
  await importRows('troca.csv', `${A},Alfa S.A.,100,2024-01-01,`, `${B},Beta Ltda,200,,`, `${C},Gama Ltda,300,,`);
  const [renamed, ...before] = await historyOf(A);
  assert.deepEqual(renamed, [
    'Prestadores',
    'alterado por importação',
    'Razão social ou nome|Alfa Ltda|Alfa S.A.',
    'arquivo||troca.csv',
  ]);
  const told = before.map((line) => line.join(' '));
  assert.equal(told.length, 2);
  for (const change of ['Razão social ou nome||Alfa Ltda', 'Simples Nacional de||01/01/2024']) {
    assert.equal(told.filter((line) => line.startsWith('Prestadores importado ') && line.includes(change)).length, 1);
  }
  assert.equal((await historyOf(B)).length, 1);
  assert.equal((await historyOf(C)).length, 1);
  const text = `select count(*)::int as n from atos where tenant = $1 and objeto = 'prestador'`;
  assert.equal((await pool.query<{ n: number }>(text, [SLUG])).rows[0]!.n, 5);
});

test('the chain has these lines, and none that was changed since is found whole', async () => {
  while (await store.auditoria.openEtapa(SLUG, clock.now));
  while ((await store.auditoria.place(SLUG)) > 0);
  const verify = () => nfseHere(['auditoria', 'verificar', SLUG], pool, false, address, world.now);
  const whole = await verify();
  assert.equal(whole.code, 0, whole.out + whole.err);
  await pool.query(`update atos set quem = 'outra' where tenant = $1 and acao = 'importado' and chave = $2`, [SLUG, C]);
  const broken = await verify();
  assert.equal(broken.code, 1, broken.out + broken.err);
});
