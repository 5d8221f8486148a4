/** The fields of a nota and of its protocolo in the answers; `./queries.ts` fills them. */
import { DEFAULT_SERIE, DPS_VERSAO } from '../../fiscal/layout/dps.ts';
import { CODIGOS_SITUACAO, NOTA_ESTADOS } from '../../fiscal/nota.ts';
import { type FieldsOf, field, orNull } from '../../published/openapi/field.ts';
import type { Nota, Protocolo } from './queries.ts';

const ESTADOS = Object.values(NOTA_ESTADOS);

function onceEach<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)];
}

export const NOTA_SEM_XML = {
  id: field.integer('Identificador da nota neste serviço.'),
  numero: orNull(
    field.text('Número sequencial da NFS-e (nNFSe), em texto: o de numero_dps, a partir da autorização; null até lá.'),
  ),
  serie_dps: field.text(`Série da DPS: a enviada, ou ${DEFAULT_SERIE}.`),
  numero_dps: field.integer(
    'Apesar do nome, o número sequencial da NFS-e (nNFSe). O número da própria DPS está em numero_dps_nacional.',
  ),
  serie_dps_nacional: orNull(
    field.text(`Série da DPS como foi ao ADN: a enviada, ou ${DEFAULT_SERIE}; null até o envio.`),
  ),
  numero_dps_nacional: orNull(
    field.text(
      'O número da própria DPS (nDPS) como foi ao ADN: o enviado, ou o que o serviço lhe deu; é o da consulta por DPS. Null até o envio.',
    ),
  ),
  chave_acesso: field.accessKey('Chave de acesso da NFS-e.'),
  identificador: field.text('Identificador de infNFSe: NFS e a chave de acesso.'),
  status: field.choice(
    onceEach(ESTADOS.map(({ status }) => status)),
    'rascunho até a autorização, e também da nota que o ADN recusou (protocolo.status diz qual).',
  ),
  versao: field.text(`Versão do leiaute: ${DPS_VERSAO}.`),
  data_emissao: field.spacedMoment('Quando foi emitida, no fuso do município.'),
  data_competencia: { type: 'string', formato: 'dia_brasileiro', about: 'Competência.' },
  codigo_situacao_nfse: {
    type: 'number',
    nullable: true,
    values: Object.values(CODIGOS_SITUACAO),
    about: `cStat da NFS-e: ${CODIGOS_SITUACAO.gerada}, ou ${CODIGOS_SITUACAO.mei} a de um MEI; null até a autorização.`,
  },
  prestador_cpf_cnpj: field.text('CNPJ ou CPF do prestador, sem pontuação.'),
  prestador_razao_social: field.text('Nome do prestador.'),
  prestador_inscricao_municipal: orNull(field.text('Inscrição municipal do prestador.')),
  tomador_cpf_cnpj: orNull(field.text('CNPJ ou CPF do tomador; null quando não tem.')),
  tomador_razao_social: orNull(field.text('Nome do tomador; null sem tomador.')),
  valor_servico: field.amount('Preço do serviço.'),
  valor_issqn: field.amount('ISSQN; 0.00 quando não consta da nota.'),
  valor_base_calculo: field.amount('Base do ISSQN; 0.00 quando não consta da nota.'),
  aliquota_issqn: field.amount('Alíquota em percentual; 0.00 quando não consta.'),
} as const satisfies FieldsOf<Omit<Nota, 'xml_nota'>>;

const NOTA = {
  ...NOTA_SEM_XML,
  xml_nota: { type: 'string', formato: 'xml', about: 'A NFS-e autorizada; até a autorização, a DPS recebida.' },
} as const satisfies FieldsOf<Nota>;

export const NOTA_SHAPES = {
  Nota: NOTA,
  NotaComCancelamento: {
    ...NOTA,
    data_cancelamento: orNull(field.spacedMoment('Quando foi cancelada; null enquanto não foi.')),
  },
  Protocolo: {
    numero_protocolo: field.text('Número de protocolo da nota.'),
    status: field.choice(onceEach(ESTADOS.map(({ protocolo }) => protocolo)), 'Andamento no ADN.'),
    acao_sugerida: orNull(
      field.choice(
        ['aguardar'],
        'aguardar enquanto a nota muda por si, e também da que espera a publicação de uma alíquota; null depois.',
      ),
    ),
    proxima_consulta: orNull(
      field.spacedMoment(
        'Quando vale a pena perguntar de novo; null quando a nota não muda mais por si. Retry-After diz o mesmo em segundos.',
      ),
    ),
    mensagem_retorno: orNull(
      field.text('O que o ADN disse, ou por que a nota espera sem ser enviada; null quando não há o que dizer.'),
    ),
    data_protocolo: field.spacedMoment('Quando a nota foi recebida.'),
    chave_acesso: field.accessKey('Chave de acesso da NFS-e.'),
  } satisfies FieldsOf<Protocolo>,
} as const;
