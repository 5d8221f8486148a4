/**
 * The whole of the law, pure: a document and its facts become faults, or amounts. The rules stand approximately in the order of the layout,
 * the faults of an answer exactly so. The reader judges the structure, the facts carry the registry, and the database judges duplicates.
 */

import { aliquotasOf, sandboxAliquotaOf } from './aliquota.ts';
import { percentualEmPalavras } from './aliquotas-ibs-cbs.ts';
import {
  assessBase,
  assessIssqn,
  type Benefit,
  chooseAliquota,
  type Deduction,
  type IssqnAmounts,
  type IssqnBaseInput,
} from './assess.ts';
import { isIsenta } from './cadastros.ts';
import { formatDecimal, ZERO } from './decimal.ts';
import { type Declarado, NADA_DECLARADO } from './declarado.ts';
import type { Facts } from './facts.ts';
import type { Aviso, Fault } from './fault.ts';
import { assessIbsCbs, assessWithoutRates, type IbsCbsInput, type IbsCbsUnavailable } from './ibscbs.ts';
import { incidenceOf } from './incidence.ts';
import type { Dps } from './layout/dps.ts';
import type { InfNfse } from './layout/nfse.ts';
import { inLayoutOrder } from './layout/order.ts';
import { brazilianDate } from './moment.ts';
import { indOpOf, localOf, placeOfIbsCbs } from './operation.ts';
import type { AmountRule, AnyRule, Breach, IbsCbsRule, JudgingAmounts, Rule } from './rules/rule.ts';
import { AMOUNT_RULES, IBSCBS_RULES, RULES } from './rules/rules.ts';
import { answerOf, knownPart, watch } from './unknown.ts';
import { lowerFirst } from './words.ts';

export type Judged = {
  readonly amounts: IssqnAmounts;
  readonly cLocIncid: string | undefined;
  /** The group of the note, if the DPS has one. */
  readonly ibscbs: InfNfse['IBSCBS'];
  /** Operation indicator for a DPS whose IBS/CBS group has none (D-15). */
  readonly cIndOp: string | undefined;
  /** Why the note is held back, in Portuguese: a value that its group needs is not yet published. */
  readonly retencao: string | undefined;
  readonly avisos: readonly Aviso[];
};

export type Judgement = Judged | { readonly faults: readonly Fault[] };

/**
 * Applies every rule to one DPS, then the amounts and the rules about them. The declared IBS and CBS of a JSON body are compared last with
 * the official calculation. The time is linear in the number of rules.
 */
export function judge(dps: Dps, facts: Facts, declarado: Declarado = NADA_DECLARADO): Judgement {
  const found: Breaches = { faults: [], avisos: [] };
  for (const { part, asked } of SECTIONS) {
    if (part !== undefined && !part(dps, facts, declarado)) continue;
    for (const one of asked) {
      if (isKept(one, dps, facts, declarado)) continue;
      for (const breach of breachesOf(one.rule, dps, facts, declarado)) report(one.rule, breach, facts, found);
    }
  }
  if (found.faults.length > 0) return refuse(found);

  const amounts = assessIssqn(issqnInput(dps, facts));
  const assumed = (): string => describeAssumed(dps, facts);
  judgeComputed(AMOUNT_RULES, amounts, found, assumed, dps, facts, declarado);
  if (found.faults.length > 0) return refuse(found);

  const group = judgeIbsCbs(dps, amounts, facts, declarado, assumed);
  found.faults.push(...group.faults);
  found.avisos.push(...group.avisos);
  if (found.faults.length > 0) return refuse(found);
  const { ibscbs, cIndOp, retencao } = group;
  return { amounts, cLocIncid: incidenceOf(dps), ibscbs, cIndOp, retencao, avisos: found.avisos };
}

/** The end of the message of a fault whose amount depends on a rate of the sandbox; empty if the sandbox applied none. */
function describeAssumed(dps: Dps, facts: Facts): string {
  const aliquota = sandboxAliquotaOf(dps, facts);
  return aliquota === undefined
    ? ''
    : ` O ISSQN foi calculado a ${formatDecimal(aliquota)}%, que o ambiente de integração pôs porque a DPS não traz pAliq: informe-a.`;
}

/**
 * Consecutive rules about one part. The queried functions stand in objects of one shape; the rules as written have dozens of shapes
 * (D-362).
 */
type Section = {
  readonly part: Rule['part'];
  readonly asked: Asked[];
};

type Asked = {
  readonly rule: Rule;
  readonly about: Rule['about'];
  readonly when: Rule['when'];
  readonly must: Rule['must'];
};

