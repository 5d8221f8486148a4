/** IBS and CBS: the steps in words, the properties of the calculation, the place of the operation and its indicator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountsOf, DPS, inBrazil, note, PLAIN, PUBLISHED, printed, withIbscbs } from '../../test/support/ibscbs.ts';
import fc from '../../test/support/seed.ts';
import { tabelaEmbarcada } from './aliquotas-ibs-cbs.ts';
import { classificacoes, indicadores } from './catalogs/catalogs.ts';
import { add, decimal as d, ZERO } from './decimal.ts';
import { explainIbsCbs } from './explain-ibscbs.ts';
import { assessIbsCbs, type IbsCbsInput } from './ibscbs.ts';
import type { Dps } from './layout/dps.ts';
import { defaultIndOp, INDICADORES_DE_IMOVEL, placeOfIbsCbs } from './operation.ts';

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
  assert.equal(reduced['vBC'], 'vServ 1000.00 − vCalcReeRepRes 1.00 − vPis 2.00 − vCofins 3.00');
  const bought = formulasOf({ tpEnteGov: '2', CST: '200', cClassTrib: '200052' });
  assert.equal(bought['pAliqEfetCBS'], 'pCBS 0.90 × (1 − pRedAliqCBS 30.00 %) × (1 − pRedutor 0.00 %)');
  assert.equal(formulasOf({ CST: '410', cClassTrib: '410004' })['pCBS'], 'CST 410: sem alíquota a aplicar');
  const gTribRegular = { CSTReg: '000', cClassTribReg: '000001' };
  const regular = formulasOf({ CST: '550', cClassTrib: '550016', gTribRegular });
  assert.equal(regular['pAliqEfeRegCBS'], 'alíquota efetiva sem a suspensão, cClassTribReg 000001');
  assert.equal(regular['vTribRegCBS'], 'vBC 1000.00 × pAliqEfeRegCBS 0.90 %');
  // The tributes are paid on top from 2027 on: 1000.00 × 8.40 % = 84.00, and 0.50 + 0.50
  const later = formulasOf({ dCompet: '2027-03-10' }, PUBLISHED);
  assert.equal(later['vTotNF'], 'vLiq 1000.00 + vCBS 84.00 + vIBSTot 1.00');
  assert.equal(formulasOf({ dCompet: '2026-12-31' })['vTotNF'], 'vLiq 1000.00');
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

function abroad(cPais: string) {
  const endExt = { cPais, cEndPost: '1000', xCidade: 'Lisboa', xEstProvReg: 'Lisboa' };
  return { endExt, xLgr: 'Rua A', nro: '1', xBairro: 'Centro' };
}

function withToma(end: NonNullable<Dps['toma']>['end'] | undefined): Dps {
  return { ...DPS, toma: { CPF: '52998224725', xNome: 'Maria Exemplo', ...(end === undefined ? {} : { end }) } };
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
