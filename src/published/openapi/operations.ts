/** The addresses below a municipality as operations: heading, parameters, body and answers. */
import { DPS_NAMESPACE } from '../../fiscal/layout/dps.ts';
import { VERSOES } from '../../fiscal/layout/layouts.ts';
import { credenciaisOf } from '../credenciais.ts';
import { writeBraces } from '../markdown.ts';
import type { DescribedDoor, DescribedRoute, Json } from './described.ts';
import { examplesOf, isRefusal, pointToValue } from './examples.ts';
import type { Fields } from './field.ts';
import { headerParameters } from './headers.ts';
import { CORPO_SCHEMA, PEDIDO_SCHEMA } from './json-schema.ts';
import { responsesOf } from './responses.ts';
import { objectSchema, schemaRef } from './schemas.ts';

export const TAGS = {
  Emissão: {
    description: 'A DPS entra, a NFS-e com a sua chave de acesso sai. A validação confere sem emitir.',
    holds: ({ path, method }: DescribedRoute) =>
      method === 'POST' && path.startsWith('/api/v1/nfse') && !path.includes('/eventos'),
  },
  Eventos: {
    description: 'Cancelamento, substituição, confirmação e rejeição, e a consulta deles.',
    holds: ({ path }: DescribedRoute) => /^\/api\/v1\/nfse\b.*\/eventos/.test(path),
  },
  Consultas: {
    description: 'A nota pela chave, pelo protocolo ou pela DPS; o seu PDF; a situação de um prestador.',
    holds: ({ path }: DescribedRoute) => /^\/api\/v1\/(nfse|dps|danfse|prestadores)\b/.test(path),
  },
  'API nacional': {
    description:
      'O contrato da API nacional no endereço do município, para programas que já a conhecem: muda-se o endereço, e nada mais.',
    holds: ({ isNacional, path }: DescribedRoute) => isNacional === true || path.startsWith('/danfse/'),
  },
  Identidade: {
    description: 'Um token em lugar do certificado, para quem pergunta.',
    holds: ({ path }: DescribedRoute) => path.startsWith('/api/v1/token'),
  },
  'Listas e mudanças': {
    description:
      'As notas e os eventos de um CNPJ ou CPF, o que muda neles, e as notas num arquivo. Para o dono do documento.',
    holds: ({ path }: DescribedRoute) => /^\/api\/v1\/(notas|eventos|mudancas|exportacoes)\b/.test(path),
  },
  'Ambiente próprio': {
    description: 'Um ambiente de integração só seu: relógio, cadastros e as suas últimas requisições.',
    holds: ({ path }: DescribedRoute) => /^\/api\/v1\/ambientes?\b/.test(path),
  },
  Avisos: {
    description: 'Endereços a que se avisa o que muda (webhooks), com um token de escopo webhooks.',
    holds: ({ path }: DescribedRoute) => path.startsWith('/api/v1/webhooks'),
  },
  Assinatura: {
    description: 'Confere uma assinatura e diz o que mudar.',
    holds: ({ path }: DescribedRoute) => path.startsWith('/api/v1/assinatura/'),
  },
  Catálogos: {
    description: 'As listas de valores que os campos da DPS e os eventos aceitam. Abertas, e guardáveis por uma hora.',
    holds: ({ path }: DescribedRoute) => path.startsWith('/api/v1/catalogo/'),
  },
  Serviço: {
    description: 'O que o serviço diz de si, fora de qualquer município.',
    holds: () => false,
  },
} as const;

function tagOfRoute(route: DescribedRoute): string {
  const found = Object.entries(TAGS).find(([, { holds }]) => holds(route));
  if (found === undefined) throw new RangeError(`${route.path} is under no heading`);
  return found[0];
}

export function pathsOf(door: DescribedDoor): Json {
  const byPath = Map.groupBy(door.routes, ({ path }) => writeBraces(path));
  return Object.fromEntries(
    [...byPath].map(([path, rows]) => [
      path,
      Object.fromEntries(rows.map((route) => [route.method.toLowerCase(), operationOf(route, door)])),
    ]),
  );
}

function pathParameters({ id, path }: DescribedRoute, { params }: DescribedDoor): readonly Json[] {
  const [recorded] = examplesOf(id);
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const example = recorded?.pedido.parametros?.[name];
    const isInteger = name === 'num_seq_evento';
    return {
      name,
      in: 'path',
      required: true,
      description: params[name],
      schema: isInteger ? { type: 'integer', minimum: 1 } : { type: 'string' },
      // A recorded key or number would find no note for a reader who tries the operation.
      ...(example === undefined || OPENING.has(name) ? {} : { example: isInteger ? Number(example) : example }),
    };
  });
}

