/**
 * The public description of the service, OpenAPI 3.1. It is made of the door's own data, the layout and the table of errors, and contains
 * only real behaviour. Only the words for the reader and the protocol's additions to every operation are written here.
 */

import { IDEMPOTENCY_HEADER } from '../../base/world/idempotency.ts';
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { once } from '../../fiscal/catalogs/table.ts';
import { VERSOES } from '../../fiscal/layout/layouts.ts';
import { DOCS_PATH, ERROS_PATH } from '../paths.ts';
import { projectText } from '../project-text.ts';
import { programVersion, versionOf } from '../versao.ts';
import type { DescribedDoor, Json } from './described.ts';
import { EXAMPLE_SITE, inlineValues, sharedExamples } from './examples.ts';
import { headerComponents } from './headers.ts';
import { corpoSchemas, eventoSchemas } from './json-schema.ts';
import { CLIENT_CERTIFICATE, OWNER_KEY, pathsOf, TAGS, TOKEN } from './operations.ts';
import { outsidePaths } from './outside.ts';
import { CODIGO_DA_DPS, codesOfDps, commonResponses, ENVELOPE, madeComponents } from './responses.ts';
import { objectSchema, schemaRef, shapeSchema } from './schemas.ts';

const OPENAPI = '3.1.0';
const TITLE = 'Emissor de NFS-e';

/** The generated file with its examples and the commit of this program, without white space. */
const text = once(() => {
  const { info, ...rest } = inlineValues(JSON.parse(projectText('docs/openapi.json')));
  const { openapi, ...parts } = rest;
  return JSON.stringify({ openapi, info: { ...(info as Json), version: programVersion() }, ...parts });
});

/**
 * The served description; `site`: the address of the service for the reader. The generated file is served: making it anew would delay other
 * requests by a tenth of a second or more.
 */
export function openapiText(site: string): string {
  const escaped = JSON.stringify(site).slice(1, -1);
  return text().replaceAll(EXAMPLE_SITE, () => escaped);
}

/** The description with the address of the examples, and with their values. */
export function describeApi(door: DescribedDoor): Json {
  return inlineValues(describeApiShortly(door));
}

/** The description as it is committed: the values of its examples stand in `exemplos.json`. */
export function describeApiShortly(door: DescribedDoor): Json {
  return {
    openapi: OPENAPI,
    info: {
      title: TITLE,
      version: versionOf().version,
      summary: `Emissão, consulta e eventos da NFS-e do padrão nacional, leiaute ${VERSOES}.`,
      description: INTRODUCTION,
      contact: { name: 'Documentação do serviço', url: `${EXAMPLE_SITE}${DOCS_PATH}` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: `${EXAMPLE_SITE}/{municipio}`,
        // The description stands here because swagger-parser refuses one in the variable.
        description: `municipio: ${door.params['municipio']}`,
        variables: { municipio: { default: SANDBOX_SLUG } },
      },
    ],
    security: [],
    tags: Object.entries(TAGS).map(([name, { description }]) => ({ name, description })),
    paths: {
      ...pathsOf(door),
      ...outsidePaths({ openapi: OPENAPI, info: { title: TITLE, version: versionOf().version } }),
    },
    components: componentsOf(door),
    externalDocs: { description: 'Códigos de erro', url: `${EXAMPLE_SITE}${ERROS_PATH}` },
  };
}

function componentsOf(door: DescribedDoor): Json {
  const { envelope, shapes, refusals } = door;
  return {
    schemas: {
      ...corpoSchemas(schemaRef),
      ...eventoSchemas(schemaRef),
      [ENVELOPE]: objectSchema(envelope),
      [CODIGO_DA_DPS]: {
        type: 'string',
        description: `Código de uma regra da DPS. O que cada um significa está em ${EXAMPLE_SITE}${ERROS_PATH}.`,
        enum: codesOfDps(),
      },
      ...Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, shapeSchema(shape)])),
    },
    responses: commonResponses(door),
    examples: { ...madeComponents(refusals), ...sharedExamples() },
    headers: headerComponents(),
    securitySchemes: {
      [CLIENT_CERTIFICATE]: {
        type: 'mutualTLS',
        description:
          'Certificado ICP-Brasil da parte que pergunta (e-CNPJ ou e-CPF), apresentado na conexão. Só em produção; a integração não o pede.',
      },
      [TOKEN]: {
        type: 'http',
        scheme: 'bearer',
        description: 'Token de um CNPJ ou CPF, que POST …/api/v1/token dá. Pergunta, e não emite.',
      },
      [OWNER_KEY]: {
        type: 'http',
        scheme: 'bearer',
        description:
          'A chave do dono de um ambiente próprio (ensaio_…), que POST /integracao/api/v1/ambientes dá uma vez. Muda o relógio e mostra o que há nele; não é um token, e não lista notas.',
      },
    },
  };
}

const INTRODUCTION = [
  `O primeiro segmento de cada endereço é o município. **${SANDBOX_SLUG}** é o ambiente de integração: não pede certificado nem cadastro, e o que se emite nele não tem valor fiscal. O cabeçalho \`X-NFSe-Ambiente\` de cada resposta diz em qual ambiente ela foi dada.`,
  '**Sucesso** traz `status` `OK`. **Recusa** traz o envelope de erro: decida pelo status HTTP e por `codigo_erro`; o texto das mensagens pode mudar, o sentido de um código não. `erros` traz todos os erros, de todas as etapas; o que depende de um campo ilegível vem depois de ele ser corrigido. Com `Accept: application/problem+json` a recusa é um problema do RFC 9457 (`type`, `title`, `status`, `detail`, `instance`), com os mesmos campos ao lado.',
  '**Valores** são textos com duas casas (`"1000.00"`), nunca números de ponto flutuante. No corpo JSON um número também é aceito, e é lido dígito por dígito.',
  '**Assinatura**: em produção, a DPS em XML vem assinada (XMLDSig em `Signature`), e os corpos JSON trazem a assinatura em cabeçalho: um CMS destacado, em Base64, sobre os bytes exatos do corpo, com o certificado ICP-Brasil do autor dentro. Na integração a assinatura não é exigida; se vem, é conferida, e o resultado vai em `avisos`.',
  `**Repetir sem medo**: na emissão e no registro de eventos, uma requisição repetida com a mesma \`${IDEMPOTENCY_HEADER}\` recebe a resposta da primeira. Sem ela, uma DPS com série e número repetidos recebe E0014 com a chave da nota que já existe.`,
  'Há campos novos nas respostas de tempos em tempos; um cliente que não os conhece os ignora.',
].join('\n\n');
