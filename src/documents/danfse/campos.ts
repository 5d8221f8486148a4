/**
 * The fields of the printed note as one table, in the order of the standard (DANFSe v2.0, NT SE/CGNFS-e 008): label, place and
 * size in centimetres, longest content, and where in the document the content comes from.
 *
 * Where the table of the standard and its model differ, the model prevails. Nothing here draws; `../danfse.ts` does.
 */
import {
  cep,
  cnpj,
  cpf,
  cTribNac,
  data,
  dataHora,
  type Impressa,
  nbs,
  nomeDoMunicipio,
  opcao,
  parts,
  percentual,
  reais,
  soma,
  ufOf,
} from './impressa.ts';

export type Campo = {
  /** Empty: the content stands alone. */
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  /** Longer contents end with three points in place of their last characters. */
  readonly max?: number;
  readonly shaded?: true;
  /** It takes the lines it needs, and what follows moves down. */
  readonly elastic?: true;
  readonly of: (nota: Impressa) => string | undefined;
};

export type Bloco = {
  /** Absent: the block has no title of its own. */
  readonly titulo?: string;
  readonly y: number;
  /** Where the next block begins. */
  readonly end: number;
  /** The labels of the block are capitals of 7 points. */
  readonly capitals?: true;
  readonly campos: readonly Campo[];
  /** The one line that stands for the whole block (notes 2 to 4). */
  readonly instead?: (nota: Impressa) => string | undefined;
  /** Rows that a note may do without, by their `y` (notes 5 and 6). */
  readonly leftOut?: Readonly<Record<number, (nota: Impressa, row: readonly Campo[]) => boolean>>;
};

/** Columns, and the widths of one and of two. */
const [C1, C2, C3, C4] = [0.3, 5.41, 10.51, 15.62] as const;
const [W1, W2] = [5.09, 10.19] as const;
/** The whole body. */
export const BODY = { x: C1, w: 20.4 } as const;
const ROW = 0.63;
/** Of the identification and of the totals. */
const HIGH_ROW = 0.67;

/** Height of the line that stands for a block. */
export const SUPPRESSED_HEIGHT = 0.32;

const MAX_CODE = 40;

type More = { readonly w?: number; readonly h?: number; readonly max?: number; readonly shaded?: true };

function campo(x: number, y: number, label: string, of: Campo['of'], more: More = {}): Campo {
  return { label, x, y, w: W1, h: ROW, of, ...more };
}

const HIGH = { h: HIGH_ROW } as const;

const IDENTIFICACAO: Bloco = {
  y: 1.48,
  end: 4.34,
  capitals: true,
  campos: [
    campo(C1, 1.48, 'CHAVE DE ACESSO DA NFS-E', ({ chave }) => chave, { w: 15.3, h: 0.77, max: 50 }),
    campo(C1, 2.27, 'NÚMERO DA NFS-E', ({ at }) => at('nNFSe'), { ...HIGH, max: 13 }),
    campo(C2, 2.27, 'COMPETÊNCIA DA NFS-E', ({ at }) => data(at('DPS/infDPS/dCompet')), { ...HIGH, max: 10 }),
    campo(C3, 2.27, 'DATA E HORA DA EMISSÃO DA NFS-E', ({ at }) => dataHora(at('dhProc')), { ...HIGH, max: 19 }),
    campo(C1, 2.96, 'NÚMERO DA DPS', ({ at }) => at('DPS/infDPS/nDPS'), { ...HIGH, max: 15 }),
    campo(C2, 2.96, 'SÉRIE DA DPS', ({ at }) => at('DPS/infDPS/serie'), { ...HIGH, max: 5 }),
    campo(C3, 2.96, 'DATA E HORA DA EMISSÃO DA DPS', ({ at }) => dataHora(at('DPS/infDPS/dhEmi')), {
      ...HIGH,
      max: 19,
    }),
    campo(C1, 3.65, 'EMITENTE DA NFS-E', (nota) => opcao(nota, 'tpEmit', 'DPS/infDPS/tpEmit'), {
      ...HIGH,
      max: 13,
      shaded: true,
    }),
    campo(C2, 3.65, 'SITUAÇÃO DA NFS-E', (nota) => opcao(nota, 'cStat', 'cStat'), { ...HIGH, max: MAX_CODE }),
    campo(C3, 3.65, 'FINALIDADE', (nota) => opcao(nota, 'finNFSe', 'DPS/infDPS/IBSCBS/finNFSe'), {
      ...HIGH,
      max: MAX_CODE,
    }),
  ],
};

