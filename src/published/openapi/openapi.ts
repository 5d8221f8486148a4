/**
 * The public description of the service, OpenAPI 3.1: made of the route table, the layout, the shapes of the answers and the
 * table of errors, so that nothing is in it that the service does not do. What stands here alone are words for the reader and
 * what the protocol adds to every operation.
 *
 * The examples were recorded from the service as it runs (`exemplos.json`), or, of what no ordinary request meets, are made by
 * the functions that refuse it; a test plays them again.
 */

import type { Refused } from '../../doors/rest/answers.ts';
import { DEPRECATION } from '../../doors/rest/deprecation.ts';
import { ENVELOPE_FIELDS, envelopeOf } from '../../doors/rest/envelope.ts';
import { RATE_LIMIT_HEADERS, tooMuch } from '../../doors/rest/quotas.ts';
import { internal, storeGone, tooManyMisses, troubled, unknownMunicipio } from '../../doors/rest/refusals.ts';
import { REPEATED_HEADER, refusedAs } from '../../doors/rest/repetition.ts';
import type { Route } from '../../doors/rest/route.ts';
import { PARAMS, ROUTES } from '../../doors/rest/routes.ts';
import { SHAPES, type Shape } from '../../doors/rest/shapes.ts';
import { NAO_CONFERIDO_FIELDS } from '../../doors/rest/validacao.ts';
import { AMBIENTES, SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { ERRORS, errorOf } from '../../fiscal/errors.ts';
import { DPS_NAMESPACE } from '../../fiscal/layout/dps.ts';
import { SIMULAR_HEADER, VALORES_MAGICOS } from '../../fiscal/simular.ts';
import { NAO_AUTORIZADO } from '../../flows/gather-facts.ts';
import { IDEMPOTENCY_HEADER, IN_PROGRESS } from '../../flows/idempotency.ts';
import { DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER } from '../../flows/verify-dps.ts';
import { groupsOf } from '../errors/groups.ts';
import { errorJson } from '../errors/json.ts';
import { fieldsOf } from '../errors/page.ts';
import { ERROS_PATH, OPENAPI_PATH } from '../paths.ts';
import { projectText } from '../project-text.ts';
import exemplos from './exemplos.json' with { type: 'json' };
import type { Field, Fields, Formato, ShapeName } from './field.ts';
import type { JsonSchema } from './json-conditions.ts';
import { CORPO_SCHEMA, corpoSchemas, eventoSchemas, PEDIDO_SCHEMA } from './json-schema.ts';

/** Address of the service in the examples as they were recorded, and of everything when nobody says another. */
export const EXAMPLE_SITE = 'https://nfse.exemplo.gov.br';

/** Of this description: it grows with the service, and what breaks a client would be another address. */
const VERSION = '1.0.0';
const OPENAPI = '3.1.0';
const TITLE = 'Emissor de NFS-e';

type Json = Readonly<Record<string, unknown>>;

let text: string | undefined;

/**
 * The description as it is served; `site`: the address of the service as the reader knows it. Served is the generated file:
 * to make it anew would keep everybody else waiting for a tenth of a second and more.
 */
export function openapiText(site: string): string {
  text ??= JSON.stringify(JSON.parse(projectText('docs/openapi.json')));
  return text.replaceAll(EXAMPLE_SITE, () => escaped(site));
}

function escaped(site: string): string {
  return JSON.stringify(site).slice(1, -1);
}

/** The description with the address of the examples. */
export function openapiDocument(): Json {
  return {
    openapi: OPENAPI,
    info: {
      title: TITLE,
      version: VERSION,
      summary: 'Emissão, consulta e eventos da NFS-e do padrão nacional, leiaute 1.01.',
      description: INTRODUCTION,
      contact: { name: 'Documentação do serviço', url: `${EXAMPLE_SITE}/docs` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: `${EXAMPLE_SITE}/{municipio}`,
        // Told here, and not of the variable: swagger-parser refuses a description there.
        description: `municipio: ${PARAMS.municipio}`,
        variables: { municipio: { default: SANDBOX_SLUG } },
      },
    ],
    security: [],
    tags: Object.entries(TAGS).map(([name, { description }]) => ({ name, description })),
    paths: { ...pathsOf(ROUTES), ...sitePaths() },
    components: {
      schemas: {
        ...corpoSchemas(schemaRef),
        ...eventoSchemas(schemaRef),
        [ENVELOPE]: objectSchema({ ...ENVELOPE_FIELDS, ...NAO_CONFERIDO_FIELDS }),
        [CODIGO_DA_DPS]: {
          type: 'string',
          description: `Código de uma regra da DPS. O que cada um significa está em ${EXAMPLE_SITE}${ERROS_PATH}.`,
          enum: codesOfDps(),
        },
        ...Object.fromEntries(Object.entries(SHAPES).map(([name, shape]) => [name, shapeSchema(shape)])),
      },
      responses: Object.fromEntries(
        Object.values(COMMON).map(({ name, ...common }) => [
          name,
          withExamples(refusalResponse(common.about, common), madeExamples(common.status, common.codes)),
        ]),
      ),
      examples: {
        ...Object.fromEntries(
          MADE.map(({ name, titulo, refused }) => [name, { summary: titulo, value: envelopeExample(refused) }]),
        ),
        ...Object.fromEntries(EXEMPLOS.filter(isShared).map((one) => [sharedName(one), answerExample(one)])),
      },
      headers: Object.fromEntries(
        Object.entries(ANSWER_HEADERS).map(([name, { about, schema }]) => [
          headerKey(name),
          { description: about, schema },
        ]),
      ),
      securitySchemes: {
        [CLIENT_CERTIFICATE]: {
          type: 'mutualTLS',
          description:
            'Certificado ICP-Brasil da parte que pergunta (e-CNPJ ou e-CPF), apresentado na conexão. Só em produção; a integração não o pede.',
        },
      },
    },
    externalDocs: { description: 'Códigos de erro', url: `${EXAMPLE_SITE}${ERROS_PATH}` },
  };
}

const INTRODUCTION = [
  `O primeiro segmento de cada endereço é o município. **${SANDBOX_SLUG}** é o ambiente de integração: não pede certificado nem cadastro, e o que se emite nele não tem valor fiscal. O cabeçalho \`X-NFSe-Ambiente\` de cada resposta diz em qual ambiente ela foi dada.`,
  '**Sucesso** traz `status` `OK`. **Recusa** traz o envelope de erro: decida pelo status HTTP e por `codigo_erro`; o texto das mensagens pode mudar, o sentido de um código não. `erros` traz todos os erros da etapa que recusou.',
  '**Valores** são textos com duas casas (`"1000.00"`), nunca números de ponto flutuante. No corpo JSON um número também é aceito, e é lido algarismo por algarismo.',
  '**Assinatura**: em produção, a DPS em XML vem assinada (XMLDSig em `Signature`), e os corpos JSON trazem a assinatura em cabeçalho: um CMS destacado, em Base64, sobre os bytes exatos do corpo, com o certificado ICP-Brasil do autor dentro. Na integração a assinatura não é exigida; se vem, é conferida, e o resultado vai em `avisos`.',
  `**Repetir sem medo**: na emissão e no registro de eventos, uma requisição repetida com a mesma \`${IDEMPOTENCY_HEADER}\` recebe a resposta da primeira. Sem ela, uma DPS com série e número repetidos recebe E0014 com a chave da nota que já existe.`,
  'Há campos novos nas respostas de tempos em tempos; um cliente que não os conhece os ignora.',
].join('\n\n');

// Operations

const TAGS = {
  Emissão: {
    description: 'A DPS entra, a NFS-e com a sua chave de acesso sai. A validação confere sem emitir.',
    holds: ({ path, method }: Route) =>
      method === 'POST' && path.startsWith('/api/v1/nfse') && !path.includes('/eventos'),
  },
  Eventos: {
    description: 'Cancelamento, substituição, confirmação e rejeição, e a consulta deles.',
    holds: ({ path }: Route) => path.includes('/eventos'),
  },
  Consultas: {
    description: 'A nota pela chave, pelo protocolo ou pela DPS; o seu PDF; a situação de um prestador.',
    holds: ({ path }: Route) => /^\/api\/v1\/(nfse|dps|danfse|prestadores)\b/.test(path),
  },
  Assinatura: {
    description: 'Confere uma assinatura e diz o que mudar.',
    holds: ({ path }: Route) => path.startsWith('/api/v1/assinatura/'),
  },
  Catálogos: {
    description: 'As listas de valores que os campos da DPS e os eventos aceitam. Abertas, e guardáveis por uma hora.',
    holds: ({ path }: Route) => path.startsWith('/api/v1/catalogo/'),
  },
  Serviço: {
    description: 'O que o serviço diz de si, fora de qualquer município.',
    holds: () => false,
  },
} as const;

function tagOfRoute(route: Route): string {
  const found = Object.entries(TAGS).find(([, { holds }]) => holds(route));
  if (found === undefined) throw new RangeError(`${route.path} is under no heading`);
  return found[0];
}

function pathsOf(routes: readonly Route[]): Json {
  const byPath = Map.groupBy(routes, ({ path }) => path.replace(/:(\w+)/g, '{$1}'));
  return Object.fromEntries(
    [...byPath].map(([path, rows]) => [
      path,
      {
        ...Object.fromEntries(rows.map((route) => [route.method.toLowerCase(), operationOf(route)])),
      },
    ]),
  );
}

function pathParameters({ id, path }: Route): readonly Json[] {
  const [recorded] = examplesOf(id);
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const example = recorded?.pedido.parametros?.[name];
    return {
      name,
      in: 'path',
      required: true,
      description: PARAMS[name as keyof typeof PARAMS],
      schema: { type: 'string' },
      // A key or a number of another service would only be in the way of who tries.
      ...(example === undefined || OPENING.has(name) ? {} : { example }),
    };
  });
}

