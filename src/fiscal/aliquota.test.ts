import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dpsOf, EXAMPLE_FACTS } from '../../test/support/law.ts';
import { registeredAliquotaOf } from './aliquota.ts';
import { decimal, formatDecimal } from './decimal.ts';
import type { Facts } from './facts.ts';
import { judge } from './judge.ts';
import type { Patch } from './rules/rule.ts';
import { avisosOn } from './rules/trial.ts';

/** São Paulo in production, which registered 5 % for whatever service. */
const SAO_PAULO: Facts = {
  ...EXAMPLE_FACTS,
  ambiente: 'producao',
  cMun: '3550308',
  aliquotaRegistrada: () => decimal('5.00'),
};

const SANDBOX: Facts = { ...EXAMPLE_FACTS, aliquotaRegistrada: () => decimal('5.00') };

/** Provided in Rio, at a fair: due there. */
const NO_RIO: Patch = { tpAmb: '1', 'serv/cServ/cTribNac': '171001', 'serv/locPrest/cLocPrestacao': '3304557' };

/** Assesses inside the Simples Nacional. */
const SIMPLES: Patch = { 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '1' };

function amountsOf(patch: Patch, facts: Facts) {
  const judged = judge(dpsOf(patch), facts);
  assert.ok(!('faults' in judged), 'the law refuses the example');
  const { pAliqAplic, vISSQN } = judged.amounts;
  return {
    cLocIncid: judged.cLocIncid,
    pAliqAplic: pAliqAplic && formatDecimal(pAliqAplic),
    vISSQN: vISSQN && formatDecimal(vISSQN),
  };
}

describe('the registered rate', () => {
  test('goes before the declared one where the tax is the municipality’s own', () => {
    // 1000.00 × 5 %
    assert.deepEqual(amountsOf({ tpAmb: '1' }, SAO_PAULO), {
      cLocIncid: '3550308',
      pAliqAplic: '5.00',
      vISSQN: '50.00',
    });
  });

  test('is not that of another municipality, whose tax it is', () => {
    // 1000.00 × 2 %, the rate of the DPS
    assert.deepEqual(amountsOf(NO_RIO, SAO_PAULO), { cLocIncid: '3304557', pAliqAplic: '2.00', vISSQN: '20.00' });
  });

  test('and without a declared one there is none', () => {
    const undeclared: Patch = { ...NO_RIO, 'valores/trib/tribMun/pAliq': null };
    assert.deepEqual(amountsOf(undeclared, SAO_PAULO), {
      cLocIncid: '3304557',
      pAliqAplic: undefined,
      vISSQN: undefined,
    });
    const codes = avisosOn(undeclared, SAO_PAULO).map(({ codigo }) => codigo);
    assert.ok(codes.includes('E0619'), 'the sender is told');
  });

  test('is every municipality’s in the sandbox', () => {
    assert.deepEqual(amountsOf(NO_RIO, SANDBOX), { cLocIncid: '3304557', pAliqAplic: '5.00', vISSQN: '50.00' });
  });

  test('is none for an operation without incidence', () => {
    const imune: Patch = {
      tpAmb: '1',
      'valores/trib/tribMun/tribISSQN': '2',
      'valores/trib/tribMun/tpImunidade': '1',
      'valores/trib/tribMun/pAliq': null,
    };
    assert.equal(registeredAliquotaOf(dpsOf(imune), SAO_PAULO), undefined);
  });

  test('comes after the rate that a company has in the Simples Nacional (LC 123/2006, art. 21, § 4º)', () => {
    const declared: Patch = { tpAmb: '1', ...SIMPLES, 'valores/trib/tribMun/pAliq': '2.01' };
    // 1000.00 × 2.01 %
    assert.deepEqual(amountsOf(declared, SAO_PAULO), {
      cLocIncid: '3550308',
      pAliqAplic: '2.01',
      vISSQN: '20.10',
    });
    assert.equal(
      avisosOn(declared, SAO_PAULO).some(({ codigo }) => codigo === 'E0617'),
      false,
    );
    const outside: Patch = { ...declared, 'prest/regTrib/regApTribSN': '2' };
    assert.equal(amountsOf(outside, SAO_PAULO).pAliqAplic, '5.00', 'the ISSQN by the note');
    const undeclared: Patch = { ...declared, 'valores/trib/tribMun/pAliq': null };
    assert.equal(amountsOf(undeclared, SAO_PAULO).pAliqAplic, '5.00');
  });
});