type Base = 'DPS/infDPS/prest' | 'DPS/infDPS/toma' | 'DPS/infDPS/IBSCBS/dest' | 'DPS/infDPS/interm';

/** The rows that all parties share; the municipal registration has its own field. */
function pessoa(base: Base, [first, second, third]: readonly [number, number, number], im?: Campo): readonly Campo[] {
  const isPrestador = base === 'DPS/infDPS/prest';
  // The register knows the provider better: nationally its name and address stand in `emit` alone (E0121, E0128).
  const emit = ({ at }: Impressa, path: 'CNPJ' | 'CPF' | 'fone' | 'xNome' | 'email'): string | undefined =>
    isPrestador && at('DPS/infDPS/tpEmit') === '1' ? at(`emit/${path}`) : undefined;
  const enderNac = ({ at }: Impressa, path: 'cMun' | 'CEP' | 'xLgr' | 'nro' | 'xCpl' | 'xBairro') =>
    isPrestador && at('DPS/infDPS/tpEmit') === '1' ? at(`emit/enderNac/${path}`) : undefined;
  const hasOwnEnd = ({ has }: Impressa): boolean => has(`${base}/end`);
  const ofEnd = (nota: Impressa, path: 'xLgr' | 'nro' | 'xCpl' | 'xBairro'): string | undefined =>
    hasOwnEnd(nota) ? nota.at(`${base}/end/${path}`) : enderNac(nota, path);
  const cMunOf = (nota: Impressa): string | undefined =>
    hasOwnEnd(nota) ? nota.at(`${base}/end/endNac/cMun`) : enderNac(nota, 'cMun');
  return [
    campo(
      C2,
      first,
      'CNPJ / CPF / NIF',
      (nota) =>
        cnpj(nota.at(`${base}/CNPJ`) ?? emit(nota, 'CNPJ')) ??
        cpf(nota.at(`${base}/CPF`) ?? emit(nota, 'CPF')) ??
        nota.at(`${base}/NIF`),
      { max: 40 },
    ),
    ...(im === undefined ? [] : [im]),
    campo(C4, first, 'Telefone', (nota) => nota.at(`${base}/fone`) ?? emit(nota, 'fone'), { max: 20 }),
    campo(C1, second, 'Nome / Nome Empresarial', (nota) => nota.at(`${base}/xNome`) ?? emit(nota, 'xNome'), {
      w: W2,
      max: 80,
    }),
    campo(
      C3,
      second,
      'Município / Sigla UF',
      (nota) => {
        const cMun = cMunOf(nota);
        return cMun === undefined ? nota.at(`${base}/end/endExt/xCidade`) : parts(nomeDoMunicipio(cMun), ufOf(cMun));
      },
      { max: 37 },
    ),
    campo(
      C4,
      second,
      'Código IBGE / CEP',
      (nota) => {
        const cMun = cMunOf(nota);
        if (cMun === undefined) {
          return parts(nota.at(`${base}/end/endExt/cPais`), nota.at(`${base}/end/endExt/cEndPost`));
        }
        return parts(cMun, cep(hasOwnEnd(nota) ? nota.at(`${base}/end/endNac/CEP`) : enderNac(nota, 'CEP')));
      },
      { max: 21 },
    ),
    campo(
      C1,
      third,
      'Endereço',
      (nota) => {
        const known = (['xLgr', 'nro', 'xCpl', 'xBairro'] as const).flatMap((path) => ofEnd(nota, path) ?? []);
        return known.length === 0 ? undefined : known.join(', ');
      },
      { w: W2, max: 80 },
    ),
    campo(C3, third, 'E-mail', (nota) => nota.at(`${base}/email`) ?? emit(nota, 'email'), { w: W2, max: 80 }),
  ];
}

