/** The index of the search: the results of a query, their order, and the highest cost of a query. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertCostsLess, leastCpuMsOf } from '../../../test/support/cost.ts';
import fc, { anyText } from '../../../test/support/seed.ts';
import { type Entry, findEntries, indexOf } from './search-index.ts';

function entry(title: string, text: string, more: Partial<Entry> = {}): Entry {
  return { kind: 'pagina', title, path: `/${title}`, text, names: [title], ...more };
}

const ENTRIES: readonly Entry[] = [
  entry('O certificado', 'Um arquivo com a chave e o nome de quem assina.', { page: 'assinatura' }),
  entry('Trocar o certificado', 'O certificado novo vale em segundos.', { page: 'operacao' }),
  entry('Retenções', 'O que o tomador retém: retenção do INSS, do IRRF. tpRetISSQN diz quem.', { page: 'retencoes' }),
  entry('E0310 O município não administra este código', 'Veja a lista.', { kind: 'codigo', names: ['E0310', 'E310'] }),
  entry('serv/cServ/cTribNac', 'Código de tributação. Em JSON: codigo_tributacao_nacional.', {
    kind: 'campo',
    names: ['cTribNac', 'codigo_tributacao_nacional'],
  }),
  entry('Primeira', 'A nota se emite.', { page: 'dupla' }),
  entry('Segunda', 'O relógio anda.', { page: 'dupla' }),
];
const index = await indexOf(ENTRIES);
const titles = (asked: string): readonly string[] => findEntries(index, asked).map(({ title }) => title);

describe('a question', () => {
  test('finds what bears its name first, then what has its words', () => {
    assert.deepEqual(titles('certificado'), ['O certificado', 'Trocar o certificado']);
    assert.deepEqual(titles('trocar o certificado'), ['Trocar o certificado']);
    assert.equal(titles('e310')[0], ENTRIES[3]!.title);
    for (const asked of ['cTribNac', 'CTRIBNAC', ' ctribnac ', 'codigo_tributacao_nacional', 'serv/cServ/cTribNac']) {
      assert.equal(titles(asked)[0], 'serv/cServ/cTribNac', asked);
    }
  });

  test('does not mind accents, case, plurals and the beginning of a word alone', () => {
    for (const asked of ['retenções', 'RETENCAO', 'retençã', 'reten', 'retenção do INSS']) {
      assert.deepEqual(titles(asked), ['Retenções'], asked);
    }
    // Two letters are never searched as a prefix.
    assert.deepEqual(titles('re'), []);
  });

  test('finds a name by its parts, and by what it begins with', () => {
    for (const asked of ['tributacao_nacional', 'cServ', 'codigo_trib', 'tributação nacional']) {
      assert.deepEqual(titles(asked), ['serv/cServ/cTribNac'], asked);
    }
  });

  test('finds a page that has its words in different sections', () => {
    assert.deepEqual(titles('nota relógio'), ['Primeira']);
    assert.deepEqual(titles('relógio'), ['Segunda']);
  });

  test('of words of which one is nowhere finds nothing', () => {
    for (const asked of ['certificado zzz', '', ' ', '---', '.*', '(z+)+$']) assert.deepEqual(titles(asked), [], asked);
  });

  test('whatever it is, is answered, with entries that are there and none of them twice', () => {
    const typed = fc.oneof(
      anyText(80),
      fc
        .array(fc.constantFrom('certificado', 'o', 'nota', 'E0310', 'a/b', 'cTribNac', '_', '.', '-'), {
          maxLength: 20,
        })
        .map((words) => words.join(' ')),
    );
    fc.assert(
      fc.property(typed, (asked) => {
        const found = findEntries(index, asked);
        assert.equal(new Set(found).size, found.length);
        for (const one of found) assert.ok(ENTRIES.includes(one));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the cost', () => {
  test('of a question grows with what is found, and not with its square: ten times the entries, at most some thirty times the work', async () => {
    const texts = (count: number): readonly Entry[] =>
      Array.from({ length: count }, (_, place) =>
        entry(`nota ${place}`, `nota dps evento servico valor${place % 50} `.repeat(20)),
      );
    const [few, many] = [await indexOf(texts(300)), await indexOf(texts(3_000))];
    // Each run has several queries, because the processor time is counted in steps.
    const work = (of: typeof few) => (): void => {
      for (let asked = 0; asked < 5; asked += 1) findEntries(of, 'nota dps evento servico valor not dp even');
    };
    work(many)();
    assertCostsLess(work(many), 40 * Math.max(leastCpuMsOf(work(few)), 0.25), 'a question');
  });
});
