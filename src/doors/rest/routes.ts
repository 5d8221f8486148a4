/**
 * The route table: what can be asked of a municipality, what it takes, what it answers, and the flow behind it. The
 * addresses, the checks of the door, the public description and the tests are read off these rows.
 *
 * Nothing here knows how an answer is written: no header that every answer has, no envelope, no log.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isProtocolo, parseChave, parseDpsId, whyNoChave } from '../../fiscal/chave.ts';
import { CODIGOS_DE_OFICIO } from '../../fiscal/conflitos-evento.ts';
import { EVENTOS } from '../../fiscal/errors/eventos.ts';
import type { Refusal } from '../../fiscal/fault.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import type { Shown } from '../../flows/caller.ts';
import { issueNota } from '../../flows/issue-nota.ts';
import { refuseLegacy } from '../../flows/legacy-endpoint.ts';
import { hasDps, type Municipio, notaByChave, notaByDps, notaByProtocolo } from '../../flows/queries.ts';
import type { Quota } from '../../flows/quota.ts';
import { DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER } from '../../flows/verify-dps.ts';
import type { World } from '../../flows/world.ts';
import type { Field, Fields } from '../../published/openapi/field.ts';
import { CATALOGOS, MOTIVOS, PAGINA_PARAMS, PAGINACAO_FIELD } from './catalogos.ts';
import type { MediaType } from './content.ts';
import { showDanfse } from './danfse.ts';
import { DEPRECATION } from './deprecation.ts';
import { avisosOf } from './envelope.ts';
import { EVENTO_FIELDS, listAll, listOfTipo, postByChave, postByProtocolo, showOne } from './eventos.ts';
import { RATE_LIMIT_HEADERS } from './quotas.ts';
import { keyIn, REPEATED_HEADER, refusedAs, repeatedHeaders } from './repetition.ts';
import { retryAfter } from './retry-after.ts';
import { sentIn } from './sent.ts';
import { querySituacao, SITUACAO_FIELDS } from './situacao.ts';
import { VALIDACAO_FIELDS, validate } from './validacao.ts';
import { VERIFICACAO_FIELDS, verifySignature } from './verificacao.ts';

export type { Field } from '../../published/openapi/field.ts';

/** One request to a municipality, as a route sees it. */
export type Call = {
  readonly world: World;
  readonly municipio: Municipio;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** As sent, with its question mark; empty where the address has none. */
  readonly search: string;
  /** The same, read when it is asked for. */
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Empty where the route takes none. */
  readonly body: Buffer;
  /** `https://nfse.exemplo.gov.br`: the address of the service as the caller knows it. */
  readonly site: string;
  /** The certificate that came with the request, for the routes that are for one party alone. */
  readonly shown: () => Shown;
  /** Where it stores something. */
  readonly quota?: Quota | undefined;
};

export type Refused = {
  readonly refusal: Refusal;
  /** The field or parameter that the refusal is about. */
  readonly campo?: string;
  /** Where it is not the one of the first fault's code. */
  readonly status?: number | undefined;
  /** When it was made, in milliseconds; without it, now. */
  readonly em?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isMiss?: boolean;
  /** What the envelope has beside its own fields. */
  readonly beside?: Readonly<Record<string, unknown>>;
};

/** `body` undefined: an answer without one; a text is answered as `text/plain`. */
export type Accepted<Body> = {
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** Counts as one (D-40), as an answer that nothing is there always does. */
  readonly isMiss?: boolean;
};

/** JSON that was written before it was asked for, and that whoever gets it may keep: it has a tag, and is not sent twice. */
export type Written = {
  readonly written: { readonly bytes: Buffer; readonly tag: string };
  /** Value of `Cache-Control`. */
  readonly keeping: string;
};

