/** The law over a whole document: the faults of the rules, then those of the amounts, as far as these can be judged. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dpsOf, EXAMPLE_FACTS } from '../../test/support/law.ts';
import type { IssqnAmounts } from './assess.ts';
import { assessIssqn } from './assess.ts';
import { type Decimal, decimal } from './decimal.ts';
import type { Fault } from './fault.ts';
import { assessIbsCbs } from './ibscbs.ts';
import { ibsCbsInput, issqnInput, judge, judgeWhole } from './judge.ts';
import type { Dps, DpsPath } from './layout/dps.ts';
import { INPUTS, type Inputs } from './rules/inputs.ts';
import type { Patch } from './rules/rule.ts';
import { ALL_RULES } from './rules/rules.ts';
import { declaredBy, faultsOf } from './rules/trial.ts';

const PISCOFINS = 'valores/trib/tribFed/piscofins';
const PIS: Patch = {
  [`${PISCOFINS}/CST`]: '01',
  [`${PISCOFINS}/vBCPisCofins`]: '1000.00',
  [`${PISCOFINS}/pAliqPis`]: '0.65',
  [`${PISCOFINS}/pAliqCofins`]: '3.00',
  [`${PISCOFINS}/vPis`]: '6.50',
  [`${PISCOFINS}/vCofins`]: '30.00',
  [`${PISCOFINS}/tpRetPisCofins`]: '0',
};

/** A building site for a service that has none; no amount depends on it (E0372). */
const OBRA: Patch = { 'serv/obra/cObra': '1', 'serv/obra/inscImobFisc': '2' };

const codes = (faults: readonly Fault[]): readonly string[] => faults.map(({ codigo }) => codigo);

function wholeOf(patch: Patch): readonly Fault[] {
  const judged = judgeWhole(dpsOf(patch), EXAMPLE_FACTS, declaredBy(patch));
  return 'faults' in judged ? judged.faults : [];
}

/** Every rejected example whose structure is sound. */
const REJECTED: readonly Patch[] = ALL_RULES.flatMap(({ rejects }) => rejects).filter((patch) => {
  const first = faultsOf(patch)[0];
  return first !== undefined && ALL_RULES.some(({ code }) => code === first.codigo) && isSound(patch);
});

function isSound(patch: Patch): boolean {
  try {
    dpsOf(patch);
    return true;
  } catch {
    return false;
  }
}

const placeOf = ({ xpath }: Fault): string => xpath.replace(/\[\d+\]/g, '').replace('/DPS/infDPS/', '');

describe('what was declared of the amounts', () => {
  test('is told after the faults of the rules, where these do not touch it; issuance stops before', () => {
    const patch = { ...OBRA, '=ibscbs.total_cbs': '99.00', '=valor_issqn': '7.00' };
    const judged = judge(dpsOf(patch), EXAMPLE_FACTS, declaredBy(patch));
    assert.deepEqual(codes('faults' in judged ? judged.faults : []), ['E0372']);
    const [ofRule, ofIssqn, ofCbs] = wholeOf(patch);
    assert.deepEqual([ofRule?.codigo, ofIssqn?.codigo, ofCbs?.codigo], ['E0372', 'E404', 'E1582']);
    // 1000.00 at 2 % is 20.00; (1000.00 - 20.00) at 0.90 % is 8.82
    assert.deepEqual([ofIssqn?.esperado, ofCbs?.esperado], ['20.00', '8.82']);
    assert.equal(wholeOf(patch).length, 3);
  });

  test('of IBS and CBS is told beside that of the ISSQN', () => {
    const patch = { '=ibscbs.total_cbs': '99.00', '=valor_base_calculo': '7.00' };
    assert.deepEqual(codes(faultsOf(patch)), ['E404']);
    assert.deepEqual(codes(wholeOf(patch)), ['E404', 'E1582']);
  });

  test('is not told where the fault is of what it is made of', () => {
    const wrong = { '=ibscbs.total_cbs': '99.00', '=ibscbs.valores_aliquota_cbs': '99.00', '=valor_issqn': '7.00' };
    // The price is wrong: only the rate is known.
    assert.deepEqual(codes(wholeOf({ ...wrong, 'valores/vServPrest/vServ': '0.00' })), ['E401', 'E1558']);
    // The classification is wrong: the ISSQN is known.
    const clazz = { 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '000002' };
    assert.deepEqual(codes(wholeOf({ ...wrong, ...clazz })), ['E0958', 'E404']);
    // The base is below zero.
    assert.deepEqual(codes(wholeOf({ ...wrong, 'valores/vDedRed/vDR': '1000.01' })), ['E0427', 'E404', 'E1558']);
  });

  test('is no second fault at a place that has one', () => {
    const patch = { '=valor_base_calculo': '1000.00', '=valor_issqn': '20.02' };
    assert.deepEqual(codes(wholeOf(patch)), ['E404']);
  });
});

