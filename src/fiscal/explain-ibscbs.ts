/**
 * The IBS and the CBS of a note in words: every amount of the group, and its formula. The companion of `explainIssqn`; it runs on demand,
 * so that issuing does not pay for it.
 */
import { type AliquotaLida, type TabelaIbsCbs, tabelaEmbarcada } from './aliquotas-ibs-cbs.ts';
import type { TributoIbsCbs } from './catalogs/catalogs.ts';
import { type Decimal, formatDecimal, formatRate, formatTax, roundRate, roundTax, ZERO } from './decimal.ts';
import { nameAmount } from './explain-issqn.ts';
import {
  type Credito,
  type IbsCbsAmounts,
  type IbsCbsInput,
  type Part,
  type Rates,
  type Reckoned,
  rateOf,
  reckonIbsCbs,
  reducersOf,
  TEST_YEAR_END,
  treatmentOf,
} from './ibscbs.ts';
import type { NfsePath } from './layout/nfse.ts';

/** One field of the note: its formula and its value. */
type IbsCbsStep = { readonly campo: NfsePath; readonly formula: string; readonly valor: string };

/** Every amount of the group, in the order of calculation: a formula uses only amounts that stand above it. */
export function explainIbsCbs(
  input: IbsCbsInput,
  amounts: IbsCbsAmounts,
  tabela: TabelaIbsCbs = tabelaEmbarcada(),
): readonly IbsCbsStep[] {
  const reckoned = reckonIbsCbs(input, tabela);
  // Amounts can be explained only if their rows exist.
  if ('unavailable' in reckoned) return [];
  const told: Told = { input, amounts, tabela, reckoned };
  const { due, compra } = reckoned;
  const terms = (...paths: NfsePath[]): string => paths.map((path) => termOf(amounts, path)).join(' + ');
  const onTop = input.dCompet <= TEST_YEAR_END ? '' : ` + ${terms(CBS.v, 'IBSCBS/totCIBS/gIBS/vIBSTot')}`;
  const vIBSTot = `${showInFull(amounts, IBS_UF.v, formatTax(due.uf.tax))} + ${showInFull(amounts, IBS_MUN.v, formatTax(due.mun.tax))}`;
  const formulas: readonly Formula[] = [
    ['IBSCBS/valores/vCalcReeRepRes', 'soma de vlrReeRepRes dos documentos'],
    ['IBSCBS/valores/vBC', baseInWords(input)],
    ...(compra === undefined
      ? []
      : [
          [
            'IBSCBS/pRedutor',
            `redutor das compras governamentais em ${rowInWords(compra.redutor, input, tabela)}`,
          ] as const,
        ]),
    ...(isBought(reckoned)
      ? [formulasOfRate, formulasOfOwn, formulasOfBought].flatMap((of) => TRIBUTES.flatMap((one) => of(one, told)))
      : TRIBUTES.flatMap((one) => [...formulasOfRate(one, told), ...formulasOfOwn(one, told)])),
    ['IBSCBS/totCIBS/gIBS/vIBSTot', vIBSTot],
    ...formulasOfCredito('IBS', reckoned.creditoIbs, told),
    ...formulasOfCredito('CBS', reckoned.creditoCbs, told),
    ['IBSCBS/totCIBS/vTotNF', `${nameAmount('vLiq', input.vLiq)}${onTop}`],
    ...formulasOfRegular(told),
    ...(isBought(reckoned)
      ? []
      : TRIBUTES.flatMap(
          ({ gov, pEfet, v }) =>
            [
              [gov.p, terms(pEfet)],
              [gov.v, terms(v)],
            ] as const,
        )),
  ];
  return formulas.flatMap(([campo, formula]) => {
    const value = amountAt(amounts, campo);
    return value === undefined ? [] : [{ campo, formula, valor: formatDecimal(value) }];
  });
}

/** The operation that the steps explain. */
type Told = {
  readonly input: IbsCbsInput;
  readonly amounts: IbsCbsAmounts;
  readonly tabela: TabelaIbsCbs;
  readonly reckoned: Reckoned;
};

/** The formula of an amount; an amount that does not stand on the note has none. */
type Formula = readonly [campo: NfsePath, formula: string];

function amountAt(amounts: IbsCbsAmounts, path: NfsePath): Decimal | undefined {
  let inner: unknown = { IBSCBS: amounts };
  for (const name of path.split('/')) inner = (inner as Readonly<Record<string, unknown>> | undefined)?.[name];
  return inner as Decimal | undefined;
}

