/** The trace of the ISSQN beside values computed by hand; the expected formulas contain the arithmetic. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dpsOf, EXAMPLE_FACTS } from '../../test/support/law.ts';
import { assessIssqn } from './assess.ts';
import { decimal } from './decimal.ts';
import { explainIssqn } from './explain-issqn.ts';
import type { Facts } from './facts.ts';
import { issqnInput } from './judge.ts';
import type { Dps } from './layout/dps.ts';
import type { Patch } from './rules/rule.ts';

const TRIB_MUN = 'valores/trib/tribMun';
const BM = { [`${TRIB_MUN}/BM/nBM`]: '35503080100001' };

/** Each step as one line. */
function trace(patch: Patch, facts: Partial<Facts> = {}): string[] {
  const dps = dpsOf(patch);
  const all = { ...EXAMPLE_FACTS, ...facts };
  const steps = explainIssqn(dps, all, assessIssqn(issqnInput(dps, all)));
  return steps.map(({ campo, formula, valor }) => `${campo}: ${formula} = ${valor}`);
}

/** The one line of a field. */
function lineOf(campo: string, patch: Patch, facts: Partial<Facts> = {}): string {
  const lines = trace(patch, facts).filter((line) => line.startsWith(`${campo}: `));
  assert.equal(lines.length, 1, `${campo} in ${trace(patch, facts).join('\n')}`);
  return lines[0]!.slice(campo.length + 2);
}

const declaredRate = 'pAliq da DPS: este ambiente não tem alíquotas cadastradas';

describe('the trace of the ISSQN', () => {
  test('of a plain note: 1000.00 × 2 % = 20.00, nothing withheld', () => {
    assert.deepEqual(trace({}), [
      'valores/vBC: vServ 1000.00 = 1000.00',
      `valores/pAliqAplic: ${declaredRate} = 2.00`,
      'valores/vISSQN: vBC 1000.00 × pAliqAplic 2.00 % = 20.00',
      'valores/vTotalRet: nada retido = 0.00',
      'valores/vLiq: vServ 1000.00 = 1000.00',
    ]);
  });

  test('of every reducer together', () => {
    // (1000 − 50) × 30 % = 285; (1000 − 50 − 285) × 10 % = 66.50; third parties 20 + 30.50 = 50.50;
    // 1000 − 50 − 285 − 66.50 − 50.50 = 548; × 3 % = 16.44; withheld 11 + 15 + 46.50 + 16.44 = 88.94;
    // 1000 − 50 − 20 − 88.94 = 841.06
    const dps = dpsOf({
      'valores/vDescCondIncond/vDescIncond': '50.00',
      'valores/vDescCondIncond/vDescCond': '20.00',
      'valores/vDedRed/pDR': '30.00',
      ...BM,
      [`${TRIB_MUN}/BM/pRedBCBM`]: '10.00',
      [`${TRIB_MUN}/pAliq`]: '3.00',
      [`${TRIB_MUN}/tpRetISSQN`]: '2',
      'valores/trib/tribFed/vRetCP': '11.00',
      'valores/trib/tribFed/vRetIRRF': '15.00',
      'valores/trib/tribFed/vRetCSLL': '46.50',
    });
    const documentos = ['20.00', '30.50'].map((value) => ({ vlrReeRepRes: decimal(value) }));
    const IBSCBS = { ...dps.IBSCBS, valores: { ...dps.IBSCBS?.valores, gReeRepRes: { documentos } } };
    const withThirds = { ...dps, IBSCBS } as unknown as Dps;
    const steps = explainIssqn(withThirds, EXAMPLE_FACTS, assessIssqn(issqnInput(withThirds, EXAMPLE_FACTS)));
    assert.deepEqual(
      steps.map(({ campo, formula, valor }) => `${campo}: ${formula} = ${valor}`),
      [
        'IBSCBS/valores/vCalcReeRepRes: valores de terceiros, soma de vlrReeRepRes: 20.00 + 30.50 = 50.50',
        'valores/vCalcDR: (vServ 1000.00 − vDescIncond 50.00) × pDR 30.00 % = 285.00',
        'valores/vCalcBM: (vServ 1000.00 − vDescIncond 50.00 − vCalcDR 285.00) × pRedBCBM 10.00 % = 66.50',
        'valores/vBC: vServ 1000.00 − vDescIncond 50.00 − vCalcDR 285.00 − vCalcBM 66.50 − vCalcReeRepRes 50.50 = 548.00',
        `valores/pAliqAplic: ${declaredRate} = 3.00`,
        'valores/vISSQN: vBC 548.00 × pAliqAplic 3.00 % = 16.44',
        'valores/vTotalRet: vRetCP 11.00 + vRetIRRF 15.00 + vRetCSLL 46.50 + vISSQN 16.44 (retido pelo tomador, tpRetISSQN 2) = 88.94',
        'valores/vLiq: vServ 1000.00 − vDescIncond 50.00 − vDescCond 20.00 − vTotalRet 88.94 = 841.06',
      ],
    );
  });

  test('of reducers declared in reais, which the note does not repeat', () => {
    // 1000 − 100 − 45.50 = 854.50; × 2 % = 17.09
    const patch = { 'valores/vDedRed/vDR': '100.00', ...BM, [`${TRIB_MUN}/BM/vRedBCBM`]: '45.50' };
    assert.deepEqual(trace(patch).slice(0, 3), [
      'DPS/infDPS/valores/vDedRed/vDR: dedução ou redução declarada em reais = 100.00',
      'DPS/infDPS/valores/trib/tribMun/BM/vRedBCBM: redução da base por benefício municipal, declarada em reais = 45.50',
      'valores/vBC: vServ 1000.00 − vDR 100.00 − vRedBCBM 45.50 = 854.50',
    ]);
    assert.equal(lineOf('valores/vISSQN', patch), 'vBC 854.50 × pAliqAplic 2.00 % = 17.09');
  });

  test('of a percentage without a discount, in which there is nothing to subtract first', () => {
    assert.equal(lineOf('valores/vCalcDR', { 'valores/vDedRed/pDR': '30.00' }), 'vServ 1000.00 × pDR 30.00 % = 300.00');
  });

  test('of what the intermediary withholds; the own debits of PIS and COFINS are said to stay out', () => {
    const patch = {
      [`${TRIB_MUN}/tpRetISSQN`]: '3',
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '1.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '7.60',
      'valores/trib/tribFed/piscofins/vPis': '16.50',
      'valores/trib/tribFed/piscofins/vCofins': '76.00',
    };
    assert.equal(
      lineOf('valores/vTotalRet', patch),
      'vISSQN 20.00 (retido pelo intermediário, tpRetISSQN 3); vPis e vCofins são débito do próprio prestador e não entram = 20.00',
    );
    assert.equal(lineOf('valores/vLiq', patch), 'vServ 1000.00 − vTotalRet 20.00 = 980.00');
  });
});

