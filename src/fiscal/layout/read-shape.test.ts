/** The structural faults of D-12 in the shape: order, repetition, namespace, spelling, and many mistakes at once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BASE,
  dpsIn,
  dpsOf,
  edited,
  elementOf,
  faultsIn,
  faultsOf,
  GIBSCBS,
  inShort,
  OBRA_END,
  only,
  PISCOFINS,
  TRIBMUN,
  told,
  treeOf,
} from '../../../test/support/faults.ts';
import fc from '../../../test/support/seed.ts';
import type { Fault } from '../fault.ts';
import { exampleXml } from '../rules/example.ts';
import type { Patch } from '../rules/rule.ts';
import { TOMADOR_NO_EXTERIOR } from '../rules/toma.ts';
import { isSpellingOf, readDps } from './read.ts';
import { type Elemento, locate } from './tree.ts';

/** The example with an element moved before another one. */
function moved(name: string, before: string, patch: Patch = {}): string {
  const xml = exampleXml(patch);
  const [element] = elementOf(name).exec(xml)!;
  return xml.replace(element, '').replace(new RegExp(`^ *${before}`, 'm'), (target) => element + target);
}

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
