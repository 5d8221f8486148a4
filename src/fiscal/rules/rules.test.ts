import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAccepted, assertRejected, dpsOf, EXAMPLE_FACTS } from '../../../test/support/law.ts';
import { readXml } from '../../documents/xml.ts';
import { tabelaIbsCbs } from '../aliquotas-ibs-cbs.ts';
import { type Cadastros, SEM_CADASTROS } from '../cadastros.ts';
import { decimal } from '../decimal.ts';
import type { Facts } from '../facts.ts';
import type { Elemento } from '../layout/tree.ts';
import type { NotaEstado } from '../nota.ts';
import { exampleXml } from './example.ts';
import { EXAMPLE_CADASTROS } from './example-cadastros.ts';
import type { Patch } from './rule.ts';
import { ALL_RULES, RULES } from './rules.ts';
import { avisosOn, declaredBy, factsOf, linesOf, treeOf } from './trial.ts';

const ALL = ALL_RULES;

const named = ({ code, at }: { readonly code: string; readonly at: string }): string => `${code} at ${at}`;

const SUBSTITUIDA = '35503081211222333000181000000000000126091234567895';
const SUBSTITUICAO: Patch = { 'subst/chSubstda': SUBSTITUIDA, 'subst/cMotivo': '01' };
const CAMPOS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '305102': { codigo_evento_bloqueado: 'e105102' },
  '305103': { id_evento_bloqueio: `EVT${SUBSTITUIDA}305102001` },
};

const DOIS_SERVICOS = ['3.00', '4.00'].map((aliquota, place) => ({
  codigo: `00${place + 1}`,
  descricao: 'Serviço',
  cTribNac: '010101',
  aliquota: decimal(aliquota),
}));

const EM_2027 = (['IBS-UF', 'IBS-MUN', 'CBS'] as const).map((tributo) => ({
  ...{ tributo, uf: '', municipio: '', cClassTrib: '', inicio: '2027-01-01', fim: '2027-12-31' },
  ...{ aliquota: tributo === 'CBS' ? '8.40' : '0.05', fonte: 'exemplo', ato: 'exemplo' },
}));

/** An exemption of every service, which no municipality may grant by law. */
const ISENTA_DE_TUDO: Cadastros = {
  ...SEM_CADASTROS,
  beneficios: EXAMPLE_CADASTROS.beneficios!.map((one) => ({ ...one, servicos: new Set<string>() })),
};

/**
 * Rules that the sandbox's own facts never break: they need a municipality of its own, production, or a service list. Each is tested with
 * the facts under which it refuses.
 */
