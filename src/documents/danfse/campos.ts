/**
 * The fields of the printed note as one table, in the order of the standard (DANFSe v2.0, NT SE/CGNFS-e 008): label, place and size in
 * centimetres, longest content, and its source in the document.
 *
 * The model prevails over the table of the standard when they differ. Nothing here draws; `../danfse.ts` does.
 */

import { municipioOf } from '../../fiscal/catalogs/catalogs.ts';
import { ENDERECO_NAO_INFORMADO } from '../../fiscal/facts.ts';
import {
  amountOf,
  dateAt,
  dateTimeAt,
  type Impressa,
  joinParts,
  maskNumber,
  optionAt,
  partsOf,
  percentageAt,
  type Reader,
  textAt,
  ufOf,
  VAZIO,
} from './impressa.ts';

export type Campo = {
  /** Empty: the content has no label. */
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  /** Longer contents end with three points in place of their last characters. */
  readonly max?: number;
  readonly shaded?: true;
  /** True: the field takes as many lines as needed, and the fields below move down. */
  readonly elastic?: true;
  readonly of: Reader;
};

export type Bloco = {
  /** Absent: the block has no title of its own. */
  readonly titulo?: string;
  readonly y: number;
  /** The beginning of the next block. */
  readonly end: number;
  /** The labels of the block are capitals of 7 points. */
  readonly capitals?: true;
  readonly campos: readonly Campo[];
  /** The one line that replaces the whole block (notes 2 to 4). */
  readonly instead?: Reader;
  /** Rows that a note may omit, by their `y` (notes 5 and 6). */
  readonly leftOut?: Readonly<Record<number, (nota: Impressa, row: readonly Campo[]) => boolean>>;
};

/** Columns, and the widths of one and of two. */
const [C1, C2, C3, C4] = [0.3, 5.41, 10.51, 15.62] as const;
const [W1, W2] = [5.09, 10.19] as const;
/** The whole body. */
export const BODY = { x: C1, w: 20.4 } as const;
const ROW = 0.63;
/** Row height of the identification and of the totals. */
const HIGH_ROW = 0.67;

/** Height of the line that replaces a block. */
export const SUPPRESSED_HEIGHT = 0.32;

const MAX_CODE = 40;

type More = Pick<Partial<Campo>, 'w' | 'h' | 'max' | 'shaded'>;

function campo(x: number, y: number, label: string, of: Reader, more: More = {}): Campo {
  return { label, x, y, w: W1, h: ROW, of, ...more };
}

const HIGH = { h: HIGH_ROW } as const;

const IDENTIFICACAO: Bloco = {
  y: 1.48,
  end: 4.34,
  capitals: true,
  campos: [
    campo(C1, 1.48, 'CHAVE DE ACESSO DA NFS-E', ({ chave }) => chave, { w: 15.3, h: 0.77, max: 50 }),
    campo(C1, 2.27, 'NÚMERO DA NFS-E', textAt('nNFSe'), { ...HIGH, max: 13 }),
    campo(C2, 2.27, 'COMPETÊNCIA DA NFS-E', dateAt('DPS/infDPS/dCompet'), { ...HIGH, max: 10 }),
    campo(C3, 2.27, 'DATA E HORA DA EMISSÃO DA NFS-E', dateTimeAt('dhProc'), { ...HIGH, max: 19 }),
    campo(C1, 2.96, 'NÚMERO DA DPS', textAt('DPS/infDPS/nDPS'), { ...HIGH, max: 15 }),
    campo(C2, 2.96, 'SÉRIE DA DPS', textAt('DPS/infDPS/serie'), { ...HIGH, max: 5 }),
    campo(C3, 2.96, 'DATA E HORA DA EMISSÃO DA DPS', dateTimeAt('DPS/infDPS/dhEmi'), { ...HIGH, max: 19 }),
    campo(C1, 3.65, 'EMITENTE DA NFS-E', optionAt('tpEmit', 'DPS/infDPS/tpEmit'), { ...HIGH, max: 13, shaded: true }),
    campo(C2, 3.65, 'SITUAÇÃO DA NFS-E', optionAt('cStat', 'cStat'), { ...HIGH, max: MAX_CODE }),
    campo(C3, 3.65, 'FINALIDADE', optionAt('finNFSe', 'DPS/infDPS/IBSCBS/finNFSe'), { ...HIGH, max: MAX_CODE }),
  ],
};

