import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../test/support/seed.ts';
import {
  type Aliquota,
  aliquotasEmbarcadas,
  type TabelaIbsCbs,
  tabelaEmbarcada,
  tabelaIbsCbs,
} from './aliquotas-ibs-cbs.ts';
import {
  classificacoes,
  creditosPresumidos,
  indicadores,
  LINHAS_IBS_CBS,
  type LinhaIbsCbs,
} from './catalogs/catalogs.ts';
import { add, type Decimal, decimal as d, formatDecimal, formatRate, ZERO } from './decimal.ts';
import { explainIbsCbs } from './explain-ibscbs.ts';
import { assessIbsCbs, type IbsCbsAmounts, type IbsCbsInput } from './ibscbs.ts';
import type { Dps } from './layout/dps.ts';
import { aliquotasDe, defaultIndOp, INDICADORES_DE_IMOVEL, placeOfIbsCbs } from './operation.ts';

/** An ordinary note of the test year: base R$ 1000.00, no ISSQN shown, fully taxed. */
const PLAIN: IbsCbsInput = {
  dCompet: '2026-10-05',
  vServ: d('1000.00'),
  vISSQN: ZERO,
  vLiq: d('1000.00'),
  CST: '000',
  cClassTrib: '000001',
};

function amountsOf(change: Partial<IbsCbsInput>): IbsCbsAmounts {
  const result = assessIbsCbs({ ...PLAIN, ...change });
  if ('unavailable' in result) assert.fail(`${result.unavailable} is not published`);
  return result;
}

/** Every leaf by its path below `base`, as the note prints it. */
function printed(group: object, base = ''): Record<string, string> {
  const leaves: Record<string, string> = {};
  for (const [name, value] of Object.entries(group)) {
    if (typeof value === 'bigint') leaves[`${base}${name}`] = formatDecimal(value as Decimal);
    else if (value !== undefined) Object.assign(leaves, printed(value, `${base}${name}/`));
  }
  return leaves;
}

/** Assesses PLAIN with some changes and compares the fields named, by the last part of their path. */
function expectFields(change: Partial<IbsCbsInput>, expected: Record<string, string | undefined>): void {
  const fields = Object.entries(printed(amountsOf(change)));
  const byName = Object.fromEntries(fields.map(([path, text]) => [path.split('/').at(-1), text]));
  for (const [name, text] of Object.entries(expected)) assert.equal(byName[name], text, name);
}

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

/** A document that waits for each row that a table may lack. */
const WAITS: Readonly<Record<LinhaIbsCbs, Partial<IbsCbsInput>>> = {
  'IBS-UF': {},
  'IBS-MUN': {},
  CBS: {},
  'REDUTOR-COMPRA-GOV': { tpEnteGov: '1' },
  'TRANSFERENCIA-CBS-GOV': { tpEnteGov: '4' },
  'CRED-PRES-01-IBS': { CST: '410', cClassTrib: '410014', cCredPres: '01' },
  'CRED-PRES-01-CBS': { CST: '410', cClassTrib: '410014', cCredPres: '01' },
  'CRED-PRES-02-IBS': { CST: '410', cClassTrib: '410015', cCredPres: '02' },
  'CRED-PRES-02-CBS': { CST: '410', cClassTrib: '410015', cCredPres: '02' },
};

test('a note waits for a row that an import may bring, and for nothing else: each in its turn', () => {
  const blank = { uf: '', municipio: '', cClassTrib: '', fim: undefined, fonte: 'f', ato: 'a', inicio: '2027-01-01' };
  const rows = LINHAS_IBS_CBS.map((tributo): Aliquota => ({ ...blank, tributo, aliquota: '1' }));
  for (const missing of LINHAS_IBS_CBS) {
    const input = { ...PLAIN, ...WAITS[missing], dCompet: '2027-01-01' };
    const others = rows.filter(({ tributo }) => tributo !== missing);
    assert.deepEqual(assessIbsCbs(input, tabelaIbsCbs(2, others)), { unavailable: missing, data: '2027-01-01' });
    assert.ok(!('unavailable' in assessIbsCbs(input, tabelaIbsCbs(3, rows))), missing);
    // A document that does not need the row does not wait for it.
    if (missing in { 'IBS-UF': 1, 'IBS-MUN': 1, CBS: 1 }) continue;
    assert.ok(!('unavailable' in assessIbsCbs({ ...PLAIN, dCompet: '2027-01-01' }, tabelaIbsCbs(2, others))), missing);
  }
});

test('the credits of a table are those that an NFS-e may carry', () => {
  const ofServices = creditosPresumidos().filter(({ indNFSe }) => indNFSe);
  const wanted = ofServices.flatMap(({ codigo, ind_gIBSCredPres, ind_gCBSCredPres }) => [
    ...(ind_gIBSCredPres ? [`CRED-PRES-${codigo}-IBS`] : []),
    ...(ind_gCBSCredPres ? [`CRED-PRES-${codigo}-CBS`] : []),
  ]);
  assert.deepEqual(
    LINHAS_IBS_CBS.filter((one) => one.startsWith('CRED-PRES')),
    wanted,
  );
});

/** The rates that 2027 needs: those of the law for the IBS, and a published CBS. */
const PUBLISHED = tabelaIbsCbs(
  2,
  (['IBS-UF', 'IBS-MUN', 'CBS'] as const).map((tributo) => ({
    tributo,
    uf: '',
    municipio: '',
    cClassTrib: '',
    inicio: '2027-01-01',
    fim: '2027-12-31',
    aliquota: tributo === 'CBS' ? '8.40' : '0.05',
    fonte: 'exemplo',
    ato: 'exemplo',
  })),
);

