/** Checks requests and answers against an OpenAPI description of the service; no other test code knows its form. */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Head } from './http.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is looked at place by place
type Place = any;

export type Described = {
  /** Compiles a schema of the components. */
  schema(name: string): ValidateFunction;
  admits(id: string, body: unknown): boolean;
  /** The reason why a body is invalid. */
  refusal(id: string, body: unknown): string;
  assertBody(id: string, body: unknown): void;
  /** The description has the status, the headers, the media type and the body. */
  assertAnswer(id: string, response: Head, text: string): void;
};

/** Headers of the connection itself, or of every kind of content. */
const OF_HTTP = new Set([
  ...['date', 'connection', 'keep-alive', 'content-length', 'content-type', 'transfer-encoding'],
  // A library asks for the compression, and undoes it.
  ...['vary', 'content-encoding'],
  // These headers are for browsers alone, which act on them before a program sees the answer.
  ...['access-control-allow-origin', 'access-control-expose-headers'],
]);

export function describedBy(document: Place): Described {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    allowUnionTypes: true,
    discriminator: false,
  });
  addFormats.default(ajv);
  ajv.addVocabulary([
    'discriminator',
    'openapi',
    'info',
    'servers',
    'security',
    'tags',
    'paths',
    'components',
    'externalDocs',
    'xml',
  ]);
  const strict = closed(structuredClone(document));
  ajv.addSchema({ $id: 'openapi', ...strict });
  const compiled = new Map<string, ValidateFunction>();
  const at = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer);
    if (known !== undefined) return known;
    const made = ajv.compile({ $ref: `openapi#${pointer}` });
    compiled.set(pointer, made);
    return made;
  };
  const operations = new Map<string, { readonly pointer: string; readonly operation: Place }>();
  for (const [path, methods] of Object.entries<Place>(document.paths)) {
    for (const [method, operation] of Object.entries<Place>(methods)) {
      if (operation.operationId === undefined) continue;
      operations.set(operation.operationId, { pointer: `/paths/${escaped(path)}/${method}`, operation });
    }
  }
  const operationOf = (id: string): { readonly pointer: string; readonly operation: Place } => {
    const found = operations.get(id);
    assert.ok(found !== undefined, `the description has no operation ${id}`);
    return found;
  };
  const bodyOf = (id: string): ValidateFunction =>
    at(`${operationOf(id).pointer}/requestBody/content/${escaped('application/json')}/schema`);

  return {
    schema: (name) => at(`/components/schemas/${name}`),
    admits: (id, body) => bodyOf(id)(body),
    refusal: (id, body) => {
      const validate = bodyOf(id);
      return validate(body) ? '' : told(validate);
    },
    assertBody: (id, body) => {
      const validate = bodyOf(id);
      assert.ok(
        validate(body),
        `${id} is sent what it does not admit, ${told(validate)}: ${JSON.stringify(body).slice(0, 3_000)}`,
      );
    },
    assertAnswer: (id, response, text) => {
      const { pointer, operation } = operationOf(id);
      const about = `${id} answered ${response.status} ${text.slice(0, 1_500)}`;
      const direct = operation.responses[response.status];
      assert.ok(direct !== undefined, `undocumented status: ${about}`);
      const place = direct.$ref === undefined ? `${pointer}/responses/${response.status}` : direct.$ref.slice(1);
      const answer = direct.$ref === undefined ? direct : resolved(document, direct.$ref);
      const names = new Set(Object.keys(answer.headers ?? {}).map((name) => name.toLowerCase()));
      for (const [name, value] of response.headers) {
        if (OF_HTTP.has(name)) continue;
        assert.ok(names.has(name), `undocumented header ${name}: ${about}`);
        const key = Object.keys(answer.headers).find((one) => one.toLowerCase() === name)!;
        const { $ref } = answer.headers[key];
        const validate = at(`${$ref.slice(1)}/schema`);
        const isInteger = resolved(document, $ref).schema.type === 'integer' && /^\d+$/.test(value);
        assert.ok(validate(isInteger ? Number(value) : value), `${name}: ${value} ${told(validate)}`);
      }
      const type = response.headers.get('content-type')?.replace(/;.*/, '');
      if (text === '') return;
      const content = answer.content?.[type ?? ''];
      assert.ok(content !== undefined, `undocumented media type ${type}: ${about}`);
      if (type !== 'application/json' || content.schema === undefined) return;
      const validate = at(`${place}/content/${escaped(type)}/schema`);
      assert.ok(validate(JSON.parse(text)), `${told(validate)}: ${about}`);
    },
  };
}

function told({ errors }: ValidateFunction): string {
  return (errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
    .join('; ');
}

function resolved(document: Place, ref: string): Place {
  return ref
    .slice(2)
    .split('/')
    .reduce((place, step) => place[step], document);
}

function escaped(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/**
 * The description allows future fields; the tests do not. An object with declared properties has no others, unless several parts describe
 * it.
 */
function closed(place: Place): Place {
  if (Array.isArray(place)) return place.map(closed);
  if (typeof place !== 'object' || place === null) return place;
  const inside = Object.fromEntries(
    Object.entries<Place>(place).map(([name, value]) => [
      name,
      name === 'examples' || name === 'example' ? value : closed(value),
    ]),
  );
  const isObject =
    inside['type'] === 'object' && inside['properties'] !== undefined && inside['additionalProperties'] === undefined;
  return isObject ? { ...inside, additionalProperties: false } : inside;
}
