import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lawOverExample } from '../../../test/support/law.ts';
import { errorOf } from '../errors.ts';
import type { Vigencia } from '../moment.ts';
import type { Patch } from './rule.ts';
import { avisosOn, EXAMPLE_FACTS } from './trial.ts';

/** The law of a provider with these periods in the Simples Nacional, on the day of the competence. */
const optante = (simples: readonly Vigencia[], dCompet: string) => ({
  ...EXAMPLE_FACTS,
  hoje: dCompet,
  prestador: { ...EXAMPLE_FACTS.prestador, simples },
});

describe('E802, the group that is due', () => {
  const SEM_GRUPO: Patch = { IBSCBS: null };

  /** The message of the only fault, or undefined if the note passes. */
  function refusal(patch: Patch, simples: readonly Vigencia[] = []): string | undefined {
    const dCompet = patch.dCompet ?? '2026-10-05';
    const [fault, ...more] = lawOverExample({ ...SEM_GRUPO, ...patch }, optante(simples, dCompet));
    assert.deepEqual(more, []);
    if (fault === undefined) return undefined;
    assert.equal(fault.codigo, 'E802');
    assert.equal(fault.xpath, '/DPS/infDPS/IBSCBS');
    return fault.mensagem;
  }

  test('each segment from its own date on, which the message names with the competence', () => {
    const cases: readonly (readonly [patch: Patch, lastWithout: string, first: string, named: string])[] = [
      [{}, '2026-09-30', '2026-10-01', '01/10/2026'],
      [{ 'serv/cServ/cTribNac': '010501' }, '2026-11-30', '2026-12-01', '01/12/2026'],
      [{ 'serv/cServ/cTribNac': '010901' }, '2026-11-30', '2026-12-01', '01/12/2026'],
    ];
    for (const [patch, lastWithout, first, named] of cases) {
      assert.equal(refusal({ ...patch, dCompet: lastWithout }), undefined);
      const message = refusal({ ...patch, dCompet: first });
      assert.match(message!, new RegExp(`desde ${named} `));
      assert.match(message!, new RegExp(`a competência, ${first.slice(8)}/${first.slice(5, 7)}/2026`));
    }
  });

  test('the Simples Nacional of the registry at the competence decides, not opSimpNac', () => {
    const always = [{ inicio: '2018-01-01', fim: undefined }];
    assert.equal(refusal({ dCompet: '2026-12-31' }, always), undefined);
    assert.match(refusal({ dCompet: '2027-01-01' }, always)!, /desde 01\/01\/2027 .*optante do Simples Nacional/);

    const left = [{ inicio: '2018-01-01', fim: '2026-11-15' }];
    assert.equal(refusal({ dCompet: '2026-11-15' }, left), undefined);
    assert.match(refusal({ dCompet: '2026-11-16' }, left)!, /desde 01\/10\/2026 /);

    // Both dates: that of the segment, and the day after the last one in the Simples, which situacao reports too.
    assert.match(
      refusal({ dCompet: '2026-11-16' }, left)!,
      /foi optante do Simples Nacional até 15\/11\/2026, e o deve desde 16\/11\/2026\./,
    );
    const longAgo = [{ inicio: '2018-01-01', fim: '2026-09-30' }];
    assert.doesNotMatch(refusal({ dCompet: '2026-10-01' }, longAgo)!, /foi optante/);
    // The Simples itself owed the group in 2027.
    const in2027 = [{ inicio: '2018-01-01', fim: '2027-03-31' }];
    assert.match(refusal({ dCompet: '2027-04-01' }, in2027)!, /até 31\/03\/2027, e o deve desde 01\/01\/2027\./);

    const says: Patch = { 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '2' };
    assert.match(refusal(says)!, /não consta como optante do Simples Nacional; opSimpNac não decide/);
  });

  test('a note sent late of a competence before the date needs no group', () => {
    assert.deepEqual(lawOverExample({ ...SEM_GRUPO, dCompet: '2026-09-15' }, optante([], '2027-02-01')), []);
  });
});

