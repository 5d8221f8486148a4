/**
 * The export sheet of the national standard (Anexo I v1.01, EXPORTACAO_EMISSÃO_NFS-e) as a table: each scenario is put to the law. The
 * intermediary changes nothing in it, and is left out.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dpsOf, lawOverExample } from '../../../test/support/law.ts';
import { servicoOf } from '../catalogs/catalogs.ts';
import { incidenceOf } from '../incidence.ts';
import type { Patch } from './rule.ts';
import { COMERCIO_EXTERIOR, TOMADOR_NO_EXTERIOR } from './toma.ts';
import { avisosOn } from './trial.ts';
import { WITHOUT_MINIMUM } from './valores.ts';

const SAO_PAULO = '3550308';
const RIO = '3304557';
const RECIFE = '2611606';

/** A service of each rule of incidence. The provider is in São Paulo, the taker in Rio, the provision in Recife. */
const SERVICOS = { EP: '010101', ET: '170501', LP: '171001' } as const;

const TRIBUTACOES = {
  tributavel: { 'valores/trib/tribMun/tribISSQN': '1' },
  imune: {
    'valores/trib/tribMun/tribISSQN': '2',
    'valores/trib/tribMun/tpImunidade': '1',
    'valores/trib/tribMun/pAliq': null,
  },
  exportacao: { 'valores/trib/tribMun/tribISSQN': '3', 'valores/trib/tribMun/pAliq': null },
} as const satisfies Record<string, Patch>;

type Pais = 'BR' | 'exterior';

/** `pais`: cPaisResult is required. A code: the operation itself is refused. Otherwise the place of incidence, or none. */
type Scenario = readonly [
  numbers: string,
  tomador: Pais,
  prestacao: Pais,
  regra: keyof typeof SERVICOS,
  tributacao: keyof typeof TRIBUTACOES,
  says: { readonly incidencia: string | undefined; readonly pais?: true } | { readonly refused: string },
];

const NONE = { incidencia: undefined };

const SHEET: readonly Scenario[] = [
  ['1, 29', 'BR', 'BR', 'EP', 'imune', NONE],
  ['2, 30', 'BR', 'BR', 'EP', 'exportacao', { incidencia: undefined, pais: true }],
  ['4, 32', 'BR', 'BR', 'EP', 'tributavel', { incidencia: SAO_PAULO }],
  ['5, 33', 'BR', 'BR', 'ET', 'imune', NONE],
  ['6, 34', 'BR', 'BR', 'ET', 'exportacao', { refused: 'E0529' }],
  ['8, 36', 'BR', 'BR', 'ET', 'tributavel', { incidencia: RIO }],
  ['9, 37', 'BR', 'BR', 'LP', 'imune', NONE],
  ['10, 38', 'BR', 'BR', 'LP', 'exportacao', { refused: 'E0529' }],
  ['12, 40', 'BR', 'BR', 'LP', 'tributavel', { incidencia: RECIFE }],
  ['15, 43', 'BR', 'exterior', 'EP', 'imune', NONE],
  ['16, 44', 'BR', 'exterior', 'EP', 'exportacao', NONE],
  ['18, 46', 'BR', 'exterior', 'EP', 'tributavel', { incidencia: SAO_PAULO }],
  ['20, 48', 'BR', 'exterior', 'ET', 'exportacao', NONE],
  ['22, 50', 'BR', 'exterior', 'ET', 'tributavel', { incidencia: RIO }],
  ['24, 52', 'BR', 'exterior', 'LP', 'exportacao', NONE],
  // The standard refuses it with E0530; the incidence that the specification requires is missing here (E1305).
  ['26, 54', 'BR', 'exterior', 'LP', 'tributavel', { refused: 'E1305' }],
  ['57, 71', 'exterior', 'BR', 'EP', 'imune', NONE],
  ['58, 72', 'exterior', 'BR', 'EP', 'exportacao', { incidencia: undefined, pais: true }],
  ['60, 74', 'exterior', 'BR', 'EP', 'tributavel', { incidencia: SAO_PAULO }],
  ['62, 76', 'exterior', 'BR', 'ET', 'exportacao', { incidencia: undefined, pais: true }],
  ['64, 78', 'exterior', 'BR', 'ET', 'tributavel', { incidencia: RECIFE }],
  ['66, 80', 'exterior', 'BR', 'LP', 'exportacao', { refused: 'E0529' }],
  // The sheet also requires the country in 68, against its own E0591.
  ['68, 82', 'exterior', 'BR', 'LP', 'tributavel', { incidencia: RECIFE }],
  ['86, 100', 'exterior', 'exterior', 'EP', 'exportacao', NONE],
  ['88, 102', 'exterior', 'exterior', 'EP', 'tributavel', { incidencia: SAO_PAULO }],
  ['90, 104', 'exterior', 'exterior', 'ET', 'exportacao', NONE],
  ['92, 106', 'exterior', 'exterior', 'ET', 'tributavel', { refused: 'E1305' }],
  ['94, 108', 'exterior', 'exterior', 'LP', 'exportacao', NONE],
  ['96, 110', 'exterior', 'exterior', 'LP', 'tributavel', { refused: 'E1305' }],
];