/** Whether a document keeps a rule. A part is looked for once, and the rule is asked with it directly. */
function isKept({ about, when, must }: Asked, dps: Dps, facts: Facts, declarado: Declarado): boolean {
  if (about === undefined) return when?.(dps, facts, declarado) === false || must(dps, facts, declarado);
  const part = about.find(dps, facts, declarado);
  return (
    part === undefined || about.when?.(part, dps, facts, declarado) === false || about.must(part, dps, facts, declarado)
  );
}

const SECTIONS = sectionsOf(RULES);

function sectionsOf(rules: readonly Rule[]): readonly Section[] {
  const sections: Section[] = [];
  for (const rule of rules) {
    const { part, about, when, must } = rule;
    const one = { rule, about, when, must };
    const last = sections.at(-1);
    if (last !== undefined && last.part === part) last.asked.push(one);
    else sections.push({ part, asked: [one] });
  }
  return sections;
}

/** The ISSQN amounts that the calculation of the IBS and the CBS needs; those of an issued note have them too. */
export type IssqnForIbsCbs = Pick<IssqnAmounts, 'vISSQN' | 'vLiq' | 'vCalcReeRepRes'>;

/** The facts by which the group is judged. */
export type IbsCbsFacts = Pick<Facts, 'ambiente' | 'regrasNacionais' | 'tabelaIbsCbs'>;

type JudgedIbsCbs = Pick<Judged, 'ibscbs' | 'cIndOp' | 'retencao'> & Breaches;

/**
 * Judges the group of the note, last of all. The group needs no data of the registry. A note that waited for a rate is therefore judged to
 * its end as it was issued. Only rules that need no rate are judged while none is published.
 */
export function judgeIbsCbs(
  dps: Dps,
  amounts: IssqnForIbsCbs,
  facts: IbsCbsFacts,
  declarado: Declarado = NADA_DECLARADO,
  assumed: () => string = () => '',
): JudgedIbsCbs {
  const found: Breaches = { faults: [], avisos: [] };
  const { IBSCBS } = dps;
  if (IBSCBS === undefined) {
    if (declarado.ibscbs !== undefined) found.avisos.push(remarkNotCompared(declarado.ibscbs, NO_GROUP));
    return { ...found, ibscbs: undefined, cIndOp: undefined, retencao: undefined };
  }
  const cIndOp = indOpOf(dps);
  const place = placeOfIbsCbs(dps, cIndOp);
  if (place === undefined) throw new RangeError(`cLocEmi that no rule has refused: ${dps.cLocEmi}`);
  const input = ibsCbsInput(dps, amounts, place.codigo)!;
  const assessed = assessIbsCbs(input, facts.tabelaIbsCbs);
  if ('unavailable' in assessed) {
    const retencao = retencaoOf(assessed);
    judgeComputed(OF_BASE, assessWithoutRates(input), found, assumed, dps, facts, declarado);
    found.avisos.push({ codigo: 'E1515', xpath: '/DPS/infDPS/IBSCBS', mensagem: retencao });
    if (declarado.ibscbs !== undefined) found.avisos.push(remarkNotCompared(declarado.ibscbs, NOT_YET));
    return { ...found, ibscbs: undefined, cIndOp, retencao };
  }
  judgeComputed(IBSCBS_RULES, assessed, found, assumed, dps, facts, declarado);
  const ibscbs = { cLocalidadeIncid: place.codigo, xLocalidadeIncid: place.nome, ...assessed };
  return { ...found, ibscbs, cIndOp, retencao: undefined };
}

/** Rules about the group that do not depend on the rates. */
const OF_BASE = IBSCBS_RULES.filter(({ isOfBase }) => isOfBase === true);

/** Why a note is held back, in words for the integrator and the operator. */
function retencaoOf({ unavailable, data, cClassTrib }: IbsCbsUnavailable): string {
  const own = cClassTrib === undefined ? '' : `, própria do cClassTrib ${cClassTrib},`;
  const percentual = percentualEmPalavras(unavailable);
  const what =
    percentual === undefined
      ? `nenhuma alíquota de ${unavailable}${own} está publicada`
      : `${percentual} (${unavailable}) não está na tabela de alíquotas`;
  return `Retida: ${what} para a competência ${brazilianDate(data)}, e o ambiente nacional recusaria a nota sem IBS e CBS calculados (E1515). Ela segue sozinha, com a mesma chave e o mesmo número, quando ${percentual === undefined ? 'a alíquota for publicada e importada' : 'o percentual for publicado e importado'} aqui. Aguarde; não emita de novo.`;
}

