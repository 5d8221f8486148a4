/**
 * The structural faults of D-12, one kind at a time. A valid DPS with one mistake has one fault, at the place of the mistake, with its
 * remedy. The code is that of the specification and the decisions.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../test/support/seed.ts';
import { readXml } from '../../documents/xml.ts';
import { decimal } from '../decimal.ts';
import type { Fault } from '../fault.ts';
import { exampleXml } from '../rules/example.ts';
import type { Patch } from '../rules/rule.ts';
import { TOMADOR_NO_EXTERIOR } from '../rules/toma.ts';
import type { Dps } from './dps.ts';
import { isSpellingOf, readDps } from './read.ts';
import { type Elemento, locate } from './tree.ts';

const BASE = '/DPS/infDPS';

function treeOf(xml: string): Elemento {
  const reading = readXml(Buffer.from(xml));
  assert.ok('root' in reading, `not XML: ${'fault' in reading ? reading.fault.mensagem : ''}`);
  return reading.root;
}

function faultsIn(xml: string): readonly Fault[] {
  const reading = readDps(treeOf(xml));
  return 'faults' in reading ? reading.faults : [];
}

const faultsOf = (patch: Patch): readonly Fault[] => faultsIn(exampleXml(patch));

const told = (faults: readonly Fault[]): string =>
  faults.map(({ codigo, xpath, mensagem }) => `${codigo} ${xpath}: ${mensagem}`).join(' | ') || 'no fault';

const inShort = (faults: readonly Fault[]): string[] => faults.map(({ codigo, xpath }) => `${codigo} ${xpath}`);

function dpsIn(xml: string): Dps {
  const reading = readDps(treeOf(xml));
  assert.ok('dps' in reading, 'faults' in reading ? told(reading.faults) : '');
  return reading.dps;
}

const dpsOf = (patch: Patch): Dps => dpsIn(exampleXml(patch));

/** The only fault; `at` is below infDPS, unless it begins with a slash. */
function only(faults: readonly Fault[], codigo: string, at: string): Fault {
  const xpath = at.startsWith('/') ? at : at === '' ? BASE : `${BASE}/${at}`;
  assert.deepEqual(inShort(faults), [`${codigo} ${xpath}`], told(faults));
  const [fault] = faults;
  assert.match(fault!.mensagem, /\S.*\.$/, 'a message is a sentence');
  return fault!;
}

/** The example with a piece of its text replaced; the piece must occur. */
function edited(from: string | RegExp, to: string, patch: Patch = {}): string {
  const xml = exampleXml(patch);
  const other = xml.replace(from, to);
  assert.notEqual(other, xml, `nothing to replace: ${from}`);
  return other;
}

/** The whole element, with its line. */
const elementOf = (name: string): RegExp => new RegExp(`^ *<${name}>(?:[^<]*|\\n[\\s\\S]*?\\n *)</${name}>\\n`, 'm');

/** The example with an element moved before another one. */
function moved(name: string, before: string, patch: Patch = {}): string {
  const xml = exampleXml(patch);
  const [element] = elementOf(name).exec(xml)!;
  return xml.replace(element, '').replace(new RegExp(`^ *${before}`, 'm'), (target) => element + target);
}

const OBRA: Patch = { 'serv/cServ/cTribNac': '070201', 'serv/obra/cCIB': '12345678' };
const OBRA_END: Patch = {
  'serv/cServ/cTribNac': '070201',
  'serv/obra/end/CEP': '01001000',
  'serv/obra/end/xLgr': 'Praça da Sé',
  'serv/obra/end/nro': '1',
  'serv/obra/end/xBairro': 'Sé',
};
const PISCOFINS = 'valores/trib/tribFed/piscofins';
const TRIBMUN = 'valores/trib/tribMun';
const GIBSCBS = 'IBSCBS/valores/trib/gIBSCBS';

describe('a right document', () => {
  test('has no fault, and is what its text says', () => {
    const dps = dpsOf({});
    assert.equal(dps.tpAmb, '2');
    assert.equal(dps.prest.CNPJ, '11222333000181');
    assert.equal(dps.valores.vServPrest.vServ, decimal('1000.00'));
    assert.equal(dps.valores.trib.tribMun.pAliq, decimal('2.00'));
    assert.equal(dps.serie, undefined, 'left to us (D-17)');
    assert.equal(dps.toma?.end?.endExt, undefined);
  });

  test('may bring series and number (D-17), any identifier of DPS and digits (D-16), and a schema location', () => {
    assert.deepEqual(dpsOf({ serie: '00001', nDPS: '999999999999999' }).nDPS, '999999999999999');
    assert.deepEqual(faultsOf({ '@Id': 'DPS1' }), []);
    const located = edited(
      '<DPS ',
      '<DPS xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:x x.xsd" ',
    );
    assert.deepEqual(faultsIn(located), []);
  });
});

