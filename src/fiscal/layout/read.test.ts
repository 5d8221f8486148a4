/**
 * The structural faults of D-12, one kind at a time. A valid DPS with one mistake has one fault, at the place of the mistake, with its
 * remedy. The code is that of the specification and the decisions. Here: elements, groups and what the layout does not have.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BASE,
  dpsOf,
  edited,
  elementOf,
  faultsIn,
  faultsOf,
  inShort,
  OBRA_END,
  only,
  TRIBMUN,
} from '../../../test/support/faults.ts';
import { decimal } from '../decimal.ts';
import { exampleXml } from '../rules/example.ts';
import type { Patch } from '../rules/rule.ts';
import { TOMADOR_NO_EXTERIOR } from '../rules/toma.ts';

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
    ['cLocEmi', '355030', 'cLocEmi tem 6 caracteres, e o campo pede 7. Esperado: código IBGE do município, 7 dígitos.'],
    [
      'serv/cServ/cTribNac',
      '0',
      'cTribNac tem 1 caractere, e o campo pede 6. Esperado: código de tributação nacional, 6 dígitos.',
    ],
    ['serv/cServ/cTribNac', '01.01.01', 'cTribNac tem 8 caracteres, e o campo pede 6. Envie 010101.'],
    ['toma/xNome', 'x'.repeat(301), 'xNome tem 301 caracteres, e o campo aceita de 1 a 300.'],
    ['toma/end/xLgr', ' Praça da Sé', 'xLgr começa ou termina com espaço. Envie "Praça da Sé".'],
    ['valores/vServPrest/vServ', '1.000,00', 'vServ não é um número decimal. Envie 1000.00.'],
    [`${TRIBMUN}/pAliq`, '100.01', 'pAliq está acima do máximo: alíquota em percentual com duas casas, de 0 a 100.00.'],
    ['serv/cServ/cNBS', '', 'cNBS está vazio. Informe o valor: código NBS, 9 dígitos, sem pontuação.'],
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
      assert.match(fault.mensagem, /1 a 11 letras sem acento, dígitos, hífens ou espaços/);
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
