/**
 * IBS and CBS of one note, as the calculator of the Receita Federal assesses them: the group that the note adds, field by field.
 *
 * Only amounts are computed here. Rules elsewhere say when the group is due, which deviation is tolerated, and which code refuses it.
 * Deliberately absent: the halved base of CST 222 and the rates per quantity of 620, which no service has.
 */
import {
  type AliquotaLida,
  aliquotaGeral,
  aliquotaPropria,
  type TabelaIbsCbs,
  tabelaEmbarcada,
  temPropria,
} from './aliquotas-ibs-cbs.ts';
import {
  type Classificacao,
  classificacaoOf,
  creditoPresumidoOf,
  cstOf,
  type LinhaIbsCbs,
  type PercentualIbsCbs,
  type TributoIbsCbs,
} from './catalogs/catalogs.ts';
import {
  add,
  type Decimal,
  decimal,
  effectiveRate,
  keepRate,
  keepTax,
  type Rate,
  type Rounding,
  roundRate,
  roundTax,
  shareOf,
  sub,
  type Tax,
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
  /** Sum of the amounts of third parties. */
  readonly vCalcReeRepRes?: Decimal | undefined;
  /** The whole tax of the note, withheld or not; zero if the note shows none. */
  readonly vISSQN: Decimal;
  /** The own debits of PIS and COFINS, not what was withheld. */
  readonly vPis?: Decimal | undefined;
  readonly vCofins?: Decimal | undefined;
  readonly vLiq: Decimal;
  readonly CST: string;
  /** A classification of the catalog: the rules have refused any other. */
  readonly cClassTrib: string;
  readonly gTribRegular?: Declared['gTribRegular'] | undefined;
  /** Only `explainIbsCbs` reads it: a deferral always defers the whole tribute. */
  readonly gDif?: Declared['gDif'] | undefined;
  readonly tpEnteGov?: string | undefined;
  readonly cCredPres?: string | undefined;
  /** IBGE code of the place of the operation, whose state and municipality may have rates; a place abroad has no municipality. */
  readonly local?: string | undefined;
};

/** `infNFSe/IBSCBS` without its place. A field that does not stand on the note is undefined. */
export type IbsCbsAmounts = Omit<NonNullable<InfNfse['IBSCBS']>, 'cLocalidadeIncid' | 'xLocalidadeIncid'>;

/**
 * A rate that is not yet published for that competence: a row of the table of rates, which an import brings. `cClassTrib`: the
 * classification that has its own rate; the general one is no substitute.
 */
export type IbsCbsUnavailable = {
  readonly unavailable: LinhaIbsCbs;
  readonly data: string;
  readonly cClassTrib?: string;
};

/**
 * End of the test year. The test year has one set of rates for all (LC 214/2025, arts. 343 and 346). PIS and COFINS leave its base, and
 * nothing is paid on top of the net value.
 */
export const TEST_YEAR_END = '2026-12-31';

/** Last day of the ISSQN. The annex stops here, and the calculator refuses a later ISSQN. */
const ISSQN_END = '2032-12-31';

/** These have rates of their own after the test year, and none until they are published. */
const OWN_RATES: ReadonlySet<Classificacao['tipoAliquota']> = new Set(['Uniforme setorial', 'Fixa']);

/** How a competence rounds, and the number of intermediate decimals: of a rate as a fraction, and of a tribute. */
type Arithmetic = { readonly rounding: Rounding; readonly ratePlaces: number; readonly taxPlaces: number };

/** The calculator of March 2026: rates are exact, and a tribute is rounded to cents before it is summed. */
const OF_TEST_YEAR: Arithmetic = { rounding: 'half-up', ratePlaces: 14, taxPlaces: 2 };

/** The calculator of 14/08/2026, which cites LC 214/2025, art. 349, § 14: only written values are rounded to the cent (D-732). */
const SINCE_2027: Arithmetic = { rounding: 'half-even', ratePlaces: 8, taxPlaces: 8 };

/** A tribute within the calculation: its effective rate and its amount. */
export type Part = { readonly rate: Rate; readonly tax: Tax };
type Parts = Readonly<Record<keyof Rates, Part>>;