const BY_FACTS: readonly { readonly rule: string; readonly facts: Partial<Facts>; readonly rejects: Patch }[] = [
  { rule: 'E0006 at tpAmb', facts: { ambiente: 'producao' }, rejects: {} },
  {
    rule: 'E0015 at dCompet',
    facts: { ambiente: 'producao', hoje: '2026-10-04' },
    rejects: { tpAmb: '1' },
  },
  {
    rule: 'E0015 at dCompet',
    facts: { ambiente: 'producao', hoje: '2026-10-04' },
    rejects: { tpAmb: '1', dhEmi: '2026-10-05T01:00:00+12:00' },
  },
  { rule: 'E0008 at dhEmi', facts: {}, rejects: { dhEmi: '2026-10-05T12:00:01-03:00' } },
  { rule: 'E0008 at dhEmi', facts: {}, rejects: { dhEmi: '2026-10-05T12:00:00-04:00' } },
  { rule: 'E1294 at dhEmi', facts: {}, rejects: { dhEmi: '2020-10-05T11:59:59-03:00' } },
  { rule: 'E002 at nDPS', facts: { exigeNumero: true }, rejects: {} },
  { rule: 'E403 at cLocEmi', facts: {}, rejects: { cLocEmi: '9999999' } },
  { rule: 'E403 at cLocEmi', facts: { ambiente: 'producao', cMun: '3304557' }, rejects: { tpAmb: '1' } },
  {
    rule: 'E0003 at prest/xNome',
    facts: { ambiente: 'producao' },
    rejects: { tpAmb: '1', 'prest/xNome': '' },
  },
  {
    rule: 'E0080 at prest/CNPJ',
    facts: { ambiente: 'producao' },
    rejects: { tpAmb: '1', 'prest/CNPJ': '11222333000182' },
  },
  {
    rule: 'E0096 at prest/CPF',
    facts: { ambiente: 'producao' },
    rejects: { tpAmb: '1', 'prest/CNPJ': null, 'prest/CPF': '52998224726' },
  },
  {
    rule: 'E0160 at prest/regTrib/opSimpNac',
    facts: { prestador: { ...EXAMPLE_FACTS.prestador, simples: [{ inicio: '2026-10-05', fim: '2026-10-05' }] } },
    rejects: {},
  },
  { rule: 'E0310 at serv/cServ/cTribNac', facts: { administers: () => false }, rejects: {} },
  {
    rule: 'E402 at serv/cServ/cTribMun',
    facts: { servicoMunicipal: () => undefined },
    rejects: { 'serv/cServ/cTribMun': '001' },
  },
  {
    rule: 'E402 at serv/cServ/cTribMun',
    facts: { servicoMunicipal: () => ({ codigo: '001', descricao: 'Programação', cTribNac: '010201' }) },
    rejects: { 'serv/cServ/cTribMun': '001' },
  },
  // Another rate than the registered one, in the sandbox and for the tenant's own tax; in production without any.
  { rule: 'E0617 at valores/trib/tribMun/pAliq', facts: { aliquotaRegistrada: () => decimal('5.00') }, rejects: {} },
  {
    rule: 'E0617 at valores/trib/tribMun/pAliq',
    facts: { cMun: '3550308', aliquotaRegistrada: () => decimal('5.00') },
    rejects: {},
  },
  {
    rule: 'E0619 at valores/trib/tribMun/pAliq',
    facts: { ambiente: 'producao', cMun: '3550308' },
    rejects: { tpAmb: '1', 'valores/trib/tribMun/pAliq': null },
  },
  {
    rule: 'E1300 at valores/trib/tribMun/pAliq',
    facts: { cMun: '3550308', aliquotaRegistrada: () => decimal('5.01') },
    rejects: { 'valores/trib/tribMun/pAliq': null },
  },
  {
    rule: 'E1300 at valores/trib/tribMun/pAliq',
    facts: { ambiente: 'producao', cMun: '3550308', aliquotaRegistrada: () => decimal('9.99') },
    rejects: { tpAmb: '1', 'valores/trib/tribMun/pAliq': '5.00' },
  },
  // 999999999999999.99 and its CBS of 8.40 % have sixteen digits.
  {
    rule: 'E0002 at valores/vServPrest/vServ',
    facts: { tabelaIbsCbs: tabelaIbsCbs(2, EM_2027), hoje: '2027-03-10' },
    rejects: { dCompet: '2027-03-10', 'valores/vServPrest/vServ': '999999999999999.99' },
  },
  {
    rule: 'E0640 at valores/trib/tribMun/pAliq',
    facts: { ambiente: 'producao', cMun: '3550308', regrasNacionais: 'avisa' },
    rejects: {
      tpAmb: '1',
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '3',
      'valores/trib/tribMun/pAliq': null,
    },
  },
  // The withheld amount stays unknown even if the national rules only remark.
  {
    rule: 'E0621 at valores/trib/tribMun/pAliq',
    facts: { ambiente: 'producao', cMun: '3550308', regrasNacionais: 'avisa' },
    rejects: {
      tpAmb: '1',
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '1',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'valores/trib/tribMun/pAliq': null,
    },
  },
  // Two municipal services share the national code: the example declares 2.00, which neither has, or nothing.
  { rule: 'E0617 at valores/trib/tribMun/pAliq', facts: { aliquotaRegistrada: () => DOIS_SERVICOS }, rejects: {} },
  {
    rule: 'E0619 at valores/trib/tribMun/pAliq',
    facts: { aliquotaRegistrada: () => DOIS_SERVICOS },
    rejects: { 'valores/trib/tribMun/pAliq': null },
  },
  {
    rule: 'E0442 at valores/vDedRed',
    facts: { cMun: '3304557' },
    rejects: {
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '1',
      'valores/trib/tribMun/pAliq': null,
      'valores/vDedRed/vDR': '100.00',
    },
  },
  {
    rule: 'E0441 at valores/vDedRed',
    facts: { cMun: '3550308' },
    rejects: {
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '1',
      'valores/trib/tribMun/pAliq': null,
      'valores/vDedRed/vDR': '100.00',
    },
  },
  // The rule also holds without a rate, in production, and regardless of the discount.
  {
    rule: 'E0429 at valores/vServPrest/vServ',
    facts: { ambiente: 'producao', cMun: '3550308', cadastros: ISENTA_DE_TUDO },
    rejects: {
      tpAmb: '1',
      'valores/trib/tribMun/BM/nBM': '35503080400002',
      'valores/trib/tribMun/pAliq': null,
      'valores/vDescCondIncond/vDescIncond': '600.00',
    },
  },
  { rule: 'E0044 at subst/chSubstda', facts: replaced([], 'recusada'), rejects: SUBSTITUICAO },
  { rule: 'E0044 at subst', facts: { substituida: 'desconhecida' }, rejects: SUBSTITUICAO },
  { rule: 'E1308 at subst/chSubstda', facts: replaced([]), rejects: SUBSTITUICAO },
  { rule: 'E0046 at subst/chSubstda', facts: replaced(['105102'], 'cancelada'), rejects: SUBSTITUICAO },
  { rule: 'E0068 at subst/chSubstda', facts: replaced(['202205', '101103']), rejects: SUBSTITUICAO },
  { rule: 'E0072 at subst/chSubstda', facts: replaced(['205204']), rejects: SUBSTITUICAO },
  { rule: 'E0076 at subst/chSubstda', facts: replaced(['305102']), rejects: SUBSTITUICAO },
];