function operation([, tomador, prestacao, regra, tributacao]: Scenario, more: Patch = {}): Patch {
  const isDomestic = tomador === 'BR' && prestacao === 'BR' && tributacao !== 'exportacao';
  return {
    ...(tomador === 'BR' ? { 'toma/end/endNac/cMun': RIO } : TOMADOR_NO_EXTERIOR),
    ...(prestacao === 'BR' ? { 'serv/locPrest/cLocPrestacao': RECIFE } : { 'serv/locPrest/cPaisPrestacao': 'PT' }),
    ...(isDomestic ? {} : COMERCIO_EXTERIOR),
    'serv/cServ/cTribNac': SERVICOS[regra],
    ...TRIBUTACOES[tributacao],
    ...more,
  };
}

const codesOf = (patch: Patch): readonly string[] => lawOverExample(patch).map(({ codigo }) => codigo);

const PAIS: Patch = { 'valores/trib/tribMun/cPaisResult': 'PT' };

describe('the export sheet', () => {
  for (const scenario of SHEET) {
    const [numbers, tomador, prestacao, regra, tributacao, says] = scenario;
    test(`${numbers}: taker ${tomador}, provision ${prestacao}, ${regra}, ${tributacao}`, () => {
      assert.equal(servicoOf(SERVICOS[regra])?.regra, regra);
      if ('refused' in says) {
        assert.deepEqual(codesOf(operation(scenario)), [says.refused]);
        return;
      }
      assert.deepEqual(codesOf(operation(scenario)), says.pais ? ['E0590'] : []);
      assert.deepEqual(codesOf(operation(scenario, PAIS)), says.pais ? [] : ['E0591']);
      assert.equal(incidenceOf(dpsOf(operation(scenario))), says.incidencia);
    });
  }
});

describe('foreign trade that the sheet does not admit', () => {
  const remarked = (patch: Patch): boolean => avisosOn(patch).some(({ codigo }) => codigo === 'E405');

  test('is remarked in the six domestic scenarios, and in no other; the note is issued', () => {
    const found: string[] = [];
    for (const scenario of SHEET) {
      const [numbers, , , , , says] = scenario;
      const patch = operation(scenario, { ...COMERCIO_EXTERIOR, ...('pais' in says ? PAIS : {}) });
      if (remarked(patch)) found.push(numbers.split(',')[0]!);
      assert.deepEqual(codesOf(patch), 'refused' in says ? [says.refused] : []);
    }
    assert.deepEqual(found, ['1', '4', '5', '8', '9', '12']);
  });

  test('is remarked beside the non-incidence of 990101 as well (13), and not beside an intermediary abroad (32)', () => {
    const naoIncidencia: Patch = {
      'serv/cServ/cTribNac': '990101',
      'valores/trib/tribMun/tribISSQN': '4',
      'valores/trib/tribMun/pAliq': null,
    };
    assert.equal(remarked({ ...COMERCIO_EXTERIOR, ...naoIncidencia }), true);
    assert.equal(remarked(naoIncidencia), false);
    assert.equal(remarked({ ...COMERCIO_EXTERIOR, 'interm/NIF': 'PT508123456', 'interm/xNome': 'Agência' }), false);
  });
});