test('a row for a later year is all that its calculation needs: three tributes, paid on top of the net value', () => {
  const note = { ...PLAIN, dCompet: '2027-03-10', vDescIncond: d('100.00'), vISSQN: d('18.00'), vLiq: d('882.00') };
  const taxed = assessIbsCbs({ ...note, vPis: d('6.50'), vCofins: d('30.00') }, PUBLISHED);
  assert.ok(!('unavailable' in taxed));
  assert.deepEqual(printed(taxed), {
    'valores/vBC': '882.00', // 1000.00 − 100.00 − 18.00; PIS and COFINS are no reducers any more
    'valores/uf/pIBSUF': '0.05',
    'valores/uf/pAliqEfetUF': '0.05',
    'valores/mun/pIBSMun': '0.05',
    'valores/mun/pAliqEfetMun': '0.05',
    'valores/fed/pCBS': '8.40',
    'valores/fed/pAliqEfetCBS': '8.40',
    'totCIBS/vTotNF': '956.97', // 882.00 + 74.09 + 0.88
    'totCIBS/gIBS/vIBSTot': '0.88', // 0.44 + 0.44
    'totCIBS/gIBS/gIBSUFTot/vIBSUF': '0.44', // 882.00 × 0.05 % = 0.441
    'totCIBS/gIBS/gIBSMunTot/vIBSMun': '0.44',
    'totCIBS/gCBS/vCBS': '74.09', // 882.00 × 8.40 % = 74.088
  });

  // 60 % less: 0.02, 0.02, 3.36
  const reduced = assessIbsCbs({ ...note, CST: '200', cClassTrib: '200028' }, PUBLISHED);
  assert.ok(!('unavailable' in reduced));
  assert.equal(formatDecimal(reduced.valores.uf.pAliqEfetUF), '0.02');
  assert.equal(formatDecimal(reduced.totCIBS.gIBS.gIBSUFTot.vIBSUF), '0.18'); // 882.00 × 0.02 % = 0.1764
  assert.equal(formatDecimal(reduced.totCIBS.gCBS.vCBS), '29.64'); // 882.00 × 3.36 % = 29.6352

  // 30 % less: 0.035 prints as 0.04, and 882.00 × 0.035 % = 0.3087
  const less = assessIbsCbs({ ...note, CST: '200', cClassTrib: '200052' }, PUBLISHED);
  assert.ok(!('unavailable' in less));
  assert.equal(formatDecimal(less.valores.uf.pAliqEfetUF), '0.04');
  assert.equal(formatDecimal(less.totCIBS.gIBS.gIBSUFTot.vIBSUF), '0.31');

  const suspended = { ...note, CST: '550', cClassTrib: '550016' };
  const regular = assessIbsCbs({ ...suspended, gTribRegular: { CSTReg: '000', cClassTribReg: '000001' } }, PUBLISHED);
  assert.ok(!('unavailable' in regular));
  assert.equal(formatDecimal(regular.totCIBS.gTribRegular!.vTribRegCBS), '74.09');
  assert.deepEqual(assessIbsCbs({ ...note, dCompet: '2028-01-01' }, PUBLISHED), {
    unavailable: 'IBS-UF',
    data: '2028-01-01',
  });
});

/** General rates from 2026 on, the same in each year. */
function ratesFrom2026(uf: string, mun: string, cbs: string, ...besides: readonly Aliquota[]): TabelaIbsCbs {
  const blank = { uf: '', municipio: '', cClassTrib: '', inicio: '2026-01-01', fim: undefined, fonte: 'f', ato: 'a' };
  const beside = aliquotasEmbarcadas().filter(({ tributo }) => tributo.endsWith('-GOV'));
  return tabelaIbsCbs(2, [
    ...besides,
    { ...blank, tributo: 'IBS-UF', aliquota: uf },
    { ...blank, tributo: 'IBS-MUN', aliquota: mun },
    { ...blank, tributo: 'CBS', aliquota: cbs },
    ...beside,
  ]);
}

const percentual = (tributo: LinhaIbsCbs, aliquota: string): Aliquota => ({
  tributo,
  uf: '',
  municipio: '',
  cClassTrib: '',
  inicio: '2026-01-01',
  fim: undefined,
  aliquota,
  fonte: 'f',
  ato: 'Ato 1/2027',
});

/** Assesses by a table, and returns the fields by the last part of their path. The first of two counts, so `gTribCompraGov` is ignored. */
function fieldsBy(tabela: TabelaIbsCbs, change: Partial<IbsCbsInput>): Readonly<Record<string, string>> {
  const amounts = assessIbsCbs({ ...PLAIN, ...change }, tabela);
  assert.ok(!('unavailable' in amounts));
  const entries = Object.entries(printed(amounts)).map(([path, text]) => [path.split('/').at(-1)!, text] as const);
  return Object.fromEntries(entries.toReversed());
}

test('from 2027 on half a cent goes to the even cent, and the total of the IBS is of what is not rounded', () => {
  const tabela = ratesFrom2026('0.05', '0.05', '8.40');
  const told = (dCompet: string, vServ: string) => {
    const { vIBSUF, vIBSMun, vIBSTot, vCBS, vTotNF } = fieldsBy(tabela, { dCompet, vServ: d(vServ), vLiq: d(vServ) });
    return [vIBSUF, vIBSMun, vIBSTot, vCBS, vTotNF].join(' ');
  };
  for (const [vServ, wanted] of [
    ['10.00', '0.00 0.00 0.01 0.84 10.85'], // 0.005 + 0.005 = 0.01
    ['30.00', '0.02 0.02 0.03 2.52 32.55'], // 0.015 + 0.015 = 0.03
    ['50.00', '0.02 0.02 0.05 4.20 54.25'], // 0.025 + 0.025 = 0.05
    ['70.00', '0.04 0.04 0.07 5.88 75.95'], // 0.035 + 0.035 = 0.07
    ['20.00', '0.01 0.01 0.02 1.68 21.70'], // no tie
    ['6.25', '0.00 0.00 0.01 0.52 6.78'], // 0.003125 + 0.003125 = 0.00625; × 8.40 % = 0.525
    ['18.75', '0.01 0.01 0.02 1.58 20.35'], // 0.009375 + 0.009375 = 0.01875; × 8.40 % = 1.575
  ] as const) {
    assert.equal(told('2027-01-01', vServ), wanted, vServ);
  }
  // The day before rounds half a cent up, and sums cents.
  assert.equal(told('2026-12-31', '10.00'), '0.01 0.01 0.02 0.84 10.00');
  assert.equal(told('2026-12-31', '6.25'), '0.00 0.00 0.00 0.53 6.25');
});

