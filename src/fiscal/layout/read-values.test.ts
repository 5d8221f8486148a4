/** The structural faults of D-12 in a value: type, range, length, pattern, and the codes of single elements. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BASE,
  dpsOf,
  edited,
  faultsIn,
  faultsOf,
  GIBSCBS,
  inShort,
  OBRA_END,
  only,
  PISCOFINS,
  TRIBMUN,
} from '../../../test/support/faults.ts';
import type { Fault } from '../fault.ts';
import { exampleXml } from '../rules/example.ts';
import type { Patch } from '../rules/rule.ts';
import { TOMADOR_NO_EXTERIOR } from '../rules/toma.ts';

const OBRA: Patch = { 'serv/cServ/cTribNac': '070201', 'serv/obra/cCIB': '12345678' };

describe('a wrong type: E0001', () => {
  test('a thousand that may be one is not corrected to either, where both are in range', () => {
    for (const [sent, codigo, says] of [
      ['1.000', 'E0003', 'vServ pode ser tanto 1000.00 como 1.00.'],
      ['12.500', 'E0003', 'vServ pode ser tanto 12500.00 como 12.50.'],
      ['1,000', 'E0001', 'vServ pode ser tanto 1000.00 como 1.00.'],
      ['R$ 1.000', 'E0001', 'vServ pode ser tanto 1000.00 como 1.00.'],
    ] as const) {
      const fault = only(faultsOf({ 'valores/vServPrest/vServ': sent }), codigo, 'valores/vServPrest/vServ');
      assert.equal(fault.correcao, undefined, sent);
      assert.ok(fault.mensagem.startsWith(says), fault.mensagem);
    }
    for (const [path, sent, mended] of [
      ['valores/vServPrest/vServ', '0.500', '<vServ>0.50</vServ>'],
      ['valores/vServPrest/vServ', '1000.000', '<vServ>1000.00</vServ>'],
      ['valores/trib/tribMun/pAliq', '2.000', '<pAliq>2.00</pAliq>'],
      ['valores/trib/tribMun/pAliq', '2,500', '<pAliq>2.50</pAliq>'],
    ] as const) {
      const [fault] = faultsOf({ [path]: sent }) as readonly Fault[];
      assert.equal(fault!.correcao, mended, sent);
    }
  });

  test('text that is no decimal', () => {
    for (const [sent, mended] of [
      ['mil', undefined],
      ['1.000,00', '1000.00'],
      ['1000,5', '1000.50'],
      ['R$ 1000,00', '1000.00'],
      ['1,000.00', '1000.00'],
      ['1,234,567.8', '1234567.80'],
      ['1,00.00', undefined],
      ['1e3', undefined],
      ['NaN', undefined],
      ['1.000.000', undefined],
    ] as const) {
      const fault = only(faultsOf({ 'valores/vServPrest/vServ': sent }), 'E0001', 'valores/vServPrest/vServ');
      assert.equal(fault.encontrado, sent);
      assert.equal(fault.correcao, mended && `<vServ>${mended}</vServ>`, sent);
    }
  });

  test('text that is no date, and a day that does not exist', () => {
    for (const [sent, mended] of [
      ['05/10/2026', '2026-10-05'],
      ['20261005', '2026-10-05'],
      ['2026-10-05T10:00:00-03:00', '2026-10-05'],
      ['2026-11-01T01:30:00Z', '2026-10-31'],
      ['2026-10-31T23:30:00-05:00', '2026-11-01'],
      ['2026-11-01T01:30:00', '2026-11-01'],
      ['2026-11-01T01:30:00 e algo', undefined],
      ['hoje', undefined],
      ['2026-10-5', '2026-10-05'],
      ['5/10/2026', '2026-10-05'],
      ['2026/10/05', '2026-10-05'],
      ['2026-13-01', undefined],
      ['2026-13-1', undefined],
      ['2026-02-29', undefined],
      ['31/02/2026', undefined],
      ['1999-12-31', undefined],
    ] as const) {
      const fault = only(faultsOf({ dCompet: sent }), 'E0001', 'dCompet');
      assert.equal(fault.correcao, mended && `<dCompet>${mended}</dCompet>`, sent);
    }
    assert.deepEqual(faultsOf({ dCompet: '2028-02-29' }), []);
  });
});

describe('outside an enumeration or a range: E0002', () => {
  for (const [path, values] of [
    ['tpAmb', ['0', '3', 'A', '11']],
    ['tpEmit', ['0', '4']],
    ['prest/regTrib/opSimpNac', ['0', '4']],
    ['prest/regTrib/regEspTrib', ['7', '8', '10']],
    [`${TRIBMUN}/tribISSQN`, ['0', '5', '9']],
    [`${TRIBMUN}/tpRetISSQN`, ['0', '4']],
    ['valores/trib/totTrib/indTotTrib', ['1']],
    ['IBSCBS/finNFSe', ['1']],
    ['IBSCBS/indDest', ['2']],
  ] as const) {
    test(`${path}: ${values.join(', ')}`, () => {
      for (const value of values) {
        const fault = only(faultsOf({ [path]: value }), 'E0002', path);
        assert.equal(fault.encontrado, value);
        assert.match(fault.esperado!, /um de: /);
      }
    });
  }

  test('a code with a zero too many or too few is offered as it is in the list', () => {
    for (const [path, sent, mended] of [
      [`${TRIBMUN}/tribISSQN`, '01', '1'],
      ['prest/regTrib/opSimpNac', '002', '2'],
      ['IBSCBS/indDest', '00', '0'],
      [`${TRIBMUN}/tribISSQN`, '09', undefined],
    ] as const) {
      const { correcao } = only(faultsOf({ [path]: sent }), 'E0002', path);
      const name = path.split('/').at(-1);
      assert.equal(correcao, mended && `<${name}>${mended}</${name}>`, sent);
    }
  });

  test('a rate above 100; up to it the specification wins over the national pattern (D-12)', () => {
    for (const value of ['100.01', '101', '1000.00', '99999999999999999999.00']) {
      only(faultsOf({ [`${TRIBMUN}/pAliq`]: value }), 'E0002', `${TRIBMUN}/pAliq`);
    }
    for (const value of ['0', '0.00', '5.00', '10', '99.99', '100', '100.00']) {
      assert.deepEqual(faultsOf({ [`${TRIBMUN}/pAliq`]: value }), [], value);
    }
  });

  test('a negative amount', () => {
    only(faultsOf({ 'valores/vDedRed/vDR': '-1.00' }), 'E0002', 'valores/vDedRed/vDR');
    only(faultsOf({ [`${TRIBMUN}/pAliq`]: '-2.00' }), 'E0002', `${TRIBMUN}/pAliq`);
  });

  test('the zeros of comExt, reserved to the ADN; vincPrest points to 6 (D-83)', () => {
    for (const name of ['mdPrestacao', 'mecAFComexP', 'mecAFComexT', 'movTempBens']) {
      const fault = only(
        faultsOf({ ...TOMADOR_NO_EXTERIOR, [`serv/comExt/${name}`]: '0' }),
        'E0002',
        `serv/comExt/${name}`,
      );
      assert.match(fault.mensagem, /ADN/);
    }
    const fault = only(
      faultsOf({ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/vincPrest': '0' }),
      'E0002',
      'serv/comExt/vincPrest',
    );
    assert.match(fault.mensagem, /use 6/);
    only(faultsOf({ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/vincPrest': '9' }), 'E0002', 'serv/comExt/vincPrest');
    for (const value of ['00', '9', '09', '99']) {
      only(faultsOf({ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/mecAFComexP': value }), 'E0002', 'serv/comExt/mecAFComexP');
    }
    only(faultsOf({ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/mecAFComexT': '27' }), 'E0002', 'serv/comExt/mecAFComexT');
  });
});

describe('a wrong length or pattern: E0003', () => {
  for (const [path, sent, mended, base] of [
    ['cLocEmi', '355030', undefined],
    ['cLocEmi', '35503080', undefined],
    ['serv/cServ/cTribNac', '1.01', undefined],
    ['serv/cServ/cTribNac', '01.01.01', '010101'],
    ['serv/cServ/cNBS', '1.1502.10.00', '115021000'],
    ['serv/cServ/cNBS', '11502100', undefined],
    ['serv/cServ/cTribMun', '1', undefined],
    ['toma/end/endNac/CEP', '01001-000', '01001000'],
    ['toma/end/endNac/cMun', 'SP', undefined],
    ['toma/CPF', '529.982.247-25', '52998224725'],
    ['toma/CPF', '52998224726', undefined],
    ['toma/CPF', '11111111111', undefined],
    ['prest/CNPJ', '11.222.333/0001-81', '11222333000181'],
    ['prest/CNPJ', '1122233300018', undefined],
    ['toma/fone', '(11) 3333-4444', '1133334444'],
    ['toma/fone', '12345', undefined],
    ['toma/xNome', 'x'.repeat(301), undefined],
    ['toma/email', `${'x'.repeat(80)}@`, undefined],
    ['valores/vDedRed/vDR', '10.5', '10.50'],
    ['valores/vDedRed/vDR', '10.005', undefined],
    ['valores/vDedRed/vDR', '10.500', undefined],
    ['valores/vDedRed/vDR', '0010.500', '10.50'],
    ['valores/vDedRed/vDR', '010.00', '10.00'],
    ['valores/vDedRed/vDR', '1234567890123456.00', undefined],
    [`${GIBSCBS}/CST`, '0', undefined],
    [`${GIBSCBS}/CST`, '00', '000'],
    [`${GIBSCBS}/cClassTrib`, '00001', '000001'],
    ['serv/cServ/cTribNac', '10101', '010101'],
    ['toma/end/endNac/CEP', '1001000', '01001000'],
    ['toma/end/endNac/cMun', '355030', undefined],
    [`${GIBSCBS}/cClassTrib`, '0000010', undefined],
    [`${TRIBMUN}/exigSusp/nProcesso`, '123', undefined, { [`${TRIBMUN}/exigSusp/tpSusp`]: '1' }],
    [`${TRIBMUN}/exigSusp/nProcesso`, '1'.repeat(31), undefined, { [`${TRIBMUN}/exigSusp/tpSusp`]: '1' }],
    ['serv/comExt/tpMoeda', 'USD', undefined, TOMADOR_NO_EXTERIOR],
    ['toma/NIF', 'x'.repeat(41), undefined, TOMADOR_NO_EXTERIOR],
    ['toma/end/endExt/cEndPost', 'x'.repeat(12), undefined, TOMADOR_NO_EXTERIOR],
    ['serv/infoCompl/idDocTec', 'x'.repeat(41), undefined],
    ['serv/infoCompl/docRef', 'x'.repeat(256), undefined],
    ['serv/infoCompl/xInfComp', 'x'.repeat(2001), undefined],
  ] as const satisfies readonly (readonly [string, string, string | undefined, Patch?])[]) {
    test(`${path}: ${sent.slice(0, 32)}`, () => {
      const fault = only(faultsOf({ ...(base ?? {}), [path]: sent }), 'E0003', path);
      const name = path.split('/').at(-1)!;
      assert.equal(fault.correcao, mended === undefined ? undefined : `<${name}>${mended}</${name}>`);
      assert.ok(fault.esperado);
      assert.ok(fault.encontrado!.startsWith(sent.slice(0, 60)));
      assert.ok(fault.encontrado!.length <= 100, 'a long value is not thrown back whole');
    });
  }

  test('lengths count characters, and the longest that is allowed is read', () => {
    assert.deepEqual(faultsOf({ 'toma/xNome': 'ç'.repeat(300) }), []);
    assert.deepEqual(faultsOf({ ...TOMADOR_NO_EXTERIOR, 'toma/NIF': '😀'.repeat(40) }), []);
    only(faultsOf({ ...TOMADOR_NO_EXTERIOR, 'toma/NIF': '😀'.repeat(41) }), 'E0003', 'toma/NIF');
    assert.deepEqual(faultsOf({ 'serv/infoCompl/xInfComp': 'ÿ'.repeat(2000) }), []);
  });

  test('the identifier of infDPS', () => {
    for (const id of ['42', 'DPS', 'dps42', 'DPS 42', 'NFS42']) {
      only(faultsOf({ '@Id': id }), 'E0003', '/DPS/infDPS/@Id');
    }
    only(faultsOf({ '@Id': null }), 'E002', '/DPS/infDPS/@Id');
    only(faultsOf({ '@Id': '' }), 'E002', '/DPS/infDPS/@Id');
  });

  test('an alphanumeric CNPJ is a CNPJ (D-16)', () => {
    assert.deepEqual(faultsOf({ 'toma/CPF': null, 'toma/CNPJ': '12ABC34501DE35' }), []);
    only(faultsOf({ 'toma/CPF': null, 'toma/CNPJ': '12ABC34501DE36' }), 'E0003', 'toma/CNPJ');
    only(faultsOf({ 'toma/CPF': null, 'toma/CNPJ': '12abc34501de35' }), 'E0003', 'toma/CNPJ');
  });

  test("the provider's check digits are for E101 to judge", () => {
    assert.deepEqual(faultsOf({ 'prest/CNPJ': '11222333000180' }), []);
    assert.deepEqual(faultsOf({ 'prest/CNPJ': null, 'prest/CPF': '52998224720' }), []);
  });
});

describe('codes that the specification gives to single elements', () => {
  test('E002: a series or number beyond its limits', () => {
    for (const serie of ['123456', '999999']) only(faultsOf({ serie, nDPS: '1' }), 'E002', 'serie');
    for (const nDPS of ['1234567890123456', '0', '007']) only(faultsOf({ serie: '1', nDPS }), 'E002', 'nDPS');
    only(faultsOf({ serie: '', nDPS: '1' }), 'E002', 'serie');
    only(faultsOf({ serie: '1', nDPS: '' }), 'E002', 'nDPS');
    assert.equal(faultsOf({ serie: '1', nDPS: '007' })[0]?.correcao, '<nDPS>7</nDPS>');
  });

  test('E0188: the taker has exactly one identifier', () => {
    only(faultsOf({ 'toma/CPF': null }), 'E0188', 'toma');
    for (const more of [
      { 'toma/CNPJ': '11222333000181' },
      { 'toma/NIF': 'PT1' },
      { 'toma/CNPJ': '11222333000181', 'toma/NIF': 'PT1', 'toma/cNaoNIF': '1' },
    ] satisfies Patch[]) {
      const [fault, ...others] = faultsOf(more);
      assert.deepEqual([fault?.codigo, others], ['E0188', []]);
      assert.ok(fault!.xpath.startsWith(`${BASE}/toma`));
      for (const path of Object.keys(more)) assert.ok(fault!.mensagem.includes(path.split('/')[1]!));
    }
    for (const one of [{ 'toma/CNPJ': '11222333000181' }, { 'toma/NIF': 'PT1' }, { 'toma/cNaoNIF': '0' }]) {
      assert.deepEqual(faultsOf({ 'toma/CPF': null, ...one }), []);
    }
  });

  test('E0191 and E0193: a NIF, or the reason for none, that is empty', () => {
    only(faultsOf({ ...TOMADOR_NO_EXTERIOR, 'toma/NIF': '' }), 'E0191', 'toma/NIF');
    only(faultsOf({ ...TOMADOR_NO_EXTERIOR, 'toma/NIF': null, 'toma/cNaoNIF': '' }), 'E0193', 'toma/cNaoNIF');
    only(faultsOf({ ...TOMADOR_NO_EXTERIOR, 'toma/NIF': null, 'toma/cNaoNIF': '3' }), 'E0002', 'toma/cNaoNIF');
  });

  test('E0235 and E0246: the country of an address abroad', () => {
    const at = 'toma/end/endExt/cPais';
    only(faultsOf({ ...TOMADOR_NO_EXTERIOR, [at]: null }), 'E0235', at);
    only(faultsOf({ ...TOMADOR_NO_EXTERIOR, [at]: '' }), 'E0235', at);
    only(faultsOf({ ...TOMADOR_NO_EXTERIOR, [at]: 'PRT' }), 'E0246', at);
    assert.equal(only(faultsOf({ ...TOMADOR_NO_EXTERIOR, [at]: 'pt' }), 'E0246', at).correcao, '<cPais>PT</cPais>');
    for (const name of ['cEndPost', 'xCidade', 'xEstProvReg'] as const) {
      const path = `toma/end/endExt/${name}` as const;
      only(faultsOf({ ...TOMADOR_NO_EXTERIOR, [path]: null }), 'E002', path);
    }
  });

  test('E1235: comExt is complete', () => {
    const names = ['mdPrestacao', 'vincPrest', 'tpMoeda', 'vServMoeda', 'mecAFComexP', 'mecAFComexT', 'movTempBens'];
    for (const name of names) {
      for (const text of [null, '', '  ']) {
        only(faultsOf({ ...TOMADOR_NO_EXTERIOR, [`serv/comExt/${name}`]: text }), 'E1235', `serv/comExt/${name}`);
      }
    }
  });

  test('E0011: a work has one identification; inscImobFisc is none (obra 2)', () => {
    only(faultsOf({ 'serv/obra/inscImobFisc': '123' }), 'E0011', 'serv/obra');
    const [two, ...more] = faultsOf({ ...OBRA, 'serv/obra/cObra': '9', 'serv/obra/inscImobFisc': '1' });
    assert.deepEqual([two?.codigo, more], ['E0011', []]);
    const [three, ...others] = faultsOf({ ...OBRA, ...OBRA_END, 'serv/obra/cObra': '9' });
    assert.deepEqual([three?.codigo, others], ['E0011', []]);
    for (const one of [OBRA, OBRA_END]) assert.deepEqual(faultsOf({ ...one, 'serv/obra/inscImobFisc': '1' }), []);
  });

  test('E0382: a CEP with an address abroad', () => {
    const abroad: Patch = {
      'serv/obra/end/endExt/cEndPost': '1100',
      'serv/obra/end/endExt/xCidade': 'Lisboa',
      'serv/obra/end/endExt/xEstProvReg': 'Lisboa',
    };
    const [fault, ...others] = faultsOf({ ...OBRA_END, ...abroad });
    assert.deepEqual([fault?.codigo, others], ['E0382', []]);
    assert.ok(fault!.xpath.startsWith(`${BASE}/serv/obra/end/`));
    assert.deepEqual(faultsOf({ ...OBRA_END, ...abroad, 'serv/obra/end/CEP': null }), []);
  });

  test('E0373: a CIB is eight digits', () => {
    for (const cCIB of ['1234567', '123456789', '1234567A', '']) {
      only(faultsOf({ ...OBRA, 'serv/obra/cCIB': cCIB }), 'E0373', 'serv/obra/cCIB');
      only(faultsOf({ 'IBSCBS/imovel/cCIB': cCIB }), 'E0373', 'IBSCBS/imovel/cCIB');
    }
  });

  test('E401: a service value below zero', () => {
    only(faultsOf({ 'valores/vServPrest/vServ': '-10.00' }), 'E401', 'valores/vServPrest/vServ');
    only(
      faultsOf({ 'valores/vServPrest/vServ': null, 'valores/vServPrest/vReceb': '1.00' }),
      'E002',
      'valores/vServPrest/vServ',
    );
  });

  test('E0686 and E0692: rates of PIS and COFINS above 100', () => {
    const base: Patch = { [`${PISCOFINS}/CST`]: '01' };
    for (const [name, codigo] of [
      ['pAliqPis', 'E0686'],
      ['pAliqCofins', 'E0692'],
    ] as const) {
      only(faultsOf({ ...base, [`${PISCOFINS}/${name}`]: '100.01' }), codigo, `${PISCOFINS}/${name}`);
      only(faultsOf({ ...base, [`${PISCOFINS}/${name}`]: '300' }), codigo, `${PISCOFINS}/${name}`);
      assert.deepEqual(faultsOf({ ...base, [`${PISCOFINS}/${name}`]: '100.00' }), []);
    }
    only(faultsOf({ [`${PISCOFINS}/vPis`]: '1.00' }), 'E002', `${PISCOFINS}/CST`);
  });

  test('E802: the group ibscbs has CST and cClassTrib', () => {
    for (const name of ['CST', 'cClassTrib'] as const) {
      for (const text of [null, '']) only(faultsOf({ [`${GIBSCBS}/${name}`]: text }), 'E802', `${GIBSCBS}/${name}`);
    }
    only(faultsOf({ 'IBSCBS/valores': null }), 'E802', 'IBSCBS/valores');
    const bare = exampleXml().replace(/<gIBSCBS>[\s\S]*?<\/gIBSCBS>/, '');
    only(faultsIn(bare), 'E802', GIBSCBS);
  });
});

describe('what is empty (D-34)', () => {
  test('an element that is required: E002', () => {
    for (const text of ['', ' ', '\n\t '])
      only(faultsOf({ 'serv/cServ/xDescServ': text }), 'E002', 'serv/cServ/xDescServ');
    only(faultsOf({ dCompet: '' }), 'E002', 'dCompet');
    only(faultsOf({ 'toma/CPF': '' }), 'E002', 'toma/CPF');
  });

  test('an element that may be left out: E0003, saying that it may', () => {
    const fault = only(faultsOf({ 'toma/email': '' }), 'E0003', 'toma/email');
    assert.match(fault.mensagem, /retire/);
    only(faultsIn(edited('<xBairro>', '<xCpl/><xBairro>')), 'E0003', 'toma/end/xCpl');
  });

  test("the provider's name is left to E101", () => {
    for (const text of ['', '  ']) assert.equal(dpsOf({ 'prest/xNome': text }).prest.xNome, '');
  });

  test('a group: what it must hold is missing', () => {
    assert.deepEqual(inShort(faultsIn(edited(/<regTrib>[\s\S]*?<\/regTrib>/, '<regTrib/>'))), [
      `E002 ${BASE}/prest/regTrib/opSimpNac`,
      `E002 ${BASE}/prest/regTrib/regEspTrib`,
    ]);
  });
});

/** The path of a type that cannot hold such characters. */
const TEXTO = 'serv/infoCompl/xInfComp';

