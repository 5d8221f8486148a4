import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dpsOf, EXAMPLE_FACTS } from '../../test/support/law.ts';
import { aliquotaAmong, registeredAliquotaOf } from './aliquota.ts';
import { decimal, formatDecimal } from './decimal.ts';
import { explainIssqn } from './explain-issqn.ts';
import type { Facts, ServicoMunicipal } from './facts.ts';
import { judge, judgeWhole } from './judge.ts';
import type { Patch } from './rules/rule.ts';
import { TOMADOR_NO_EXTERIOR } from './rules/toma.ts';
import { avisosOn, faultsOf } from './rules/trial.ts';

/** São Paulo in production, which registered 5 % for every service. */
const SAO_PAULO: Facts = {
  ...EXAMPLE_FACTS,
  ambiente: 'producao',
  cMun: '3550308',
  aliquotaRegistrada: () => decimal('5.00'),
};

const SANDBOX: Facts = { ...EXAMPLE_FACTS, aliquotaRegistrada: () => decimal('5.00') };

/** Provided in Rio, at a fair: due there. */
const NO_RIO: Patch = { tpAmb: '1', 'serv/cServ/cTribNac': '171001', 'serv/locPrest/cLocPrestacao': '3304557' };

/** The provider assesses inside the Simples Nacional. The taker withholds, since otherwise the note shows nothing of the ISSQN. */
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

/** The amounts that depend on the rate, at the end of each refusal. */
const WITHOUT_IT = 'Sem ela não se calculam o ISSQN, o que dele se retém, o valor líquido nem a base do IBS e da CBS.';

/** A company of the Simples Nacional, with the ISSQN outside it. */
const FORA: Patch = { 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '3' };

const INTERMEDIARIO: Patch = {
  'interm/CNPJ': '11444777000161',
  'interm/xNome': 'Intermediária Exemplo Ltda',
  'interm/end/endNac/cMun': '3550308',
  'interm/end/endNac/CEP': '01310100',
  'interm/end/xLgr': 'Avenida Paulista',
  'interm/end/nro': '1000',
  'interm/end/xBairro': 'Bela Vista',
};

const EXPORTACAO: Patch = {
  ...TOMADOR_NO_EXTERIOR,
  'valores/trib/tribMun/tribISSQN': '3',
  'valores/trib/tribMun/cPaisResult': 'PT',
};

const SUSPENSA: Patch = {
  'valores/trib/tribMun/exigSusp/tpSusp': '1',
  'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
};

const P_ALIQ = 'valores/trib/tribMun/pAliq';

/** The refusals of a DPS, one line each. */
function refusedFor(patch: Patch, facts: Facts): readonly string[] {
  return faultsOf(patch, facts).map(({ codigo, mensagem }) => `${codigo}: ${mensagem}`);
}

/** The remarks on the rate of an accepted DPS, one line each. */
function aboutRate(patch: Patch, facts: Facts): readonly string[] {
  assert.deepEqual(refusedFor(patch, facts), []);
  return avisosOn(patch, facts)
    .filter(({ codigo }) => /^E06(17|19|40|21)$/.test(codigo))
    .map(({ codigo, mensagem }) => `${codigo}: ${mensagem}`);
}

/** The origin of the rate, in the trace. */
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

  test('and without a declared one there is none, and the DPS is refused', () => {
    const undeclared: Patch = { ...NO_RIO, [P_ALIQ]: null };
    assert.match(refusedFor(undeclared, SAO_PAULO).join(), /^E0619: /);
    // The municipality cannot choose to ignore this rule: without a rate there is nothing to print.
    assert.match(refusedFor(undeclared, { ...SAO_PAULO, regrasNacionais: 'avisa' }).join(), /^E0619: /);
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
    // One mistake is one remark.
    assert.deepEqual(
      avisosOn(undeclared, remarked).flatMap(({ codigo }) => (/^E06/.test(codigo) ? [codigo] : [])),
      ['E0621'],
    );
    // The withheld amount is unknown without a registered rate.
    const none: Facts = { ...remarked, aliquotaRegistrada: () => undefined };
    assert.match(refusedFor(undeclared, none).join(), /^E0621: Falta a alíquota do ISSQN: a DPS não traz pAliq, e /);
  });
});

