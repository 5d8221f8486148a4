/**
 * The route table of a municipality: the addresses, the inputs, the answers, and the flow of each. The addresses, the checks of the door,
 * the public description and the tests are derived from these rows.
 *
 * The rows do not know how an answer is written: headers of every answer, the envelope and the log stand elsewhere.
 */

import { ESPERA_MAX_S } from '../../base/http/espera.ts';
import { defineRoute, type Route } from '../../base/http/route.ts';
import { REPEATED_HEADER } from '../../base/world/idempotency.ts';
import { DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER } from '../../base/world/sent-documents.ts';
import { CODIGOS_DE_OFICIO } from '../../fiscal/conflitos-evento.ts';
import { EVENTOS } from '../../fiscal/errors/eventos.ts';
import { VERSOES } from '../../fiscal/layout/layouts.ts';
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import { field, orAbsent, orNull } from '../../published/openapi/field.ts';
import { RATE_LIMIT_HEADERS } from '../../published/openapi/headers.ts';
import { VERIFICACAO_FIELDS, verifySignature } from '../../subjects/assinatura/verificacao.rest.ts';
import { ROTAS_DE_WEBHOOKS } from '../../subjects/avisos/webhooks.rest.ts';
import { CATALOGOS, MOTIVOS, PAGINA_PARAMS, PAGINACAO_FIELD } from '../../subjects/cadastros/catalogos.rest.ts';
import { ROTAS_DE_AMBIENTES } from '../../subjects/ensaios/ambientes.rest.ts';
import {
  EVENTO_FIELDS,
  EVENTOS_PATH,
  listAll,
  listOfTipo,
  postByChave,
  postByProtocolo,
  showOne,
} from '../../subjects/eventos/eventos.rest.ts';
import { DEPRECATION, showDanfse } from '../../subjects/notas/danfse.rest.ts';
import {
  askWhetherIssued,
  ISSUE_PATH,
  issue,
  queryByChave,
  queryByDps,
  queryByProtocolo,
  refuseLayout100,
} from '../../subjects/notas/notas.rest.ts';
import { querySituacao, SITUACAO_FIELDS } from '../../subjects/notas/situacao.rest.ts';
import { VALIDACAO_FIELDS, validate } from '../../subjects/notas/validacao.rest.ts';
import { ROTAS_DE_EXPORTACOES } from '../../subjects/partes/exportacoes.rest.ts';
import { ROTAS_DA_PARTE } from '../../subjects/partes/rotas.rest.ts';

/** The meaning of the path parameters. */
export const PARAMS = {
  municipio: 'Endereço do município neste serviço; integracao é o ambiente de integração.',
  chave_acesso: 'Chave de acesso da NFS-e, 50 posições.',
  numero_protocolo: 'Número de protocolo respondido na emissão.',
  documento: 'CNPJ ou CPF do prestador, sem máscara.',
  id_webhook: 'Identificador do endereço de aviso.',
  cadastro: 'Nome do cadastro, como prestadores.',
  persona: 'Identificador da persona, como mei.',
  cenario: 'Identificador do cenário.',
  id_requisicao: 'O X-Request-Id da requisição.',
  id_exportacao: 'Identificador da exportação.',
  tipo_evento: 'Tipo do evento: o nome, como cancelamento, ou o código nacional.',
  num_seq_evento: 'Sequência do evento entre os do seu tipo na nota, a partir de 1.',
  id: 'Identificador da DPS: DPS, município emissor (7), tipo de inscrição (1), inscrição (14), série (5) e número (15).',
} as const satisfies Readonly<Record<string, string>>;

const STATUS = field.text('OK em toda resposta de sucesso.');
const CHAVE = field.text('Chave de acesso da NFS-e; não muda mais.');
const NUMERO_PROTOCOLO = field.text('Segundo identificador da nota, estável.');
const PROVISORIA = field.flag(
  'true enquanto o ADN não autorizou a nota. O valor da chave é definitivo nos dois casos.',
);
const NOTA = field.shape('Nota', 'A nota.');
const TOTAL = field.integer('Quantos são.');
const EVENTOS_FIELD = field.shape('Evento[]', 'Os eventos.');
const PROTOCOLO = field.shape('Protocolo', 'O protocolo da nota.');

const SEM_LISTA = orNull(
  field.text(
    'De um município sem lista própria, o que vale em lugar dela; de um filtro de valor que nenhum item pode ter, a forma que ele espera; senão null.',
  ),
);
const SEM_RESULTADO = orAbsent(
  field.text('Só quando um filtro tem um valor que nenhum item pode ter: a forma que ele espera.'),
);