/** `vIBSUF 1.00`, an amount that stands on the note. */
function termOf(amounts: IbsCbsAmounts, path: NfsePath): string {
  return nameAmount(nameOf(path), amountAt(amounts, path)!);
}

/** The places of the fields of one tribute. */
type TributeFields = {
  readonly tributo: TributoIbsCbs;
  /** The ending of the names of its fields. */
  readonly sigla: 'IBSUF' | 'IBSMun' | 'CBS';
  readonly key: keyof Rates;
  readonly p: NfsePath;
  readonly pRed: NfsePath;
  readonly pEfet: NfsePath;
  readonly v: NfsePath;
  readonly vDif: NfsePath;
  /** The field in the declared `gDif`. */
  readonly pDif: keyof NonNullable<IbsCbsInput['gDif']>;
  /** The tribute of each entity by the rates, for a government purchase. */
  readonly gov: Readonly<Record<'p' | 'v', NfsePath>>;
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
  gov: { p: 'IBSCBS/totCIBS/gTribCompraGov/pIBSUF', v: 'IBSCBS/totCIBS/gTribCompraGov/vIBSUF' },
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
  gov: { p: 'IBSCBS/totCIBS/gTribCompraGov/pIBSMun', v: 'IBSCBS/totCIBS/gTribCompraGov/vIBSMun' },
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
  gov: { p: 'IBSCBS/totCIBS/gTribCompraGov/pCBS', v: 'IBSCBS/totCIBS/gTribCompraGov/vCBS' },
};
const TRIBUTES = [IBS_UF, IBS_MUN, CBS];

function formulasOfRate(fields: TributeFields, told: Told): readonly Formula[] {
  return [
    [fields.p, rateInWords(fields.tributo, told)],
    [fields.pRed, `redução do cClassTrib ${told.input.cClassTrib}`],
  ];
}

/**
 * The effective rate and the tribute of a rate, if the note has them. They are calculated before the tribute of a government purchase is
 * redirected to the buyer.
 */
function formulasOfOwn({ key, p, pRed, vDif, ...fields }: TributeFields, told: Told): readonly Formula[] {
  const { input, amounts, reckoned } = told;
  const own = reckoned.own[key];
  const places = isBought(reckoned) ? fields.gov : { p: fields.pEfet, v: fields.v };
  const factors = [
    showInFull(amounts, p, formatRate(reckoned.rates[key])),
    ...([pRed, 'IBSCBS/pRedutor'] as const).flatMap((path) =>
      amountAt(amounts, path) === undefined ? [] : [`(1 − ${termOf(amounts, path)} %)`],
    ),
  ];
  const product = productOf(told, showInFull(amounts, places.p, formatRate(own.rate)), own);
  const isDeferred = amountAt(amounts, vDif) !== undefined;
  return [
    [places.p, factors.join(' × ')],
    [vDif, `${product}, diferido por inteiro${declaredDeferral(fields, input)}`],
    [places.v, isDeferred ? `nada devido: tudo está em ${nameOf(vDif)}` : product],
  ];
}

function formulasOfBought(fields: TributeFields, told: Told): readonly Formula[] {
  const { amounts } = told;
  return [
    [fields.pEfet, boughtInWords(fields, told, ({ gov }, { rate }) => showInFull(amounts, gov.p, formatRate(rate)))],
    [fields.v, boughtInWords(fields, told, ({ gov }, { tax }) => showInFull(amounts, gov.v, formatTax(tax)))],
  ];
}

/** A base times a rate, with a remark if half a cent was rounded to the even cent. */
function productOf({ amounts, reckoned }: Told, rate: string, { tax }: Part): string {
  const isTie = reckoned.arithmetic.rounding === 'half-even' && roundTax(tax, 'half-up') !== roundTax(tax, 'half-even');
  const tie = isTie ? ` = ${formatTax(tax)}, e o meio centavo vai ao centavo par` : '';
  return `${termOf(amounts, 'IBSCBS/valores/vBC')} × ${rate} %${tie}`;
}

function isBought({ compra }: Reckoned): boolean {
  return compra?.destino !== undefined;
}