describe('a rehearsal of a municipality’s own', () => {
  const ENSAIO: Facts = { ...SAO_PAULO, ambiente: 'homologacao', regrasNacionais: 'avisa' };

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
      'E0619: A alíquota aplicada, 5.00%, foi posta pelo ambiente de integração: a DPS não traz pAliq, e o ISSQN é devido em 3304557 (Rio de Janeiro/RJ), a que não se aplicam as alíquotas de 3550308 (São Paulo/SP). Informe em pAliq a alíquota de 3304557 (Rio de Janeiro/RJ). Em produção esta DPS é recusada.',
    ]);
  });

  test('as strict as production has none of its own either, and refuses in its words', () => {
    const strict: Facts = { ...ENSAIO, regrasNacionais: 'recusa' };
    const undeclared: Patch = { ...NO_RIO, [P_ALIQ]: null };
    assert.deepEqual(refusedFor(undeclared, strict), refusedFor(undeclared, SAO_PAULO));
  });

  test('takes a DPS of any municipality all the same (D-62)', () => {
    // The rate of Rio, where the tax is due: 1000.00 × 2 %
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
    assert.deepEqual(refusedFor(undeclared, SAO_PAULO), [
      `E0619: Falta a alíquota do ISSQN: a DPS não traz pAliq, e o ISSQN é devido em 3304557 (Rio de Janeiro/RJ), a que não se aplicam as alíquotas de 3550308 (São Paulo/SP). Informe em pAliq a alíquota de 3304557 (Rio de Janeiro/RJ). ${WITHOUT_IT}`,
    ]);
    assert.equal(
      formulaOf(NO_RIO, SAO_PAULO),
      'pAliq da DPS: o ISSQN é devido em 3304557 (Rio de Janeiro/RJ), a que não se aplicam as alíquotas de 3550308 (São Paulo/SP)',
    );
  });

  test('and not where it is the own one that registered none', () => {
    const none: Facts = { ...SAO_PAULO, aliquotaRegistrada: () => undefined };
    assert.deepEqual(refusedFor({ tpAmb: '1', [P_ALIQ]: null }, none), [
      `E0619: Falta a alíquota do ISSQN: a DPS não traz pAliq, e 3550308 (São Paulo/SP) não tem lista de serviços nem alíquota padrão. Informe em pAliq a alíquota do município. ${WITHOUT_IT}`,
    ]);
  });
});

