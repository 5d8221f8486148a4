/** Fields of the layout that the technical notes announce: the fault says so at any place, in XML and in JSON. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lawOverExample } from '../../../test/support/law.ts';
import { readJson } from '../../documents/json.ts';
import type { Fault } from '../fault.ts';
import { exampleJson } from '../rules/example.ts';
import type { Patch } from '../rules/rule.ts';
import { readCorpo } from './read-corpo.ts';

const FUTURO = /é do leiaute futuro \(Notas Técnicas 007 e 009\), que ainda não está em produção/;

/** Written by hand from Anexo VI and NT 009, each at its usual place in a document. */
const NOVOS =
  `cAtvSN prest/regTrib/regApIBSCBSSN IBSCBS/indZFMALC IBSCBS/indDoacao IBSCBS/gTribSN IBSCBS/vReceitaBrutaSN
  IBSCBS/verCalcIBSCBS IBSCBS/gPgtoVinc valores/gPgtoVinc valores/vAjusteBC valores/vAjusteBCISSQN IBSCBS/vCalcAjusteBCIBSCBS
  valores/vCalcAjusteBCISSQN IBSCBS/gIBSCBSAjuste IBSCBS/gLocacao IBSCBS/gUnidImob serv/gPgtoVinc tpNFSeCredito`.split(
    /\s+/,
  );

function faultsInJson(changes: Readonly<Record<string, unknown>>): readonly Fault[] {
  const body = { ...(JSON.parse(exampleJson()!) as object), ...changes };
  const document = readJson(Buffer.from(JSON.stringify(body)));
  assert.ok('value' in document);
  const read = readCorpo(document, { tpAmb: '2' });
  return 'faults' in read ? read.faults : [];
}

/** The one fault, which names the future layout. */
function futureFault(faults: readonly Fault[], codigo: string): Fault {
  assert.deepEqual(
    faults.map((one) => one.codigo),
    [codigo],
    faults.map(({ mensagem }) => mensagem).join(' | '),
  );
  assert.match(faults[0]!.mensagem, FUTURO);
  return faults[0]!;
}

describe('an element of the layout to come', () => {
  for (const path of NOVOS) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    test(`${path} is named as such, and nothing is taken out by a program`, () => {
      assert.equal(futureFault(lawOverExample({ [`+${path}`]: '1' }), 'E0010').correcao, undefined);
      assert.equal(futureFault(faultsInJson({ [name]: '1' }), 'E0010').correcao, undefined);
    });
  }

  test('one that moves there says where it stands today, and its group is not missed as well', () => {
    const moved: Patch = {
      'IBSCBS/valores/trib/gIBSCBS/CST': null,
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': null,
      '+IBSCBS/valores/trib/CST': '000',
      '+IBSCBS/valores/trib/cClassTrib': '000001',
    };
    const faults = lawOverExample(moved);
    assert.deepEqual(
      faults.map(({ codigo, esperado }) => [codigo, esperado]),
      ['CST', 'cClassTrib'].map((name) => ['E0010', `IBSCBS/valores/trib/gIBSCBS/${name}`]),
    );
    for (const { mensagem } of faults) assert.match(mensagem, FUTURO);
    for (const name of ['finNFSe', 'indDest']) {
      const fault = futureFault(lawOverExample({ [`IBSCBS/${name}`]: null, [`+${name}`]: '0' }), 'E0010');
      assert.equal(fault.esperado, `IBSCBS/${name}`);
    }
    futureFault(lawOverExample({ '+dest': '1' }), 'E0010');
  });
});

describe('a value of the layout to come', () => {
  for (const [path, value, codigo] of [
    ['prest/regTrib/opSimpNac', '4', 'E0002'],
    ['IBSCBS/finNFSe', '1', 'E0002'],
    ['IBSCBS/finNFSe', '2', 'E0002'],
    ['serv/cServ/cTribNac', '990201', 'E002'],
    ['serv/cServ/cTribNac', '990401', 'E002'],
  ] as const) {
    test(`${path} ${value} is named as such`, () => {
      futureFault(lawOverExample({ [path]: value }), codigo);
    });
  }
});
