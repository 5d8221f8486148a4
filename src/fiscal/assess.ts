/**
 * The ISSQN side of the amounts of a note: base, tax, withholdings and net value, from the amounts of the DPS and a rate that the caller
 * has chosen. The formulas are those of `infNFSe/valores` in Anexo I v1.01, each named where it stands.
 *
 * Nothing is refused here. The rules judge a forbidden deduction, a rate above 5 % or a discount above the price. This file returns the
 * results of the formulas, negative ones included, and marks them. IBS and CBS are in `ibscbs.ts`.
 */
import { add, type Decimal, percentOf, sub, sum, ZERO } from './decimal.ts';

/** `valores/vDedRed`, one of its three forms. */
export type Deduction =
  | { readonly kind: 'pDR'; readonly p: Decimal }
  | { readonly kind: 'vDR'; readonly v: Decimal }
  /** Each value is the `vDeducaoReducao` of one document. */
  | { readonly kind: 'documentos'; readonly values: readonly Decimal[] };

/** `valores/trib/tribMun/BM`, one of its two forms, or an exemption that the municipality registered. */
export type Benefit =
  | { readonly kind: 'isencao' }
  | { readonly kind: 'pRedBCBM'; readonly p: Decimal }
  | { readonly kind: 'vRedBCBM'; readonly v: Decimal };

export type IssqnInput = {
  readonly vServ: Decimal;
  readonly vDescIncond?: Decimal | undefined;
  readonly vDescCond?: Decimal | undefined;
  readonly deduction?: Deduction | undefined;
  readonly benefit?: Benefit | undefined;
  /** `IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes`, one per document. */
  readonly vlrReeRepRes?: readonly Decimal[] | undefined;
  /** 1 taxable, 2 immune, 3 export, 4 non-incidence (decided in D-82). */
  readonly tribISSQN: '1' | '2' | '3' | '4';
  readonly exigSusp: boolean;
  /** 1 not opted, 2 MEI, 3 ME/EPP. */
  readonly opSimpNac: '1' | '2' | '3';
  /** ME/EPP only: 1 every tax inside the Simples, 2 and 3 the ISSQN outside it. */
  readonly regApTribSN?: string | undefined;
  /** 0 none; every other code is a special regime. */
  readonly regEspTrib: string;
  /** 1 not withheld, 2 by the taker, 3 by the intermediary. */
  readonly tpRetISSQN: '1' | '2' | '3';
  /** The result of `chooseAliquota`; undefined if there is no rate to apply. */
  readonly pAliqAplic: Decimal | undefined;
  readonly vRetCP?: Decimal | undefined;
  readonly vRetIRRF?: Decimal | undefined;
  readonly vRetCSLL?: Decimal | undefined;
};

/** The inputs of the base. */
export type IssqnBaseInput = Pick<IssqnInput, 'vServ' | 'vDescIncond' | 'deduction' | 'benefit' | 'vlrReeRepRes'>;

/** Every property is always present. A property of the note's `valores` that is undefined does not stand on the note. */
export type IssqnAmounts = {
  readonly vCalcDR: Decimal | undefined;
  readonly vCalcBM: Decimal | undefined;
  readonly vBC: Decimal | undefined;
  readonly pAliqAplic: Decimal | undefined;
  readonly vISSQN: Decimal | undefined;
  readonly vTotalRet: Decimal | undefined;
  readonly vLiq: Decimal;
  /** The withheld part of `vTotalRet`: the whole `vISSQN`, or zero. */
  readonly vISSQNRet: Decimal;
  /** The sum for `IBSCBS/valores`; present if there are documents, even without ISSQN. */
  readonly vCalcReeRepRes: Decimal | undefined;
  /** The deduction and the benefit in reais, regardless of their declared form; zero if absent. */
  readonly deduction: Decimal;
  readonly benefit: Decimal;
  /** False if `vLiq` is the only one of the `valores` that may stand on the note. */
  readonly issqnShown: boolean;
  /** The base by the formula, negative ones included, whether or not it stands on the note (E1295). */
  readonly base: Decimal;
};

/**
 * The rate that applies. The rate that the municipality of incidence registered precedes the declared one (note on pAliqAplic in Anexo I).
 * The registered rate is the one for the service and the competence. A registered or declared 0.00 is a rate like any other.
 */
export function chooseAliquota(rates: {
  readonly registered?: Decimal | undefined;
  readonly declared?: Decimal | undefined;
  /** The rate of the ambiente, from `AMBIENTES`. */
  readonly fallback?: Decimal | undefined;
}): Decimal | undefined {
  return rates.registered ?? rates.declared ?? rates.fallback;
}