describe('one mistake is one fault', () => {
  const MEI_IMUNE: Patch = {
    'prest/regTrib/opSimpNac': '2',
    'valores/trib/tribMun/tribISSQN': '2',
    'valores/trib/tribMun/tpImunidade': '1',
  };
  const SUSPENSA: Patch = {
    'valores/trib/tribMun/exigSusp/tpSusp': '2',
    'valores/trib/tribMun/exigSusp/nProcesso': '12345678920268260100',
  };

  test('where more than one reason takes the ISSQN off the note', () => {
    assert.deepEqual(codesOf(MEI_IMUNE), ['E1303']);
    assert.deepEqual(codesOf({ ...SUSPENSA, 'prest/regTrib/regEspTrib': '6' }), ['E1311']);
    assert.deepEqual(codesOf({ ...MEI_IMUNE, 'valores/trib/tribMun/pAliq': null, 'valores/vDedRed/vDR': '10.00' }), [
      'E0435',
    ]);
  });

  test('and each thing that the suspension forbids is told at its place', () => {
    const patch: Patch = {
      ...SUSPENSA,
      'valores/trib/tribMun/tpRetISSQN': '2',
      '=valor_base_calculo': '1000.00',
      '=valor_issqn': '20.00',
    };
    assert.deepEqual(
      lawOverExample(patch).map(({ codigo, xpath }) => [codigo, xpath]),
      [
        ['E1311', '/DPS/infDPS/valores/trib/tribMun/tpRetISSQN'],
        ['E1311', '/DPS/infDPS/valores/trib/tribMun/pAliq'],
        ['E1311', '/NFSe/infNFSe/valores/vBC'],
        ['E1311', '/NFSe/infNFSe/valores/vISSQN'],
      ],
    );
  });
});

test('the services without the minimum are 51, and exist', () => {
  assert.equal(WITHOUT_MINIMUM.size, 51);
  for (const code of WITHOUT_MINIMUM) assert.equal(servicoOf(code)?.emissivel, true, code);
});

describe('a tribISSQN as layout 1.00 numbered it', () => {
  const said = (patch: Patch, code: string): string =>
    lawOverExample(patch).find(({ codigo }) => codigo === code)?.mensagem ?? assert.fail(`no ${code}`);
  const COMO_EXPORTACAO: Patch = {
    'valores/trib/tribMun/tribISSQN': '2',
    'valores/trib/tribMun/pAliq': null,
  };

  test('2 with any sign of an export says that export is 3, and alone asks for the immunity', () => {
    const signs: readonly (readonly [sign: string, Patch])[] = [
      ['comExt', COMERCIO_EXTERIOR],
      ['cPaisResult', { 'valores/trib/tribMun/cPaisResult': 'DE' }],
      ['toma/end/endExt', TOMADOR_NO_EXTERIOR],
      ['cPaisPrestacao', { 'serv/locPrest/cLocPrestacao': null, 'serv/locPrest/cPaisPrestacao': 'DE' }],
    ];
    for (const [sign, patch] of signs) {
      const mensagem = said({ ...COMO_EXPORTACAO, ...patch }, 'E0592');
      assert.ok(mensagem.includes(sign), mensagem);
      assert.match(
        mensagem,
        /exportação é tribISSQN 3 \(era 2 no leiaute 1\.00\).*envie tribISSQN 3; se a operação é imune/,
      );
    }
    assert.doesNotMatch(said(COMO_EXPORTACAO, 'E0592'), /exporta/);
  });

  test('4 with the type of an immunity says that immunity is 2; 3 without an export, which number non-incidence has', () => {
    const immune = {
      ...COMO_EXPORTACAO,
      'valores/trib/tribMun/tribISSQN': '4',
      'valores/trib/tribMun/tpImunidade': '1',
    };
    assert.match(said(immune, 'E0592'), /se a operação é imune, envie tribISSQN 2 \(era 4 no leiaute 1\.00\)/);
    const none = { ...COMO_EXPORTACAO, 'valores/trib/tribMun/tribISSQN': '3' };
    for (const code of ['E0330', 'E0590']) assert.match(said(none, code), /não incidência é 4, e imunidade, 2/);
  });
});

test('a rate that must go is not also told to be corrected', () => {
  const TRIB = 'valores/trib/tribMun';
  const codesOf = (patch: Patch): string[] => lawOverExample(patch).map(({ codigo }) => codigo);
  const high = { [`${TRIB}/pAliq`]: '9.99' };
  assert.deepEqual(codesOf(high), ['E0595']);
  assert.deepEqual(codesOf({ ...TRIBUTACOES.imune, ...high }), ['E1303']);
  assert.deepEqual(codesOf({ 'prest/regTrib/regEspTrib': '5', ...high }), ['E0604']);
});
