/** Everyday words in the search for a service: the typed words, and the subitem of LC 116 that they mean. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { servicos } from './catalogs.ts';
import { CATALOGOS_NACIONAIS } from './itens.ts';
import { SUBITENS_COM_SINONIMOS } from './sinonimos.ts';

const { itens, search } = CATALOGOS_NACIONAIS.codigos_tributacao_nacional();

function subitensFor(descricao: string): readonly string[] {
  const found = search({ descricao }).map((place) => itens[place] as { readonly subitem: string });
  return [...new Set(found.map(({ subitem }) => subitem))];
}

/** Subitems of the list of LC 116. The lease of a movable thing alone is no service (Súmula Vinculante 31). */
const QUESTIONS: readonly (readonly [asked: string, wanted: readonly string[]])[] = [
  ['software', ['01.01', '01.05']],
  ['SOFTWARE', ['01.01', '01.05']],
  ['hospedagem de site', ['01.03']],
  ['site', ['01.08']],
  ['aluguel de carro', ['99.01']],
  ['locadora', ['99.01']],
  ['salão de festas', ['03.03']],
  ['médico', ['04.01']],
  ['medico', ['04.01']],
  ['dentista', ['04.12']],
  ['psicologo', ['04.16']],
  ['veterinária', ['05.01']],
  ['corte de cabelo', ['06.01']],
  ['academia', ['06.04']],
  ['pedreiro', ['07.02', '07.05']],
  ['faxina', ['07.10']],
  ['jardineiro', ['07.11']],
  ['aula', ['08.02']],
  ['pousada', ['09.01']],
  ['corretor de imóveis', ['10.05']],
  ['representante comercial', ['10.09']],
  ['portaria', ['11.02']],
  ['fotógrafo', ['13.03']],
  ['conserto', ['14.01']],
  ['oficina mecânica', ['14.01']],
  ['uber', ['16.02']],
  ['transporte', ['16.02']],
  ['frete', ['16.02']],
  ['social media', ['17.06']],
  ['casamento', ['13.03', '17.11']],
  ['síndico', ['17.12']],
  ['advogado', ['17.14']],
  ['contador', ['17.19']],
  ['design', ['23.01']],
  ['motoboy', ['26.01']],
];

describe('an everyday word', () => {
  for (const [asked, wanted] of QUESTIONS) {
    test(`${asked}: ${wanted.join(', ')}`, () => {
      const found = subitensFor(asked);
      for (const subitem of wanted) assert.ok(found.includes(subitem), `${subitem} is not among ${found.join(' ')}`);
    });
  }

  test('finds less than a tenth of the list, however common it is', () => {
    for (const [asked] of QUESTIONS) {
      const count = search({ descricao: asked }).length;
      assert.ok(count < itens.length / 10, `${asked} finds ${count}`);
    }
  });

  test('stands beside a subitem that may be issued', () => {
    const issuable = new Set(servicos().flatMap(({ emissivel, subitem }) => (emissivel ? [subitem] : [])));
    for (const subitem of SUBITENS_COM_SINONIMOS) assert.ok(issuable.has(subitem), subitem);
  });
});
