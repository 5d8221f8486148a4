/**
 * The IBS and CBS that a JSON body declares, compared field by field with the official calculation. Each field has the code of the ADN for
 * it. One rule concerns the calculation itself, which no declaration can correct.
 */
import type { TributoIbsCbs } from '../catalogs/catalogs.ts';
import { type Decimal, decimal, distance, formatDecimal, formatRate, ZERO } from '../decimal.ts';
import type { DeclaradoIbsCbs } from '../declarado.ts';
import type { Facts } from '../facts.ts';
import type { IbsCbsAmounts } from '../ibscbs.ts';
import { DECLARADOS_IBSCBS } from '../layout/corpo.ts';
import type { Dps } from '../layout/dps.ts';
import { aliquotasDe } from '../operation.ts';
import { INPUTS } from './inputs.ts';
import { type IbsCbsRule, type Patch, whenPresent } from './rule.ts';

/** The tolerated distance of a declared value from the calculated one (specification, IBS/CBS obligation schedule, rule 6). */
export const TOLERANCIA = {
  aliquota: { limite: decimal('0.01'), texto: '0,01 ponto percentual' },
  valor: { limite: decimal('0.02'), texto: 'R$ 0,02' },
} as const;

/** The largest amount of the layout, TSDec15V2. */
const VALOR_MAX = decimal('999999999999999.99');

/** A declared value alone, or in a DPS with a further patch. */
type Declaration = string | readonly [besides: Patch, value: string];

type Comparison = {
  readonly campo: keyof DeclaradoIbsCbs;
  readonly code: string;
  /** The name with its article, at the beginning of a sentence. */
  readonly nome: string;
  readonly isOfBase?: true;
  readonly of: (ibscbs: IbsCbsAmounts) => Decimal;
  /** The tribute of a rate; absent for an amount. */
  readonly tributo?: TributoIbsCbs;
  /** Whether another value is correct as well. */
  readonly isAlso?: (declared: Decimal, ibscbs: IbsCbsAmounts) => boolean;
  readonly rejects: readonly Declaration[];
  readonly accepts: readonly Declaration[];
};

/** 30 % less: effective rates 0.07 and 0.63. */
const REDUZIDA: Patch = {
  'IBSCBS/valores/trib/gIBSCBS/CST': '200',
  'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200052',
};

/** Nothing is assessed: rates and totals are zero. */
const SEM_INCIDENCIA: Patch = {
  'IBSCBS/valores/trib/gIBSCBS/CST': '410',
  'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '410004',
};

