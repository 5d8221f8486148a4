/**
 * Random operations that the law accepts: amounts, rates, reducers, withholdings, regimes and classifications in proportions that no rule
 * refuses. Amounts are whole cents here, so the project's own decimals play no part.
 */
import assert from 'node:assert/strict';
import { readXml } from '../../src/documents/xml.ts';
import type { Elemento } from '../../src/fiscal/layout/tree.ts';
import { writeCorpo } from '../../src/fiscal/layout/write-corpo.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { DOCUMENTO_DEDUCAO, DOCUMENTO_TERCEIRO, INTERMEDIARIO, OBRA, TOMADOR_EXTERIOR } from '../casos/caso.ts';
import { type Membros, xmlWithMembers } from './membros.ts';
import fc from './seed.ts';

export type Operacao = {
  readonly patch: Patch;
  readonly membros: Membros;
  /** The drawn values, from which the operation can be rebuilt in another size. */
  readonly sorteio: Sorteio;
};

/** Shares are in hundredths of a percent of the price; undefined parts are left out. */
export type Sorteio = {
  readonly cents: bigint;
  readonly regime: (typeof REGIMES)[number];
  readonly servico: (typeof SERVICOS)[number];
  readonly dCompet: string;
  readonly pAliq: bigint;
  readonly vDescIncond: bigint | undefined;
  readonly vDescCond: bigint | undefined;
  readonly deduction: { readonly kind: 'pDR' | 'vDR' | 'documentos'; readonly shares: readonly bigint[] } | undefined;
  readonly benefit: { readonly kind: 'pRedBCBM' | 'vRedBCBM'; readonly share: bigint } | undefined;
  readonly thirdParties: readonly bigint[];
  readonly tpRetISSQN: '1' | '2' | '3';
  readonly vRetCP: bigint | undefined;
  readonly vRetIRRF: bigint | undefined;
  readonly contributions: (typeof CONTRIBUTIONS)[number] | undefined;
  readonly cClassTrib: string;
  readonly regular: string;
  readonly texts: Patch;
};

export const DEDUCTIONS = 'valores/vDedRed/documentos/docDedRed';
export const THIRD_PARTIES = 'IBSCBS/valores/gReeRepRes/documentos';

/** Taxations whose note shows the base and the ISSQN. */
export const APURADOS: readonly string[] = ['tributavel', 'simples_por_fora', 'simples_retido'];

/** The ordinary regime is more frequent than the others. */
const REGIMES = [
  'tributavel',
  'tributavel',
  'tributavel',
  'simples_por_fora',
  'simples',
  'simples_retido',
  'imune',
  'exportacao',
  'suspensa',
  'especial',
] as const;

const SERVICOS = ['010101', '070201', '171401', '120101', '110201', '170501'] as const;

const EVENTO: Patch = {
  'serv/atvEvento/xNome': 'Mostra de cinema',
  'serv/atvEvento/dtIni': '2026-10-01',
  'serv/atvEvento/dtFim': '2026-10-03',
  'serv/atvEvento/end/CEP': '01001000',
  'serv/atvEvento/end/xLgr': 'Praça da Sé',
  'serv/atvEvento/end/nro': '1',
  'serv/atvEvento/end/xBairro': 'Sé',
};

/** `tpRetPisCofins`, and the withheld share of the price; the values 0 and 2 withhold nothing. */
const CONTRIBUTIONS = [
  { code: '0', share: undefined },
  { code: '2', share: undefined },
  { code: '3', share: 465n },
  { code: '4', share: 365n },
  { code: '7', share: 400n },
  { code: '8', share: 100n },
] as const;

/** Each tax treatment of the table. */
const CLASSIFICATIONS = [
  ...['000001', '011003', '200016', '200025', '200026', '200027', '200028', '200046', '200048', '200052'],
  ...['400001', '410999', '820009', '515001', '550016'],
];

