/** The values that the groups of the service accept, at their limits too, beyond the examples of their rules. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAccepted, EXAMPLE_FACTS, lawOverExample } from '../../../test/support/law.ts';
import type { Patch } from './rule.ts';
import { TOMADOR_NO_EXTERIOR } from './toma.ts';
import { avisosOn } from './trial.ts';

/** The one fault of an example: code and path below `infDPS`. */
function onlyFault(patch: Patch): { readonly fault: string; readonly mensagem: string; readonly esperado: string } {
  const faults = lawOverExample(patch);
  assert.equal(faults.length, 1, JSON.stringify(faults));
  const [{ codigo, xpath, mensagem, esperado = '' }] = faults as [(typeof faults)[number]];
  return { fault: `${codigo} ${xpath.replace('/DPS/infDPS/', '')}`, mensagem, esperado };
}

/** The remarks with a code, in the words of the answer. */
function remarks(codigo: string, patch: Patch): readonly string[] {
  return avisosOn(patch)
    .filter((aviso) => aviso.codigo === codigo)
    .map(({ mensagem }) => mensagem);
}

const numbers = (first: number, last: number): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, step) => String(first + step));

describe('the lists of comExt', () => {
  // Specification, "comExt enumerations": how many values each has, from 1 on.
  const LISTS: readonly (readonly [name: string, last: number])[] = [
    ['mdPrestacao', 4],
    ['vincPrest', 6],
    ['mecAFComexP', 8],
    ['mecAFComexT', 26],
    ['movTempBens', 3],
  ];
  const DECLARACOES: Readonly<Record<string, Patch>> = {
    'movTempBens 2': { 'serv/comExt/nDI': '2600000011' },
    'movTempBens 3': { 'serv/comExt/nRE': '260000000001' },
  };

  for (const [name, last] of LISTS) {
    const at = `serv/comExt/${name}` as const;

    test(`${name} takes 1 to ${last}`, () => {
      for (const value of numbers(1, last)) {
        assertAccepted({ ...TOMADOR_NO_EXTERIOR, [at]: value, ...DECLARACOES[`${name} ${value}`] });
      }
    });

    test(`${name} takes neither 0 nor ${last + 1}, and says so`, () => {
      const zero = onlyFault({ ...TOMADOR_NO_EXTERIOR, [at]: '0' });
      assert.equal(zero.fault, `E0002 ${at}`);
      assert.match(zero.mensagem, name === 'vincPrest' ? /sem vínculo.*use 6/ : /reservado ao compartilhamento/);
      const above = onlyFault({ ...TOMADOR_NO_EXTERIOR, [at]: String(last + 1) });
      assert.equal(above.fault, `E0002 ${at}`);
      assert.match(above.esperado, /[a-z]{3}/, 'what the values mean');
    });
  }

  test('the mechanisms are read with one digit and with two (D-83)', () => {
    for (const name of ['mecAFComexP', 'mecAFComexT'] as const) {
      for (const value of numbers(1, 8)) {
        assertAccepted({ ...TOMADOR_NO_EXTERIOR, [`serv/comExt/${name}`]: value.padStart(2, '0') });
      }
      assert.equal(
        onlyFault({ ...TOMADOR_NO_EXTERIOR, [`serv/comExt/${name}`]: '00' }).fault,
        `E0002 serv/comExt/${name}`,
      );
    }
  });

  test('a group without one of its seven is E1235; mdic may be left out (D-83)', () => {
    const seven = Object.keys(TOMADOR_NO_EXTERIOR).filter((path) => path.startsWith('serv/comExt/'));
    assert.equal(seven.length, 7);
    for (const path of seven) {
      assert.equal(onlyFault({ ...TOMADOR_NO_EXTERIOR, [path]: null }).fault, `E1235 ${path}`);
      assert.equal(onlyFault({ ...TOMADOR_NO_EXTERIOR, [path]: '' }).fault, `E1235 ${path}`);
    }
    assertAccepted({ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/mdic': '1' });
  });
});

describe('the currency of comExt', () => {
  const inCurrency = (tpMoeda: string): Patch => ({ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/tpMoeda': tpMoeda });

  test('the codes that the specification names are taken without a remark', () => {
    for (const tpMoeda of ['220', '978']) {
      assertAccepted(inCurrency(tpMoeda));
      assert.deepEqual(remarks('E0002', inCurrency(tpMoeda)), []);
    }
  });

  test('an unknown one is named, and the catalog with it', () => {
    const { fault, mensagem } = onlyFault(inCurrency('999'));
    assert.equal(fault, 'E0002 serv/comExt/tpMoeda');
    assert.match(mensagem, /999.*USD é 220.*catalogo\/moedas/);
  });

  test('a number of ISO 4217 is told with the code that was meant', () => {
    // ISO 4217 and the table of the central bank, one beside the other.
    for (const [iso, sigla, codigo] of [
      ['986', 'BRL', '790'],
      ['826', 'GBP', '540'],
      ['392', 'JPY', '470'],
      ['756', 'CHF', '425'],
    ] as const) {
      assert.match(onlyFault(inCurrency(iso)).mensagem, new RegExp(`${iso}.*${sigla}.*${codigo}`));
    }
  });

  test('840 is the Mauritian rupee: taken, with a remark that says what the dollar is', () => {
    const [remark, ...others] = remarks('E0002', inCurrency('840'));
    assert.match(remark ?? '', /840.*Maur.*MUR.*USD.*220/);
    assert.deepEqual(others, []);
  });

  test('a currency that no longer circulates is taken, with a remark that says why', () => {
    assert.match(remarks('E0002', inCurrency('779'))[0] ?? '', /HRK.*euro em 2023/);
  });
});

describe('the group of the work', () => {
  const WORK: Patch = { 'serv/cServ/cTribNac': '070201' };
  const ADDRESS: Patch = {
    'serv/obra/end/CEP': '01001000',
    'serv/obra/end/xLgr': 'Praça da Sé',
    'serv/obra/end/nro': '1',
    'serv/obra/end/xBairro': 'Sé',
  };
  // Specification, "serv/obra group": sizes in characters.
  const SIZES: readonly (readonly [leaf: keyof Patch, max: number, base: Patch])[] = [
    ['serv/obra/cObra', 30, { 'serv/obra/inscImobFisc': '1' }],
    ['serv/obra/inscImobFisc', 30, { 'serv/obra/cCIB': '12345678' }],
    ['serv/obra/end/xLgr', 255, ADDRESS],
    ['serv/obra/end/nro', 60, ADDRESS],
    ['serv/obra/end/xCpl', 156, ADDRESS],
    ['serv/obra/end/xBairro', 60, ADDRESS],
  ];
  for (const [leaf, max, base] of SIZES) {
    test(`${leaf} has at most ${max} characters`, () => {
      assertAccepted({ ...WORK, ...base, [leaf]: 'x'.repeat(max) });
      assert.equal(onlyFault({ ...WORK, ...base, [leaf]: 'x'.repeat(max + 1) }).fault, `E0003 ${leaf}`);
    });
  }

  test('the address abroad: cEndPost up to 11, xCidade and xEstProvReg up to 60', () => {
    const abroad: Patch = {
      ...WORK,
      'serv/locPrest/cPaisPrestacao': 'PT',
      ...Object.fromEntries(Object.entries(TOMADOR_NO_EXTERIOR).filter(([path]) => path.startsWith('serv/comExt/'))),
      'valores/trib/tribMun/tribISSQN': '3',
      'valores/trib/tribMun/pAliq': null,
      'serv/obra/end/endExt/cEndPost': '1100-148',
      'serv/obra/end/endExt/xCidade': 'Lisboa',
      'serv/obra/end/endExt/xEstProvReg': 'Lisboa',
      'serv/obra/end/xLgr': 'Rua Augusta',
      'serv/obra/end/nro': '10',
      'serv/obra/end/xBairro': 'Baixa',
    };
    for (const [name, max] of Object.entries({ cEndPost: 11, xCidade: 60, xEstProvReg: 60 })) {
      const leaf = `serv/obra/end/endExt/${name}`;
      assertAccepted({ ...abroad, [leaf]: 'x'.repeat(max) });
      assert.equal(onlyFault({ ...abroad, [leaf]: 'x'.repeat(max + 1) }).fault, `E0003 ${leaf}`);
      assert.equal(onlyFault({ ...abroad, [leaf]: null }).fault, `E002 ${leaf}`);
    }
  });

  test('the CIB has exactly eight digits (E0373), the CEP too', () => {
    for (const cCIB of ['1234567', '123456789', '1234567A']) {
      assert.equal(onlyFault({ ...WORK, 'serv/obra/cCIB': cCIB }).fault, 'E0373 serv/obra/cCIB');
    }
    assert.equal(onlyFault({ ...WORK, ...ADDRESS, 'serv/obra/end/CEP': '0100100' }).fault, 'E0003 serv/obra/end/CEP');
  });

  test('any two identifications, and none, are E0011; inscImobFisc is no alternative', () => {
    const cCIB: Patch = { 'serv/obra/cCIB': '12345678' };
    const cObra: Patch = { 'serv/obra/cObra': '900012345678', 'serv/obra/inscImobFisc': '1' };
    for (const two of [
      { ...cCIB, ...cObra },
      { ...cCIB, ...ADDRESS },
      { ...cObra, ...ADDRESS },
    ]) {
      assert.match(onlyFault({ ...WORK, ...two }).fault, /^E0011 /);
    }
    assert.match(onlyFault({ ...WORK, 'serv/obra/inscImobFisc': '1' }).fault, /^E0011 /);
    assertAccepted({ ...WORK, ...cCIB, 'serv/obra/inscImobFisc': '1' });
  });

  test('has no municipality: a cMun in its address is an element of another group', () => {
    assert.equal(
      onlyFault({ ...WORK, ...ADDRESS, '+serv/obra/end/cMun': '3550308' }).fault,
      'E0010 serv/obra/end/cMun',
    );
  });

  test('is demanded by each of the thirteen codes and taken by 99.01.01 (E0370, E0372)', () => {
    const thirteen = '070201 070202 070401 070501 070502 070601 070602 070701 070801 071701 071901 141403 141404'.split(
      ' ',
    );
    for (const cTribNac of thirteen) {
      assert.equal(onlyFault({ 'serv/cServ/cTribNac': cTribNac }).fault, 'E0370 serv/obra');
      assertAccepted({ 'serv/cServ/cTribNac': cTribNac, 'serv/obra/cCIB': '12345678' });
    }
    for (const cTribNac of ['070101', '070901', '141401', '250101']) {
      assert.equal(
        onlyFault({ 'serv/cServ/cTribNac': cTribNac, 'serv/obra/cCIB': '12345678' }).fault,
        'E0372 serv/obra',
      );
    }
  });
});

describe('the group of complementary information', () => {
  // Specification, "serv/infoCompl group": sizes in characters.
  for (const [name, max] of Object.entries({ idDocTec: 40, docRef: 255, xInfComp: 2000 })) {
    test(`${name} has at most ${max} characters`, () => {
      const leaf = `serv/infoCompl/${name}`;
      assertAccepted({ [leaf]: 'x'.repeat(max) });
      assert.equal(onlyFault({ [leaf]: 'x'.repeat(max + 1) }).fault, `E0003 ${leaf}`);
    });
  }

  test('xPed and gItemPed are not received', () => {
    for (const name of ['xPed', 'gItemPed']) {
      const { fault } = onlyFault({ 'serv/infoCompl/docRef': 'Contrato 1', [`+serv/infoCompl/${name}`]: '1' });
      assert.equal(fault, `E0010 serv/infoCompl/${name}`);
    }
  });
});

describe('the NBS', () => {
  test('is asked of everybody, with nine digits', () => {
    assert.equal(onlyFault({ 'serv/cServ/cNBS': null }).fault, 'E002 serv/cServ/cNBS');
    assert.equal(onlyFault({ 'serv/cServ/cNBS': '11502100' }).fault, 'E0003 serv/cServ/cNBS');
  });

  test('of the national list that no note may carry is named with the reason', () => {
    assert.match(onlyFault({ 'serv/cServ/cNBS': '104032900' }).mensagem, /passageiros.*não está na lista nacional/);
  });

  test('of another service is remarked upon with those that the annex has (D-84)', () => {
    // Anexo VIII, 01.01: 1.1502.10.00 is the first of its eleven; 1.0101.11.00 is of construction.
    const [remark, ...others] = remarks('E0316', { 'serv/cServ/cNBS': '101011100' });
    assert.match(remark ?? '', /101011100.*010101.*115021000.* e mais \d+\. /);
    assert.deepEqual(others, []);
    assert.deepEqual(remarks('E0316', {}), []);
  });

  test('with an indicator or a classification that the annex does not have beside it is remarked upon', () => {
    // Anexo VIII, 01.01 with 1.1502.10.00: one row, 100301 with 000001.
    const other: Patch = { 'IBSCBS/cIndOp': '030101' };
    assert.match(remarks('E0316', other)[0] ?? '', /030101 com cClassTrib 000001.*cIndOp 100301 com cClassTrib 000001/);
    // A missing value is not compared.
    assert.deepEqual(remarks('E0316', { 'IBSCBS/cIndOp': null }), []);
  });

  test('of an export or an immune provider is told by its NBS alone (D-84)', () => {
    // 410004 (exports), 410007 (immune) and 100302 are in none of its rows; 400001 is, of transport. 221001 is not, and is of leases.
    const classify = (cClassTrib: string): Patch => ({
      'IBSCBS/valores/trib/gIBSCBS/CST': cClassTrib.slice(0, 3),
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': cClassTrib,
    });
    for (const silent of [classify('410004'), classify('410007'), { 'IBSCBS/cIndOp': '100302' } as const]) {
      assert.deepEqual(remarks('E0316', silent), []);
    }
    assert.deepEqual(remarks('E0316', { ...classify('410004'), 'IBSCBS/cIndOp': '100302' }), []);
    assert.match(remarks('E0316', { ...classify('410004'), 'serv/cServ/cNBS': '101011100' })[0] ?? '', /NBS 101011100/);
    for (const other of ['400001', '221001']) {
      assert.match(remarks('E0316', classify(other))[0] ?? '', new RegExp(`cClassTrib ${other}`));
    }
    assert.match(remarks('E0316', { ...classify('410004'), 'IBSCBS/cIndOp': '030101' })[0] ?? '', /cIndOp 030101/);
  });

  test('is not remarked upon where the annex has no NBS, as in 99.01.01', () => {
    const none: Patch = {
      'serv/cServ/cTribNac': '990101',
      'valores/trib/tribMun/tribISSQN': '4',
      'valores/trib/tribMun/pAliq': null,
    };
    assert.deepEqual(remarks('E0316', none), []);
  });
});

test('a municipal code is told with the service that it belongs to', () => {
  const facts = {
    ...EXAMPLE_FACTS,
    servicoMunicipal: () => ({ codigo: '001', descricao: 'Programação', cTribNac: '010201' }),
  };
  const [fault] = lawOverExample({ 'serv/cServ/cTribMun': '001' }, facts);
  assert.equal(fault?.codigo, 'E402');
  assert.match(fault?.mensagem ?? '', /001 \("Programação"\).*010201.*010101/);
  assert.deepEqual(lawOverExample({ 'serv/cServ/cTribMun': '001', 'serv/cServ/cTribNac': '010201' }, facts), []);
});