/** A replaced note of this service, with these events on it; a block is one of the replacement. */
function replaced(codigos: readonly string[], estado: NotaEstado = 'autorizada'): Partial<Facts> {
  const eventos = codigos.map((codigo, place) => ({
    codigo,
    numero_sequencial: place + 1,
    autor: '99999999000191',
    campos: CAMPOS[codigo] ?? {},
  }));
  return { substituida: { estado, eventos } };
}

describe('the valid DPS', () => {
  test('is accepted, and so is it as it stands', () => {
    assertAccepted({});
    assert.equal(dpsOf({}).serv.cServ.cTribNac, '010101');
  });
});

describe('every rule', () => {
  for (const rule of ALL) {
    test(`${named(rule)} says why, where from, what is wrong and what is right`, () => {
      for (const text of [rule.why, rule.origin]) assert.match(text, /\S/);
      assert.ok(typeof rule.message === 'function' || /\S.*\.$/.test(rule.message), 'a message is a sentence');
      assert.match(rule.why, /\.$/, 'the reason is a sentence');
      assert.match(rule.code, /^E\d{3,4}$/);
      const isTried = rule.rejects.length > 0 || BY_FACTS.some(({ rule: name }) => name === named(rule));
      assert.ok(isTried, 'a rejected example, or facts in this file under which it refuses');
    });

    for (const [place, patch] of rule.rejects.entries()) {
      test(`${named(rule)} rejects example ${place + 1}`, () => assertRejected(patch, rule, factsOf(rule)));
    }

    for (const [place, patch] of rule.accepts.entries()) {
      test(`${named(rule)} accepts example ${place + 1}`, () => assertAccepted(patch, factsOf(rule)));
    }
  }

  test('holds over every accepted example of every other', () => {
    for (const { accepts, ...owner } of ALL) {
      for (const [place, patch] of accepts.entries()) {
        const dps = dpsOf(patch);
        for (const rule of RULES) {
          if (rule.scope === 'aviso') continue;
          const seen = [dps, factsOf(owner), declaredBy(patch)] as const;
          const isAsked = (rule.part?.(...seen) ?? true) && (rule.when?.(...seen) ?? true);
          const holds = !isAsked || rule.must(...seen);
          assert.ok(holds, `${named(rule)} breaks on accepted example ${place + 1} of ${named(owner)}`);
        }
      }
    }
  });
});

