/**
 * IBS and CBS of one note, as the calculator of the Receita Federal assesses them: the group that the note adds, field by field.
 *
 * Only amounts. Rules elsewhere say when the group is due, how far a declared value may lie off, and with which code it is refused.
 * Deliberately absent: presumed credit, of which none is in force in the only year with published rates; the halved base of CST 222
 * and the rates per quantity of 620, which no service has.
 */
import {
  type AliquotaLida,
  aliquotaGeral,
  aliquotaPropria,
  type TabelaIbsCbs,
  tabelaEmbarcada,
  temPropria,
} from './aliquotas-ibs-cbs.ts';
import { type Classificacao, classificacaoOf, cstOf, type TributoIbsCbs } from './catalogs/catalogs.ts';
import {
  add,
  type Decimal,
  decimal,
  effectiveRate,
  type Rate,
  type Rounding,
  roundRate,
  sub,
  taxOf,
  ZERO,
} from './decimal.ts';
import type { Dps } from './layout/dps.ts';
import type { InfNfse } from './layout/nfse.ts';

type Declared = NonNullable<Dps['IBSCBS']>['valores']['trib']['gIBSCBS'];

export type IbsCbsInput = {
  readonly dCompet: string;
  readonly vServ: Decimal;
  readonly vDescIncond?: Decimal | undefined;
  /** Amounts of third parties, summed. */
  readonly vCalcReeRepRes?: Decimal | undefined;
  /** The whole tax of the note, withheld or not; zero when the note shows none. */
  readonly vISSQN: Decimal;
  /** The own debits of PIS and COFINS, not what was withheld. */
  readonly vPis?: Decimal | undefined;
  readonly vCofins?: Decimal | undefined;
  readonly vLiq: Decimal;
  readonly CST: string;
  /** One that the catalog has: the rules have refused any other. */
  readonly cClassTrib: string;
  readonly gTribRegular?: Declared['gTribRegular'] | undefined;
  /** For `explainIbsCbs` alone: what is deferred is deferred whole. */
  readonly gDif?: Declared['gDif'] | undefined;
  readonly tpEnteGov?: string | undefined;
  /** IBGE code of the place of the operation, whose state and municipality may have rates; abroad it is none. */
  readonly local?: string | undefined;
};

/** `infNFSe/IBSCBS` without its place. What does not stand on the note is undefined. */
export type IbsCbsAmounts = Omit<NonNullable<InfNfse['IBSCBS']>, 'cLocalidadeIncid' | 'xLocalidadeIncid'>;

/**
 * Somebody still has to publish this for that competence, and nobody else can say it. `cClassTrib`: the classification whose
 * own rate it is, which the general one does not stand in for.
 */
export type IbsCbsUnavailable = {
  readonly unavailable: TributoIbsCbs | 'pRedutor';
  readonly data: string;
  readonly cClassTrib?: string;
};

/**
 * End of the test year. Until then one set of rates is for all (LC 214/2025, arts. 343 and 346), PIS and COFINS leave
 * the base, and nothing is paid on top of the net value.
 */
export const TEST_YEAR_END = '2026-12-31';

/**
 * Reduction for government purchases in the test year, in percent: what the calculator holds (V0023 of its data). For later
 * years the law asks for a percentage that nobody has published.
 */
const TEST_YEAR_REDUTOR = ZERO;

/** Last day of the ISSQN. The annex stops here, and the calculator refuses an ISSQN later on. */
const ISSQN_END = '2032-12-31';

/** After the test year these have rates of their own, and until somebody publishes them they have none. */
const OWN_RATES: ReadonlySet<Classificacao['tipoAliquota']> = new Set(['Uniforme setorial', 'Fixa']);

/**
 * Half a cent goes up, as in the calculator of March 2026; its later editions take the even cent. The two differ at ties
 * alone and by the one cent that the ADN allows, so it takes either.
 */