const IM_LABEL = 'Indicador Municipal (Inscrição)';

const PRESTADOR: Bloco = {
  titulo: 'PRESTADOR / FORNECEDOR',
  y: 4.34,
  end: 6.92,
  campos: [
    ...pessoa(
      'DPS/infDPS/prest',
      [4.34, 4.98, 5.62],
      campo(
        C3,
        4.34,
        IM_LABEL,
        ({ at }) => at('DPS/infDPS/prest/IM') ?? (at('DPS/infDPS/tpEmit') === '1' ? at('emit/IM') : undefined),
        { max: 15 },
      ),
    ),
    campo(
      C1,
      6.28,
      'Simples Nacional na Data de Competência',
      (nota) => opcao(nota, 'opSimpNac', 'DPS/infDPS/prest/regTrib/opSimpNac'),
      { max: MAX_CODE },
    ),
    // The table has it in column 3, the model in column 2.
    campo(
      C2,
      6.28,
      'Regime de Apuração Tributária pelo SN',
      (nota) => opcao(nota, 'regApTribSN', 'DPS/infDPS/prest/regTrib/regApTribSN'),
      { w: W2, max: 80 },
    ),
  ],
};

const TOMADOR: Bloco = {
  titulo: 'TOMADOR / ADQUIRENTE',
  y: 6.92,
  end: 8.86,
  instead: ({ has }) =>
    has('DPS/infDPS/toma') ? undefined : 'TOMADOR/ADQUIRENTE DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e',
  campos: pessoa(
    'DPS/infDPS/toma',
    [6.92, 7.56, 8.22],
    campo(C3, 6.92, IM_LABEL, ({ at }) => at('DPS/infDPS/toma/IM'), { max: 15 }),
  ),
};

const DESTINATARIO: Bloco = {
  titulo: 'DESTINATÁRIO DA OPERAÇÃO',
  y: 8.86,
  end: 10.8,
  instead: ({ at, has }) => {
    if (has('DPS/infDPS/IBSCBS/dest')) return undefined;
    return at('DPS/infDPS/IBSCBS/indDest') === '0'
      ? 'O DESTINATÁRIO É O PRÓPRIO TOMADOR/ADQUIRENTE DA OPERAÇÃO'
      : 'DESTINATÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e';
  },
  campos: pessoa('DPS/infDPS/IBSCBS/dest', [8.86, 9.5, 10.16]),
};

const INTERMEDIARIO: Bloco = {
  titulo: 'INTERMEDIÁRIO DA OPERAÇÃO',
  y: 10.8,
  end: 12.74,
  instead: ({ has }) => (has('DPS/infDPS/interm') ? undefined : 'INTERMEDIÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e'),
  campos: pessoa(
    'DPS/infDPS/interm',
    [10.8, 11.44, 12.09],
    campo(C3, 10.8, IM_LABEL, ({ at }) => at('DPS/infDPS/interm/IM'), { max: 15 }),
  ),
};

