/** The answers of an operation by status: its success, the refusals of its own row, and the protocol's additions to every operation. */

import { ERRORS, errorOf } from '../../fiscal/errors.ts';
import { groupsOf } from '../errors/groups.ts';
import { fieldsOf } from '../errors/page.ts';
import { BODY_MAX_TEXT, HEADERS_MAX_TEXT, URL_MAX_TEXT } from '../http-limits.ts';
import type { DescribedDoor, DescribedRoute, Json, MadeRefusal } from './described.ts';
import { answersOf, EXEMPLOS, exampleRef, examplesOf } from './examples.ts';
import { EVERY_HEADER, headerRefs, isOfRefusals, RATE_LIMIT_HEADERS } from './headers.ts';
import { statusNacional } from './nacional.ts';
import { objectSchema, schemaRef } from './schemas.ts';

export const ENVELOPE = 'EnvelopeDeErro';

export const CODIGO_DA_DPS = 'CodigoDaDps';

/** Codes of the law for a DPS: those of the groups about the document. */
export function codesOfDps(): readonly string[] {
  return groupsOf(
    ERRORS.filter(({ situacao, status }) => situacao === 'enviado' && status === 422),
    fieldsOf,
  )
    .filter(({ id }) => !['requisicao', 'assinatura', 'eventos'].includes(id))
    .flatMap(({ errors }) => errors.map(({ codigo }) => codigo));
}

type Common = {
  readonly name: string;
  readonly about: string;
  readonly headers?: readonly string[];
};

/** The protocol's additions to every operation, by status. The made refusals of a status give its codes. */
const COMMON = {
  400: {
    name: 'RequisicaoInvalida',
    about: 'A requisição não se lê: endereço com % que não se decodifica, falta o cabeçalho Host, HTTP malformado.',
  },
  404: {
    name: 'MunicipioDesconhecido',
    about: 'O primeiro segmento do endereço não é de nenhum município atendido.',
  },
  408: { name: 'CorpoDemorado', about: 'O corpo não chegou inteiro no tempo de espera. Envie de novo.' },
  413: { name: 'CorpoGrandeDemais', about: `O corpo passa de ${BODY_MAX_TEXT}.` },
  414: { name: 'EnderecoLongoDemais', about: `O endereço passa de ${URL_MAX_TEXT}.` },
  416: {
    name: 'FaixaForaDoArquivo',
    about: 'A faixa de Range começa depois do fim do arquivo.',
    headers: ['Content-Range'],
  },
  417: { name: 'ExpectDesconhecido', about: 'O cabeçalho Expect traz outra coisa que 100-continue.' },
  429: {
    name: 'ConsultasDemais',
    about:
      'Vieram documentos demais deste endereço de rede ou deste prestador (/docs/limites), ou houve consultas demais, deste endereço, ao que não existe; ou se chegou ao máximo que este endereço diz. O primeiro limite de RateLimit é o que recusou. Nada foi feito: espere o que diz Retry-After e envie de novo.',
    headers: ['Retry-After', ...RATE_LIMIT_HEADERS],
  },
  431: { name: 'CabecalhosGrandesDemais', about: `Os cabeçalhos da requisição passam de ${HEADERS_MAX_TEXT}.` },
  500: {
    name: 'ErroInterno',
    about: 'O serviço falhou. Se a mesma requisição falhar de novo, informe o X-Request-Id ao suporte.',
  },
  503: {
    name: 'Indisponivel',
    about: 'O serviço não pode atender agora. Espere o que diz Retry-After e envie de novo.',
    headers: ['Retry-After'],
  },
} as const satisfies Readonly<Record<number, Common>>;

type CommonStatus = keyof typeof COMMON;

const COMMON_STATUSES = Object.keys(COMMON).map(Number) as CommonStatus[];

/** A reference to the common response of a status. */
export function commonRef(status: CommonStatus): Json {
  return { $ref: `#/components/responses/${COMMON[status].name}` };
}

/** The responses that operations share, as components. */
export function commonResponses({ refusals, recusaNacional }: DescribedDoor): Json {
  return {
    ...Object.fromEntries(COMMON_STATUSES.map((status) => [COMMON[status].name, wholeResponse(status, [], refusals)])),
    [NATIONAL_REFUSAL]: {
      description: 'Recusa na forma da API nacional, com todos os erros.',
      headers: headerRefs(OF_NATIONAL_REFUSALS),
      content: {
        'application/json': { schema: { $ref: schemaRef('EnvelopeNacional') }, example: recusaNacional },
      },
    },
  };
}

