import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Aliquota,
  aliquotasEmbarcadas,
  LINHAS_ESPERADAS,
  semAliquota,
  tabelaEmbarcada,
  tabelaIbsCbs,
} from './aliquotas-ibs-cbs.ts';
import { TRIBUTOS_IBS_CBS } from './catalogs/catalogs.ts';

test('from sixty days before a competence without a rate it is told, tribute by tribute', () => {
  const told = (hoje: string) => semAliquota(tabelaEmbarcada(), hoje);
  assert.deepEqual(told('2026-11-01'), [], 'sixty-one days before 01/01/2027');
  assert.deepEqual(told('2026-11-02'), [{ tributo: 'CBS', desde: '2027-01-01' }]);
  assert.deepEqual(told('2026-12-31'), [{ tributo: 'CBS', desde: '2027-01-01' }]);
  assert.deepEqual(told('2027-03-10'), [{ tributo: 'CBS', desde: '2027-03-10' }]);
  assert.deepEqual(
    told('2028-12-01').map(({ tributo, desde }) => `${tributo} ${desde}`),
    ['IBS-UF 2029-01-01', 'IBS-MUN 2029-01-01', 'CBS 2028-12-01'],
  );
});

test('no two rates that the program ships speak of one day of one place', () => {
  const shipped = aliquotasEmbarcadas();
  assert.ok(shipped.length > 0);
  for (const [place, a] of shipped.entries()) {
    for (const b of shipped.slice(place + 1)) {
      const isSame = (['tributo', 'cClassTrib', 'uf', 'municipio'] as const).every((name) => a[name] === b[name]);
      const ends = (one: Aliquota): string => one.fim ?? '9999-12-31';
      assert.ok(!isSame || ends(a) < b.inicio || ends(b) < a.inicio, JSON.stringify([a, b]));
    }
  }
});

test('a rate that was imported ends the warning, as far as it goes', () => {
  const cbs = (fim: string | undefined): Aliquota => ({
    tributo: 'CBS',
    uf: '',
    municipio: '',
    cClassTrib: '',
    inicio: '2027-01-01',
    fim,
    aliquota: '8.8',
    fonte: 'DOU',
    ato: 'Resolução do Senado',
  });
  const told = (fim: string | undefined, hoje: string) =>
    semAliquota(tabelaIbsCbs(2, [...aliquotasEmbarcadas(), cbs(fim)]), hoje);
  assert.deepEqual(told('2027-12-31', '2026-12-31'), []);
  assert.deepEqual(told('2027-12-31', '2027-11-02'), [{ tributo: 'CBS', desde: '2028-01-01' }]);
  assert.deepEqual(told(undefined, '2028-06-01'), []);
});

test('a reducer that ends is told as a rate is', () => {
  const until = (fim: string) =>
    aliquotasEmbarcadas().map((one) => (one.tributo === 'REDUTOR-COMPRA-GOV' ? { ...one, fim } : one));
  assert.deepEqual(semAliquota(tabelaIbsCbs(2, until('2026-11-30')), '2026-10-02'), [
    { tributo: 'REDUTOR-COMPRA-GOV', desde: '2026-12-01' },
  ]);
  assert.deepEqual(semAliquota(tabelaIbsCbs(2, until('2026-11-30')), '2026-10-01'), []);
});

test('a rate of a state or of a classification is nobody else’s, and warns all the same', () => {
  const own: Aliquota[] = TRIBUTOS_IBS_CBS.map((tributo) => ({
    tributo,
    uf: tributo === 'IBS-UF' ? 'SP' : '',
    municipio: tributo === 'IBS-MUN' ? '3550308' : '',
    cClassTrib: tributo === 'CBS' ? '221001' : '',
    inicio: '2026-01-01',
    fim: undefined,
    aliquota: '1',
    fonte: 'f',
    ato: 'a',
  }));
  const tributos = semAliquota(tabelaIbsCbs(1, own), '2026-05-01').map(({ tributo }) => tributo);
  assert.deepEqual(tributos, [...LINHAS_ESPERADAS]);
});