const ROUNDING: Rounding = 'half-up';

/**
 * Each tribute is rounded to the cent once, from rates as exact as they are published, then summed; the rates that stand on the note
 * have two decimals. A base below zero is given as the formula left it, with the negative tributes that follow, so that a rule can
 * say it. `tabela`: the published rates, which are data; a row more is all that a new year needs.
 */
export function assessIbsCbs(
  input: IbsCbsInput,
  tabela: TabelaIbsCbs = tabelaEmbarcada(),
): IbsCbsAmounts | IbsCbsUnavailable {
  const treatment = treatmentOf(input.CST, input.cClassTrib);
  const rates = ratesOf(treatment, input, tabela);
  if ('unavailable' in rates) return rates;

  const gTribRegular = regularOf(input, tabela);
  if (gTribRegular !== undefined && 'unavailable' in gTribRegular) return gTribRegular;

  const { dCompet, tpEnteGov } = input;
  if (tpEnteGov !== undefined && dCompet > TEST_YEAR_END) return { unavailable: 'pRedutor', data: dCompet };
  return amountsAt(input, treatment, rates, gTribRegular);
}

/** As far as the amounts do not hang on rates: the base is that of the note, and nothing is assessed on it. */
export function assessWithoutRates(input: IbsCbsInput): IbsCbsAmounts {
  return amountsAt(input, treatmentOf(input.CST, input.cClassTrib), NO_RATES, undefined);
}

function amountsAt(
  input: IbsCbsInput,
  treatment: Treatment,
  rates: Rates,
  gTribRegular: TribRegular | undefined,
): IbsCbsAmounts {
  const { dCompet, vCalcReeRepRes, tpEnteGov, vLiq } = input;
  const vBC = baseOf(input);
  const pRedutor = tpEnteGov === undefined ? undefined : TEST_YEAR_REDUTOR;

  const uf = assessTribute(vBC, rates.uf, treatment.pRedIBS, pRedutor, treatment);
  const mun = assessTribute(vBC, rates.mun, treatment.pRedIBS, pRedutor, treatment);
  const cbs = assessTribute(vBC, rates.cbs, treatment.pRedCBS, pRedutor, treatment);
  const vIBSTot = add(uf.v, mun.v);

  return {
    pRedutor,
    valores: {
      vBC,
      vCalcReeRepRes,
      uf: { pIBSUF: uf.p, pRedAliqUF: uf.pRed, pAliqEfetUF: uf.pEfet },
      mun: { pIBSMun: mun.p, pRedAliqMun: mun.pRed, pAliqEfetMun: mun.pEfet },
      fed: { pCBS: cbs.p, pRedAliqCBS: cbs.pRed, pAliqEfetCBS: cbs.pEfet },
    },
    totCIBS: {
      // E1555
      vTotNF: dCompet <= TEST_YEAR_END ? vLiq : add(add(vLiq, cbs.v), vIBSTot),
      gIBS: {
        vIBSTot,
        gIBSUFTot: { vDifUF: uf.vDif, vIBSUF: uf.v },
        gIBSMunTot: { vDifMun: mun.vDif, vIBSMun: mun.v },
      },
      gCBS: { vDifCBS: cbs.vDif, vCBS: cbs.v },
      gTribRegular,
      gTribCompraGov: pRedutor === undefined ? undefined : compraGovOf(uf, mun, cbs),
    },
  };
}

/** What a CST and its classification make of the rates. */
type Treatment = {
  readonly cClassTrib: string;
  /** The general rates do not say all: see `OWN_RATES`. */
  readonly hasOwnRates: boolean;
  readonly levied: boolean;
  readonly deferred: boolean;
  readonly demandsRegular: boolean;
  readonly pRedIBS: Decimal;
  readonly pRedCBS: Decimal;
};