describe('a rule that needs facts which no example brings', () => {
  for (const { rule: name, facts, rejects } of BY_FACTS) {
    test(`${name} refuses with ${Object.keys(facts).join(', ') || 'a code that no municipality has'}`, () => {
      const rule = ALL.find((candidate) => named(candidate) === name);
      assert.ok(rule, `there is no rule ${name} any more`);
      assertRejected(rejects, rule, { ...EXAMPLE_FACTS, ...facts });
    });
  }
});

describe('a note of this service that may be replaced', () => {
  const stories: readonly (readonly [string, Partial<Facts>])[] = [
    ['without events', replaced([])],
    ['that still waits for its authorisation', replaced([], 'transmitida')],
    ['that a party confirmed (E0070 is of the national emitter alone)', replaced(['203202'])],
    ['with a request that was denied', replaced(['101103', '105105'])],
    ['that was blocked and unblocked', replaced(['305102', '305103'])],
  ];
  for (const [name, facts] of stories) {
    test(name, () => {
      const all = { ...EXAMPLE_FACTS, ...facts };
      assertAccepted(SUBSTITUICAO, all);
      assert.deepEqual(
        avisosOn(SUBSTITUICAO, all).map(({ codigo }) => codigo),
        ['E1308'],
      );
    });
  }

  test('is what E1308 speaks of: one that is not here waits for nothing that could be registered here', () => {
    const facts = { ...EXAMPLE_FACTS, substituida: 'desconhecida' } as const;
    assert.deepEqual(
      avisosOn(SUBSTITUICAO, facts).map(({ codigo }) => codigo),
      ['E0044'],
    );
    const wrongDigit = { ...SUBSTITUICAO, 'subst/chSubstda': '35503081211222333000181000000000000126091234567896' };
    assert.deepEqual(
      avisosOn(wrongDigit, { ...facts, regrasNacionais: 'avisa' }).map(({ codigo }) => codigo),
      ['E0042'],
    );
  });

  test('is told what is missing, and what the new note does meanwhile', () => {
    const said = (ambiente: Facts['ambiente'], tpAmb: string): string =>
      avisosOn({ ...SUBSTITUICAO, tpAmb }, { ...EXAMPLE_FACTS, ...replaced([]), ambiente })[0]!.mensagem;
    assert.match(
      said('producao', '1'),
      /cancelamento_por_substituicao.*chave_acesso_substituta.*espera até que ele seja processado, e depois segue/,
    );
    assert.equal(said('homologacao', '2'), said('producao', '1'), 'the sandbox has the same machine (D-60)');
    assert.deepEqual(avisosOn({}), []);
  });
});

describe('the text of an example', () => {
  const patches: readonly Patch[] = [{}, ...ALL.flatMap(({ rejects, accepts }) => [...rejects, ...accepts])];

  test('is the same tree to the pages and to the parser', () => {
    for (const patch of patches) {
      const xml = exampleXml(patch);
      const parsed = readXml(Buffer.from(xml));
      assert.ok('root' in parsed);
      assert.deepEqual(treeOf(xml), withoutIndent(parsed.root));
    }
  });

  test('opens and closes every group once', () => {
    const lines = linesOf(exampleXml());
    const starts = lines.filter(({ kind }) => kind === 'start').map(({ path }) => path);
    const ends = lines.filter(({ kind }) => kind === 'end').map(({ path }) => path);
    assert.deepEqual(starts.toSorted(), ends.toSorted());
    assert.ok(lines.some(({ kind, path }) => kind === 'leaf' && path === 'serv/cServ/cTribNac'));
  });
});

function withoutIndent(element: Elemento): Elemento {
  const text = element.children.length > 0 ? '' : element.text;
  return { ...element, text, children: element.children.map(withoutIndent) };
}
