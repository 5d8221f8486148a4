/**
 * The JSON body of issuance (D-24). Every element of the DPS has one property. The examples of the rules have the same meaning in both
 * languages. An error is told once, with the property, the element, the place and the remedy.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../test/support/seed.ts';
import { readJson } from '../../documents/json.ts';
import { readXml } from '../../documents/xml.ts';
import { decimal } from '../decimal.ts';
import { ERRORS } from '../errors.ts';
import type { Fault } from '../fault.ts';
import { exampleJson, exampleXml } from '../rules/example.ts';
import type { Patch } from '../rules/rule.ts';
import { ALL_RULES } from '../rules/rules.ts';
import { declaredBy } from '../rules/trial.ts';
import { DECLARADOS_IBSCBS } from './corpo.ts';
import { INF_DPS } from './dps.ts';
import { campoOf, DECLARED, HOSTS, NAMES } from './plan-corpo.ts';
import { readDps } from './read.ts';
import { type CorpoContext, readCorpo } from './read-corpo.ts';
import type { Elemento } from './tree.ts';
import { elementsOf, type Item } from './vocabulary.ts';

type Json = { readonly [name: string]: unknown; ibscbs?: unknown; tomador_endereco?: unknown };

const SANDBOX: CorpoContext = { tpAmb: '2' };

const BODY = JSON.parse(exampleJson()!) as Json;

const IBSCBS = BODY.ibscbs as Json;
const ENDERECO = BODY.tomador_endereco as Json;

function readText(text: string, context = SANDBOX) {
  const document = readJson(Buffer.from(text));
  assert.ok('value' in document, 'fault' in document ? document.fault.mensagem : '');
  return readCorpo(document, context);
}

const read = (changes: Json = {}, context = SANDBOX) =>
  readText(JSON.stringify({ ...BODY, ...changes }, null, 2), context);

const told = (faults: readonly Fault[]): string =>
  faults.map(({ codigo, campo, mensagem }) => `${codigo} ${campo}: ${mensagem}`).join(' | ');

function accepted(changes: Json = {}, context = SANDBOX) {
  const reading = read(changes, context);
  assert.ok('dps' in reading, 'faults' in reading ? told(reading.faults) : '');
  return reading;
}

function faultsOf(changes: Json): readonly Fault[] {
  const reading = read(changes);
  return 'faults' in reading ? reading.faults : [];
}

function only(changes: Json, codigo: string, campo: string, xpath: string): Fault {
  const faults = faultsOf(changes);
  assert.deepEqual(
    faults.map((fault) => [fault.codigo, fault.campo, fault.xpath]),
    [[codigo, campo, xpath]],
    told(faults),
  );
  assert.match(faults[0]!.mensagem, /\S.*\.$/);
  assert.ok(faults[0]!.linha! > 0 && faults[0]!.coluna! > 0);
  return faults[0]!;
}

/** The content of a tree, without places and without spaces between elements. */
type Bare = { readonly name: string; readonly text: string; readonly children: readonly Bare[] };

function bare({ name, text, children }: Elemento): Bare {
  return { name, text: children.length > 0 ? '' : text, children: children.map(bare) };
}

const insideOf = (root: Elemento): readonly Bare[] => bare(root).children[0]!.children;

/** The leaves that a sender of REST v1 may give. */
function leavesOf(items: readonly Item[], above = ''): string[] {
  const taken = elementsOf(items).filter(({ sent }) => sent !== 'refused');
  return taken.flatMap((item) => {
    const path = above === '' ? item.name : `${above}/${item.name}`;
    return item.kind === 'leaf' ? [path] : leavesOf(item.items, path);
  });
}

