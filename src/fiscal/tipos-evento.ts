/**
 * The types of events that may be registered on a note, in the order of the specification. Each has its author and the fields of its
 * request.
 *
 * This is the only table of them: the reader of a request, the XML, the schema and the catalogue `motivos_evento` are made from it.
 * `conflitos-evento.ts` decides which event is accepted after which. Names, orders and lists come from Anexo II v1.01 and schema 1.01. The
 * JSON names other than `codigo_motivo_cancelamento` and `descricao_motivo_cancelamento` are ours.
 */
import { type SimpleType, T } from './layout/simple-types.ts';

/** One value of an enumerated field: the sent code, the stored integer, and the meaning. */
type OpcaoEvento = { readonly codigo: string; readonly valor: number; readonly descricao: string };

export type CampoEvento = {
  /** Property of the JSON body. */
  readonly nome: string;
  /** Element of the group `e101101`, `e105102`, … */
  readonly elemento: string;
  readonly obrigatorio: boolean;
  /** Also required if another field has this value. */
  readonly obrigatorioCom?: { readonly campo: string; readonly valor: string };
  readonly opcoes?: readonly OpcaoEvento[];
  readonly tipo: SimpleType;
  /** The meaning of the field, in Portuguese. */
  readonly sobre: string;
  /** A valid value, for the examples. */
  readonly exemplo: string;
};

/** The party of a note that is the author of an event. */
export type AutorEvento = 'prestador' | 'tomador' | 'intermediario';

export type TipoEvento = {
  readonly slug: string;
  readonly codigo: string;
  /** `xDesc`, letter for letter. */
  readonly descricao: string;
  /** The code of its refusal by the matrix. */
  readonly recusa: string;
  /** The party whose document is the author if the request names none. Undefined: the municipality's. */
  readonly autor: AutorEvento | undefined;
  /** Registered by office or by the system: not through the integrator's channel (E9016). */
  readonly porOficio: boolean;
  /** A processed event of this type makes the note `cancelada` (D-21). */
  readonly cancela: boolean;
  /** The national environment does not accept it from a municipality (E1818): it is valid here all the same (D-55). */
  readonly soAqui: boolean;
  /** The fields of the request besides author and type, in the order of the layout. */
  readonly campos: readonly CampoEvento[];
};

/** Values by code and meaning; the integer of a code is its digits. */
function opcoes(...values: readonly (readonly [codigo: string, descricao: string])[]): readonly OpcaoEvento[] {
  return values.map(([codigo, descricao]) => ({ codigo, valor: Number(codigo.replace('e', '')), descricao }));
}

const JUSTIFICATIVAS = opcoes(['1', 'Erro na Emissão'], ['2', 'Serviço não Prestado'], ['9', 'Outros']);

const JUSTIFICATIVAS_DE_SUBSTITUICAO = opcoes(
  ['01', 'Desenquadramento de NFS-e do Simples Nacional'],
  ['02', 'Enquadramento de NFS-e no Simples Nacional'],
  ['03', 'Inclusão Retroativa de Imunidade/Isenção para NFS-e'],
  ['04', 'Exclusão Retroativa de Imunidade/Isenção para NFS-e'],
  ['05', 'Rejeição de NFS-e pelo tomador ou pelo intermediário se responsável pelo recolhimento do tributo'],
  ['99', 'Outros'],
);

const MOTIVOS_DE_REJEICAO = opcoes(
  ['1', 'NFS-e em duplicidade'],
  ['2', 'NFS-e já emitida pelo tomador'],
  ['3', 'Não ocorrência do fato gerador'],
  ['4', 'Erro quanto a responsabilidade tributária'],
  ['5', 'Erro quanto ao valor do serviço, valor das deduções ou serviço prestado ou data do fato gerador'],
  ['9', 'Outros'],
);

/** Kinds of events that a block can exclude. */
const BLOQUEAVEIS = opcoes(
  ['e101101', 'Cancelamento de NFS-e'],
  ['e105102', 'Cancelamento de NFS-e por Substituição'],
  ['e105104', 'Cancelamento de NFS-e Deferido por Análise Fiscal'],
  ['e105105', 'Cancelamento de NFS-e Indeferido por Análise Fiscal'],
  ['e305101', 'Cancelamento de NFS-e por Ofício'],
);