describe('an element that the layout does not have: E0010', () => {
  test('an invented one, with those that there are', () => {
    const fault = only(faultsOf({ '+serv/zzInventado': '1' }), 'E0010', 'serv/zzInventado');
    assert.equal(fault.encontrado, '<zzInventado>');
    assert.match(fault.mensagem, /ou use um dos que existem em serv, listados em esperado no primeiro destes erros/);
    for (const name of ['locPrest', 'cServ', 'comExt', 'obra', 'infoCompl']) assert.ok(fault.esperado?.includes(name));
  });

  test('one that stands elsewhere, with its place', () => {
    const fault = only(faultsOf({ '+prest/cTribNac': '010101' }), 'E0010', 'prest/cTribNac');
    assert.match(fault.mensagem, /serv\/cServ\/cTribNac/);
  });

  test('one that is misspelt, with the right name to paste, and not missing as well', () => {
    for (const [right, wrong] of [
      ['serv/cServ/cNBS', 'serv/cServ/cNbs'],
      ['serv/cServ/cNBS', 'serv/cServ/cNBSS'],
      ['tpEmit', 'tpEmt'],
      ['cLocEmi', 'CLOCEMI'],
      [`${TRIBMUN}/tpRetISSQN`, `${TRIBMUN}/tpRetISQN`],
    ] as const) {
      const text = right === 'serv/cServ/cNBS' ? '115021000' : '1';
      const name = right.split('/').at(-1)!;
      const [, indent] = new RegExp(`( *)<${name}>`).exec(exampleXml())!;
      const tag = wrong.split('/').at(-1)!;
      const inPlace = exampleXml().replace(elementOf(name), `${indent}<${tag}>${text}</${tag}>\n`);
      const fault = only(faultsIn(inPlace), 'E0010', wrong);
      assert.equal(fault.correcao, `<${name}>${text}</${name}>`);
      // The renamed element would be out of order at the end of its group.
      if (name === 'tpRetISSQN' || name === 'cNBS') continue;
      assert.equal(only(faultsOf({ [right]: null, [`+${wrong}`]: text }), 'E0010', wrong).correcao, undefined);
    }
  });

  test('a group that is misspelt, and nothing that stands in it', () => {
    for (const [name, wrong] of [
      ['toma', 'tomador'],
      ['prest', 'Prest'],
      ['valores', 'valor'],
    ] as const) {
      const text = exampleXml().replaceAll(new RegExp(`^    <(/?)${name}>`, 'gm'), `    <$1${wrong}>`);
      only(faultsIn(text), 'E0010', wrong);
    }
  });

  test('infDPS itself', () => {
    only(faultsIn(exampleXml().replaceAll('infDPS', 'infDps')), 'E0010', '/DPS/infDps');
  });

  test('beside infDPS only a signature may stand', () => {
    only(faultsIn(edited('</DPS>', '<Outro>1</Outro></DPS>')), 'E0010', '/DPS/Outro');
    only(faultsIn(edited('</DPS>', '<Signature>1</Signature></DPS>')), 'E0010', '/DPS/Signature');
    const signature = '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>';
    assert.deepEqual(faultsIn(edited('</DPS>', `${signature}</DPS>`)), []);
    only(faultsIn(edited('</DPS>', `${signature.repeat(3)}</DPS>`)), 'E203', '/DPS/Signature[2]');
  });

  test('an attribute', () => {
    const fault = only(faultsIn(edited('<serv>', '<serv lingua="pt">')), 'E0010', 'serv/@lingua');
    assert.equal(fault.encontrado, 'pt');
    only(faultsIn(edited('<tpAmb>', '<tpAmb a="1">')), 'E0010', 'tpAmb/@a');
    only(faultsIn(edited('<infDPS ', '<infDPS versao="1" ')), 'E0010', '/DPS/infDPS/@versao');
    only(faultsIn(edited('<DPS ', '<DPS Id="x" ')), 'E0010', '/DPS/@Id');
    only(faultsIn(edited('<serv>', '<serv xml:lang="pt">')), 'E0010', 'serv/@lang');
  });
});