test('from 2027 on a rate is written half-even too, and eight decimals are kept: of its fraction, and of a tribute', () => {
  const tabela = ratesFrom2026('0.05', '0.05', '8.4037', percentual('REDUTOR-COMPRA-GOV', '33.33'));
  const bought = { dCompet: '2027-01-01', tpEnteGov: '1', vServ: d('100000000.00') };
  const half = fieldsBy(tabela, { dCompet: '2027-01-01', CST: '200', cClassTrib: '200046' });
  assert.deepEqual([half.pAliqEfetUF, half.pAliqEfetCBS], ['0.02', '4.20']); // 0.025, tie; 4.20185
  const before = fieldsBy(tabela, { dCompet: '2026-12-31', CST: '200', cClassTrib: '200046' });
  assert.deepEqual([before.pAliqEfetUF, before.pAliqEfetCBS], ['0.03', '4.20']);
  // 0.084037 × 0.6667 = 0.0560274679 → 0.05602747; × 100000000.00 = 5602747.00. 0.0005 × 0.6667 = 0.00033335; × 100000000.00 = 33335.00
  const { vCBS } = fieldsBy(tabela, bought);
  assert.equal(vCBS, '5669417.00'); // 5602747.00 + 33335.00 + 33335.00
  const alone = fieldsBy(tabela, { ...bought, dCompet: '2026-12-31' });
  assert.equal(alone.vCBS, '5602746.79'); // 100000000.00 × 5.60274679 %

  // 0.109447 × 0.70 = 0.0766129; × 1.24 = 0.094999996 → 0.09500000, a tie; exact, it is below one.
  const reduced = { CST: '200', cClassTrib: '200052', vServ: d('1.24') };
  const beside = ratesFrom2026('0', '0', '10.9447');
  assert.equal(fieldsBy(beside, { ...reduced, dCompet: '2027-01-01' }).vCBS, '0.10');
  assert.equal(fieldsBy(beside, { ...reduced, dCompet: '2026-12-31' }).vCBS, '0.09');
});

test('a government that buys in 2027 gets the tributes of all, as in the calculator’s own sample of a state', () => {
  // The values of the sample: base 200.00, 0.05, 0.05 and 8.40, reducer 50.00, bought by a state.
  const tabela = ratesFrom2026('0.05', '0.05', '8.40', percentual('REDUTOR-COMPRA-GOV', '50.00'));
  const change = { dCompet: '2027-01-01', vServ: d('200.00'), vLiq: d('200.00'), tpEnteGov: '2' };
  const amounts = assessIbsCbs({ ...PLAIN, ...change }, tabela);
  assert.ok(!('unavailable' in amounts));
  assert.deepEqual(printed(amounts), {
    pRedutor: '50.00',
    'valores/vBC': '200.00',
    'valores/uf/pIBSUF': '0.05',
    'valores/uf/pAliqEfetUF': '0.05', // 0.025 + 0.025
    'valores/mun/pIBSMun': '0.05',
    'valores/mun/pAliqEfetMun': '0.00',
    'valores/fed/pCBS': '8.40',
    'valores/fed/pAliqEfetCBS': '4.20',
    'totCIBS/vTotNF': '208.50', // 200.00 + 8.40 + 0.10
    'totCIBS/gIBS/vIBSTot': '0.10',
    'totCIBS/gIBS/gIBSUFTot/vIBSUF': '0.10',
    'totCIBS/gIBS/gIBSMunTot/vIBSMun': '0.00',
    'totCIBS/gCBS/vCBS': '8.40',
    'totCIBS/gTribCompraGov/pIBSUF': '0.02', // 0.025, to the even one
    'totCIBS/gTribCompraGov/vIBSUF': '0.05',
    'totCIBS/gTribCompraGov/pIBSMun': '0.02',
    'totCIBS/gTribCompraGov/vIBSMun': '0.05',
    'totCIBS/gTribCompraGov/pCBS': '4.20',
    'totCIBS/gTribCompraGov/vCBS': '8.40',
  });
});

test('which part of the CBS goes to the buyer, year by year, and to whom', () => {
  // The calculator's own cases: 20.00, 10.00 and 5.00 of 1000.00, and 0, 10, 20, 30, 40 and 100 % of the CBS.
  const tabela = ratesFrom2026('10.00', '5.00', '20.00');
  const told = (tpEnteGov: string, dCompet: string) => {
    const { pAliqEfetUF, vIBSUF, pAliqEfetMun, vIBSMun, pAliqEfetCBS, vCBS, vIBSTot } = fieldsBy(tabela, {
      tpEnteGov,
      dCompet,
    });
    return [pAliqEfetUF, vIBSUF, pAliqEfetMun, vIBSMun, pAliqEfetCBS, vCBS, vIBSTot].join(' ');
  };
  for (const [day, ibs, vIbs, cbs, vCbs] of [
    ['2027-01-01', '15.00', '150.00', '20.00', '200.00'],
    ['2028-12-31', '15.00', '150.00', '20.00', '200.00'],
    ['2029-01-01', '17.00', '170.00', '18.00', '180.00'],
    ['2030-06-30', '19.00', '190.00', '16.00', '160.00'],
    ['2031-06-30', '21.00', '210.00', '14.00', '140.00'],
    ['2032-12-31', '23.00', '230.00', '12.00', '120.00'],
    ['2033-01-01', '35.00', '350.00', '0.00', '0.00'],
  ] as const) {
    for (const ente of ['2', '3']) assert.equal(told(ente, day), `${ibs} ${vIbs} 0.00 0.00 ${cbs} ${vCbs} ${vIbs}`);
    assert.equal(told('4', day), `0.00 0.00 ${ibs} ${vIbs} ${cbs} ${vCbs} ${vIbs}`);
    assert.equal(told('1', day), '0.00 0.00 0.00 0.00 35.00 350.00 0.00');
  }
  assert.equal(told('4', '2026-12-31'), '10.00 100.00 5.00 50.00 20.00 200.00 150.00');
});