const SERVICO: Bloco = {
  titulo: 'SERVIÇO PRESTADO',
  y: 12.74,
  end: 14.43,
  campos: [
    campo(
      C2,
      12.74,
      'Código de Tributação Nacional / Municipal',
      ({ at }) => parts(cTribNac(at('DPS/infDPS/serv/cServ/cTribNac')), at('DPS/infDPS/serv/cServ/cTribMun')),
      { max: 14 },
    ),
    campo(C3, 12.74, 'Código da NBS', ({ at }) => nbs(at('DPS/infDPS/serv/cServ/cNBS')), { max: 12 }),
    campo(
      C4,
      12.74,
      'Local da Prestação / Sigla UF / País',
      ({ at }) => {
        const uf = ufOf(at('DPS/infDPS/serv/locPrest/cLocPrestacao'));
        return parts(
          at('xLocPrestacao'),
          uf,
          at('DPS/infDPS/serv/locPrest/cPaisPrestacao') ?? (uf === undefined ? undefined : 'BR'),
        );
      },
      { max: 42 },
    ),
    { label: '', ...BODY, y: 13.39, h: 0.38, max: 170, of: ({ at }) => at('xTribMun') ?? at('xTribNac') },
    {
      label: 'Descrição do Serviço',
      ...BODY,
      y: 13.79,
      h: ROW,
      max: 1300,
      elastic: true,
      of: ({ at }) => at('DPS/infDPS/serv/cServ/xDescServ'),
    },
  ],
};

const isEmpty = (nota: Impressa, row: readonly Campo[]): boolean => row.every(({ of }) => of(nota) === undefined);

const TRIB_MUN = 'DPS/infDPS/valores/trib/tribMun';

const ISSQN: Bloco = {
  titulo: 'TRIBUTAÇÃO MUNICIPAL (ISSQN)',
  y: 14.43,
  end: 17.02,
  instead: ({ at }) =>
    at(`${TRIB_MUN}/tribISSQN`) === '4' ? 'TRIBUTAÇÃO MUNICIPAL (ISSQN) - OPERAÇÃO NÃO SUJEITA AO ISSQN' : undefined,
  leftOut: { 15.08: isEmpty, 15.73: isEmpty },
  campos: [
    // In the table these two are one column to the left, where the title of the block is.
    campo(C2, 14.43, 'Tipo de Tributação do ISSQN', (nota) => opcao(nota, 'tribISSQN', `${TRIB_MUN}/tribISSQN`), {
      max: 21,
    }),
    campo(
      C3,
      14.43,
      'Município / Sigla UF / País de Incidência do ISSQN',
      ({ at }) => {
        const uf = ufOf(at('cLocIncid'));
        return parts(at('xLocIncid'), uf, at(`${TRIB_MUN}/cPaisResult`) ?? (uf === undefined ? undefined : 'BR'));
      },
      { w: W2, max: 42 },
    ),
    campo(
      C1,
      15.08,
      'Regime Especial de Tributação do ISSQN',
      (nota) => opcao(nota, 'regEspTrib', 'DPS/infDPS/prest/regTrib/regEspTrib'),
      { max: 27 },
    ),
    campo(C2, 15.08, 'Tipo de Imunidade do ISSQN', (nota) => opcao(nota, 'tpImunidade', `${TRIB_MUN}/tpImunidade`), {
      max: MAX_CODE,
    }),
    campo(
      C3,
      15.08,
      'Suspensão da Exigibilidade do ISSQN',
      (nota) => opcao(nota, 'tpSusp', `${TRIB_MUN}/exigSusp/tpSusp`),
      { max: MAX_CODE },
    ),
    campo(C4, 15.08, 'Número Processo Suspensão', ({ at }) => at(`${TRIB_MUN}/exigSusp/nProcesso`), { max: 30 }),
    campo(C1, 15.73, 'Benefício Municipal', (nota) => opcao(nota, 'tpBM', 'valores/tpBM'), { max: MAX_CODE }),
    campo(C2, 15.73, 'Cálculo do BM', (nota) =>
      reais(soma(nota, 'valores/vCalcBM') ?? soma(nota, `${TRIB_MUN}/BM/vRedBCBM`)),
    ),
    campo(C3, 15.73, 'Total Deduções/Reduções', (nota) =>
      reais(soma(nota, 'DPS/infDPS/valores/vDedRed/vDR', 'valores/vCalcDR', 'IBSCBS/valores/vCalcReeRepRes')),
    ),
    campo(C4, 15.73, 'Desconto Incondicionado', (nota) => reais(soma(nota, DESC_INCOND))),
    campo(C1, 16.37, 'BC ISSQN', (nota) => reais(soma(nota, 'valores/vBC'))),
    campo(C2, 16.37, 'Alíquota Aplicada', ({ at }) => percentual(at('valores/pAliqAplic'))),
    campo(C3, 16.37, 'Retenção do ISSQN', (nota) => opcao(nota, 'tpRetISSQN', `${TRIB_MUN}/tpRetISSQN`), { max: 25 }),
    campo(C4, 16.37, 'ISSQN Apurado', (nota) => reais(soma(nota, 'valores/vISSQN'))),
  ],
};

