/** What is in the items of the catalogs: of each field its kind, and what it says. */
import type { Incidencia } from '../../fiscal/catalogs/itens.ts';
import type { Paginacao } from '../../fiscal/catalogs/search.ts';
import type { CampoEvento } from '../../fiscal/tipos-evento.ts';
import { TIPOS_EVENTO } from '../../fiscal/tipos-evento.ts';
import type { ServicoMunicipalItem } from '../../flows/catalogos.ts';
import type { Field, Fields } from '../../published/openapi/field.ts';
import type { MotivoItem } from './catalogos.ts';

type Kind = Omit<Field, 'about'>;

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
  ServicoMunicipal: {
    codigo: { ...TEXT, about: 'O valor de cServ/cTribMun.' },
    descricao: { ...TEXT, about: 'O serviço, como o município o descreve.' },
    cabe_em_cTribMun: { ...FLAG, about: 'false: o código não tem os 3 algarismos de cTribMun e não se envia na DPS.' },
    codigo_tributacao_nacional: { ...TEXT, about: 'O cTribNac a que o serviço pertence.' },
    descricao_nacional: { ...TEXT_OR_NULL, about: 'A descrição dele na lista nacional.' },
    cnae_codigo: { ...TEXT_OR_NULL, about: 'CNAE, 7 algarismos, ou null.' },
    aliquota: {
      type: 'string',
      formato: 'decimal',
      nullable: true,
      about: 'Alíquota do ISSQN registrada, em percentual; null: vale a da DPS.',
    },
    inicio_vigencia: { type: 'string', formato: 'dia', about: 'Primeiro dia em que a linha vale, AAAA-MM-DD.' },
    fim_vigencia: { type: 'string', formato: 'dia', nullable: true, about: 'Último dia; null enquanto não tem fim.' },
    vigente: { ...FLAG, about: 'Se vale hoje; false: começa depois.' },
    incidencia: {
      type: 'Incidencia',
      nullable: true,
      about: 'Onde o ISSQN é devido: regra (EP, LP, ET, NI), descricao, dispositivo_lc116, publicada.',
    },
    grupo_obrigatorio: { ...GRUPO, about: 'Grupo que a DPS deste serviço tem de trazer: obra, atvEvento, ou null.' },
  } satisfies Readonly<Record<keyof ServicoMunicipalItem, Field>>,
  ServicoNacional: {
    codigo: { ...TEXT, about: 'O valor de cTribNac, 6 algarismos.' },
    codigo_formatado: { ...TEXT, about: 'O mesmo com pontos: 01.01.01.' },
    descricao: { ...TEXT, about: 'O serviço.' },
    item: { ...TEXT, about: 'Item da LC 116, 2 algarismos.' },
    descricao_item: { ...TEXT_OR_NULL, about: 'Título do item.' },
    subitem: { ...TEXT, about: 'Subitem da LC 116: 01.01.' },
    descricao_subitem: { ...TEXT_OR_NULL, about: 'Título do subitem.' },
    situacao: { ...TEXT, about: 'vigente. As fontes nacionais não publicam datas de vigência destes códigos.' },
    incidencia: {
      type: 'Incidencia',
      about: 'Onde o ISSQN é devido: regra (EP, LP, ET, NI), descricao, dispositivo_lc116, publicada.',
    },
    grupo_obrigatorio: { ...GRUPO, about: 'Grupo que a DPS deste serviço tem de trazer: obra, atvEvento, ou null.' },
    correlacoes: {
      type: 'CorrelacaoDoServico[]',
      about:
        'NBS que o Anexo VIII põe ao lado do subitem: nbs, descricao e, em ibscbs, cada combinação de cIndOp, cClassTrib, operacao_onerosa e adquirente_no_exterior. Sugestão, nunca recusa.',
    },
  } satisfies Fields,
  Nbs: {
    codigo: { ...TEXT, about: 'O valor de cNBS, 9 algarismos.' },
    codigo_formatado: { ...TEXT_OR_NULL, about: 'O mesmo na forma XX.XX.XX.XX-X.' },
    codigo_oficial: { ...TEXT, about: 'A grafia oficial: 1.1502.10.00.' },
    descricao: { ...TEXT_OR_NULL, about: 'O serviço.' },
    secao: { ...TEXT_OR_NULL, about: 'Seção da NBS, de I a V.' },
    capitulo: { ...TEXT, about: 'Capítulo, 3 algarismos.' },
    descricao_capitulo: { ...TEXT_OR_NULL, about: 'Título do capítulo.' },
    correlacoes: {
      type: 'CorrelacaoDaNbs[]',
      about:
        'Serviços que o Anexo VIII põe ao lado desta NBS: subitem, cTribNac (os códigos dele) e, em ibscbs, cada combinação de cIndOp e cClassTrib com o seu sentido. Sugestão, nunca recusa.',
    },
  } satisfies Fields,
  MunicipioIbge: {
    codigo_ibge: { ...TEXT, about: 'Código IBGE, 7 algarismos.' },
    nome: { ...TEXT, about: 'Nome.' },
    uf: { ...TEXT, about: 'Sigla do estado.' },
    fuso_horario: { ...TEXT, about: 'Fuso da base IANA, que é o das datas das suas notas.' },
  } satisfies Fields,
  Pais: {
    codigo: { ...TEXT, about: 'O valor de cPais, ISO 3166-1 de duas letras.' },
    nome: { ...TEXT, about: 'Nome.' },
    aceito_no_exterior: { ...FLAG, about: 'Se serve num endereço no exterior; false para BR e ZZ.' },
    codigo_bacen: {
      ...TEXT_OR_NULL,
      about: 'Código do Banco Central, que a DPS não usa; null onde as fontes divergem.',
    },
  } satisfies Fields,
  Moeda: {
    codigo: { ...TEXT, about: 'O valor de tpMoeda, 3 algarismos; não é o da ISO 4217.' },
    sigla: { ...TEXT, about: 'Sigla de três letras.' },
    nome: { ...TEXT, about: 'Nome.' },
    ativa: { ...FLAG, about: 'false para a que deixou de circular.' },
    observacao: { ...TEXT_OR_NULL, about: 'O que se sabe da que saiu de uso ou está em dúvida, ou null.' },
  } satisfies Fields,
  MotivoEvento: {
    tipo_evento: {
      type: 'string',
      values: TIPOS_EVENTO.map(({ slug }) => slug),
      about: 'Nome do tipo, o valor de tipo_evento na requisição.',
    },
    codigo_tipo_evento: {
      type: 'string',
      values: TIPOS_EVENTO.map(({ codigo }) => codigo),
      about: 'Código nacional, 6 algarismos.',
    },
    descricao: { ...TEXT, about: 'Nome nacional do tipo.' },
    aceito_neste_canal: { ...FLAG, about: 'false: só a prefeitura o registra (E9016).' },
    observacao: { ...TEXT_OR_NULL, about: 'Por que não é aceito neste canal, ou null.' },
    autor_inferido: {
      type: 'string',
      nullable: true,
      values: ['prestador', 'tomador', 'intermediario'],
      about: 'A parte da nota cujo documento vale quando a requisição não traz autor, ou null.',
    },
    campos_obrigatorios: { type: 'string[]', about: 'Campos sem os quais a requisição é recusada.' },
    campos: {
      type: 'CampoDeEvento[]',
      about: 'Todos os campos do tipo: nome, elemento do leiaute, obrigatorio, obrigatorio_com e descricao.',
    },
    enums: {
      type: 'OpcoesPorCampo',
      about: 'Por campo, as opções: codigo (o que se envia), valor (o inteiro gravado) e descricao.',
    },
    endpoint: {
      type: 'EnderecoDeEvento',
      nullable: true,
      about:
        'metodo, url_por_chave, url_por_protocolo, content_type e cabecalho_da_assinatura; null de um tipo que este canal não recebe.',
    },
    exemplo_payload: { type: 'ExemploDeEvento', about: 'Uma requisição do tipo, com todos os campos.' },
    doc_url: { type: 'string', formato: 'endereco', about: 'Onde se lê sobre eventos.' },
  } satisfies Readonly<Record<keyof MotivoItem, Field>>,
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