describe('one mistake is one fault', () => {
  const codes = (patch: Patch): readonly string[] => lawOverExample(patch).map(({ codigo }) => codigo);
  const TRIB = 'IBSCBS/valores/trib/gIBSCBS';

  test('a classification of a situation that does not exist is told of the situation alone', () => {
    assert.deepEqual(codes({ [`${TRIB}/CST`]: '999', [`${TRIB}/cClassTrib`]: '999001' }), ['E0002']);
    // Two mistakes are two faults.
    assert.deepEqual(codes({ [`${TRIB}/CST`]: '999', [`${TRIB}/cClassTrib`]: '000999' }), ['E0002', 'E0958']);
  });

  test('a group of before 2026 is told of the group, wherever national rules refuse or only remark', () => {
    const before: Patch = { dCompet: '2025-12-31' };
    const suspended: Patch = {
      [`${TRIB}/CST`]: '550',
      [`${TRIB}/cClassTrib`]: '550016',
      [`${TRIB}/gTribRegular/CSTReg`]: '000',
      [`${TRIB}/gTribRegular/cClassTribReg`]: '000001',
    };
    for (const regrasNacionais of ['recusa', 'avisa'] as const) {
      for (const patch of [before, { ...before, ...suspended }]) {
        const [fault, ...more] = lawOverExample(patch, { ...EXAMPLE_FACTS, regrasNacionais });
        assert.deepEqual([fault?.codigo, fault?.xpath, more], ['E0850', '/DPS/infDPS/IBSCBS', []], regrasNacionais);
        assert.match(fault!.mensagem, /31\/12\/2025.*desde 01\/01\/2026\. Retire o grupo/);
      }
    }
    // A classification that does not exist is another mistake.
    assert.deepEqual(codes({ ...before, [`${TRIB}/cClassTrib`]: '000999' }), ['E0850', 'E0958']);
  });

  test('a declared municipality of incidence that is none is not also another than the computed one', () => {
    const declared: Patch = { '=municipio_incidencia': '9999999' };
    assert.deepEqual(codes(declared), ['E403']);
    const immune: Patch = { 'valores/trib/tribMun/tribISSQN': '4', 'valores/trib/tribMun/pAliq': null };
    assert.deepEqual(codes({ ...declared, ...immune }), ['E1301']);
  });

  test('a country of the result where none belongs is not also looked up', () => {
    assert.deepEqual(codes({ 'valores/trib/tribMun/cPaisResult': 'XQ' }), ['E0591']);
  });
});

describe('E0901, the indicator of the NFS-e Via', () => {
  test('is remarked on where Anexo VIII does not relate it, and is recommended to nobody', () => {
    const told = (patch: Patch) => avisosOn(patch).filter(({ codigo }) => codigo === 'E0901');
    const [aviso, ...more] = told({ 'IBSCBS/cIndOp': '080101' });
    assert.deepEqual([aviso?.xpath, more], ['/DPS/infDPS/IBSCBS/cIndOp', []]);
    assert.match(aviso!.mensagem, /NFS-e Via.* só o relaciona a 22\.01 com cClassTrib 820006\./);
    const [fault] = lawOverExample({ 'IBSCBS/cIndOp': '999999' });
    assert.equal(fault?.codigo, 'E0901');
    assert.match(fault!.mensagem, /070102, 100101/);
  });
});

test('a classification that does not exist is not also of another situation', () => {
  const faults = lawOverExample({ 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '999999' });
  assert.deepEqual(
    faults.map(({ codigo }) => codigo),
    ['E0958'],
  );
});

test('E1561 says what there is with a presumed credit: not in the table, not of the NFS-e, not in force yet', () => {
  const said = (cCredPres: string) => lawOverExample({ 'IBSCBS/valores/trib/gIBSCBS/cCredPres': cCredPres });
  for (const [cCredPres, wanted] of [
    ['99', /99 não existe na tabela/],
    ['03', /03 existe, mas não se usa em NFS-e/],
    ['02', /^cCredPres 02 só vale desde a competência 01\/01\/2027\. Retire cCredPres, ou confira dCompet\.$/],
  ] as const) {
    const [fault, ...more] = said(cCredPres);
    assert.deepEqual([fault?.codigo, more], ['E1561', []]);
    assert.match(fault!.mensagem, wanted);
  }
});

