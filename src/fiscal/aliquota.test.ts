import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dpsOf, EXAMPLE_FACTS } from '../../test/support/law.ts';
import { aliquotaAmong, registeredAliquotaOf } from './aliquota.ts';
import { decimal, formatDecimal } from './decimal.ts';
import { explainIssqn } from './explain-issqn.ts';
import type { Facts, ServicoMunicipal } from './facts.ts';
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

/** Assesses inside the Simples Nacional; the taker withholds, since nothing else of the ISSQN stands on the note then. */
const SIMPLES: Patch = {
  'prest/regTrib/opSimpNac': '3',
  'prest/regTrib/regApTribSN': '1',
  'valores/trib/tribMun/tpRetISSQN': '2',
};

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

const P_ALIQ = 'valores/trib/tribMun/pAliq';

/** What the sender is told of the rate, as one line each. */
function aboutRate(patch: Patch, facts: Facts): readonly string[] {
  return avisosOn(patch, facts)
    .filter(({ codigo }) => codigo === 'E0617' || codigo === 'E0619')
    .map(({ codigo, mensagem }) => `${codigo}: ${mensagem}`);
}

/** Where the rate comes from, in the trace. */
function formulaOf(patch: Patch, facts: Facts): string {
  const dps = dpsOf(patch);
  const judged = judge(dps, facts);
  assert.ok(!('faults' in judged), 'the law refuses the example');
  return explainIssqn(dps, facts, judged.amounts).find(({ campo }) => campo === 'valores/pAliqAplic')!.formula;
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

  test('is every municipality’s in the shared sandbox', () => {
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
    const remarked: Facts = { ...SAO_PAULO, regrasNacionais: 'avisa' };
    assert.equal(amountsOf(undeclared, remarked).pAliqAplic, '5.00');
    // One mistake is one remark: the rate is asked for by E0621.
    assert.deepEqual(aboutRate(undeclared, remarked), []);
  });
});

describe('a rehearsal of a municipality’s own', () => {
  const ENSAIO: Facts = { ...SAO_PAULO, ambiente: 'homologacao' };

  test('has the rate that production has', () => {
    assert.deepEqual(amountsOf({}, ENSAIO), { cLocIncid: '3550308', pAliqAplic: '5.00', vISSQN: '50.00' });
    // Due in Rio, at the rate of the DPS: 1000.00 × 2 %
    assert.deepEqual(amountsOf(NO_RIO, ENSAIO), { cLocIncid: '3304557', pAliqAplic: '2.00', vISSQN: '20.00' });
    assert.deepEqual(aboutRate(NO_RIO, ENSAIO), []);
  });

  test('and where production has none says so beside the rate of the sandbox (D-61)', () => {
    const undeclared: Patch = { ...NO_RIO, [P_ALIQ]: null };
    assert.deepEqual(amountsOf(undeclared, { ...ENSAIO, aliquotaRegistrada: () => decimal('4.00') }), {
      cLocIncid: '3304557',
      pAliqAplic: '5.00',
      vISSQN: '50.00',
    });
    assert.deepEqual(aboutRate(undeclared, ENSAIO), [
      'E0619: A alíquota aplicada, 5.00%, é a do ambiente de integração: a DPS não traz pAliq, e o ISSQN é devido em 3304557 (Rio de Janeiro/RJ), a que não se aplicam as alíquotas de 3550308 (São Paulo/SP). Em produção a nota sai com a base, 1000.00, e sem o ISSQN. Informe em pAliq a alíquota de 3304557 (Rio de Janeiro/RJ).',
    ]);
    const nothingKnown: Facts = { ...EXAMPLE_FACTS, ambiente: 'homologacao' };
    assert.deepEqual(aboutRate(undeclared, nothingKnown), [], 'the shared sandbox has no rates of its own');
  });

  test('takes a DPS of any municipality all the same (D-87)', () => {
    // Of Rio, where it is due: 1000.00 × 2 %
    assert.deepEqual(amountsOf({ cLocEmi: '3304557' }, ENSAIO), {
      cLocIncid: '3304557',
      pAliqAplic: '2.00',
      vISSQN: '20.00',
    });
  });
});

