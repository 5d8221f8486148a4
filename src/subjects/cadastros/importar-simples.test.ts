/** The SIMPLES file of the open data of the CNPJ: its periods reach the providers of the municipality, and nobody else. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import type { Said } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';

const service = await startTestService({ worker: false });
const { pool, world, address, clock, store } = service;
const SLUG = 'vila';
const [A, B, C, PERSON] = ['11222333000181', '11444777000161', '12ABC34501DE35', '52998224725'];
const folder = freshFolder();

const run = (...words: readonly string[]): Promise<Said> => nfseHere(words, pool, false, address, world.now);

/** The lines of a file as the Receita Federal writes them. */
function importFile(lines: readonly (readonly string[])[], ...more: readonly string[]): Promise<Said> {
  clock.now += 1_000;
  const file = path.join(folder, 'F.K03200$W.SIMPLES.CSV.D61114');
  const text = lines.map((cells) => `${cells.map((cell) => `"${cell}"`).join(';')}\r\n`).join('');
  writeFileSync(file, text, 'latin1');
  return run('prestador', 'importar-simples', file, '--municipio', SLUG, ...more);
}

async function periods(): Promise<readonly string[]> {
  const text = `select documento, inicio::text, fim::text from simples_nacional where tenant = $1 order by documento, inicio`;
  const { rows } = await pool.query<{ documento: string; inicio: string; fim: string | null }>(text, [SLUG]);
  return rows.map(({ documento, inicio, fim }) => `${documento} ${inicio} ${fim ?? 'em diante'}`);
}

/** A opted anew after an earlier period; B left; C has letters; the fourth root is of nobody here. */
const FILE = [
  ['11222333', 'S', '20240101', '00000000', 'N', '20200101', '20221231'],
  ['11444777', 'N', '20180101', '20201231', 'N', '00000000', '00000000'],
  ['12ABC345', 'S', '20250701', '', 'S', '20250701', ''],
  ['99999999', 'S', '20240101', '00000000', 'N', '00000000', '00000000'],
];
const AFTER = [
  `${A} 2019-01-01 2020-12-31`,
  `${A} 2024-01-01 em diante`,
  `${B} 2018-01-01 2020-12-31`,
  `${C} 2025-07-01 em diante`,
];

before(async () => {
  await store.municipios.create({ tenant: SLUG, ambiente: 'homologacao', codigoIbge: '3550308' }, clock.now);
  const register = async (documento: string, ...simples: readonly string[]): Promise<void> => {
    const periods = simples.flatMap((period) => ['--simples', period]);
    const words = ['prestador', 'cadastrar', documento, '--municipio', SLUG, '--razao-social', 'Exemplo', ...periods];
    const said = await run(...words);
    assert.equal(said.code, 0, said.err);
  };
  await register(A, '2019-01-01 a 2020-12-31', '2022-05-01 em diante');
  await register(B, '2018-01-01 em diante');
  await register(C);
  await register(PERSON);
});

describe('the file', () => {
  test('is previewed, and stores nothing', async () => {
    const stored = await periods();
    const { code, out } = await importFile(FILE, '--previa');
    assert.equal(code, 0, out);
    assert.match(out, /Lidas 4 linhas/);
    assert.match(out, /muda 11444777000161 2018-01-01: fim \(vazio\) → 2020-12-31/);
    assert.match(out, /novo 12ABC34501DE35 2025-07-01/);
    assert.deepEqual(await periods(), stored);
  });

  test('that has a line of another file, or a day that is none, is refused whole', async () => {
    const stored = await periods();
    for (const [wrong, said] of [
      [['11222333', 'S', '20240101'], /linha 5 não é do arquivo SIMPLES/],
      [['11222333', 'S', '20240231', '00000000', 'N', '00000000', '00000000'], /linha 5 tem um dia que não existe/],
    ] as const) {
      const { code, err } = await importFile([...FILE, wrong]);
      assert.notEqual(code, 0);
      assert.match(err, said);
    }
    assert.deepEqual(await periods(), stored);
  });

  test('replaces the periods that had not ended before its option, and can be undone', async () => {
    const stored = await periods();
    const made = await importFile(FILE);
    assert.equal(made.code, 0, made.err);
    assert.deepEqual(await periods(), AFTER);
    const acts = await store.atos.list(SLUG, { objeto: 'prestador', chave: B }, 10);
    assert.deepEqual(
      acts.map(({ acao }) => acao),
      ['alterado por importação', 'cadastrado'],
    );
    const undone = await run('prestador', 'desfazer', '--municipio', SLUG, '--motivo', 'arquivo errado');
    assert.equal(undone.code, 0, undone.err);
    assert.deepEqual(await periods(), stored);
  });

  test('changes nothing the second time', async () => {
    await importFile(FILE);
    const again = await importFile(FILE);
    assert.deepEqual([again.code, again.err], [0, '']);
    assert.match(again.out, /Nenhum período muda/);
    assert.deepEqual(await periods(), AFTER);
  });
});