describe('the tags of earlier layouts (Versioning 4): E0010 with the right form, and nothing missing besides', () => {
  test('serv/cMunPrest is serv/locPrest/cLocPrestacao', () => {
    const patch = { 'serv/locPrest/cLocPrestacao': null, '+serv/cMunPrest': '3550308' } as const;
    assert.equal(only(faultsOf(patch), 'E0010', 'serv/cMunPrest').correcao, undefined, 'locPrest is the first of serv');
    const inPlace = exampleXml().replace(elementOf('locPrest'), '<cMunPrest>3550308</cMunPrest>');
    const fault = only(faultsIn(inPlace), 'E0010', 'serv/cMunPrest');
    assert.match(fault.mensagem, /serv\/locPrest\/cLocPrestacao/);
    assert.equal(fault.esperado, 'serv/locPrest/cLocPrestacao');
    assert.equal(fault.correcao, '<locPrest><cLocPrestacao>3550308</cLocPrestacao></locPrest>');
    // The existing group leaves nothing to paste in the place of the tag.
    const beside = only(faultsOf({ '+serv/cMunPrest': '3550308' }), 'E0010', 'serv/cMunPrest');
    assert.equal(beside.correcao, undefined);
  });

  test('serv/cMunInc is infNFSe/cLocIncid, which is not sent', () => {
    const fault = only(faultsOf({ '+serv/cMunInc': '3550308' }), 'E0010', 'serv/cMunInc');
    assert.match(fault.mensagem, /infNFSe\/cLocIncid/);
    assert.match(fault.mensagem, /não se envia/);
    assert.equal(fault.correcao, '', 'there is nothing to write in its place');
  });

  test('tom is toma', () => {
    const renamed = exampleXml().replace('<toma>', '<tom>').replace('</toma>', '</tom>');
    const fault = only(faultsIn(renamed), 'E0010', 'tom');
    assert.match(fault.mensagem, /\btoma\b/);
    assert.equal(fault.esperado, 'toma');
  });

  test('xEmail is email, wherever it stands', () => {
    for (const [parent, before] of [
      ['prest', '<regTrib>'],
      ['toma', '</toma>'],
    ] as const) {
      const fault = only(faultsIn(edited(before, `<xEmail>a@b.br</xEmail>${before}`)), 'E0010', `${parent}/xEmail`);
      assert.match(fault.mensagem, /\bemail\b/);
      assert.equal(fault.correcao, '<email>a@b.br</email>');
    }
  });

  test('in a group that has no email xEmail is told where it belongs, and nothing is offered to paste', () => {
    for (const group of ['toma/end', 'toma/end/endNac', 'serv', 'prest/regTrib'] as const) {
      const fault = only(faultsOf({ [`+${group}/xEmail`]: 'a@b.br' }), 'E0010', `${group}/xEmail`);
      const place = group === 'serv' ? 'prest/email ou toma/email ou interm/email' : `${group.split('/')[0]}/email`;
      assert.ok(fault.mensagem.endsWith(`o nome certo é email, e o lugar dele é ${place}.`), fault.mensagem);
      assert.equal(fault.esperado, place);
      assert.equal(fault.correcao, undefined);
    }
    const lost = only(
      faultsOf({ 'serv/cServ/xDescServ': null, '+toma/end/xDescServ': 'Aula' }),
      'E0010',
      'toma/end/xDescServ',
    );
    assert.match(lost.mensagem, /está em serv\/cServ\/xDescServ/);
  });

  test('a work, an event and a property have no municipality in their address', () => {
    const work = { ...OBRA_END, '+serv/obra/end/cMun': '3550308' };
    const fault = only(faultsOf(work), 'E0010', 'serv/obra/end/cMun');
    assert.match(fault.mensagem, /retire-o; a obra não tem município/);
    assert.equal(fault.correcao, '');
    const endNac = '<endNac><cMun>3550308</cMun><CEP>01001000</CEP></endNac>';
    const national = exampleXml(OBRA_END).replace(/(<obra>[\s\S]*?)<CEP>01001000<\/CEP>/, `$1${endNac}`);
    const inWork = only(faultsIn(national), 'E0010', 'serv/obra/end/endNac');
    assert.match(inWork.mensagem, /CEP direto em end; a obra não tem município/);
  });

  test('serv/xDescServ is serv/cServ/xDescServ', () => {
    const fault = only(
      faultsOf({ 'serv/cServ/xDescServ': null, '+serv/xDescServ': 'Aula' }),
      'E0010',
      'serv/xDescServ',
    );
    assert.match(fault.mensagem, /serv\/cServ/);
    assert.equal(fault.esperado, 'serv/cServ/xDescServ');
    only(faultsOf({ '+serv/xDescServ': 'Aula' }), 'E0010', 'serv/xDescServ');
  });

  test('what else is missing is still said', () => {
    const patch: Patch = { 'serv/locPrest/cLocPrestacao': null, '+serv/cMunPrest': '3550308', 'serv/cServ/cNBS': null };
    assert.deepEqual(inShort(faultsOf(patch)).toSorted(), [
      `E0010 ${BASE}/serv/cMunPrest`,
      `E002 ${BASE}/serv/cServ/cNBS`,
    ]);
  });
});

describe('a group without anything in it: E0003 (D-34)', () => {
  for (const [path, inside] of [
    [`${TRIBMUN}/BM`, 'nBM, vRedBCBM, pRedBCBM'],
    ['valores/trib/tribFed', 'piscofins, vRetCP, vRetIRRF, vRetCSLL'],
    ['serv/infoCompl', 'idDocTec, docRef, xInfComp'],
    ['valores/vDescCondIncond', 'vDescIncond, vDescCond'],
  ] as const) {
    test(path, () => {
      const name = path.split('/').at(-1)!;
      const fault = only(faultsOf({ [path]: '' } as Patch), 'E0003', path);
      assert.equal(fault.mensagem, `O grupo ${name} está vazio. Preencha-o ou retire-o: grupo vazio não é aceito.`);
      assert.equal(fault.esperado, `ao menos um de: ${inside}`);
    });
  }

  test('of one that must hold something it is told what is missing, as ever', () => {
    for (const [path, missed] of [
      [`${TRIBMUN}/exigSusp`, ['tpSusp', 'nProcesso']],
      ['valores/trib/tribFed/piscofins', ['CST']],
      ['serv/comExt', 'mdPrestacao vincPrest tpMoeda vServMoeda mecAFComexP mecAFComexT movTempBens'.split(' ')],
    ] as const) {
      const faults = faultsOf({ [path]: '' } as Patch);
      assert.deepEqual(
        faults.map(({ xpath }) => xpath),
        missed.map((name) => `${BASE}/${path}/${name}`),
      );
      for (const { codigo } of faults) assert.ok(['E002', 'E1235'].includes(codigo));
    }
  });
});