const DEST = 'DPS/infDPS/IBSCBS/dest';
type Base = 'DPS/infDPS/prest' | 'DPS/infDPS/toma' | typeof DEST | 'DPS/infDPS/interm';

/** The rows that all parties share, at these heights. The recipient alone has no municipal registration. */
function partyFields(base: Base, [first, second, third]: readonly [number, number, number]): readonly Campo[] {
  // A provider's name and address come from the register: nationally they stand in `emit` alone (E0121, E0128).
  const inEmit = ({ at }: Impressa, path: Extract<Parameters<typeof at>[0], `emit/${string}`>): string | undefined =>
    base === 'DPS/infDPS/prest' && at('DPS/infDPS/tpEmit') === '1' ? at(path) : undefined;
  const own = (nota: Impressa, name: 'CNPJ' | 'CPF' | 'fone' | 'xNome' | 'email'): string | undefined =>
    nota.at(`${base}/${name}`) ?? inEmit(nota, `emit/${name}`);
  const inAddress = (nota: Impressa, name: 'cMun' | 'CEP' | (typeof ADDRESS_LINE)[number]): string | undefined => {
    if (!nota.has(`${base}/end`)) {
      const isMissing = inEmit(nota, 'emit/enderNac/xLgr') === ENDERECO_NAO_INFORMADO.xLgr;
      return isMissing && name !== 'cMun' ? undefined : inEmit(nota, `emit/enderNac/${name}`);
    }
    return nota.at(name === 'cMun' || name === 'CEP' ? `${base}/end/endNac/${name}` : `${base}/end/${name}`);
  };
  const municipio: Reader = (nota) => {
    const cMun = inAddress(nota, 'cMun');
    if (cMun === undefined) return nota.at(`${base}/end/endExt/xCidade`);
    const known = municipioOf(cMun);
    return joinParts(known?.nome, known?.uf);
  };
  const postalCode: Reader = (nota) => {
    const cMun = inAddress(nota, 'cMun');
    return cMun === undefined
      ? joinParts(nota.at(`${base}/end/endExt/cPais`), nota.at(`${base}/end/endExt/cEndPost`))
      : joinParts(cMun, maskNumber('CEP', inAddress(nota, 'CEP')));
  };
  const documento: Reader = (nota) =>
    maskNumber('CNPJ', own(nota, 'CNPJ')) ?? maskNumber('CPF', own(nota, 'CPF')) ?? nota.at(`${base}/NIF`);
  const registration: Reader = (nota) =>
    base === DEST ? undefined : (nota.at(`${base}/IM`) ?? inEmit(nota, 'emit/IM'));
  const street: Reader = (nota) => ADDRESS_LINE.flatMap((name) => inAddress(nota, name) ?? []).join(', ') || undefined;
  return [
    campo(C2, first, 'CNPJ / CPF / NIF', documento, { max: 40 }),
    ...(base === DEST ? [] : [campo(C3, first, 'Indicador Municipal (Inscrição)', registration, { max: 15 })]),
    campo(C4, first, 'Telefone', (nota) => own(nota, 'fone'), { max: 20 }),
    campo(C1, second, 'Nome / Nome Empresarial', (nota) => own(nota, 'xNome'), { w: W2, max: 80 }),
    campo(C3, second, 'Município / Sigla UF', municipio, { max: 37 }),
    campo(C4, second, 'Código IBGE / CEP', postalCode, { max: 21 }),
    campo(C1, third, 'Endereço', street, { w: W2, max: 80 }),
    campo(C3, third, 'E-mail', (nota) => own(nota, 'email'), { w: W2, max: 80 }),
  ];
}

