/** The in-memory search, against the plain way: one item after the other, one filter after the other. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../../test/support/seed.ts';
import { comparable, onPage, paginacaoOf, searchOf, wordsOf } from './search.ts';

type Item = { readonly codigo: string; readonly nome: string };

/** Few letters, so that words coincide; accents, case and separators. */
const TEXT = fc.string({ unit: fc.constantFrom('a', 'á', 'Ã', 'b', 'B', 'ç', ' ', '-', "'", '1', 'º'), maxLength: 12 });
const CODE = fc.string({ unit: fc.constantFrom('0', '1', '2'), minLength: 1, maxLength: 4 });
const ITEMS: fc.Arbitrary<Item[]> = fc.array(fc.record({ codigo: CODE, nome: TEXT }), { maxLength: 30 });

function searched(items: readonly Item[]) {
  return searchOf(items, {
    codigo: { by: 'igual', of: ({ codigo }) => codigo },
    comeco: { by: 'comeco', of: ({ codigo }) => codigo, key: (asked) => asked.replaceAll('.', '') },
    nome: { by: 'palavras', of: ({ nome }) => nome },
  });
}

/** Letters and digits without accents, computed differently from the search. */
function folded(text: string): string {
  return [...text.normalize('NFKD')]
    .filter((one) => !/\p{M}/u.test(one))
    .join('')
    .toLowerCase();
}

function plainly(items: readonly Item[], asked: { codigo?: string; comeco?: string; nome?: string }): number[] {
  return items.flatMap(({ codigo, nome }, place) => {
    const words = folded(asked.nome ?? '')
      .split(/[^a-z0-9]+/)
      .filter(Boolean);
    const passes =
      (asked.codigo === undefined || codigo === asked.codigo) &&
      (asked.comeco === undefined || codigo.startsWith(asked.comeco)) &&
      (asked.nome === undefined || (words.length > 0 && words.every((word) => folded(nome).includes(word))));
    return passes ? [place] : [];
  });
}

describe('a search', () => {
  it('finds what looking at every item finds, in the order of the list', () => {
    const asked = fc.record({ codigo: CODE, comeco: CODE, nome: TEXT }, { requiredKeys: [] });
    fc.assert(
      fc.property(ITEMS, asked, (items, question) => {
        assert.deepEqual(searched(items)(question), plainly(items, question));
      }),
      { numRuns: 2_000 },
    );
  });

  it('without a question finds everything', () => {
    fc.assert(fc.property(ITEMS, (items) => assert.deepEqual(searched(items)({}), [...items.keys()])));
  });

  it('finds nothing by a word that has no letter or digit, nor by a code of punctuation alone', () => {
    const search = searched([{ codigo: '1', nome: 'a - b' }]);
    assert.deepEqual(search({ nome: '-' }), []);
    assert.deepEqual(search({ comeco: '...' }), []);
  });

  it('does not take the end of one text and the beginning of the next for a word', () => {
    const search = searched([
      { codigo: '1', nome: 'casa' },
      { codigo: '2', nome: 'bela' },
    ]);
    assert.deepEqual(search({ nome: 'sabe' }), []);
    assert.deepEqual(search({ nome: 'a' }), [0, 1]);
  });
});

describe('words', () => {
  it('are compared without accents, case and punctuation', () => {
    assert.equal(comparable('  São João d’El-Rei, nº 1ª '), 'sao joao d el rei no 1a');
    assert.deepEqual(wordsOf("Açaí  D'ÁGUA açaí"), ['acai', 'd', 'agua']);
    assert.deepEqual(wordsOf(' - '), []);
  });
});

describe('pages', () => {
  it('part the list: each item stands on one page, in order', () => {
    const size = fc.integer({ min: 1, max: 100 });
    fc.assert(
      fc.property(fc.nat(500), size, (total, porPagina) => {
        const items = Array.from({ length: total }, (_, place) => place);
        const { total_paginas } = paginacaoOf({ pagina: 1, porPagina }, total);
        const pages = Array.from({ length: total_paginas }, (_, page) =>
          onPage(items, { pagina: page + 1, porPagina }),
        );
        assert.deepEqual(pages.flat(), items);
        assert.ok(pages.every((page) => page.length > 0));
        assert.deepEqual(onPage(items, { pagina: total_paginas + 1, porPagina }), []);
      }),
    );
  });
});