/** They open what they name. */
const OPENING: ReadonlySet<string> = new Set(['chave_acesso', 'numero_protocolo', 'id']);

function operationOf(route: Route): Json {
  const { summary, deprecated, takes } = route;
  const title = titleOf(summary);
  const parameters = [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)];
  return {
    operationId: route.id,
    tags: [tagOfRoute(route)],
    summary: title,
    description: summary,
    ...(deprecated ? { deprecated } : {}),
    ...(needsCertificate(route) ? { security: [{}, { [CLIENT_CERTIFICATE]: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(takes === undefined ? {} : { requestBody: requestBodyOf(route) }),
    responses: responsesOf(route),
  };
}

/** As long as fits beside an address. */
const TITLE_MAX = 100;

/** The first sentence of a summary, cut where it begins to tell more. */
function titleOf(summary: string): string {
  const [sentence = ''] = summary.split(/\.(?= |$)/);
  const [head = ''] = sentence.split(': ');
  const title = head.split(' ').length > 3 ? head : sentence;
  if (title.length <= TITLE_MAX) return title;
  const comma = title.lastIndexOf(',', TITLE_MAX);
  return comma > 0 ? title.slice(0, comma) : title;
}

/** Where the answer is for one party alone in production, and whoever asks is known by the certificate of the connection. */
function needsCertificate({ method, codes }: Route): boolean {
  return method === 'GET' && codes.includes('E9007');
}

const CLIENT_CERTIFICATE = 'certificado';

function queryParameters({ query = {} }: Route): readonly Json[] {
  return Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: QUERY_SCHEMAS[name] ?? { type: 'string' },
  }));
}