const ADDRESS_LINE = ['xLgr', 'nro', 'xCpl', 'xBairro'] as const;

const REG_TRIB = 'DPS/infDPS/prest/regTrib';

const PRESTADOR: Bloco = {
  titulo: 'PRESTADOR / FORNECEDOR',
  y: 4.34,
  end: 6.92,
  campos: [
    ...partyFields('DPS/infDPS/prest', [4.34, 4.98, 5.62]),
    campo(C1, 6.28, 'Simples Nacional na Data de Competência', optionAt('opSimpNac', `${REG_TRIB}/opSimpNac`), {
      max: MAX_CODE,
    }),
    // The table has it in column 3, the model in column 2.
    campo(C2, 6.28, 'Regime de Apuração Tributária pelo SN', optionAt('regApTribSN', `${REG_TRIB}/regApTribSN`), {
      w: W2,
      max: 80,
    }),
  ],
};

const TOMADOR: Bloco = {
  titulo: 'TOMADOR / ADQUIRENTE',
  y: 6.92,
  end: 8.86,
  instead: ({ has }) =>
    has('DPS/infDPS/toma') ? undefined : 'TOMADOR/ADQUIRENTE DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e',
  campos: partyFields('DPS/infDPS/toma', [6.92, 7.56, 8.22]),
};

const DESTINATARIO: Bloco = {
  titulo: 'DESTINATÁRIO DA OPERAÇÃO',
  y: 8.86,
  end: 10.8,
  instead: ({ at, has }) => {
    if (has(DEST)) return undefined;
    return at('DPS/infDPS/IBSCBS/indDest') === '0'
      ? 'O DESTINATÁRIO É O PRÓPRIO TOMADOR/ADQUIRENTE DA OPERAÇÃO'
      : 'DESTINATÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e';
  },
  campos: partyFields(DEST, [8.86, 9.5, 10.16]),
};

const INTERMEDIARIO: Bloco = {
  titulo: 'INTERMEDIÁRIO DA OPERAÇÃO',
  y: 10.8,
  end: 12.74,
  instead: ({ has }) => (has('DPS/infDPS/interm') ? undefined : 'INTERMEDIÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e'),
  campos: partyFields('DPS/infDPS/interm', [10.8, 11.44, 12.09]),
};

const SERV = 'DPS/infDPS/serv';

const cTribNac: Reader = ({ at }) => maskNumber('cTribNac', at(`${SERV}/cServ/cTribNac`));
const placeOfService: Reader = ({ at }) => {
  const uf = ufOf(at(`${SERV}/locPrest/cLocPrestacao`));
  return joinParts(at('xLocPrestacao'), uf, at(`${SERV}/locPrest/cPaisPrestacao`) ?? countryOf(uf));
};

/** A place with a state is in Brazil. */
function countryOf(uf: string | undefined): string | undefined {
  return uf === undefined ? undefined : 'BR';
}

const SERVICO: Bloco = {
  titulo: 'SERVIÇO PRESTADO',
  y: 12.74,
  end: 14.43,
  campos: [
    campo(C2, 12.74, 'Código de Tributação Nacional / Municipal', partsOf(cTribNac, textAt(`${SERV}/cServ/cTribMun`)), {
      max: 14,
    }),
    campo(C3, 12.74, 'Código da NBS', ({ at }) => maskNumber('cNBS', at(`${SERV}/cServ/cNBS`)), { max: 12 }),
    campo(C4, 12.74, 'Local da Prestação / Sigla UF / País', placeOfService, { max: 42 }),
    { label: '', ...BODY, y: 13.39, h: 0.38, max: 170, of: ({ at }) => at('xTribMun') ?? at('xTribNac') },
    {
      label: 'Descrição do Serviço',
      ...BODY,
      y: 13.79,
      h: ROW,
      max: 1300,
      elastic: true,
      of: textAt(`${SERV}/cServ/xDescServ`),
    },
  ],
};