/** The reason of an event as a code. */
function motivo(
  nome: string,
  values: readonly OpcaoEvento[],
  tipo: SimpleType,
  sobre: string,
  exemplo: string,
): CampoEvento {
  return { nome, elemento: 'cMotivo', obrigatorio: true, opcoes: values, tipo, sobre, exemplo };
}

/** The reason in words; `obrigatorioCom`: the condition, if it is not always required. */
function descricao(nome: string, exemplo: string, obrigatorioCom?: CampoEvento['obrigatorioCom']): CampoEvento {
  return {
    nome,
    elemento: 'xMotivo',
    tipo: T.xMotivo,
    sobre: 'O motivo em palavras, de 15 a 255 caracteres.',
    obrigatorio: obrigatorioCom === undefined,
    ...(obrigatorioCom && { obrigatorioCom }),
    exemplo,
  };
}

const CANCELAMENTO: readonly CampoEvento[] = [
  motivo('codigo_motivo_cancelamento', JUSTIFICATIVAS, T.cMotivoCanc, 'Por que a nota é cancelada.', '1'),
  descricao('descricao_motivo_cancelamento', 'Valor do serviço informado com erro na emissão'),
];

const SUBSTITUICAO: readonly CampoEvento[] = [
  motivo(
    'codigo_motivo_cancelamento',
    JUSTIFICATIVAS_DE_SUBSTITUICAO,
    T.cMotivoSubst,
    'Por que a nota é substituída; o mesmo de subst/cMotivo na DPS da substituta.',
    '99',
  ),
  descricao('descricao_motivo_cancelamento', 'Descrição do serviço corrigida na nota substituta', {
    campo: 'codigo_motivo_cancelamento',
    valor: '99',
  }),
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
  motivo('codigo_motivo_cancelamento', JUSTIFICATIVAS, T.cMotivoAnaliseFiscal, 'Por que se pede o cancelamento.', '2'),
  descricao('descricao_motivo_cancelamento', 'Serviço contratado que não chegou a ser prestado'),
];

const REJEICAO: readonly CampoEvento[] = [
  motivo('codigo_motivo_rejeicao', MOTIVOS_DE_REJEICAO, T.cMotivoRejeicao, 'Por que a parte rejeita a nota.', '3'),
  descricao('descricao_motivo_rejeicao', 'O serviço descrito na nota não foi contratado', {
    campo: 'codigo_motivo_rejeicao',
    valor: '9',
  }),
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
  sobre: 'Número do processo administrativo municipal, só dígitos.',
  exemplo: '20260001234',
};

function decisao(values: readonly OpcaoEvento[], tipo: SimpleType, exemplo: string): readonly CampoEvento[] {
  return [
    AGENTE,
    { ...PROCESSO, obrigatorio: false },
    motivo('codigo_motivo', values, tipo, 'A decisão sobre a solicitação de análise fiscal.', values[0]!.codigo),
    descricao('descricao_motivo', exemplo),
  ];
}

/** The declaration of a type: a type without an author is by office, and an absent flag is false. */
type Row = Pick<TipoEvento, 'slug' | 'codigo' | 'descricao' | 'recusa'> &
  Partial<Pick<TipoEvento, 'autor' | 'cancela' | 'soAqui' | 'campos'>>;

