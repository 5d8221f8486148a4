/**
 * IBS and CBS of one note, as the calculator of the Receita Federal assesses them: the group that the note adds, field by
 * field; each step of it in words, for whoever asks; the place of the operation; the indicator of a sender that gave none.
 *
 * Only amounts. When the group is due, how far a declared value may lie off and with which code it is refused are rules
 * elsewhere. Deliberately absent: presumed credit, of which none is in force in the only year with published rates; the
 * halved base of CST 222 and the rates per quantity of 620, which no service has.
 */
import {
  type AliquotaLida,
  aliquotaGeral,
  aliquotaPropria,
  type TabelaIbsCbs,
  tabelaEmbarcada,
  temPropria,
} from './aliquotas-ibs-cbs.ts';
import type { CAMPOS_LOCAL, Classificacao, TributoIbsCbs } from './catalogs/catalogs.ts';
import {
  classificacaoOf,
  correlacoesOf,
  correlacoesOfSubitem,
  cstOf,
  indicadorOf,
  municipioOf,
  paisOf,
  servicoOf,
} from './catalogs/catalogs.ts';
import {
  add,
  type Decimal,
  decimal,
  effectiveRate,
  formatDecimal,
  formatRate,
  type Rate,
  type Rounding,
  roundRate,
  sub,
  taxOf,
  ZERO,
} from './decimal.ts';
import type { Dps } from './layout/dps.ts';
import type { InfNfse, NfsePath } from './layout/nfse.ts';

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
  /** Told by `explainIbsCbs` and otherwise without effect: what is deferred, is deferred whole. */
  readonly gDif?: Declared['gDif'] | undefined;
  readonly tpEnteGov?: string | undefined;
  /** IBGE code of the place of the operation, whose state and municipality may have rates; abroad it is none. */
  readonly local?: string | undefined;
};

/** `infNFSe/IBSCBS` without its place. What does not stand on the note is absent. */
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
const TEST_YEAR_END = '2026-12-31';

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
    ...(pRedutor === undefined ? {} : { pRedutor }),
    valores: {
      vBC,
      ...(vCalcReeRepRes === undefined ? {} : { vCalcReeRepRes }),
      uf: {
        pIBSUF: uf.p,
        ...(uf.pRed === undefined ? {} : { pRedAliqUF: uf.pRed }),
        pAliqEfetUF: uf.pEfet,
      },
      mun: {
        pIBSMun: mun.p,
        ...(mun.pRed === undefined ? {} : { pRedAliqMun: mun.pRed }),
        pAliqEfetMun: mun.pEfet,
      },
      fed: {
        pCBS: cbs.p,
        ...(cbs.pRed === undefined ? {} : { pRedAliqCBS: cbs.pRed }),
        pAliqEfetCBS: cbs.pEfet,
      },
    },
    totCIBS: {
      // E1555
      vTotNF: dCompet <= TEST_YEAR_END ? vLiq : add(add(vLiq, cbs.v), vIBSTot),
      gIBS: {
        vIBSTot,
        gIBSUFTot: { ...(uf.vDif === undefined ? {} : { vDifUF: uf.vDif }), vIBSUF: uf.v },
        gIBSMunTot: { ...(mun.vDif === undefined ? {} : { vDifMun: mun.vDif }), vIBSMun: mun.v },
      },
      gCBS: { ...(cbs.vDif === undefined ? {} : { vDifCBS: cbs.vDif }), vCBS: cbs.v },
      ...(gTribRegular === undefined ? {} : { gTribRegular }),
      ...(pRedutor === undefined ? {} : { gTribCompraGov: compraGovOf(uf, mun, cbs) }),
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

function treatmentOf(CST: string, cClassTrib: string): Treatment {
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
    pRedIBS: levied ? decimal(classificacao.pRedIBS) : ZERO,
    pRedCBS: levied ? decimal(classificacao.pRedCBS) : ZERO,
  };
}

type Rates = { readonly uf: Rate; readonly mun: Rate; readonly cbs: Rate };