const QUERY_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  page: { type: 'integer', minimum: 1, maximum: 999_999_999, default: 1 },
  per_page: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
  data: { type: 'string', format: 'date' },
};

type HeaderWords = { readonly about: string; readonly schema: JsonSchema };

/** Headers of a request that have a meaning for the service. */
const REQUEST_HEADERS: Readonly<Record<string, HeaderWords>> = {
  'X-Request-Id': {
    about: 'Identificador seu da requisição: vai para o registro do serviço, ao lado do que ele dá a cada uma.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  [DPS_SIGNATURE_HEADER]: {
    about:
      'Assinatura do corpo JSON: CMS destacado em Base64, sobre os bytes exatos do corpo, com o certificado do prestador. Obrigatória em produção.',
    schema: { type: 'string', description: 'Base64.' },
  },
  [EVENTO_SIGNATURE_HEADER]: {
    about:
      'Assinatura do corpo: CMS destacado em Base64, sobre os bytes exatos do corpo, com o certificado do autor do evento. Obrigatória em produção.',
    schema: { type: 'string', description: 'Base64.' },
  },
  [SIMULAR_HEADER]: {
    about: `Só na integração: o que o ADN simulado faz com o documento. ${VALORES_MAGICOS.map(({ valor, significado }) => `\`${valor}\`: ${significado}`).join(' ')}`,
    schema: { type: 'string', maxLength: 4000 },
  },
  [IDEMPOTENCY_HEADER]: {
    about:
      'Um texto de 1 a 255 caracteres, um para cada requisição e o mesmo em cada repetição dela, como um UUID: a repetição recebe a resposta da primeira e nada faz de novo.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  'If-None-Match': {
    about: 'O ETag da resposta que já se tem: se ela ainda vale, a resposta é 304, sem corpo.',
    schema: { type: 'string' },
  },
};

function headerParameters({ reads = [], takesKey, headers }: Route): readonly Json[] {
  const names = [
    ...reads,
    ...(takesKey ? [IDEMPOTENCY_HEADER] : []),
    ...(headers.includes('ETag') ? ['If-None-Match'] : []),
    'X-Request-Id',
  ];
  return names.map(headerParameter);
}

function headerParameter(name: string): Json {
  const { about, schema } = worded(REQUEST_HEADERS, name);
  return { name, in: 'header', description: about, schema };
}

function worded(words: Readonly<Record<string, HeaderWords>>, name: string): HeaderWords {
  const found = words[name];
  if (found === undefined) throw new RangeError(`the header ${name} has no words`);
  return found;
}

function requestBodyOf({ id, path, takes = [] }: Route): Json {
  // A body that is refused stands beside the refusal: what stands here fits its schema, and a linter tries it.
  const examples = examplesOf(id).filter((one) => one.pedido.corpo !== undefined && !isRefusal(one));
  return {
    required: true,
    content: Object.fromEntries(
      takes.map((media) => {
        const own = examples.filter(({ pedido }) => pedido.cabecalhos?.['Content-Type'] === media);
        return [
          media,
          {
            schema: media === 'application/json' ? { $ref: schemaRef(bodySchema(path)) } : XML_BODY,
            ...(own.length === 0
              ? {}
              : {
                  examples: Object.fromEntries(
                    own.map(({ nome, titulo, pedido }) => [nome, { summary: titulo, value: pedido.corpo }]),
                  ),
                }),
          },
        ];
      }),
    ),
  };
}

function bodySchema(path: string): string {
  return path.endsWith('/eventos') ? PEDIDO_SCHEMA : CORPO_SCHEMA;
}

/**
 * The document is a text for OpenAPI; what is in it is the layout's to say. The reference shows an example of it as it is only where
 * it may be an object too, and asks for a file where the schema tells its media type.
 */
const XML_BODY: JsonSchema = {
  type: ['string', 'object'],
  xml: { name: 'DPS', namespace: DPS_NAMESPACE },
  description: `Uma DPS do leiaute 1.01 (raiz DPS, em ${DPS_NAMESPACE}), em UTF-8; em produção, assinada.`,
};

function isRefusal({ status }: Exemplo): boolean {
  return status >= 400;
}

// Answers

const ENVELOPE = 'EnvelopeDeErro';
const CODIGO_DA_DPS = 'CodigoDaDps';

/** Codes with which the law answers a DPS: those that stand in the layout's part of the table. */
function codesOfDps(): readonly string[] {
  return groupsOf(
    ERRORS.filter(({ situacao, status }) => situacao === 'enviado' && status === 422),
    fieldsOf,
  )
    .filter(({ id }) => !['requisicao', 'assinatura', 'eventos'].includes(id))
    .flatMap(({ errors }) => errors.map(({ codigo }) => codigo));
}

type Common = {
  readonly name: string;
  readonly status: number;
  readonly about: string;
  readonly codes: readonly string[];
  readonly headers: readonly string[];
};

/** What the protocol adds to every operation, by status. */
const COMMON = {
  400: {
    name: 'RequisicaoInvalida',
    status: 400,
    about: 'A requisição não se lê: endereço com % que não se decodifica, falta o cabeçalho Host, HTTP malformado.',
    codes: ['E003'],
    headers: [],
  },
  404: {
    name: 'MunicipioDesconhecido',
    status: 404,
    about: 'O primeiro segmento do endereço não é de nenhum município atendido.',
    codes: ['E601'],
    headers: [],
  },
  408: {
    name: 'CorpoDemorado',
    status: 408,
    about: 'O corpo não chegou inteiro no tempo de espera. Envie de novo.',
    codes: ['E003'],
    headers: [],
  },
  413: {
    name: 'CorpoGrandeDemais',
    status: 413,
    about: 'O corpo passa de 1 MiB.',
    codes: ['E003'],
    headers: [],
  },
  414: {
    name: 'EnderecoLongoDemais',
    status: 414,
    about: 'O endereço passa de 2048 caracteres.',
    codes: ['E003'],
    headers: [],
  },
  417: {
    name: 'ExpectDesconhecido',
    status: 417,
    about: 'O cabeçalho Expect traz outra coisa que 100-continue.',
    codes: ['E003'],
    headers: [],
  },
  429: {
    name: 'ConsultasDemais',
    status: 429,
    about:
      'Vieram documentos demais deste endereço de rede ou deste prestador (/docs/limites), ou houve consultas demais, deste endereço, ao que não existe. Nada foi feito: espere o que diz Retry-After e envie de novo.',
    codes: ['E703'],
    headers: ['Retry-After', ...RATE_LIMIT_HEADERS],
  },
  431: {
    name: 'CabecalhosGrandesDemais',
    status: 431,
    about: 'Os cabeçalhos da requisição passam de 32 KiB.',
    codes: ['E003'],
    headers: [],
  },
  500: {
    name: 'ErroInterno',
    status: 500,
    about: 'O serviço falhou. Se a mesma requisição falhar de novo, informe o X-Request-Id ao suporte.',
    codes: ['E999'],
    headers: [],
  },
  503: {
    name: 'Indisponivel',
    status: 503,
    about: 'O serviço não pode atender agora. Espere o que diz Retry-After e envie de novo.',
    codes: ['E703'],
    headers: ['Retry-After'],
  },
} as const satisfies Readonly<Record<number, Common>>;

type CommonStatus = keyof typeof COMMON;

function commonOf({ method, missCost, quotaCost }: Route): readonly CommonStatus[] {
  return [
    ...([400, 404] as const),
    ...(method === 'POST' ? ([408, 413] as const) : []),
    ...([414, 417] as const),
    ...(missCost === undefined && quotaCost === undefined ? [] : ([429] as const)),
    ...([431, 500, 503] as const),
  ];
}

function responsesOf(route: Route): Json {
  const own = ownCodes(route);
  const responses: [number, Json][] = [];
  if (own.get(route.status) === undefined) responses.push([route.status, successOf(route)]);
  if (route.headers.includes('ETag')) {
    responses.push([304, NOT_MODIFIED]);
  }
  for (const status of commonOf(route)) {
    if (!own.has(status)) responses.push([status, commonResponse(COMMON[status], route)]);
  }
  for (const [status, codes] of own) responses.push([status, ownRefusal(route, status, codes)]);
  return Object.fromEntries(responses.toSorted(([a], [b]) => a - b));
}

function commonResponse(common: Common, { always }: Route): Json {
  if (always === undefined) return { $ref: `#/components/responses/${common.name}` };
  const words = { ...common, headers: [...common.headers, ...Object.keys(always)] };
  return withExamples(refusalResponse(common.about, words), madeExamples(common.status, common.codes));
}

