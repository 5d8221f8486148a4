/** The fields of the items of the catalogs. */
import type { Incidencia, ItemNacional } from '../../fiscal/catalogs/itens.ts';
import type { Paginacao } from '../../fiscal/catalogs/search.ts';
import { TIPOS_EVENTO } from '../../fiscal/tipos-evento.ts';
import { type FieldsOf, field, orNull } from '../../published/openapi/field.ts';
import type { MotivoItem } from './catalogos.rest.ts';
import type { ServicoMunicipalItem } from './catalogos.ts';

type CorrelacaoDoServico = ItemNacional['codigos_tributacao_nacional']['correlacoes'][number];
type CorrelacaoDaNbs = ItemNacional['nbs']['correlacoes'][number];
type CampoDeEvento = MotivoItem['campos'][number];

const COMBINACAO = {
  cIndOp: orNull(field.text('Indicador da operação; null quando o anexo não distingue.')),
  cClassTrib: orNull(field.text('Classificação tributária; null quando o anexo não distingue.')),
  operacao_onerosa: orNull(field.flag('Só para a prestação onerosa, ou só para a que não é; null: para as duas.')),
  adquirente_no_exterior: orNull(
    field.flag('Só para o adquirente no exterior, ou só para o que não está; null: para os dois.'),
  ),
} satisfies FieldsOf<CorrelacaoDoServico['ibscbs'][number]>;

const INCIDENCIA = field.shape(
  'Incidencia',
  'Onde o ISSQN é devido: regra (EP, LP, ET, NI), descricao, dispositivo_lc116, publicada.',
);
const GRUPO = orNull(field.text('Grupo que a DPS deste serviço tem de trazer: obra, atvEvento, ou null.'));