describe('what is wrong with a value is said with what is right (E0001, E0002, E0003)', () => {
  for (const [path, sent, message] of [
    ['tpAmb', '3', 'tpAmb está fora dos valores aceitos: um de 1, 2.'],
    ['dCompet', '1999-12-31', 'dCompet está fora do período aceito: data AAAA-MM-DD, de 2000 a 2099.'],
    ['dCompet', '2100-01-01', 'dCompet está fora do período aceito: data AAAA-MM-DD, de 2000 a 2099.'],
    ['dCompet', '2026-13-01', 'dCompet tem um mês que não existe (13).'],
    ['dCompet', '2026-02-30', 'dCompet tem um dia que não existe: o mês 02/2026 tem 28 dias.'],
    ['dCompet', 'hoje', 'dCompet não é uma data no formato pedido: data AAAA-MM-DD, de 2000 a 2099.'],
    ['dCompet', '05/10/2026', 'dCompet não é uma data no formato pedido. Envie 2026-10-05.'],
    [
      'cLocEmi',
      '355030',
      'cLocEmi tem 6 caracteres, e o campo pede 7. Esperado: código IBGE do município, 7 algarismos.',
    ],
    [
      'serv/cServ/cTribNac',
      '0',
      'cTribNac tem 1 caractere, e o campo pede 6. Esperado: código de tributação nacional, 6 algarismos.',
    ],
    ['serv/cServ/cTribNac', '01.01.01', 'cTribNac tem 8 caracteres, e o campo pede 6. Envie 010101.'],
    ['toma/xNome', 'x'.repeat(301), 'xNome tem 301 caracteres, e o campo aceita de 1 a 300.'],
    ['toma/end/xLgr', ' Praça da Sé', 'xLgr começa ou termina com espaço. Envie "Praça da Sé".'],
    ['valores/vServPrest/vServ', '1.000,00', 'vServ não é um número decimal. Envie 1000.00.'],
    [`${TRIBMUN}/pAliq`, '100.01', 'pAliq está acima do máximo: alíquota em percentual com duas casas, de 0 a 100.00.'],
    ['serv/cServ/cNBS', '', 'cNBS está vazio. Informe o valor: código NBS, 9 algarismos, sem pontuação.'],
  ] as const) {
    test(`${path} ${JSON.stringify(sent.slice(0, 20))}`, () => {
      const [fault, ...others] = faultsOf({ [path]: sent });
      assert.deepEqual(others, []);
      assert.equal(fault!.mensagem, message);
    });
  }

  test('a case number with points is offered without them, in the message too', () => {
    const base: Patch = { [`${TRIBMUN}/exigSusp/tpSusp`]: '1' };
    const [fault] = faultsOf({ ...base, [`${TRIBMUN}/exigSusp/nProcesso`]: '1234567-89.2026.8.26.0100' });
    assert.match(fault!.mensagem, / Envie 000000000012345678920268260100\.$/);
  });

  test('series and number: any five digits, and no zeros before a number', () => {
    for (const serie of ['90000', '99999', '00000']) assert.equal(dpsOf({ serie, nDPS: '1' }).serie, serie);
    const [fault] = faultsOf({ serie: '1', nDPS: '007' });
    assert.equal(fault!.mensagem, 'nDPS vai sem zeros à esquerda. Envie 7.');
    assert.match(fault!.esperado!, /sem zeros à esquerda/);
    const [none] = faultsOf({ serie: '1', nDPS: '0' });
    assert.match(none!.mensagem, /sem zeros à esquerda/);
  });

  test('a postal code has letters, digits, hyphens and spaces', () => {
    const at = 'toma/end/endExt/cEndPost';
    for (const sent of ['1100-148', 'SW1A 1AA', 'D02X285', '1100-', ' 1100 '])
      assert.deepEqual(faultsOf({ ...TOMADOR_NO_EXTERIOR, [at]: sent }), []);
    for (const sent of ['1100_148', 'É100', '- -']) {
      const fault = only(faultsOf({ ...TOMADOR_NO_EXTERIOR, [at]: sent }), 'E0003', at);
      assert.match(fault.mensagem, /1 a 11 letras sem acento, algarismos, hífens ou espaços/);
    }
  });
});

describe('what the service writes or does not receive: E0010', () => {
  test('dhEmi, in its national place and elsewhere', () => {
    const dhEmi = '<dhEmi>2026-10-05T10:15:30-03:00</dhEmi>';
    for (const before of ['<verAplic>', '<tpAmb>', '<prest>']) {
      const fault = only(faultsIn(edited(before, `${dhEmi}${before}`)), 'E0010', 'dhEmi');
      assert.match(fault.mensagem, /serviço/);
      assert.match(fault.mensagem, /dCompet/);
    }
  });

  test('vISSQN, and what else is computed', () => {
    for (const parent of [TRIBMUN, 'valores']) {
      const fault = only(faultsOf({ [`+${parent}/vISSQN`]: '20.00' }), 'E0010', `${parent}/vISSQN`);
      assert.match(fault.mensagem, /calculad/);
    }
    for (const name of ['vBC', 'vLiq', 'vISSQNRet']) {
      only(faultsOf({ [`+valores/${name}`]: '20.00' }), 'E0010', `valores/${name}`);
    }
  });

  test('xPed and gItemPed', () => {
    const base: Patch = { 'serv/infoCompl/xInfComp': 'Contrato 12' };
    only(faultsOf({ ...base, '+serv/infoCompl/xPed': '1' }), 'E0010', 'serv/infoCompl/xPed');
    const items = edited('<xInfComp>', '<gItemPed><xItemPed>1</xItemPed></gItemPed><xInfComp>', base);
    only(faultsIn(items), 'E0010', 'serv/infoCompl/gItemPed');
  });

  test('groups of the layout 1.00', () => {
    for (const name of ['lsadppu', 'explRod']) {
      only(faultsIn(edited('</serv>', `<${name}><a>1</a></${name}></serv>`)), 'E0010', `serv/${name}`);
    }
  });
});

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