describe('what a JSON body declares', () => {
  test('a divergence carries declared and expected value, in the fault and side by side', () => {
    const [fault, ...more] = lawOverExample({ '=ibscbs.total_cbs': '9.00', '=ibscbs.total_ibs': '0.98' });
    assert.deepEqual(more, []);
    assert.deepEqual(
      { ...fault, mensagem: undefined },
      {
        codigo: 'E1582',
        xpath: '/NFSe/infNFSe/IBSCBS/totCIBS/gCBS/vCBS',
        mensagem: undefined,
        encontrado: '9.00',
        esperado: '8.82',
        detalhes: 'ibscbs.total_cbs: declarado 9.00, esperado 8.82, tolerância 0.02.',
      },
    );
    assert.match(fault!.mensagem, /total_cbs declara 9\.00, e o calculado é 8\.82, com tolerância de R\$ 0,02/);
  });

  test('every field that diverges is told at once, in the order of the note', () => {
    const faults = lawOverExample({
      '=ibscbs.total_cbs': '9.00',
      '=ibscbs.valores_base_calculo': '1000.00',
      '=ibscbs.valores_aliquota_cbs': '8.80',
    });
    assert.deepEqual(
      faults.map(({ codigo }) => codigo),
      ['E1530', 'E1558', 'E1582'],
    );
  });

  test('a rate of everybody’s, declared of a classification with its own, is answered with both; and a remark names them', () => {
    const locacao: Patch = {
      'IBSCBS/valores/trib/gIBSCBS/CST': '221',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '221001',
    };
    const declared = { '=ibscbs.valores_aliquota_ibs_uf': '0.10', '=ibscbs.valores_aliquota_cbs': '0.90' };
    const faults = lawOverExample({ ...locacao, ...declared });
    assert.deepEqual(
      faults.map(({ codigo, encontrado, esperado }) => [codigo, encontrado, esperado]),
      [
        ['E1539', '0.10', '0.37'],
        ['E1558', '0.90', '3.29'],
      ],
    );
    assert.match(
      faults[1]!.mensagem,
      /declara 0\.90 %, e o calculado é 3\.29 % \(o cClassTrib 221001 tem alíquota própria, de 3\.285 %, no lugar dos 0\.90 % gerais\)/,
    );
    const [said] = avisosOn(locacao).filter(({ codigo }) => codigo === 'E1539');
    assert.match(said!.mensagem, /IBS-UF 0\.365 % \(no lugar de 0\.10 %\); CBS 3\.285 % \(no lugar de 0\.90 %\)/);
    // The calculator applies the general rates to these two (V0056): no remark, and the declared values are correct.
    for (const cClassTrib of ['010001', '010002']) {
      const setorial: Patch = {
        'IBSCBS/valores/trib/gIBSCBS/CST': '010',
        'IBSCBS/valores/trib/gIBSCBS/cClassTrib': cClassTrib,
      };
      assert.deepEqual(lawOverExample({ ...setorial, ...declared }), []);
      assert.deepEqual(
        avisosOn(setorial).filter(({ codigo }) => codigo === 'E1539'),
        [],
      );
    }
  });

  test('PIS and COFINS of a competence from 2027 on are a remark', () => {
    const com: Patch = {
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
    };
    const said = (dCompet: string) =>
      avisosOn({ ...com, dCompet })
        .filter(({ codigo }) => codigo === 'E803')
        .map(({ mensagem }) => mensagem);
    assert.deepEqual(said('2026-12-31'), []);
    assert.equal(errorOf('E803')?.mensagem, 'PIS e COFINS numa competência em que já não existem');
    assert.match(said('2027-01-01').join(), /O PIS e a COFINS acabaram em 31\/12\/2026/);
    assert.deepEqual(lawOverExample({ ...com, dCompet: '2027-01-01' }), []);
  });

  test('without a published rate there is nothing to compare with, and that is said', () => {
    const patch: Patch = { dCompet: '2027-01-04', '=ibscbs.total_cbs': '84.00' };
    const facts = optante([], '2027-01-04');
    assert.deepEqual(lawOverExample(patch, facts), []);
    const said = avisosOn(patch, facts).filter(({ codigo }) => codigo === 'E1515');
    assert.equal(said.length, 2);
    assert.match(said[1]!.mensagem, /total_cbs.* não foram comparados/);
  });
});

describe('tpRetPisCofins', () => {
  const said = (tpRetPisCofins: string): readonly string[] =>
    avisosOn({
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': tpRetPisCofins,
      ...(tpRetPisCofins === '0' ? {} : { 'valores/trib/tribFed/vRetCSLL': '36.50' }),
    })
      .filter(({ xpath }) => xpath.endsWith('/tpRetPisCofins'))
      .map(({ mensagem }) => mensagem);

  test('1 and 2 are accepted with a remark that names NT 007 and the new codes; the others have none', () => {
    const told = Array.from({ length: 10 }, (_, code) => said(String(code)));
    assert.deepEqual(
      told.map(({ length }) => length),
      [0, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    );
    assert.match(told[1]![0]!, /Nota Técnica 007.*PIS e COFINS, e não CSLL, use 4/);
    assert.match(told[2]![0]!, /Nota Técnica 007.*nada foi retido, use 0.*só a CSLL foi retida, 8/);
  });
});
