/**
 * The IBS and the CBS of a note in words: every amount of the group, and the formula that made it. The companion of
 * `explainIssqn`; made on demand, so that issuing does not pay for it.
 */
import { type TabelaIbsCbs, tabelaEmbarcada } from './aliquotas-ibs-cbs.ts';
import type { TributoIbsCbs } from './catalogs/catalogs.ts';
import { type Decimal, effectiveRate, formatDecimal, formatRate, type Rate, roundRate, ZERO } from './decimal.ts';
import { nameAmount } from './explain-issqn.ts';
import {
  type IbsCbsAmounts,
  type IbsCbsInput,
  NO_RATE,
  type Rates,
  rateOf,
  reducersOf,
  regularRatesOf,
  TEST_YEAR_END,
  treatmentOf,
} from './ibscbs.ts';
import type { NfsePath } from './layout/nfse.ts';

/** One field of the note: what it was made of, and what came out. */
type IbsCbsStep = { readonly campo: NfsePath; readonly formula: string; readonly valor: string };

/** Every amount of the group, in the order of calculation: a formula uses only amounts that stand above it. */
export function explainIbsCbs(
  input: IbsCbsInput,
  amounts: IbsCbsAmounts,
  tabela: TabelaIbsCbs = tabelaEmbarcada(),
): readonly IbsCbsStep[] {
  const { dCompet } = input;
  const terms = (...paths: NfsePath[]): string => paths.map((path) => termOf(amounts, path)).join(' + ');
  const onTop = dCompet <= TEST_YEAR_END ? '' : ` + ${terms(CBS.v, 'IBSCBS/totCIBS/gIBS/vIBSTot')}`;
  const formulas: readonly Formula[] = [
    ['IBSCBS/valores/vCalcReeRepRes', 'soma de vlrReeRepRes dos documentos'],
    ['IBSCBS/valores/vBC', baseInWords(input)],
    ['IBSCBS/pRedutor', `redutor das compras governamentais em ${dCompet}`],
    ...TRIBUTES.flatMap((tribute) => formulasOfTribute(tribute, input, amounts, tabela)),
    ['IBSCBS/totCIBS/gIBS/vIBSTot', terms(IBS_UF.v, IBS_MUN.v)],
    ['IBSCBS/totCIBS/vTotNF', `${nameAmount('vLiq', input.vLiq)}${onTop}`],
    ...formulasOfRegular(input, amounts, tabela),
    ...formulasOfCompraGov(amounts),
  ];
  return formulas.flatMap(([campo, formula]) => {
    const value = amountAt(amounts, campo);
    return value === undefined ? [] : [{ campo, formula, valor: formatDecimal(value) }];
  });
}

/** How an amount is made; of one that does not stand on the note nothing is told. */
type Formula = readonly [campo: NfsePath, formula: string];

function amountAt(amounts: IbsCbsAmounts, path: NfsePath): Decimal | undefined {
  let inner: unknown = { IBSCBS: amounts };
  for (const name of path.split('/')) inner = (inner as Readonly<Record<string, unknown>> | undefined)?.[name];
  return inner as Decimal | undefined;
}

/** `vIBSUF 1.00`, of an amount that stands on the note. */
function termOf(amounts: IbsCbsAmounts, path: NfsePath): string {
  return nameAmount(nameOf(path), amountAt(amounts, path)!);
}

/** Where the fields of one tribute stand. */
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
  /** In the declared `gDif`. */
  readonly pDif: keyof NonNullable<IbsCbsInput['gDif']>;
};

const IBS_UF: TributeFields = {
  tributo: 'IBS-UF',
  sigla: 'IBSUF',
  key: 'uf',
  p: 'IBSCBS/valores/uf/pIBSUF',
  pRed: 'IBSCBS/valores/uf/pRedAliqUF',
  pEfet: 'IBSCBS/valores/uf/pAliqEfetUF',
  v: 'IBSCBS/totCIBS/gIBS/gIBSUFTot/vIBSUF',
  vDif: 'IBSCBS/totCIBS/gIBS/gIBSUFTot/vDifUF',
  pDif: 'pDifUF',
};
const IBS_MUN: TributeFields = {
  tributo: 'IBS-MUN',
  sigla: 'IBSMun',
  key: 'mun',
  p: 'IBSCBS/valores/mun/pIBSMun',
  pRed: 'IBSCBS/valores/mun/pRedAliqMun',
  pEfet: 'IBSCBS/valores/mun/pAliqEfetMun',
  v: 'IBSCBS/totCIBS/gIBS/gIBSMunTot/vIBSMun',
  vDif: 'IBSCBS/totCIBS/gIBS/gIBSMunTot/vDifMun',
  pDif: 'pDifMun',
};
const CBS: TributeFields = {
  tributo: 'CBS',
  sigla: 'CBS',
  key: 'cbs',
  p: 'IBSCBS/valores/fed/pCBS',
  pRed: 'IBSCBS/valores/fed/pRedAliqCBS',
  pEfet: 'IBSCBS/valores/fed/pAliqEfetCBS',
  v: 'IBSCBS/totCIBS/gCBS/vCBS',
  vDif: 'IBSCBS/totCIBS/gCBS/vDifCBS',
  pDif: 'pDifCBS',
};
const TRIBUTES = [IBS_UF, IBS_MUN, CBS];

