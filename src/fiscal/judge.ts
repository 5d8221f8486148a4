/**
 * Document and facts to faults, or to amounts: the whole of the law, pure. The order of the rules is the order of the
 * layout and of the answer. Structure was judged by the reader, the registry by the facts, duplicates by the database.
 */

import { AMBIENTES } from './ambiente.ts';
import { assessIssqn, type Benefit, chooseAliquota, type Deduction, type IssqnAmounts } from './assess.ts';
import { ZERO } from './decimal.ts';
import type { Facts } from './facts.ts';
import type { Aviso, Fault } from './fault.ts';
import { assessIbsCbs, defaultIndOp, placeOfIbsCbs } from './ibscbs.ts';
import { incidenceOf } from './incidence.ts';
import type { Dps } from './layout/dps.ts';
import type { InfNfse } from './layout/nfse.ts';
import type { AmountRule, Rule } from './rules/rule.ts';
import { AMOUNT_RULES, RULES } from './rules/rules.ts';

export type Judged = {
  readonly amounts: IssqnAmounts;
  readonly cLocIncid: string | undefined;
  /** The group of the note, when the DPS has one. */
  readonly ibscbs: InfNfse['IBSCBS'];
  /** Operation indicator for a DPS whose IBS/CBS group has none (D-15). */
  readonly cIndOp: string | undefined;
  readonly avisos: readonly Aviso[];
};

export type Judgement = Judged | { readonly faults: readonly Fault[] };

/** Every rule over one DPS, then the amounts, then the rules about them. Linear in the number of rules. */
export function judge(dps: Dps, facts: Facts): Judgement {
  const faults: Fault[] = [];
  for (const rule of RULES) {
    if ((rule.when === undefined || rule.when(dps, facts)) && !rule.must(dps, facts)) {
      faults.push(faultOf(rule, told(rule.message, dps, facts), dps));
    }
  }
  if (faults.length > 0) return { faults };
  const amounts = assessIssqn(issqnInput(dps, facts));
  for (const rule of AMOUNT_RULES) {
    if (!rule.must(amounts, dps)) faults.push(faultOf(rule, told(rule.message, amounts, dps), dps));
  }
  if (faults.length > 0) return { faults };
  const { ibscbs, cIndOp, aviso } = ibsCbsOf(dps, amounts);
  const avisos = aviso === undefined ? remarks(dps, facts) : [...remarks(dps, facts), aviso];
  return { amounts, cLocIncid: incidenceOf(dps), ibscbs, cIndOp, avisos };
}

function faultOf(rule: Rule | AmountRule, mensagem: string, dps: Dps): Fault {
  const encontrado = rule.found?.(dps);
  return {
    codigo: rule.code,
    xpath: `/DPS/infDPS/${rule.at}`,
    mensagem,
    ...(encontrado === undefined ? {} : { encontrado }),
    ...(rule.expected === undefined ? {} : { esperado: rule.expected }),
  };
}

function told<Seen extends readonly unknown[]>(message: string | ((...seen: Seen) => string), ...seen: Seen): string {
  return typeof message === 'string' ? message : message(...seen);
}

function issqnInput(dps: Dps, facts: Facts): Parameters<typeof assessIssqn>[0] {
  const { valores, prest, serv } = dps;
  const { tribMun, tribFed } = valores.trib;
  const pAliqAplic = chooseAliquota({
    registered: facts.aliquotaRegistrada(serv.cServ.cTribNac, serv.cServ.cTribMun, dps.dCompet),
    declared: tribMun.pAliq,
    sandbox: AMBIENTES[facts.ambiente].fallbackAliquota !== undefined,
  });
  return {
    vServ: valores.vServPrest.vServ,
    vDescIncond: valores.vDescCondIncond?.vDescIncond,
    vDescCond: valores.vDescCondIncond?.vDescCond,
    deduction: deductionOf(valores.vDedRed),
    benefit: benefitOf(tribMun.BM),
    vlrReeRepRes: dps.IBSCBS?.valores.gReeRepRes?.documentos.map((documento) => documento.vlrReeRepRes),
    tribISSQN: tribMun.tribISSQN as '1' | '2' | '3' | '4',
    exigSusp: tribMun.exigSusp !== undefined,
    opSimpNac: prest.regTrib.opSimpNac as '1' | '2' | '3',
    regEspTrib: prest.regTrib.regEspTrib,
    tpRetISSQN: tribMun.tpRetISSQN as '1' | '2' | '3',
    pAliqAplic,
    vRetCP: tribFed?.vRetCP,
    vRetIRRF: tribFed?.vRetIRRF,
    vRetCSLL: tribFed?.vRetCSLL,
  };
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

type IbsCbs = { readonly ibscbs: InfNfse['IBSCBS']; readonly cIndOp: string | undefined; readonly aviso?: Aviso };

/** The group of the note, for a DPS that has one; a rate that nobody has published yet leaves it out, and says so. */
function ibsCbsOf(dps: Dps, amounts: IssqnAmounts): IbsCbs {
  const { IBSCBS, valores } = dps;
  if (IBSCBS === undefined) return { ibscbs: undefined, cIndOp: undefined };
  const { CST, cClassTrib, gTribRegular, gDif } = IBSCBS.valores.trib.gIBSCBS;
  const cIndOp = IBSCBS.cIndOp ?? defaultIndOp(dps);
  const assessed = assessIbsCbs({
    dCompet: dps.dCompet,
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
  });
  const place = placeOfIbsCbs(dps, cIndOp);
  if ('unavailable' in assessed || place === undefined) {
    const what =
      'unavailable' in assessed
        ? `não há ${assessed.unavailable} publicado para ${assessed.data}`
        : 'o local não é conhecido';
    const mensagem = `A nota sai sem o grupo IBSCBS calculado: ${what}.`;
    return { ibscbs: undefined, cIndOp, aviso: { codigo: 'E1515', xpath: '/DPS/infDPS/IBSCBS', mensagem } };
  }
  return { ibscbs: { cLocalidadeIncid: place.codigo, xLocalidadeIncid: place.nome, ...assessed }, cIndOp };
}

/** What a positive answer says besides. D-62: a future competence lets obligation dates be rehearsed. */
function remarks(dps: Dps, { ambiente, hoje }: Facts): readonly Aviso[] {
  if (ambiente === 'producao') {
    if (dps.tpAmb === AMBIENTES.producao.tpAmb) return [];
    const mensagem = `A DPS traz tpAmb ${dps.tpAmb} (homologação), mas este município está em produção: a nota tem valor fiscal, com tpAmb 1. Em produção envie tpAmb 1; para ensaiar use o ambiente de integração.`;
    return [{ codigo: 'E0006', xpath: '/DPS/infDPS/tpAmb', mensagem }];
  }
  const xpath = '/DPS/infDPS/dCompet';
  if (dps.dCompet <= hoje) return [];
  const mensagem = `A competência ${dps.dCompet} é posterior à emissão (${hoje}); aqui isso serve para ensaiar as datas de obrigação.`;
  return [{ codigo: 'E0015', xpath, mensagem }];
}
