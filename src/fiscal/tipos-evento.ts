/**
 * The sixteen types of events that may be registered on a note, in the order of the specification, each with its author
 * and the fields of its request.
 *
 * The one declaration of them (`motivos_evento`): the reader of a request, the XML, the schema and the catalogue are made of
 * it. Which event is accepted after which is told in `conflitos-evento.ts`. Names, orders and lists: Anexo II v1.01 and
 * schema 1.01; the JSON names beside `codigo_motivo_cancelamento` and `descricao_motivo_cancelamento` are ours.
 */
import { type SimpleType, T } from './layout/simple-types.ts';

/** One value of an enumerated field: as it is sent, the integer that is kept for it, and what it means. */
type OpcaoEvento = { readonly codigo: string; readonly valor: number; readonly descricao: string };

export type CampoEvento = {
  /** Property of the JSON body. */
  readonly nome: string;
  /** Element of the group `e101101`, `e105102`, … */
  readonly elemento: string;
  readonly obrigatorio: boolean;
  /** Required too when another field has this value. */
  readonly obrigatorioCom?: { readonly campo: string; readonly valor: string };
  readonly opcoes?: readonly OpcaoEvento[];
  readonly tipo: SimpleType;
  /** What it is, in Portuguese. */
  readonly sobre: string;
  /** A right value, for the examples. */
  readonly exemplo: string;
};

/** The party of a note in whose name an event is registered. */
export type AutorEvento = 'prestador' | 'tomador' | 'intermediario';

export type TipoEvento = {
  readonly slug: string;
  readonly codigo: string;
  /** `xDesc`, letter for letter. */
  readonly descricao: string;
  /** Code with which the matrix refuses it. */
  readonly recusa: string;
  /** Whose document is taken when the request names none. Undefined: the municipality's. */
  readonly autor: AutorEvento | undefined;
  /** By office or by the system: not for the integrator's channel (E9016). */
  readonly porOficio: boolean;
  /** Processed, it makes the note `cancelada` (D-21). */
  readonly cancela: boolean;
  /** The national environment does not take it from a municipality (E1818): it is valid here all the same (D-55). */
  readonly soAqui: boolean;
  /** What the request says beside author and type, in the order of the layout. */
  readonly campos: readonly CampoEvento[];
};

const JUSTIFICATIVAS: readonly OpcaoEvento[] = [
  { codigo: '1', valor: 1, descricao: 'Erro na Emissão' },
  { codigo: '2', valor: 2, descricao: 'Serviço não Prestado' },
  { codigo: '9', valor: 9, descricao: 'Outros' },
];

const JUSTIFICATIVAS_DE_SUBSTITUICAO: readonly OpcaoEvento[] = [
  { codigo: '01', valor: 1, descricao: 'Desenquadramento de NFS-e do Simples Nacional' },
  { codigo: '02', valor: 2, descricao: 'Enquadramento de NFS-e no Simples Nacional' },
  { codigo: '03', valor: 3, descricao: 'Inclusão Retroativa de Imunidade/Isenção para NFS-e' },
  { codigo: '04', valor: 4, descricao: 'Exclusão Retroativa de Imunidade/Isenção para NFS-e' },
  {
    codigo: '05',
    valor: 5,
    descricao: 'Rejeição de NFS-e pelo tomador ou pelo intermediário se responsável pelo recolhimento do tributo',
  },
  { codigo: '99', valor: 99, descricao: 'Outros' },
];

const MOTIVOS_DE_REJEICAO: readonly OpcaoEvento[] = [
  { codigo: '1', valor: 1, descricao: 'NFS-e em duplicidade' },
  { codigo: '2', valor: 2, descricao: 'NFS-e já emitida pelo tomador' },
  { codigo: '3', valor: 3, descricao: 'Não ocorrência do fato gerador' },
  { codigo: '4', valor: 4, descricao: 'Erro quanto a responsabilidade tributária' },
  {
    codigo: '5',
    valor: 5,
    descricao: 'Erro quanto ao valor do serviço, valor das deduções ou serviço prestado ou data do fato gerador',
  },
  { codigo: '9', valor: 9, descricao: 'Outros' },
];

