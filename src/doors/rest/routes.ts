/**
 * The route table of a municipality: the addresses, the inputs, the answers, and the flow of each, as the subjects announce them. The checks
 * of the door, the public description and the tests are derived from these rows.
 */
import type { Route } from '../../base/http/route.ts';
import { loadParts } from '../../subjects/subjects.ts';

/** The meaning of the path parameters. */
export const PARAMS = {
  municipio: 'Endereço do município neste serviço; integracao é o ambiente de integração.',
  chave_acesso: 'Chave de acesso da NFS-e, 50 posições.',
  numero_protocolo: 'Número de protocolo respondido na emissão.',
  documento: 'CNPJ ou CPF do prestador, sem máscara.',
  id_webhook: 'Identificador do endereço de aviso.',
  codigo_municipio: 'Código IBGE do município, 7 dígitos.',
  codigo_servico: 'Código do serviço, com ou sem pontos: 01.01.01.000, ou 6 dígitos.',
  competencia: 'Um dia: 2026-11-21.',
  numero_beneficio: 'Número do benefício municipal (nBM), 14 dígitos.',
  cadastro: 'Nome do cadastro, como prestadores.',
  persona: 'Identificador da persona, como mei.',
  cenario: 'Identificador do cenário.',
  id_requisicao: 'O X-Request-Id da requisição.',
  id_exportacao: 'Identificador da exportação.',
  tipo_evento: 'Tipo do evento: o nome, como cancelamento, ou o código nacional.',
  num_seq_evento: 'Sequência do evento entre os do seu tipo na nota, a partir de 1.',
  id: 'Identificador da DPS: DPS, município emissor (7), tipo de inscrição (1), inscrição (14), série (5) e número (15).',
} as const satisfies Readonly<Record<string, string>>;

export const ROUTES: readonly Route[] = (await loadParts(({ routes }) => routes)).flat();