const isEmpty = (nota: Impressa, row: readonly Campo[]): boolean => row.every(({ of }) => of(nota) === undefined);

const TRIB_MUN = 'DPS/infDPS/valores/trib/tribMun';
const DESC_INCOND = 'DPS/infDPS/valores/vDescCondIncond/vDescIncond';

const placeOfIssqn: Reader = ({ at }) => {
  const uf = ufOf(at('cLocIncid'));
  return joinParts(at('xLocIncid'), uf, at(`${TRIB_MUN}/cPaisResult`) ?? countryOf(uf));
};
const valorDoBeneficio: Reader = (nota) =>
  amountOf('valores/vCalcBM')(nota) ?? amountOf(`${TRIB_MUN}/BM/vRedBCBM`)(nota);
const deducoes = amountOf('DPS/infDPS/valores/vDedRed/vDR', 'valores/vCalcDR', 'IBSCBS/valores/vCalcReeRepRes');
const regimeEspecial = optionAt('regEspTrib', `${REG_TRIB}/regEspTrib`);
const imunidade = optionAt('tpImunidade', `${TRIB_MUN}/tpImunidade`);
const suspensao = optionAt('tpSusp', `${TRIB_MUN}/exigSusp/tpSusp`);

const ISSQN: Bloco = {
  titulo: 'TRIBUTAÇÃO MUNICIPAL (ISSQN)',
  y: 14.43,
  end: 17.02,
  instead: ({ at }) =>
    at(`${TRIB_MUN}/tribISSQN`) === '4' ? 'TRIBUTAÇÃO MUNICIPAL (ISSQN) - OPERAÇÃO NÃO SUJEITA AO ISSQN' : undefined,
  leftOut: { 15.08: isEmpty, 15.73: isEmpty },
  campos: [
    // The table has these two one column to the left, under the title of the block.
    campo(C2, 14.43, 'Tipo de Tributação do ISSQN', optionAt('tribISSQN', `${TRIB_MUN}/tribISSQN`), { max: 21 }),
    campo(C3, 14.43, 'Município / Sigla UF / País de Incidência do ISSQN', placeOfIssqn, { w: W2, max: 42 }),
    campo(C1, 15.08, 'Regime Especial de Tributação do ISSQN', regimeEspecial, { max: 27 }),
    campo(C2, 15.08, 'Tipo de Imunidade do ISSQN', imunidade, { max: MAX_CODE }),
    campo(C3, 15.08, 'Suspensão da Exigibilidade do ISSQN', suspensao, { max: MAX_CODE }),
    campo(C4, 15.08, 'Número Processo Suspensão', textAt(`${TRIB_MUN}/exigSusp/nProcesso`), { max: 30 }),
    campo(C1, 15.73, 'Benefício Municipal', optionAt('tpBM', 'valores/tpBM'), { max: MAX_CODE }),
    campo(C2, 15.73, 'Cálculo do BM', valorDoBeneficio),
    campo(C3, 15.73, 'Total Deduções/Reduções', deducoes),
    campo(C4, 15.73, 'Desconto Incondicionado', amountOf(DESC_INCOND)),
    campo(C1, 16.37, 'BC ISSQN', amountOf('valores/vBC')),
    campo(C2, 16.37, 'Alíquota Aplicada', percentageAt('valores/pAliqAplic')),
    campo(C3, 16.37, 'Retenção do ISSQN', optionAt('tpRetISSQN', `${TRIB_MUN}/tpRetISSQN`), { max: 25 }),
    campo(C4, 16.37, 'ISSQN Apurado', amountOf('valores/vISSQN')),
  ],
};