test('a purchase of a government that is deferred, suspended or not levied', () => {
  const tabela = ratesFrom2026('1.00', '2.00', '10.00', percentual('REDUTOR-COMPRA-GOV', '50.00'));
  const bought = { dCompet: '2027-01-01', tpEnteGov: '4' };
  // 60 % less, and half of that: 0.20, 0.40 and 2.00; the deferred amount is the share of each entity.
  const deferred = fieldsBy(tabela, { ...bought, CST: '515', cClassTrib: '515001' });
  const { vDifUF, vDifMun, vDifCBS, pAliqEfetMun, vIBSMun, vCBS } = deferred;
  assert.deepEqual([vDifUF, vDifMun, vDifCBS], ['2.00', '4.00', '20.00']);
  assert.deepEqual([pAliqEfetMun, vIBSMun, vCBS, deferred.vTotNF], ['0.60', '0.00', '0.00', '1000.00']);
  const whole = assessIbsCbs({ ...PLAIN, ...bought, CST: '515', cClassTrib: '515001' }, tabela);
  assert.ok(!('unavailable' in whole));
  const { gTribCompraGov } = whole.totCIBS;
  assert.deepEqual([gTribCompraGov?.pIBSUF, gTribCompraGov?.vIBSUF], [d('0.20'), ZERO]);

  const gTribRegular = { CSTReg: '200', cClassTribReg: '200028' };
  const suspended = fieldsBy(tabela, { ...bought, CST: '550', cClassTrib: '550016', gTribRegular });
  assert.deepEqual([suspended.pAliqEfetMun, suspended.vIBSMun, suspended.vCBS], ['0.00', '0.00', '0.00']);
  assert.deepEqual([suspended.pAliqEfeRegIBSUF, suspended.vTribRegIBSUF], ['0.00', '0.00']);
  assert.deepEqual([suspended.pAliqEfeRegIBSMun, suspended.vTribRegIBSMun], ['0.60', '6.00']);
  assert.deepEqual([suspended.pAliqEfeRegCBS, suspended.vTribRegCBS], ['2.00', '20.00']);

  const exempt = fieldsBy(tabela, { ...bought, CST: '410', cClassTrib: '410004' });
  assert.deepEqual([exempt.pRedutor, exempt.vCBS, exempt.vIBSTot], ['50.00', '0.00', '0.00']);
});

test('a presumed credit: a percentage of the base, beside tributes that are none; before 2027 there is none', () => {
  const tabela = ratesFrom2026(
    '0.05',
    '0.05',
    '8.40',
    percentual('CRED-PRES-01-IBS', '0.12'),
    percentual('CRED-PRES-01-CBS', '7.50'),
    percentual('CRED-PRES-02-IBS', '3.00'),
    percentual('CRED-PRES-02-CBS', '4.00'),
  );
  const rural = { dCompet: '2027-01-01', CST: '410', cClassTrib: '410014', vServ: d('1020.50'), cCredPres: '01' };
  const { pCredPresIBS, vCredPresIBS, pCredPresCBS, vCredPresCBS, vTotNF } = fieldsBy(tabela, rural);
  // 1020.50 × 0.12 % = 1.2246; × 7.50 % = 76.5375
  assert.deepEqual([pCredPresIBS, vCredPresIBS, pCredPresCBS, vCredPresCBS], ['0.12', '1.22', '7.50', '76.54']);
  assert.equal(vTotNF, '1000.00', 'the credit is the buyer’s, and nothing that is paid');
  assert.equal(fieldsBy(tabela, { ...rural, cCredPres: '02' }).vCredPresCBS, '40.82'); // 1020.50 × 4 %
  assert.equal(fieldsBy(tabela, { ...rural, vServ: d('0.20') }).vCredPresCBS, '0.02'); // 0.015, to the even cent
  for (const change of [
    { dCompet: '2026-12-31' },
    { cCredPres: '03' },
    { cCredPres: '99' },
    { cCredPres: undefined },
  ]) {
    const fields = fieldsBy(tabela, { ...rural, ...change });
    assert.deepEqual([fields.pCredPresIBS, fields.vCredPresCBS], [undefined, undefined], JSON.stringify(change));
  }
});

