/** Values and requests drawn from the schemas of a description: all that they admit, and of requests some that they do not. */
import type { Exemplo } from '../../src/doors/rest/openapi.ts';
import type { Route } from '../../src/doors/rest/routes.ts';
import fc from './seed.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is looked at place by place
type Place = any;

/** Lists longer than this would only be slow. */
const LIST_MAX = 3;
/** How often an optional property is not there, against once that it is. */
const ABSENT = 3;

/** What a schema admits. `document`: where its references lead. */
export function drawnFrom(document: Place, schema: Place): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const steps: readonly string[] = schema.$ref.slice(2).split('/');
    return drawnFrom(
      document,
      steps.reduce((place, step) => place[step], document),
    );
  }
  if (schema.oneOf !== undefined) return fc.oneof(...schema.oneOf.map((one: Place) => drawnFrom(document, one)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const types: readonly string[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  return fc.oneof(...types.map((type) => ofType(document, schema, type)));
}

function ofType(document: Place, schema: Place, type: string): fc.Arbitrary<unknown> {
  switch (type) {
    case 'object':
      return objectOf(document, schema);
    case 'array':
      return fc.array(drawnFrom(document, schema.items), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? LIST_MAX, LIST_MAX),
      });
    case 'integer':
      return fc.integer({
        min: schema.minimum ?? 0,
        max: Math.min(schema.maximum ?? 1_000_000, Number.MAX_SAFE_INTEGER),
      });
    case 'number':
      return amountOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'string':
      return textOf(schema);
    default:
      throw new RangeError(`no value is drawn of ${type}`);
  }
}

/** With two places, as a sender has them. */
function amountOf({ maximum, exclusiveMaximum }: Place): fc.Arbitrary<number> {
  const highest = Math.min(maximum ?? exclusiveMaximum - 1, 1_000_000_000);
  return fc.integer({ min: 0, max: highest * 100 }).map((cents) => cents / 100);
}

function textOf({ pattern, format, minLength = 0, maxLength }: Place): fc.Arbitrary<string> {
  if (format === 'date') {
    const days = { min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true };
    return fc.date(days).map((date) => date.toISOString().slice(0, 10));
  }
  const isShort = (text: string): boolean => maxLength === undefined || [...text].length <= maxLength;
  if (pattern === undefined)
    return fc
      .string({ unit: 'grapheme', minLength, maxLength: maxLength ?? 40 })
      .filter((text) => isShort(text) && [...text].length >= minLength);
  const right = new RegExp(pattern, 'u');
  const drawn = fc.stringMatching(right);
  if (maxLength === undefined) return drawn;
  // A pattern without an end of its own is had by padding, and cutting where it still fits.
  return drawn.map((text) => {
    const padded = text.padEnd(minLength, 'x');
    for (let end = Math.min(padded.length, maxLength); end >= Math.max(minLength, 1); end -= 1) {
      if (right.test(padded.slice(0, end))) return padded.slice(0, end);
    }
    return 'x'.repeat(Math.max(minLength, 1));
  });
}

function objectOf(document: Place, { properties = {}, required = [], allOf = [] }: Place): fc.Arbitrary<unknown> {
  // What one value asks of another is always given.
  const always: readonly string[] = [...required, ...allOf.flatMap(({ then }: Place) => then?.required ?? [])];
  const members = Object.entries(properties).map(([name, schema]) => {
    const drawn = drawnFrom(document, schema);
    const absent = { weight: ABSENT, arbitrary: fc.constant(undefined) };
    return [name, always.includes(name) ? drawn : fc.oneof(absent, { weight: 1, arbitrary: drawn })] as const;
  });
  return fc.record(Object.fromEntries(members)).map((drawn) => {
    const said = Object.entries(drawn).filter(([, value]) => value !== undefined);
    // The two names of an author are one choice.
    const isAlone = ([name]: readonly [string, unknown]): boolean =>
      name !== 'cpf_autor' || said.every(([other]) => other !== 'cnpj_autor');
    return Object.fromEntries(said.filter(isAlone));
  });
}

export type Known = {
  /** Notes that are there. */
  readonly chaves: readonly { readonly chave_acesso: string; readonly numero_protocolo: string }[];
  readonly bodies: fc.Arbitrary<unknown>;
  readonly eventos: fc.Arbitrary<unknown>;
};

/** A request of an operation, with what the description has for it and, now and then, with what it has not. */
export function requestOf(
  document: Place,
  { id, path, method, takes }: Route,
  { chaves, bodies, eventos }: Known,
): fc.Arbitrary<{ readonly id: string; readonly pedido: Exemplo['pedido'] }> {
  const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()];
  const parameters: readonly Place[] = operation.parameters ?? [];
  const strange = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((text) => text.isWellFormed());
  // A client walks these two before it sends, and asks for another address.
  const segment = strange.filter((text) => text !== '.' && text !== '..');
  const named: Readonly<Record<string, fc.Arbitrary<string>>> = {
    chave_acesso: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...chaves.map((one) => one.chave_acesso)) },
      segment,
    ),
    numero_protocolo: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...chaves.map((one) => one.numero_protocolo)) },
      segment,
    ),
    tipo_evento: fc.oneof(fc.constantFrom('cancelamento', 'confirmacao_tomador', '101101'), segment),
    num_seq_evento: fc.oneof(fc.constantFrom('1', '2', '999', '1000'), segment),
    documento: fc.oneof(fc.constantFrom('11222333000181', '52998224725'), segment),
    id: fc.oneof(fc.constantFrom('DPS355030821122233300018100001000000000000001'), segment),
  };
  const parametros = fc.record(
    Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, named[name!] ?? segment])),
  );
  const consulta = fc.record(
    Object.fromEntries(
      parameters
        .filter((one) => one.in === 'query')
        .map(({ name, schema }) => [
          name,
          fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, drawnFrom(document, schema).map(String), strange),
        ]),
    ),
  );
  const cabecalhos = fc.record(
    Object.fromEntries(
      parameters
        .filter((one) => one.in === 'header')
        .map(({ name, schema }) => [
          name,
          fc.oneof(
            { weight: 4, arbitrary: fc.constant(undefined) },
            headerText(drawnFrom(document, schema).map(String)),
          ),
        ]),
    ),
  );
  const json = path.endsWith('/eventos') ? eventos : bodies;
  const corpo =
    method === 'POST'
      ? fc.oneof({ weight: 4, arbitrary: json }, fc.json({ maxDepth: 3 }), fc.constantFrom('', '<a/>', '{', 'null'))
      : fc.constant(undefined);
  const types = fc.oneof(
    { weight: 8, arbitrary: fc.constant('application/json') },
    fc.constantFrom(...(takes ?? ['text/plain']), 'text/plain'),
  );
  return fc
    .record({
      parametros,
      consulta,
      cabecalhos,
      corpo,
      type: types,
      municipio: fc.oneof({ weight: 9, arbitrary: fc.constant('integracao') }, fc.constantFrom('ninguem', 'sao-paulo')),
    })
    .map((one) => ({
      id,
      pedido: {
        municipio: one.municipio,
        parametros: one.parametros as Record<string, string>,
        consulta: defined(one.consulta),
        cabecalhos: { ...defined(one.cabecalhos), ...(one.corpo === undefined ? {} : { 'Content-Type': one.type }) },
        ...(one.corpo === undefined ? {} : { corpo: one.corpo }),
      },
    }));
}

/** What a client can put into a header. */
function headerText(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return texts.map(
    (text) =>
      text
        .replace(/[^ -~]/g, '')
        .trim()
        .slice(0, 300) || 'x',
  );
}

function defined(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}