/** The values of the valid DPS: vServ 1000.00 less ISSQN 20.00 is 980.00; IBS 0.10 % is 0.98, CBS 0.90 % is 8.82; vLiq is 1000.00. */
const COMPARISONS: readonly Comparison[] = [
  {
    campo: 'valores_base_calculo',
    code: 'E1530',
    nome: 'A base de cálculo do IBS e da CBS',
    isOfBase: true,
    of: ({ valores }) => valores.vBC,
    // The calculator gives zero if nothing is due; the formula of the annex gives the base in any case.
    isAlso: (declared, { valores: { uf, fed } }) => declared === ZERO && uf.pIBSUF === ZERO && fed.pCBS === ZERO,
    rejects: ['1000.00', '980.03'],
    accepts: ['980.02', '979.98', [SEM_INCIDENCIA, '0.00'], [SEM_INCIDENCIA, '980.00']],
  },
  {
    campo: 'valores_aliquota_ibs_uf',
    code: 'E1539',
    nome: 'A alíquota do IBS estadual',
    tributo: 'IBS-UF',
    of: ({ valores }) => valores.uf.pIBSUF,
    rejects: ['0.12', [SEM_INCIDENCIA, '0.10']],
    accepts: [
      '0.11',
      '0.09',
      // The rate before the reduction.
      [REDUZIDA, '0.10'],
      [SEM_INCIDENCIA, '0.00'],
    ],
  },
  {
    campo: 'valores_aliquota_efetiva_ibs_uf',
    code: 'E1577',
    nome: 'A alíquota efetiva do IBS estadual',
    tributo: 'IBS-UF',
    of: ({ valores }) => valores.uf.pAliqEfetUF,
    rejects: [[REDUZIDA, '0.10']],
    accepts: [[REDUZIDA, '0.07'], '0.10'],
  },
  {
    campo: 'valores_aliquota_ibs_municipal',
    code: 'E1578',
    nome: 'A alíquota do IBS municipal',
    tributo: 'IBS-MUN',
    of: ({ valores }) => valores.mun.pIBSMun,
    rejects: ['0.02'],
    accepts: ['0.01', '0.00'],
  },
  {
    campo: 'valores_aliquota_efetiva_ibs_municipal',
    code: 'E1549',
    nome: 'A alíquota efetiva do IBS municipal',
    tributo: 'IBS-MUN',
    of: ({ valores }) => valores.mun.pAliqEfetMun,
    rejects: ['0.05'],
    accepts: ['0.00'],
  },
  {
    campo: 'valores_aliquota_cbs',
    code: 'E1558',
    nome: 'A alíquota da CBS',
    tributo: 'CBS',
    of: ({ valores }) => valores.fed.pCBS,
    rejects: ['8.80', '0.88'],
    accepts: ['0.90', '0.89'],
  },
  {
    campo: 'valores_aliquota_efetiva_cbs',
    code: 'E1554',
    nome: 'A alíquota efetiva da CBS',
    tributo: 'CBS',
    of: ({ valores }) => valores.fed.pAliqEfetCBS,
    rejects: [[REDUZIDA, '0.90']],
    accepts: [[REDUZIDA, '0.63']],
  },
  {
    campo: 'total_nota',
    code: 'E1555',
    nome: 'O total da nota',
    of: ({ totCIBS }) => totCIBS.vTotNF,
    // IBS and CBS are not paid on top in 2026.
    rejects: ['1009.80'],
    accepts: ['1000.00'],
  },
  {
    campo: 'total_ibs',
    code: 'E1556',
    nome: 'O total do IBS',
    of: ({ totCIBS }) => totCIBS.gIBS.vIBSTot,
    rejects: ['1.01'],
    accepts: ['1.00', '0.98'],
  },
  {
    campo: 'total_ibs_uf',
    code: 'E1568',
    nome: 'O total do IBS estadual',
    of: ({ totCIBS }) => totCIBS.gIBS.gIBSUFTot.vIBSUF,
    rejects: ['0.95', [SEM_INCIDENCIA, '0.98']],
    accepts: ['0.96', [SEM_INCIDENCIA, '0.00']],
  },
  {
    campo: 'total_ibs_municipal',
    code: 'E1572',
    nome: 'O total do IBS municipal',
    of: ({ totCIBS }) => totCIBS.gIBS.gIBSMunTot.vIBSMun,
    rejects: ['0.03'],
    accepts: ['0.02', '0.00'],
  },
  {
    campo: 'total_cbs',
    code: 'E1582',
    nome: 'O total da CBS',
    of: ({ totCIBS }) => totCIBS.gCBS.vCBS,
    rejects: ['9.00', '8.85'],
    // 980.00 × 0.63 % = 6.174
    accepts: ['8.84', [REDUZIDA, '6.17']],
  },
];

function compareDeclared({ campo, code, nome, isOfBase, tributo, of, ...comparison }: Comparison): IbsCbsRule {
  const { isAlso, rejects, accepts } = comparison;
  const isRate = tributo !== undefined;
  const { limite, texto } = TOLERANCIA[isRate ? 'aliquota' : 'valor'];
  const unit = isRate ? ' %' : '';
  const declare = (declaration: Declaration): Patch => {
    const [besides, value] = typeof declaration === 'string' ? [{}, declaration] : declaration;
    return { ...besides, [`=ibscbs.${campo}`]: value };
  };
  return whenPresent((_ibscbs, _dps, _facts, { ibscbs }) => ibscbs?.[campo], {
    code,
    at: `NFSe/infNFSe/${DECLARADOS_IBSCBS[campo][0]}`,
    title: `${nome} diverge do cálculo oficial`,
    message: (declared, ibscbs, dps, facts) =>
      `${nome} diverge do cálculo oficial: ibscbs.${campo} declara ${formatDecimal(declared)}${unit}, e o calculado é ${formatDecimal(of(ibscbs))}${unit}${isRate ? ownRateInWords(tributo, dps, facts) : ''}, com tolerância de ${texto}. Corrija ${campo} ou deixe-o de fora, pois o serviço o calcula.`,
    mend: `Corrija ${campo} pelo que a resposta traz em esperado, ou deixe-o de fora: o serviço o calcula.`,
    origin: `Especificação, IBS/CBS obligation schedule: regra 6; Anexo I, ${code}`,
    why: `O corpo JSON pode declarar ${campo}; o que vale é o cálculo oficial do município, e uma diferença além da tolerância de ${texto} mostra que quem emite conta com outro resultado.`,
    must: (declared, ibscbs) => distance(declared, of(ibscbs)) <= limite || isAlso?.(declared, ibscbs) === true,
    found: formatDecimal,
    calculated: (_declared, ibscbs) => formatDecimal(of(ibscbs)),
    details: (declared, ibscbs) =>
      `ibscbs.${campo}: declarado ${formatDecimal(declared)}, esperado ${formatDecimal(of(ibscbs))}, tolerância ${formatDecimal(limite)}.`,
    ...(isRate
      ? {}
      : {
          national:
            'O ADN confere o mesmo valor na nota com margem de R$ 0,01; a nota leva o que o serviço calculou, não o declarado.',
        }),
    ...(isOfBase === undefined ? {} : { isOfBase }),
    from: isRate ? INPUTS.ibsCbsRates : campo === 'total_nota' ? INPUTS.total : INPUTS.ibsCbs,
    rejects: rejects.map(declare),
    accepts: accepts.map(declare),
  });
}