export const CATALOGO_SHAPES = {
  Paginacao: {
    pagina_atual: field.integer('A página respondida.'),
    por_pagina: field.integer('Itens por página.'),
    total: field.integer('Itens encontrados, em todas as páginas.'),
    total_paginas: field.integer('Páginas que eles enchem.'),
  } satisfies FieldsOf<Paginacao>,
  ServicoMunicipal: {
    codigo: field.text('O valor de cServ/cTribMun.'),
    descricao: field.text('O serviço, como o município o descreve.'),
    cabe_em_cTribMun: field.flag('false: o código não tem os 3 dígitos de cTribMun e não se envia na DPS.'),
    codigo_tributacao_nacional: field.text('O cTribNac a que o serviço pertence.'),
    descricao_nacional: orNull(field.text('A descrição dele na lista nacional.')),
    cnae_codigo: orNull(field.text('CNAE, 7 dígitos, ou null.')),
    aliquota: orNull(field.amount('Alíquota do ISSQN registrada, em percentual; null: vale a da DPS.')),
    inicio_vigencia: field.day('Primeiro dia em que a linha vale, AAAA-MM-DD.'),
    fim_vigencia: orNull(field.day('Último dia; null enquanto não tem fim.')),
    vigente: field.flag('Se vale hoje; false: começa depois.'),
    incidencia: orNull(INCIDENCIA),
    grupo_obrigatorio: GRUPO,
  } satisfies FieldsOf<ServicoMunicipalItem>,
  ServicoNacional: {
    codigo: field.text('O valor de cTribNac, 6 dígitos.'),
    codigo_formatado: field.text('O mesmo com pontos: 01.01.01.'),
    descricao: field.text('O serviço.'),
    item: field.text('Item da LC 116, 2 dígitos.'),
    descricao_item: orNull(field.text('Título do item.')),
    subitem: field.text('Subitem da LC 116: 01.01.'),
    descricao_subitem: orNull(field.text('Título do subitem.')),
    situacao: field.text('vigente. As fontes nacionais não publicam datas de vigência destes códigos.'),
    incidencia: INCIDENCIA,
    grupo_obrigatorio: GRUPO,
    correlacoes: field.shape(
      'CorrelacaoDoServico[]',
      'NBS que o Anexo VIII põe ao lado do subitem: nbs, descricao e, em ibscbs, cada combinação de cIndOp, cClassTrib, operacao_onerosa e adquirente_no_exterior. Sugestão, nunca recusa.',
    ),
  } satisfies FieldsOf<ItemNacional['codigos_tributacao_nacional']>,
  Nbs: {
    codigo: field.text('O valor de cNBS, 9 dígitos.'),
    codigo_formatado: orNull(field.text('O mesmo na forma XX.XX.XX.XX-X.')),
    codigo_oficial: field.text('A grafia oficial: 1.1502.10.00.'),
    descricao: orNull(field.text('O serviço.')),
    secao: orNull(field.text('Seção da NBS, de I a V.')),
    capitulo: field.text('Capítulo, 3 dígitos.'),
    descricao_capitulo: orNull(field.text('Título do capítulo.')),
    correlacoes: field.shape(
      'CorrelacaoDaNbs[]',
      'Serviços que o Anexo VIII põe ao lado desta NBS: subitem, cTribNac (os códigos dele) e, em ibscbs, cada combinação de cIndOp e cClassTrib com o seu sentido. Sugestão, nunca recusa.',
    ),
  } satisfies FieldsOf<ItemNacional['nbs']>,
  MunicipioIbge: {
    codigo_ibge: field.text('Código IBGE, 7 dígitos.'),
    nome: field.text('Nome.'),
    uf: field.text('Sigla do estado.'),
    fuso_horario: field.text('Fuso da base IANA, que é o das datas das suas notas.'),
  } satisfies FieldsOf<ItemNacional['municipios']>,
  Pais: {
    codigo: field.text('O valor de cPais, ISO 3166-1 de duas letras.'),
    nome: field.text('Nome.'),
    aceito_no_exterior: field.flag('Se serve num endereço no exterior; false para BR e ZZ.'),
    codigo_bacen: orNull(field.text('Código do Banco Central, que a DPS não usa; null onde as fontes divergem.')),
  } satisfies FieldsOf<ItemNacional['paises']>,
  Moeda: {
    codigo: field.text('O valor de tpMoeda, 3 dígitos; não é o da ISO 4217.'),
    sigla: field.text('Sigla de três letras.'),
    nome: field.text('Nome.'),
    ativa: field.flag('false para a que deixou de circular.'),
    observacao: orNull(field.text('O que se sabe da que saiu de uso ou está em dúvida, ou null.')),
  } satisfies FieldsOf<ItemNacional['moedas']>,
  MotivoEvento: {
    tipo_evento: field.choice(
      TIPOS_EVENTO.map(({ slug }) => slug),
      'Nome do tipo, o valor de tipo_evento na requisição.',
    ),
    codigo_tipo_evento: field.choice(
      TIPOS_EVENTO.map(({ codigo }) => codigo),
      'Código nacional, 6 dígitos.',
    ),
    descricao: field.text('Nome nacional do tipo.'),
    aceito_neste_canal: field.flag('false: só a prefeitura o registra (E9016).'),
    observacao: orNull(field.text('Por que não é aceito neste canal, ou null.')),
    autor_inferido: orNull(
      field.choice(
        ['prestador', 'tomador', 'intermediario'],
        'A parte da nota cujo documento vale quando a requisição não traz autor, ou null.',
      ),
    ),
    campos_obrigatorios: field.texts('Campos sem os quais a requisição é recusada.'),
    campos: field.shape(
      'CampoDeEvento[]',
      'Todos os campos do tipo: nome, elemento do leiaute, obrigatorio, obrigatorio_com e descricao.',
    ),
    enums: field.shape(
      'OpcoesPorCampo',
      'Por campo, as opções: codigo (o que se envia), valor (o inteiro gravado) e descricao.',
    ),
    endpoint: orNull(
      field.shape(
        'EnderecoDeEvento',
        'metodo, url_por_chave, url_por_protocolo, content_type e cabecalho_da_assinatura; null de um tipo que este canal não recebe.',
      ),
    ),
    exemplo_payload: field.shape('ExemploDeEvento', 'Uma requisição do tipo, com todos os campos.'),
    doc_url: field.address('Onde se lê sobre eventos.'),
  } satisfies FieldsOf<MotivoItem>,
  Incidencia: {
    regra: field.choice(
      ['EP', 'LP', 'ET', 'NI'],
      'EP estabelecimento do prestador, LP local da prestação, ET estabelecimento do tomador, NI sem incidência.',
    ),
    descricao: field.text('O mesmo em palavras.'),
    dispositivo_lc116: orNull(field.text('Dispositivo da LC 116.')),
    publicada: field.flag('false: vale a regra geral, porque a tabela nacional não traz o código.'),
  } satisfies FieldsOf<Incidencia>,
  CorrelacaoDoServico: {
    nbs: orNull(field.text('Código NBS; null quando o anexo não aponta um.')),
    descricao: orNull(field.text('O que a NBS descreve, ou a nota do anexo.')),
    ibscbs: field.shape('CombinacaoIbsCbs[]', 'Combinações de cIndOp e cClassTrib.'),
  } satisfies FieldsOf<CorrelacaoDoServico>,
  CorrelacaoDaNbs: {
    subitem: field.text('Subitem da LC 116: 01.01.'),
    cTribNac: field.texts('Códigos do subitem que se emitem.'),
    ibscbs: field.shape('CombinacaoDaNbs[]', 'Combinações de cIndOp e cClassTrib.'),
  } satisfies FieldsOf<CorrelacaoDaNbs>,
  CombinacaoIbsCbs: COMBINACAO,
  CombinacaoDaNbs: {
    ...COMBINACAO,
    local_da_operacao: orNull(field.text('Onde a operação se considera feita, por cIndOp.')),
    classificacao: orNull(field.text('Nome da classificação tributária.')),
  } satisfies FieldsOf<CorrelacaoDaNbs['ibscbs'][number]>,
  CampoDeEvento: {
    nome: field.text('Propriedade da requisição.'),
    elemento: field.text('Elemento do leiaute do evento.'),
    obrigatorio: field.flag('Se a requisição o tem de trazer.'),
    obrigatorio_com: orNull(field.shape('ObrigatorioCom', 'Valor de outro campo que o torna obrigatório, ou null.')),
    descricao: field.text('O que é.'),
  } satisfies FieldsOf<CampoDeEvento>,
  ObrigatorioCom: {
    campo: field.text('O outro campo.'),
    valor: field.text('O valor dele.'),
  } satisfies FieldsOf<NonNullable<CampoDeEvento['obrigatorio_com']>>,
  OpcoesPorCampo: 'objeto',
  EnderecoDeEvento: {
    metodo: field.choice(['POST'], 'Método HTTP.'),
    url_por_chave: field.text('Endereço pela chave de acesso.'),
    url_por_protocolo: field.text('Endereço pelo número de protocolo.'),
    content_type: field.choice(['application/json'], 'Content-Type da requisição.'),
    cabecalho_da_assinatura: field.text('Cabeçalho em que vai a assinatura.'),
  } satisfies FieldsOf<NonNullable<MotivoItem['endpoint']>>,
  ExemploDeEvento: 'objeto',
} as const;