const ROWS: readonly Row[] = [
  {
    slug: 'cancelamento',
    codigo: '101101',
    descricao: 'Cancelamento de NFS-e',
    recusa: 'E0840',
    autor: 'prestador',
    cancela: true,
    campos: CANCELAMENTO,
  },
  {
    slug: 'cancelamento_por_substituicao',
    codigo: '105102',
    descricao: 'Cancelamento de NFS-e por Substituição',
    recusa: 'E0845',
    autor: 'prestador',
    cancela: true,
    campos: SUBSTITUICAO,
  },
  {
    slug: 'solicitacao_analise_fiscal_para_cancelamento',
    codigo: '101103',
    descricao: 'Solicitação de Análise Fiscal para Cancelamento de NFS-e',
    recusa: 'E0848',
    autor: 'prestador',
    campos: ANALISE_FISCAL,
  },
  {
    slug: 'cancelamento_deferido_por_analise_fiscal',
    codigo: '105104',
    descricao: 'Cancelamento de NFS-e Deferido por Análise Fiscal',
    recusa: 'E0852',
    cancela: true,
    campos: decisao(
      opcoes(['1', 'Cancelamento de NFS-e Deferido']),
      T.cMotivoDeferimento,
      'Comprovado que o serviço não foi prestado',
    ),
  },
  {
    slug: 'cancelamento_indeferido_por_analise_fiscal',
    codigo: '105105',
    descricao: 'Cancelamento de NFS-e Indeferido por Análise Fiscal',
    recusa: 'E0855',
    campos: decisao(
      opcoes(
        ['1', 'Cancelamento de NFS-e Indeferido'],
        ['2', 'Cancelamento de NFS-e Indeferido Sem Análise de Mérito'],
      ),
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
    soAqui: true,
  },
  {
    slug: 'confirmacao_tomador',
    codigo: '203202',
    descricao: 'Manifestação de NFS-e - Confirmação do Tomador',
    recusa: 'E0861',
    autor: 'tomador',
    soAqui: true,
  },
  {
    slug: 'confirmacao_intermediario',
    codigo: '204203',
    descricao: 'Manifestação de NFS-e - Confirmação do Intermediário',
    recusa: 'E0862',
    autor: 'intermediario',
    soAqui: true,
  },
  {
    slug: 'confirmacao_tacita',
    codigo: '205204',
    descricao: 'Manifestação de NFS-e - Confirmação Tácita',
    recusa: 'E0863',
  },
  {
    slug: 'rejeicao_prestador',
    codigo: '202205',
    descricao: 'Manifestação de NFS-e - Rejeição do Prestador',
    recusa: 'E0864',
    autor: 'prestador',
    soAqui: true,
    campos: REJEICAO,
  },
  {
    slug: 'rejeicao_tomador',
    codigo: '203206',
    descricao: 'Manifestação de NFS-e - Rejeição do Tomador',
    recusa: 'E0866',
    autor: 'tomador',
    soAqui: true,
    campos: REJEICAO,
  },
  {
    slug: 'rejeicao_intermediario',
    codigo: '204207',
    descricao: 'Manifestação de NFS-e - Rejeição do Intermediário',
    recusa: 'E0868',
    autor: 'intermediario',
    soAqui: true,
    campos: REJEICAO,
  },
  {
    slug: 'anulacao_rejeicao',
    codigo: '205208',
    descricao: 'Manifestação de NFS-e - Anulação da Rejeição',
    recusa: 'E0870',
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
      descricao('descricao_motivo', 'A rejeição foi registrada por quem não tinha poderes'),
    ],
  },
  {
    slug: 'cancelamento_por_oficio',
    codigo: '305101',
    descricao: 'Cancelamento de NFS-e por Ofício',
    recusa: 'E1960',
    cancela: true,
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
      descricao('descricao_motivo', 'Nota sob fiscalização até o fim do processo'),
    ],
  },
  {
    slug: 'desbloqueio_por_oficio',
    codigo: '305103',
    descricao: 'Desbloqueio de NFS-e por Ofício',
    recusa: 'E1970',
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
];

export const TIPOS_EVENTO: readonly TipoEvento[] = ROWS.map(
  ({ autor, cancela = false, soAqui = false, campos = [], ...row }) => ({
    ...row,
    autor,
    porOficio: autor === undefined,
    cancela,
    soAqui,
    campos,
  }),
);

const BY_SLUG: ReadonlyMap<string, TipoEvento> = new Map(TIPOS_EVENTO.map((tipo) => [tipo.slug, tipo]));
const BY_CODIGO: ReadonlyMap<string, TipoEvento> = new Map(TIPOS_EVENTO.map((tipo) => [tipo.codigo, tipo]));

/** The type of a slug, `cancelamento`; undefined if there is none. */
export function tipoBySlug(slug: string): TipoEvento | undefined {
  return BY_SLUG.get(slug);
}

/** The type of a national code, `101101`; undefined if there is none. */
export function tipoByCodigo(codigo: string): TipoEvento | undefined {
  return BY_CODIGO.get(codigo);
}

/** A request of a type in its sent form, with all its fields filled in. */
export function exemploDe({ slug, campos }: TipoEvento): Readonly<Record<string, string>> {
  return Object.fromEntries([['tipo_evento', slug], ...campos.map(({ nome, exemplo }) => [nome, exemplo])]);
}