/** A note issued without a rate: it has a base, and neither rate nor tax. An exemption has a tax of zero. */
const lacksAliquota = ({ has }: Impressa): boolean =>
  has('valores/vBC') && !has('valores/pAliqAplic') && !has('valores/vISSQN');
const isIssqnWithheld = ({ at }: Impressa): boolean => ['2', '3'].includes(at(`${TRIB_MUN}/tpRetISSQN`) ?? '');

/** A withheld tax of unknown rate leaves the sum of the withholdings and the net value unknown as well. */
const unlessUnknown =
  (read: Reader): Reader =>
  (nota) =>
    lacksAliquota(nota) && isIssqnWithheld(nota) ? undefined : read(nota);
const semAliquota: Reader = (nota) => {
  if (!lacksAliquota(nota)) return undefined;
  const missing = isIssqnWithheld(nota)
    ? 'o imposto, o que dele se retém e o valor líquido não constam'
    : 'o imposto não consta';
  return `a nota foi emitida sem que se conhecesse a alíquota; ${missing}`;
};

const TRIB_FED = 'DPS/infDPS/valores/trib/tribFed';
const [PIS, COFINS] = [`${TRIB_FED}/piscofins/vPis`, `${TRIB_FED}/piscofins/vCofins`] as const;

/** Version 1.02 of the standard and later: withheld PIS and COFINS are added to the social contributions, and are no own debits. */
const isWithheld = ({ at }: Impressa): boolean => at(`${TRIB_FED}/piscofins/tpRetPisCofins`) === '1';
const ownDebitOf =
  (path: typeof PIS | typeof COFINS): Reader =>
  (nota) =>
    isWithheld(nota) ? 'R$ 0,00' : amountOf(path)(nota);
const contributionsWithheld: Reader = (nota) =>
  amountOf(`${TRIB_FED}/vRetCSLL`, ...(isWithheld(nota) ? [PIS, COFINS] : []))(nota);
const retencao = optionAt('tpRetPisCofins', `${TRIB_FED}/piscofins/tpRetPisCofins`);

/** Note 6. */
const LAST_YEAR_OF_PIS_COFINS = '2026';

const FEDERAL: Bloco = {
  titulo: 'TRIBUTAÇÃO FEDERAL (EXCETO CBS)',
  y: 17.02,
  end: 18.32,
  leftOut: { 17.67: ({ at }) => (at('DPS/infDPS/dCompet') ?? '').slice(0, 4) > LAST_YEAR_OF_PIS_COFINS },
  campos: [
    campo(C2, 17.02, 'IRRF', amountOf(`${TRIB_FED}/vRetIRRF`)),
    campo(C3, 17.02, 'Contribuição Previdenciária - Retida', amountOf(`${TRIB_FED}/vRetCP`)),
    campo(C4, 17.02, 'Contribuições Sociais - Retidas', contributionsWithheld),
    campo(C1, 17.67, 'PIS - Débito Apuração Própria', ownDebitOf(PIS)),
    campo(C2, 17.67, 'COFINS - Débito Apuração Própria', ownDebitOf(COFINS)),
    campo(C3, 17.67, 'Descrição Contrib. Sociais - Retidas', retencao, { w: W2, max: 35 }),
  ],
};

const G_IBSCBS = 'DPS/infDPS/IBSCBS/valores/trib/gIBSCBS';
const VALORES = 'IBSCBS/valores';
const TOTAIS = 'IBSCBS/totCIBS';
const IBS_TOTAL = `${TOTAIS}/gIBS/vIBSTot`;
const CBS_TOTAL = `${TOTAIS}/gCBS/vCBS`;

/** A note without the group would only have dashes in the block. */
const exclusoes: Reader = (nota) =>
  nota.has('IBSCBS')
    ? amountOf(DESC_INCOND, `${VALORES}/vCalcReeRepRes`, 'valores/vISSQN', PIS, COFINS)(nota)
    : undefined;
