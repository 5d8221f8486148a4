/** The messages of the rules of the values: the amounts that make up a refused one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lawOverExample } from '../../../test/support/law.ts';
import type { Patch } from './rule.ts';
import { factsOf } from './trial.ts';

const REEMBOLSO = 'IBSCBS/valores/gReeRepRes/documentos';
/** 1000.00 - 400.01 - 600.00 = -0.01 */
const NEGATIVA: Patch = {
  'valores/vDedRed/vDR': '400.01',
  [`${REEMBOLSO}/docOutro/nDoc`]: '1',
  [`${REEMBOLSO}/docOutro/xDoc`]: 'Recibo',
  [`${REEMBOLSO}/dtEmiDoc`]: '2026-09-30',
  [`${REEMBOLSO}/dtCompDoc`]: '2026-09-30',
  [`${REEMBOLSO}/tpReeRepRes`]: '02',
  [`${REEMBOLSO}/vlrReeRepRes`]: '600.00',
};

test('E0427 names all that reduces the base, each with its amount', () => {
  const [fault, ...others] = lawOverExample(NEGATIVA);
  assert.deepEqual([fault?.codigo, fault?.encontrado, others], ['E0427', '1000.00', []]);
  const said = fault!.mensagem.match(/-?\d+\.\d\d/g);
  assert.deepEqual(said, ['-0.01', '1000.00', '0.00', '400.01', '0.00', '600.00']);
  assert.match(fault!.mensagem, /terceiros \(gReeRepRes\) 600\.00/);
  assert.match(fault!.esperado!, /terceiros/);
});

test('E0427 counts a discount and percentages in reais', () => {
  // 1000.00 - 500.00; 50 % of the rest is 250.00, and 80 % of 250.00 is 200.00; 250.00 - 200.00 - 600.00 is below zero
  const [fault] = lawOverExample({
    ...NEGATIVA,
    'valores/vDescCondIncond/vDescIncond': '500.00',
    'valores/vDedRed/vDR': null,
    'valores/vDedRed/pDR': '50.00',
    'valores/trib/tribMun/BM/nBM': '35503080400001',
    'valores/trib/tribMun/BM/pRedBCBM': '80.00',
  });
  assert.equal(fault?.codigo, 'E0427');
  const said = fault.mensagem.match(/-?\d+\.\d\d/g);
  assert.deepEqual(said, ['-550.00', '1000.00', '500.00', '250.00', '200.00', '600.00']);
});

test('a base and a net value below zero are told by the base', () => {
  // 1000.00 - 1000.01, and 1000.00 - 990.00 - 15.00
  const faults = lawOverExample({
    'valores/vDedRed/vDR': '1000.01',
    'valores/vDescCondIncond/vDescCond': '990.00',
    'valores/trib/tribFed/vRetIRRF': '15.00',
  });
  assert.deepEqual(
    faults.map(({ codigo }) => codigo),
    ['E0427'],
  );
});

test('E404 of an exempt operation says why its ISSQN is zero', () => {
  const isenta: Patch = {
    'serv/cServ/cTribNac': '170601',
    'valores/trib/tribMun/BM/nBM': '35503080400002',
    'valores/trib/tribMun/pAliq': null,
    '=valor_issqn': '20.00',
  };
  const [fault, ...others] = lawOverExample(isenta, factsOf({ given: 'cadastros' }));
  assert.deepEqual([fault?.codigo, fault?.encontrado, fault?.esperado, others], ['E404', '20.00', '0.00', []]);
  assert.match(fault!.mensagem, /o calculado é 0\.00: o benefício é uma isenção\. Corrija-o/);
});

test('E404 of the base says the amounts of third parties', () => {
  const [fault] = lawOverExample({ ...NEGATIVA, 'valores/vDedRed/vDR': null, '=valor_base_calculo': '1000.00' });
  assert.deepEqual([fault?.codigo, fault?.esperado], ['E404', '400.00']);
  assert.match(fault!.mensagem, /valores de terceiros 600\.00/);
});

describe('E0429 and the minimum of 2 %', () => {
  const SERVICO = '010101';
  const reduced = (vServ: string, pAliq: string, more: Patch): Patch => ({
    'serv/cServ/cTribNac': SERVICO,
    'valores/vServPrest/vServ': vServ,
    'valores/trib/tribMun/pAliq': pAliq,
    ...more,
  });

  // Price, rate, deduction; the tax and the minimum, each calculated by hand.
  for (const [vServ, pAliq, vDR, tax, minimum] of [
    ['1000.00', '5.00', '600.01', '19.9995', '20.00'],
    ['1000.01', '5.00', '600.01', '20.00', '20.0002'],
    ['33.33', '4.99', '20.00', '0.665167', '0.6666'],
    ['1000.00', '5.00', '700.00', '15.00', '20.00'],
  ] as const) {
    test(`the figures of ${vServ} less ${vDR} at ${pAliq} % are not rounded, so that one is below the other`, () => {
      const [fault, ...others] = lawOverExample(reduced(vServ, pAliq, { 'valores/vDedRed/vDR': vDR }));
      assert.deepEqual([fault?.codigo, others], ['E0429', []]);
      assert.ok(fault!.mensagem.includes(`o ISSQN é ${tax}: `), fault!.mensagem);
      assert.ok(fault!.mensagem.includes(`2% de ${vServ}, ${minimum}, o mínimo`), fault!.mensagem);
      assert.ok(Number(tax) < Number(minimum));
    });
  }

  // The percentage leaves exactly 2 % of the rate; rounding the reduction to the cent does not count against the sender.
  for (const [p, pAliq] of [
    ['60.00', '5.00'],
    ['50.00', '4.00'],
    ['20.00', '2.50'],
  ] as const) {
    test(`${p} % off at ${pAliq} % is the minimum at every price, and a hundredth more is below it`, () => {
      for (const vServ of ['33.25', '33.33', '0.01', '7.77', '1234567.89']) {
        for (const form of ['valores/vDedRed/pDR', 'valores/trib/tribMun/BM/pRedBCBM'] as const) {
          const nBM: Patch = form.includes('BM') ? { 'valores/trib/tribMun/BM/nBM': '35503080400001' } : {};
          assert.deepEqual(lawOverExample(reduced(vServ, pAliq, { ...nBM, [form]: p })), [], `${vServ} ${form}`);
        }
      }
      const more = (Number(p) + 0.01).toFixed(2);
      const [fault] = lawOverExample(reduced('1000.00', pAliq, { 'valores/vDedRed/pDR': more }));
      assert.equal(fault?.codigo, 'E0429');
    });
  }
});