/** All values of the note, before rounding. */
export type Reckoned = {
  readonly arithmetic: Arithmetic;
  readonly treatment: Treatment;
  readonly vBC: Decimal;
  /** The rates before reductions. */
  readonly rates: Rates;
  /** The tribute of each entity by the rates. */
  readonly own: Parts;
  /** The share of each entity; it differs from the entity's own tribute if a government buys. */
  readonly due: Parts;
  /** The tributes without the suspension. */
  readonly regular: Parts | undefined;
  readonly compra: Compra | undefined;
  readonly creditoIbs: Credito | undefined;
  readonly creditoCbs: Credito | undefined;
};

/**
 * Calculates each tribute from rates as exact as they are published; the rates on the note have two decimals. A negative base is returned
 * unchanged, with its negative tributes, so that a rule can report it. `tabela`: the published rates, which are data; a new year needs only
 * another row.
 */
export function assessIbsCbs(
  input: IbsCbsInput,
  tabela: TabelaIbsCbs = tabelaEmbarcada(),
): IbsCbsAmounts | IbsCbsUnavailable {
  const reckoned = reckonIbsCbs(input, tabela);
  return 'unavailable' in reckoned ? reckoned : amountsOf(input, reckoned);
}

/** The same before rounding, to explain how the amounts came about. */
export function reckonIbsCbs(input: IbsCbsInput, tabela: TabelaIbsCbs): Reckoned | IbsCbsUnavailable {
  const treatment = treatmentOf(input.CST, input.cClassTrib);
  const rates = ratesOf(treatment, input, tabela);
  if ('unavailable' in rates) return rates;
  const regular = regularOf(input, tabela);
  if (regular !== undefined && 'unavailable' in regular) return regular;
  const compra = compraOf(input, tabela);
  if (compra !== undefined && 'unavailable' in compra) return compra;
  const creditos = creditosOf(input, tabela);
  if ('unavailable' in creditos) return creditos;
  return reckonAt(input, treatment, rates, regular, compra, creditos);
}

/** The amounts that do not depend on rates: the base is that of the note, and nothing is assessed on it. */
export function assessWithoutRates(input: IbsCbsInput): IbsCbsAmounts {
  const treatment = treatmentOf(input.CST, input.cClassTrib);
  return amountsOf(input, reckonAt(input, treatment, NO_RATES, undefined, undefined, NO_CREDITOS));
}

function reckonAt(
  input: IbsCbsInput,
  treatment: Treatment,
  rates: Rates,
  regular: Levied | undefined,
  compra: Compra | undefined,
  creditos: Creditos,
): Reckoned {
  const arithmetic = arithmeticOf(input.dCompet);
  const vBC = baseOf(input);
  const own = partsOf(vBC, rates, treatment, compra, arithmetic);
  return {
    arithmetic,
    treatment,
    vBC,
    rates,
    own,
    due: redirect(treatment.deferred ? withoutTax(own) : own, compra),
    regular: regular && redirect(partsOf(vBC, regular.rates, regular.treatment, compra, arithmetic), compra),
    compra,
    creditoIbs: creditos.ibs && { row: creditos.ibs, part: partOf(vBC, creditos.ibs.rate, arithmetic) },
    creditoCbs: creditos.cbs && { row: creditos.cbs, part: partOf(vBC, creditos.cbs.rate, arithmetic) },
  };
}

/** How the amounts of a competence are rounded. */
function arithmeticOf(dCompet: string): Arithmetic {
  return dCompet <= TEST_YEAR_END ? OF_TEST_YEAR : SINCE_2027;
}

function partsOf(
  vBC: Decimal,
  { uf, mun, cbs }: Rates,
  { pRedIBS, pRedCBS }: Treatment,
  compra: Compra | undefined,
  arithmetic: Arithmetic,
): Parts {
  const pRedutor = compra?.pRedutor;
  return {
    uf: partOf(vBC, effectiveRate(uf, pRedIBS, pRedutor), arithmetic),
    mun: partOf(vBC, effectiveRate(mun, pRedIBS, pRedutor), arithmetic),
    cbs: partOf(vBC, effectiveRate(cbs, pRedCBS, pRedutor), arithmetic),
  };
}