test('the steps in words from 2027 on: ties, sums, purchases of a government, presumed credits', () => {
  const tabela = ratesFrom2026(
    '0.05',
    '0.05',
    '8.40',
    percentual('REDUTOR-COMPRA-GOV', '50.00'),
    percentual('CRED-PRES-01-IBS', '1.25'),
    percentual('CRED-PRES-01-CBS', '7.50'),
  );
  const formulasOf = (change: Partial<IbsCbsInput>): Record<string, string> => {
    const input = { ...PLAIN, dCompet: '2029-01-01', vServ: d('10.00'), ...change };
    const amounts = assessIbsCbs(input, tabela);
    assert.ok(!('unavailable' in amounts));
    const steps = explainIbsCbs(input, amounts, tabela);
    assert.deepEqual(Object.fromEntries(steps.map(({ campo, valor }) => [campo, valor])), printed(amounts, 'IBSCBS/'));
    return Object.fromEntries(steps.map(({ campo, formula }) => [campo.split('/').slice(-2).join('/'), formula]));
  };
  const tie = formulasOf({});
  assert.equal(tie['gIBSUFTot/vIBSUF'], 'vBC 10.00 × pAliqEfetUF 0.05 % = 0.005, e o meio centavo vai ao centavo par');
  assert.equal(tie['gCBS/vCBS'], 'vBC 10.00 × pAliqEfetCBS 8.40 %');
  assert.equal(tie['gIBS/vIBSTot'], 'vIBSUF 0.00 (0.005 sem arredondar) + vIBSMun 0.00 (0.005 sem arredondar)');
  assert.equal(tie['totCIBS/vTotNF'], 'vLiq 1000.00 + vCBS 0.84 + vIBSTot 0.01');
  // 0.015 is rounded up in both roundings.
  assert.equal(formulasOf({ vServ: d('30.00') })['gIBSUFTot/vIBSUF'], 'vBC 30.00 × pAliqEfetUF 0.05 %');
  assert.equal(formulasOf({ dCompet: '2026-12-31' })['gIBS/vIBSTot'], 'vIBSUF 0.01 + vIBSMun 0.01');
  assert.equal(formulasOf({ dCompet: '2026-12-31' })['gIBSUFTot/vIBSUF'], 'vBC 10.00 × pAliqEfetUF 0.05 %');

  const town = formulasOf({ tpEnteGov: '4', vServ: d('1000.00') });
  assert.equal(
    town['IBSCBS/pRedutor'],
    'redutor das compras governamentais em 2029-01-01 (Ato 1/2027; tabela de alíquotas 2)',
  );
  const own = 'pIBSUF 0.02 (0.025 sem arredondar)';
  assert.equal(town['gTribCompraGov/pIBSUF'], 'pIBSUF 0.05 × (1 − pRedutor 50.00 %)');
  assert.equal(town['gTribCompraGov/vIBSUF'], `vBC 1000.00 × ${own} %`);
  assert.equal(town['uf/pAliqEfetUF'], 'nada: passa ao ente que compra (LC 214/2025, art. 473)');
  assert.equal(town['gIBSUFTot/vIBSUF'], 'nada: passa ao ente que compra (LC 214/2025, art. 473)');
  const moved = 'pCBS 4.20 × 10.00 % (LC 214/2025, art. 473; tabela de alíquotas 2)';
  assert.equal(town['mun/pAliqEfetMun'], `do ente que compra: ${own} + pIBSMun 0.02 (0.025 sem arredondar) + ${moved}`);
  assert.equal(
    town['gIBSMunTot/vIBSMun'],
    'do ente que compra: vIBSUF 0.25 + vIBSMun 0.25 + vCBS 42.00 × 10.00 % (LC 214/2025, art. 473; tabela de alíquotas 2)',
  );
  assert.equal(
    town['fed/pAliqEfetCBS'],
    'pCBS 4.20 × (1 − 10.00 %), o que não passa ao ente que compra (LC 214/2025, art. 473; tabela de alíquotas 2)',
  );
  const union = formulasOf({ tpEnteGov: '1', vServ: d('1000.00') });
  assert.equal(union['gCBS/vCBS'], 'do ente que compra: vIBSUF 0.25 + vIBSMun 0.25 + vCBS 42.00');
  assert.equal(union['uf/pAliqEfetUF'], 'nada: passa ao ente que compra (LC 214/2025, art. 473)');
  assert.deepEqual(explainIbsCbs({ ...PLAIN, dCompet: '2027-01-01' }, amountsOf({})), [], 'a table without the rows');
  assert.equal(union['gIBS/vIBSTot'], 'vIBSUF 0.00 + vIBSMun 0.00');
  const deferred = formulasOf({ tpEnteGov: '1', vServ: d('1000.00'), CST: '510', cClassTrib: '510001' });
  assert.equal(deferred['gTribCompraGov/vIBSUF'], 'nada devido: tudo está em vDifUF');
  assert.equal(formulasOf({ CST: '510', cClassTrib: '510001' })['gIBS/vIBSTot'], 'vIBSUF 0.00 + vIBSMun 0.00');
  assert.equal(deferred['gIBSUFTot/vDifUF'], `vBC 1000.00 × ${own} %, diferido por inteiro`);
  const gTribRegular = { CSTReg: '000', cClassTribReg: '000001' };
  const suspended = formulasOf({ tpEnteGov: '1', CST: '550', cClassTrib: '550016', gTribRegular });
  assert.equal(
    suspended['gTribRegular/pAliqEfeRegCBS'],
    'alíquota efetiva sem a suspensão, cClassTribReg 000001, já do ente que compra',
  );

  const rural = formulasOf({ CST: '410', cClassTrib: '410014', cCredPres: '01', vServ: d('0.20') });
  assert.equal(
    rural['gCBSCredPres/pCredPresCBS'],
    'crédito presumido 01 em 2029-01-01 (Ato 1/2027; tabela de alíquotas 2)',
  );
  // 0.20 × 7.50 % = 0.015
  assert.equal(rural['gCBSCredPres/vCredPresCBS'], 'vBC 0.20 × pCredPresCBS 7.50 %');
  // 0.20 × 1.25 % = 0.0025
  assert.equal(rural['gIBSCredPres/vCredPresIBS'], 'vBC 0.20 × pCredPresIBS 1.25 %');
});

test('without a rate to apply later years are assessed: vTotNF is vLiq and nothing more', () => {
  expectFields({ dCompet: '2027-01-01', CST: '410', cClassTrib: '410004' }, { vTotNF: '1000.00', vBC: '1000.00' });
});