export function treatmentOf(CST: string, cClassTrib: string): Treatment {
  const classificacao = classificacaoOf(cClassTrib);
  if (classificacao === undefined) throw new RangeError(`cClassTrib that no rule has refused: ${cClassTrib}`);
  return treatmentBy(CST, classificacao);
}

/**
 * Not levied: exemption, immunity and the like (the CST does not open the group) and suspension ("Sem alíquota" though it
 * does). Base by the formula and everything else zero: the calculator answers no group at all for the former, E1530
 * knows no exception, and the specification says that rates and totals come back zeroed.
 *
 * The deferral of 510001 is "Sem alíquota" in the table too; the calculator takes the general rate there, and so do we.
 */
function treatmentBy(CST: string, classificacao: Classificacao): Treatment {
  const cst = cstOf(CST);
  const deferred = cst?.ind_gDif === true;
  const levied = cst?.ind_gIBSCBS === true && (classificacao.tipoAliquota !== 'Sem alíquota' || deferred);
  return {
    cClassTrib: classificacao.codigo,
    hasOwnRates: OWN_RATES.has(classificacao.tipoAliquota),
    levied,
    deferred,
    demandsRegular: classificacao.ind_gTribRegular,
    pRedIBS: levied ? reductionOf(classificacao.pRedIBS) : ZERO,
    pRedCBS: levied ? reductionOf(classificacao.pRedCBS) : ZERO,
  };
}

/** A percentage of the table; most classifications have none. */
function reductionOf(text: string): Decimal {
  return text === '0' ? ZERO : decimal(text);
}

export type Rates = { readonly uf: Rate; readonly mun: Rate; readonly cbs: Rate };

export const NO_RATE = 0n as Rate;
const NO_RATES: Rates = { uf: NO_RATE, mun: NO_RATE, cbs: NO_RATE };

/** When and where, of an operation. */
type Operation = Pick<IbsCbsInput, 'dCompet' | 'local'>;

function ratesOf(treatment: Treatment, operation: Operation, tabela: TabelaIbsCbs): Rates | IbsCbsUnavailable {
  if (!treatment.levied) return NO_RATES;
  const uf = rateOf(treatment, 'IBS-UF', operation, tabela);
  if ('unavailable' in uf) return uf;
  const mun = rateOf(treatment, 'IBS-MUN', operation, tabela);
  if ('unavailable' in mun) return mun;
  const cbs = rateOf(treatment, 'CBS', operation, tabela);
  if ('unavailable' in cbs) return cbs;
  return { uf: uf.rate, mun: mun.rate, cbs: cbs.rate };
}

/** A classification with a rate of its own takes no general one. */
export function rateOf(
  { cClassTrib, hasOwnRates }: Pick<Treatment, 'cClassTrib' | 'hasOwnRates'>,
  tributo: TributoIbsCbs,
  { dCompet: data, local }: Operation,
  tabela: TabelaIbsCbs,
): AliquotaLida | IbsCbsUnavailable {
  const asked = { data, local, cClassTrib };
  if ((hasOwnRates && data > TEST_YEAR_END) || temPropria(tabela, asked)) {
    return aliquotaPropria(tabela, tributo, asked) ?? { unavailable: tributo, data, cClassTrib };
  }
  return aliquotaGeral(tabela, tributo, asked) ?? { unavailable: tributo, data };
}

/** E1530: deduction and municipal benefit reduce the base of the ISSQN alone. */
function baseOf(input: IbsCbsInput): Decimal {
  let base = input.vServ;
  for (const [, value] of reducersOf(input)) base = sub(base, value);
  return base;
}

export function reducersOf(input: IbsCbsInput): readonly (readonly [campo: string, value: Decimal])[] {
  const { dCompet, vDescIncond = ZERO, vCalcReeRepRes = ZERO, vISSQN, vPis = ZERO, vCofins = ZERO } = input;
  return [
    ['vDescIncond', vDescIncond],
    ['vCalcReeRepRes', vCalcReeRepRes],
    ['vISSQN', dCompet <= ISSQN_END ? vISSQN : ZERO],
    ['vPis', dCompet <= TEST_YEAR_END ? vPis : ZERO],
    ['vCofins', dCompet <= TEST_YEAR_END ? vCofins : ZERO],
  ];
}

