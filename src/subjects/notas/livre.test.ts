/** The free text of the search: each form that people type, and how it is understood. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readLivre } from './livre.ts';

/** The key of the official sample. */
const CHAVE = '14001591201761135000132000000000000022097781063609';

describe('the free text', () => {
  for (const [text, rotulo, filtros] of [
    ['500,00', 'de R$ 500,00', { valor_de: '500.00', valor_ate: '500.00' }],
    ['R$ 1.234,56', 'de R$ 1.234,56', { valor_de: '1234.56', valor_ate: '1234.56' }],
    ['1234.56', 'de R$ 1.234,56', { valor_de: '1234.56', valor_ate: '1234.56' }],
    ['20/11/2026', 'emitidas em 20/11/2026', { de: '2026-11-20', ate: '2026-11-20' }],
    ['1/2/2026', 'emitidas em 01/02/2026', { de: '2026-02-01', ate: '2026-02-01' }],
    ['11/2026', 'da competência 11/2026', { competencia: '2026-11' }],
    ['2026-11', 'da competência 11/2026', { competencia: '2026-11' }],
    ['nota 5000', 'de número 5000', { numero: '5000' }],
    ['5.000', 'de número 5000', { numero: '5000' }],
    ['nº 12', 'de número 12', { numero: '12' }],
    ['01.07.01', 'do serviço 01.07.01', { servico: '010701' }],
  ] as const) {
    test(text, () => assert.deepEqual(readLivre(text).leitura, { rotulo, filtros }));
  }

  test('other readings of the same text are offered', () => {
    const others = (text: string) => readLivre(text).outras?.map(({ rotulo }) => rotulo);
    assert.deepEqual(others('20/11/2026'), ['da competência 11/2026']);
    assert.deepEqual(others('5000'), ['de R$ 5.000,00']);
    assert.deepEqual(others('010701'), ['do serviço 010701']);
    assert.deepEqual(others('nota 5000'), []);
  });

  test('a day that no calendar has, or a value that no note has, is no name', () => {
    for (const text of ['31/02/2026', '13/2026', '01/01/0000', '0000-01', 'R$ 99999999999999999,99'])
      assert.deepEqual(Object.keys(readLivre(text)), ['problem'], text);
  });

  test('a document in any form', () => {
    for (const text of ['11.222.333/0001-81', '11222333000181', '11222333/0001-81'])
      assert.deepEqual(readLivre(text), { documento: '11222333000181' });
  });

  test('the address of a QR code is its key', () => {
    const named = { nomeadas: { por: 'chave', valor: CHAVE } };
    assert.deepEqual(readLivre(CHAVE), named);
    const address = `https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=${CHAVE}`;
    assert.deepEqual(readLivre(address), named);
  });

  test('a key that is cut, or too long, says how many positions came', () => {
    for (const [text, count] of [
      [CHAVE.slice(0, 49), 49],
      [`${CHAVE}7`, 51],
    ] as const)
      assert.match(readLivre(text).problem ?? '', new RegExp(`tem 50 posições; a que veio tem ${count}\\.`));
    assert.equal(readLivre('1'.repeat(34)).nomeadas?.por, 'protocolo');
  });

  test('a month by its name is a competence', () => {
    for (const text of ['junho de 2026', 'Junho 2026', 'jun/2026', 'JUNHO/2026'])
      assert.deepEqual(readLivre(text).leitura?.filtros, { competencia: '2026-06' }, text);
    assert.deepEqual(readLivre('março de 2026').leitura?.filtros, { competencia: '2026-03' });
    assert.equal(readLivre('Maio Comércio').leitura, undefined);
  });

  test('words are a name, and too little says what can be written', () => {
    assert.deepEqual(readLivre('São João').palavras?.length, 2);
    assert.match(readLivre('x').problem ?? '', /um valor, um dia, um mês/);
  });
});