/** A document that is no JSON. */
export type Served = {
  readonly served: Buffer;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type Outcome = Refused | Written | Served | Accepted<object | string | undefined>;

export type Route = {
  /** Name of the operation, by which programs that are made of the public description call it. */
  readonly id: string;
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Below the segment of the municipality. */
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  /** Parameters of the query, none of which is required. */
  readonly query?: Readonly<Record<string, string>>;
  /** Still answered, for those who use it already. */
  readonly deprecated?: true;
  /** Headers of the request that have a meaning here; none is required by itself. */
  readonly reads?: readonly string[];
  /** Media types of the body, checked in `content.ts`. A POST without them takes whatever comes. */
  readonly takes?: readonly MediaType[];
  /** Repeated under one `Idempotency-Key` it is answered as it was, and does nothing again (D-19). */
  readonly takesKey?: true;
  /** What it takes of the limits of its address, in documents (D-263); absent: nothing. */
  readonly quotaCost?: number;
  /** Of the answer when all is well with the request. */
  readonly status: 200 | 201 | 410;
  /** Media type in which the body of success is given too, to who asks for it. */
  readonly givesToo?: 'text/plain';
  /** Media type of the body of success, where that is no JSON. */
  readonly gives?: 'application/pdf';
  /** Fields of the body of success, in their order. */
  readonly fields: Fields;
  /** Headers that only this answer has. */
  readonly headers: readonly string[];
  /** Headers of every answer about the path, also of a refusal that comes before the route; `headers` names them too. */
  readonly always?: Readonly<Record<string, string>>;
  /** What any route may answer (E601 for the municipality, E003, E703, E999) is here where the row has its own cause. */
  readonly codes: readonly string[];
  /** Statuses of those codes that come with another one than usual, or with more than one. */
  readonly statuses?: Readonly<Record<string, readonly number[]>>;
  /** Besides `codes`, every code of a rule over the DPS. */
  readonly judges?: true;
  /** Says nothing of anybody and asks for no credential: a page of any site may read it (CORS). */
  readonly isPublic?: true;
  /** What a miss costs (D-40): 1 where the identifier opens what it names. */
  readonly missCost?: number;
  readonly handle: (call: Call) => Promise<Outcome>;
};

/** A row whose answer has the fields it announces; the compiler compares. */
function row<const Own extends Fields>(
  route: Omit<Route, 'fields' | 'handle'> & {
    readonly fields: Own;
    readonly handle: (
      call: Call,
    ) => Promise<
      | Refused
      | Written
      | Served
      | Accepted<string>
      | Accepted<keyof Own extends never ? undefined : { readonly [Name in keyof Own]: unknown }>
    >;
  },
): Route {
  return route;
}

/** What the parameters of the paths are. */
export const PARAMS = {
  municipio: 'Endereço do município neste serviço; integracao é o ambiente de integração.',
  chave_acesso: 'Chave de acesso da NFS-e, 50 posições.',
  numero_protocolo: 'Número de protocolo respondido na emissão.',
  documento: 'CNPJ ou CPF do prestador, sem máscara.',
  tipo_evento: 'Tipo do evento: o nome, como cancelamento, ou o código nacional.',
  num_seq_evento: 'Sequência do evento entre os do seu tipo na nota, a partir de 1.',
  id: 'Identificador da DPS: DPS, município emissor (7), tipo de inscrição (1), inscrição (14), série (5) e número (15).',
} as const satisfies Readonly<Record<string, string>>;

const STATUS: Field = { type: 'string', about: 'OK em toda resposta de sucesso.' };
const CHAVE: Field = { type: 'string', about: 'Chave de acesso da NFS-e; não muda mais.' };
const NUMERO_PROTOCOLO: Field = { type: 'string', about: 'Segundo identificador da nota, estável.' };
const PROVISORIA: Field = {
  type: 'boolean',
  about: 'true enquanto o ADN não autorizou a nota. O valor da chave é definitivo nos dois casos.',
};
const NOTA: Field = { type: 'Nota', about: 'A nota.' };
const TOTAL: Field = { type: 'number', about: 'Quantos são.' };
const EVENTOS_FIELD: Field = { type: 'Evento[]', about: 'Os eventos.' };
const PROTOCOLO: Field = { type: 'Protocolo', about: 'O protocolo da nota.' };

const SEM_LISTA: Field = {
  type: 'string',
  nullable: true,
  about:
    'De um município sem lista própria, o que vale em lugar dela; de um filtro de valor que nenhum item pode ter, a forma que ele espera; senão null.',
};
const SEM_RESULTADO: Field = {
  type: 'string',
  optional: true,
  about: 'Só quando um filtro tem um valor que nenhum item pode ter: a forma que ele espera.',
};

/** Of an answer that may be kept. */
const KEPT_HEADERS = ['Cache-Control', 'ETag'];

const ISSUE_PATH = '/api/v1/nfse/v101';
/** Asking whether a DPS was issued, before sending it, is good practice; its identifier opens nothing. */
const DPS_MISS_COST = 0.1;
/** Likewise. */
const SITUACAO_MISS_COST = 0.1;
/** A dry run is read and judged as an issuance is, and leaves nothing behind. */
export const VALIDACAO_QUOTA_COST = 0.1;
/** Of a DPS, in XML and in JSON. */
const SIGNATURE_CODES = ['E901', 'E902', 'E903', 'E904', 'E905', 'E906', 'E9002', 'E9003', 'E9006', 'E9007'] as const;

export const ROUTES: readonly Route[] = [
  row({
    id: 'emitirNota',
    method: 'POST',
    path: ISSUE_PATH,
    summary:
      'Emite a NFS-e de uma DPS do leiaute 1.01, em XML ou em JSON. A assinatura vai no XML, ou em X-DPS-Assinatura.',
    reads: [DPS_SIGNATURE_HEADER, SIMULAR_HEADER],
    takes: ['application/xml', 'text/xml', 'application/json'],
    takesKey: true,
    quotaCost: 1,
    status: 201,
    fields: {
      status: STATUS,
      numero_protocolo: NUMERO_PROTOCOLO,
      chave_acesso: CHAVE,
      chave_acesso_provisoria: PROVISORIA,
      xml_nfse: { type: 'string', about: 'A NFS-e como foi gerada, ainda não autorizada, com a DPS dentro.' },
      avisos: { type: 'Aviso[]', about: 'O que não impediu a emissão e convém saber; quase sempre vazio.' },
    },
    headers: ['Location', REPEATED_HEADER, ...RATE_LIMIT_HEADERS],
    codes: ['E003', 'E703', 'E201', 'E110', ...SIGNATURE_CODES, 'E101', 'E102', 'E103', 'E0014'],
    judges: true,
    handle: issue,
  }),
  row({
    id: 'validarDps',
    method: 'POST',
    path: `${ISSUE_PATH}/validacao`,
    summary:
      'Confere uma DPS sem emitir: responde os valores com cada passo do cálculo, ou todos os erros de uma vez. Nenhum número é usado e nada é gravado. Em produção o cadastro e as outras notas só se olham com a assinatura válida do prestador; sem ela a recusa traz também os valores do que a DPS diz, e nao_conferido, o que não se olhou.',
    reads: [DPS_SIGNATURE_HEADER],
    takes: ['application/xml', 'text/xml', 'application/json'],
    quotaCost: VALIDACAO_QUOTA_COST,
    status: 200,
    fields: { status: STATUS, ...VALIDACAO_FIELDS },
    headers: [...RATE_LIMIT_HEADERS],
    codes: ['E003', 'E201', 'E110', ...SIGNATURE_CODES, 'E101', 'E102', 'E103', 'E0014', 'E703'],
    judges: true,
    missCost: 1,
    handle: validate,
  }),
  row({
    id: 'verificarAssinatura',
    method: 'POST',
    path: '/api/v1/assinatura/verificacao',
    summary:
      'Confere a assinatura de uma DPS em XML, ou de um corpo JSON com X-DPS-Assinatura, como a produção conferiria: forma canônica, resumos, algoritmos, certificado e o que mudar. Com Accept: text/plain, só a forma canônica. Nada é gravado.',
    reads: [DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER],
    takes: ['application/xml', 'text/xml', 'application/json'],
    status: 200,
    givesToo: 'text/plain',
    fields: { status: STATUS, ...VERIFICACAO_FIELDS },
    headers: [],
    codes: ['E003', 'E201', 'E703'],
    handle: verifySignature,
  }),
  row({
    id: 'emitirNotaLeiaute100',
    method: 'POST',
    path: '/api/v1/nfse',
    summary: 'Endereço encerrado do leiaute 1.00: responde sempre 410, com o endereço correto.',
    deprecated: true,
    status: 410,
    fields: {},
    headers: [],
    codes: ['E111', 'E110'],
    // Never alone: it says more of a document whose address is closed.
    statuses: { E110: [410] },
    handle: async ({ body, municipio }) => ({ refusal: refuseLegacy(body, `/${municipio.tenant}${ISSUE_PATH}`) }),
  }),
  row({
    id: 'consultarNota',
    method: 'GET',
    path: '/api/v1/nfse/:chave_acesso',
    summary: 'Consulta uma nota pela chave de acesso.',
    status: 200,
    fields: { status: STATUS, nota: { type: 'NotaComCancelamento', about: 'A nota.' }, protocolo: PROTOCOLO },
    headers: ['Retry-After'],
    codes: ['E301', 'E703'],
    missCost: 1,
    handle: queryByChave,
  }),
  ...(['/api/v1/nfse/protocolo/:numero_protocolo', '/api/v1/nfse/v101/protocolo/:numero_protocolo'] as const).map(
    (path) =>
      row({
        id: path.includes('/v101/') ? 'consultarNotaPorProtocoloV101' : 'consultarNotaPorProtocolo',
        method: 'GET',
        path,
        summary: 'Consulta uma nota pelo número de protocolo. Prefira a consulta pela chave de acesso.',
        deprecated: true,
        status: 200,
        fields: { status: STATUS, nota: NOTA, protocolo: PROTOCOLO, chave_acesso_provisoria: PROVISORIA },
        headers: ['Retry-After'],
        codes: ['E601', 'E703'],
        missCost: 1,
        handle: queryByProtocolo,
      }),
  ),
  ...(
    [
      ['/api/v1/nfse/:chave_acesso/eventos', postByChave],
      ['/api/v1/nfse/protocolo/:numero_protocolo/eventos', postByProtocolo],
    ] as const
  ).map(([path, handle]) =>
    row({
      id: path.includes('/protocolo/') ? 'registrarEventoPorProtocolo' : 'registrarEvento',
      method: 'POST',
      path,
      summary:
        path === '/api/v1/nfse/:chave_acesso/eventos'
          ? 'Registra um evento na nota: cancelamento, confirmação, rejeição e os demais tipos. Em produção, com a assinatura em X-Evento-Assinatura.'
          : 'Registra um evento na nota, pelo número de protocolo dela.',
      reads: [EVENTO_SIGNATURE_HEADER, SIMULAR_HEADER],
      takes: ['application/json'],
      takesKey: true,
      quotaCost: 1,
      status: 201,
      fields: {
        ...EVENTO_FIELDS,
        mensagem: { type: 'string', about: 'O que aconteceu, em uma frase.' },
        avisos: { type: 'Aviso[]', about: 'O que não impediu o registro e convém saber; quase sempre vazio.' },
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
  row({
    id: 'listarEventos',
    method: 'GET',
    path: '/api/v1/nfse/:chave_acesso/eventos',
    summary: 'Os eventos de uma nota, do mais novo ao mais antigo.',
    status: 200,
    fields: { total: TOTAL, eventos: EVENTOS_FIELD, status: STATUS },
    headers: ['Retry-After'],
    codes: ['E301', 'E703'],
    missCost: 1,
    handle: listAll,
  }),
  row({
    id: 'listarEventosDoTipo',
    method: 'GET',
    path: '/api/v1/nfse/:chave_acesso/eventos/:tipo_evento',
    summary: 'Os eventos de um tipo, pela sequência.',
    status: 200,
    fields: {
      total: TOTAL,
      tipo_evento: { type: 'string', about: 'O tipo pedido.' },
      eventos: EVENTOS_FIELD,
      status: STATUS,
    },
    headers: ['Retry-After'],
    codes: ['E301', 'E601', 'E703'],
    missCost: 1,
    handle: listOfTipo,
  }),
  row({
    id: 'consultarEvento',
    method: 'GET',
    path: '/api/v1/nfse/:chave_acesso/eventos/:tipo_evento/:num_seq_evento',
    summary: 'Um evento, pelo tipo e pela sequência.',
    status: 200,
    fields: { evento: { type: 'Evento', about: 'O evento.' }, status: STATUS },
    headers: ['Retry-After'],
    codes: ['E301', 'E601', 'E703'],
    missCost: 1,
    handle: showOne,
  }),
  row({
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
  row({
    id: 'consultarNotaPorDps',
    method: 'GET',
    path: '/api/v1/dps/:id',
    summary:
      'Consulta a nota de uma DPS pelo identificador da DPS. Em produção, só com certificado de uma parte da nota.',
    status: 200,
    fields: {
      status: STATUS,
      id_dps: { type: 'string', about: 'Identificador da DPS na forma canônica.' },
      chave_acesso: CHAVE,
      numero_protocolo: NUMERO_PROTOCOLO,
      nota: NOTA,
    },
    headers: ['Retry-After'],
    codes: ['E601', 'E703', 'E9003', 'E9006', 'E9007'],
    missCost: DPS_MISS_COST,
    handle: queryByDps,
  }),
  row({
    id: 'existeNotaDaDps',
    method: 'HEAD',
    path: '/api/v1/dps/:id',
    summary: 'Diz se há nota de uma DPS: 200 ou 404, sem corpo. Aberta também em produção.',
    status: 200,
    fields: {},
    headers: [],
    codes: ['E601', 'E703'],
    missCost: DPS_MISS_COST,
    handle: async (call) => {
      const id = call.params.id!;
      const isThere = parseDpsId(id) !== undefined && (await hasDps(call.world, call.municipio, id));
      return isThere ? { body: undefined } : dpsNotFound(id);
    },
  }),
  row({
    id: 'consultarSituacaoDoPrestador',
    method: 'GET',
    path: '/api/v1/prestadores/:documento/situacao',
    summary:
      'Diz se um prestador pode emitir, e o que falta: cadastro, autorização, Simples Nacional e desde quando o grupo IBSCBS é devido. Em produção, só com o certificado do próprio prestador.',
    query: { data: 'Dia de que se quer saber, AAAA-MM-DD; sem ele, hoje no município.' },
    status: 200,
    fields: { status: STATUS, ...SITUACAO_FIELDS },
    headers: [],
    codes: ['E0003', 'E101', 'E703', 'E9003', 'E9006', 'E9007'],
    missCost: SITUACAO_MISS_COST,
    handle: querySituacao,
  }),
  ...CATALOGOS.map(({ nome, summary, tipo, filtros, handle }) =>
    row({
      id: `catalogo_${nome}`,
      method: 'GET',
      path: `/api/v1/catalogo/${nome}`,
      summary,
      query: { ...filtros, ...PAGINA_PARAMS },
      status: 200,
      fields: {
        status: STATUS,
        itens: { type: tipo, about: 'Os itens da página.' },
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
  row({
    id: 'catalogo_motivos_evento',
    method: 'GET',
    path: '/api/v1/catalogo/motivos_evento',
    summary: MOTIVOS.summary,
    query: MOTIVOS.query,
    status: 200,
    fields: { status: STATUS, itens: { type: 'MotivoEvento[]', about: 'Um por tipo de evento.' } },
    headers: KEPT_HEADERS,
    codes: ['E003', 'E601'],
    isPublic: true,
    handle: MOTIVOS.handle,
  }),
];

async function issue({ world, municipio, headers, body, site, quota }: Call) {
  const key = keyIn({ headers, quota }, ISSUE_PATH);
  const issued = await issueNota(world, municipio, sentIn({ headers, body, quota }), key);
  if ('faults' in issued) return refusedAs(issued);
  const { numero_protocolo, chave_acesso, xml_nfse, avisos } = issued;
  return {
    headers: {
      Location: `${site}/${municipio.tenant}/api/v1/nfse/${chave_acesso}`,
      ...repeatedHeaders(issued),
    },
    body: {
      status: 'OK',
      numero_protocolo,
      chave_acesso,
      chave_acesso_provisoria: NOTA_ESTADOS.emitida.chave_acesso_provisoria,
      xml_nfse,
      avisos: avisosOf(avisos, site),
    },
  };
}

async function queryByChave({ world, municipio, params }: Call) {
  const chave = params.chave_acesso!;
  const found = parseChave(chave) === undefined ? undefined : await notaByChave(world, municipio, chave);
  if (found === undefined) return notFound('E301', 'chave_acesso', chaveProblem(chave));
  const { nota, protocolo, data_cancelamento } = found;
  return {
    headers: retryAfter(world, found.proxima),
    body: { status: 'OK', nota: { ...nota, data_cancelamento }, protocolo },
  };
}

async function queryByProtocolo({ world, municipio, params }: Call) {
  const numero = params.numero_protocolo!;
  const found = isProtocolo(numero) ? await notaByProtocolo(world, municipio, numero) : undefined;
  if (found === undefined) {
    const mensagem = `Não há nota com este número de protocolo em ${municipio.tenant}. Confira o número e o município do endereço.`;
    return notFound('E601', 'numero_protocolo', mensagem);
  }
  const { nota, protocolo, chave_acesso_provisoria } = found;
  return {
    headers: retryAfter(world, found.proxima),
    body: { status: 'OK', nota, protocolo, chave_acesso_provisoria },
  };
}

async function queryByDps({ world, municipio, params, shown }: Call) {
  const id = params.id!;
  const found = parseDpsId(id) === undefined ? undefined : await notaByDps(world, municipio, id, shown());
  if (found === undefined) return dpsNotFound(id);
  if ('faults' in found) return { refusal: found, isMiss: true };
  const { nota, protocolo, id_dps } = found;
  const { chave_acesso, numero_protocolo } = protocolo;
  return {
    headers: retryAfter(world, found.proxima),
    body: { status: 'OK', id_dps, chave_acesso, numero_protocolo, nota },
  };
}

export function notFound(codigo: string, campo: string, mensagem: string): Refused {
  return { refusal: { faults: [{ codigo, xpath: '', mensagem }] }, campo };
}

/** A shorter text without a number is a word: who sends it takes the address for another. */
const CHAVE_WORD_MAX = 20;

/** Why a key finds nothing, as far as the key itself tells. */
export function chaveProblem(chave: string): string {
  if (chave.length < CHAVE_WORD_MAX && !/\d{3}/.test(chave)) {
    return 'Neste endereço vai a chave de acesso, de 50 posições. A emissão é POST /{municipio}/api/v1/nfse/v101.';
  }
  return (
    whyNoChave(chave) ??
    'Não há nota com esta chave de acesso neste município. Confira o município do endereço e o ambiente.'
  );
}

function dpsNotFound(id: string): Refused {
  const mensagem =
    parseDpsId(id) === undefined
      ? 'O texto enviado não é um identificador de DPS. Ele tem 45 posições: as letras DPS, o município emissor (7), o tipo de inscrição (1 CPF, 2 CNPJ), a inscrição com zeros à esquerda (14), a série (5) e o número (15).'
      : 'Não há nota desta DPS neste município. Confira o município, a inscrição, a série e o número do identificador.';
  return notFound('E601', 'id', mensagem);
}