/** Why the rate differs from the general one: the classification has its own. */
function ownRateInWords(tributo: TributoIbsCbs, dps: Dps, { tabelaIbsCbs }: Pick<Facts, 'tabelaIbsCbs'>): string {
  const rates = aliquotasDe(dps, tributo, tabelaIbsCbs);
  if (rates?.propria === undefined || rates.propria.rate === rates.geral?.rate) return '';
  const { cClassTrib, rate } = rates.propria;
  const instead = rates.geral === undefined ? '' : `, no lugar dos ${formatRate(rates.geral.rate)} % gerais`;
  return ` (o cClassTrib ${cClassTrib} tem alíquota própria, de ${formatRate(rate)} %${instead})`;
}

export const IBSCBS_DECLARADO: readonly IbsCbsRule[] = [
  ...COMPARISONS.map(compareDeclared),
  {
    code: 'E1530',
    at: 'NFSe/infNFSe/IBSCBS/valores/vBC',
    message: ({ valores }) =>
      `A base de cálculo do IBS e da CBS seria ${formatDecimal(valores.vBC)}: o valor do serviço não cobre o desconto incondicionado, os valores de terceiros, o ISSQN, vPis e vCofins. Corrija os valores da DPS.`,
    origin: 'Anexo I, E1530',
    why: 'A base de cálculo não pode ser negativa, e o esquema nacional não tem como escrevê-la.',
    must: ({ valores }) => valores.vBC >= ZERO,
    found: ({ valores }) => formatDecimal(valores.vBC),
    expected: '0.00 ou mais',
    isOfBase: true,
    from: INPUTS.ibsCbs,
    rejects: [
      {
        'valores/trib/tribFed/piscofins/CST': '01',
        'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
        'valores/trib/tribFed/piscofins/pAliqPis': '60.00',
        'valores/trib/tribFed/piscofins/pAliqCofins': '60.00',
        'valores/trib/tribFed/piscofins/vPis': '600.00',
        'valores/trib/tribFed/piscofins/vCofins': '600.00',
        'valores/trib/tribFed/piscofins/tpRetPisCofins': '0',
      },
    ],
    accepts: [
      {
        'valores/trib/tribFed/piscofins/CST': '01',
        'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
        'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
        'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
        'valores/trib/tribFed/piscofins/vPis': '6.50',
        'valores/trib/tribFed/piscofins/vCofins': '30.00',
        'valores/trib/tribFed/piscofins/tpRetPisCofins': '0',
      },
    ],
  },
  {
    code: 'E0002',
    at: 'valores/vServPrest/vServ',
    message: ({ totCIBS }) =>
      `O total da nota, o valor líquido com a CBS e o IBS somados, é ${formatDecimal(totCIBS.vTotNF)}, e o leiaute só tem valores de até 15 dígitos inteiros. Confira vServ; se está certo, divida o serviço em mais de uma nota.`,
    origin: 'Esquema nacional da NFS-e 1.01, TSDec15V2; decisão D-86',
    why: 'A partir de 2027 a CBS e o IBS se somam ao valor líquido no total da nota, que num valor junto do maior passa do que o leiaute tem.',
    must: ({ totCIBS }) => totCIBS.vTotNF <= VALOR_MAX,
    found: ({ totCIBS }) => formatDecimal(totCIBS.vTotNF),
    expected: `total da nota de até ${formatDecimal(VALOR_MAX)}`,
    from: INPUTS.total,
    rejects: [],
    accepts: [{ 'valores/vServPrest/vServ': formatDecimal(VALOR_MAX) }],
  },
];

/** The official calculation under the names of the JSON body's declarations, so that an answer can be sent back. */
export function officialValues(ibscbs: IbsCbsAmounts): Readonly<Record<keyof DeclaradoIbsCbs, Decimal>> {
  return Object.fromEntries(COMPARISONS.map(({ campo, of }) => [campo, of(ibscbs)])) as Record<
    keyof DeclaradoIbsCbs,
    Decimal
  >;
}