const DESC_INCOND = 'DPS/infDPS/valores/vDescCondIncond/vDescIncond';
const TRIB_FED = 'DPS/infDPS/valores/trib/tribFed';

/** From version 1.02 of the standard: PIS and COFINS withheld are told with the social contributions, and not as own debits. */
const isWithheld = ({ at }: Impressa): boolean => at(`${TRIB_FED}/piscofins/tpRetPisCofins`) === '1';

function ownDebit(nota: Impressa, path: `${typeof TRIB_FED}/piscofins/${'vPis' | 'vCofins'}`): string | undefined {
  return isWithheld(nota) ? 'R$ 0,00' : reais(soma(nota, path));
}

/** Note 6. */
const LAST_YEAR_OF_PIS_COFINS = '2026';

const FEDERAL: Bloco = {
  titulo: 'TRIBUTAÇÃO FEDERAL (EXCETO CBS)',
  y: 17.02,
  end: 18.32,
  leftOut: { 17.67: ({ at }) => (at('DPS/infDPS/dCompet') ?? '').slice(0, 4) > LAST_YEAR_OF_PIS_COFINS },
  campos: [
    campo(C2, 17.02, 'IRRF', (nota) => reais(soma(nota, `${TRIB_FED}/vRetIRRF`))),
    campo(C3, 17.02, 'Contribuição Previdenciária - Retida', (nota) => reais(soma(nota, `${TRIB_FED}/vRetCP`))),
    campo(C4, 17.02, 'Contribuições Sociais - Retidas', (nota) =>
      reais(
        isWithheld(nota)
          ? soma(nota, `${TRIB_FED}/vRetCSLL`, `${TRIB_FED}/piscofins/vPis`, `${TRIB_FED}/piscofins/vCofins`)
          : soma(nota, `${TRIB_FED}/vRetCSLL`),
      ),
    ),
    campo(C1, 17.67, 'PIS - Débito Apuração Própria', (nota) => ownDebit(nota, `${TRIB_FED}/piscofins/vPis`)),
    campo(C2, 17.67, 'COFINS - Débito Apuração Própria', (nota) => ownDebit(nota, `${TRIB_FED}/piscofins/vCofins`)),
    campo(
      C3,
      17.67,
      'Descrição Contrib. Sociais - Retidas',
      (nota) => opcao(nota, 'tpRetPisCofins', `${TRIB_FED}/piscofins/tpRetPisCofins`),
      { w: W2, max: 35 },
    ),
  ],
};

const G_IBSCBS = 'DPS/infDPS/IBSCBS/valores/trib/gIBSCBS';

/** Without the group of the note there is nothing to print in the block but dashes. */
const whenGiven =
  (of: Campo['of']): Campo['of'] =>
  (nota) =>
    nota.has('IBSCBS') ? of(nota) : undefined;