function partOf(vBC: Decimal, exact: Rate, { rounding, ratePlaces, taxPlaces }: Arithmetic): Part {
  const rate = keepRate(exact, ratePlaces, rounding);
  return { rate, tax: keepTax(taxOf(vBC, rate), taxPlaces, rounding) };
}

function amountsOf(input: IbsCbsInput, reckoned: Reckoned): IbsCbsAmounts {
  const { dCompet, vCalcReeRepRes, vLiq } = input;
  const { arithmetic, treatment, vBC, rates, own, due, regular, compra, creditoIbs, creditoCbs } = reckoned;
  const { rounding } = arithmetic;
  const { deferred, pRedIBS, pRedCBS } = treatment;
  const vCBS = roundTax(due.cbs.tax, rounding);
  const vIBSTot = roundTax(sumOf(due.uf.tax, due.mun.tax), rounding);
  // E1540 and E1541: the reduction stands on the note exactly when the classification has one.
  const pRedAliq = pRedIBS === ZERO ? undefined : pRedIBS;
  const deferredOf = ({ tax }: Part): Decimal | undefined => (deferred ? roundTax(tax, rounding) : undefined);

  return {
    pRedutor: compra?.pRedutor,
    valores: {
      vBC,
      vCalcReeRepRes,
      uf: {
        pIBSUF: roundRate(rates.uf, rounding),
        pRedAliqUF: pRedAliq,
        pAliqEfetUF: roundRate(due.uf.rate, rounding),
      },
      mun: {
        pIBSMun: roundRate(rates.mun, rounding),
        pRedAliqMun: pRedAliq,
        pAliqEfetMun: roundRate(due.mun.rate, rounding),
      },
      fed: {
        pCBS: roundRate(rates.cbs, rounding),
        pRedAliqCBS: pRedCBS === ZERO ? undefined : pRedCBS,
        pAliqEfetCBS: roundRate(due.cbs.rate, rounding),
      },
    },
    totCIBS: {
      // E1555
      vTotNF: dCompet <= TEST_YEAR_END ? vLiq : add(add(vLiq, vCBS), vIBSTot),
      gIBS: {
        vIBSTot,
        gIBSCredPres: creditoIbs && ibsCredPresOf(creditoIbs.part, rounding),
        gIBSUFTot: { vDifUF: deferredOf(own.uf), vIBSUF: roundTax(due.uf.tax, rounding) },
        gIBSMunTot: { vDifMun: deferredOf(own.mun), vIBSMun: roundTax(due.mun.tax, rounding) },
      },
      gCBS: {
        gCBSCredPres: creditoCbs && cbsCredPresOf(creditoCbs.part, rounding),
        vDifCBS: deferredOf(own.cbs),
        vCBS,
      },
      gTribRegular: regular && tribRegularOf(regular, rounding),
      gTribCompraGov: compra && compraGovOf(deferred ? withoutTax(own) : own, rounding),
    },
  };
}

type Totals = IbsCbsAmounts['totCIBS'];

function ibsCredPresOf({ rate, tax }: Part, rounding: Rounding): NonNullable<Totals['gIBS']['gIBSCredPres']> {
  return { pCredPresIBS: roundRate(rate, rounding), vCredPresIBS: roundTax(tax, rounding) };
}

function cbsCredPresOf({ rate, tax }: Part, rounding: Rounding): NonNullable<Totals['gCBS']['gCBSCredPres']> {
  return { pCredPresCBS: roundRate(rate, rounding), vCredPresCBS: roundTax(tax, rounding) };
}

function tribRegularOf({ uf, mun, cbs }: Parts, rounding: Rounding): NonNullable<Totals['gTribRegular']> {
  return {
    pAliqEfeRegIBSUF: roundRate(uf.rate, rounding),
    vTribRegIBSUF: roundTax(uf.tax, rounding),
    pAliqEfeRegIBSMun: roundRate(mun.rate, rounding),
    vTribRegIBSMun: roundTax(mun.tax, rounding),
    pAliqEfeRegCBS: roundRate(cbs.rate, rounding),
    vTribRegCBS: roundTax(cbs.tax, rounding),
  };
}