/** The codes that the row itself answers with, by status. */
function ownCodes(route: Route): ReadonlyMap<number, readonly string[]> {
  const { codes, statuses = {}, missCost, quotaCost, takesKey } = route;
  const byStatus = new Map<number, string[]>();
  const add = (codigo: string, status: number): void => {
    const known = byStatus.get(status) ?? [];
    if (!known.includes(codigo)) byStatus.set(status, [...known, codigo]);
  };
  for (const codigo of codes) {
    for (const status of statuses[codigo] ?? usualStatuses(codigo, route)) add(codigo, status);
  }
  if (takesKey) {
    add('E003', 422);
    add('E703', 409);
  }
  // What the protocol answers with the same status is told in one place.
  for (const status of commonOf(route)) {
    const common: Common = COMMON[status];
    const known = byStatus.get(status);
    if (known === undefined) continue;
    if (known.every((codigo) => common.codes.includes(codigo)) && status !== 404 && status !== 400)
      byStatus.delete(status);
    else for (const codigo of common.codes) add(codigo, status);
  }
  if (missCost === undefined && quotaCost === undefined) byStatus.delete(429);
  return byStatus;
}

function usualStatuses(codigo: string, { judges }: Route): readonly number[] {
  const { status } = errorOf(codigo) ?? {};
  if (typeof status !== 'number') throw new RangeError(`${codigo} refuses nothing`);
  return judges && status === 422 ? [422] : [status];
}

