/** What the rules of the values say: the amounts of which a refused one is made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lawOverExample } from '../../../test/support/law.ts';
import type { Patch } from './rule.ts';

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
  // 1000.00 - 500.00; of the rest 50 % is 250.00, and 80 % of 250.00 is 200.00; 250.00 - 200.00 - 600.00 is below zero
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

test('E404 of the base says the amounts of third parties', () => {
  const [fault] = lawOverExample({ ...NEGATIVA, 'valores/vDedRed/vDR': null, '=valor_base_calculo': '1000.00' });
  assert.deepEqual([fault?.codigo, fault?.esperado], ['E404', '400.00']);
  assert.match(fault!.mensagem, /valores de terceiros 600\.00/);
});