const share = (min: number, max: number): fc.Arbitrary<bigint> => fc.bigInt({ min: BigInt(min), max: BigInt(max) });
const perhaps = <Value>(of: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(of, { nil: undefined, freq: 2 });

/** Texts that every free text element accepts. */
const NAMES = ['Maria & João S/A', 'Conceição <Ltda>', 'D\'Ávila "Ótica"', 'Zé', 'Açaí ªº ]]> fim', 'A  B'];

const texts: fc.Arbitrary<Patch> = fc
  .record({
    nome: fc.constantFrom(...NAMES),
    descricao: fc.constantFrom(...NAMES, 'Linha um\nlinha dois'),
    fone: perhaps(fc.constantFrom('1133334444', '5511999998888')),
    email: perhaps(fc.constantFrom('nota@exemplo.com.br', 'a@b.co')),
    IM: perhaps(fc.constantFrom('123456', '00123')),
    xInfComp: perhaps(fc.constantFrom(...NAMES)),
    docRef: perhaps(fc.constantFrom('Pedido 42', '7')),
    xCpl: perhaps(fc.constantFrom('sala 2', 'fundos')),
  })
  .map(({ nome, descricao, fone, email, IM, xInfComp, docRef, xCpl }) => ({
    'toma/xNome': nome,
    'serv/cServ/xDescServ': descricao,
    ...(fone && { 'toma/fone': fone, 'prest/fone': fone }),
    ...(email && { 'toma/email': email }),
    ...(IM && { 'prest/IM': IM }),
    ...(xInfComp && { 'serv/infoCompl/xInfComp': xInfComp }),
    ...(docRef && { 'serv/infoCompl/docRef': docRef }),
    ...(xCpl && { 'toma/end/xCpl': xCpl }),
  }));

/** The deductions leave at least two fifths of the price in the base. So the tax at 5 % is never below 2 % of the price. */
const sorteio: fc.Arbitrary<Sorteio> = fc.record({
  cents: fc.oneof(share(1_000, 100_000), share(100_000, 10_000_000), share(10_000_000, 10 ** 14)),
  regime: fc.constantFrom(...REGIMES),
  servico: fc.constantFrom(...SERVICOS),
  dCompet: fc.constantFrom('2026-09-30', '2026-10-05', '2026-11-20'),
  pAliq: share(200, 500),
  vDescIncond: perhaps(share(10, 1_000)),
  vDescCond: perhaps(share(10, 1_000)),
  deduction: perhaps(
    fc.oneof(
      fc.record({
        kind: fc.constantFrom('pDR' as const, 'vDR' as const),
        shares: fc.array(share(100, 2_500), { minLength: 1, maxLength: 1 }),
      }),
      fc.record({
        kind: fc.constant('documentos' as const),
        shares: fc.array(share(100, 600), { minLength: 1, maxLength: 4 }),
      }),
    ),
  ),
  benefit: perhaps(
    fc.record({ kind: fc.constantFrom('pRedBCBM' as const, 'vRedBCBM' as const), share: share(100, 1_500) }),
  ),
  thirdParties: fc.oneof(fc.constant<bigint[]>([]), fc.array(share(10, 250), { minLength: 1, maxLength: 4 })),
  tpRetISSQN: fc.constantFrom('1', '2', '3'),
  vRetCP: perhaps(share(100, 1_100)),
  vRetIRRF: perhaps(share(100, 150)),
  contributions: perhaps(fc.constantFrom(...CONTRIBUTIONS)),
  cClassTrib: fc.constantFrom(...CLASSIFICATIONS),
  regular: fc.constantFrom('000001', '200052', '200025'),
  texts,
});

export const operacoes: fc.Arbitrary<Operacao> = sorteio.map((drawn) => operacaoOf(drawn));

/** The same operation in another size: every amount of the document is multiplied by `times`. */
export function operacaoOf(drawn: Sorteio, times = 1n): Operacao {
  const money = (cents: bigint): string => hundredths(cents * times);
  const part = (of: bigint): string => money((drawn.cents * of) / 10_000n);
  const reduced = drawn.deduction !== undefined || drawn.benefit !== undefined || drawn.thirdParties.length > 0;
  const isTaxed = drawn.regime === 'tributavel' || drawn.regime === 'simples_por_fora';
  const hasGroup = drawn.dCompet >= '2026-10-01';
  const { patch: reducers, membros } = isTaxed ? reducersOf(drawn, part) : { patch: {}, membros: {} };
  const thirds = hasGroup ? thirdPartiesOf(drawn, part) : { patch: {}, membros: {} };
  return {
    patch: {
      dCompet: drawn.dCompet,
      'valores/vServPrest/vServ': money(drawn.cents),
      ...serviceOf(drawn.regime === 'exportacao' ? '010101' : drawn.servico),
      ...(drawn.vDescIncond && { 'valores/vDescCondIncond/vDescIncond': part(drawn.vDescIncond) }),
      ...(drawn.vDescCond && { 'valores/vDescCondIncond/vDescCond': part(drawn.vDescCond) }),
      ...reducers,
      ...(isTaxed ? taxedOf(drawn, reduced) : regimeOf(drawn)),
      ...(drawn.vRetCP && { 'valores/trib/tribFed/vRetCP': part(drawn.vRetCP) }),
      ...(drawn.vRetIRRF && { 'valores/trib/tribFed/vRetIRRF': part(drawn.vRetIRRF) }),
      ...contributionsOf(drawn, part),
      ...drawn.texts,
      ...(hasGroup ? { ...groupOf(drawn), ...thirds.patch } : { IBSCBS: null }),
    },
    membros: { ...membros, ...thirds.membros },
    sorteio: drawn,
  };
}

export function xmlOf({ patch, membros }: Operacao): string {
  return xmlWithMembers(patch, membros);
}

/** The JSON body of the same DPS; amounts as numbers lack the trailing zeros that a serializer drops. */
export function jsonOf(xml: string, asNumbers = false): string {
  const body = writeCorpo(rootOf(xml).children[0]!);
  assert.ok(body !== undefined, xml);
  if (!asNumbers) return body;
  return body.replace(/": "(\d+\.\d\d)"/g, (_match, amount: string) => `": ${amount.replace(/\.?0+$/, '')}`);
}

export function rootOf(xml: string): Elemento {
  const reading = readXml(Buffer.from(xml));
  assert.ok('root' in reading);
  return reading.root;
}

/** `1234` becomes `12.34`. */
export function hundredths(cents: bigint): string {
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
}

type Part = (share: bigint) => string;
type Repeated = { readonly patch: Patch; readonly membros: Membros };

function serviceOf(cTribNac: (typeof SERVICOS)[number]): Patch {
  if (cTribNac === '070201') return { ...OBRA };
  return { 'serv/cServ/cTribNac': cTribNac, ...(cTribNac === '120101' ? EVENTO : {}) };
}

function reducersOf({ deduction, benefit }: Sorteio, part: Part): Repeated {
  const BM = 'valores/trib/tribMun/BM';
  const ofBenefit: Patch =
    (benefit && {
      [`${BM}/nBM`]: '35503080100001',
      [`${BM}/${benefit.kind}`]: benefit.kind === 'pRedBCBM' ? hundredths(benefit.share) : part(benefit.share),
    }) ||
    {};
  const [first, ...others] = deduction?.shares ?? [];
  if (deduction === undefined || first === undefined) return { patch: ofBenefit, membros: {} };
  if (deduction.kind !== 'documentos') {
    const value = deduction.kind === 'pDR' ? hundredths(first) : part(first);
    return { patch: { ...ofBenefit, [`valores/vDedRed/${deduction.kind}`]: value }, membros: {} };
  }
  const amounts = (of: bigint, place: number): Patch => ({
    [`${DEDUCTIONS}/nDocFisc`]: `Recibo ${place}`,
    [`${DEDUCTIONS}/vDedutivelRedutivel`]: part(of * 2n),
    [`${DEDUCTIONS}/vDeducaoReducao`]: part(of),
  });
  return {
    patch: { ...ofBenefit, ...DOCUMENTO_DEDUCAO, ...amounts(first, 1) },
    membros: { [DEDUCTIONS]: others.map((of, place) => amounts(of, place + 2)) },
  };
}

function thirdPartiesOf({ thirdParties: [first, ...others] }: Sorteio, part: Part): Repeated {
  if (first === undefined) return { patch: {}, membros: {} };
  const amount = (of: bigint, place: number): Patch => ({
    [`${THIRD_PARTIES}/docOutro/nDoc`]: String(place),
    [`${THIRD_PARTIES}/vlrReeRepRes`]: part(of),
  });
  const documento: Patch = {
    ...DOCUMENTO_TERCEIRO,
    [`${THIRD_PARTIES}/dtEmiDoc`]: '2026-09-15',
    [`${THIRD_PARTIES}/dtCompDoc`]: '2026-09-15',
  };
  return {
    patch: { ...documento, ...amount(first, 1) },
    membros: { [THIRD_PARTIES]: others.map((of, place) => amount(of, place + 2)) },
  };
}

const TRIB_MUN = 'valores/trib/tribMun';

const SIMPLES: Patch = { 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '1' };

function taxedOf({ regime, tpRetISSQN, pAliq }: Sorteio, reduced: boolean): Patch {
  return {
    [`${TRIB_MUN}/tpRetISSQN`]: tpRetISSQN,
    [`${TRIB_MUN}/pAliq`]: reduced ? '5.00' : hundredths(pAliq),
    ...(tpRetISSQN === '3' ? INTERMEDIARIO : {}),
    ...(regime === 'simples_por_fora' ? { 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '2' } : {}),
  };
}

function regimeOf({ regime, pAliq }: Sorteio): Patch {
  const without: Patch = { [`${TRIB_MUN}/pAliq`]: null };
  switch (regime) {
    case 'imune':
      return { ...without, [`${TRIB_MUN}/tribISSQN`]: '2', [`${TRIB_MUN}/tpImunidade`]: '3' };
    case 'exportacao':
      return { ...without, ...TOMADOR_EXTERIOR, [`${TRIB_MUN}/tribISSQN`]: '3', [`${TRIB_MUN}/cPaisResult`]: 'US' };
    case 'suspensa':
      return {
        ...without,
        [`${TRIB_MUN}/exigSusp/tpSusp`]: '1',
        [`${TRIB_MUN}/exigSusp/nProcesso`]: '000000000012345678920268260100',
      };
    case 'simples':
      return { ...without, ...SIMPLES };
    case 'simples_retido':
      return { ...SIMPLES, [`${TRIB_MUN}/tpRetISSQN`]: '2', [`${TRIB_MUN}/pAliq`]: hundredths(pAliq) };
    default:
      return { ...without, 'prest/regTrib/regEspTrib': '6' };
  }
}

/** The contributions due are on the whole price: 0.65 % and 3 %, rounded half to even. */
function contributionsOf({ contributions, cents }: Sorteio, part: Part): Patch {
  if (contributions === undefined) return {};
  const FED = 'valores/trib/tribFed';
  return {
    [`${FED}/piscofins/CST`]: '01',
    [`${FED}/piscofins/vBCPisCofins`]: part(10_000n),
    ...(cents % 2n === 0n && { [`${FED}/piscofins/vPis`]: part(65n), [`${FED}/piscofins/vCofins`]: part(300n) }),
    [`${FED}/piscofins/tpRetPisCofins`]: contributions.code,
    ...(contributions.share && { [`${FED}/vRetCSLL`]: part(contributions.share) }),
  };
}

function groupOf({ cClassTrib, regular, regime }: Sorteio): Patch {
  const G = 'IBSCBS/valores/trib/gIBSCBS';
  return {
    ...(regime === 'exportacao' && { 'IBSCBS/cIndOp': '100302' }),
    [`${G}/CST`]: cClassTrib.slice(0, 3),
    [`${G}/cClassTrib`]: cClassTrib,
    ...(cClassTrib === '515001' && {
      [`${G}/gDif/pDifUF`]: '100.00',
      [`${G}/gDif/pDifMun`]: '100.00',
      [`${G}/gDif/pDifCBS`]: '100.00',
    }),
    ...(cClassTrib === '550016' && {
      [`${G}/gTribRegular/CSTReg`]: regular.slice(0, 3),
      [`${G}/gTribRegular/cClassTribReg`]: regular,
    }),
  };
}