/** Parameters that give access to their object. */
const OPENING: ReadonlySet<string> = new Set(['chave_acesso', 'numero_protocolo', 'id']);

function operationOf(route: DescribedRoute, door: DescribedDoor): Json {
  const { summary, deprecated, takes } = route;
  const title = titleOf(summary);
  const parameters = [...pathParameters(route, door), ...queryParameters(route), ...headerParameters(route)];
  return {
    operationId: route.id,
    tags: [tagOfRoute(route)],
    summary: title,
    description: summary,
    ...(deprecated ? { deprecated } : {}),
    ...securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(takes === undefined ? {} : { requestBody: requestBodyOf(route) }),
    responses: responsesOf(route, door.refusals),
  };
}

/** Longest title that fits beside an address. */
const TITLE_MAX = 100;

/** The first sentence of a summary, cut where it goes into detail. */
function titleOf(summary: string): string {
  const [sentence = ''] = summary.split(/\.(?= |$)/);
  const [head = ''] = sentence.split(': ');
  const title = head.split(' ').length > 3 ? head : sentence;
  if (title.length <= TITLE_MAX) return title;
  const comma = title.lastIndexOf(',', TITLE_MAX);
  return comma > 0 ? title.slice(0, comma) : title;
}

/** A signature is a parameter of its address. Outside production most other addresses take a request without any proof of identity. */
function securityOf(route: DescribedRoute): Json {
  const taken = credenciaisOf(route);
  const ways = taken.flatMap(({ por }) => (por === 'assinatura' ? [] : [{ [SCHEMES[por]]: [] }]));
  if (ways.length === 0 || ways.length < taken.length) return {};
  return { security: route.asksToken || route.asksOwner ? ways : [{}, ...ways] };
}

export const CLIENT_CERTIFICATE = 'certificado';
export const TOKEN = 'token';
export const OWNER_KEY = 'chave_do_ambiente';
const SCHEMES = { token: TOKEN, certificado: CLIENT_CERTIFICATE, chave_do_ambiente: OWNER_KEY } as const;

function queryParameters({ query = {} }: DescribedRoute): readonly Json[] {
  return Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: QUERY_SCHEMAS[name] ?? { type: 'string' },
  }));
}

const QUERY_SCHEMAS: Readonly<Record<string, Json>> = {
  page: { type: 'integer', minimum: 1, maximum: 999_999_999, default: 1 },
  per_page: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
  data: { type: 'string', format: 'date' },
  // The highest ones differ by address, and stand in its words.
  espera: { type: 'integer', minimum: 0 },
  limite: { type: 'integer', minimum: 1 },
};

function requestBodyOf({ id, path, takes = [], sends, isBodyOptional }: DescribedRoute): Json {
  // A refused body is shown with its refusal: examples here must match the schema, which linters check.
  const examples = examplesOf(id).filter((one) => one.pedido.corpo !== undefined && !isRefusal(one));
  return {
    required: isBodyOptional !== true,
    content: Object.fromEntries(
      takes.map((media) => {
        const own = examples.filter(({ pedido }) => pedido.cabecalhos?.['Content-Type'] === media);
        return [
          media,
          {
            schema: bodyOf(media, path, sends),
            ...(own.length === 0
              ? {}
              : {
                  examples: Object.fromEntries(
                    own.map((one) => [one.nome, { summary: one.titulo, ...pointToValue(one, 'corpo') }]),
                  ),
                }),
          },
        ];
      }),
    ),
  };
}

function bodyOf(media: string, path: string, sends: Fields | undefined): Json {
  if (media === 'text/csv') return CSV_BODY;
  if (media !== 'application/json') return XML_BODY;
  return sends === undefined ? { $ref: schemaRef(bodySchema(path)) } : objectSchema(sends);
}

const CSV_BODY: Json = { type: 'string', description: 'Um arquivo CSV, com cabeçalho, como o município importa.' };

function bodySchema(path: string): string {
  return path.endsWith('/eventos') ? PEDIDO_SCHEMA : CORPO_SCHEMA;
}

/**
 * The document is a text for OpenAPI; the layout describes its content. The type `object` makes the viewer show an example unchanged. A
 * media type in the schema would make the viewer ask for a file.
 */
const XML_BODY: Json = {
  type: ['string', 'object'],
  xml: { name: 'DPS', namespace: DPS_NAMESPACE },
  description: `Uma DPS do leiaute ${VERSOES} (raiz DPS, em ${DPS_NAMESPACE}), em UTF-8; em produção, assinada.`,
};