const placeOfIbs = partsOf(
  textAt('DPS/infDPS/IBSCBS/cIndOp'),
  textAt('IBSCBS/cLocalidadeIncid'),
  textAt('IBSCBS/xLocalidadeIncid'),
  ({ at }) => ufOf(at('IBSCBS/cLocalidadeIncid')),
);
const reducoes = partsOf(
  percentageAt(`${VALORES}/uf/pRedAliqUF`),
  percentageAt(`${VALORES}/mun/pRedAliqMun`),
  percentageAt(`${VALORES}/fed/pRedAliqCBS`),
);
const aliquotasDoIbs = partsOf(percentageAt(`${VALORES}/uf/pIBSUF`), percentageAt(`${VALORES}/mun/pIBSMun`));
const classificacao = partsOf(textAt(`${G_IBSCBS}/CST`), textAt(`${G_IBSCBS}/cClassTrib`));

const IBS_CBS: Bloco = {
  titulo: 'TRIBUTAÇÃO IBS / CBS',
  y: 18.32,
  end: 20.9,
  campos: [
    campo(C2, 18.32, 'CST / cClassTrib', classificacao, { max: 12 }),
    campo(C3, 18.32, 'Indicador de Operação / Código IBGE Incidência / Município Incidência / Sigla UF', placeOfIbs, {
      w: W2,
      max: 56,
    }),
    campo(C1, 18.96, 'Exclusões e Reduções da Base de Cálculo', exclusoes),
    campo(C2, 18.96, 'Base de Cálculo Após Exclusões e Reduções', amountOf(`${VALORES}/vBC`)),
    campo(C3, 18.96, 'Red. Alíquota IBS / Red. Alíquota CBS', reducoes),
    campo(C4, 18.96, 'Alíquota - IBS UF / IBS Mun', aliquotasDoIbs),
    campo(C1, 19.61, 'Alíq. Efetiva Municipal - IBS', percentageAt(`${VALORES}/mun/pAliqEfetMun`)),
    campo(C2, 19.61, 'Valor Apurado Municipal - IBS', amountOf(`${TOTAIS}/gIBS/gIBSMunTot/vIBSMun`)),
    campo(C3, 19.61, 'Alíq. Efetiva Estadual - IBS', percentageAt(`${VALORES}/uf/pAliqEfetUF`)),
    campo(C4, 19.61, 'Valor Apurado Estadual - IBS', amountOf(`${TOTAIS}/gIBS/gIBSUFTot/vIBSUF`)),
    campo(C1, 20.26, 'Valor Total Apurado - IBS', amountOf(IBS_TOTAL)),
    campo(C2, 20.26, 'Alíquota - CBS', percentageAt(`${VALORES}/fed/pCBS`)),
    campo(C3, 20.26, 'Alíquota Efetiva - CBS', percentageAt(`${VALORES}/fed/pAliqEfetCBS`)),
    campo(C4, 20.26, 'Valor Total Apurado - CBS', amountOf(CBS_TOTAL)),
  ],
};

const TOTAL: Bloco = {
  titulo: 'VALOR TOTAL DA NFS-E',
  y: 20.9,
  end: 22.27,
  campos: [
    campo(C2, 20.9, 'VALOR DA OPERAÇÃO / SERVIÇO', amountOf('DPS/infDPS/valores/vServPrest/vServ'), HIGH),
    campo(C3, 20.9, 'Desconto Incondicionado', amountOf(DESC_INCOND), HIGH),
    campo(C4, 20.9, 'Desconto Condicionado', amountOf('DPS/infDPS/valores/vDescCondIncond/vDescCond'), HIGH),
    campo(C1, 21.59, 'Total das Retenções (ISSQN / Federais)', unlessUnknown(amountOf('valores/vTotalRet')), HIGH),
    campo(C2, 21.59, 'VALOR LÍQUIDO DA NFS-e', unlessUnknown(amountOf('valores/vLiq')), HIGH),
    campo(C3, 21.59, 'Total do IBS/CBS', amountOf(IBS_TOTAL, CBS_TOTAL), HIGH),
    campo(C4, 21.59, 'VALOR LÍQUIDO DA NFS-e + IBS/CBS', unlessUnknown(amountOf(`${TOTAIS}/vTotNF`)), {
      ...HIGH,
      shaded: true,
    }),
  ],
};