function commonOf({ method, missCost, quotaCost, headers }: DescribedRoute): readonly CommonStatus[] {
  const isLimited = missCost !== undefined || quotaCost !== undefined;
  return COMMON_STATUSES.filter((status) => {
    if (status === 408 || status === 413) return method === 'POST';
    if (status === 416) return isFile(headers);
    return status !== 429 || isLimited;
  });
}

export function responsesOf(route: DescribedRoute, refusals: readonly MadeRefusal[]): Json {
  if (route.isNacional) return nationalResponsesOf(route);
  const own = ownCodes(route, refusals);
  const responses: [number, Json][] = [];
  if (own.get(route.status) === undefined) responses.push([route.status, successOf(route)]);
  if (isFile(route.headers)) responses.push([206, partOf(route)]);
  if (route.headers.includes('ETag')) responses.push([304, NOT_MODIFIED]);
  for (const status of commonOf(route)) {
    if (!own.has(status)) responses.push([status, commonResponse(status, route, refusals)]);
  }
  for (const [status, codes] of own) responses.push([status, ownRefusal(route, { status, codes }, refusals)]);
  return Object.fromEntries(responses.toSorted(([a], [b]) => a - b));
}

/** Whether a part of the answer may be asked for. */
function isFile(headers: readonly string[]): boolean {
  return headers.includes('Accept-Ranges');
}

function partOf(route: DescribedRoute): Json {
  const whole = successOf({ ...route, headers: [...route.headers, 'Content-Range'] });
  return { ...whole, description: 'A faixa que Range pediu.' };
}

/** The contract of the national API has one shape of refusals, and one status for those of a document. */
function nationalResponsesOf(route: DescribedRoute): Json {
  const { method, status, codes, judges } = route;
  const usual = codes.map((codigo) => statusNacional(usualStatus(codigo), method));
  const statuses = new Set([...usual, ...(judges ? [400] : []), ...commonOf(route)]);
  const bare = { description: 'Recusa, sem corpo.', headers: headerRefs(OF_NATIONAL_REFUSALS) };
  const refusal = method === 'HEAD' ? bare : { $ref: NATIONAL_REF };
  const all: [number, Json][] = [
    [status, successOf(route)],
    ...[...statuses].map((one): [number, Json] => [one, refusal]),
  ];
  return Object.fromEntries(all.toSorted(([a], [b]) => a - b));
}

const OF_NATIONAL_REFUSALS = ['WWW-Authenticate', 'Retry-After', ...RATE_LIMIT_HEADERS, ...EVERY_HEADER];
const NATIONAL_REFUSAL = 'RecusaNacional';
const NATIONAL_REF = `#/components/responses/${NATIONAL_REFUSAL}`;

function commonResponse(status: CommonStatus, { always }: DescribedRoute, refusals: readonly MadeRefusal[]): Json {
  return always === undefined ? commonRef(status) : wholeResponse(status, Object.keys(always), refusals);
}

/** `more`: headers of the answer beside its own. */
function wholeResponse(status: CommonStatus, more: readonly string[], refusals: readonly MadeRefusal[]): Json {
  const { about, headers = [] }: Common = COMMON[status];
  const codes = commonCodes(status, refusals);
  const response = refusalResponse(about, { codes, headers: [...headers, ...more] });
  return addExamples(response, madeExamples({ status, codes }, refusals));
}

/** The codes of every operation for a status: those of the made refusals without a name. */
function commonCodes(status: CommonStatus, refusals: readonly MadeRefusal[]): readonly string[] {
  return refusals.flatMap((one) => (one.status === status && one.name === undefined ? [one.codigo] : []));
}

/** The codes of the row itself, by status. */
function ownCodes(route: DescribedRoute, refusals: readonly MadeRefusal[]): ReadonlyMap<number, readonly string[]> {
  const { codes, statuses = {}, missCost, quotaCost, takesKey } = route;
  const byStatus = new Map<number, string[]>();
  const add = (codigo: string, status: number): void => {
    const known = byStatus.get(status) ?? [];
    if (!known.includes(codigo)) byStatus.set(status, [...known, codigo]);
  };
  for (const codigo of codes) {
    for (const status of statuses[codigo] ?? [usualStatus(codigo)]) add(codigo, status);
  }
  if (takesKey) {
    add('E003', 422);
    add('E703', 409);
  }
  // A status that the protocol uses too is described once.
  for (const status of commonOf(route)) {
    const common = commonCodes(status, refusals);
    const known = byStatus.get(status);
    if (known === undefined) continue;
    const isCommon = known.every((codigo) => common.includes(codigo)) && status !== 404 && status !== 400;
    if (isCommon) byStatus.delete(status);
    else for (const codigo of common) add(codigo, status);
  }
  if (missCost === undefined && quotaCost === undefined) byStatus.delete(429);
  return byStatus;
}

