/** The assessment of IBS and CBS in the test year: amounts, and the rates that apply. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountsOf, DPS, expectFields, PLAIN, printed, withIbscbs } from '../../test/support/ibscbs.ts';
import { type Aliquota, aliquotasEmbarcadas, tabelaIbsCbs } from './aliquotas-ibs-cbs.ts';
import { decimal as d, formatDecimal, formatRate, ZERO } from './decimal.ts';
import { explainIbsCbs } from './explain-ibscbs.ts';
import { assessIbsCbs, type IbsCbsInput } from './ibscbs.ts';
import type { Dps } from './layout/dps.ts';
import { aliquotasDe } from './operation.ts';

test('the worked example of the layout: discounts, withheld ISSQN, PIS and COFINS, reduction of 30 %', () => {
  const amounts = amountsOf({
    vDescIncond: d('50.00'),
    vISSQN: d('25.50'),
    vPis: d('6.50'),
    vCofins: d('30.00'),
    vLiq: d('843.00'),
    CST: '200',
    cClassTrib: '200052',
  });
  assert.deepEqual(printed(amounts), {
    'valores/vBC': '888.00', // 1000.00 − 50.00 − 25.50 − 6.50 − 30.00
    'valores/uf/pIBSUF': '0.10',
    'valores/uf/pRedAliqUF': '30.00',
    'valores/uf/pAliqEfetUF': '0.07', // 0.10 × 0.70
    'valores/mun/pIBSMun': '0.00',
    'valores/mun/pRedAliqMun': '30.00',
    'valores/mun/pAliqEfetMun': '0.00',
    'valores/fed/pCBS': '0.90',
    'valores/fed/pRedAliqCBS': '30.00',
    'valores/fed/pAliqEfetCBS': '0.63', // 0.90 × 0.70
    'totCIBS/vTotNF': '843.00', // vLiq, in 2026
    'totCIBS/gIBS/vIBSTot': '0.62', // 0.62 + 0.00
    'totCIBS/gIBS/gIBSUFTot/vIBSUF': '0.62', // 888.00 × 0.07 % = 0.6216
    'totCIBS/gIBS/gIBSMunTot/vIBSMun': '0.00',
    'totCIBS/gCBS/vCBS': '5.59', // 888.00 × 0.63 % = 5.5944
  });
});

test('full taxation: no reduction on the note, and the effective rate is the rate', () => {
  // 1000.00 × 0.10 % = 1.00; 1000.00 × 0.90 % = 9.00
  assert.deepEqual(printed(amountsOf({})), {
    'valores/vBC': '1000.00',
    'valores/uf/pIBSUF': '0.10',
    'valores/uf/pAliqEfetUF': '0.10',
    'valores/mun/pIBSMun': '0.00',
    'valores/mun/pAliqEfetMun': '0.00',
    'valores/fed/pCBS': '0.90',
    'valores/fed/pAliqEfetCBS': '0.90',
    'totCIBS/vTotNF': '1000.00',
    'totCIBS/gIBS/vIBSTot': '1.00',
    'totCIBS/gIBS/gIBSUFTot/vIBSUF': '1.00',
    'totCIBS/gIBS/gIBSMunTot/vIBSMun': '0.00',
    'totCIBS/gCBS/vCBS': '9.00',
  });
});

test('each reduction: effective rates and tributes of R$ 1000.00', () => {
  // IBS 0.10 × (1 − r) and CBS 0.90 × (1 − r); a tribute is ten times its effective rate in reais
  const cases: readonly (readonly [
    cClassTrib: string,
    pRed: string,
    ibs: string,
    vIbs: string,
    cbs: string,
    vCbs: string,
  ])[] = [
    ['200052', '30.00', '0.07', '0.70', '0.63', '6.30'],
    ['200048', '40.00', '0.06', '0.60', '0.54', '5.40'],
    ['200046', '50.00', '0.05', '0.50', '0.45', '4.50'],
    ['200028', '60.00', '0.04', '0.40', '0.36', '3.60'],
    ['200027', '70.00', '0.03', '0.30', '0.27', '2.70'],
    ['200026', '80.00', '0.02', '0.20', '0.18', '1.80'],
    ['200016', '100.00', '0.00', '0.00', '0.00', '0.00'],
    ['011003', '60.00', '0.04', '0.40', '0.36', '3.60'],
  ];
  for (const [cClassTrib, pRed, ibs, vIbs, cbs, vCbs] of cases) {
    expectFields(
      { CST: cClassTrib.slice(0, 3), cClassTrib },
      {
        pIBSUF: '0.10',
        pRedAliqUF: pRed,
        pAliqEfetUF: ibs,
        vIBSUF: vIbs,
        pRedAliqMun: pRed,
        pRedAliqCBS: pRed,
        pAliqEfetCBS: cbs,
        vCBS: vCbs,
      },
    );
  }
});

test('200025 reduces the IBS by 60 % and the CBS by 100 %', () => {
  // 0.10 × 0.40 = 0.04, of 1000.00 = 0.40; 0.90 × 0.00 = 0.00
  expectFields(
    { CST: '200', cClassTrib: '200025' },
    {
      pRedAliqUF: '60.00',
      pAliqEfetUF: '0.04',
      vIBSUF: '0.40',
      pRedAliqMun: '60.00',
      pAliqEfetMun: '0.00',
      pCBS: '0.90',
      pRedAliqCBS: '100.00',
      pAliqEfetCBS: '0.00',
      vCBS: '0.00',
      vIBSTot: '0.40',
    },
  );
});

test('every reducer of the base, and the years in which it is one', () => {
  const reducers = {
    vDescIncond: d('50.00'),
    vCalcReeRepRes: d('200.50'),
    vISSQN: d('25.50'),
    vPis: d('6.50'),
    vCofins: d('30.00'),
  };
  // 1000.00 − 50.00 − 200.50 − 25.50 − 6.50 − 30.00 = 687.50; × 0.10 % = 0.6875; × 0.90 % = 6.1875
  expectFields(reducers, { vBC: '687.50', vCalcReeRepRes: '200.50', vIBSUF: '0.69', vCBS: '6.19' });

  // Later years can be assessed as well if no rate applies.
  const exempt = { ...reducers, CST: '410', cClassTrib: '410005' };
  expectFields({ ...exempt, dCompet: '2026-12-31' }, { vBC: '687.50' });
  // without PIS and COFINS: 1000.00 − 50.00 − 200.50 − 25.50 = 724.00
  expectFields({ ...exempt, dCompet: '2027-01-01' }, { vBC: '724.00' });
  expectFields({ ...exempt, dCompet: '2032-12-31' }, { vBC: '724.00' });
  // without ISSQN: 1000.00 − 50.00 − 200.50 = 749.50
  expectFields({ ...exempt, dCompet: '2033-01-01' }, { vBC: '749.50' });
});

test('a base below zero is given as the formula left it', () => {
  // 1000.00 − 600.00 − 500.00 = −100.00; × 0.90 % = −0.90
  expectFields({ vDescIncond: d('600.00'), vCalcReeRepRes: d('500.00') }, { vBC: '-100.00', vCBS: '-0.90' });
});

test('the last day of the test year is one of it', () => {
  const last = { dCompet: '2026-12-31' };
  // Three effects of the test year: the buyer's share, general rates where later years have specific ones, and no tribute on top of the
  // net value.
  expectFields({ ...last, tpEnteGov: '1' }, { pRedutor: '0.00', vTotNF: '1000.00', vCBS: '9.00' });
  expectFields({ ...last, CST: '220', cClassTrib: '220001' }, { pIBSUF: '0.10', pCBS: '0.90' });
});

test('what is not levied has no rate at all, whatever the price and the classification', () => {
  const exempt = { CST: '410', cClassTrib: '410004' };
  expectFields({ ...exempt, vServ: d('9999999999999.99') }, { vIBSUF: '0.00', vIBSMun: '0.00', vCBS: '0.00' });
  expectFields({ CST: '410', cClassTrib: '200052' }, { pRedAliqUF: undefined, pRedAliqCBS: undefined, vCBS: '0.00' });
  // An unknown CST levies nothing.
  const unknown = { CSTReg: '999', cClassTribReg: '000001' };
  expectFields(
    { CST: '550', cClassTrib: '550016', gTribRegular: unknown },
    { pAliqEfeRegCBS: '0.00', vTribRegCBS: '0.00' },
  );
});

test('each tribute is rounded on its own, half a cent up', () => {
  // 5.00 × 0.10 % = 0.005, tie; 5.00 × 0.90 % = 0.045, tie
  expectFields({ vServ: d('5.00') }, { vIBSUF: '0.01', vCBS: '0.05' });
  // 4.99 × 0.10 % = 0.00499; 4.99 × 0.90 % = 0.04491
  expectFields({ vServ: d('4.99') }, { vIBSUF: '0.00', vCBS: '0.04' });
  // 25.00 × 0.10 % = 0.025, tie, up and not to the even cent; 25.00 × 0.90 % = 0.225, tie
  expectFields({ vServ: d('25.00') }, { vIBSUF: '0.03', vCBS: '0.23' });
});

test('exemption and immunity: rates and totals zero, base by the formula', () => {
  for (const [CST, cClassTrib] of [
    ['400', '400001'],
    ['410', '410004'],
    ['800', '800001'],
    ['811', '811001'],
    ['820', '820009'],
  ] as const) {
    // 1000.00 − 100.00 = 900.00
    assert.deepEqual(printed(amountsOf({ CST, cClassTrib, vDescIncond: d('100.00'), vLiq: d('900.00') })), {
      'valores/vBC': '900.00',
      'valores/uf/pIBSUF': '0.00',
      'valores/uf/pAliqEfetUF': '0.00',
      'valores/mun/pIBSMun': '0.00',
      'valores/mun/pAliqEfetMun': '0.00',
      'valores/fed/pCBS': '0.00',
      'valores/fed/pAliqEfetCBS': '0.00',
      'totCIBS/vTotNF': '900.00',
      'totCIBS/gIBS/vIBSTot': '0.00',
      'totCIBS/gIBS/gIBSUFTot/vIBSUF': '0.00',
      'totCIBS/gIBS/gIBSMunTot/vIBSMun': '0.00',
      'totCIBS/gCBS/vCBS': '0.00',
    });
  }
});

test('deferral: nothing due and everything deferred, with or without a reduction', () => {
  // 0.10 × 0.40 = 0.04, of 1000.00 = 0.40; 0.90 × 0.40 = 0.36, of 1000.00 = 3.60
  const reduced = { CST: '515', cClassTrib: '515001' };
  const expected = {
    pAliqEfetUF: '0.04',
    vDifUF: '0.40',
    vIBSUF: '0.00',
    vDifMun: '0.00',
    vIBSMun: '0.00',
    vIBSTot: '0.00',
    pAliqEfetCBS: '0.36',
    vDifCBS: '3.60',
    vCBS: '0.00',
  };
  expectFields(reduced, expected);
  expectFields({ ...reduced, gDif: { pDifUF: d('50.00'), pDifMun: d('0.00'), pDifCBS: d('100.00') } }, expected);
  // "Sem alíquota" in the table and yet the general rates: 1000.00 × 0.10 % = 1.00; × 0.90 % = 9.00
  expectFields({ CST: '510', cClassTrib: '510001' }, { pIBSUF: '0.10', vDifUF: '1.00', vDifCBS: '9.00', vCBS: '0.00' });
  expectFields({}, { vDifUF: undefined, vDifMun: undefined, vDifCBS: undefined });
});

test('suspension: zero, and beside it what the regular classification would have cost', () => {
  const suspended = { CST: '550', cClassTrib: '550016' };
  const zero = { vBC: '1000.00', pIBSUF: '0.00', pAliqEfetUF: '0.00', vIBSUF: '0.00', pCBS: '0.00', vCBS: '0.00' };
  // 1000.00 × 0.10 % = 1.00; 1000.00 × 0.90 % = 9.00
  expectFields(
    { ...suspended, gTribRegular: { CSTReg: '000', cClassTribReg: '000001' } },
    {
      ...zero,
      pAliqEfeRegIBSUF: '0.10',
      vTribRegIBSUF: '1.00',
      pAliqEfeRegIBSMun: '0.00',
      vTribRegIBSMun: '0.00',
      pAliqEfeRegCBS: '0.90',
      vTribRegCBS: '9.00',
    },
  );
  // 0.10 × 0.40 = 0.04, of 1000.00 = 0.40; the CBS reduced to nothing
  expectFields(
    { ...suspended, gTribRegular: { CSTReg: '200', cClassTribReg: '200025' } },
    { ...zero, pAliqEfeRegIBSUF: '0.04', vTribRegIBSUF: '0.40', pAliqEfeRegCBS: '0.00', vTribRegCBS: '0.00' },
  );
});

test('regular taxation is told exactly when it is both demanded and known', () => {
  const gTribRegular = { CSTReg: '000', cClassTribReg: '000001' };
  assert.equal(amountsOf({ gTribRegular }).totCIBS.gTribRegular, undefined);
  const suspended = { CST: '550', cClassTrib: '550022' };
  assert.equal(amountsOf(suspended).totCIBS.gTribRegular, undefined);
  const unknown = { CSTReg: '999', cClassTribReg: '999999' };
  assert.equal(amountsOf({ ...suspended, gTribRegular: unknown }).totCIBS.gTribRegular, undefined);
});

test('government purchases in the test year: no reduction, and each entity keeps its own', () => {
  const { pRedutor, valores, totCIBS } = amountsOf({ tpEnteGov: '4', CST: '200', cClassTrib: '200052' });
  assert.equal(pRedutor, ZERO);
  assert.equal(valores.fed.pAliqEfetCBS, d('0.63')); // 0.90 × 0.70 × 1.00
  assert.deepEqual(printed(totCIBS.gTribCompraGov ?? {}), {
    pIBSUF: '0.07', // 0.10 × 0.70 × 1.00
    vIBSUF: '0.70', // 1000.00 × 0.07 %
    pIBSMun: '0.00',
    vIBSMun: '0.00',
    pCBS: '0.63',
    vCBS: '6.30', // 1000.00 × 0.63 %
  });
  assert.equal(amountsOf({}).pRedutor, undefined);
  assert.equal(amountsOf({}).totCIBS.gTribCompraGov, undefined);
});

test('a classification takes its own rates of the calculator: 010001 and 010002 as everybody, 221001 3.285 and 0.365', () => {
  // 1000.00 × 0.10 % = 1.00; 1000.00 × 0.90 % = 9.00
  for (const cClassTrib of ['010001', '010002']) {
    expectFields({ CST: '010', cClassTrib }, { pIBSUF: '0.10', vIBSUF: '1.00', pCBS: '0.90', vCBS: '9.00' });
  }
  // 1000.00 × 0.365 % = 3.65, and × 3.285 % = 32.85: the note has room for two decimals of the rate, and the tax is of the whole rate.
  expectFields(
    { CST: '221', cClassTrib: '221001' },
    {
      pIBSUF: '0.37',
      pAliqEfetUF: '0.37',
      vIBSUF: '3.65',
      pIBSMun: '0.00',
      vIBSMun: '0.00',
      pCBS: '3.29',
      vCBS: '32.85',
    },
  );
});

test('the step of a rate that is rounded says the rate that was reckoned with', () => {
  const input = { ...PLAIN, CST: '221', cClassTrib: '221001' };
  const formulas = new Map(explainIbsCbs(input, amountsOf(input)).map(({ campo, formula }) => [campo, formula]));
  assert.equal(
    formulas.get('IBSCBS/valores/fed/pCBS'),
    'alíquota de CBS própria do cClassTrib 221001 em 2026-10-05 (3.285, LC 214/2025, art. 487; tabela de alíquotas 1)',
  );
  assert.equal(formulas.get('IBSCBS/totCIBS/gCBS/vCBS'), 'vBC 1000.00 × pAliqEfetCBS 3.29 (3.285 sem arredondar) %');
});

/** Rows beside those that the program ships. */
function withRows(...rows: readonly (Pick<Aliquota, 'tributo' | 'aliquota'> & Partial<Aliquota>)[]) {
  const blank = { uf: '', municipio: '', cClassTrib: '', inicio: '2026-01-01', fim: undefined, fonte: 'f', ato: 'a' };
  return tabelaIbsCbs(2, [...aliquotasEmbarcadas(), ...rows.map((row) => ({ ...blank, ...row }))]);
}