/** Kinds of events that a block can keep out. */
const BLOQUEAVEIS: readonly OpcaoEvento[] = [
  { codigo: 'e101101', valor: 101101, descricao: 'Cancelamento de NFS-e' },
  { codigo: 'e105102', valor: 105102, descricao: 'Cancelamento de NFS-e por Substituição' },
  { codigo: 'e105104', valor: 105104, descricao: 'Cancelamento de NFS-e Deferido por Análise Fiscal' },
  { codigo: 'e105105', valor: 105105, descricao: 'Cancelamento de NFS-e Indeferido por Análise Fiscal' },
  { codigo: 'e305101', valor: 305101, descricao: 'Cancelamento de NFS-e por Ofício' },
];

const TEXTO_DO_MOTIVO = {
  elemento: 'xMotivo',
  tipo: T.xMotivo,
  sobre: 'O motivo em palavras, de 15 a 255 caracteres.',
} as const;

const CANCELAMENTO: readonly CampoEvento[] = [
  {
    nome: 'codigo_motivo_cancelamento',
    elemento: 'cMotivo',
    obrigatorio: true,
    opcoes: JUSTIFICATIVAS,
    tipo: T.cMotivoCanc,
    sobre: 'Por que a nota é cancelada.',
    exemplo: '1',
  },
  {
    ...TEXTO_DO_MOTIVO,
    nome: 'descricao_motivo_cancelamento',
    obrigatorio: true,
    exemplo: 'Valor do serviço informado com erro na emissão',
  },
];

const SUBSTITUICAO: readonly CampoEvento[] = [
  {
    nome: 'codigo_motivo_cancelamento',
    elemento: 'cMotivo',
    obrigatorio: true,
    opcoes: JUSTIFICATIVAS_DE_SUBSTITUICAO,
    tipo: T.cMotivoSubst,
    sobre: 'Por que a nota é substituída; o mesmo de subst/cMotivo na DPS da substituta.',
    exemplo: '99',
  },
  {
    ...TEXTO_DO_MOTIVO,
    nome: 'descricao_motivo_cancelamento',
    obrigatorio: false,
    obrigatorioCom: { campo: 'codigo_motivo_cancelamento', valor: '99' },
    exemplo: 'Descrição do serviço corrigida na nota substituta',
  },
  {
    nome: 'chave_acesso_substituta',
    elemento: 'chSubstituta',
    obrigatorio: true,
    tipo: T.chaveNFSe,
    sobre: 'Chave de acesso da nota que substitui esta.',
    exemplo: '35503081211222333000181000000000000126091234567895',
  },
];

const ANALISE_FISCAL: readonly CampoEvento[] = [
  {
    nome: 'codigo_motivo_cancelamento',
    elemento: 'cMotivo',
    obrigatorio: true,
    opcoes: JUSTIFICATIVAS,
    tipo: T.cMotivoAnaliseFiscal,
    sobre: 'Por que se pede o cancelamento.',
    exemplo: '2',
  },
  {
    ...TEXTO_DO_MOTIVO,
    nome: 'descricao_motivo_cancelamento',
    obrigatorio: true,
    exemplo: 'Serviço contratado que não chegou a ser prestado',
  },
];

const REJEICAO: readonly CampoEvento[] = [
  {
    nome: 'codigo_motivo_rejeicao',
    elemento: 'cMotivo',
    obrigatorio: true,
    opcoes: MOTIVOS_DE_REJEICAO,
    tipo: T.cMotivoRejeicao,
    sobre: 'Por que a parte rejeita a nota.',
    exemplo: '3',
  },
  {
    ...TEXTO_DO_MOTIVO,
    nome: 'descricao_motivo_rejeicao',
    obrigatorio: false,
    obrigatorioCom: { campo: 'codigo_motivo_rejeicao', valor: '9' },
    exemplo: 'O serviço descrito na nota não foi contratado',
  },
];

const AGENTE: CampoEvento = {
  nome: 'cpf_agente_tributario',
  elemento: 'CPFAgTrib',
  obrigatorio: true,
  tipo: T.cpf,
  sobre: 'CPF do agente da administração tributária municipal que decide.',
  exemplo: '52998224725',
};

const PROCESSO: Omit<CampoEvento, 'obrigatorio'> = {
  nome: 'numero_processo_administrativo',
  elemento: 'nProcAdm',
  tipo: T.nProcAdm,
  sobre: 'Número do processo administrativo municipal, só algarismos.',
  exemplo: '20260001234',
};