const IBS_CBS: Bloco = {
  titulo: 'TRIBUTAÇÃO IBS / CBS',
  y: 18.32,
  end: 20.9,
  campos: [
    campo(C2, 18.32, 'CST / cClassTrib', ({ at }) => parts(at(`${G_IBSCBS}/CST`), at(`${G_IBSCBS}/cClassTrib`)), {
      max: 12,
    }),
    campo(
      C3,
      18.32,
      'Indicador de Operação / Código IBGE Incidência / Município Incidência / Sigla UF',
      ({ at }) =>
        parts(
          at('DPS/infDPS/IBSCBS/cIndOp'),
          at('IBSCBS/cLocalidadeIncid'),
          at('IBSCBS/xLocalidadeIncid'),
          ufOf(at('IBSCBS/cLocalidadeIncid')),
        ),
      { w: W2, max: 56 },
    ),
    campo(
      C1,
      18.96,
      'Exclusões e Reduções da Base de Cálculo',
      whenGiven((nota) =>
        reais(
          soma(
            nota,
            DESC_INCOND,
            'IBSCBS/valores/vCalcReeRepRes',
            'valores/vISSQN',
            `${TRIB_FED}/piscofins/vPis`,
            `${TRIB_FED}/piscofins/vCofins`,
          ),
        ),
      ),
    ),
    campo(C2, 18.96, 'Base de Cálculo Após Exclusões e Reduções', (nota) => reais(soma(nota, 'IBSCBS/valores/vBC'))),
    campo(C3, 18.96, 'Red. Alíquota IBS / Red. Alíquota CBS', ({ at }) =>
      parts(
        percentual(at('IBSCBS/valores/uf/pRedAliqUF')),
        percentual(at('IBSCBS/valores/mun/pRedAliqMun')),
        percentual(at('IBSCBS/valores/fed/pRedAliqCBS')),
      ),
    ),
    campo(C4, 18.96, 'Alíquota - IBS UF / IBS Mun', ({ at }) =>
      parts(percentual(at('IBSCBS/valores/uf/pIBSUF')), percentual(at('IBSCBS/valores/mun/pIBSMun'))),
    ),
    campo(C1, 19.61, 'Alíq. Efetiva Municipal - IBS', ({ at }) => percentual(at('IBSCBS/valores/mun/pAliqEfetMun'))),
    campo(C2, 19.61, 'Valor Apurado Municipal - IBS', (nota) =>
      reais(soma(nota, 'IBSCBS/totCIBS/gIBS/gIBSMunTot/vIBSMun')),
    ),
    campo(C3, 19.61, 'Alíq. Efetiva Estadual - IBS', ({ at }) => percentual(at('IBSCBS/valores/uf/pAliqEfetUF'))),
    campo(C4, 19.61, 'Valor Apurado Estadual - IBS', (nota) =>
      reais(soma(nota, 'IBSCBS/totCIBS/gIBS/gIBSUFTot/vIBSUF')),
    ),
    campo(C1, 20.26, 'Valor Total Apurado - IBS', (nota) => reais(soma(nota, IBS_TOTAL))),
    campo(C2, 20.26, 'Alíquota - CBS', ({ at }) => percentual(at('IBSCBS/valores/fed/pCBS'))),
    campo(C3, 20.26, 'Alíquota Efetiva - CBS', ({ at }) => percentual(at('IBSCBS/valores/fed/pAliqEfetCBS'))),
    campo(C4, 20.26, 'Valor Total Apurado - CBS', (nota) => reais(soma(nota, CBS_TOTAL))),
  ],
};

const IBS_TOTAL = 'IBSCBS/totCIBS/gIBS/vIBSTot';
const CBS_TOTAL = 'IBSCBS/totCIBS/gCBS/vCBS';