describe('a rate that is another municipality’s', () => {
  test('is asked for by the name of that municipality', () => {
    const undeclared: Patch = { ...NO_RIO, [P_ALIQ]: null };
    assert.deepEqual(aboutRate(undeclared, SAO_PAULO), [
      'E0619: Não há alíquota: a DPS não traz pAliq, e o ISSQN é devido em 3304557 (Rio de Janeiro/RJ), a que não se aplicam as alíquotas de 3550308 (São Paulo/SP). A nota sai com a base, 1000.00, e sem o ISSQN. Informe em pAliq a alíquota de 3304557 (Rio de Janeiro/RJ).',
    ]);
    assert.equal(
      formulaOf(undeclared, SAO_PAULO),
      'não há alíquota a aplicar: a DPS não traz pAliq, e o ISSQN é devido em 3304557 (Rio de Janeiro/RJ), a que não se aplicam as alíquotas de 3550308 (São Paulo/SP)',
    );
    assert.equal(
      formulaOf(NO_RIO, SAO_PAULO),
      'pAliq da DPS: o ISSQN é devido em 3304557 (Rio de Janeiro/RJ), a que não se aplicam as alíquotas de 3550308 (São Paulo/SP)',
    );
  });

  test('and not where it is the own one that registered none', () => {
    const none: Facts = { ...SAO_PAULO, aliquotaRegistrada: () => undefined };
    assert.deepEqual(aboutRate({ tpAmb: '1', [P_ALIQ]: null }, none), [
      'E0619: Não há alíquota: a DPS não traz pAliq, e o município não tem uma cadastrada para o serviço. A nota sai com a base, 1000.00, e sem o ISSQN. Informe em pAliq a alíquota do município.',
    ]);
  });
});