test('every classification for services is assessed in the test year, with the reduction of the table', () => {
  for (const { codigo, cst, pRedIBS, pRedCBS } of classificacoes().filter(({ indNFSe }) => indNFSe)) {
    const { uf, mun, fed } = amountsOf({ CST: cst, cClassTrib: codigo }).valores;
    const shown = (text: string) => (d(text) === ZERO ? undefined : d(text));
    assert.deepEqual(
      [uf.pRedAliqUF, mun.pRedAliqMun, fed.pRedAliqCBS],
      [shown(pRedIBS), shown(pRedIBS), shown(pRedCBS)],
      codigo,
    );
  }
});

test('a classification that no catalog has is a bug of the caller', () => {
  assert.throws(() => assessIbsCbs({ ...PLAIN, cClassTrib: '999999' }), RangeError);
});

test('the steps tell every field of the amounts once, with its value', () => {
  const inputs: readonly Partial<IbsCbsInput>[] = [
    {},
    { CST: '200', cClassTrib: '200052', tpEnteGov: '2', vCalcReeRepRes: d('10.00'), vPis: d('1.00') },
    { CST: '410', cClassTrib: '410004', dCompet: '2027-01-01' },
    { CST: '515', cClassTrib: '515001', gDif: { pDifUF: d('50.00'), pDifMun: d('100.00'), pDifCBS: d('100.00') } },
    { CST: '550', cClassTrib: '550016', gTribRegular: { CSTReg: '200', cClassTribReg: '200052' } },
  ];
  for (const change of inputs) {
    const amounts = amountsOf(change);
    const steps = explainIbsCbs({ ...PLAIN, ...change }, amounts);
    const told = Object.fromEntries(steps.map(({ campo, valor }) => [campo, valor]));
    assert.deepEqual(told, printed(amounts, 'IBSCBS/'));
    assert.equal(steps.length, Object.keys(told).length);
  }
});

test('the steps of the worked example in words', () => {
  const input = { ...PLAIN, vDescIncond: d('50.00'), vISSQN: d('25.50'), CST: '200', cClassTrib: '200052' };
  const formulas = Object.fromEntries(
    explainIbsCbs(input, amountsOf(input)).map(({ campo, formula }) => [campo.split('/').at(-1), formula]),
  );
  assert.equal(formulas.vBC, 'vServ 1000.00 − vDescIncond 50.00 − vISSQN 25.50');
  assert.equal(formulas.pIBSUF, 'alíquota de IBS-UF em 2026-10-05 (LC 214/2025, art. 343; tabela de alíquotas 1)');
  assert.equal(formulas.pRedAliqCBS, 'redução do cClassTrib 200052');
  assert.equal(formulas.pAliqEfetUF, 'pIBSUF 0.10 × (1 − pRedAliqUF 30.00 %)');
  // 1000.00 − 50.00 − 25.50 = 924.50; × 0.63 % = 5.82435
  assert.equal(formulas.vCBS, 'vBC 924.50 × pAliqEfetCBS 0.63 %');
  // 924.50 × 0.07 % = 0.64715
  assert.equal(formulas.vIBSTot, 'vIBSUF 0.65 + vIBSMun 0.00');
  assert.equal(formulas.vTotNF, 'vLiq 1000.00');
});

test('the steps in words: every reducer, the buyer of the government, what is not levied, regular taxation', () => {
  const formulasOf = (change: Partial<IbsCbsInput>, tabela = tabelaEmbarcada()): Record<string, string> => {
    const input = { ...PLAIN, ...change };
    const amounts = assessIbsCbs(input, tabela);
    assert.ok(!('unavailable' in amounts));
    const steps = explainIbsCbs(input, amounts, tabela);
    return Object.fromEntries(steps.map(({ campo, formula }) => [campo.split('/').at(-1)!, formula]));
  };
  const reduced = formulasOf({ vCalcReeRepRes: d('1.00'), vPis: d('2.00'), vCofins: d('3.00') });
  assert.equal(reduced.vBC, 'vServ 1000.00 − vCalcReeRepRes 1.00 − vPis 2.00 − vCofins 3.00');
  const bought = formulasOf({ tpEnteGov: '2', CST: '200', cClassTrib: '200052' });
  assert.equal(bought.pAliqEfetCBS, 'pCBS 0.90 × (1 − pRedAliqCBS 30.00 %) × (1 − pRedutor 0.00 %)');
  assert.equal(formulasOf({ CST: '410', cClassTrib: '410004' }).pCBS, 'CST 410: sem alíquota a aplicar');
  const gTribRegular = { CSTReg: '000', cClassTribReg: '000001' };
  const regular = formulasOf({ CST: '550', cClassTrib: '550016', gTribRegular });
  assert.equal(regular.pAliqEfeRegCBS, 'alíquota efetiva sem a suspensão, cClassTribReg 000001');
  assert.equal(regular.vTribRegCBS, 'vBC 1000.00 × pAliqEfeRegCBS 0.90 %');
  // The tributes are paid on top from 2027 on: 1000.00 × 8.40 % = 84.00, and 0.50 + 0.50
  const later = formulasOf({ dCompet: '2027-03-10' }, PUBLISHED);
  assert.equal(later.vTotNF, 'vLiq 1000.00 + vCBS 84.00 + vIBSTot 1.00');
  assert.equal(formulasOf({ dCompet: '2026-12-31' }).vTotNF, 'vLiq 1000.00');
});

test('a declared deferral that the calculation does not follow is told', () => {
  const deferred = { ...PLAIN, CST: '515', cClassTrib: '515001' };
  const formulaOf = (pDifUF: string) => {
    const input = { ...deferred, gDif: { pDifUF: d(pDifUF), pDifMun: d('100.00'), pDifCBS: d('100.00') } };
    return explainIbsCbs(input, amountsOf(input)).find(({ campo }) => campo.endsWith('vDifUF'))?.formula;
  };
  assert.equal(formulaOf('100.00'), 'vBC 1000.00 × pAliqEfetUF 0.04 %, diferido por inteiro');
  assert.equal(formulaOf('50.00'), 'vBC 1000.00 × pAliqEfetUF 0.04 %, diferido por inteiro (gDif declara 50.00 %)');
});