/** Every fault of a document at once. An amount is judged if none of its inputs is at fault; a place with a fault gets no second one. */
export function judgeWhole(dps: Dps, facts: Facts, declarado: Declarado = NADA_DECLARADO): Judgement {
  const judged = judge(dps, facts, declarado);
  return 'faults' in judged ? judgeFurther(judged.faults, dps, facts, declarado) : judged;
}

/** The faults of a document: the ones that `judge` found first, then those of the amounts that do not depend on them. */
export function judgeFurther(
  before: readonly Fault[],
  dps: Dps,
  facts: Facts,
  declarado: Declarado = NADA_DECLARADO,
): { readonly faults: readonly Fault[] } {
  const found: Breaches = { faults: [...before], avisos: [] };
  const amounts = assessIssqn(issqnInput(dps, facts));
  const assumed = (): string => describeAssumed(dps, facts);
  judgeComputed(judgeableRules(AMOUNT_RULES, found), amounts, found, assumed, dps, facts, declarado);
  judgeIbsCbsBeside(found, amounts, found, assumed, dps, facts, declarado);
  return refuse(found);
}

/** Judges the rules of the group that the faults of `beside` leave open. */
function judgeIbsCbsBeside(
  beside: Breaches,
  amounts: IssqnAmounts,
  into: Breaches,
  assumed: () => string,
  ...[dps, facts, declarado]: [Dps, Facts, Declarado]
): void {
  const rules = judgeableRules(IBSCBS_RULES, beside);
  const input = rules.length === 0 ? undefined : ibsCbsInput(dps, amounts);
  const ibscbs = input && assessIbsCbs(input, facts.tabelaIbsCbs);
  if (ibscbs === undefined || 'unavailable' in ibscbs) return;
  judgeComputed(rules, ibscbs, into, assumed, dps, facts, declarado);
}

/**
 * The faults of a document of which some values or facts are unknown (D-720). A rule or amount is judged only if it reads nothing unknown.
 * A fault that was judged by a corrected text says so.
 */
export function judgeKnown(marked: Dps, facts: Facts, declarado: Declarado = NADA_DECLARADO): readonly Fault[] {
  const { value: dps, readCorrected } = watch(marked);
  const found: Breaches = { faults: [], avisos: [] };
  const told: Fault[] = [];
  const tell = (judged: () => void): boolean => {
    const isAnswered = answerOf(judged) !== undefined;
    const wasCorrected = readCorrected();
    told.push(...found.faults.splice(0).map((fault) => (wasCorrected ? afterCorrection(fault) : fault)));
    return isAnswered;
  };
  for (const rule of RULES) {
    if (rule.scope === 'aviso') continue;
    tell(() => {
      for (const breach of breachesIn(rule, dps, facts, declarado)) report(rule, breach, facts, found);
    });
  }
  const broken = { faults: [...told], avisos: [] };
  const assumed = (): string => describeAssumed(dps, facts);
  const whole = (): IssqnAmounts => assessIssqn(issqnInput(dps, facts));
  for (const rule of judgeableRules(AMOUNT_RULES, broken)) {
    // The base may be known even if the rate is not.
    tell(() => judgeComputed([rule], amountsOfBase(dps, facts), found, assumed, dps, facts, declarado)) ||
      tell(() => judgeComputed([rule], whole(), found, assumed, dps, facts, declarado));
  }
  tell(() => judgeIbsCbsBeside(broken, whole(), found, assumed, dps, facts, declarado));
  return inLayoutOrder(told);
}

function breachesIn(rule: Rule, ...seen: [Dps, Facts, Declarado]): readonly FullBreach[] {
  const { part, when, must, breaches } = rule;
  if (part?.(...seen) === false || when?.(...seen) === false) return [];
  if (breaches !== undefined) return breaches(...seen);
  return must(...seen) ? [] : breachesOf(rule, ...seen);
}

function afterCorrection(fault: Fault): Fault {
  return { ...fault, mensagem: `Com a correção acima, ${lowerFirst(fault.mensagem)}` };
}

function refuse({ faults }: Breaches): { readonly faults: readonly Fault[] } {
  return { faults: inLayoutOrder(faults) };
}

/** The rules about amounts whose place and inputs have no fault. */
function judgeableRules<Of extends AmountRule | IbsCbsRule>(rules: readonly Of[], { faults }: Breaches): readonly Of[] {
  const broken = new Set(faults.map(({ xpath }) => placeOf(xpath)));
  return rules.filter(
    ({ at, from }) => from !== undefined && !broken.has(at) && ![...from].some((place) => broken.has(place)),
  );
}