/** The share of an entity in a government purchase, made of the tributes by the rates. */
function boughtInWords(
  fields: TributeFields,
  { reckoned: { own, compra }, tabela }: Told,
  nameOwn: (fields: TributeFields, own: Part) => string,
): string {
  const { destino, transferencia } = compra!;
  const others = [IBS_UF, IBS_MUN].map((one) => nameOwn(one, own[one.key])).join(' + ');
  const ofCbs = nameOwn(CBS, own.cbs);
  if (transferencia === undefined) return fields.key === 'cbs' ? `do ente que compra: ${others} + ${ofCbs}` : PASSES;
  const percent = formatRate(transferencia.rate);
  const ato = `(${transferencia.ato}; tabela de alíquotas ${tabela.versao})`;
  if (fields.key === destino) return `do ente que compra: ${others} + ${ofCbs} × ${percent} % ${ato}`;
  return fields.key === 'cbs' ? `${ofCbs} × (1 − ${percent} %), o que não passa ao ente que compra ${ato}` : PASSES;
}

const PASSES = 'nada: passa ao ente que compra (LC 214/2025, art. 473)';

function declaredDeferral({ pDif }: Pick<TributeFields, 'pDif'>, { gDif }: IbsCbsInput): string {
  const declared = gDif && formatDecimal(gDif[pDif]);
  return declared === undefined || declared === '100.00' ? '' : ` (gDif declara ${declared} %)`;
}

function rateInWords(tributo: TributoIbsCbs, { input, tabela }: Told): string {
  const { CST, cClassTrib } = input;
  const treatment = treatmentOf(CST, cClassTrib);
  const row = treatment.levied ? rateOf(treatment, tributo, input, tabela) : undefined;
  if (row === undefined || 'unavailable' in row) return `CST ${CST}: sem alíquota a aplicar`;
  const own = row.cClassTrib === '' ? '' : ` própria do cClassTrib ${row.cClassTrib}`;
  return `alíquota de ${tributo}${own} em ${rowInWords(row, input, tabela)}`;
}

/** The queried day, the table and the row that answered; the rate too if the note rounds it. */
function rowInWords({ rate, ato }: AliquotaLida, { dCompet }: IbsCbsInput, { versao }: TabelaIbsCbs): string {
  const printed = formatDecimal(roundRate(rate, 'half-up')) === formatRate(rate) ? '' : `${formatRate(rate)}, `;
  return `${dCompet} (${printed}${ato}; tabela de alíquotas ${versao})`;
}

/** A value with its name as the note prints it, and the unrounded one used in the calculation, if different. */
function showInFull(amounts: IbsCbsAmounts, path: NfsePath, whole: string): string {
  const printed = formatDecimal(amountAt(amounts, path)!);
  return `${nameOf(path)} ${printed}${printed === whole ? '' : ` (${whole} sem arredondar)`}`;
}

function baseInWords(input: IbsCbsInput): string {
  const reducers = reducersOf(input).filter(([, value]) => value !== ZERO);
  return [nameAmount('vServ', input.vServ), ...reducers.map(([campo, value]) => nameAmount(campo, value))].join(' − ');
}

function formulasOfRegular({ input, amounts, reckoned }: Told): readonly Formula[] {
  const { regular } = reckoned;
  if (regular === undefined) return [];
  const whose = isBought(reckoned) ? ', já do ente que compra' : '';
  const rate = `alíquota efetiva sem a suspensão, cClassTribReg ${input.gTribRegular!.cClassTribReg}${whose}`;
  const vBC = termOf(amounts, 'IBSCBS/valores/vBC');
  return TRIBUTES.flatMap(({ sigla, key }): readonly Formula[] => {
    const p = `IBSCBS/totCIBS/gTribRegular/pAliqEfeReg${sigla}` as const;
    return [
      [p, rate],
      [
        `IBSCBS/totCIBS/gTribRegular/vTribReg${sigla}`,
        `${vBC} × ${showInFull(amounts, p, formatRate(regular[key].rate))} %`,
      ],
    ];
  });
}

function formulasOfCredito(tributo: 'IBS' | 'CBS', credito: Credito | undefined, told: Told): readonly Formula[] {
  if (credito === undefined) return [];
  const { input, amounts, tabela } = told;
  const p: NfsePath =
    tributo === 'IBS'
      ? 'IBSCBS/totCIBS/gIBS/gIBSCredPres/pCredPresIBS'
      : 'IBSCBS/totCIBS/gCBS/gCBSCredPres/pCredPresCBS';
  const v: NfsePath =
    tributo === 'IBS'
      ? 'IBSCBS/totCIBS/gIBS/gIBSCredPres/vCredPresIBS'
      : 'IBSCBS/totCIBS/gCBS/gCBSCredPres/vCredPresCBS';
  return [
    [p, `crédito presumido ${input.cCredPres} em ${rowInWords(credito.row, input, tabela)}`],
    [v, productOf(told, termOf(amounts, p), credito.part)],
  ];
}

function nameOf(path: NfsePath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
