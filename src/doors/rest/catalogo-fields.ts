/** What is in the items of the catalogs, beside what `catalogos.ts` says of each field in words. */
import type { Incidencia } from '../../fiscal/catalogs/itens.ts';
import type { Paginacao } from '../../fiscal/catalogs/search.ts';
import type { CampoEvento } from '../../fiscal/tipos-evento.ts';
import { TIPOS_EVENTO } from '../../fiscal/tipos-evento.ts';
import { CAMPOS_DOS_ITENS } from './catalogos.ts';
import type { Field } from './field.ts';

type Kind = Omit<Field, 'about'>;

function told<Name extends string>(
  words: Readonly<Record<Name, string>>,
  kinds: Readonly<Record<NoInfer<Name>, Kind>>,
): Readonly<Record<Name, Field>> {
  const entries = Object.entries<string>(words).map(([name, about]) => [name, { ...kinds[name as Name], about }]);
  return Object.fromEntries(entries) as Record<Name, Field>;
}

const TEXT: Kind = { type: 'string' };
const TEXT_OR_NULL: Kind = { type: 'string', nullable: true };
const FLAG: Kind = { type: 'boolean' };
const GRUPO: Kind = { type: 'string', nullable: true };

const COMBINACAO = {
  cIndOp: { ...TEXT_OR_NULL, about: 'Indicador da operação; null quando o anexo não distingue.' },
  cClassTrib: { ...TEXT_OR_NULL, about: 'Classificação tributária; null quando o anexo não distingue.' },
  operacao_onerosa: {
    type: 'boolean',
    nullable: true,
    about: 'Só para a prestação onerosa, ou só para a que não é; null: para as duas.',
  },
  adquirente_no_exterior: {
    type: 'boolean',
    nullable: true,
    about: 'Só para o adquirente no exterior, ou só para o que não está; null: para os dois.',
  },
} as const satisfies Readonly<Record<string, Field>>;