describe('where the rate comes from', () => {
  const rate = (patch: Patch, facts: Partial<Facts> = {}): string => lineOf('valores/pAliqAplic', patch, facts);
  const registered: Partial<Facts> = {
    aliquotaRegistrada: () => decimal('3.50'),
    servicoMunicipal: () => ({ codigo: '001', descricao: 'Serviço', cTribNac: '010101' }),
  };

  test('registered for the service, before the one of the DPS', () => {
    assert.equal(
      rate({}, registered),
      'alíquota registrada pelo município para cTribNac 010101 na competência 2026-10-05, e prevalece sobre pAliq 2.00 da DPS = 3.50',
    );
    assert.equal(
      rate({ 'serv/cServ/cTribMun': '001', [`${TRIB_MUN}/pAliq`]: '3.50' }, registered),
      'alíquota registrada pelo município para cTribMun 001 na competência 2026-10-05 = 3.50',
    );
  });

  test('the standard rate of a municipality without a list', () => {
    assert.equal(
      rate({ [`${TRIB_MUN}/pAliq`]: null }, { aliquotaRegistrada: () => decimal('4.00') }),
      'alíquota padrão do município, que não tem lista de serviços = 4.00',
    );
  });

  test('the sandbox puts one in where none is named; production has not, and there is no tax', () => {
    const none = { [`${TRIB_MUN}/pAliq`]: null };
    assert.equal(
      rate(none, { regrasNacionais: 'avisa' }),
      'alíquota posta pelo ambiente de integração: a DPS não traz pAliq, e este ambiente não tem alíquotas cadastradas = 5.00',
    );
    const production: Partial<Facts> = { ambiente: 'producao', cMun: '3550308' };
    assert.equal(
      rate(none, production),
      'não há alíquota a aplicar: a DPS não traz pAliq, e 3550308 (São Paulo/SP) não tem lista de serviços nem alíquota padrão = null',
    );
    assert.equal(lineOf('valores/vISSQN', none, production), 'sem alíquota não há ISSQN a calcular = null');
  });
});