describe('a rate that nobody knows', () => {
  const PRODUCTION: Facts = { ...SAO_PAULO, aliquotaRegistrada: () => undefined };
  const REMARKED: Facts = { ...PRODUCTION, ambiente: 'homologacao', regrasNacionais: 'avisa' };
  const SHARED: Facts = { ...EXAMPLE_FACTS, regrasNacionais: 'avisa' };
  const OPTANTE: Partial<Facts> = {
    prestador: { ...EXAMPLE_FACTS.prestador, simples: [{ inicio: '2020-01-01', fim: undefined }] },
  };
  const TRIB_MUN = 'valores/trib/tribMun';
  const taxable: Patch = { tpAmb: '1', [P_ALIQ]: null };
  /** The code under which each regime asks for the rate; undefined: the note needs none. */
  const regimes: readonly (readonly [name: string, patch: Patch, facts: Partial<Facts>, codigo: string | undefined])[] =
    [
      ['taxable', {}, {}, 'E0619'],
      ['withheld by the taker', { [`${TRIB_MUN}/tpRetISSQN`]: '2' }, {}, 'E0619'],
      ['withheld by the intermediary', { [`${TRIB_MUN}/tpRetISSQN`]: '3', ...INTERMEDIARIO }, {}, 'E0619'],
      ['with a deduction', { 'serv/cServ/cTribNac': '170601', 'valores/vDedRed/vDR': '100.00' }, {}, 'E0619'],
      ['of the Simples, outside it', { ...FORA, 'prest/regTrib/regApTribSN': '2' }, OPTANTE, 'E0640'],
      ['of the Simples, outside it and withheld', { ...FORA, [`${TRIB_MUN}/tpRetISSQN`]: '2' }, OPTANTE, 'E0640'],
      ['of the Simples, inside it and withheld', SIMPLES, OPTANTE, 'E0621'],
      ['of the Simples, inside it', { ...SIMPLES, [`${TRIB_MUN}/tpRetISSQN`]: '1' }, OPTANTE, undefined],
      ['of a MEI', { 'prest/regTrib/opSimpNac': '2' }, OPTANTE, undefined],
      ['immune', { [`${TRIB_MUN}/tribISSQN`]: '2', [`${TRIB_MUN}/tpImunidade`]: '1' }, {}, undefined],
      ['export', EXPORTACAO, {}, undefined],
      ['without incidence', { [`${TRIB_MUN}/tribISSQN`]: '4' }, {}, undefined],
      ['suspended', SUSPENSA, {}, undefined],
      ['in a special regime', { 'prest/regTrib/regEspTrib': '6' }, {}, undefined],
    ];
  for (const [name, patch, facts, codigo] of regimes) {
    test(`${name}: ${codigo ?? 'accepted'}`, () => {
      const all: Patch = { ...taxable, ...patch };
      const strict = refusedFor(all, { ...PRODUCTION, ...facts });
      assert.deepEqual(
        strict.map((line) => line.slice(0, 5)),
        codigo === undefined ? [] : [codigo],
      );
      // The tenant has the national rules only remark: production still refuses, and the sandbox names the rate that it applied each
      // time.
      const lax = refusedFor(all, { ...PRODUCTION, ...facts, regrasNacionais: 'avisa' });
      assert.deepEqual(
        lax.map((line) => line.slice(0, 5)),
        codigo === undefined ? [] : [codigo],
      );
      for (const sandbox of [REMARKED, SHARED]) {
        const told = aboutRate(all, { ...sandbox, ...facts });
        if (codigo === undefined) assert.deepEqual(told, []);
        else
          assert.match(
            told.join('\n'),
            new RegExp(`^${codigo}: .*A alíquota aplicada, 5\\.00%, foi posta pelo ambiente de integração[^\n]*$`),
          );
      }
    });
  }

  test('of a service that is in the list without one', () => {
    const listed: Facts = {
      ...PRODUCTION,
      servicoMunicipal: () => ({ codigo: '001', descricao: 'Serviço', cTribNac: '010101' }),
    };
    assert.match(
      refusedFor({ ...taxable, 'serv/cServ/cTribMun': '001' }, listed).join(),
      /, e o serviço \(cTribMun 001\) não tem alíquota na lista do município\. Informe em pAliq a alíquota do município\. /,
    );
    assert.match(refusedFor(taxable, listed).join(), /, e o serviço \(cTribNac 010101\) não tem alíquota na lista/);
  });

  test('in the shared sandbox, which is no municipality', () => {
    assert.deepEqual(aboutRate(taxable, SHARED), [
      'E0619: A alíquota aplicada, 5.00%, foi posta pelo ambiente de integração: a DPS não traz pAliq, e este ambiente não tem alíquotas cadastradas. Informe em pAliq a alíquota do município. Em produção vale a que o município cadastrou para o serviço, e sem ela a DPS é recusada.',
    ]);
    assert.equal(
      formulaOf(taxable, SHARED),
      'alíquota posta pelo ambiente de integração: a DPS não traz pAliq, e este ambiente não tem alíquotas cadastradas',
    );
  });

  test('is said where a declared amount differs by it', () => {
    // 1000.00 × 5 % is 50.00, by the sandbox's rate; the sender means 2 %: 20.00, and a base of 980.00.
    const [tax, base] = [
      { ...taxable, '=valor_issqn': '20.00' },
      { ...taxable, '=ibscbs.valores_base_calculo': '980.00' },
    ];
    const assumed =
      ' O ISSQN foi calculado a 5.00%, que o ambiente de integração pôs porque a DPS não traz pAliq: informe-a.';
    for (const [patch, codigo] of [
      [tax, 'E404'],
      [base, 'E1530'],
    ] as const) {
      const [told = '', ...more] = refusedFor(patch, SHARED);
      assert.deepEqual(more, []);
      assert.ok(told.startsWith(codigo) && told.endsWith(assumed), told);
      // Production reports the missing rate alone.
      assert.match(refusedFor(patch, PRODUCTION).join('\n'), /^E0619: [^\n]*$/);
    }
  });

  test('is told beside the other mistakes of a document that is tried', () => {
    const two = judgeWhole(dpsOf({ ...taxable, 'valores/vDescCondIncond/vDescCond': '0.00' }), PRODUCTION);
    assert.ok('faults' in two);
    assert.deepEqual(
      two.faults.map(({ codigo }) => codigo),
      ['E0432', 'E0619'],
    );
    // A code that the list does not have is the one mistake: the right code may have a rate.
    const unknown = { ...PRODUCTION, servicoMunicipal: () => undefined };
    const other = judgeWhole(dpsOf({ ...taxable, 'serv/cServ/cTribMun': '009' }), unknown);
    assert.ok('faults' in other);
    assert.deepEqual(
      other.faults.map(({ codigo }) => codigo),
      ['E402'],
    );
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
  const rehearsal = withList({ ...SAO_PAULO, ambiente: 'homologacao', regrasNacionais: 'avisa' }, THREE_AND_FOUR);
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
    assert.deepEqual(refusedFor(declaring(null), production), [
      `E0619: Falta a alíquota do ISSQN: a DPS não traz pAliq, e a alíquota cadastrada depende do código municipal do serviço, que a DPS não traz: 3.00% (001) e 4.00% (003). Informe em cTribMun o código municipal do serviço. ${WITHOUT_IT}`,
    ]);
    assert.deepEqual(rateOf(declaring(null), rehearsal), ['5.00', '50.00']);
    assert.deepEqual(aboutRate(declaring(null), rehearsal), [
      'E0619: A alíquota aplicada, 5.00%, foi posta pelo ambiente de integração: a DPS não traz pAliq, e a alíquota cadastrada depende do código municipal do serviço, que a DPS não traz: 3.00% (001) e 4.00% (003). Informe em cTribMun o código municipal do serviço. Em produção esta DPS é recusada.',
    ]);
    assert.match(
      formulaOf(declaring(null), rehearsal),
      /^alíquota posta pelo ambiente de integração: .* 3\.00% \(001\)/,
    );
  });

  test('one of which has no rate leaves the rate open', () => {
    const facts = withList(SAO_PAULO, servicos(['001'], ['003', '3.00']));
    assert.match(refusedFor(declaring(null), facts).join(), /^E0619: .*: nenhuma \(001\) e 3\.00% \(003\)\. /);
    assert.deepEqual(rateOf(declaring('3.00'), facts), ['3.00', '30.00']);
    assert.deepEqual(aboutRate(declaring('3.00'), facts), []);
    assert.deepEqual(rateOf(declaring('2.00'), facts), ['2.00', '20.00']);
    assert.match(aboutRate(declaring('2.00'), facts).join(), /^E0617: .* nenhuma \(001\) e 3\.00% \(003\): /);
  });

  test('is asked for by its rate where the municipal codes are too long for cTribMun', () => {
    const long = withList(SAO_PAULO, servicos(['1.01/10', '3.00'], ['1.01/20', '4.00']));
    assert.match(refusedFor(declaring(null), long).join(), / Informe em pAliq a alíquota do serviço\. Sem ela /);
    const mixed = withList(SAO_PAULO, servicos(['1.01/10', '3.00'], ['003', '4.00']));
    assert.match(
      refusedFor(declaring(null), mixed).join(),
      / Informe em cTribMun o código municipal do serviço, ou em pAliq a alíquota do serviço\. Sem ela /,
    );
  });

  test('says so much of a long list as a sentence can hold, by rate', () => {
    const lines = Array.from({ length: 900 }, (_, place): [string, string] => [
      String(place + 1).padStart(3, '0'),
      `${2 + (place % 3)}.00`,
    ]);
    assert.match(
      refusedFor(declaring(null), withList(SAO_PAULO, servicos(...lines))).join(),
      / não traz: 2\.00% \(001, 004, 007, 010, mais 296\), 3\.00% \(002, 005, 008, 011, mais 296\) e 4\.00% \(003, 006, 009, 012, mais 296\)\. /,
    );
    const rates = Array.from({ length: 20 }, (_, place): [string, string] => [`0${place + 10}`, `2.${place + 10}`]);
    assert.match(
      refusedFor(declaring(null), withList(SAO_PAULO, servicos(...rates))).join(),
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
