/** The addresses outside any municipality. */
import { errorOf } from '../../fiscal/errors.ts';
import { errorJson } from '../errors/json.ts';
import { ERROS_JSON_PATH, ERROS_PATH, OPENAPI_PATH } from '../paths.ts';
import type { Json } from './described.ts';
import { EXAMPLE_SITE } from './examples.ts';
import { field, orAbsent } from './field.ts';
import { headerParameter, headerRefs } from './headers.ts';
import { commonRef, NOT_MODIFIED } from './responses.ts';
import { objectSchema, schemaRef } from './schemas.ts';

const TABELA: Json = { type: 'array', items: { $ref: schemaRef('CodigoDaTabela') } };

/** The code whose row is the example of the table. */
const SHOWN_CODE = 'E103';

const HEALTHY = {
  schema: objectSchema({ status: field.choice(['OK'], 'OK.') }),
  example: { status: 'OK' },
  isKept: false,
} as const;

type Outside = {
  readonly id: string;
  readonly summary: string;
  readonly schema: Json;
  readonly example: unknown;
  /** True: the answer has an ETag, so that a reader can avoid getting it again. */
  readonly isKept: boolean;
  readonly more?: Json;
};

/** `self`: an example of the description itself. */
export function outsidePaths(self: Json): Json {
  return {
    '/health/live': outsidePath({
      id: 'saudeVivo',
      summary: 'Diz que o processo responde',
      ...HEALTHY,
    }),
    '/health/ready': outsidePath({
      id: 'saudePronto',
      summary: 'Diz se o serviço pode atender',
      ...HEALTHY,
      schema: objectSchema({
        status: field.choice(['OK'], 'OK.'),
        municipios_sem_arquivos: orAbsent(
          field.texts('Só à própria máquina, sem proxy: os municípios de que faltam arquivos nela.'),
        ),
      }),
      more: { 503: commonRef(503) },
    }),
    [ERROS_JSON_PATH]: outsidePath({
      id: 'tabelaDeErros',
      summary: 'A tabela de códigos, com significado, solução e exemplos',
      schema: TABELA,
      example: [errorJson(errorOf(SHOWN_CODE)!, `${EXAMPLE_SITE}${ERROS_PATH}`)],
      isKept: true,
    }),
    [OPENAPI_PATH]: outsidePath({
      id: 'descricao',
      summary: 'Esta descrição',
      schema: { type: 'object' },
      example: self,
      isKept: true,
    }),
  };
}

function outsidePath({ id, summary, schema, example, isKept, more = {} }: Outside): Json {
  return {
    servers: [{ url: EXAMPLE_SITE, description: 'Fora de qualquer município.' }],
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
        400: commonRef(400),
        ...more,
        500: commonRef(500),
      },
    },
  };
}