describe('over every rejected example', () => {
  test('it begins with what issuance answers, and one mistake stays one fault', () => {
    assert.ok(REJECTED.length > 150, String(REJECTED.length));
    for (const patch of REJECTED) assert.deepEqual(wholeOf(patch), faultsOf(patch), JSON.stringify(patch));
  });

  test('a rate that cannot be right is told unless the fault is about the rate', () => {
    const ofRates = [
      'dCompet',
      'IBSCBS',
      'IBSCBS/tpEnteGov',
      'IBSCBS/valores/trib/gIBSCBS/CST',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib',
    ];
    let told = 0;
    for (const patch of REJECTED) {
      const dps = dpsOf(patch);
      // Rates are published for 2026 alone.
      if (dps.IBSCBS === undefined || !dps.dCompet.startsWith('2026')) continue;
      const declared = { ...declaredBy(patch), ibscbs: { valores_aliquota_ibs_uf: decimal('99.00') } };
      const judged = judgeWhole(dps, EXAMPLE_FACTS, declared);
      assert.ok('faults' in judged);
      const isOpen = judged.faults.some((fault) => ofRates.includes(placeOf(fault)));
      assert.equal(codes(judged.faults).includes('E1539'), !isOpen, JSON.stringify(patch));
      if (!isOpen) told += 1;
    }
    assert.ok(told > 100, String(told));
  });
});

describe('the inputs of an amount', () => {
  type Amounts = { readonly issqn: IssqnAmounts; readonly ibscbs: ReturnType<typeof assessIbsCbs> | undefined };

  const amountsOf = (dps: Dps): Amounts => {
    const issqn = assessIssqn(issqnInput(dps, EXAMPLE_FACTS));
    const input = ibsCbsInput(dps, issqn);
    return { issqn, ibscbs: input && assessIbsCbs(input) };
  };

  const SEEN: readonly (readonly [Inputs, (amounts: Amounts) => readonly (Decimal | undefined)[]])[] = [
    [INPUTS.issqnBase, ({ issqn }) => [issqn.vBC]],
    [INPUTS.issqn, ({ issqn }) => [issqn.vISSQN]],
    [INPUTS.net, ({ issqn }) => [issqn.vLiq]],
    [INPUTS.ibsCbsRates, ({ ibscbs }) => of(ibscbs, ({ valores: { uf, fed } }) => [uf.pAliqEfetUF, fed.pCBS])],
    [INPUTS.ibsCbs, ({ ibscbs }) => of(ibscbs, ({ valores, totCIBS }) => [valores.vBC, totCIBS.gCBS.vCBS])],
    [INPUTS.total, ({ ibscbs }) => of(ibscbs, ({ totCIBS }) => [totCIBS.vTotNF])],
  ];

  function of(
    ibscbs: Amounts['ibscbs'],
    pick: (assessed: Exclude<Amounts['ibscbs'], undefined | { unavailable: unknown }>) => readonly Decimal[],
  ): readonly (Decimal | undefined)[] {
    return ibscbs === undefined || 'unavailable' in ibscbs ? [] : pick(ibscbs);
  }

  /** The initial patch, and the one place that changes. */
  const CHANGES: readonly (readonly [before: Patch, at: DpsPath, to: string])[] = [
    [{}, 'valores/vServPrest/vServ', '2000.00'],
    [{}, 'valores/vDescCondIncond/vDescIncond', '10.00'],
    [{}, 'valores/vDescCondIncond/vDescCond', '10.00'],
    [{}, 'valores/vDedRed/vDR', '10.00'],
    [{}, 'valores/vDedRed/pDR', '10.00'],
    [{}, 'valores/trib/tribMun/BM/pRedBCBM', '10.00'],
    [{}, 'valores/trib/tribMun/BM/vRedBCBM', '10.00'],
    [{}, 'valores/trib/tribMun/pAliq', '5.00'],
    [{}, 'valores/trib/tribMun/tpRetISSQN', '2'],
    [{}, 'valores/trib/tribMun/tribISSQN', '4'],
    [{}, 'prest/regTrib/opSimpNac', '2'],
    [{}, 'prest/regTrib/regEspTrib', '1'],
    [{}, 'valores/trib/tribFed/vRetCP', '1.00'],
    [{}, 'valores/trib/tribFed/vRetIRRF', '1.00'],
    [{}, 'valores/trib/tribFed/vRetCSLL', '1.00'],
    [PIS, `${PISCOFINS}/vPis`, '7.50'],
    [PIS, `${PISCOFINS}/vCofins`, '31.00'],
    [{}, 'IBSCBS/valores/trib/gIBSCBS/cClassTrib', '200052'],
    [{}, 'dCompet', '2027-01-01'],
  ];

  for (const [before, at, to] of CHANGES) {
    test(`have ${at}, if the amount changes with it`, () => {
      const [one, other] = [amountsOf(dpsOf(before)), amountsOf(dpsOf({ ...before, [at]: to }))];
      let changed = 0;
      for (const [inputs, pick] of SEEN) {
        const [was, is] = [pick(one), pick(other)];
        if (was.length === is.length && was.every((value, place) => value === is[place])) continue;
        changed += 1;
        assert.ok(inputs.has(at), `${[...inputs].length} places, without ${at}`);
      }
      assert.ok(changed > 0, `nothing changes with ${at}`);
    });
  }
});