test('the rate of the municipality goes before that of the state, and both before everybody’s', () => {
  const tabela = withRows(
    { tributo: 'IBS-UF', uf: 'SP', aliquota: '0.12' },
    { tributo: 'IBS-MUN', municipio: '3550308', aliquota: '0.02' },
    { tributo: 'IBS-UF', uf: 'RJ', aliquota: '0.2', cClassTrib: '221001', inicio: '2026-06-01' },
    { tributo: 'IBS-MUN', aliquota: '0.03', cClassTrib: '200052' },
  );
  const rates = (change: Partial<IbsCbsInput>) => {
    const assessed = assessIbsCbs({ ...PLAIN, ...change }, tabela);
    if ('unavailable' in assessed) return assessed;
    const { uf, mun, fed } = assessed.valores;
    return [uf.pIBSUF, mun.pIBSMun, fed.pCBS].map(formatDecimal);
  };
  assert.deepEqual(rates({ local: '3550308' }), ['0.12', '0.02', '0.90']); // São Paulo
  assert.deepEqual(rates({ local: '3509502' }), ['0.12', '0.00', '0.90']); // Campinas
  assert.deepEqual(rates({ local: '3304557' }), ['0.10', '0.00', '0.90']); // Rio de Janeiro
  assert.deepEqual(rates({ local: '9999999' }), ['0.10', '0.00', '0.90']); // abroad
  assert.deepEqual(rates({}), ['0.10', '0.00', '0.90']);
  const locacao = { CST: '221', cClassTrib: '221001' };
  assert.deepEqual(rates({ ...locacao, local: '3304557' }), ['0.20', '0.00', '3.29']);
  assert.deepEqual(rates({ ...locacao, local: '3304557', dCompet: '2026-05-31' }), ['0.37', '0.00', '3.29']);
  assert.deepEqual(
    rates({ ...locacao, local: '3550308' }),
    ['0.37', '0.00', '3.29'],
    'not the general one of the state',
  );
  // The general rates are no substitute for the missing rates of a classification with a rate of its own.
  assert.deepEqual(rates({ CST: '200', cClassTrib: '200052' }), {
    unavailable: 'IBS-UF',
    data: '2026-10-05',
    cClassTrib: '200052',
  });
});