function successOf(route: Route): Json {
  const { id, status, method, fields, gives, givesToo, headers, deprecated } = route;
  const description = gives === undefined ? SUCCESS[status] : 'O documento.';
  const own = headerRefs([...headers, ...EVERY_HEADER]);
  if (method === 'HEAD') return { description: 'Há nota desta DPS.', headers: own };
  if (gives !== undefined) return { description, headers: own, content: { [gives]: {} } };
  const examples = examplesOf(id).filter((one) => one.status === status);
  return {
    description: deprecated ? `${description} O endereço é mantido para quem já o usa.` : description,
    headers: own,
    content: {
      'application/json': {
        schema: objectSchema(fields),
        ...(examples.length === 0 ? {} : { examples: answersOf(examples) }),
      },
      ...(givesToo === undefined ? {} : { [givesToo]: { schema: { type: 'string' } } }),
    },
  };
}

const SUCCESS: Readonly<Record<Route['status'], string>> = {
  200: 'Encontrado, ou conferido.',
  201: 'Registrado.',
  410: 'Encerrado.',
};

function ownRefusal(route: Route, status: number, codes: readonly string[]): Json {
  const { id, method, judges, headers } = route;
  const isJudged = judges === true && status === 422;
  const titles = codes.map((codigo) => `**${codigo}** ${errorOf(codigo)!.mensagem}.`);
  const about = [...titles, ...(isJudged ? ['E todos os códigos das regras da DPS.'] : [])].join('\n\n');
  const own = headers.filter((name) => OF_REFUSALS.has(name));
  const isTransient = codes.includes('E703') && (status === 409 || status === 422);
  const more = isTransient && !own.includes('Retry-After') ? ['Retry-After'] : [];
  const response = refusalResponse(about, { codes, headers: [...own, ...more], isJudged });
  if (method === 'HEAD') return { description: about, headers: response.headers };
  const recorded = EXEMPLOS.filter((one) => one.status === status && (one.id === id || one.tambem?.includes(id)));
  return withExamples(response, { ...answersOf(recorded), ...madeExamples(status, codes) });
}