describe('a national code with several municipal ones (D-188)', () => {
  const servicos = (...lines: readonly (readonly [codigo: string, aliquota?: string])[]): readonly ServicoMunicipal[] =>
    lines.map(([codigo, aliquota]) => ({
      codigo,
      descricao: 'Serviço',
      cTribNac: '010101',
      aliquota: aliquota === undefined ? undefined : decimal(aliquota),
    }));
  const withList = (facts: Facts, lines: readonly ServicoMunicipal[]): Facts => ({
    ...facts,
    servicoMunicipal: (cTribMun) => lines.find(({ codigo }) => codigo === cTribMun),
    aliquotaRegistrada: (_cTribNac, cTribMun) =>
      aliquotaAmong(cTribMun === undefined ? lines : lines.filter(({ codigo }) => codigo === cTribMun)),
  });
  const THREE_AND_FOUR = servicos(['001', '3.00'], ['003', '4.00']);
  const production = withList(SAO_PAULO, THREE_AND_FOUR);
  const rehearsal = withList({ ...SAO_PAULO, ambiente: 'homologacao' }, THREE_AND_FOUR);
  const declaring = (pAliq: string | null): Patch => ({ tpAmb: '1', [P_ALIQ]: pAliq });
  const rateOf = (patch: Patch, facts: Facts) => {
    const { pAliqAplic, vISSQN } = amountsOf(patch, facts);
    return [pAliqAplic, vISSQN];
  };

  test('has one rate where they agree, and none where none of them has one', () => {
    const agreeing = withList(SAO_PAULO, servicos(['001', '3.00'], ['003', '3.00']));
    // 1000.00 × 3 %
    assert.deepEqual(rateOf(declaring(null), agreeing), ['3.00', '30.00']);
    assert.deepEqual(rateOf(declaring('2.00'), agreeing), ['3.00', '30.00']);
    assert.match(aboutRate(declaring('2.00'), agreeing).join(), /^E0617: pAliq é 2\.00%, e o município tem 3\.00% /);
    const silent = withList(SAO_PAULO, servicos(['001'], ['003']));
    assert.deepEqual(rateOf(declaring('2.00'), silent), ['2.00', '20.00']);
    assert.deepEqual(aboutRate(declaring('2.00'), silent), []);
    assert.equal(aliquotaAmong([]), undefined);
  });

  test('has the declared one where that is one of them, without a remark', () => {
    for (const facts of [production, rehearsal]) {
      // 1000.00 × 3 %, and × 4 %
      assert.deepEqual(rateOf(declaring('3.00'), facts), ['3.00', '30.00']);
      assert.deepEqual(rateOf(declaring('4.00'), facts), ['4.00', '40.00']);
      for (const pAliq of ['3.00', '4.00']) assert.deepEqual(aboutRate(declaring(pAliq), facts), []);
      assert.equal(
        formulaOf(declaring('4.00'), facts),
        'pAliq da DPS, uma das alíquotas que o município tem para o serviço, conforme o código municipal: 3.00% (001) e 4.00% (003)',
      );
    }
  });

  test('has the one of the municipal code that is sent', () => {
    for (const [cTribMun, aliquota, tax] of [
      ['001', '3.00', '30.00'],
      ['003', '4.00', '40.00'],
    ] as const) {
      const patch: Patch = { ...declaring(null), 'serv/cServ/cTribMun': cTribMun };
      assert.deepEqual(rateOf(patch, production), [aliquota, tax]);
      assert.deepEqual(aboutRate(patch, production), []);
    }
  });

  test('has the declared one where it is none of them, and the sender is told of both', () => {
    for (const facts of [production, rehearsal]) {
      assert.deepEqual(rateOf(declaring('2.00'), facts), ['2.00', '20.00']);
      assert.deepEqual(aboutRate(declaring('2.00'), facts), [
        'E0617: pAliq é 2.00%, e para este serviço o município tem, conforme o código municipal, 3.00% (001) e 4.00% (003): aplicou-se a de pAliq. Informe em cTribMun o código municipal do serviço.',
      ]);
    }
  });

  test('has none where none is declared; the sandbox has its own, and says what production would say', () => {
    assert.deepEqual(rateOf(declaring(null), production), [undefined, undefined]);
    assert.deepEqual(aboutRate(declaring(null), production), [
      'E0619: Não há alíquota: a DPS não traz pAliq, e a alíquota cadastrada depende do código municipal do serviço, que a DPS não traz: 3.00% (001) e 4.00% (003). A nota sai com a base, 1000.00, e sem o ISSQN. Informe em cTribMun o código municipal do serviço.',
    ]);
    assert.equal(
      formulaOf(declaring(null), production),
      'não há alíquota a aplicar: a DPS não traz pAliq, e a alíquota cadastrada depende do código municipal do serviço, que a DPS não traz: 3.00% (001) e 4.00% (003)',
    );
    assert.deepEqual(rateOf(declaring(null), rehearsal), ['5.00', '50.00']);
    assert.deepEqual(aboutRate(declaring(null), rehearsal), [
      'E0619: A alíquota aplicada, 5.00%, é a do ambiente de integração: a DPS não traz pAliq, e a alíquota cadastrada depende do código municipal do serviço, que a DPS não traz: 3.00% (001) e 4.00% (003). Em produção a nota sai com a base, 1000.00, e sem o ISSQN. Informe em cTribMun o código municipal do serviço.',
    ]);
    assert.match(formulaOf(declaring(null), rehearsal), /^alíquota do ambiente de integração: .* 3\.00% \(001\)/);
  });

  test('one of which has no rate leaves the rate open', () => {
    const facts = withList(SAO_PAULO, servicos(['001'], ['003', '3.00']));
    assert.deepEqual(rateOf(declaring(null), facts), [undefined, undefined]);
    assert.match(aboutRate(declaring(null), facts).join(), /^E0619: .*: nenhuma \(001\) e 3\.00% \(003\)\. /);
    assert.deepEqual(rateOf(declaring('3.00'), facts), ['3.00', '30.00']);
    assert.deepEqual(aboutRate(declaring('3.00'), facts), []);
    assert.deepEqual(rateOf(declaring('2.00'), facts), ['2.00', '20.00']);
    assert.match(aboutRate(declaring('2.00'), facts).join(), /^E0617: .* nenhuma \(001\) e 3\.00% \(003\): /);
  });

  test('is asked for by its rate where the municipal codes are too long for cTribMun', () => {
    const long = withList(SAO_PAULO, servicos(['1.01/10', '3.00'], ['1.01/20', '4.00']));
    assert.match(aboutRate(declaring(null), long).join(), / Informe em pAliq a alíquota do serviço\.$/);
    const mixed = withList(SAO_PAULO, servicos(['1.01/10', '3.00'], ['003', '4.00']));
    assert.match(
      aboutRate(declaring(null), mixed).join(),
      / Informe em cTribMun o código municipal do serviço, ou em pAliq a alíquota do serviço\.$/,
    );
  });

  test('says so much of a long list as a sentence can hold, by rate', () => {
    const lines = Array.from({ length: 900 }, (_, place): [string, string] => [
      String(place + 1).padStart(3, '0'),
      `${2 + (place % 3)}.00`,
    ]);
    assert.match(
      aboutRate(declaring(null), withList(SAO_PAULO, servicos(...lines))).join(),
      / não traz: 2\.00% \(001, 004, 007, 010, mais 296\), 3\.00% \(002, 005, 008, 011, mais 296\) e 4\.00% \(003, 006, 009, 012, mais 296\)\. /,
    );
    const rates = Array.from({ length: 20 }, (_, place): [string, string] => [`0${place + 10}`, `2.${place + 10}`]);
    assert.match(
      aboutRate(declaring(null), withList(SAO_PAULO, servicos(...rates))).join(),
      / 2\.16% \(016\), 2\.17% \(017\) e mais 12\. /,
    );
  });

  test('leaves a company of the Simples the rate that it declares', () => {
    const own: Patch = { ...declaring('2.01'), ...SIMPLES };
    assert.deepEqual(rateOf(own, production), ['2.01', '20.10']);
    assert.deepEqual(aboutRate(own, production), []);
    assert.equal(
      formulaOf(own, production),
      'pAliq da DPS: quem apura o ISSQN no Simples Nacional informa a sua própria alíquota',
    );
  });
});
