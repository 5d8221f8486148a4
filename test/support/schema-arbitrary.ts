/** Values and requests drawn from the schemas of a description: all that they allow, and for requests also some that they do not. */

import type { Route } from '../../src/base/http/route.ts';
import type { Exemplo } from '../../src/published/openapi/examples.ts';
import fc from './seed.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is looked at place by place
type Place = any;

/** Longer lists would only be slow. */
const LIST_MAX = 3;
/** The weight of an absent optional property; a present value has 1, and so has null, which means absent. */
const ABSENT = 3;
/** Documents with correct check digits, which a pattern cannot express. */
const DOCUMENTOS = ['11222333000181', '12ABC34501DE35', '52998224725'];

/** Values that a schema allows. `document`: the description that its references point into. */
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
      // Its object draws the empty list.
      return fc.array(drawnFrom(document, schema.items), {
        minLength: 1,
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
    case 'null':
      return fc.constant(null);
    case 'string':
      return textOf(schema);
    default:
      throw new RangeError(`no value is drawn of ${type}`);
  }
}

/** Amounts with two decimals, as a sender writes them. */
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
  const documentos = DOCUMENTOS.filter((one) => right.test(one) && !right.test(`${one}1`));
  const drawn = documentos.length > 0 ? fc.constantFrom(...documentos) : fc.stringMatching(right);
  if (maxLength === undefined) return drawn;
  // A pattern without an end anchor gets padding, or is cut where it still matches.
  return drawn.map((text) => {
    const padded = text.padEnd(minLength, 'x');
    for (let end = Math.min(padded.length, maxLength); end >= Math.max(minLength, 1); end -= 1) {
      if (right.test(padded.slice(0, end))) return padded.slice(0, end);
    }
    return 'x'.repeat(Math.max(minLength, 1));
  });
}

/** The properties of an object; required companions are added, and excluded ones are left out. */
function objectOf(document: Place, schema: Place): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties);
  const values = fc.record(
    Object.fromEntries(names.map((name) => [name, drawnFrom(document, withoutNull(properties[name]))])),
  );
  const presence = fc.record(
    Object.fromEntries(
      names.map((name) => {
        const { type, minItems = 0 } = properties[name];
        const empty = [type].flat().includes('array') && minItems === 0 ? [[]] : [];
        const nothing = [undefined, ...(isNull(properties[name]) ? [null] : []), ...empty];
        const absent = { weight: ABSENT, arbitrary: fc.constantFrom(...nothing) };
        const there = { weight: 1, arbitrary: fc.constant(true) };
        return [name, required.includes(name) ? fc.constant(true) : fc.oneof(absent, there)];
      }),
    ),
  );
  return fc.tuple(values, presence, fc.nat()).map(([drawn, there, pick]) => {
    const said: Record<string, unknown> = {};
    for (const name of names) {
      const given = there[name] === true ? drawn[name] : there[name];
      if (given !== undefined) said[name] = given;
    }
    return settled(schema, said, drawn, pick);
  });
}

function isNull(schema: Place): boolean {
  return [schema.type].flat().includes('null') || (schema.oneOf ?? []).some(isNull);
}

function withoutNull(schema: Place): Place {
  if (schema.oneOf !== undefined) return { ...schema, oneOf: schema.oneOf.filter((one: Place) => !isNull(one)) };
  const values = schema.enum === undefined ? {} : { enum: schema.enum.filter((one: unknown) => one !== null) };
  return { ...schema, type: [schema.type].flat().filter((type) => type !== 'null'), ...values };
}

/** The rounds until the conditions of an object are stable: a choice may require a group, and the group its fields. */
const ROUNDS = 8;

function settled(
  { allOf = [], not }: Place,
  said: Record<string, unknown>,
  drawn: Readonly<Record<string, unknown>>,
  pick: number,
): Record<string, unknown> {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const one of allOf) if (holds(one.if, said)) give(one.then, said, drawn, pick);
  }
  if (not !== undefined && holds(not, said)) for (const name of namesIn(not).slice(1)) delete said[name];
  return said;
}

/** Evaluates the few keywords that the conditions use. */
function holds({ allOf, anyOf, oneOf, not, required = [], properties = {} }: Place, said: Place): boolean {
  return (
    (allOf ?? []).every((one: Place) => holds(one, said)) &&
    (anyOf === undefined || anyOf.some((one: Place) => holds(one, said))) &&
    (oneOf === undefined || oneOf.filter((one: Place) => holds(one, said)).length === 1) &&
    (not === undefined || !holds(not, said)) &&
    required.every((name: string) => said[name] !== undefined) &&
    Object.entries<Place>(properties).every(([name, wanted]) => said[name] === undefined || fits(wanted, said[name]))
  );
}

function fits({ type, const: constant, not, minItems = 0, maxItems = LIST_MAX }: Place, value: unknown): boolean {
  if (not !== undefined && fits(not, value)) return false;
  if (constant !== undefined && value !== constant) return false;
  if (Array.isArray(value) && (value.length < minItems || value.length > maxItems)) return false;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return type === undefined || [type].flat().includes(kind);
}

/** Makes a condition hold: its required properties are taken from the drawn ones, its forbidden ones are removed. */
function give(
  then: Place,
  said: Record<string, unknown>,
  drawn: Readonly<Record<string, unknown>>,
  pick: number,
): void {
  if (holds(then, said)) return;
  for (const one of then.allOf ?? []) give(one, said, drawn, pick);
  for (const name of then.required ?? []) said[name] = drawn[name];
  const members: readonly Place[] = then.anyOf ?? then.oneOf ?? [];
  if (members.length === 0 || holds(then, said)) return;
  const standing = members.filter((one) => holds(one, said));
  const kept = (standing.length > 0 ? standing : members)[pick % (standing.length || members.length)]!;
  if (then.oneOf !== undefined) {
    const keeps = namesIn(kept);
    for (const name of namesIn(then)) if (!keeps.includes(name)) delete said[name];
  }
  give(kept, said, drawn, pick);
}

function namesIn({ required = [], allOf = [], anyOf = [], oneOf = [] }: Place): readonly string[] {
  return [...required, ...[...allOf, ...anyOf, ...oneOf].flatMap(namesIn)];
}

export type Known = {
  /** Existing notes. */
  readonly chaves: readonly { readonly chave_acesso: string; readonly numero_protocolo: string }[];
  readonly bodies: fc.Arbitrary<unknown>;
  readonly eventos: fc.Arbitrary<unknown>;
};

/** A request of an operation with the parameters of the description and, now and then, with undeclared ones. */
export function requestOf(
  document: Place,
  { id, path, method, takes }: Route,
  { chaves, bodies, eventos }: Known,
): fc.Arbitrary<{ readonly id: string; readonly pedido: Exemplo['pedido'] }> {
  const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()];
  const parameters: readonly Place[] = operation.parameters ?? [];
  const strange = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((text) => text.isWellFormed());
  // Clients resolve these two before they send, and would request another address.
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

/** Text that a client can put into a header. */
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