test('the rates of a document are those of its classification and everybody’s, at the place of its operation', () => {
  const tabela = withRows(
    { tributo: 'IBS-UF', uf: 'RJ', aliquota: '0.12' },
    { tributo: 'IBS-UF', aliquota: '0.2', cClassTrib: '000001' },
  );
  const rates = (dps: Dps) => {
    const found = aliquotasDe(dps, 'IBS-UF', tabela);
    return found && [found.propria, found.geral].map((one) => one && formatRate(one.rate));
  };
  assert.deepEqual(rates(DPS), ['0.20', '0.12'], 'of the taker, in Rio de Janeiro');
  assert.deepEqual(rates(withIbscbs({ cIndOp: '020101' })), ['0.20', '0.10'], 'where it is provided, in Brasília');
  const { toma: _, ...nobody } = DPS;
  assert.deepEqual(rates({ ...nobody, cLocEmi: '9999998' }), ['0.20', '0.10'], 'no place at all');
  const { IBSCBS: __, ...without } = DPS;
  assert.equal(rates(without), undefined);
});

test('what nobody has published is said, not invented', () => {
  const state = tabelaIbsCbs(
    2,
    aliquotasEmbarcadas().filter(({ tributo }) => tributo !== 'IBS-MUN'),
  );
  assert.deepEqual(assessIbsCbs(PLAIN, state), { unavailable: 'IBS-MUN', data: '2026-10-05' });
  const unavailable = (change: Partial<IbsCbsInput>) => assessIbsCbs({ ...PLAIN, ...change });
  assert.deepEqual(unavailable({ dCompet: '2025-12-31' }), { unavailable: 'IBS-UF', data: '2025-12-31' });
  assert.deepEqual(unavailable({ dCompet: '2027-01-01' }), { unavailable: 'CBS', data: '2027-01-01' });
  assert.deepEqual(unavailable({ dCompet: '2028-12-31' }), { unavailable: 'CBS', data: '2028-12-31' });
  assert.deepEqual(unavailable({ dCompet: '2029-01-01' }), { unavailable: 'IBS-UF', data: '2029-01-01' });
  assert.deepEqual(unavailable({ dCompet: '2027-01-01', CST: '010', cClassTrib: '010002' }), {
    unavailable: 'IBS-UF',
    data: '2027-01-01',
    cClassTrib: '010002',
  });
  const suspended = { dCompet: '2027-01-01', CST: '550', cClassTrib: '550016' };
  assert.deepEqual(unavailable({ ...suspended, gTribRegular: { CSTReg: '000', cClassTribReg: '000001' } }), {
    unavailable: 'CBS',
    data: '2027-01-01',
  });
});