/** All blocks with fields, in their order. */
export const BLOCOS: readonly Bloco[] = [
  IDENTIFICACAO,
  PRESTADOR,
  TOMADOR,
  DESTINATARIO,
  INTERMEDIARIO,
  SERVICO,
  ISSQN,
  FEDERAL,
  IBS_CBS,
  TOTAL,
];

/** The complementary information: a title over the whole width, and the rest of the page below it. */
export const INFORMACOES = { titulo: 'INFORMAÇÕES COMPLEMENTARES', y: 22.27, content: 22.68, max: 2000 } as const;

/** The parts of the complementary information, in their order; this service receives no numbers of orders and items. */
const PARTES: readonly (readonly [prefix: string, of: Reader])[] = [
  ['Inf. Cont.', textAt(`${SERV}/infoCompl/xInfComp`)],
  ['NFS-e Subst.', textAt('DPS/infDPS/subst/chSubstda')],
  ['Doc. Ref.', textAt(`${SERV}/infoCompl/docRef`)],
  ['Cod. Obra', textAt(`${SERV}/obra/cObra`)],
  ['Insc. Imob.', ({ at }) => at(`${SERV}/obra/inscImobFisc`) ?? at('DPS/infDPS/IBSCBS/imovel/inscImobFisc')],
  ['Cod. Evt.', textAt(`${SERV}/atvEvento/idAtvEvt`)],
  ['Doc. Tec.', textAt(`${SERV}/infoCompl/idDocTec`)],
  ['Inf. A. T. Mun.', textAt('xOutInf')],
  ['ISSQN', semAliquota],
];

/** The additional statements of the note, joined; they may be cut. Empty: the note has none. */
export function informacoes(nota: Impressa): string {
  return PARTES.flatMap(([prefix, of]) => {
    const text = of(nota);
    return text === undefined ? [] : `${prefix}: ${text}`;
  }).join(' | ');
}

const TOT_TRIB = 'DPS/infDPS/valores/trib/totTrib';

/** Note 10: always printed, whole. Missing figures of the note are dashes. */
export function totaisAproximados(nota: Impressa): string {
  const value = (esfera: 'Fed' | 'Est' | 'Mun'): string =>
    amountOf(`${TOT_TRIB}/vTotTrib/vTotTrib${esfera}`)(nota) ??
    percentageAt(`${TOT_TRIB}/pTotTrib/pTotTrib${esfera}`)(nota) ??
    VAZIO;
  return `Totais Aproximados dos Tributos cfe. Lei nº 12.741/2012: Federais: ${value('Fed')}; Estaduais: ${value('Est')}; Municipais: ${value('Mun')}`;
}

/** The stub, which is omitted when the page has no room for it (note 11). */
export const CANHOTO = {
  y: 28.1,
  h: HIGH_ROW,
  campos: [
    campo(C1, 28.1, 'DATA CIENTIFICAÇÃO', () => undefined, HIGH),
    campo(C2, 28.1, 'IDENTIFICAÇÃO E ASSINATURA', () => undefined, HIGH),
    campo(
      C3,
      28.1,
      'Nº NFS-e / CHAVE NFS-e',
      partsOf(textAt('nNFSe'), ({ chave }) => chave),
      {
        ...HIGH,
        w: W2,
        max: 66,
      },
    ),
  ],
} as const;