type Tribute = {
  readonly p: Decimal;
  readonly pRed: Decimal | undefined;
  readonly pEfet: Decimal;
  readonly v: Decimal;
  readonly vDif: Decimal | undefined;
};

/**
 * Deferral: nothing due and the whole tribute deferred, whatever percentages `gDif` declares. The annex would keep the
 * tribute and multiply by them, but E1567 and E1568 compare with the calculator, which defers 100 % by its own table and
 * has no way to be told another percentage.
 */
function assessTribute(
  vBC: Decimal,
  p: Rate,
  pRed: Decimal,
  pRedutor: Decimal | undefined,
  { deferred }: Treatment,
): Tribute {
  const exact = effectiveRate(p, pRed, pRedutor);
  const pEfet = roundRate(exact);
  const v = taxOf(vBC, exact, ROUNDING);
  return {
    p: roundRate(p),
    // E1540 and E1541: the reduction stands on the note exactly when the classification has one.
    pRed: pRed === ZERO ? undefined : pRed,
    pEfet,
    v: deferred ? ZERO : v,
    vDif: deferred ? v : undefined,
  };
}

/** Who gets what is shifted to the buyer from 2027 on (LC 214/2025, art. 473); in the test year it stays as assessed. */
function compraGovOf(uf: Tribute, mun: Tribute, cbs: Tribute): NonNullable<IbsCbsAmounts['totCIBS']['gTribCompraGov']> {
  return { pIBSUF: uf.pEfet, vIBSUF: uf.v, pIBSMun: mun.pEfet, vIBSMun: mun.v, pCBS: cbs.pEfet, vCBS: cbs.v };
}

type TribRegular = NonNullable<IbsCbsAmounts['totCIBS']['gTribRegular']>;

/** What would be paid without the suspension. Absent, too, when the sender did not say how; E0965 has to tell. */
function regularOf(input: IbsCbsInput, tabela: TabelaIbsCbs): TribRegular | IbsCbsUnavailable | undefined {
  const rates = regularRatesOf(input, tabela);
  if (rates === undefined || 'unavailable' in rates) return rates;
  const vBC = baseOf(input);
  return {
    pAliqEfeRegIBSUF: roundRate(rates.uf),
    vTribRegIBSUF: taxOf(vBC, rates.uf, ROUNDING),
    pAliqEfeRegIBSMun: roundRate(rates.mun),
    vTribRegIBSMun: taxOf(vBC, rates.mun, ROUNDING),
    pAliqEfeRegCBS: roundRate(rates.cbs),
    vTribRegCBS: taxOf(vBC, rates.cbs, ROUNDING),
  };
}

/** The effective rates without the suspension; undefined where regular taxation is not demanded, or not known. */
export function regularRatesOf(input: IbsCbsInput, tabela: TabelaIbsCbs): Rates | IbsCbsUnavailable | undefined {
  const { CST, cClassTrib, gTribRegular } = input;
  if (gTribRegular === undefined || !treatmentOf(CST, cClassTrib).demandsRegular) return undefined;
  const classificacao = classificacaoOf(gTribRegular.cClassTribReg);
  if (classificacao === undefined) return undefined;
  const treatment = treatmentBy(gTribRegular.CSTReg, classificacao);
  const rates = ratesOf(treatment, input, tabela);
  if ('unavailable' in rates) return rates;
  return {
    uf: effectiveRate(rates.uf, treatment.pRedIBS),
    mun: effectiveRate(rates.mun, treatment.pRedIBS),
    cbs: effectiveRate(rates.cbs, treatment.pRedCBS),
  };
}