/** A response in JSON with its examples by name. */
function withExamples(response: Json, examples: Json): Json {
  const content = response.content as Json;
  const json = content['application/json'] as Json;
  return { ...response, content: { 'application/json': { ...json, examples } } };
}

/** Headers of a row that its refusals may have too. */
const OF_REFUSALS: ReadonlySet<string> = new Set([
  REPEATED_HEADER,
  'Retry-After',
  ...RATE_LIMIT_HEADERS,
  ...Object.keys(DEPRECATION),
]);

type RefusalWords = {
  readonly codes: readonly string[];
  readonly headers: readonly string[];
  readonly isJudged?: boolean;
};

function refusalResponse(description: string, { codes, headers, isJudged }: RefusalWords): Json {
  // No code twice: a generator makes a list of types of the two.
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

// Headers of answers

const EVERY_HEADER = ['X-Request-Id', 'X-NFSe-Ambiente', 'Cache-Control', 'X-Content-Type-Options'] as const;

const ANSWER_HEADERS: Readonly<Record<string, HeaderWords>> = {
  'X-Request-Id': {
    about: 'Identificador que o serviço dá à requisição, também quando ela traz um seu. Informe-o ao suporte.',
    schema: { type: 'string', format: 'uuid' },
  },
  'X-NFSe-Ambiente': {
    about: 'Ambiente do município do endereço; falta quando o município não é conhecido.',
    schema: { type: 'string', enum: ['producao', 'homologacao'] },
  },
  'Cache-Control': { about: 'no-store, ou por quanto tempo a resposta se pode guardar.', schema: { type: 'string' } },
  'X-Content-Type-Options': { about: 'Sempre nosniff.', schema: { type: 'string', const: 'nosniff' } },
  Location: { about: 'Endereço do que foi criado.', schema: { type: 'string', format: 'uri' } },
  'Retry-After': {
    about:
      'Segundos até que valha a pena perguntar de novo, até 3600: o que falta para a próxima tentativa, onde há uma marcada; com 429, até que o que se enviou caiba no limite. Falta quando nada mais muda por si.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  [REPEATED_HEADER]: {
    about: `true: a resposta é a da primeira requisição com a mesma ${IDEMPOTENCY_HEADER}; nada foi feito agora.`,
    schema: { type: 'string', const: 'true' },
  },
  'RateLimit-Policy': {
    about:
      'Os limites que valem aqui, do endereço de rede (em IPv6, também da rede /48) e, quando se sabe de quem é, do prestador: q documentos em w segundos (draft-ietf-httpapi-ratelimit-headers). Falta onde não há limite.',
    schema: { type: 'string' },
  },
  RateLimit: {
    about: 'O que resta de cada um: r documentos, e t segundos até que haja de novo todos.',
    schema: { type: 'string' },
  },
  ETag: { about: 'Identifica a resposta como está agora, para If-None-Match.', schema: { type: 'string' } },
  Deprecation: { about: 'true: o endereço será retirado no futuro, sem data marcada.', schema: { type: 'string' } },
  Link: { about: 'Onde a nota se consulta no portal nacional.', schema: { type: 'string' } },
  Warning: { about: 'O mesmo aviso em uma frase.', schema: { type: 'string' } },
  'Content-Disposition': { about: 'Nome do arquivo.', schema: { type: 'string' } },
};

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(
    [...new Set(names)].map((name) => {
      worded(ANSWER_HEADERS, name);
      return [name, { $ref: `#/components/headers/${headerKey(name)}` }];
    }),
  );
}

function headerKey(name: string): string {
  return name.replaceAll('-', '');
}

const NOT_MODIFIED: Json = {
  description: 'A resposta que se tem ainda vale.',
  headers: headerRefs(['ETag', ...EVERY_HEADER]),
};

// Schemas of answers

function schemaRef(name: string): string {
  return `#/components/schemas/${name}`;
}

function shapeSchema(shape: Shape): JsonSchema {
  if (shape === 'objeto') return { type: 'object' };
  if (shape === 'texto_ou_objeto') return { type: ['string', 'object'] };
  return objectSchema(shape);
}