const amount = fc.bigInt({ min: 0n, max: 99_999_999_999n }).map((cents) => cents as Decimal);
const service = fc.constantFrom(...classificacoes().filter(({ indNFSe }) => indNFSe));
const note = fc.record({ vServ: amount, vLiq: amount, service, tpEnteGov: fc.constantFrom(undefined, '1', '4') });

test('property: no field is negative when the base is not, and the sums agree', () => {
  fc.assert(
    fc.property(note, ({ vServ, vLiq, service: { cst, codigo }, tpEnteGov }) => {
      const gTribRegular = { CSTReg: '000', cClassTribReg: '000001' };
      const amounts = amountsOf({ vServ, vLiq, CST: cst, cClassTrib: codigo, tpEnteGov, gTribRegular });
      for (const [path, text] of Object.entries(printed(amounts))) assert.ok(!text.startsWith('-'), path);
      const { gIBS, gCBS, vTotNF } = amounts.totCIBS;
      assert.equal(gIBS.vIBSTot, add(gIBS.gIBSUFTot.vIBSUF, gIBS.gIBSMunTot.vIBSMun));
      assert.equal(vTotNF, vLiq);
      assert.ok(gCBS.vCBS <= amounts.valores.vBC);
    }),
  );
});

test('property: effective rates lie between nothing and the rate, and deferring loses no cent', () => {
  fc.assert(
    fc.property(note, ({ vServ, service: { cst, codigo } }) => {
      const { uf, fed } = amountsOf({ vServ, CST: cst, cClassTrib: codigo }).valores;
      assert.ok(uf.pAliqEfetUF >= 0n && uf.pAliqEfetUF <= uf.pIBSUF);
      assert.ok(fed.pAliqEfetCBS >= 0n && fed.pAliqEfetCBS <= fed.pCBS);

      // 515001 and 200028 have the same reduction of 60 %
      const deferred = amountsOf({ vServ, CST: '515', cClassTrib: '515001' }).totCIBS;
      const due = amountsOf({ vServ, CST: '200', cClassTrib: '200028' }).totCIBS;
      assert.equal(deferred.gCBS.vDifCBS, due.gCBS.vCBS);
      assert.equal(deferred.gIBS.gIBSUFTot.vDifUF, due.gIBS.gIBSUFTot.vIBSUF);
    }),
  );
});

test('property: the steps tell what was assessed', () => {
  fc.assert(
    fc.property(note, ({ vServ, vLiq, service: { cst, codigo }, tpEnteGov }) => {
      const input = { ...PLAIN, vServ, vLiq, CST: cst, cClassTrib: codigo, tpEnteGov };
      const amounts = amountsOf(input);
      const told = explainIbsCbs(input, amounts).map(({ campo, valor }) => [campo, valor]);
      assert.deepEqual(Object.fromEntries(told), printed(amounts, 'IBSCBS/'));
    }),
  );
});

const GIBSCBS = { CST: '000', cClassTrib: '000001' };

/** Provider in São Paulo, taker in Rio de Janeiro, provided in Brasília. */
const DPS: Dps = {
  tpAmb: '2',
  verAplic: 'exemplo-1.0',
  dCompet: '2026-10-05',
  tpEmit: '1',
  cLocEmi: '3550308',
  prest: { CNPJ: '11222333000181', regTrib: { opSimpNac: '1', regEspTrib: '0' } },
  toma: { CPF: '52998224725', xNome: 'Maria Exemplo', end: inBrazil('3304557') },
  serv: {
    locPrest: { cLocPrestacao: '5300108' },
    cServ: { cTribNac: '010101', xDescServ: 'Desenvolvimento de sistema', cNBS: '115021000' },
  },
  valores: {
    vServPrest: { vServ: d('1000.00') },
    trib: { tribMun: { tribISSQN: '1', tpRetISSQN: '1' }, totTrib: { indTotTrib: '0' } },
  },
  IBSCBS: { valores: { trib: { gIBSCBS: GIBSCBS } } },
};

function inBrazil(cMun: string) {
  return { endNac: { cMun, CEP: '01001000' }, xLgr: 'Rua A', nro: '1', xBairro: 'Centro' };
}

function abroad(cPais: string) {
  const endExt = { cPais, cEndPost: '1000', xCidade: 'Lisboa', xEstProvReg: 'Lisboa' };
  return { endExt, xLgr: 'Rua A', nro: '1', xBairro: 'Centro' };
}

function withToma(end: NonNullable<Dps['toma']>['end'] | undefined): Dps {
  return { ...DPS, toma: { CPF: '52998224725', xNome: 'Maria Exemplo', ...(end === undefined ? {} : { end }) } };
}

function withIbscbs(group: Partial<NonNullable<Dps['IBSCBS']>>): Dps {
  return { ...DPS, IBSCBS: { valores: { trib: { gIBSCBS: GIBSCBS } }, ...group } };
}

const SAO_PAULO = { codigo: '3550308', nome: 'São Paulo' };
const RIO = { codigo: '3304557', nome: 'Rio de Janeiro' };
const BRASILIA = { codigo: '5300108', nome: 'Brasília' };
const RECIFE = { codigo: '2611606', nome: 'Recife' };
const PORTUGAL = { codigo: '9999999', nome: 'Portugal' };