/** The tribute of each entity by the rates, before the buyer gets all (E1602 to E1607). */
function compraGovOf({ uf, mun, cbs }: Parts, rounding: Rounding): NonNullable<Totals['gTribCompraGov']> {
  return {
    pIBSUF: roundRate(uf.rate, rounding),
    vIBSUF: roundTax(uf.tax, rounding),
    pIBSMun: roundRate(mun.rate, rounding),
    vIBSMun: roundTax(mun.tax, rounding),
    pCBS: roundRate(cbs.rate, rounding),
    vCBS: roundTax(cbs.tax, rounding),
  };
}

/** The effect of a CST and its classification on the rates. */
type Treatment = {
  readonly cClassTrib: string;
  /** The general rates are not enough: see `OWN_RATES`. */
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
 * Not levied: exemption, immunity and the like (the CST does not open the group), and suspension ("Sem alíquota" though it does). The base
 * follows the formula and everything else is zero. The calculator returns no group at all for an exemption. E1530 knows no exception, and
 * the specification says that rates and totals come back as zero.
 *
 * The table also says "Sem alíquota" for the deferral of 510001; the calculator applies the general rate there, and so does this code.
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
    pRedIBS: levied ? findReduction(classificacao.pRedIBS) : ZERO,
    pRedCBS: levied ? findReduction(classificacao.pRedCBS) : ZERO,
  };
}

/** A percentage of the table; most classifications have none. */
function findReduction(text: string): Decimal {
  return text === '0' ? ZERO : decimal(text);
}

export type Rates = { readonly uf: Rate; readonly mun: Rate; readonly cbs: Rate };

const NO_RATE = 0n as Rate;
const NO_RATES: Rates = { uf: NO_RATE, mun: NO_RATE, cbs: NO_RATE };

/** Date and place of an operation. */
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

/**
 * Deferral: nothing is due and the whole tribute is deferred, whichever percentages `gDif` declares. The annex would multiply the tribute
 * by those percentages. E1567 and E1568 compare with the calculator instead, which always defers 100 % and accepts no other percentage.
 */
function withoutTax({ uf, mun, cbs }: Parts): Parts {
  return { uf: { ...uf, tax: NO_TAX }, mun: { ...mun, tax: NO_TAX }, cbs: { ...cbs, tax: NO_TAX } };
}

/** A government purchase: the reducer of the rates, and the tribute to which all the others go. */
type Compra = {
  readonly redutor: AliquotaLida;
  readonly pRedutor: Decimal;
  /** Absent in the test year, in which each entity keeps its own tribute. */
  readonly destino: keyof Rates | undefined;
  /** The share of the CBS that goes to a state or a municipality; absent if none does. */
  readonly transferencia: AliquotaLida | undefined;
};

/** The tribute of each buyer, by `tpEnteGov`: the Federal District has that of a state. */
const DESTINOS: Readonly<Record<string, keyof Rates>> = { '1': 'cbs', '2': 'uf', '3': 'uf', '4': 'mun' };

function compraOf({ tpEnteGov, dCompet }: IbsCbsInput, tabela: TabelaIbsCbs): Compra | IbsCbsUnavailable | undefined {
  if (tpEnteGov === undefined) return undefined;
  const redutor = percentualOf('REDUTOR-COMPRA-GOV', dCompet, tabela);
  if ('unavailable' in redutor) return redutor;
  const pRedutor = roundRate(redutor.rate, 'half-up');
  const destino = dCompet <= TEST_YEAR_END ? undefined : DESTINOS[tpEnteGov];
  if (destino === undefined || destino === 'cbs') return { redutor, pRedutor, destino, transferencia: undefined };
  const transferencia = percentualOf('TRANSFERENCIA-CBS-GOV', dCompet, tabela);
  if ('unavailable' in transferencia) return transferencia;
  return { redutor, pRedutor, destino, transferencia };
}

