/** The addresses of notes. */
import { DPS_NACIONAL, ESPERA_PARAM, SIGNATURE_CODES } from '../../base/http/described.ts';
import { OF_FILES } from '../../base/http/ranges.ts';
import { defineRoute, type Route } from '../../base/http/route.ts';
import { REPEATED_HEADER } from '../../base/world/idempotency.ts';
import { DPS_SIGNATURE_HEADER } from '../../base/world/sent-documents.ts';
import { VERSOES } from '../../fiscal/layout/layouts.ts';
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import { POR_CHAVE, POR_PROTOCOLO, PRESTADOR_ASSINA, PUBLICO } from '../../published/acesso.ts';
import { field, type Shape, STATUS } from '../../published/openapi/field.ts';
import { RATE_LIMIT_HEADERS } from '../../published/openapi/headers.ts';
import { DEPRECATION, showDanfse } from './danfse.rest.ts';
import { NOTA_SHAPES } from './fields.rest.ts';
import {
  askWhetherIssued,
  ISSUE_PATH,
  issue,
  queryByChave,
  queryByDps,
  queryByProtocolo,
  refuseLayout100,
} from './notas.rest.ts';
import { querySituacao, SITUACAO_FIELDS, SITUACAO_SHAPES } from './situacao.rest.ts';
import { VALIDACAO_FIELDS, VALIDACAO_SHAPES, validate } from './validacao.rest.ts';

const CHAVE = field.text('Chave de acesso da NFS-e; não muda mais.');

const NUMERO_PROTOCOLO = field.text('Segundo identificador da nota, estável.');

const PROVISORIA = field.flag(
  'true enquanto o ADN não autorizou a nota. O valor da chave é definitivo nos dois casos.',
);

const NOTA = field.shape('Nota', 'A nota.');

const PROTOCOLO = field.shape('Protocolo', 'O protocolo da nota.');

/** Programs should ask whether a DPS was issued before they send it again; its identifier opens no note. */
const DPS_MISS_COST = 0.1;

/** Programs should ask for the situation of a provider before they issue; the document opens no note. */
const SITUACAO_MISS_COST = 0.1;

/** A dry run is read and judged as an issuance, but writes nothing. */
const VALIDACAO_QUOTA_COST = 0.1;

export const SHAPES_DE_NOTAS: Readonly<Record<string, Shape>> = {
  ...NOTA_SHAPES,
  ...VALIDACAO_SHAPES,
  ...SITUACAO_SHAPES,
};

const NOTA_INTEIRA = 'a nota inteira, com o XML, e o protocolo';

export const ROTAS_DE_NOTAS: readonly Route[] = [
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
    acesso: {
      quem: `${PRESTADOR_ASSINA} da DPS`,
      revela: 'nada',
      estranho:
        'o que está errado na assinatura (E9xx) e no documento que enviou, só pelo que ele diz: o banco de dados não se consulta',
      parte: 'a chave e o protocolo da nota; com série e número já usados, os da que existe (E0014)',
      custo: 'uma assinatura',
    },
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
    acesso: {
      quem: `qualquer um; o cadastro e as outras notas, só ${PRESTADOR_ASSINA} da DPS`,
      revela: 'nada',
      estranho:
        'o que está errado no documento que enviou e os seus valores, só pelo que ele diz e o município publica; nao_conferido diz o que não se olhou',
      parte: 'o que a emissão responderia: cadastro, cálculo, e a chave da nota que já existe (E0014)',
    },
    handle: validate,
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
    acesso: { ...PUBLICO, estranho: 'o endereço correto, sempre o mesmo' },
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
    acesso: { ...POR_CHAVE, parte: NOTA_INTEIRA },
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
        acesso: { ...POR_PROTOCOLO, parte: NOTA_INTEIRA },
        handle: queryByProtocolo,
      }),
  ),
  // Programs of the national API find the second address beside that of the notes.
  ...(['/api/v1/danfse/:chave_acesso', '/danfse/:chave_acesso'] as const).map((path) =>
    defineRoute({
      id: path.startsWith('/api') ? 'baixarDanfse' : 'nacionalBaixarDanfse',
      method: 'GET',
      path,
      summary:
        'O DANFSe de uma nota autorizada, em PDF: uma página A4 do leiaute nacional. Numa nota cancelada ou substituída, e na integração, com a marca-d’água que o diz.',
      deprecated: true,
      status: 200,
      gives: 'application/pdf',
      fields: {},
      headers: ['Content-Disposition', ...Object.keys(DEPRECATION), 'Retry-After', ...OF_FILES],
      always: DEPRECATION,
      codes: ['E301', 'E703', 'E1831'],
      statuses: { E703: [422] },
      missCost: 1,
      acesso: { ...POR_CHAVE, parte: 'a nota impressa' },
      handle: showDanfse,
    }),
  ),
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
    acesso: {
      quem: 'prestador, tomador ou intermediário da nota, pelo certificado na conexão (`--consulta-dps`)',
      revela: 'existencia',
      estranho:
        'sem certificado, nada; com o de outro, se há nota da DPS (401 ou 404), o que HEAD diz a todos, e nada dela',
      parte: NOTA_INTEIRA,
    },
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
    acesso: {
      quem: 'qualquer um',
      revela: 'existencia',
      estranho: 'se há nota de um prestador com uma série e um número, e nada dela',
      parte: 'o mesmo',
    },
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
    acesso: {
      quem: 'o próprio prestador, pelo certificado na conexão',
      revela: 'nada',
      estranho: 'que não é ele; não se olha se o documento está cadastrado',
      parte: 'o seu cadastro, o que falta para emitir, e as suas obrigações',
    },
    handle: querySituacao,
  }),
];