function objectSchema(fields: Fields): JsonSchema {
  const required = Object.entries(fields).flatMap(([name, { optional }]) => (optional ? [] : [name]));
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])),
    required,
  };
}

function fieldSchema({ type, about, nullable, values, formato }: Field): JsonSchema {
  const description = { description: about };
  const form = { ...(formato && FORMATS[formato]), ...(values && { enum: nullable ? [...values, null] : values }) };
  switch (type) {
    case 'string':
      return { ...description, type: nullable ? ['string', 'null'] : 'string', ...form };
    case 'number':
      return { ...description, type: nullable ? ['integer', 'null'] : 'integer', ...form };
    case 'boolean':
      return { ...description, type: nullable ? ['boolean', 'null'] : 'boolean' };
    case 'string[]':
    case 'number[]': {
      const items = { type: type === 'string[]' ? 'string' : 'integer' };
      return { ...description, type: nullable ? ['array', 'null'] : 'array', items };
    }
  }
  if (type.endsWith('[]')) {
    const items = { $ref: schemaRef(type.slice(0, -'[]'.length)) };
    return { ...description, type: nullable ? ['array', 'null'] : 'array', items };
  }
  const $ref = schemaRef(type satisfies string as ShapeName);
  return nullable ? { ...description, oneOf: [{ $ref }, { type: 'null' }] } : { ...description, $ref };
}

const FORMATS: Readonly<Record<Formato, JsonSchema>> = {
  chave: { pattern: '^[0-9]{9}[0-9A-Z]{14}[0-9]{27}$' },
  decimal: { pattern: '^-?[0-9]+\\.[0-9]{2}$' },
  dia: { format: 'date' },
  dia_brasileiro: { pattern: '^[0-9]{2}/[0-9]{2}/[0-9]{4}$' },
  momento: { format: 'date-time' },
  momento_espacado: { pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} [+-][0-9]{4}$' },
  endereco: { format: 'uri' },
  xml: { contentMediaType: 'application/xml' },
  codigo: { pattern: '^E[0-9]{3,4}$' },
};

// Examples

/** One exchange as it was recorded. */
export type Exemplo = {
  /** Of the operation. */
  readonly id: string;
  readonly nome: string;
  readonly titulo: string;
  readonly pedido: {
    readonly municipio: string;
    readonly parametros?: Readonly<Record<string, string>>;
    readonly consulta?: Readonly<Record<string, string>>;
    readonly cabecalhos?: Readonly<Record<string, string>>;
    /** A text, or what is sent as JSON. */
    readonly corpo?: unknown;
  };
  readonly status: number;
  readonly resposta?: unknown;
  /** Other operations that answer the same. */
  readonly tambem?: readonly string[];
};

export const EXEMPLOS: readonly Exemplo[] = exemplos;

function examplesOf(id: string): readonly Exemplo[] {
  return EXEMPLOS.filter((one) => one.id === id);
}

/** What several operations answer stands once, among the components. */
function answersOf(examples: readonly Exemplo[]): Json {
  return Object.fromEntries(
    examples.flatMap((one) => {
      if (one.resposta === undefined) return [];
      return [[one.nome, isShared(one) ? exampleRef(sharedName(one)) : answerExample(one)]];
    }),
  );
}

/** An answer; that to a refused body shows the body. */
function answerExample(one: Exemplo): Json {
  const { titulo, pedido, resposta } = one;
  const { corpo } = pedido;
  const described =
    corpo === undefined || !isRefusal(one)
      ? {}
      : { description: ['O corpo enviado:', '', '```', bodyText(corpo), '```'].join('\n') };
  return { summary: titulo, ...described, value: resposta };
}

/** A body as it is sent, a JSON one on several lines. */
function bodyText(corpo: unknown): string {
  return typeof corpo === 'string' ? corpo.trimEnd() : JSON.stringify(corpo, null, 2);
}

function isShared({ tambem }: Exemplo): boolean {
  return tambem !== undefined;
}

function sharedName({ id, nome }: Exemplo): string {
  return `${id}_${nome}`;
}

function exampleRef(name: string): Json {
  return { $ref: `#/components/examples/${name}` };
}

/** When the recorded examples were made. */
const EXAMPLE_MOMENT = '2026-11-21T12:00:00-03:00';
/** Of nobody. */
const EXAMPLE_REQUEST_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

/** A refusal that no ordinary request meets: made by what refuses it in the service, in the same words. */
type Made = { readonly name: string; readonly titulo: string; readonly status: number; readonly refused: Refused };