const NO_RATE = 0n as Rate;
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
function rateOf(
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

/**
 * The rates of a tribute that an operation could have: its classification's own, and everybody's. Undefined for a document without
 * the group.
 */
export function aliquotasDe(
  dps: Dps,
  tributo: TributoIbsCbs,
  tabela: TabelaIbsCbs,
): { readonly propria: AliquotaLida | undefined; readonly geral: AliquotaLida | undefined } | undefined {
  const { IBSCBS } = dps;
  if (IBSCBS === undefined) return undefined;
  const { cClassTrib } = IBSCBS.valores.trib.gIBSCBS;
  const local = placeOfIbsCbs(dps, IBSCBS.cIndOp ?? defaultIndOp(dps))?.codigo;
  const asked = { data: dps.dCompet, local, cClassTrib };
  return {
    propria: aliquotaPropria(tabela, tributo, asked),
    geral: aliquotaGeral(tabela, tributo, asked),
  };
}

/** E1530: deduction and municipal benefit reduce the base of the ISSQN alone. */
function baseOf(input: IbsCbsInput): Decimal {
  let base = input.vServ;
  for (const [, value] of reducersOf(input)) base = sub(base, value);
  return base;
}

function reducersOf(input: IbsCbsInput): readonly (readonly [campo: string, value: Decimal])[] {
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
function regularRatesOf(input: IbsCbsInput, tabela: TabelaIbsCbs): Rates | IbsCbsUnavailable | undefined {
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

// In words

/** One field of the note: what it was made of, and what came out. */
export type IbsCbsStep = { readonly campo: NfsePath; readonly formula: string; readonly valor: string };

/**
 * Every field of the amounts once, in the order of calculation: a step uses only what stands above it. Made on demand, so
 * that issuing does not pay for it.
 */
export function explainIbsCbs(
  input: IbsCbsInput,
  amounts: IbsCbsAmounts,
  tabela: TabelaIbsCbs = tabelaEmbarcada(),
): readonly IbsCbsStep[] {
  const { pRedutor, valores, totCIBS } = amounts;
  const { gIBSUFTot, gIBSMunTot, vIBSTot } = totCIBS.gIBS;
  return [
    ...(valores.vCalcReeRepRes === undefined
      ? []
      : [step('IBSCBS/valores/vCalcReeRepRes', 'soma de vlrReeRepRes dos documentos', valores.vCalcReeRepRes)]),
    step('IBSCBS/valores/vBC', baseInWords(input), valores.vBC),
    ...(pRedutor === undefined
      ? []
      : [step('IBSCBS/pRedutor', `redutor das compras governamentais em ${input.dCompet}`, pRedutor)]),
    ...TRIBUTES.flatMap((tribute) => stepsOfTribute(tribute, input, amounts, tabela)),
    step(
      'IBSCBS/totCIBS/gIBS/vIBSTot',
      `${named('vIBSUF', gIBSUFTot.vIBSUF)} + ${named('vIBSMun', gIBSMunTot.vIBSMun)}`,
      vIBSTot,
    ),
    step(
      'IBSCBS/totCIBS/vTotNF',
      input.dCompet <= TEST_YEAR_END
        ? named('vLiq', input.vLiq)
        : `${named('vLiq', input.vLiq)} + ${named('vCBS', totCIBS.gCBS.vCBS)} + ${named('vIBSTot', vIBSTot)}`,
      totCIBS.vTotNF,
    ),
    ...stepsOfRegular(input, amounts, tabela),
    ...stepsOfCompraGov(amounts),
  ];
}

/** Where the fields of one tribute stand, and how to take them out of the amounts. */
type TributeFields = {
  readonly tributo: TributoIbsCbs;
  /** How the names of its fields end. */
  readonly sigla: 'IBSUF' | 'IBSMun' | 'CBS';
  readonly key: keyof Rates;
  readonly p: NfsePath;
  readonly pRed: NfsePath;
  readonly pEfet: NfsePath;
  readonly v: NfsePath;
  readonly vDif: NfsePath;
  readonly of: (amounts: IbsCbsAmounts) => Tribute;
  readonly pDif: (gDif: NonNullable<Declared['gDif']>) => Decimal;
};

const TRIBUTES: readonly TributeFields[] = [
  {
    tributo: 'IBS-UF',
    sigla: 'IBSUF',
    key: 'uf',
    p: 'IBSCBS/valores/uf/pIBSUF',
    pRed: 'IBSCBS/valores/uf/pRedAliqUF',
    pEfet: 'IBSCBS/valores/uf/pAliqEfetUF',
    v: 'IBSCBS/totCIBS/gIBS/gIBSUFTot/vIBSUF',
    vDif: 'IBSCBS/totCIBS/gIBS/gIBSUFTot/vDifUF',
    of: ({ valores: { uf }, totCIBS }) => ({
      p: uf.pIBSUF,
      pRed: uf.pRedAliqUF,
      pEfet: uf.pAliqEfetUF,
      v: totCIBS.gIBS.gIBSUFTot.vIBSUF,
      vDif: totCIBS.gIBS.gIBSUFTot.vDifUF,
    }),
    pDif: ({ pDifUF }) => pDifUF,
  },
  {
    tributo: 'IBS-MUN',
    sigla: 'IBSMun',
    key: 'mun',
    p: 'IBSCBS/valores/mun/pIBSMun',
    pRed: 'IBSCBS/valores/mun/pRedAliqMun',
    pEfet: 'IBSCBS/valores/mun/pAliqEfetMun',
    v: 'IBSCBS/totCIBS/gIBS/gIBSMunTot/vIBSMun',
    vDif: 'IBSCBS/totCIBS/gIBS/gIBSMunTot/vDifMun',
    of: ({ valores: { mun }, totCIBS }) => ({
      p: mun.pIBSMun,
      pRed: mun.pRedAliqMun,
      pEfet: mun.pAliqEfetMun,
      v: totCIBS.gIBS.gIBSMunTot.vIBSMun,
      vDif: totCIBS.gIBS.gIBSMunTot.vDifMun,
    }),
    pDif: ({ pDifMun }) => pDifMun,
  },
  {
    tributo: 'CBS',
    sigla: 'CBS',
    key: 'cbs',
    p: 'IBSCBS/valores/fed/pCBS',
    pRed: 'IBSCBS/valores/fed/pRedAliqCBS',
    pEfet: 'IBSCBS/valores/fed/pAliqEfetCBS',
    v: 'IBSCBS/totCIBS/gCBS/vCBS',
    vDif: 'IBSCBS/totCIBS/gCBS/vDifCBS',
    of: ({ valores: { fed }, totCIBS }) => ({
      p: fed.pCBS,
      pRed: fed.pRedAliqCBS,
      pEfet: fed.pAliqEfetCBS,
      v: totCIBS.gCBS.vCBS,
      vDif: totCIBS.gCBS.vDifCBS,
    }),
    pDif: ({ pDifCBS }) => pDifCBS,
  },
];

function stepsOfTribute(
  fields: TributeFields,
  input: IbsCbsInput,
  amounts: IbsCbsAmounts,
  tabela: TabelaIbsCbs,
): IbsCbsStep[] {
  const { p, pRed, pEfet, v, vDif } = fields.of(amounts);
  const { vBC } = amounts.valores;
  const treatment = treatmentOf(input.CST, input.cClassTrib);
  const row = treatment.levied ? rateOf(treatment, fields.tributo, input, tabela) : undefined;
  const rate = row === undefined || 'unavailable' in row ? NO_RATE : row.rate;
  const exact = effectiveRate(rate, pRed, amounts.pRedutor);
  const product = `${named('vBC', vBC)} × ${nameOf(fields.pEfet)} ${inFull(pEfet, exact)} %`;
  const factors = [
    `${nameOf(fields.p)} ${inFull(p, rate)}`,
    ...(pRed === undefined ? [] : [`(1 − ${named(nameOf(fields.pRed), pRed)} %)`]),
    ...(amounts.pRedutor === undefined ? [] : [`(1 − ${named('pRedutor', amounts.pRedutor)} %)`]),
  ];
  return [
    step(fields.p, rateInWords(fields.tributo, input, row, tabela), p),
    ...(pRed === undefined ? [] : [step(fields.pRed, `redução do cClassTrib ${input.cClassTrib}`, pRed)]),
    step(fields.pEfet, factors.join(' × '), pEfet),
    ...(vDif === undefined
      ? [step(fields.v, product, v)]
      : [
          step(fields.vDif, `${product}, diferido por inteiro${declaredDeferral(fields, input)}`, vDif),
          step(fields.v, `nada devido: tudo está em ${nameOf(fields.vDif)}`, v),
        ]),
  ];
}

function declaredDeferral({ pDif }: TributeFields, { gDif }: IbsCbsInput): string {
  const declared = gDif && formatDecimal(pDif(gDif));
  return declared === undefined || declared === '100.00' ? '' : ` (gDif declara ${declared} %)`;
}

function rateInWords(
  tributo: TributoIbsCbs,
  { CST, dCompet }: IbsCbsInput,
  row: ReturnType<typeof rateOf> | undefined,
  { versao }: TabelaIbsCbs,
): string {
  if (row === undefined || 'unavailable' in row) return `CST ${CST}: sem alíquota a aplicar`;
  const { cClassTrib, rate, ato } = row;
  const own = cClassTrib === '' ? '' : ` própria do cClassTrib ${cClassTrib}`;
  const printed = formatDecimal(roundRate(rate)) === formatRate(rate) ? '' : `${formatRate(rate)}, `;
  return `alíquota de ${tributo}${own} em ${dCompet} (${printed}${ato}; tabela de alíquotas ${versao})`;
}

/** A rate as the note prints it and, where that is rounded, as it is reckoned with. */
function inFull(printed: Decimal, exact: Rate): string {
  const [text, whole] = [formatDecimal(printed), formatRate(exact)];
  return text === whole ? text : `${text} (${whole} sem arredondar)`;
}

function baseInWords(input: IbsCbsInput): string {
  const reducers = reducersOf(input).filter(([, value]) => value !== ZERO);
  return [named('vServ', input.vServ), ...reducers.map(([campo, value]) => named(campo, value))].join(' − ');
}

function stepsOfRegular(input: IbsCbsInput, { valores, totCIBS }: IbsCbsAmounts, tabela: TabelaIbsCbs): IbsCbsStep[] {
  const regular = totCIBS.gTribRegular;
  const exact = regularRatesOf(input, tabela);
  if (regular === undefined || exact === undefined || 'unavailable' in exact) return [];
  const { gTribRegular } = input;
  const rate = `alíquota efetiva sem a suspensão, cClassTribReg ${gTribRegular?.cClassTribReg}`;
  return TRIBUTES.flatMap(({ sigla, key }) => {
    const p = regular[`pAliqEfeReg${sigla}`];
    const tax = `${named('vBC', valores.vBC)} × pAliqEfeReg${sigla} ${inFull(p, exact[key])} %`;
    return [
      step(`IBSCBS/totCIBS/gTribRegular/pAliqEfeReg${sigla}`, rate, p),
      step(`IBSCBS/totCIBS/gTribRegular/vTribReg${sigla}`, tax, regular[`vTribReg${sigla}`]),
    ];
  });
}

function stepsOfCompraGov({ totCIBS: { gTribCompraGov } }: IbsCbsAmounts): IbsCbsStep[] {
  if (gTribCompraGov === undefined) return [];
  return TRIBUTES.flatMap(({ sigla, pEfet, v }) => {
    const p = gTribCompraGov[`p${sigla}`];
    const tax = gTribCompraGov[`v${sigla}`];
    return [
      step(`IBSCBS/totCIBS/gTribCompraGov/p${sigla}`, named(nameOf(pEfet), p), p),
      step(`IBSCBS/totCIBS/gTribCompraGov/v${sigla}`, named(nameOf(v), tax), tax),
    ];
  });
}

function step(campo: NfsePath, formula: string, value: Decimal): IbsCbsStep {
  return { campo, formula, valor: formatDecimal(value) };
}

function named(campo: string, value: Decimal): string {
  return `${campo} ${formatDecimal(value)}`;
}

function nameOf(path: NfsePath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

// Where

/** The code of a place abroad. The annex writes 999999, which a type of seven digits cannot hold. */
const ABROAD = '9999999';

export type IbsCbsPlace = { readonly codigo: string; readonly nome: string };

/**
 * `cLocalidadeIncid` and `xLocalidadeIncid` (E1521): the address that the indicator points to (Anexo C), and the provider's
 * municipality where that address is not given. Undefined only when `cLocEmi` is no municipality, which E403 refuses.
 */
export function placeOfIbsCbs(dps: Dps, cIndOp: string): IbsCbsPlace | undefined {
  return decidingPlace(dps, indicadorOf(cIndOp)?.campoLocal) ?? municipality(dps.cLocEmi);
}

function decidingPlace(dps: Dps, campoLocal: (typeof CAMPOS_LOCAL)[number] | undefined): IbsCbsPlace | undefined {
  switch (campoLocal) {
    // An event has a CEP and no municipality; its services are provided where it is held (LC 116 art. 3, XVIII and XXI).
    case 'atvEvento':
    case 'cLocPrestacao': {
      const { cLocPrestacao, cPaisPrestacao } = dps.serv.locPrest;
      return municipality(cLocPrestacao) ?? country(cPaisPrestacao);
    }
    case 'dest':
    case 'destOuToma':
    case 'destOuTomaExterior': {
      const end = recipientOf(dps)?.end;
      return municipality(end?.endNac?.cMun) ?? country(end?.endExt?.cPais);
    }
    // The shared DPS has no address of the provider (E0128): it is the one in `emit`, in cLocEmi (E1286).
    case 'prest':
    case undefined:
      return undefined;
  }
}

/** Who names a recipient and does not say so meant that it is not the taker. */
function recipientOf({ IBSCBS, toma }: Dps): { readonly end?: NonNullable<Dps['toma']>['end'] } | undefined {
  if (IBSCBS === undefined) return toma;
  const isTaker = IBSCBS.indDest === undefined ? IBSCBS.dest === undefined : IBSCBS.indDest === '0';
  return isTaker ? toma : IBSCBS.dest;
}

function municipality(codigo: string | undefined): IbsCbsPlace | undefined {
  const nome = codigo && municipioOf(codigo)?.nome;
  return codigo && nome ? { codigo, nome } : undefined;
}

function country(cPais: string | undefined): IbsCbsPlace | undefined {
  const nome = cPais && paisOf(cPais)?.nome;
  return nome ? { codigo: ABROAD, nome } : undefined;
}

// Which

/**
 * "Demais serviços, em operações onerosas": what is not specified elsewhere. The more specific indicators turn on facts
 * that no field of the DPS holds (was the person there, was the thing brought along), so whoever means one must name it.
 */
const REMAINING_SERVICES = '100301';

/** Indicators of operations with a property, which the note then has to identify (E0932). */
export const INDICADORES_DE_IMOVEL: ReadonlySet<string> = new Set(['020101', '020201', '020301']);

/**
 * The operation indicator of a sender that gave none (D-15): the one that Anexo VIII has for the service, else the one for
 * all other services; one that demands a property only when there is a property.
 */
export function defaultIndOp(dps: Dps): string {
  const cIndOp = correlatedIndOp(dps);
  const lacksImovel = cIndOp !== undefined && INDICADORES_DE_IMOVEL.has(cIndOp) && dps.IBSCBS?.imovel === undefined;
  return cIndOp === undefined || lacksImovel ? REMAINING_SERVICES : cIndOp;
}

/**
 * The only indicator that Anexo VIII has for the service, its NBS and its classification. The annex is initial work
 * (D-84), so an indicator that the national environment would not take (E0901) is not drawn from it.
 */
export function correlatedIndOp({ serv: { cServ }, IBSCBS }: Dps): string | undefined {
  const subitem = servicoOf(cServ.cTribNac)?.subitem;
  const cClassTrib = IBSCBS?.valores.trib.gIBSCBS.cClassTrib;
  if (subitem === undefined || cClassTrib === undefined) return undefined;

  const ofNbs = correlacoesOf(cServ.cNBS).filter((row) => row.subitem === subitem);
  const rows = ofNbs.length > 0 ? ofNbs : correlacoesOfSubitem(subitem);
  const candidates = new Set<string>();
  for (const { cIndOp, cTribNac = cServ.cTribNac, cClassTrib: of } of rows) {
    if (cIndOp !== undefined && of === cClassTrib && cTribNac === cServ.cTribNac) candidates.add(cIndOp);
  }
  const [only, another] = candidates;
  const indicador = only === undefined || another !== undefined ? undefined : indicadorOf(only);
  return indicador?.emAnexoC && indicador.validoNFSe ? indicador.codigo : undefined;
}