/** The place of a fault in the notation of the rules. */
function placeOf(xpath: string): string {
  return xpath
    .replace(/\[\d+\]/g, '')
    .replace(/^\/DPS\/infDPS\//, '')
    .replace(/^\//, '');
}

type Breaches = { readonly faults: Fault[]; readonly avisos: Aviso[] };

/** The rules about amounts are two tables of one shape. */
type Computed<Amounts, Known> = Pick<AmountRule, 'code' | 'at' | 'scope' | 'esquema' | 'expected' | 'from'> &
  JudgingAmounts<[amounts: Amounts, dps: Dps, facts: Known, declarado: Declarado]>;

function judgeComputed<Amounts, Known extends IbsCbsFacts>(
  rules: readonly Computed<Amounts, Known>[],
  amounts: Amounts,
  into: Breaches,
  assumed: () => string,
  ...[dps, facts, declarado]: [Dps, Known, Declarado]
): void {
  for (const rule of rules) {
    if (rule.when !== undefined && !rule.when(amounts, dps, facts, declarado)) continue;
    if (rule.must(amounts, dps, facts, declarado)) continue;
    const { message } = rule;
    const mensagem = typeof message === 'string' ? message : message(amounts, dps, facts, declarado);
    const hangsOnRate = rule.at !== ALIQUOTA && rule.from?.has(ALIQUOTA) === true;
    const breach = {
      at: rule.at,
      mensagem: hangsOnRate ? mensagem + assumed() : mensagem,
      encontrado: rule.found?.(amounts, dps, facts, declarado),
      esperado: rule.calculated?.(amounts, dps, facts, declarado),
      detalhes: rule.details?.(amounts, dps, facts, declarado),
    };
    report(rule, breach, facts, into);
  }
}

const ALIQUOTA = 'valores/trib/tribMun/pAliq';

type FullBreach = Breach & {
  readonly esperado?: string | undefined;
  readonly detalhes?: Fault['detalhes'] | undefined;
};

function breachesOf(rule: Rule, dps: Dps, facts: Facts, declarado: Declarado): readonly FullBreach[] {
  if (rule.breaches !== undefined) return rule.breaches(dps, facts, declarado);
  const { message } = rule;
  const mensagem = typeof message === 'string' ? message : message(dps, facts, declarado);
  return [{ at: rule.at, mensagem, encontrado: rule.found?.(dps, facts, declarado) }];
}

/** A breach is a fault, or a remark: always, or if the rules of the standard alone do not refuse (D-86). */
function report(
  { code, scope, esquema, expected }: Pick<AnyRule, 'code' | 'scope' | 'esquema' | 'expected'>,
  { at, mensagem, encontrado, esperado = expected, detalhes }: FullBreach,
  { regrasNacionais, ambiente }: Pick<Facts, 'regrasNacionais' | 'ambiente'>,
  { faults, avisos }: Breaches,
): void {
  const xpath = at.startsWith('NFSe/') ? `/${at}` : `/DPS/infDPS/${at}`;
  if (scope === 'aviso') {
    avisos.push({ codigo: code, xpath, mensagem });
  } else if (scope === 'nacional' && regrasNacionais === 'avisa' && !(esquema && ambiente === 'producao')) {
    avisos.push({ codigo: code, xpath, mensagem: `${mensagem} ${ONLY_REMARKED[ambiente]}` });
  } else {
    faults.push({
      codigo: code,
      xpath,
      mensagem,
      ...(encontrado === undefined ? {} : { encontrado }),
      ...(esperado === undefined ? {} : { esperado }),
      ...(detalhes === undefined ? {} : { detalhes }),
    });
  }
}

/** The text added to the message of a national rule that does not refuse. */
const ONLY_REMARKED: Readonly<Record<Facts['ambiente'], string>> = {
  homologacao: 'Aqui é só um aviso; em produção esta DPS é recusada.',
  producao: 'Neste município é só um aviso; o ambiente nacional pode recusar a nota.',
};

/** The inputs of the ISSQN calculation of a DPS. */
export function issqnInput(dps: Dps, facts: Facts): Parameters<typeof assessIssqn>[0] {
  const { valores, prest } = dps;
  const { tribMun, tribFed } = valores.trib;
  return {
    ...issqnBaseInput(dps, facts),
    vDescCond: valores.vDescCondIncond?.vDescCond,
    tribISSQN: tribMun.tribISSQN as '1' | '2' | '3' | '4',
    exigSusp: tribMun.exigSusp !== undefined,
    opSimpNac: prest.regTrib.opSimpNac as '1' | '2' | '3',
    regApTribSN: prest.regTrib.regApTribSN,
    regEspTrib: prest.regTrib.regEspTrib,
    tpRetISSQN: tribMun.tpRetISSQN as '1' | '2' | '3',
    pAliqAplic: chooseAliquota(aliquotasOf(dps, facts)),
    vRetCP: tribFed?.vRetCP,
    vRetIRRF: tribFed?.vRetIRRF,
    vRetCSLL: tribFed?.vRetCSLL,
  };
}

/** The inputs of the ISSQN base of a DPS. */
function issqnBaseInput(dps: Dps, facts: Facts): IssqnBaseInput {
  const { vServPrest, vDescCondIncond, vDedRed, trib } = dps.valores;
  return {
    vServ: vServPrest.vServ,
    vDescIncond: vDescCondIncond?.vDescIncond,
    deduction: deductionOf(vDedRed),
    benefit: isIsenta(dps, facts) ? { kind: 'isencao' } : benefitOf(trib.tribMun.BM),
    vlrReeRepRes: dps.IBSCBS?.valores.gReeRepRes?.documentos.map((documento) => documento.vlrReeRepRes),
  };
}

/** The amounts that depend on the base alone: no rate is needed. */
function amountsOfBase(dps: Dps, facts: Facts): IssqnAmounts {
  const { base, deduction, benefit, reimbursed } = assessBase(issqnBaseInput(dps, facts));
  return knownPart<IssqnAmounts>({ base, deduction, benefit, vCalcReeRepRes: reimbursed });
}

function deductionOf(vDedRed: Dps['valores']['vDedRed']): Deduction | undefined {
  if (vDedRed?.pDR !== undefined) return { kind: 'pDR', p: vDedRed.pDR };
  if (vDedRed?.vDR !== undefined) return { kind: 'vDR', v: vDedRed.vDR };
  const documentos = vDedRed?.documentos?.docDedRed;
  return documentos && { kind: 'documentos', values: documentos.map(({ vDeducaoReducao }) => vDeducaoReducao) };
}

function benefitOf(BM: Dps['valores']['trib']['tribMun']['BM']): Benefit | undefined {
  if (BM?.pRedBCBM !== undefined) return { kind: 'pRedBCBM', p: BM.pRedBCBM };
  return BM?.vRedBCBM === undefined ? undefined : { kind: 'vRedBCBM', v: BM.vRedBCBM };
}

const NO_GROUP = 'não foram comparados: a nota não tem o cálculo oficial.';
const NOT_YET =
  'ainda não foram comparados: sê-lo-ão com o cálculo oficial, quando houver alíquota, e se divergirem a nota termina rejeitada.';

/** A remark on declared amounts that cannot be compared with anything. */
function remarkNotCompared(declared: NonNullable<Declarado['ibscbs']>, why: string): Aviso {
  const names = Object.keys(declared).join(', ');
  const mensagem = `Os valores declarados de IBS e CBS (${names}) ${why}`;
  return { codigo: 'E1515', xpath: '/DPS/infDPS/IBSCBS', mensagem };
}

/** The inputs of the IBS and CBS calculation from a DPS and its ISSQN; undefined for a DPS without the group. */
export function ibsCbsInput(
  dps: Dps,
  amounts: IssqnForIbsCbs,
  local: string | undefined = localOf(dps),
): IbsCbsInput | undefined {
  const { dCompet, IBSCBS, valores } = dps;
  if (IBSCBS === undefined) return undefined;
  const { CST, cClassTrib, cCredPres, gTribRegular, gDif } = IBSCBS.valores.trib.gIBSCBS;
  return {
    dCompet,
    vServ: valores.vServPrest.vServ,
    vDescIncond: valores.vDescCondIncond?.vDescIncond,
    vCalcReeRepRes: amounts.vCalcReeRepRes,
    vISSQN: amounts.vISSQN ?? ZERO,
    vPis: valores.trib.tribFed?.piscofins?.vPis,
    vCofins: valores.trib.tribFed?.piscofins?.vCofins,
    vLiq: amounts.vLiq,
    CST,
    cClassTrib,
    gTribRegular,
    gDif,
    tpEnteGov: IBSCBS.tpEnteGov,
    cCredPres,
    local,
  };
}