test('the place is the address that the indicator points to', () => {
  for (const cIndOp of ['020101', '030104', '050201', '060101', '070102']) {
    assert.deepEqual(placeOfIbsCbs(DPS, cIndOp), BRASILIA, cIndOp);
  }
  for (const cIndOp of ['030101', '050101']) assert.deepEqual(placeOfIbsCbs(DPS, cIndOp), SAO_PAULO, cIndOp);
  for (const cIndOp of ['030102', '030103', '100301', '100502']) {
    assert.deepEqual(placeOfIbsCbs(DPS, cIndOp), RIO, cIndOp);
  }
  assert.deepEqual(placeOfIbsCbs(DPS, '040101'), BRASILIA, 'an event is where its service is provided');
});

test('the recipient prevails over the taker, also when nobody said that there is one', () => {
  const dest = { CPF: '52998224725', xNome: 'Destinatário Exemplo', end: inBrazil('2611606') };
  for (const cIndOp of ['030103', '100301']) {
    assert.deepEqual(placeOfIbsCbs(withIbscbs({ indDest: '1', dest }), cIndOp), RECIFE);
    assert.deepEqual(placeOfIbsCbs(withIbscbs({ dest }), cIndOp), RECIFE);
    assert.deepEqual(placeOfIbsCbs(withIbscbs({ indDest: '0', dest }), cIndOp), RIO);
    assert.deepEqual(placeOfIbsCbs(withIbscbs({ indDest: '0' }), cIndOp), RIO);
  }
});

test('a place abroad is its country', () => {
  assert.deepEqual(placeOfIbsCbs(withToma(abroad('PT')), '100301'), PORTUGAL);
  assert.deepEqual(placeOfIbsCbs(withToma(abroad('PT')), '100102'), PORTUGAL);
  const provided = { ...DPS, serv: { ...DPS.serv, locPrest: { cPaisPrestacao: 'PT' } } };
  assert.deepEqual(placeOfIbsCbs(provided, '020101'), PORTUGAL);
  assert.deepEqual(placeOfIbsCbs(provided, '040101'), PORTUGAL);
});

test('without the address that decides, the place is that of the provider', () => {
  const { toma: _, ...nobody } = DPS;
  assert.deepEqual(placeOfIbsCbs(nobody, '100301'), SAO_PAULO);
  assert.deepEqual(placeOfIbsCbs(withToma(undefined), '100301'), SAO_PAULO);
  assert.deepEqual(placeOfIbsCbs(withToma({ xLgr: 'Rua A', nro: '1', xBairro: 'Centro' }), '100301'), SAO_PAULO);
  assert.deepEqual(placeOfIbsCbs(withToma(abroad('QQ')), '100301'), SAO_PAULO, 'no such country');
  const { IBSCBS: __, ...ungrouped } = DPS;
  assert.deepEqual(placeOfIbsCbs(ungrouped, '100301'), RIO, 'without the group the recipient is the taker');
  assert.deepEqual(placeOfIbsCbs(withIbscbs({ indDest: '1' }), '030103'), SAO_PAULO);
  const atSea = { ...DPS, serv: { ...DPS.serv, locPrest: { cLocPrestacao: '0000000' } } };
  assert.deepEqual(placeOfIbsCbs(atSea, '020101'), SAO_PAULO);
  assert.deepEqual(placeOfIbsCbs(DPS, '999999'), SAO_PAULO, 'no such indicator');
  assert.deepEqual(placeOfIbsCbs(DPS, '020401'), SAO_PAULO, 'an indicator whose field no source states');
  assert.equal(placeOfIbsCbs({ ...nobody, cLocEmi: '9999998' }, '100301'), undefined);
});

function indOpOf(cTribNac: string, cNBS: string, cClassTrib: string, imovel?: { readonly cCIB: string }): string {
  const serv = { ...DPS.serv, cServ: { cTribNac, cNBS, xDescServ: 'Serviço' } };
  const trib = { gIBSCBS: { CST: cClassTrib.slice(0, 3), cClassTrib } };
  return defaultIndOp({ ...DPS, serv, IBSCBS: { valores: { trib }, ...(imovel === undefined ? {} : { imovel }) } });
}

test('the indicator that the correlation leaves no choice about', () => {
  assert.equal(indOpOf('071001', '118031000', '000001', { cCIB: '12345678' }), '020201');
  assert.equal(indOpOf('171001', '118066100', '000001'), '040101');
  assert.equal(indOpOf('010101', '115021000', '000001'), '100301');
  assert.equal(
    indOpOf('171001', '115021000', '000001'),
    '040101',
    'an NBS unknown to the service: by the service alone',
  );
});

test('the correlation of the NBS goes before that of the whole service, also where it is one row', () => {
  // The service alone has three candidates, or three and a property.
  assert.equal(indOpOf('070902', '124022000', '000001', { cCIB: '12345678' }), '020201');
  assert.equal(indOpOf('380101', '125041100', '000001'), '030101');
});

test('the indicators that want a property are those whose place is that of the property (Anexo C)', () => {
  const places = indicadores().filter(({ localFornecimento }) => localFornecimento === 'Localidade do imóvel');
  assert.deepEqual(
    [...INDICADORES_DE_IMOVEL],
    places.map(({ codigo }) => codigo),
  );
});

test('otherwise the indicator of all other services', () => {
  assert.equal(indOpOf('071001', '118031000', '000001'), '100301', '020201 demands a property, and there is none');
  assert.equal(indOpOf('040101', '123012200', '200029'), '100301', 'three candidates: 030101, 030102 and 100301');
  assert.equal(indOpOf('071001', '118031000', '410004'), '100301', 'a classification that the service does not have');
  assert.equal(indOpOf('220101', '106042100', '820006'), '100301', '080101, which the NFS-e of toll roads alone uses');
  assert.equal(indOpOf('990101', '115021000', '410999'), '100301', 'a row without an indicator');
  assert.equal(indOpOf('999999', '115021000', '000001'), '100301', 'no such service');
  const { IBSCBS: _, ...without } = DPS;
  assert.equal(defaultIndOp(without), '100301');
});