const made = (status: CommonStatus, titulo: string, refused: Refused): Made => ({
  name: COMMON[status].name,
  titulo,
  status,
  refused,
});

const MADE: readonly Made[] = [
  made(400, 'O endereço não se decodifica', troubled('bad_url', undefined)),
  made(404, 'O município do endereço não é atendido', unknownMunicipio('cidade')),
  made(408, 'O corpo não chegou inteiro', troubled('timeout', undefined)),
  made(413, 'O corpo é grande demais', troubled('body_too_large', undefined)),
  made(414, 'O endereço é longo demais', troubled('url_too_long', undefined)),
  made(417, 'Um Expect que não se atende', troubled('expectation', undefined)),
  made(429, 'Consultas demais ao que não existe', tooManyMisses(1)),
  {
    name: 'DocumentosDemais',
    titulo: 'Documentos demais de um endereço de rede',
    status: 429,
    refused: refusedAs(tooMuch({ ambiente: 'homologacao' }, 'endereco', AMBIENTES.homologacao.limites.endereco, 12)),
  },
  made(431, 'Os cabeçalhos são grandes demais', troubled('headers_too_large', undefined)),
  made(500, 'O serviço falhou', internal(EXAMPLE_REQUEST_ID)),
  made(503, 'O banco de dados não responde', storeGone()),
  {
    name: 'PrestadorNaoAutorizado',
    titulo: 'O prestador não está autorizado',
    status: 403,
    refused: { refusal: { faults: [NAO_AUTORIZADO] } },
  },
  {
    name: 'RepeticaoEmAndamento',
    titulo: 'A primeira requisição com a chave ainda está em andamento',
    status: 409,
    refused: { refusal: IN_PROGRESS },
  },
];

function envelopeExample({ refusal, campo }: Refused): object {
  // Without the fields that are not known, as it is sent.
  return JSON.parse(JSON.stringify(envelopeOf(refusal, EXAMPLE_SITE, EXAMPLE_MOMENT, campo)));
}

/** Those of a status whose code the answer may have. */
function madeExamples(status: number, codes: readonly string[]): Json {
  const fit = MADE.filter((one) => one.status === status && codes.includes(one.refused.refusal.faults[0].codigo));
  return Object.fromEntries(fit.map(({ name }) => [name, exampleRef(name)]));
}

// Outside of a municipality

const TABELA: JsonSchema = { type: 'array', items: { $ref: schemaRef('CodigoDaTabela' satisfies ShapeName) } };
/** Of the table an example shows one row. */
const SHOWN_CODE = 'E103';
const IS_HEALTHY: Json = { status: 'OK' };
const HEALTHY: JsonSchema = objectSchema({ status: { type: 'string', values: ['OK'], about: 'OK.' } });

function sitePaths(): Json {
  const servers = [{ url: EXAMPLE_SITE, description: 'Fora de qualquer município.' }];
  const site = (
    id: string,
    summary: string,
    schema: JsonSchema,
    example: unknown,
    isKept: boolean,
    more: Json = {},
  ): Json => ({
    servers,
    get: {
      operationId: id,
      tags: ['Serviço'],
      summary,
      description: `${summary}.`,
      parameters: [headerParameter('X-Request-Id'), ...(isKept ? [headerParameter('If-None-Match')] : [])],
      responses: {
        200: {
          description: 'O que se pediu.',
          headers: headerRefs([...(isKept ? ['ETag'] : []), 'X-Request-Id', 'Cache-Control', 'X-Content-Type-Options']),
          content: { 'application/json': { schema, example } },
        },
        ...(isKept ? { 304: NOT_MODIFIED } : {}),
        400: { $ref: `#/components/responses/${COMMON[400].name}` },
        ...more,
        500: { $ref: `#/components/responses/${COMMON[500].name}` },
      },
    },
  });
  return {
    '/health/live': site('saudeVivo', 'Diz que o processo responde', HEALTHY, IS_HEALTHY, false),
    '/health/ready': site('saudePronto', 'Diz se o serviço pode atender', HEALTHY, IS_HEALTHY, false, {
      503: { $ref: `#/components/responses/${COMMON[503].name}` },
    }),
    [`${ERROS_PATH}.json`]: site(
      'tabelaDeErros',
      'A tabela de códigos, com significado, solução e exemplos',
      TABELA,
      [errorJson(errorOf(SHOWN_CODE)!, `${EXAMPLE_SITE}${ERROS_PATH}`)],
      true,
    ),
    [OPENAPI_PATH]: site(
      'descricao',
      'Esta descrição',
      { type: 'object' },
      { openapi: OPENAPI, info: { title: TITLE, version: VERSION } },
      true,
    ),
  };
}