const TOTAL: Bloco = {
  titulo: 'VALOR TOTAL DA NFS-E',
  y: 20.9,
  end: 22.27,
  campos: [
    campo(
      C2,
      20.9,
      'VALOR DA OPERAÇÃO / SERVIÇO',
      (nota) => reais(soma(nota, 'DPS/infDPS/valores/vServPrest/vServ')),
      HIGH,
    ),
    campo(C3, 20.9, 'Desconto Incondicionado', (nota) => reais(soma(nota, DESC_INCOND)), HIGH),
    campo(
      C4,
      20.9,
      'Desconto Condicionado',
      (nota) => reais(soma(nota, 'DPS/infDPS/valores/vDescCondIncond/vDescCond')),
      HIGH,
    ),
    campo(C1, 21.59, 'Total das Retenções (ISSQN / Federais)', (nota) => reais(soma(nota, 'valores/vTotalRet')), HIGH),
    campo(C2, 21.59, 'VALOR LÍQUIDO DA NFS-e', (nota) => reais(soma(nota, 'valores/vLiq')), HIGH),
    campo(C3, 21.59, 'Total do IBS/CBS', (nota) => reais(soma(nota, IBS_TOTAL, CBS_TOTAL)), HIGH),
    campo(C4, 21.59, 'VALOR LÍQUIDO DA NFS-e + IBS/CBS', (nota) => reais(soma(nota, 'IBSCBS/totCIBS/vTotNF')), {
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

/** The complementary information: a title over the whole width, and below it what is left of the page. */
export const INFORMACOES = { titulo: 'INFORMAÇÕES COMPLEMENTARES', y: 22.27, content: 22.68, max: 2000 } as const;

/** The parts of the complementary information, in their order; the numbers of orders and items are not received here. */
const PARTES: readonly (readonly [prefix: string, of: Campo['of']])[] = [
  ['Inf. Cont.', ({ at }) => at('DPS/infDPS/serv/infoCompl/xInfComp')],
  ['NFS-e Subst.', ({ at }) => at('DPS/infDPS/subst/chSubstda')],
  ['Doc. Ref.', ({ at }) => at('DPS/infDPS/serv/infoCompl/docRef')],
  ['Cod. Obra', ({ at }) => at('DPS/infDPS/serv/obra/cObra')],
  ['Insc. Imob.', ({ at }) => at('DPS/infDPS/serv/obra/inscImobFisc') ?? at('DPS/infDPS/IBSCBS/imovel/inscImobFisc')],
  ['Cod. Evt.', ({ at }) => at('DPS/infDPS/serv/atvEvento/idAtvEvt')],
  ['Doc. Tec.', ({ at }) => at('DPS/infDPS/serv/infoCompl/idDocTec')],
  ['Inf. A. T. Mun.', ({ at }) => at('xOutInf')],
];

/** What the note says besides, joined; it may be cut. Empty when it says nothing. */
export function informacoes(nota: Impressa): string {
  return PARTES.flatMap(([prefix, of]) => {
    const text = of(nota);
    return text === undefined ? [] : `${prefix}: ${text}`;
  }).join(' | ');
}

const TOT_TRIB = 'DPS/infDPS/valores/trib/totTrib';

/** Note 10: always printed, whole. Figures that the note does not state are dashes. */
export function totaisAproximados(nota: Impressa): string {
  const { at } = nota;
  const value = (esfera: 'Fed' | 'Est' | 'Mun'): string =>
    reais(soma(nota, `${TOT_TRIB}/vTotTrib/vTotTrib${esfera}`)) ??
    percentual(at(`${TOT_TRIB}/pTotTrib/pTotTrib${esfera}`)) ??
    '-';
  return `Totais Aproximados dos Tributos cfe. Lei nº 12.741/2012: Federais: ${value('Fed')}; Estaduais: ${value('Est')}; Municipais: ${value('Mun')}`;
}

/** The stub, which a page without room for it does without (note 11). */
export const CANHOTO = {
  y: 28.1,
  h: HIGH_ROW,
  campos: [
    campo(C1, 28.1, 'DATA CIENTIFICAÇÃO', () => undefined, HIGH),
    campo(C2, 28.1, 'IDENTIFICAÇÃO E ASSINATURA', () => undefined, HIGH),
    campo(C3, 28.1, 'Nº NFS-e / CHAVE NFS-e', ({ at, chave }) => parts(at('nNFSe'), chave), {
      ...HIGH,
      w: W2,
      max: 66,
    }),
  ],
} as const;