/** The tributes of the others become the buyer's (LC 214/2025, art. 473), except the part of the CBS that the Union keeps (D-731). */
function redirect(parts: Parts, compra: Compra | undefined): Parts {
  if (compra?.destino === undefined) return parts;
  const { destino, transferencia } = compra;
  const { uf, mun, cbs } = parts;
  const share = transferencia?.rate ?? NO_RATE;
  const moved: Part = { rate: shareOf(cbs.rate, share), tax: shareOf(cbs.tax, share) };
  const kept: Part = { rate: (cbs.rate - moved.rate) as Rate, tax: (cbs.tax - moved.tax) as Tax };
  const toBuyer = destino === 'cbs' ? kept : moved;
  const bought: Part = {
    rate: (uf.rate + mun.rate + toBuyer.rate) as Rate,
    tax: sumOf(uf.tax, mun.tax, toBuyer.tax),
  };
  return { uf: NOTHING, mun: NOTHING, cbs: kept, [destino]: bought };
}

const NO_TAX = 0n as Tax;
const NOTHING: Part = { rate: NO_RATE, tax: NO_TAX };

function sumOf(...taxes: readonly Tax[]): Tax {
  return taxes.reduce((total, tax) => (total + tax) as Tax, NO_TAX);
}

/** A presumed credit, with its row of the table. */
export type Credito = { readonly row: AliquotaLida; readonly part: Part };

type Creditos = { readonly ibs: AliquotaLida | undefined; readonly cbs: AliquotaLida | undefined };

const NO_CREDITOS: Creditos = { ibs: undefined, cbs: undefined };

function creditosOf({ cCredPres, dCompet }: IbsCbsInput, tabela: TabelaIbsCbs): Creditos | IbsCbsUnavailable {
  const devidos = creditosDevidos(cCredPres, dCompet);
  if (devidos === undefined) return NO_CREDITOS;
  const ibs = percentualOf(devidos.ibs, dCompet, tabela);
  if ('unavailable' in ibs) return ibs;
  const cbs = percentualOf(devidos.cbs, dCompet, tabela);
  return 'unavailable' in cbs ? cbs : { ibs, cbs };
}

type CreditosDevidos = Readonly<Record<'ibs' | 'cbs', PercentualIbsCbs>>;

/** The credits of services, by `cCredPres`. */
const CREDITOS: Readonly<Record<string, CreditosDevidos>> = {
  '01': { ibs: 'CRED-PRES-01-IBS', cbs: 'CRED-PRES-01-CBS' },
  '02': { ibs: 'CRED-PRES-02-IBS', cbs: 'CRED-PRES-02-CBS' },
};

/** The rows for the presumed credit of a note; undefined if the code belongs to no service or is not in force yet. */
export function creditosDevidos(cCredPres: string | undefined, dCompet: string): CreditosDevidos | undefined {
  const devidos = cCredPres === undefined ? undefined : CREDITOS[cCredPres];
  return devidos !== undefined && creditoPresumidoOf(cCredPres!)!.inicioCBS! <= dCompet ? devidos : undefined;
}

/** A percentage that is the same for everybody. */
function percentualOf(
  percentual: PercentualIbsCbs,
  data: string,
  tabela: TabelaIbsCbs,
): AliquotaLida | IbsCbsUnavailable {
  return aliquotaGeral(tabela, percentual, { data }) ?? { unavailable: percentual, data };
}

type Levied = { readonly treatment: Treatment; readonly rates: Rates };

/**
 * The taxation without the suspension. Absent if regular taxation is not demanded, or if the sender did not declare it, which E0965
 * reports.
 */
function regularOf(input: IbsCbsInput, tabela: TabelaIbsCbs): Levied | IbsCbsUnavailable | undefined {
  const { CST, cClassTrib, gTribRegular } = input;
  if (gTribRegular === undefined || !treatmentOf(CST, cClassTrib).demandsRegular) return undefined;
  const classificacao = classificacaoOf(gTribRegular.cClassTribReg);
  if (classificacao === undefined) return undefined;
  const treatment = treatmentBy(gTribRegular.CSTReg, classificacao);
  const rates = ratesOf(treatment, input, tabela);
  return 'unavailable' in rates ? rates : { treatment, rates };
}