describe('what does not stand on the note', () => {
  /** Only the net value stands on the note; the formula of each other field says why it is missing. */
  function absent(patch: Patch, ...whys: readonly RegExp[]): string[] {
    const lines = trace(patch);
    const missing = lines.filter((line) => line.endsWith(' = null'));
    assert.deepEqual(
      missing.map((line) => line.slice(0, line.indexOf(':'))),
      ['valores/vBC', 'valores/pAliqAplic', 'valores/vISSQN', 'valores/vTotalRet'],
    );
    for (const line of missing) {
      assert.match(line, /: não consta da nota: /);
      for (const why of whys) assert.match(line, why);
    }
    return lines.filter((line) => !line.endsWith(' = null'));
  }
  const NO_RATE = { [`${TRIB_MUN}/pAliq`]: null };

  test('immunity, export, non-incidence (E1303)', () => {
    const left = absent(
      { ...NO_RATE, [`${TRIB_MUN}/tribISSQN`]: '2', [`${TRIB_MUN}/tpImunidade`]: '3' },
      /operação imune \(tribISSQN 2, tpImunidade 3\) não tem base, alíquota nem ISSQN \(E1303\)/,
    );
    assert.deepEqual(left, ['valores/vLiq: vServ 1000.00 = 1000.00']);
    absent({ ...NO_RATE, [`${TRIB_MUN}/tribISSQN`]: '3' }, /exportação de serviço \(tribISSQN 3\)/);
    absent({ ...NO_RATE, [`${TRIB_MUN}/tribISSQN`]: '4' }, /operação sem incidência \(tribISSQN 4\)/);
  });

  test('MEI (E1302), a special regime (E1307), suspension (E1311)', () => {
    absent({ ...NO_RATE, 'prest/regTrib/opSimpNac': '2' }, /MEI \(opSimpNac 2\) .*\(E1302\)/);
    absent(
      { ...NO_RATE, 'prest/regTrib/regEspTrib': '6' },
      /regime especial .*\(regEspTrib 6, Sociedade de Profissionais\) .*\(E1307\)/,
    );
    const suspended = { [`${TRIB_MUN}/exigSusp/nProcesso`]: '0'.repeat(10).padEnd(30, '1') };
    absent({ ...NO_RATE, ...suspended, [`${TRIB_MUN}/exigSusp/tpSusp`]: '1' }, /decisão judicial \(tpSusp 1, E1311\)/);
    absent(
      { ...NO_RATE, ...suspended, [`${TRIB_MUN}/exigSusp/tpSusp`]: '2' },
      /processo administrativo \(tpSusp 2, E1311\)/,
    );
  });

  test('the Simples Nacional, where nothing is withheld', () => {
    const simples = { ...NO_RATE, 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '1' };
    const left = absent(
      simples,
      /apura o ISSQN pelo Simples Nacional \(opSimpNac 3, regApTribSN 1\) .* no DAS \(LC 123/,
    );
    assert.deepEqual(left, ['valores/vLiq: vServ 1000.00 = 1000.00']);
    // 1000.00 × 2.01 %
    const withheld = { ...simples, [`${TRIB_MUN}/pAliq`]: '2.01', [`${TRIB_MUN}/tpRetISSQN`]: '2' };
    assert.equal(lineOf('valores/vISSQN', withheld), 'vBC 1000.00 × pAliqAplic 2.01 % = 20.10');
    assert.equal(lineOf('valores/vLiq', withheld), 'vServ 1000.00 − vTotalRet 20.10 = 979.90');
  });

  test('for several reasons says all of them', () => {
    const patch = { ...NO_RATE, [`${TRIB_MUN}/tribISSQN`]: '4', 'prest/regTrib/regEspTrib': '5' };
    absent(patch, /E1303\); .*E1307/);
  });

  test('is withheld from the net value all the same, when it is federal', () => {
    // 1000 − 11 − 15 = 974
    const patch = {
      ...NO_RATE,
      [`${TRIB_MUN}/tribISSQN`]: '4',
      'valores/trib/tribFed/vRetCP': '11.00',
      'valores/trib/tribFed/vRetIRRF': '15.00',
    };
    assert.deepEqual(absent(patch), ['valores/vLiq: vServ 1000.00 − vRetCP 11.00 − vRetIRRF 15.00 = 974.00']);
  });

  test('the computed deduction goes too; what the DPS declares in reais stays', () => {
    const immune = { ...NO_RATE, [`${TRIB_MUN}/tribISSQN`]: '4' };
    const computed = trace({ ...immune, 'valores/vDedRed/pDR': '30.00' });
    assert.match(computed[0]!, /^valores\/vCalcDR: não consta da nota: .* = null$/);
    const declared = trace({ ...immune, 'valores/vDedRed/vDR': '100.00' });
    assert.match(declared[0]!, /vDedRed\/vDR: dedução ou redução declarada em reais = 100\.00$/);
  });
});
