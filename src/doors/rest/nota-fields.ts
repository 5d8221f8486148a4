/** What is in a nota and in its protocolo as they are answered; what they hold is decided in `../../flows/queries.ts`. */
import { DEFAULT_SERIE } from '../../fiscal/layout/dps.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import type { Nota, Protocolo } from '../../flows/queries.ts';
import type { Field } from '../../published/openapi/field.ts';

const ESTADOS = Object.values(NOTA_ESTADOS);

function onceEach<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)];
}

const NOTA = {
  id: { type: 'number', about: 'Identificador da nota neste serviço.' },
  numero: {
    type: 'string',
    nullable: true,
    about: 'Número sequencial da NFS-e (nNFSe), em texto: o de numero_dps, a partir da autorização; null até lá.',
  },
  serie_dps: { type: 'string', about: `Série da DPS: a enviada, ou ${DEFAULT_SERIE}.` },
  numero_dps: {
    type: 'number',
    about: 'Apesar do nome, o número sequencial da NFS-e (nNFSe). O número da própria DPS está em numero_dps_nacional.',
  },
  serie_dps_nacional: {
    type: 'string',
    nullable: true,
    about: `Série da DPS como foi ao ADN: a enviada, ou ${DEFAULT_SERIE}; null até o envio.`,
  },
  numero_dps_nacional: {
    type: 'string',
    nullable: true,
    about:
      'O número da própria DPS (nDPS) como foi ao ADN: o enviado, ou o que o serviço lhe deu; é o da consulta por DPS. Null até o envio.',
  },
  chave_acesso: { type: 'string', formato: 'chave', about: 'Chave de acesso da NFS-e.' },
  identificador: { type: 'string', about: 'Identificador de infNFSe: NFS e a chave de acesso.' },
  status: {
    type: 'string',
    values: onceEach(ESTADOS.map(({ status }) => status)),
    about: 'rascunho até a autorização, e também da nota que o ADN recusou (protocolo.status diz qual).',
  },
  versao: { type: 'string', about: 'Versão do leiaute: 1.01.' },
  data_emissao: { type: 'string', formato: 'momento_espacado', about: 'Quando foi emitida, no fuso do município.' },
  data_competencia: { type: 'string', formato: 'dia_brasileiro', about: 'Competência.' },
  codigo_situacao_nfse: { type: 'number', nullable: true, values: [100], about: 'cStat; null até a autorização.' },
  prestador_cpf_cnpj: { type: 'string', about: 'CNPJ ou CPF do prestador, sem pontuação.' },
  prestador_razao_social: { type: 'string', about: 'Nome do prestador.' },
  prestador_inscricao_municipal: { type: 'string', nullable: true, about: 'Inscrição municipal do prestador.' },
  tomador_cpf_cnpj: { type: 'string', nullable: true, about: 'CNPJ ou CPF do tomador; null quando não tem.' },
  tomador_razao_social: { type: 'string', nullable: true, about: 'Nome do tomador; null sem tomador.' },
  valor_servico: { type: 'string', formato: 'decimal', about: 'Preço do serviço.' },
  valor_issqn: { type: 'string', formato: 'decimal', about: 'ISSQN; 0.00 quando não consta da nota.' },
  valor_base_calculo: { type: 'string', formato: 'decimal', about: 'Base do ISSQN; 0.00 quando não consta da nota.' },
  aliquota_issqn: { type: 'string', formato: 'decimal', about: 'Alíquota em percentual; 0.00 quando não consta.' },
  xml_nota: { type: 'string', formato: 'xml', about: 'A NFS-e autorizada; até a autorização, a DPS recebida.' },
} as const satisfies Readonly<Record<keyof Nota, Field>>;

export const NOTA_SHAPES = {
  Nota: NOTA,
  NotaComCancelamento: {
    ...NOTA,
    data_cancelamento: {
      type: 'string',
      formato: 'momento_espacado',
      nullable: true,
      about: 'Quando foi cancelada; null enquanto não foi.',
    },
  },
  Protocolo: {
    numero_protocolo: { type: 'string', about: 'Número de protocolo da nota.' },
    status: { type: 'string', values: onceEach(ESTADOS.map(({ protocolo }) => protocolo)), about: 'Andamento no ADN.' },
    acao_sugerida: {
      type: 'string',
      nullable: true,
      values: ['aguardar'],
      about: 'aguardar enquanto a nota muda por si, e também da que espera a publicação de uma alíquota; null depois.',
    },
    proxima_consulta: {
      type: 'string',
      formato: 'momento_espacado',
      nullable: true,
      about:
        'Quando vale a pena perguntar de novo; null quando a nota não muda mais por si. Retry-After diz o mesmo em segundos.',
    },
    mensagem_retorno: {
      type: 'string',
      nullable: true,
      about: 'O que o ADN disse, ou por que a nota espera sem ser enviada; null quando não há o que dizer.',
    },
    data_protocolo: { type: 'string', formato: 'momento_espacado', about: 'Quando a nota foi recebida.' },
    chave_acesso: { type: 'string', formato: 'chave', about: 'Chave de acesso da NFS-e.' },
  } satisfies Readonly<Record<keyof Protocolo, Field>>,
} as const;
