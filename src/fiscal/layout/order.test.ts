/** Faults come in the order of the layout, not of the document, and an absent element at its place (D-113). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../test/support/seed.ts';
import { readJson } from '../../documents/json.ts';
import { readXml } from '../../documents/xml.ts';
import type { Fault } from '../fault.ts';
import { judgeWhole } from '../judge.ts';
import { exampleJson, exampleXml } from '../rules/example.ts';
import { EXAMPLE_FACTS } from '../rules/trial.ts';
import { inLayoutOrder } from './order.ts';
import { readDps } from './read.ts';
import { readCorpo } from './read-corpo.ts';

function ofXml(text: string): readonly Fault[] {
  const reading = readXml(Buffer.from(text));
  assert.ok('root' in reading, 'fault' in reading ? reading.fault.mensagem : '');
  const read = readDps(reading.root);
  return 'faults' in read ? read.faults : [];
}

function ofJson(body: object): readonly Fault[] {
  const json = readJson(Buffer.from(JSON.stringify(body)));
  assert.ok('value' in json);
  const read = readCorpo(json, { tpAmb: '2' });
  return 'faults' in read ? read.faults : [];
}

/** The places of a DPS with one fault in each, in the order of the tables of the specification. */
const PLACES = [
  'dCompet',
  'cLocEmi',
  'prest/regTrib/opSimpNac',
  'toma/CPF',
  'serv/locPrest/cLocPrestacao',
  'serv/cServ/cTribNac',
  'valores/vServPrest/vServ',
  'valores/trib/tribMun/tribISSQN',
] as const;

const below = (faults: readonly Fault[]): string[] => faults.map(({ xpath }) => xpath.replace('/DPS/infDPS/', ''));

describe('the order of the faults', () => {
  test('is that of the layout, with what is missing between what is wrong', () => {
    let xml = exampleXml();
    for (const [place, path] of PLACES.entries()) {
      const name = path.split('/').at(-1);
      // Every second one is missing, the others have a wrong value.
      xml = xml.replace(new RegExp(`\\n *<${name}>[^<]*</${name}>`), place % 2 === 0 ? '' : `<${name}>?</${name}>`);
    }
    // A document without any member of a choice gets a fault of the group.
    const wanted = PLACES.map((path) => (path.endsWith('cLocPrestacao') ? 'serv/locPrest' : path));
    assert.deepEqual(below(ofXml(xml)), wanted);
  });

  test('of a JSON body too, in whatever order its properties stand', () => {
    const wrong = {
      data_competencia: null,
      municipio_emissor: 1.5,
      prestador_opcao_simples_nacional: null,
      tomador_cpf_cnpj: '1',
      municipio_prestacao: null,
      codigo_tributacao_nacional: [],
      valor_servico: null,
      tributacao_issqn: true,
    };
    const body = { ...JSON.parse(exampleJson()!), ...wrong } as Record<string, unknown>;
    const names = Object.keys(body);
    fc.assert(
      fc.property(fc.shuffledSubarray(names, { minLength: names.length }), (order) => {
        const faults = ofJson(Object.fromEntries(order.map((name) => [name, body[name]])));
        assert.deepEqual(below(faults), [
          'dCompet',
          'cLocEmi',
          'prest/regTrib/opSimpNac',
          'toma/CPF',
          'serv/locPrest',
          'serv/cServ/cTribNac',
          'valores/vServPrest/vServ',
          'valores/trib/tribMun/tribISSQN',
        ]);
      }),
      { numRuns: 50 },
    );
  });

  test('is kept where elements stand in another one; what the layout does not have is told where it stands', () => {
    const moved = exampleXml()
      .replace(/\n *<dCompet>[^<]*<\/dCompet>/, '')
      .replace('</infDPS>', '<dCompet>x</dCompet></infDPS>')
      .replace('<cTribNac>', '<inventado>1</inventado><cTribNac>?')
      .replace('<vServ>', '<vServico>')
      .replace('</vServ>', '</vServico>')
      .replace('<infDPS ', '<infDPS sobra="1" ');
    assert.deepEqual(below(ofXml(moved)), [
      '/DPS/infDPS',
      '@sobra',
      'dCompet',
      'serv/cServ/inventado',
      'serv/cServ/cTribNac',
      'valores/vServPrest/vServico',
    ]);
  });

  test('of the rules is the same, and values of the note come behind the DPS', () => {
    const text = exampleJson({
      'serv/cServ/cTribNac': '070201',
      'prest/regTrib/opSimpNac': '3',
      'subst/chSubstda': '35503081211222333000181000000000004226101234567890',
      'subst/cMotivo': '99',
    })!;
    const json = readJson(Buffer.from(text));
    assert.ok('value' in json);
    const read = readCorpo(json, { tpAmb: '2' });
    assert.ok('dps' in read);
    const judged = judgeWhole(read.dps, EXAMPLE_FACTS, read.declarado);
    assert.ok('faults' in judged && judged.faults.length >= 3);
    assert.deepEqual(
      judged.faults.map(({ xpath }) => xpath.split('/')[3]).filter((name, place, all) => all.indexOf(name) === place),
      ['subst', 'prest', 'serv'],
    );
    const at = (xpath: string): { readonly xpath: string } => ({ xpath });
    const sorted = inLayoutOrder(
      ['/NFSe/infNFSe/valores/vBC', '/DPS/infDPS/IBSCBS', '/NFSe/infNFSe/cLocIncid', '/DPS/infDPS/toma', ''].map(at),
    );
    assert.deepEqual(
      sorted.map(({ xpath }) => xpath),
      ['', '/DPS/infDPS/toma', '/DPS/infDPS/IBSCBS', '/NFSe/infNFSe/cLocIncid', '/NFSe/infNFSe/valores/vBC'],
    );
  });

  test('tells members of a list by their number, the tenth behind the second', () => {
    const list = ['[10]/dtEmiDoc', '[2]/dtEmiDoc', '[2]', '[1]/vDeducaoReducao'].map((end) => ({
      xpath: `/DPS/infDPS/valores/vDedRed/documentos/docDedRed${end}`,
    }));
    assert.deepEqual(
      inLayoutOrder(list).map(({ xpath }) => xpath.split('docDedRed')[1]),
      ['[1]/vDeducaoReducao', '[2]', '[2]/dtEmiDoc', '[10]/dtEmiDoc'],
    );
  });
});

describe('the property of a fault', () => {
  test('is none for a value of the note that nobody declared', () => {
    const text = exampleJson({ 'valores/vDescCondIncond/vDescIncond': '900.00' })!;
    const json = readJson(Buffer.from(text));
    assert.ok('value' in json);
    const read = readCorpo(json, { tpAmb: '2' });
    assert.ok('place' in read);
    const [undeclared] = read.place([
      { xpath: '/NFSe/infNFSe/IBSCBS/valores/vBC', mensagem: 'A base seria negativa.' },
    ]);
    assert.equal(undeclared!.campo, undefined);
  });

  test('names the groups around it as they were sent, also where a name looks like a path', () => {
    const { tomador_endereco, ...rest } = JSON.parse(exampleJson()!) as Record<string, object>;
    const campos = (name: string): (string | undefined)[] =>
      ofJson({ ...rest, [name]: { ...tomador_endereco, logradouros: 'x' } }).map(({ campo }) => campo);
    for (const name of ['tomadorEndereco', 'tomador.endereco']) {
      assert.deepEqual(campos(name), [name, `${name}.logradouros`]);
    }
  });
});