/**
 * Calculates the ISSQN amounts. No official text fixes the rounding of the ISSQN. Every product is rounded once, half-up to the cent, like
 * IBS and CBS in the calculator of the Receita Federal. Sums are exact.
 */
export function assessIssqn(input: IssqnInput): IssqnAmounts {
  const { afterDiscount, deduction, benefit, reimbursed, base } = assessBase(input);
  const issqnShown = showsIssqn(input);

  // E1289
  const rate = issqnShown ? input.pAliqAplic : undefined;
  const isExempt = issqnShown && input.benefit?.kind === 'isencao';
  const vISSQN = rate === undefined ? (isExempt ? ZERO : undefined) : percentOf(base, rate);
  const vISSQNRet = input.tpRetISSQN === '1' || vISSQN === undefined ? ZERO : vISSQN;

  // E1506: vPis and vCofins are the provider's own debits and never part of it.
  const federal = add(add(input.vRetCP ?? ZERO, input.vRetIRRF ?? ZERO), input.vRetCSLL ?? ZERO);
  const vTotalRet = add(federal, vISSQNRet);

  // E1508: federal withholdings reduce the net value even if vTotalRet does not stand on the note.
  const vLiq = sub(sub(afterDiscount, input.vDescCond ?? ZERO), vTotalRet);

  return {
    vCalcDR: issqnShown && input.deduction !== undefined && input.deduction.kind !== 'vDR' ? deduction : undefined,
    vCalcBM: isExempt || (issqnShown && input.benefit?.kind === 'pRedBCBM') ? benefit : undefined,
    vBC: issqnShown ? base : undefined,
    pAliqAplic: rate,
    vISSQN,
    vTotalRet: issqnShown ? vTotalRet : undefined,
    vLiq,
    vISSQNRet,
    vCalcReeRepRes: input.vlrReeRepRes !== undefined && input.vlrReeRepRes.length > 0 ? reimbursed : undefined,
    deduction,
    benefit,
    issqnShown,
    // A negative base is not raised to zero, nor is the net value: E0427 and E0428 say that the reducers exceed the price.
    base,
  };
}

/** The base of the ISSQN, and the parts of the price that it leaves out. The base is returned even if the note does not show it. */
export function assessBase(input: IssqnBaseInput) {
  const afterDiscount = sub(input.vServ, input.vDescIncond ?? ZERO);
  const deduction = deductionOf(input.deduction, afterDiscount);
  const afterDeduction = sub(afterDiscount, deduction);
  const reimbursed = sum(input.vlrReeRepRes ?? []);
  const benefit = benefitOf(input.benefit, afterDeduction, reimbursed);
  // E1295
  const base = sub(sub(afterDeduction, benefit), reimbursed);
  return { afterDiscount, deduction, benefit, reimbursed, base };
}

/** Five cases leave only vLiq among the values: E1302, E1303, E1307, E1311, and the ISSQN that is in the DAS. */
function showsIssqn(input: IssqnInput): boolean {
  const { opSimpNac, tribISSQN, regEspTrib, exigSusp } = input;
  return opSimpNac !== '2' && tribISSQN === '1' && regEspTrib === '0' && !exigSusp && !isPaidInDas(input);
}

/**
 * A company inside the Simples pays its ISSQN in one monthly sum by its receipts, the DAS (LC 123/2006, art. 13 and 18). Only the withheld
 * ISSQN is calculated on the note (D-191).
 */
function isPaidInDas({ opSimpNac, regApTribSN, tpRetISSQN }: IssqnInput): boolean {
  return opSimpNac === '3' && regApTribSN === '1' && tpRetISSQN === '1';
}

/**
 * The percentage of the deduction applies after the unconditional discount, and that of the benefit after the deduction as well. The note
 * on vBC and E0427 say so, with an example. E1287 and E1288 say "on the service value"; without discount and deduction the two agree.
 */
function deductionOf(deduction: Deduction | undefined, afterDiscount: Decimal): Decimal {
  switch (deduction?.kind) {
    case undefined:
      return ZERO;
    case 'pDR':
      return percentOf(afterDiscount, deduction.p);
    case 'vDR':
      return deduction.v;
    case 'documentos':
      return sum(deduction.values);
  }
}

/** An exemption takes the remaining base, so that E1295 holds with 0.00. */
function benefitOf(benefit: Benefit | undefined, afterDeduction: Decimal, reimbursed: Decimal): Decimal {
  switch (benefit?.kind) {
    case undefined:
      return ZERO;
    case 'isencao':
      return sub(afterDeduction, reimbursed);
    case 'pRedBCBM':
      return percentOf(afterDeduction, benefit.p);
    case 'vRedBCBM':
      return benefit.v;
  }
}