describe('what the national reception cannot take (D-34): E0003 with character, code point, place and replacement', () => {
  for (const [what, sent, character, point, place, mended] of [
    ['a dash', 'Silva – Filhos', '–', 'U+2013', 7, 'Silva - Filhos'],
    ['quotes', '“Silva” e ‘Filhos’', '“', 'U+201C', 1, '"Silva" e \'Filhos\''],
    ['an ellipsis', 'Silva…', '…', 'U+2026', 6, 'Silva...'],
    ['an accent of its own', 'Jose\u0301 da Silva', '\u0301', 'U+0301', 5, 'José da Silva'],
    ['a letter with an accent that Latin-1 has not', 'Ēva', 'Ē', 'U+0112', 1, 'Eva'],
    ['an emoji', 'Bar 🍺 do Zé', '🍺', 'U+1F37A', 5, 'Bar do Zé'],
    ['a character behind an emoji counts once', '😀–', '😀', 'U+1F600', 1, '-'],
    ['a space of no width', 'Sil\u200bva', '\u200b', 'U+200B', 4, 'Silva'],
    ['the euro sign', 'Preço em €', '€', 'U+20AC', 10, 'Preço em EUR'],
  ] as const) {
    test(what, () => {
      const fault = only(faultsOf({ [TEXTO]: sent }), 'E0003', TEXTO);
      assert.ok(fault.mensagem.includes(character), fault.mensagem);
      assert.ok(fault.mensagem.includes(point), fault.mensagem);
      assert.match(fault.mensagem, new RegExp(`posição ${place}\\b`));
      assert.equal(fault.correcao, `<xInfComp>${mended}</xInfComp>`);
    });
  }

  test('the replacement is escaped, so that it can be pasted', () => {
    const fault = only(faultsOf({ [TEXTO]: 'A & B <– C' }), 'E0003', TEXTO);
    assert.equal(fault.correcao, '<xInfComp>A &amp; B &lt;- C</xInfComp>');
  });

  test('where no safe replacement is left none is offered', () => {
    assert.equal(only(faultsOf({ [TEXTO]: '北京' }), 'E0003', TEXTO).correcao, undefined);
    const long = only(faultsOf({ [TEXTO]: `${'x'.repeat(1_999)}…` }), 'E0003', TEXTO);
    assert.equal(long.correcao, undefined, 'three points would be too long');
  });

  test('every character of Latin-1 is taken', () => {
    assert.deepEqual(faultsOf({ [TEXTO]: '!"#$%&\'()*+,-./:;<=>?@[]^_`{|}~¡¢£¤¥¦§¨©ª«¬®¯°±²³´µ¶·¸¹º»¼½¾¿' }), []);
    assert.deepEqual(faultsOf({ [TEXTO]: 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ' }), []);
  });

  test('a line break or a tab', () => {
    for (const [text, point, place] of [
      ['Linha 1\nLinha 2', 'U+000A', 8],
      ['A\tB', 'U+0009', 2],
    ] as const) {
      for (const path of ['toma/end/xLgr', TEXTO, 'verAplic'] as const) {
        const fault = only(faultsOf({ [path]: text }), 'E0003', path);
        assert.ok(fault.mensagem.includes(point), fault.mensagem);
        assert.match(fault.mensagem, new RegExp(`posição ${place}\\b`));
        assert.ok(fault.correcao?.includes(text.replace(/[\n\t]/, ' ')));
      }
    }
  });

  test('a space before or behind the value, with the value without it', () => {
    for (const [path, sent, mended] of [
      [TEXTO, ' Maria', 'Maria'],
      [TEXTO, 'Maria ', 'Maria'],
      [TEXTO, '\n  Maria\n', 'Maria'],
      ['toma/end/xLgr', 'Praça da Sé ', 'Praça da Sé'],
      ['tpAmb', ' 2', '2'],
      ['tpAmb', '2\n', '2'],
      ['serv/cServ/cTribNac', ' 010101 ', '010101'],
      ['dCompet', ' 2026-10-05', '2026-10-05'],
      ['valores/vServPrest/vServ', '1000.00 ', '1000.00'],
    ] as const) {
      const name = path.split('/').at(-1)!;
      assert.equal(only(faultsOf({ [path]: sent }), 'E0003', path).correcao, `<${name}>${mended}</${name}>`, sent);
    }
  });

  test('a value that is wrong without its spaces too is not offered as right', () => {
    for (const [path, sent] of [
      ['serv/cServ/cNBS', ' 12 '],
      ['toma/CPF', ' 52998224726'],
      ['valores/vServPrest/vServ', ' mil '],
      ['dCompet', ' ontem'],
    ] as const) {
      const [fault, ...others] = faultsOf({ [path]: sent });
      assert.deepEqual(others, []);
      assert.equal(fault!.correcao, undefined, sent);
    }
  });
});

describe('what the national schema takes as it is (D-34): names, descriptions and identifiers of others', () => {
  const TEXTS = [' Maria', 'Maria ', '\nAula 1\n\t2\n', '\u00a0', 'Łódź – “😀”', 'Jose\u0301', '\u0085'];

  test('comes out as it came in', () => {
    for (const text of TEXTS) {
      const { toma, serv, prest } = dpsOf({
        'prest/IM': text,
        'toma/xNome': text,
        'toma/IM': text,
        'serv/cServ/xDescServ': text,
        'serv/infoCompl/idDocTec': text,
      });
      assert.deepEqual(
        [prest.IM, toma?.xNome, toma?.IM, serv.cServ.xDescServ, serv.infoCompl?.idDocTec],
        Array.from({ length: 5 }, () => text),
      );
    }
  });

  test('lengths count characters', () => {
    const most = '😀'.repeat(300);
    assert.equal(dpsOf({ 'toma/xNome': most }).toma?.xNome, most);
    const [fault] = faultsOf({ 'toma/xNome': `${most}😀` });
    assert.equal(fault!.mensagem, 'xNome tem 301 caracteres, e o campo aceita de 1 a 300.');
  });
});