describe('the table', () => {
  test('has every element of the DPS that is sent, each once; dhEmi is refused as in XML', () => {
    const paths = HOSTS.flatMap(({ path, items }) =>
      [...items.values()].flatMap((item) =>
        item.kind === 'campo' ? item.paths.map((below) => (path === '' ? below : `${path}/${below}`)) : [],
      ),
    );
    assert.equal(new Set(paths).size, paths.length, 'a path is named twice');
    assert.deepEqual(paths.toSorted(), leavesOf(INF_DPS).toSorted());
    only({ dhEmi: '2026-10-05T10:00:00-03:00' }, 'E0010', 'dhEmi', '/DPS/infDPS');
  });

  test('no object has a name twice', () => {
    for (const path of leavesOf(INF_DPS)) assert.ok(NAMES.has(path), path);
    for (const { items } of HOSTS) for (const [name, item] of items) assert.equal(name, item.name);
    const campos = [...NAMES].filter(([path]) => leavesOf(INF_DPS).includes(path)).map(([, { campo }]) => campo);
    const byDocument = campos.filter((campo) => campo.endsWith('cpf_cnpj'));
    assert.equal(new Set(campos).size, campos.length - byDocument.length / 2, 'two elements in one property');
  });

  test('has the names that the specification and the nota give', () => {
    const names =
      'serie_dps numero_dps data_competencia prestador_cpf_cnpj prestador_razao_social prestador_inscricao_municipal tomador_cpf_cnpj tomador_razao_social tomador_endereco codigo_tributacao_nacional codigo_tributacao_municipal codigo_nbs descricao_servico municipio_prestacao valor_servico tributacao_issqn aliquota_issqn retencao_issqn ibscbs municipio_incidencia valor_base_calculo valor_issqn';
    for (const name of names.split(' ')) assert.ok(HOSTS[0]!.items.has(name), name);
    const ibscbs = HOSTS.find(({ campo }) => campo === 'ibscbs')!.items;
    for (const name of ['CST', 'cClassTrib', ...Object.keys(DECLARADOS_IBSCBS)]) assert.ok(ibscbs.has(name), name);
  });

  test('names of properties are words, lower case and underscores, but for the published ones', () => {
    for (const { items } of HOSTS) {
      for (const name of items.keys()) assert.match(name, /^(?:[a-z]+(?:_[a-z]+)*|CST|cClassTrib)$/);
    }
  });

  test('tells the property of an xpath, lists counted from 0', () => {
    assert.equal(campoOf('/DPS/infDPS/toma/end/endNac/cMun'), 'tomador_endereco.codigo_municipio');
    const document = '/DPS/infDPS/valores/vDedRed/documentos/docDedRed[3]';
    assert.equal(campoOf(`${document}/vDeducaoReducao`), 'deducao_reducao.documentos[2].valor');
    assert.equal(campoOf(`${document}/fornec/CPF`), 'deducao_reducao.documentos[2].fornecedor.cpf_cnpj');
    assert.equal(campoOf('/DPS/infDPS/IBSCBS/gRefNFSe/refNFSe[1]'), 'ibscbs.notas_referenciadas[0]');
    assert.equal(campoOf('/DPS/infDPS/toma'), 'tomador_cpf_cnpj');
    assert.equal(campoOf('/DPS/infDPS/IBSCBS/valores/trib/gIBSCBS'), 'ibscbs');
    assert.equal(campoOf('/NFSe/infNFSe/IBSCBS/totCIBS/gCBS/vCBS'), 'ibscbs.total_cbs');
    assert.equal(campoOf('/NFSe/infNFSe/cLocIncid'), 'municipio_incidencia');
    for (const xpath of ['/DPS/@versao', '/DPS/infDPS/@Id', '/DPS/infDPS', '/NFSe/infNFSe/nNFSe', '']) {
      assert.equal(campoOf(xpath), undefined);
    }
  });
});

