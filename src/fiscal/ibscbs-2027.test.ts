/** IBS and CBS from 2027 on: rounding, purchases of a government, presumed credits, and rows that are still to come. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountsOf, expectFields, PLAIN, PUBLISHED, printed } from '../../test/support/ibscbs.ts';
import { type Aliquota, aliquotasEmbarcadas, type TabelaIbsCbs, tabelaIbsCbs } from './aliquotas-ibs-cbs.ts';
import { creditosPresumidos, LINHAS_IBS_CBS, type LinhaIbsCbs } from './catalogs/catalogs.ts';
import { decimal as d, formatDecimal, ZERO } from './decimal.ts';
import { explainIbsCbs } from './explain-ibscbs.ts';
import { assessIbsCbs, type IbsCbsInput } from './ibscbs.ts';

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
  assert.deepEqual([half['pAliqEfetUF'], half['pAliqEfetCBS']], ['0.02', '4.20']); // 0.025, tie; 4.20185
  const before = fieldsBy(tabela, { dCompet: '2026-12-31', CST: '200', cClassTrib: '200046' });
  assert.deepEqual([before['pAliqEfetUF'], before['pAliqEfetCBS']], ['0.03', '4.20']);
  // 0.084037 × 0.6667 = 0.0560274679 → 0.05602747; × 100000000.00 = 5602747.00. 0.0005 × 0.6667 = 0.00033335; × 100000000.00 = 33335.00
  const { vCBS } = fieldsBy(tabela, bought);
  assert.equal(vCBS, '5669417.00'); // 5602747.00 + 33335.00 + 33335.00
  const alone = fieldsBy(tabela, { ...bought, dCompet: '2026-12-31' });
  assert.equal(alone['vCBS'], '5602746.79'); // 100000000.00 × 5.60274679 %

  // 0.109447 × 0.70 = 0.0766129; × 1.24 = 0.094999996 → 0.09500000, a tie; exact, it is below one.
  const reduced = { CST: '200', cClassTrib: '200052', vServ: d('1.24') };
  const beside = ratesFrom2026('0', '0', '10.9447');
  assert.equal(fieldsBy(beside, { ...reduced, dCompet: '2027-01-01' })['vCBS'], '0.10');
  assert.equal(fieldsBy(beside, { ...reduced, dCompet: '2026-12-31' })['vCBS'], '0.09');
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
  assert.deepEqual([pAliqEfetMun, vIBSMun, vCBS, deferred['vTotNF']], ['0.60', '0.00', '0.00', '1000.00']);
  const whole = assessIbsCbs({ ...PLAIN, ...bought, CST: '515', cClassTrib: '515001' }, tabela);
  assert.ok(!('unavailable' in whole));
  const { gTribCompraGov } = whole.totCIBS;
  assert.deepEqual([gTribCompraGov?.pIBSUF, gTribCompraGov?.vIBSUF], [d('0.20'), ZERO]);

  const gTribRegular = { CSTReg: '200', cClassTribReg: '200028' };
  const suspended = fieldsBy(tabela, { ...bought, CST: '550', cClassTrib: '550016', gTribRegular });
  assert.deepEqual([suspended['pAliqEfetMun'], suspended['vIBSMun'], suspended['vCBS']], ['0.00', '0.00', '0.00']);
  assert.deepEqual([suspended['pAliqEfeRegIBSUF'], suspended['vTribRegIBSUF']], ['0.00', '0.00']);
  assert.deepEqual([suspended['pAliqEfeRegIBSMun'], suspended['vTribRegIBSMun']], ['0.60', '6.00']);
  assert.deepEqual([suspended['pAliqEfeRegCBS'], suspended['vTribRegCBS']], ['2.00', '20.00']);

  const exempt = fieldsBy(tabela, { ...bought, CST: '410', cClassTrib: '410004' });
  assert.deepEqual([exempt['pRedutor'], exempt['vCBS'], exempt['vIBSTot']], ['50.00', '0.00', '0.00']);
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
  assert.equal(fieldsBy(tabela, { ...rural, cCredPres: '02' })['vCredPresCBS'], '40.82'); // 1020.50 × 4 %
  assert.equal(fieldsBy(tabela, { ...rural, vServ: d('0.20') })['vCredPresCBS'], '0.02'); // 0.015, to the even cent
  for (const change of [
    { dCompet: '2026-12-31' },
    { cCredPres: '03' },
    { cCredPres: '99' },
    { cCredPres: undefined },
  ]) {
    const fields = fieldsBy(tabela, { ...rural, ...change });
    assert.deepEqual([fields['pCredPresIBS'], fields['vCredPresCBS']], [undefined, undefined], JSON.stringify(change));
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