function decisao(opcoes: readonly OpcaoEvento[], tipo: SimpleType, exemplo: string): readonly CampoEvento[] {
  return [
    AGENTE,
    { ...PROCESSO, obrigatorio: false },
    {
      nome: 'codigo_motivo',
      elemento: 'cMotivo',
      obrigatorio: true,
      opcoes,
      tipo,
      sobre: 'A decisão sobre a solicitação de análise fiscal.',
      exemplo: opcoes[0]!.codigo,
    },
    { ...TEXTO_DO_MOTIVO, nome: 'descricao_motivo', obrigatorio: true, exemplo },
  ];
}

export const TIPOS_EVENTO = [
  {
    slug: 'cancelamento',
    codigo: '101101',
    descricao: 'Cancelamento de NFS-e',
    recusa: 'E0840',
    autor: 'prestador',
    porOficio: false,
    cancela: true,
    soAqui: false,
    campos: CANCELAMENTO,
  },
  {
    slug: 'cancelamento_por_substituicao',
    codigo: '105102',
    descricao: 'Cancelamento de NFS-e por Substituição',
    recusa: 'E0845',
    autor: 'prestador',
    porOficio: false,
    cancela: true,
    soAqui: false,
    campos: SUBSTITUICAO,
  },
  {
    slug: 'solicitacao_analise_fiscal_para_cancelamento',
    codigo: '101103',
    descricao: 'Solicitação de Análise Fiscal para Cancelamento de NFS-e',
    recusa: 'E0848',
    autor: 'prestador',
    porOficio: false,
    cancela: false,
    soAqui: false,
    campos: ANALISE_FISCAL,
  },
  {
    slug: 'cancelamento_deferido_por_analise_fiscal',
    codigo: '105104',
    descricao: 'Cancelamento de NFS-e Deferido por Análise Fiscal',
    recusa: 'E0852',
    autor: undefined,
    porOficio: true,
    cancela: true,
    soAqui: false,
    campos: decisao(
      [{ codigo: '1', valor: 1, descricao: 'Cancelamento de NFS-e Deferido' }],
      T.cMotivoDeferimento,
      'Comprovado que o serviço não foi prestado',
    ),
  },
  {
    slug: 'cancelamento_indeferido_por_analise_fiscal',
    codigo: '105105',
    descricao: 'Cancelamento de NFS-e Indeferido por Análise Fiscal',
    recusa: 'E0855',
    autor: undefined,
    porOficio: true,
    cancela: false,
    soAqui: false,
    campos: decisao(
      [
        { codigo: '1', valor: 1, descricao: 'Cancelamento de NFS-e Indeferido' },
        { codigo: '2', valor: 2, descricao: 'Cancelamento de NFS-e Indeferido Sem Análise de Mérito' },
      ],
      T.cMotivoIndeferimento,
      'Não comprovado que o serviço deixou de ser prestado',
    ),
  },
  {
    slug: 'confirmacao_prestador',
    codigo: '202201',
    descricao: 'Manifestação de NFS-e - Confirmação do Prestador',
    recusa: 'E0860',
    autor: 'prestador',
    porOficio: false,
    cancela: false,
    soAqui: true,
    campos: [],
  },
  {
    slug: 'confirmacao_tomador',
    codigo: '203202',
    descricao: 'Manifestação de NFS-e - Confirmação do Tomador',
    recusa: 'E0861',
    autor: 'tomador',
    porOficio: false,
    cancela: false,
    soAqui: true,
    campos: [],
  },
  {
    slug: 'confirmacao_intermediario',
    codigo: '204203',
    descricao: 'Manifestação de NFS-e - Confirmação do Intermediário',
    recusa: 'E0862',
    autor: 'intermediario',
    porOficio: false,
    cancela: false,
    soAqui: true,
    campos: [],
  },
  {
    slug: 'confirmacao_tacita',
    codigo: '205204',
    descricao: 'Manifestação de NFS-e - Confirmação Tácita',
    recusa: 'E0863',
    autor: undefined,
    porOficio: true,
    cancela: false,
    soAqui: false,
    campos: [],
  },
  {
    slug: 'rejeicao_prestador',
    codigo: '202205',
    descricao: 'Manifestação de NFS-e - Rejeição do Prestador',
    recusa: 'E0864',
    autor: 'prestador',
    porOficio: false,
    cancela: false,
    soAqui: true,
    campos: REJEICAO,
  },
  {
    slug: 'rejeicao_tomador',
    codigo: '203206',
    descricao: 'Manifestação de NFS-e - Rejeição do Tomador',
    recusa: 'E0866',
    autor: 'tomador',
    porOficio: false,
    cancela: false,
    soAqui: true,
    campos: REJEICAO,
  },
  {
    slug: 'rejeicao_intermediario',
    codigo: '204207',
    descricao: 'Manifestação de NFS-e - Rejeição do Intermediário',
    recusa: 'E0868',
    autor: 'intermediario',
    porOficio: false,
    cancela: false,
    soAqui: true,
    campos: REJEICAO,
  },
  {
    slug: 'anulacao_rejeicao',
    codigo: '205208',
    descricao: 'Manifestação de NFS-e - Anulação da Rejeição',
    recusa: 'E0870',
    autor: undefined,
    porOficio: true,
    cancela: false,
    soAqui: false,
    campos: [
      AGENTE,
      {
        nome: 'id_evento_rejeicao',
        elemento: 'idEvManifRej',
        obrigatorio: true,
        tipo: T.idEventoReferido,
        sobre: 'Identificador do evento de rejeição que se anula.',
        exemplo: 'EVT35503081211222333000181000000000000126091234567895203206001',
      },
      {
        ...TEXTO_DO_MOTIVO,
        nome: 'descricao_motivo',
        obrigatorio: true,
        exemplo: 'A rejeição foi registrada por quem não tinha poderes',
      },
    ],
  },
  {
    slug: 'cancelamento_por_oficio',
    codigo: '305101',
    descricao: 'Cancelamento de NFS-e por Ofício',
    recusa: 'E1960',
    autor: undefined,
    porOficio: true,
    cancela: true,
    soAqui: false,
    campos: [
      AGENTE,
      { ...PROCESSO, obrigatorio: true },
      {
        nome: 'descricao_processo_administrativo',
        elemento: 'xProcAdm',
        obrigatorio: true,
        tipo: T.xMotivo,
        sobre: 'O motivo do processo administrativo em palavras, de 15 a 255 caracteres.',
        exemplo: 'Nota emitida em nome de contribuinte baixado',
      },
    ],
  },
  {
    slug: 'bloqueio_por_oficio',
    codigo: '305102',
    descricao: 'Bloqueio de NFS-e por Ofício',
    recusa: 'E1965',
    autor: undefined,
    porOficio: true,
    cancela: false,
    soAqui: false,
    campos: [
      AGENTE,
      {
        nome: 'codigo_evento_bloqueado',
        elemento: 'codEvento',
        obrigatorio: true,
        opcoes: BLOQUEAVEIS,
        tipo: T.codEvento,
        sobre: 'O tipo de evento que a nota deixa de receber.',
        exemplo: 'e101101',
      },
      {
        ...TEXTO_DO_MOTIVO,
        nome: 'descricao_motivo',
        obrigatorio: true,
        exemplo: 'Nota sob fiscalização até o fim do processo',
      },
    ],
  },
  {
    slug: 'desbloqueio_por_oficio',
    codigo: '305103',
    descricao: 'Desbloqueio de NFS-e por Ofício',
    recusa: 'E1970',
    autor: undefined,
    porOficio: true,
    cancela: false,
    soAqui: false,
    campos: [
      AGENTE,
      {
        nome: 'id_evento_bloqueio',
        elemento: 'idBloqOfic',
        obrigatorio: true,
        tipo: T.idEventoReferido,
        sobre: 'Identificador do evento de bloqueio que se levanta, com o número sequencial quando há mais de um.',
        exemplo: 'EVT35503081211222333000181000000000000126091234567895305102001',
      },
    ],
  },
] as const satisfies readonly TipoEvento[];

const BY_SLUG: ReadonlyMap<string, TipoEvento> = new Map(TIPOS_EVENTO.map((tipo) => [tipo.slug, tipo]));
const BY_CODIGO: ReadonlyMap<string, TipoEvento> = new Map(TIPOS_EVENTO.map((tipo) => [tipo.codigo, tipo]));

/** The type of a slug, `cancelamento`; undefined when there is none. */
export function tipoBySlug(slug: string): TipoEvento | undefined {
  return BY_SLUG.get(slug);
}

/** The type of a national code, `101101`; undefined when there is none. */
export function tipoByCodigo(codigo: string): TipoEvento | undefined {
  return BY_CODIGO.get(codigo);
}

/** A request of a type as it is sent, with all its fields filled in. */
export function exemploDe({ slug, campos }: TipoEvento): Readonly<Record<string, string>> {
  return Object.fromEntries([['tipo_evento', slug], ...campos.map(({ nome, exemplo }) => [nome, exemplo])]);
}