export const CATALOGO_SHAPES = {
  Paginacao: {
    pagina_atual: { type: 'number', about: 'A página respondida.' },
    por_pagina: { type: 'number', about: 'Itens por página.' },
    total: { type: 'number', about: 'Itens encontrados, em todas as páginas.' },
    total_paginas: { type: 'number', about: 'Páginas que eles enchem.' },
  } satisfies Readonly<Record<keyof Paginacao, Field>>,
  ServicoMunicipal: told(CAMPOS_DOS_ITENS.codigos_tributacao_municipal, {
    codigo: TEXT,
    descricao: TEXT,
    cabe_em_cTribMun: FLAG,
    codigo_tributacao_nacional: TEXT,
    descricao_nacional: TEXT_OR_NULL,
    cnae_codigo: TEXT_OR_NULL,
    aliquota: { type: 'string', formato: 'decimal', nullable: true },
    inicio_vigencia: { type: 'string', formato: 'dia' },
    fim_vigencia: { type: 'string', formato: 'dia', nullable: true },
    vigente: FLAG,
    incidencia: { type: 'Incidencia', nullable: true },
    grupo_obrigatorio: GRUPO,
  }),
  ServicoNacional: told(CAMPOS_DOS_ITENS.codigos_tributacao_nacional, {
    codigo: TEXT,
    codigo_formatado: TEXT,
    descricao: TEXT,
    item: TEXT,
    descricao_item: TEXT_OR_NULL,
    subitem: TEXT,
    descricao_subitem: TEXT_OR_NULL,
    situacao: TEXT,
    incidencia: { type: 'Incidencia' },
    grupo_obrigatorio: GRUPO,
    correlacoes: { type: 'CorrelacaoDoServico[]' },
  }),
  Nbs: told(CAMPOS_DOS_ITENS.nbs, {
    codigo: TEXT,
    codigo_formatado: TEXT_OR_NULL,
    codigo_oficial: TEXT,
    descricao: TEXT_OR_NULL,
    secao: TEXT_OR_NULL,
    capitulo: TEXT,
    descricao_capitulo: TEXT_OR_NULL,
    correlacoes: { type: 'CorrelacaoDaNbs[]' },
  }),
  MunicipioIbge: told(CAMPOS_DOS_ITENS.municipios, { codigo_ibge: TEXT, nome: TEXT, uf: TEXT, fuso_horario: TEXT }),
  Pais: told(CAMPOS_DOS_ITENS.paises, {
    codigo: TEXT,
    nome: TEXT,
    aceito_no_exterior: FLAG,
    codigo_bacen: TEXT_OR_NULL,
  }),
  Moeda: told(CAMPOS_DOS_ITENS.moedas, {
    codigo: TEXT,
    sigla: TEXT,
    nome: TEXT,
    ativa: FLAG,
    observacao: TEXT_OR_NULL,
  }),
  MotivoEvento: told(CAMPOS_DOS_ITENS.motivos_evento, {
    tipo_evento: { type: 'string', values: TIPOS_EVENTO.map(({ slug }) => slug) },
    codigo_tipo_evento: { type: 'string', values: TIPOS_EVENTO.map(({ codigo }) => codigo) },
    descricao: TEXT,
    aceito_neste_canal: FLAG,
    observacao: TEXT_OR_NULL,
    autor_inferido: { type: 'string', nullable: true, values: ['prestador', 'tomador', 'intermediario'] },
    campos_obrigatorios: { type: 'string[]' },
    campos: { type: 'CampoDeEvento[]' },
    enums: { type: 'OpcoesPorCampo' },
    endpoint: { type: 'EnderecoDeEvento' },
    exemplo_payload: { type: 'ExemploDeEvento' },
    doc_url: { type: 'string', formato: 'endereco' },
  }),
  Incidencia: {
    regra: {
      type: 'string',
      values: ['EP', 'LP', 'ET', 'NI'],
      about:
        'EP estabelecimento do prestador, LP local da prestação, ET estabelecimento do tomador, NI sem incidência.',
    },
    descricao: { type: 'string', about: 'O mesmo em palavras.' },
    dispositivo_lc116: { type: 'string', nullable: true, about: 'Dispositivo da LC 116.' },
    publicada: { type: 'boolean', about: 'false: vale a regra geral, porque a tabela nacional não traz o código.' },
  } satisfies Readonly<Record<keyof Incidencia, Field>>,
  CorrelacaoDoServico: {
    nbs: { type: 'string', nullable: true, about: 'Código NBS; null quando o anexo não aponta um.' },
    descricao: { type: 'string', nullable: true, about: 'O que a NBS descreve, ou a nota do anexo.' },
    ibscbs: { type: 'CombinacaoIbsCbs[]', about: 'Combinações de cIndOp e cClassTrib.' },
  },
  CorrelacaoDaNbs: {
    subitem: { type: 'string', about: 'Subitem da LC 116: 01.01.' },
    cTribNac: { type: 'string[]', about: 'Códigos do subitem que se emitem.' },
    ibscbs: { type: 'CombinacaoDaNbs[]', about: 'Combinações de cIndOp e cClassTrib.' },
  },
  CombinacaoIbsCbs: COMBINACAO,
  CombinacaoDaNbs: {
    ...COMBINACAO,
    local_da_operacao: { type: 'string', nullable: true, about: 'Onde a operação se considera feita, por cIndOp.' },
    classificacao: { type: 'string', nullable: true, about: 'Nome da classificação tributária.' },
  },
  CampoDeEvento: {
    nome: { type: 'string', about: 'Propriedade da requisição.' },
    elemento: { type: 'string', about: 'Elemento do leiaute do evento.' },
    obrigatorio: { type: 'boolean', about: 'Se a requisição o tem de trazer.' },
    obrigatorio_com: {
      type: 'ObrigatorioCom',
      nullable: true,
      about: 'Valor de outro campo que o torna obrigatório, ou null.',
    },
    descricao: { type: 'string', about: 'O que é.' },
  },
  ObrigatorioCom: {
    campo: { type: 'string', about: 'O outro campo.' },
    valor: { type: 'string', about: 'O valor dele.' },
  } satisfies Readonly<Record<keyof NonNullable<CampoEvento['obrigatorioCom']>, Field>>,
  OpcoesPorCampo: 'objeto',
  EnderecoDeEvento: {
    metodo: { type: 'string', values: ['POST'], about: 'Método HTTP.' },
    url_por_chave: { type: 'string', about: 'Endereço pela chave de acesso.' },
    url_por_protocolo: { type: 'string', about: 'Endereço pelo número de protocolo.' },
    content_type: { type: 'string', values: ['application/json'], about: 'Content-Type da requisição.' },
    cabecalho_da_assinatura: { type: 'string', about: 'Cabeçalho em que vai a assinatura.' },
  },
  ExemploDeEvento: 'objeto',
} as const;