/** A note that the service is sending is answered when it is decided. */
const ESPERA_PARAM = {
  espera: `Segundos, até ${ESPERA_MAX_S}, que a resposta espera pela decisão do ADN quando a nota ainda não a tem; sem ele, nenhum.`,
};

/** Headers of an answer that may be cached. */
const KEPT_HEADERS = ['Cache-Control', 'ETag'];

/** Programs should ask whether a DPS was issued before they send it again; its identifier opens no note. */
const DPS_MISS_COST = 0.1;
/** Programs should ask for the situation of a provider before they issue; the document opens no note. */
const SITUACAO_MISS_COST = 0.1;
/** A dry run is read and judged as an issuance, but writes nothing. */
const VALIDACAO_QUOTA_COST = 0.1;
/** Hint for a client that sends the body of the national API. */
const DPS_NACIONAL = 'O envelope da API nacional se abre em /docs/migrar, que diz o que muda no documento.';
const EVENTO_NACIONAL =
  'O pedRegEvento da API nacional, em XML ou no envelope com gzip e Base64, se passa para JSON em /docs/migrar.';

const SIGNATURE_CODES = ['E901', 'E902', 'E903', 'E904', 'E905', 'E906', 'E9002', 'E9003', 'E9006', 'E9007'] as const;

export const ROUTES: readonly Route[] = [
  defineRoute({
    id: 'emitirNota',
    method: 'POST',
    path: ISSUE_PATH,
    summary: `Emite a NFS-e de uma DPS do leiaute ${VERSOES}, em XML ou em JSON. A assinatura vai no XML, ou em X-DPS-Assinatura.`,
    reads: [DPS_SIGNATURE_HEADER, SIMULAR_HEADER],
    takes: ['application/xml', 'text/xml', 'application/json'],
    nacional: DPS_NACIONAL,
    takesKey: true,
    quotaCost: 1,
    status: 201,
    fields: {
      status: STATUS,
      numero_protocolo: NUMERO_PROTOCOLO,
      chave_acesso: CHAVE,
      chave_acesso_provisoria: PROVISORIA,
      xml_nfse: field.text('A NFS-e como foi gerada, ainda não autorizada, com a DPS dentro.'),
      avisos: field.shape('Aviso[]', 'O que não impediu a emissão e convém saber; quase sempre vazio.'),
    },
    headers: ['Location', REPEATED_HEADER, ...RATE_LIMIT_HEADERS],
    codes: ['E003', 'E703', 'E201', 'E110', ...SIGNATURE_CODES, 'E101', 'E102', 'E103', 'E0014'],
    judges: true,
    handle: issue,
  }),
  defineRoute({
    id: 'validarDps',
    method: 'POST',
    path: `${ISSUE_PATH}/validacao`,
    summary:
      'Confere uma DPS sem emitir: responde os valores com cada passo do cálculo, ou todos os erros de uma vez. Nenhum número é usado e nada é gravado. Em produção o cadastro e as outras notas só se olham com a assinatura válida do prestador; sem ela a recusa traz também os valores do que a DPS diz, e nao_conferido, o que não se olhou.',
    reads: [DPS_SIGNATURE_HEADER],
    takes: ['application/xml', 'text/xml', 'application/json'],
    nacional: DPS_NACIONAL,
    quotaCost: VALIDACAO_QUOTA_COST,
    status: 200,
    fields: { status: STATUS, ...VALIDACAO_FIELDS },
    headers: [...RATE_LIMIT_HEADERS],
    codes: ['E003', 'E201', 'E110', ...SIGNATURE_CODES, 'E101', 'E102', 'E103', 'E0014', 'E703'],
    judges: true,
    missCost: 1,
    handle: validate,
  }),
  defineRoute({
    id: 'verificarAssinatura',
    method: 'POST',
    path: '/api/v1/assinatura/verificacao',
    summary:
      'Confere a assinatura de uma DPS em XML, ou de um corpo JSON com X-DPS-Assinatura, como a produção conferiria: forma canônica, resumos, algoritmos, certificado e o que mudar. Com Accept: text/plain, só a forma canônica. Nada é gravado.',
    reads: [DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER],
    takes: ['application/xml', 'text/xml', 'application/json'],
    nacional: DPS_NACIONAL,
    status: 200,
    givesToo: ['text/plain'],
    fields: { status: STATUS, ...VERIFICACAO_FIELDS },
    headers: [],
    codes: ['E003', 'E201', 'E703'],
    handle: verifySignature,
  }),
  defineRoute({
    id: 'emitirNotaLeiaute100',
    method: 'POST',
    path: '/api/v1/nfse',
    summary: 'Endereço encerrado do leiaute 1.00: responde sempre 410, com o endereço correto.',
    deprecated: true,
    status: 410,
    fields: {},
    headers: [],
    codes: ['E111', 'E110'],
    // E110 always comes with other codes: it adds a detail about a document for a closed address.
    statuses: { E110: [410] },
    handle: refuseLayout100,
  }),
  defineRoute({
    id: 'consultarNota',
    method: 'GET',
    path: '/api/v1/nfse/:chave_acesso',
    summary: 'Consulta uma nota pela chave de acesso.',
    query: ESPERA_PARAM,
    status: 200,
    fields: { status: STATUS, nota: field.shape('NotaComCancelamento', 'A nota.'), protocolo: PROTOCOLO },
    headers: ['Retry-After', 'ETag'],
    codes: ['E0002', 'E301', 'E703'],
    statuses: { E0002: [400] },
    missCost: 1,
    handle: queryByChave,
  }),
  ...(['/api/v1/nfse/protocolo/:numero_protocolo', '/api/v1/nfse/v101/protocolo/:numero_protocolo'] as const).map(
    (path) =>
      defineRoute({
        id: path.includes('/v101/') ? 'consultarNotaPorProtocoloV101' : 'consultarNotaPorProtocolo',
        method: 'GET',
        path,
        summary: 'Consulta uma nota pelo número de protocolo. Prefira a consulta pela chave de acesso.',
        query: ESPERA_PARAM,
        deprecated: true,
        status: 200,
        fields: { status: STATUS, nota: NOTA, protocolo: PROTOCOLO, chave_acesso_provisoria: PROVISORIA },
        headers: ['Retry-After', 'ETag'],
        codes: ['E0002', 'E601', 'E703'],
        statuses: { E0002: [400] },
        missCost: 1,
        handle: queryByProtocolo,
      }),
  ),
  ...(
    [
      [EVENTOS_PATH, postByChave],
      ['/api/v1/nfse/protocolo/:numero_protocolo/eventos', postByProtocolo],
    ] as const
  ).map(([path, handle]) =>
    defineRoute({
      id: path.includes('/protocolo/') ? 'registrarEventoPorProtocolo' : 'registrarEvento',
      method: 'POST',
      path,
      summary:
        path === EVENTOS_PATH
          ? 'Registra um evento na nota: cancelamento, confirmação, rejeição e os demais tipos. Em produção, com a assinatura em X-Evento-Assinatura.'
          : 'Registra um evento na nota, pelo número de protocolo dela.',
      reads: [EVENTO_SIGNATURE_HEADER, SIMULAR_HEADER],
      takes: ['application/json'],
      nacional: EVENTO_NACIONAL,
      takesKey: true,
      quotaCost: 1,
      status: 201,
      fields: {
        ...EVENTO_FIELDS,
        mensagem: field.text('O que aconteceu, em uma frase.'),
        avisos: field.shape('Aviso[]', 'O que não impediu o registro e convém saber; quase sempre vazio.'),
        status: STATUS,
      },
      headers: ['Location', REPEATED_HEADER, ...RATE_LIMIT_HEADERS],
      codes: [
        ...['E003', 'E9002', 'E9003', 'E9006', 'E9007', 'E9016', 'E301', 'E601', 'E002', 'E0001', 'E0002', 'E0003'],
        ...['E0010', 'E203', 'E302', 'E703'],
        ...EVENTOS.map(({ codigo }) => codigo).filter((codigo) => !CODIGOS_DE_OFICIO.has(codigo)),
      ],
      statuses: { E002: [400, 422], E0002: [400, 422] },
      missCost: 1,
      handle,
    }),
  ),
  defineRoute({
    id: 'listarEventos',
    method: 'GET',
    path: EVENTOS_PATH,
    summary: 'Os eventos de uma nota, do mais novo ao mais antigo.',
    status: 200,
    fields: { total: TOTAL, eventos: EVENTOS_FIELD, status: STATUS },
    headers: ['Retry-After', 'ETag'],
    codes: ['E301', 'E703'],
    missCost: 1,
    handle: listAll,
  }),
  defineRoute({
    id: 'listarEventosDoTipo',
    method: 'GET',
    path: '/api/v1/nfse/:chave_acesso/eventos/:tipo_evento',
    summary: 'Os eventos de um tipo, pela sequência.',
    status: 200,
    fields: {
      total: TOTAL,
      tipo_evento: field.text('O tipo pedido.'),
      eventos: EVENTOS_FIELD,
      status: STATUS,
    },
    headers: ['Retry-After', 'ETag'],
    codes: ['E301', 'E601', 'E703'],
    missCost: 1,
    handle: listOfTipo,
  }),
  defineRoute({
    id: 'consultarEvento',
    method: 'GET',
    path: '/api/v1/nfse/:chave_acesso/eventos/:tipo_evento/:num_seq_evento',
    summary: 'Um evento, pelo tipo e pela sequência.',
    status: 200,
    fields: { evento: field.shape('Evento', 'O evento.'), status: STATUS },
    headers: ['Retry-After', 'ETag'],
    codes: ['E301', 'E601', 'E703'],
    missCost: 1,
    handle: showOne,
  }),
  defineRoute({
    id: 'baixarDanfse',
    method: 'GET',
    path: '/api/v1/danfse/:chave_acesso',
    summary:
      'O DANFSe de uma nota autorizada, em PDF: uma página A4 do leiaute nacional. Numa nota cancelada ou substituída, e na integração, com a marca-d’água que o diz.',
    deprecated: true,
    status: 200,
    gives: 'application/pdf',
    fields: {},
    headers: ['Content-Disposition', ...Object.keys(DEPRECATION), 'Retry-After'],
    always: DEPRECATION,
    codes: ['E301', 'E703', 'E1831'],
    statuses: { E703: [422] },
    missCost: 1,
    handle: showDanfse,
  }),
  defineRoute({
    id: 'consultarNotaPorDps',
    method: 'GET',
    path: '/api/v1/dps/:id',
    summary:
      'Consulta a nota de uma DPS pelo identificador da DPS. Em produção, só com certificado ou token de uma parte da nota.',
    query: ESPERA_PARAM,
    status: 200,
    fields: {
      status: STATUS,
      id_dps: field.text('Identificador da DPS na forma canônica.'),
      chave_acesso: CHAVE,
      numero_protocolo: NUMERO_PROTOCOLO,
      nota: NOTA,
    },
    headers: ['Retry-After', 'ETag'],
    codes: ['E0002', 'E601', 'E703', 'E9003', 'E9006', 'E9007'],
    statuses: { E0002: [400] },
    missCost: DPS_MISS_COST,
    handle: queryByDps,
  }),
  defineRoute({
    id: 'existeNotaDaDps',
    method: 'HEAD',
    path: '/api/v1/dps/:id',
    summary: 'Diz se há nota de uma DPS: 200 ou 404, sem corpo. Aberta também em produção.',
    status: 200,
    fields: {},
    headers: [],
    codes: ['E601', 'E703'],
    missCost: DPS_MISS_COST,
    handle: askWhetherIssued,
  }),
  defineRoute({
    id: 'consultarSituacaoDoPrestador',
    method: 'GET',
    path: '/api/v1/prestadores/:documento/situacao',
    summary:
      'Diz se um prestador pode emitir, e o que falta: cadastro, autorização, Simples Nacional e desde quando o grupo IBSCBS é devido. Em produção, só com o certificado ou um token do próprio prestador.',
    query: { data: 'Dia de que se quer saber, AAAA-MM-DD; sem ele, hoje no município.' },
    status: 200,
    fields: { status: STATUS, ...SITUACAO_FIELDS },
    headers: ['ETag'],
    codes: ['E0003', 'E101', 'E703', 'E9003', 'E9006', 'E9007'],
    missCost: SITUACAO_MISS_COST,
    handle: querySituacao,
  }),
  ...ROTAS_DA_PARTE,
  ...ROTAS_DE_WEBHOOKS,
  ...ROTAS_DE_AMBIENTES,
  ...ROTAS_DE_EXPORTACOES,
  ...CATALOGOS.map(({ nome, summary, item, filtros, handle }) =>
    defineRoute({
      id: `catalogo_${nome}`,
      method: 'GET',
      path: `/api/v1/catalogo/${nome}`,
      summary,
      query: { ...filtros, ...PAGINA_PARAMS },
      status: 200,
      fields: {
        status: STATUS,
        itens: field.shape(`${item}[]` as const, 'Os itens da página.'),
        paginacao: PAGINACAO_FIELD,
        observacao: nome === 'codigos_tributacao_municipal' ? SEM_LISTA : SEM_RESULTADO,
      },
      headers: KEPT_HEADERS,
      codes: ['E0002', 'E003'],
      statuses: { E0002: [400] },
      isPublic: true,
      handle,
    }),
  ),
  defineRoute({
    id: 'catalogo_motivos_evento',
    method: 'GET',
    path: '/api/v1/catalogo/motivos_evento',
    summary: MOTIVOS.summary,
    query: MOTIVOS.query,
    status: 200,
    fields: { status: STATUS, itens: field.shape('MotivoEvento[]', 'Um por tipo de evento.') },
    headers: KEPT_HEADERS,
    codes: ['E003', 'E601'],
    isPublic: true,
    handle: MOTIVOS.handle,
  }),
];