function usualStatus(codigo: string): number {
  const { status } = errorOf(codigo) ?? {};
  if (typeof status !== 'number') throw new RangeError(`${codigo} refuses nothing`);
  return status;
}

function successOf(route: DescribedRoute): Json {
  const { id, status, method, fields, gives, givesToo = [], headers, deprecated } = route;
  const description = gives === undefined ? SUCCESS[status] : 'O documento.';
  const own = headerRefs([...headers, ...EVERY_HEADER]);
  if (method === 'HEAD') return { description: 'Há nota desta DPS.', headers: own };
  const others = Object.fromEntries(givesToo.map((type) => [type, { schema: { type: 'string' } }]));
  if (gives !== undefined) return { description, headers: own, content: { [gives]: {}, ...others } };
  const examples = examplesOf(id).filter((one) => one.status === status);
  return {
    description: deprecated ? `${description} O endereço é mantido para quem já o usa.` : description,
    headers: own,
    content: {
      'application/json': {
        schema: objectSchema(fields),
        ...(examples.length === 0 ? {} : { examples: answersOf(examples) }),
      },
      ...others,
    },
  };
}

const SUCCESS: Readonly<Record<DescribedRoute['status'], string>> = {
  200: 'Encontrado, ou conferido.',
  201: 'Registrado.',
  410: 'Encerrado.',
};

type Refusal = { readonly status: number; readonly codes: readonly string[] };

function ownRefusal(route: DescribedRoute, { status, codes }: Refusal, refusals: readonly MadeRefusal[]): Json {
  const { id, method, judges, headers } = route;
  const isJudged = judges === true && status === 422;
  const titles = codes.map((codigo) => `**${codigo}** ${errorOf(codigo)!.mensagem}.`);
  const about = [...titles, ...(isJudged ? ['E todos os códigos das regras da DPS.'] : [])].join('\n\n');
  const own = headers.filter((name) => isOfRefusals(name));
  const isTransient = codes.includes('E703') && (status === 409 || status === 422);
  const more = [...(isTransient ? ['Retry-After'] : []), ...(status === 401 ? ['WWW-Authenticate'] : [])];
  const response = refusalResponse(about, { codes, headers: [...own, ...more], isJudged });
  if (method === 'HEAD') return { description: about, headers: response['headers'] };
  const recorded = EXEMPLOS.filter((one) => one.status === status && (one.id === id || one.tambem?.includes(id)));
  return addExamples(response, { ...answersOf(recorded), ...madeExamples({ status, codes }, refusals) });
}

/** A response in JSON with its examples by name. */
function addExamples(response: Json, examples: Json): Json {
  const content = response['content'] as Json;
  const json = content['application/json'] as Json;
  return { ...response, content: { 'application/json': { ...json, examples } } };
}

type RefusalWords = {
  readonly codes: readonly string[];
  readonly headers: readonly string[];
  readonly isJudged?: boolean;
};

function refusalResponse(description: string, { codes, headers, isJudged }: RefusalWords): Json {
  // A code stands in one of the two schemas only: generators make a list of types of both.
  const beside = isJudged ? codes.filter((one) => !codesOfDps().includes(one)) : codes;
  const codigo = isJudged ? { anyOf: [{ enum: beside }, { $ref: schemaRef(CODIGO_DA_DPS) }] } : { enum: codes };
  return {
    description,
    headers: headerRefs([...headers, ...EVERY_HEADER]),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: schemaRef(ENVELOPE) }, { properties: { codigo_erro: codigo } }] },
      },
    },
  };
}

export const NOT_MODIFIED: Json = {
  description: 'A resposta que se tem ainda vale.',
  headers: headerRefs(['ETag', ...EVERY_HEADER]),
};

/** The made refusals of a status whose code the answer may have. */
function madeExamples({ status, codes }: Refusal, refusals: readonly MadeRefusal[]): Json {
  const fit = refusals.filter((one) => one.status === status && codes.includes(one.codigo));
  return Object.fromEntries(fit.map((one) => [madeName(one), exampleRef(madeName(one))]));
}

function madeName({ name, status }: MadeRefusal): string {
  return name ?? COMMON[status as CommonStatus].name;
}

/** The refusals that no ordinary request meets, as components. */
export function madeComponents(refusals: readonly MadeRefusal[]): Json {
  return Object.fromEntries(refusals.map((one) => [madeName(one), { summary: one.titulo, value: one.value }]));
}