function formulasOfTribute(
  fields: TributeFields,
  input: IbsCbsInput,
  amounts: IbsCbsAmounts,
  tabela: TabelaIbsCbs,
): readonly Formula[] {
  const treatment = treatmentOf(input.CST, input.cClassTrib);
  const row = treatment.levied ? rateOf(treatment, fields.tributo, input, tabela) : undefined;
  const rate = row === undefined || 'unavailable' in row ? NO_RATE : row.rate;
  const exact = effectiveRate(rate, amountAt(amounts, fields.pRed), amounts.pRedutor);
  const factors = [
    rateInFull(amounts, fields.p, rate),
    ...([fields.pRed, 'IBSCBS/pRedutor'] as const).flatMap((path) =>
      amountAt(amounts, path) === undefined ? [] : [`(1 − ${termOf(amounts, path)} %)`],
    ),
  ];
  const product = `${termOf(amounts, 'IBSCBS/valores/vBC')} × ${rateInFull(amounts, fields.pEfet, exact)} %`;
  const isDeferred = amountAt(amounts, fields.vDif) !== undefined;
  return [
    [fields.p, rateInWords(fields.tributo, input, row, tabela)],
    [fields.pRed, `redução do cClassTrib ${input.cClassTrib}`],
    [fields.pEfet, factors.join(' × ')],
    [fields.vDif, `${product}, diferido por inteiro${declaredDeferral(fields, input)}`],
    [fields.v, isDeferred ? `nada devido: tudo está em ${nameOf(fields.vDif)}` : product],
  ];
}

function declaredDeferral({ pDif }: TributeFields, { gDif }: IbsCbsInput): string {
  const declared = gDif && formatDecimal(gDif[pDif]);
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

/** A rate with its name as the note prints it and, where that is rounded, as it is reckoned with. */
function rateInFull(amounts: IbsCbsAmounts, path: NfsePath, exact: Rate): string {
  const whole = formatRate(exact);
  const printed = formatDecimal(amountAt(amounts, path)!);
  return `${nameOf(path)} ${printed}${printed === whole ? '' : ` (${whole} sem arredondar)`}`;
}

function baseInWords(input: IbsCbsInput): string {
  const reducers = reducersOf(input).filter(([, value]) => value !== ZERO);
  return [nameAmount('vServ', input.vServ), ...reducers.map(([campo, value]) => nameAmount(campo, value))].join(' − ');
}

function formulasOfRegular(input: IbsCbsInput, amounts: IbsCbsAmounts, tabela: TabelaIbsCbs): readonly Formula[] {
  const exact = regularRatesOf(input, tabela);
  if (amounts.totCIBS.gTribRegular === undefined || exact === undefined || 'unavailable' in exact) return [];
  const rate = `alíquota efetiva sem a suspensão, cClassTribReg ${input.gTribRegular!.cClassTribReg}`;
  const vBC = termOf(amounts, 'IBSCBS/valores/vBC');
  return TRIBUTES.flatMap(({ sigla, key }): readonly Formula[] => {
    const p = `IBSCBS/totCIBS/gTribRegular/pAliqEfeReg${sigla}` as const;
    const tax = `${vBC} × ${rateInFull(amounts, p, exact[key])} %`;
    return [
      [p, rate],
      [`IBSCBS/totCIBS/gTribRegular/vTribReg${sigla}`, tax],
    ];
  });
}

function formulasOfCompraGov(amounts: IbsCbsAmounts): readonly Formula[] {
  return TRIBUTES.flatMap(({ sigla, pEfet, v }): readonly Formula[] => [
    [`IBSCBS/totCIBS/gTribCompraGov/p${sigla}`, termOf(amounts, pEfet)],
    [`IBSCBS/totCIBS/gTribCompraGov/v${sigla}`, termOf(amounts, v)],
  ]);
}

function nameOf(path: NfsePath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