describe('one DPS in two languages', () => {
  const patches: readonly Patch[] = [
    {},
    ...ALL_RULES.flatMap(({ rejects, accepts }) => [...rejects, ...accepts]),
    ...ERRORS.flatMap(({ exemplos }) => [...(exemplos?.rejects ?? []), ...(exemplos?.accepts ?? [])]),
  ];

  test('every example is the same tree, or the same faults, as XML and as JSON', () => {
    let said = 0;
    for (const patch of patches) {
      const json = exampleJson(patch);
      if (json === undefined) continue;
      const xml = readXml(Buffer.from(exampleXml(patch)));
      assert.ok('root' in xml);
      const fromXml = readDps(xml.root);
      const fromJson = readText(json);
      const what = JSON.stringify(patch);
      if ('dps' in fromXml) {
        assert.ok('dps' in fromJson, `${what}: ${'faults' in fromJson ? told(fromJson.faults) : ''}`);
        assert.deepEqual(insideOf(fromJson.root), insideOf(xml.root), what);
        assert.deepEqual(fromJson.dps, fromXml.dps, what);
        assert.deepEqual(fromJson.declarado, declaredBy(patch), what);
      } else {
        assert.ok('faults' in fromJson, `${what} is accepted as JSON`);
        const codes = (faults: readonly Fault[]): string[] => faults.map(({ codigo }) => codigo).toSorted();
        assert.deepEqual(codes(fromJson.faults), codes(fromXml.faults), `${what}: ${told(fromJson.faults)}`);
        // A tag that no layout has stands at another place than a property that no body has.
        const isStrange = Object.keys(patch).some((path) => path.startsWith('+'));
        const places = (faults: readonly Fault[]): string[] => faults.map(({ xpath }) => xpath).toSorted();
        if (!isStrange) assert.deepEqual(places(fromJson.faults), places(fromXml.faults), what);
      }
      said += 1;
    }
    assert.ok(said > patches.length * 0.95, `${said} of ${patches.length}`);
  });

  test('what an example declares is declared under a name that exists', () => {
    const places = new Set([...DECLARED.values()].map(({ campo }) => campo));
    for (const patch of patches) {
      for (const path of Object.keys(patch)) {
        if (path.startsWith('=')) assert.ok(places.has(path.slice(1)), path);
      }
    }
  });

  test('any leaves, of any text that XML can hold', () => {
    const paths = leavesOf(INF_DPS);
    // Two members of one choice share a property, or are no document at all.
    const isDocument = (path: string): boolean => /(?:^|\/)(?:CNPJ|CPF)$/.test(path);
    const text = fc.oneof(
      fc
        .string({ unit: fc.constantFrom(...'abç09 -./"\\<&'.split('')), minLength: 1, maxLength: 12 })
        .filter((one) => one.trim() === one),
      fc.constantFrom('1', '01', '1000.00', '0', '3550308', '2026-10-05'),
    );
    const leaves = fc.uniqueArray(fc.tuple(fc.constantFrom(...paths.filter((path) => !isDocument(path))), text), {
      selector: ([path]) => path,
      maxLength: 25,
    });
    fc.assert(
      fc.property(leaves, (chosen) => {
        const patch = Object.fromEntries(chosen) as Patch;
        const json = exampleJson(patch);
        assert.ok(json !== undefined);
        const xml = readXml(Buffer.from(exampleXml(patch)));
        assert.ok('root' in xml);
        const fromXml = readDps(xml.root);
        const fromJson = readText(json);
        if ('dps' in fromXml) {
          assert.ok('dps' in fromJson);
          assert.deepEqual(fromJson.dps, fromXml.dps);
        } else {
          assert.ok('faults' in fromJson);
          const inShort = (faults: readonly Fault[]): string[] =>
            faults.map(({ codigo, xpath }) => `${codigo} ${xpath}`).toSorted();
          // A JSON decimal may have one decimal, or three of them if the last is zero: it is the same number.
          const lenient = /^[0-9]+\.[0-9]+$|^-0/;
          if (chosen.some(([, one]) => lenient.test(one))) return;
          assert.deepEqual(inShort(fromJson.faults), inShort(fromXml.faults), JSON.stringify(patch));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('values', () => {
  const vServ = (text: string) => {
    const reading = readText(JSON.stringify({ ...BODY, valor_servico: '@' }).replace('"@"', text));
    return 'dps' in reading ? reading.dps.valores.vServPrest.vServ : reading.faults;
  };

  test('amounts are read exactly, with quotes and without', () => {
    for (const text of [
      '"1000.00"',
      '1000.00',
      '1000',
      '"1000"',
      '1000.0',
      '1e3',
      '1.0E+3',
      '"1000.0"',
      '1000.000',
      '"1000.000"',
    ]) {
      assert.equal(vServ(text), decimal('1000.00'), text);
    }
    for (const text of ['1.000', '"1.0000"', '"1.0"']) assert.equal(vServ(text), decimal('1.00'), text);
    assert.equal(vServ('999999999999999.99'), decimal('999999999999999.99'));
    assert.equal(vServ('0.1'), decimal('0.10'));
  });

  const WRONG: readonly (readonly [text: string, codigo: string, says: RegExp])[] = [
    ['0.005', 'E0003', /valor_servico tem 3 casa/],
    ['1000000000000000', 'E0003', /mais de 15 dígitos/],
    ['1e30', 'E0003', /mais de 15 dígitos/],
    ['1e999999999', 'E0003', /mais de 15 dígitos/],
    ['1.5e-3', 'E0003', /tem 4 casa/],
    ['-5', 'E401', /é negativo/],
    ['-1e2', 'E401', /é negativo/],
    ['"1.000,00"', 'E0001', /não é um número decimal/],
    ['"1.000"', 'E0003', /valor_servico pode ser tanto 1000\.00 como 1\.00\./],
    ['""', 'E002', /está vazio/],
    ['true', 'E0001', /veio como true/],
    ['[]', 'E0001', /veio como uma lista/],
    ['{}', 'E0001', /veio como um objeto/],
  ];
  for (const [text, codigo, says] of WRONG) {
    test(`${text} is one fault, and is quoted as it was sent`, () => {
      const faults = vServ(text) as readonly Fault[];
      assert.deepEqual(
        faults.map((fault) => [fault.codigo, fault.campo]),
        [[codigo, 'valor_servico']],
        told(faults),
      );
      assert.match(faults[0]!.mensagem, says);
      if (/^[-\d]/.test(text)) assert.equal(faults[0]!.encontrado, text);
    });
  }

  test('a fault offers what to send, as JSON', () => {
    const [fault] = vServ('"1.000,00"') as readonly Fault[];
    assert.equal(fault!.correcao, '"valor_servico": "1000.00"');
  });

  test('a day sent as an instant is corrected to the day of the municipality that the body names', () => {
    for (const [municipio, wanted] of [
      ['3550308', '2026-11-01'],
      ['1302603', '2026-10-31'],
    ] as const) {
      const changes = { data_competencia: '2026-11-01T03:30:00Z', municipio_emissor: municipio };
      const fault = only(changes, 'E0001', 'data_competencia', '/DPS/infDPS/dCompet');
      assert.equal(fault.correcao, `"data_competencia": "${wanted}"`, municipio);
    }
  });

  test('a number for a code says what to send', () => {
    const at = '/DPS/infDPS/serv/cServ/cTribNac';
    const fault = only({ codigo_tributacao_nacional: 10101 }, 'E0001', 'codigo_tributacao_nacional', at);
    assert.match(fault.mensagem, /veio como número \(10101\).*entre aspas.*zeros à esquerda: "010101"/);
    assert.equal(fault.correcao, '"codigo_tributacao_nacional": "010101"');
    const one = only(
      { tributacao_issqn: 1 },
      'E0001',
      'tributacao_issqn',
      '/DPS/infDPS/valores/trib/tribMun/tribISSQN',
    );
    assert.equal(one.correcao, '"tributacao_issqn": "1"');
  });

  test('numero_dps may be a whole number, as in the nota', () => {
    assert.equal(accepted({ numero_dps: 42 }).dps.nDPS, '42');
    assert.equal(accepted({ numero_dps: '42' }).dps.nDPS, '42');
    only({ numero_dps: 4.5 }, 'E0001', 'numero_dps', '/DPS/infDPS/nDPS');
    only({ numero_dps: 1234567890123456 }, 'E002', 'numero_dps', '/DPS/infDPS/nDPS');
    only({ numero_dps: '1234567890123456' }, 'E002', 'numero_dps', '/DPS/infDPS/nDPS');
    only({ serie_dps: '123456' }, 'E002', 'serie_dps', '/DPS/infDPS/serie');
  });

  test('a document is a CNPJ or a CPF by its length, letters and all (D-16)', () => {
    assert.equal(accepted({ tomador_cpf_cnpj: '11444777000161' }).dps.toma?.CNPJ, '11444777000161');
    assert.equal(accepted({ tomador_cpf_cnpj: '52998224725' }).dps.toma?.CPF, '52998224725');
    // The example of the Receita Federal for the alphanumeric CNPJ.
    assert.equal(accepted({ tomador_cpf_cnpj: '12ABC34501DE35' }).dps.toma?.CNPJ, '12ABC34501DE35');
    const fault = only({ tomador_cpf_cnpj: '529.982.247-25' }, 'E0003', 'tomador_cpf_cnpj', '/DPS/infDPS/toma/CPF');
    assert.equal(fault.correcao, '"tomador_cpf_cnpj": "52998224725"');
    only({ tomador_cpf_cnpj: '529982247' }, 'E0003', 'tomador_cpf_cnpj', '/DPS/infDPS/toma/CPF');
    only({ tomador_cpf_cnpj: '1144477700016' }, 'E0003', 'tomador_cpf_cnpj', '/DPS/infDPS/toma/CNPJ');
  });

  test('null is nothing', () => {
    const { dps } = accepted({ aliquota_issqn: null, tomador_endereco: null, municipio_incidencia: null });
    assert.equal(dps.valores.trib.tribMun.pAliq, undefined);
    assert.equal(dps.toma?.end, undefined);
    only({ valor_servico: null }, 'E002', 'valor_servico', '/DPS/infDPS/valores/vServPrest/vServ');
  });
});

describe('what need not be said', () => {
  const spoken = Object.fromEntries(
    Object.entries(BODY).filter(
      ([name]) =>
        !'tipo_ambiente versao_aplicativo tipo_emitente prestador_regime_especial retencao_issqn total_tributos'
          .split(' ')
          .includes(name),
    ),
  );
  const readSpoken = (changes: Json, context: CorpoContext) =>
    readText(JSON.stringify({ ...spoken, ...changes }), context);

  test('is filled in, and it is technical', () => {
    const reading = readSpoken({}, SANDBOX);
    assert.ok('dps' in reading, 'faults' in reading ? told(reading.faults) : '');
    const { dps } = reading;
    assert.equal(dps.tpAmb, '2');
    assert.equal(dps.tpEmit, '1');
    assert.equal(dps.prest.regTrib.regEspTrib, '0');
    assert.equal(dps.valores.trib.tribMun.tpRetISSQN, '1');
    assert.deepEqual(dps.valores.trib.totTrib, { indTotTrib: '0' });
    assert.ok(dps.verAplic.length > 0);
  });

  test('where the body is signed it says environment and municipality itself, and what is missing is the line to add', () => {
    const context: CorpoContext = { tpAmb: '1', lugar: { tipo_ambiente: '1', municipio_emissor: '3304557' } };
    const reading = readSpoken({ municipio_emissor: null, tipo_emitente: '9' }, context);
    assert.ok('faults' in reading);
    const told = reading.faults.map(({ codigo, campo, xpath, linha, mensagem }) => [
      ...[codigo, campo, xpath, linha],
      /("[a-z_]+": "\d+")$/.exec(mensagem)?.[1],
    ]);
    // The faults are listed together in the order of the layout, each at the object that lacks the property.
    assert.deepEqual(told, [
      ['E002', 'tipo_ambiente', '/DPS/infDPS/tpAmb', 1, '"tipo_ambiente": "1"'],
      ['E0002', 'tipo_emitente', '/DPS/infDPS/tpEmit', 1, undefined],
      ['E002', 'municipio_emissor', '/DPS/infDPS/cLocEmi', 1, '"municipio_emissor": "3304557"'],
    ]);
    // The stated value is read unchanged; a rule judges whether it is the right place.
    const { dps } = accepted({ tipo_ambiente: '2', municipio_emissor: '3550308' }, context);
    assert.deepEqual([dps.tpAmb, dps.cLocEmi], ['2', '3550308']);
  });

  test('an estimate of the taxes takes the place of the indicator', () => {
    const { totTrib } = accepted({ total_tributos: { percentual_simples_nacional: '6.00' } }).dps.valores.trib;
    assert.deepEqual(totTrib, { pTotTribSN: decimal('6.00') });
    assert.deepEqual(accepted({ total_tributos: {} }).dps.valores.trib.totTrib, { indTotTrib: '0' });
  });

  test('the identifier is the national one, from number, series, municipality and provider', () => {
    assert.equal(accepted({ serie_dps: '1', numero_dps: '42' }).id, 'DPS355030821122233300018100001000000000000042');
    assert.match(accepted().id, /^DPS\d+$/);
  });

  test('nothing fiscal is made up: an empty body misses what the law asks for, and all of it is told', () => {
    const reading = readText('{}');
    assert.ok('faults' in reading);
    const missing =
      'prestador_cpf_cnpj prestador_opcao_simples_nacional data_competencia municipio_emissor municipio_prestacao codigo_tributacao_nacional descricao_servico codigo_nbs valor_servico tributacao_issqn';
    assert.deepEqual(reading.faults.map(({ campo }) => campo).toSorted(), missing.split(' ').toSorted());
    for (const { codigo, mensagem } of reading.faults) {
      assert.equal(codigo, 'E002');
      assert.match(mensagem, /^Falta [a-z]/);
    }
  });
});

describe('what only a body declares', () => {
  test('is handed on beside the DPS', () => {
    const { declarado } = accepted({
      municipio_incidencia: '3550308',
      valor_base_calculo: 1000,
      valor_issqn: '20.00',
      ibscbs: { ...IBSCBS, valores_base_calculo: '980.00', valores_aliquota_ibs_uf: 0.1, total_cbs: 8.82 },
    });
    assert.deepEqual(declarado, {
      municipio_incidencia: '3550308',
      valor_base_calculo: decimal('1000.00'),
      valor_issqn: decimal('20.00'),
      ibscbs: {
        valores_base_calculo: decimal('980.00'),
        valores_aliquota_ibs_uf: decimal('0.10'),
        total_cbs: decimal('8.82'),
      },
    });
    assert.deepEqual(accepted().declarado, {});
  });

  test('and has faults of its own', () => {
    only({ municipio_incidencia: '355' }, 'E0003', 'municipio_incidencia', '/NFSe/infNFSe/cLocIncid');
    only({ municipio_incidencia: 3550308 }, 'E0001', 'municipio_incidencia', '/NFSe/infNFSe/cLocIncid');
    only({ valor_issqn: 'vinte' }, 'E0001', 'valor_issqn', '/NFSe/infNFSe/valores/vISSQN');
    only(
      { ibscbs: { ...IBSCBS, total_cbs: 8.825 } },
      'E0003',
      'ibscbs.total_cbs',
      '/NFSe/infNFSe/IBSCBS/totCIBS/gCBS/vCBS',
    );
    only(
      { ibscbs: { ...IBSCBS, total_ibs: {} } },
      'E0001',
      'ibscbs.total_ibs',
      '/NFSe/infNFSe/IBSCBS/totCIBS/gIBS/vIBSTot',
    );
  });
});

describe('a property that does not exist', () => {
  const MEANT: readonly (readonly [name: string, right: string])[] = [
    ['valorServico', 'valor_servico'],
    ['Valor_Servico', 'valor_servico'],
    ['valor-servico', 'valor_servico'],
    ['valor_serviço', 'valor_servico'],
    ['valor_servicos', 'valor_servico'],
    ['valor_do_servico', 'valor_servico'],
    ['vServ', 'valor_servico'],
    ['cTribNac', 'codigo_tributacao_nacional'],
    ['codigo_tributacao_nacinal', 'codigo_tributacao_nacional'],
    ['discriminacao', 'descricao_servico'],
    ['nbs', 'codigo_nbs'],
    ['tomador_cnpj', 'tomador_cpf_cnpj'],
    ['tomador_nome', 'tomador_razao_social'],
    ['cMunPrest', 'municipio_prestacao'],
    ['dCompet', 'data_competencia'],
    ['competencia', 'data_competencia'],
    ['vISSQN', 'valor_issqn'],
    ['vBC', 'valor_base_calculo'],
  ];
  for (const [name, right] of MEANT) {
    test(`${name} is ${right}, and nothing is missing besides`, () => {
      const faults = faultsOf({ [right]: undefined, [name]: BODY[right] ?? '1.00' });
      assert.deepEqual(
        faults.map(({ codigo, campo, esperado }) => [codigo, campo, esperado]),
        [['E0010', name, right]],
        told(faults),
      );
      assert.equal(faults[0]!.correcao, `"${right}": ${JSON.stringify(BODY[right] ?? '1.00')}`);
    });
  }

  test('of a declared value of IBS and CBS is the one with the same words, and of several with the same beginning none', () => {
    // Names of error-codes.md 5.1 that differ here (D-24), and other spellings of them.
    const right: Readonly<Record<string, string>> = {
      valores_aliquota_uf: 'valores_aliquota_ibs_uf',
      valores_aliquota_municipio: 'valores_aliquota_ibs_municipal',
      valores_aliquota_efetiva_uf: 'valores_aliquota_efetiva_ibs_uf',
      valores_aliquota_efetiva_municipio: 'valores_aliquota_efetiva_ibs_municipal',
      total_ibs_municipio: 'total_ibs_municipal',
      totalIbsMunicipio: 'total_ibs_municipal',
      total_ibs_estadual: 'total_ibs_uf',
      aliquota_efetiva_cbs: 'valores_aliquota_efetiva_cbs',
      valor_base_calculo: 'valores_base_calculo',
      valor_cbs: 'total_cbs',
      valores_aliquota_ibs: 'valores_aliquota_ibs_uf, valores_aliquota_ibs_municipal',
    };
    const ibscbs = { CST: '000', cClassTrib: '000001' };
    for (const [name, esperado] of Object.entries(right)) {
      const faults = faultsOf({ ibscbs: { ...ibscbs, [name]: '0.00' } });
      assert.deepEqual(
        faults.map((fault) => [fault.codigo, fault.campo, fault.esperado]),
        [['E0010', `ibscbs.${name}`, esperado]],
      );
    }
    const [fault, ...others] = faultsOf({ total_ibs_municipio: '0.00' });
    assert.deepEqual([fault?.codigo, fault?.esperado, others.length], ['E0010', 'ibscbs.total_ibs_municipal', 0]);
  });

  test('beside the right one hides nothing that is wrong there', () => {
    const faults = faultsOf({ valorServico: '1.00', valor_servico: 'mil' });
    assert.deepEqual(
      faults.map(({ codigo, campo }) => [codigo, campo]),
      [
        ['E0010', 'valorServico'],
        ['E0001', 'valor_servico'],
      ],
    );
  });

  test('in another group is told where it belongs', () => {
    for (const [name, right] of [
      ['tomador_cep', 'tomador_endereco.cep'],
      ['total_cbs', 'ibscbs.total_cbs'],
      ['vServMoeda', 'comercio_exterior.valor_moeda_estrangeira'],
    ] as const) {
      const [fault, ...others] = faultsOf({ [name]: '1.00' });
      assert.deepEqual([fault?.codigo, fault?.esperado, others.length], ['E0010', right, 0], name);
    }
  });

  test('in an address is told of the party that it is of, and an address without a municipality says so', () => {
    for (const name of ['email', 'xEmail']) {
      const endereco = { ...ENDERECO, [name]: 'a@b.br' };
      const fault = only({ tomador_endereco: endereco }, 'E0010', `tomador_endereco.${name}`, '/DPS/infDPS/toma/end');
      assert.match(fault.mensagem, /o que existe é tomador_email\.$/);
    }
    for (const name of ['codigo_municipio', 'municipio', 'cMun', 'cidade']) {
      const endereco = { cep: '01001000', [name]: '3550308', logradouro: 'Praça da Sé', numero: '1', bairro: 'Sé' };
      const fault = only({ obra: { endereco } }, 'E0010', `obra.endereco.${name}`, '/DPS/infDPS/serv/obra/end');
      assert.match(fault.mensagem, /retire-o; a obra não tem município/);
    }
  });

  test('a group where the body is flat says so, and what is in it is not missed', () => {
    const without = Object.fromEntries(
      Object.keys(BODY)
        .filter((name) => name.startsWith('prestador_'))
        .map((name) => [name, undefined]),
    );
    const fault = only({ ...without, prestador: { cnpj: '11222333000181' } }, 'E0010', 'prestador', '/DPS/infDPS');
    assert.match(fault.mensagem, /no próprio corpo: prestador_cpf_cnpj, .*prestador_endereco/);
    for (const around of ['dps', 'DPS', 'infDPS', 'infDps', 'nfse']) {
      const reading = readText(JSON.stringify({ [around]: BODY }));
      assert.ok('faults' in reading);
      assert.deepEqual(
        reading.faults.map(({ codigo, campo }) => [codigo, campo]),
        [['E0010', around]],
      );
    }
  });

  test('inside of a group, and of a list', () => {
    only({ tomador_endereco: { ...ENDERECO, uf: 'SP' } }, 'E0010', 'tomador_endereco.uf', '/DPS/infDPS/toma/end');
    const documento = { nDoc: 'A1', tipo: '1', data_emissao: '2026-10-01', valor_dedutivel: '5.00', valor: '5.00' };
    const at = '/DPS/infDPS/valores/vDedRed/documentos/docDedRed[1]/nDoc';
    only({ deducao_reducao: { documentos: [documento] } }, 'E0010', 'deducao_reducao.documentos[0].nDoc', at);
  });

  test('that nobody can have meant lists what there is', () => {
    const fault = only(
      { tomador_endereco: { ...ENDERECO, xyz: 1 } },
      'E0010',
      'tomador_endereco.xyz',
      '/DPS/infDPS/toma/end',
    );
    assert.match(fault.esperado!, /codigo_municipio, cep, exterior, logradouro/);
    assert.ok(!fault.mensagem.includes('campo esperado'));
    const many = only({ xyz: 1 }, 'E0010', 'xyz', '/DPS/infDPS');
    assert.match(many.mensagem, /dos nomes que existem ali, listados em esperado no primeiro destes erros\.$/);
    // A short body without a known name is not also told that everything is missing.
    const nothing = readText(JSON.stringify(Object.fromEntries([...'abcdefghij'].map((name) => [name, 1]))));
    assert.ok('faults' in nothing);
    assert.deepEqual(
      nothing.faults.map(({ codigo, campo }) => `${codigo} ${campo}`),
      [...'abcdefghij'].map((name) => `E0010 ${name}`),
    );
    const something = readText('{"a":1,"valor_servico":"1.00"}');
    assert.ok('faults' in something && something.faults.some(({ codigo }) => codigo === 'E002'));
    for (const name of ['', '__proto__', 'constructor', 'toString', 'x'.repeat(5_000), '\u0000']) {
      const reading = readText(`${JSON.stringify(BODY).slice(0, -1)},${JSON.stringify(name)}:1}`);
      assert.ok('faults' in reading);
      assert.deepEqual(
        reading.faults.map(({ codigo }) => codigo),
        ['E0010'],
        name.slice(0, 20),
      );
    }
  });

  test('a thousand of them are counted, and the answer stays short', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, place) => [`campo_${place}_x`, place]));
    const faults = faultsOf(many);
    assert.equal(faults.length, 201);
    assert.match(faults.at(-1)!.mensagem, /mais 800 erro/);
  });
});

describe('what has the wrong kind', () => {
  test('is one fault, whatever would be inside', () => {
    only({ tomador_endereco: 'Praça da Sé, 1' }, 'E0001', 'tomador_endereco', '/DPS/infDPS/toma/end');
    only({ tomador_endereco: [ENDERECO] }, 'E0001', 'tomador_endereco', '/DPS/infDPS/toma/end');
    only({ descricao_servico: ['a'] }, 'E0001', 'descricao_servico', '/DPS/infDPS/serv/cServ/xDescServ');
    only({ prestador_razao_social: {} }, 'E0001', 'prestador_razao_social', '/DPS/infDPS/prest/xNome');
    only({ ibscbs: '000' }, 'E0001', 'ibscbs', '/DPS/infDPS/IBSCBS');
    const documents = '/DPS/infDPS/valores/vDedRed/documentos/docDedRed';
    only({ deducao_reducao: { documentos: {} } }, 'E0001', 'deducao_reducao.documentos', documents);
    only({ deducao_reducao: { documentos: ['x'] } }, 'E0001', 'deducao_reducao.documentos[0]', `${documents}[1]`);
    const keys = '/DPS/infDPS/IBSCBS/gRefNFSe/refNFSe';
    only({ ibscbs: { ...IBSCBS, notas_referenciadas: 'x' } }, 'E0001', 'ibscbs.notas_referenciadas', keys);
    only({ ibscbs: { ...IBSCBS, notas_referenciadas: [1] } }, 'E0001', 'ibscbs.notas_referenciadas[0]', `${keys}[1]`);
  });

  test('a body that is no object is no body (E003)', () => {
    for (const text of ['[]', '"x"', '1', 'null', 'true']) {
      const reading = readText(text);
      assert.ok('faults' in reading);
      assert.deepEqual(
        reading.faults.map(({ codigo }) => codigo),
        ['E003'],
      );
    }
  });
});

describe('choices and groups', () => {
  test('two members of a choice are told by their names', () => {
    const fault = only({ pais_prestacao: 'PT' }, 'E203', 'pais_prestacao', '/DPS/infDPS/serv/locPrest/cPaisPrestacao');
    assert.match(fault.mensagem, /^O corpo traz municipio_prestacao e pais_prestacao; aceita exatamente um/);
    only(
      { deducao_reducao: { percentual: '1.00', valor: '2.00' } },
      'E203',
      'deducao_reducao.valor',
      '/DPS/infDPS/valores/vDedRed/vDR',
    );
    only({ tomador_nif: 'X1' }, 'E0188', 'tomador_nif', '/DPS/infDPS/toma/NIF');
    const exterior = {
      codigo_pais: 'PT',
      codigo_postal: '1100-148',
      cidade: 'Lisboa',
      estado_provincia_regiao: 'Lisboa',
    };
    only(
      { tomador_endereco: { ...ENDERECO, exterior } },
      'E203',
      'tomador_endereco.exterior',
      '/DPS/infDPS/toma/end/endExt',
    );
  });

  test('a choice that is not made names what there is', () => {
    const fault = only({ tomador_cpf_cnpj: null }, 'E0188', 'tomador_cpf_cnpj', '/DPS/infDPS/toma');
    assert.match(fault.mensagem, /^Falta um dos campos: tomador_cpf_cnpj, tomador_nif, tomador_motivo_sem_nif\.$/);
    only({ deducao_reducao: { documentos: [] } }, 'E002', 'deducao_reducao', '/DPS/infDPS/valores/vDedRed');
  });

  test('an object with nothing in it is an empty group, as in XML (D-34)', () => {
    for (const [name, path, inside] of [
      ['beneficio_municipal', 'valores/trib/tribMun/BM', 'numero, valor_reducao, percentual_reducao'],
      ['informacoes_complementares', 'serv/infoCompl', 'documento_tecnico, documento_referencia, texto'],
    ] as const) {
      for (const nothing of [{}, { numero: null, texto: null }]) {
        const known = Object.entries(nothing).filter(([own]) => inside.includes(own));
        const fault = only({ [name]: Object.fromEntries(known) }, 'E0003', name, `/DPS/infDPS/${path}`);
        assert.match(fault.mensagem, new RegExp(`^O grupo ${name} está vazio\\. Preencha-o ou retire-o`));
        assert.equal(fault.esperado, `ao menos um de: ${inside}`);
      }
    }
    assert.deepEqual(faultsOf({ beneficio_municipal: null }), []);
  });

  test('without a taker there is no taker', () => {
    const names = Object.keys(BODY).filter((name) => name.startsWith('tomador_'));
    assert.equal(accepted(Object.fromEntries(names.map((name) => [name, undefined]))).dps.toma, undefined);
  });

  test('members of a list are elements, each with its place', () => {
    const documento = {
      numero_documento_fiscal: 'A1',
      tipo: '1',
      data_emissao: '2026-10-01',
      valor_dedutivel: 5,
      valor: 5,
    };
    const { dps, place } = accepted({ deducao_reducao: { documentos: [documento, { ...documento, valor: '4.00' }] } });
    const { documentos } = dps.valores.vDedRed!;
    assert.deepEqual(
      documentos?.docDedRed.map(({ vDeducaoReducao }) => vDeducaoReducao),
      [decimal('5.00'), decimal('4.00')],
    );
    const xpath = '/DPS/infDPS/valores/vDedRed/documentos/docDedRed[2]/vDeducaoReducao';
    const [fault] = place([{ codigo: 'E0436', xpath, mensagem: 'x' }]);
    assert.equal(fault?.campo, 'deducao_reducao.documentos[1].valor');
    const lines = JSON.stringify(
      { ...BODY, deducao_reducao: { documentos: [documento, { ...documento, valor: '4.00' }] } },
      null,
      2,
    ).split('\n');
    assert.match(lines[fault!.linha! - 1]!, /"valor": "4.00"/);
    assert.equal(lines[fault!.linha! - 1]!.slice(fault!.coluna! - 1), '"4.00"');
  });
});

describe('places', () => {
  test('of what is wrong its value, of what is missing the object in which it is missed', () => {
    const lines = JSON.stringify(
      { ...BODY, tomador_endereco: { ...ENDERECO, cep: 'x', numero: undefined } },
      null,
      2,
    ).split('\n');
    const faults = faultsOf({ tomador_endereco: { ...ENDERECO, cep: 'x', numero: undefined } });
    const at = (campo: string): string => {
      const { linha, coluna } = faults.find((fault) => fault.campo === campo)!;
      return lines[linha! - 1]!.slice(coluna! - 1);
    };
    assert.equal(faults.length, 2, told(faults));
    assert.equal(at('tomador_endereco.cep'), '"x",');
    assert.equal(at('tomador_endereco.numero'), '{');
  });
});

describe('whatever comes', () => {
  test('a body of known names and any values is read or refused, never thrown over', () => {
    const names = [...new Set(HOSTS.flatMap(({ items }) => [...items.keys()]))];
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(fc.string(), fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, fc.string()), tie('value'), {
          maxKeys: 12,
          noNullPrototype: true,
        }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.boolean(), (any, onTop) => {
        const body = onTop && any !== null && typeof any === 'object' ? { ...BODY, ...any } : any;
        const document = readJson(Buffer.from(JSON.stringify(body) ?? 'null'));
        if ('fault' in document) return;
        const reading = readCorpo(document, SANDBOX);
        if ('dps' in reading) return;
        assert.ok(reading.faults.length > 0);
        for (const { codigo, mensagem, linha, coluna } of reading.faults) {
          assert.match(codigo, /^E\d{3,4}$/);
          assert.match(mensagem, /\.$/);
          assert.ok(linha === undefined || (linha > 0 && coluna! > 0));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