describe('what is missing: E002', () => {
  for (const path of [
    'tpAmb',
    'verAplic',
    'dCompet',
    'tpEmit',
    'cLocEmi',
    'prest',
    'prest/regTrib',
    'prest/regTrib/opSimpNac',
    'prest/regTrib/regEspTrib',
    'toma/xNome',
    'toma/end/endNac/CEP',
    'toma/end/xLgr',
    'toma/end/nro',
    'toma/end/xBairro',
    'serv',
    'serv/locPrest',
    'serv/cServ',
    'serv/cServ/cTribNac',
    'serv/cServ/xDescServ',
    'serv/cServ/cNBS',
    'valores',
    'valores/vServPrest',
    'valores/trib',
    'valores/trib/tribMun',
    `${TRIBMUN}/tribISSQN`,
    `${TRIBMUN}/tpRetISSQN`,
    'valores/trib/totTrib',
  ] as const) {
    test(path, () => {
      const fault = only(faultsOf({ [path]: null }), 'E002', path);
      assert.ok(fault.mensagem.includes(path.split('/').at(-1)!), fault.mensagem);
    });
  }

  test('infDPS', () => {
    only(faultsIn('<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"/>'), 'E002', '/DPS/infDPS');
  });

  test('nothing of what may be left out', () => {
    const optional: Patch = { toma: null, [`${TRIBMUN}/pAliq`]: null, 'prest/xNome': null, IBSCBS: null };
    assert.deepEqual(faultsOf(optional), []);
    const filled: Patch = { 'IBSCBS/finNFSe': null, 'IBSCBS/cIndOp': null, 'IBSCBS/indDest': null };
    assert.deepEqual(faultsOf(filled), [], 'only CST and cClassTrib are asked of a sender (D-15)');
    assert.deepEqual(faultsOf({ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/mdic': null }), [], 'D-83');
  });

  test('all that is missing, in one answer', () => {
    const faults = faultsOf({ tpAmb: null, 'serv/cServ/cNBS': null, 'valores/trib/totTrib': null });
    assert.deepEqual(inShort(faults).toSorted(), [
      `E002 ${BASE}/serv/cServ/cNBS`,
      `E002 ${BASE}/tpAmb`,
      `E002 ${BASE}/valores/trib/totTrib`,
    ]);
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

describe('other choices: one of their members', () => {
  test('two of them: E203', () => {
    only(
      faultsOf({ 'serv/locPrest/cLocPrestacao': '3550308', 'serv/locPrest/cPaisPrestacao': 'PT' }),
      'E203',
      'serv/locPrest/cPaisPrestacao',
    );
    only(faultsOf({ 'valores/vDedRed/vDR': '1.00', 'valores/vDedRed/pDR': '1.00' }), 'E203', 'valores/vDedRed/vDR');
    only(faultsOf({ 'prest/CPF': '52998224725' }), 'E203', 'prest/CPF');
    const both = faultsOf({ [`${TRIBMUN}/BM/vRedBCBM`]: '1.00', [`${TRIBMUN}/BM/pRedBCBM`]: '1.00' });
    only(both, 'E203', `${TRIBMUN}/BM/pRedBCBM`);
  });

  test('none of them: E002 where one is due, nothing where none may be', () => {
    only(faultsOf({ 'prest/CNPJ': null }), 'E002', 'prest');
    only(faultsIn(edited('<trib>', '<vDedRed></vDedRed><trib>')), 'E002', 'valores/vDedRed');
    assert.deepEqual(faultsOf({ [`${TRIBMUN}/BM/nBM`]: '35503080100001' }), []);
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

describe('the order of elements: E203', () => {
  for (const [name, before, at, first, then] of [
    ['tpAmb', '<verAplic>', undefined, '', ''],
    ['tpAmb', '<dCompet>', 'tpAmb', '', ''],
    ['tpAmb', '<tpEmit>', 'tpAmb', 'tpAmb', 'verAplic'],
    ['prest', '<serv>', 'prest', '', ''],
    ['prest', '</infDPS>', 'prest', 'prest', 'toma'],
    ['IBSCBS', '<tpAmb>', 'IBSCBS', '', ''],
    ['xNome', '<CNPJ>', 'prest/xNome', '', ''],
    ['opSimpNac', '</regTrib>', 'prest/regTrib/opSimpNac', '', ''],
    ['xDescServ', '<cTribNac>', 'serv/cServ/xDescServ', '', ''],
    ['pAliq', '<tpRetISSQN>', `${TRIBMUN}/pAliq`, '', ''],
    ['pAliq', '<tribISSQN>', `${TRIBMUN}/pAliq`, '', ''],
    ['vServPrest', '</valores>', 'valores/vServPrest', '', ''],
    ['CST', '</gIBSCBS>', `${GIBSCBS}/CST`, '', ''],
  ] as const) {
    test(
      at === undefined ? `${name} where it belongs is no fault` : `${name} before ${before}: one fault, at ${at}`,
      () => {
        const faults = faultsIn(moved(name, before));
        if (at === undefined) return assert.deepEqual(faults, []);
        assert.equal(faults.length, 1, told(faults));
        const [fault] = faults;
        assert.equal(fault!.codigo, 'E203');
        assert.equal(fault!.xpath, [BASE, ...at.split('/').slice(0, -1)].join('/'), 'the group is to be put right');
        // The message may call either of two swapped neighbours the wrong one.
        assert.match(fault!.mensagem, /\S+ deve vir (antes|depois) de \S+/);
        if (first !== '') assert.ok(fault!.mensagem.includes(`${first} deve vir antes de ${then}`), fault!.mensagem);
        const right = fault!.esperado!.split(', ');
        assert.deepEqual(right.toSorted(), fault!.encontrado!.split(', ').toSorted());
        assert.ok(right.includes(name));
      },
    );
  }

  test('the order of the federal taxes (specification, tribFed)', () => {
    const federal: Patch = {
      [`${PISCOFINS}/CST`]: '01',
      'valores/trib/tribFed/vRetCP': '1.00',
      'valores/trib/tribFed/vRetIRRF': '1.00',
      'valores/trib/tribFed/vRetCSLL': '1.00',
    };
    assert.deepEqual(faultsOf(federal), []);
    for (const [name, before] of [
      ['piscofins', '</tribFed>'],
      ['vRetCSLL', '<piscofins>'],
    ] as const) {
      const { mensagem } = only(faultsIn(moved(name, before, federal)), 'E203', 'valores/trib/tribFed');
      assert.match(mensagem, new RegExp(`em tribFed: ${name} deve vir`));
    }
  });

  test('the order of an address abroad', () => {
    only(faultsIn(moved('cPais', '</endExt>', TOMADOR_NO_EXTERIOR)), 'E203', 'toma/end/endExt');
  });

  test('two moved elements of a group are one fault, which names both', () => {
    const xml = moved('tpAmb', '<prest>').replace(elementOf('IBSCBS'), '');
    const [element] = elementOf('IBSCBS').exec(exampleXml())!;
    const faults = faultsIn(xml.replace('    <verAplic>', `${element}    <verAplic>`));
    assert.deepEqual(inShort(faults), [`E203 ${BASE}`]);
    assert.match(
      faults[0]!.mensagem,
      /^Ordem errada em infDPS: .*IBSCBS deve vir depois de \w+; tpAmb deve vir antes de/,
    );
  });

  test('both orders are read where the tables of the specification list another without asserting it (D-12)', () => {
    const values: Patch = { 'valores/vDedRed/vDR': '1.00', 'valores/vDescCondIncond/vDescIncond': '1.00' };
    assert.deepEqual(faultsOf(values), []);
    const swapped = moved('vDedRed', '<vDescCondIncond>', values);
    assert.notEqual(swapped, exampleXml(values));
    assert.deepEqual(dpsIn(swapped).valores, dpsOf(values).valores);
    const obra: Patch = { 'serv/cServ/cTribNac': '070201', 'serv/obra/cObra': '9', 'serv/obra/inscImobFisc': '1' };
    assert.deepEqual(faultsOf(obra), []);
    const behind = moved('inscImobFisc', '</obra>', obra);
    assert.notEqual(behind, exampleXml(obra));
    assert.deepEqual(dpsIn(behind).serv.obra, dpsOf(obra).serv.obra);
  });
});

describe('an element that stands more than once: E203', () => {
  test('is one fault, however often and wherever it stands', () => {
    const twice = (copies: number, before: string): string =>
      edited(new RegExp(`^ *${before}`, 'm'), `${'<dCompet>2026-10-05</dCompet>'.repeat(copies)}${before}`);
    for (const before of ['<dCompet>', '<tpEmit>', '<tpAmb>', '<serv>', '</infDPS>']) {
      for (const copies of [1, 4]) {
        const fault = only(faultsIn(twice(copies, before)), 'E203', 'dCompet[2]');
        assert.match(fault.mensagem, new RegExp(`${copies + 1} vezes`));
      }
    }
  });

  test('a group is one too, and what stands in the second is not read', () => {
    const [toma] = elementOf('toma').exec(exampleXml())!;
    const wrong = toma.replace('52998224725', 'x');
    only(faultsIn(edited(toma, toma + wrong)), 'E203', 'toma[2]');
  });

  test('more than a list has room for', () => {
    const key = '35503081211222333000181000000000004226101234567890';
    const list = (count: number): string =>
      edited('<indDest>', `<gRefNFSe>${`<refNFSe>${key}</refNFSe>`.repeat(count)}</gRefNFSe><indDest>`);
    assert.deepEqual(faultsIn(list(99)), []);
    only(faultsIn(list(100)), 'E203', 'IBSCBS/gRefNFSe/refNFSe[100]');
    only(faultsIn(list(500)), 'E203', 'IBSCBS/gRefNFSe/refNFSe[100]');
  });

  test('the place of a wrong one in a list is told from 1', () => {
    const key = '35503081211222333000181000000000004226101234567890';
    const list = `<gRefNFSe><refNFSe>${key}</refNFSe><refNFSe>1</refNFSe></gRefNFSe>`;
    only(faultsIn(edited('<indDest>', `${list}<indDest>`)), 'E0003', 'IBSCBS/gRefNFSe/refNFSe[2]');
  });

  test('two infDPS', () => {
    const [body] = /<infDPS[\s\S]*<\/infDPS>/.exec(exampleXml())!;
    only(faultsIn(edited('</DPS>', `${body}${body}</DPS>`)), 'E203', '/DPS/infDPS[2]');
  });
});

describe('text and elements in the wrong place: E203', () => {
  test('text between the elements of a group', () => {
    for (const [name, at] of [
      ['serv', 'serv'],
      ['gIBSCBS', GIBSCBS],
      ['infDPS', '/DPS/infDPS'],
      ['DPS', '/DPS'],
    ] as const) {
      const fault = only(faultsIn(edited(`</${name}>`, `solto</${name}>`)), 'E203', at);
      assert.equal(fault.encontrado, 'solto');
    }
  });

  test('an element in a value', () => {
    const fault = only(faultsIn(edited('<xDescServ>', '<xDescServ><b>x</b>')), 'E203', 'serv/cServ/xDescServ');
    assert.equal(fault.encontrado, '<b>');
  });

  test('another root', () => {
    only(
      faultsIn(exampleXml().replaceAll('DPS ', 'NFSe ').replace('</DPS>', '</NFSe>').replace('<infNFSe ', '<infDPS ')),
      'E203',
      '/NFSe',
    );
  });
});

describe('the namespace: E203, once for what inherits it', () => {
  const NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';

  test('of the document', () => {
    const fault = only(faultsIn(edited(` xmlns="${NAMESPACE}"`, '')), 'E203', '/DPS');
    assert.equal(fault.esperado, NAMESPACE);
    only(faultsIn(edited(NAMESPACE, 'http://www.abrasf.org.br/nfse.xsd')), 'E203', '/DPS');
  });

  test('of infDPS, of a group, of a value', () => {
    only(faultsIn(edited('<infDPS ', '<infDPS xmlns="urn:outro" ')), 'E203', '/DPS/infDPS');
    only(faultsIn(edited('<serv>', '<serv xmlns="urn:outro">')), 'E203', 'serv');
    only(faultsIn(edited('<serv>', '<serv xmlns="">')), 'E203', 'serv');
    const fault = only(faultsIn(edited('<tpAmb>', '<tpAmb xmlns="urn:outro">')), 'E203', 'tpAmb');
    assert.equal(fault.encontrado, 'urn:outro');
  });

  test('written as a prefix is the same', () => {
    const prefixed = exampleXml()
      .replace('xmlns=', 'xmlns:n=')
      .replaceAll(/<(\/?)(?=[a-zA-Z])/g, '<$1n:');
    assert.deepEqual(dpsIn(prefixed), dpsOf({}));
  });
});

describe('spellings', () => {
  const other = (name: string, alias: string, patch: Patch = {}): string =>
    exampleXml(patch).replace(`<${name}>`, `<${alias}>`).replace(`</${name}>`, `</${alias}>`);
  const benefit: Patch = { [`${TRIBMUN}/BM/pRedBCBM`]: '10.00' };

  test('IBSCBS and ibscbs, BM and bM are the same (D-15)', () => {
    assert.deepEqual(dpsIn(other('IBSCBS', 'ibscbs')), dpsOf({}));
    assert.deepEqual(dpsIn(other('BM', 'bM', benefit)), dpsOf(benefit));
  });

  test('a fault in the other spelling is told at the national path', () => {
    const wrong = other('IBSCBS', 'ibscbs', { [`${GIBSCBS}/CST`]: '1' });
    only(faultsIn(wrong), 'E0003', `${GIBSCBS}/CST`);
    assert.equal(locate(treeOf(wrong), `${BASE}/${GIBSCBS}/CST`, isSpellingOf).text, '1');
  });

  test('one beside the other is a repetition', () => {
    const [group] = elementOf('IBSCBS').exec(exampleXml())!;
    only(
      faultsIn(edited(group, group + group.replaceAll('IBSCBS>', 'ibscbs>').replaceAll('gibscbs', 'gIBSCBS'))),
      'E203',
      'IBSCBS[2]',
    );
  });

  test('the mec codes with one digit or two (D-83)', () => {
    const comExt = dpsOf({
      ...TOMADOR_NO_EXTERIOR,
      'serv/comExt/mecAFComexP': '8',
      'serv/comExt/mecAFComexT': '9',
    }).serv.comExt;
    assert.deepEqual([comExt?.mecAFComexP, comExt?.mecAFComexT], ['08', '09']);
    assert.equal(dpsOf({ ...TOMADOR_NO_EXTERIOR, 'serv/comExt/mecAFComexT': '26' }).serv.comExt?.mecAFComexT, '26');
  });

  test('a case number of 20 digits is one of 30 (specification, exigSusp)', () => {
    const base: Patch = { [`${TRIBMUN}/exigSusp/tpSusp`]: '1' };
    const at = `${TRIBMUN}/exigSusp/nProcesso`;
    const padded = '000000000012345678920268260100';
    assert.equal(padded.length, 30);
    for (const sent of ['12345678920268260100', padded]) {
      assert.equal(dpsOf({ ...base, [at]: sent }).valores.trib.tribMun.exigSusp?.nProcesso, padded);
    }
    const fault = only(faultsOf({ ...base, [at]: '1234567-89.2026.8.26.0100' }), 'E0003', at);
    assert.equal(fault.correcao, `<nProcesso>${padded}</nProcesso>`);
  });
});

describe('many mistakes', () => {
  const MANY: Patch = {
    tpAmb: '3',
    dCompet: '05/10/2026',
    cLocEmi: '1',
    'toma/CPF': null,
    'serv/cServ/cNBS': null,
    '+serv/cMunInc': '1',
    'valores/vServPrest/vServ': 'mil',
    [`${GIBSCBS}/CST`]: null,
  };

  test('are all told at once, in the order in which the document would be read', () => {
    assert.deepEqual(inShort(faultsOf(MANY)), [
      `E0002 ${BASE}/tpAmb`,
      `E0001 ${BASE}/dCompet`,
      `E0003 ${BASE}/cLocEmi`,
      `E0188 ${BASE}/toma`,
      `E002 ${BASE}/serv/cServ/cNBS`,
      `E0010 ${BASE}/serv/cMunInc`,
      `E0001 ${BASE}/valores/vServPrest/vServ`,
      `E802 ${BASE}/${GIBSCBS}/CST`,
    ]);
  });

  test('more than two hundred are counted, not listed', () => {
    const faults = faultsIn(edited('</infDPS>', `${'<zzz/>'.repeat(300)}</infDPS>`));
    assert.equal(faults.length, 201);
    assert.ok(faults.slice(0, 200).every(({ codigo }) => codigo === 'E0010'));
    assert.match(faults.at(-1)!.mensagem, /\b100\b/);
    assert.equal(faultsIn(edited('</infDPS>', `${'<zzz/>'.repeat(200)}</infDPS>`)).length, 200);
    const outside = faultsIn(
      `<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">${'<zzz/>'.repeat(1000)}</DPS>`,
    );
    assert.equal(outside.length, 201);
  });

  test('of any number stay within a fixed amount of work and of answer', { timeout: 600_000 }, () => {
    const COUNT = 50_000;
    const alternating = Array.from(
      { length: COUNT },
      (_, place) => `<${place % 2 ? 'tpAmb' : 'tpEmit'}>1</${place % 2 ? 'tpAmb' : 'tpEmit'}>`,
    );
    for (const flood of [
      '<tpAmb>1</tpAmb>'.repeat(COUNT),
      alternating.join(''),
      '<zzz/>'.repeat(COUNT),
      '<toma/>'.repeat(COUNT),
      '<tpAmb xmlns="urn:x"/>'.repeat(COUNT),
    ]) {
      const faults = faultsIn(edited('</infDPS>', `${flood}</infDPS>`));
      assert.ok(faults.length > 0 && faults.length <= 201);
      assert.ok(JSON.stringify(faults).length < 1_000_000);
    }
  });
});

describe('whatever becomes of a valid document', () => {
  type Growing = { -readonly [K in keyof Elemento]: K extends 'children' ? Growing[] : Elemento[K] };
  const copy = (element: Elemento): Growing => ({ ...element, children: element.children.map(copy) });
  const flat = (element: Growing): Growing[] => [element, ...element.children.flatMap(flat)];

  const FULL: Patch = {
    ...TOMADOR_NO_EXTERIOR,
    ...OBRA_END,
    serie: '1',
    nDPS: '2',
    'toma/fone': '1133334444',
    'serv/infoCompl/xInfComp': 'Contrato',
    'valores/vDescCondIncond/vDescIncond': '1.00',
    'valores/vDedRed/pDR': '1.00',
    [`${TRIBMUN}/BM/pRedBCBM`]: '10.00',
    [`${PISCOFINS}/CST`]: '01',
    'valores/trib/tribFed/vRetIRRF': '1.00',
  };
  const VALID = treeOf(exampleXml(FULL));
  const SIZE = flat(copy(VALID)).length;
  const NAMES = [
    ...new Set(flat(copy(VALID)).map(({ name }) => name)),
    'zzz',
    'ibscbs',
    'bM',
    'tom',
    'xEmail',
    'constructor',
    '__proto__',
    'toString',
  ];
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom(
      '',
      ' ',
      '0',
      '1',
      '-1',
      '1,00',
      '1.000,00',
      ' 2 ',
      '2026-10-05',
      '05/10/2026',
      '010101',
      '01.01.01',
      '😀',
      'a – b',
      '1'.repeat(400),
      'x\ny',
      '…',
      '\u0000',
      '\ud800',
    ),
  );
  const place = fc.nat(SIZE - 1);
  const mutation = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), place, text }),
    fc.record({ kind: fc.constant('rename' as const), place, name: fc.constantFrom(...NAMES) }),
    fc.record({ kind: fc.constant('remove' as const), place }),
    fc.record({ kind: fc.constant('repeat' as const), place, times: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('move' as const), place, to: place }),
    fc.record({
      kind: fc.constant('attribute' as const),
      place,
      name: fc.constantFrom('Id', 'versao', 'x', '__proto__'),
      text,
    }),
    fc.record({ kind: fc.constant('namespace' as const), place, namespace: fc.constantFrom('', 'urn:x') }),
  );
  type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never;

  function mutate(root: Growing, one: Mutation): void {
    const all = flat(root);
    const target = all[one.place % all.length]!;
    const parent = all.find(({ children }) => children.includes(target));
    const at = parent?.children.indexOf(target) ?? -1;
    switch (one.kind) {
      case 'text':
        target.text = one.text;
        break;
      case 'rename':
        target.name = one.name;
        break;
      case 'remove':
        parent?.children.splice(at, 1);
        break;
      case 'repeat':
        parent?.children.splice(at, 0, ...Array.from({ length: one.times }, () => copy(target)));
        break;
      case 'move': {
        const other = all[one.to % all.length]!;
        if (parent === undefined || flat(target).includes(other)) break;
        parent.children.splice(at, 1);
        other.children.push(target);
        break;
      }
      case 'attribute':
        target.attributes = [...target.attributes, { name: one.name, namespace: '', value: one.text }];
        break;
      case 'namespace':
        target.namespace = one.namespace;
    }
  }

  test('it is read or refused, never thrown over, and always in the same way', () => {
    assert.ok('dps' in readDps(VALID));
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 6 }), (mutations) => {
        const root = copy(VALID);
        for (const one of mutations) mutate(root, one);
        const reading = readDps(root);
        assert.deepEqual(readDps(root), reading);
        if ('dps' in reading) return;
        assert.ok(reading.faults.length > 0);
        for (const { codigo, xpath, mensagem, encontrado = '' } of reading.faults) {
          assert.match(codigo, /^E\d{3,4}$/);
          assert.match(xpath, /^\/[^/]/);
          assert.match(mensagem, /\S\.$/);
          assert.doesNotMatch(mensagem, /undefined|\[object|NaN/);
          assert.ok(encontrado.length <= 1000);
          assert.ok(locate(root, xpath, isSpellingOf));
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('a correction that is offered for a value makes the value right', () => {
    const leaves = flat(copy(VALID)).filter(({ children }) => children.length === 0).length;
    const tried = new Set<string>();
    fc.assert(
      fc.property(fc.nat(leaves - 1), text, fc.constantFrom('', ' ', '.', '-', '/'), (which, sent, mark) => {
        const root = copy(VALID);
        const leaf = flat(root).filter(({ children }) => children.length === 0)[which]!;
        const right = leaf.text;
        for (const value of [
          sent,
          `${right}${mark}`,
          `${mark}${right}`,
          `${right.slice(0, 1)}${mark}${right.slice(1)}`,
          `0${right}`,
        ]) {
          leaf.text = value;
          const before = readDps(root);
          if ('dps' in before) continue;
          assert.equal(before.faults.length, 1, told(before.faults));
          const [{ correcao, xpath, mensagem }] = before.faults as [Fault];
          // A correction that removes is tested in the text, with all other corrections.
          if (correcao === undefined || correcao === '') continue;
          const pasted = treeOf(correcao);
          assert.equal(pasted.name, leaf.name);
          leaf.text = pasted.text;
          tried.add(leaf.name);
          const after = readDps(root);
          assert.ok(
            'dps' in after,
            `${xpath} ${JSON.stringify(value)} (${mensagem}): ${correcao}: ${'faults' in after ? told(after.faults) : ''}`,
          );
        }
      }),
      { numRuns: 1000 },
    );
    assert.ok(tried.size > 10, `corrections were seen for ${[...tried].join(', ')} only`);
  });
});
