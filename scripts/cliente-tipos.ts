/**
 * The types of the client (`packages/cliente/src/tipos.ts`), made of the public description: requests, answers, codes,
 * and the address of each operation.
 *
 * A group of fields, or a long list of values, is written once, under a name. The file has a layout of its own, so that
 * a changed contract shows as a small diff. The description of each field states the parts of JSON Schema that types
 * cannot express (patterns, limits, conditions).
 */

import { DESCRIBED_DOOR } from '../src/doors/rest/described-door.ts';
import { upperFirst } from '../src/fiscal/words.ts';
import { describeApi } from '../src/published/openapi/openapi.ts';
import { GROUPS, UNION_NAMES } from './cliente-grupos.ts';

type Schema = {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly (string | number | null)[];
  readonly const?: string | number;
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
  readonly pattern?: string;
};

type Media = { readonly schema?: Schema };
type Answer = { readonly $ref?: string; readonly content?: Readonly<Record<string, Media>> };
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly deprecated?: boolean;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Answer>>;
};
type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** Line width of the file, comments aside. */
const LINE_MAX = 120;
const KEY_HEADER = 'Idempotency-Key';
const CODES = 'CodigoDeErro';
/** Type name of a field with a code: a newer service may know further codes. */
const CODE = 'Codigo';
const CODE_PATTERN = '^E[0-9]{3,4}$';
/** The only operation outside a municipality that the client needs. */
const TABLE_OF_CODES = 'tabelaDeErros';
const METHODS = ['get', 'head', 'post', 'patch', 'delete'];

export function clienteTipos(): string {
  const { paths, components } = describeApi(DESCRIBED_DOOR) as unknown as Description;
  const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
    METHODS.flatMap((method) => {
      const operation = byMethod[method];
      // Operations for machines alone, and closed ones, have no place in the client.
      const isWanted = path.startsWith('/api/v1/') || operation?.operationId === TABLE_OF_CODES;
      const isOurs = operation !== undefined && isWanted && success(operation) !== undefined;
      return isOurs ? [{ path, method: method.toUpperCase(), operation }] : [];
    }),
  );
  const sent = reachable(
    operations.flatMap(({ operation }) => Object.values(operation.requestBody?.content ?? {})),
    components.schemas,
  );
  const schemas = Object.entries(components.schemas).filter(([name]) => name !== 'CodigoDaDps');
  const places = listPlaces(schemas, operations, sent);
  const unions = nameUnions(places);
  const groups = makeGroups(places, unions);
  const types: Types = { unions, groups: [...groups, ...groupSchemas(schemas, sent, unions)] };
  const parts = [
    HEADER,
    writeLongUnion(
      CODES,
      codesOf(paths, components),
      'Os códigos que o serviço responde. O que cada um significa está em `/docs/erros`.',
    ),
    `/** Um deles, ou um que um serviço mais novo conheça. */\nexport type ${CODE} = ${CODES} | (string & {});`,
    ...[...unions].map(([values, name]) => writeLongUnion(name, JSON.parse(values))),
    ...groups.map((group) => writeGroup(group, types)),
    ...schemas.map(([name, schema]) => {
      const type = schema.properties === undefined ? typeOf(schema, types, sent.has(name)) : writeOwnType(name, types);
      return `${comment(aboutOf(schema))}export type ${name} =${type.startsWith('\n') ? '' : ' '}${type};`;
    }),
    table(operations),
    answers(operations, types),
    queries(operations, types),
    bodies(operations, types),
  ];
  return `${parts.join('\n\n')}\n`;
}

const HEADER = `/**
 * Feito por scripts/cliente-tipos.ts a partir da descrição OpenAPI do serviço (docs/openapi.json); não se edita.
 *
 * O que se envia tem tipos que se preenchem; o que se recebe, só se lê. Valores são textos com duas casas ("1000.00").
 */`;

/** The schema of a successful body; undefined: the operation has none. */
function success({ responses }: Operation): Answer | undefined {
  return responses[200] ?? responses[201];
}

function jsonOf(answer: Answer | undefined): Schema | undefined {
  return answer?.content?.['application/json']?.schema;
}

// Tables of operations

type Placed = { readonly path: string; readonly method: string; readonly operation: Operation };

function table(operations: readonly Placed[]): string {
  const rows = operations.map(({ path, method, operation }) => {
    const { operationId, parameters = [], security } = operation;
    const facts = [
      `metodo: '${method}'`,
      `caminho: '${path}'`,
      // A repetition under one key gets the first answer.
      ...(parameters.some(({ name }) => name === KEY_HEADER) ? ['repetivel: true'] : []),
      // Production gives the answer to one party alone, known by the certificate of the connection.
      ...(security === undefined ? [] : ['certificado: true']),
      ...(operationId === TABLE_OF_CODES ? ['foraDoMunicipio: true'] : []),
    ];
    return `  ${operationId}: { ${facts.join(', ')} },`;
  });
  return `/** Onde está cada operação: abaixo do segmento do município, ou fora dele. */\nexport const OPERACOES = {\n${rows.join('\n')}\n} as const;\n\nexport type Operacao = keyof typeof OPERACOES;`;
}

function answers(operations: readonly Placed[], types: Types): string {
  const rows = operations.map(({ operation }) => {
    const schema = jsonOf(success(operation));
    const type = schema === undefined ? 'undefined' : typeOf(schema, types, false, 1);
    return `${comment(operation.summary, 1)}  readonly ${operation.operationId}: ${type};`;
  });
  return `/** O corpo da resposta de sucesso de cada operação; undefined onde não é JSON. */\nexport type Respostas = {\n${rows.join('\n')}\n};`;
}

function queries(operations: readonly Placed[], types: Types): string {
  const rows = operations.flatMap(({ operation }) => {
    const schema = makeQuerySchema(operation);
    return schema === undefined ? [] : [`  readonly ${operation.operationId}: ${typeOf(schema, types, true, 1)};`];
  });
  return `/** O que se pode perguntar a cada operação no endereço. */\nexport type Consultas = {\n${rows.join('\n')}\n};`;
}

/** The parameters of the address, as an object. */
function makeQuerySchema({ parameters = [] }: Operation): Schema | undefined {
  const own = parameters.filter((one) => one.in === 'query');
  const properties = own.map(({ name, description, schema }) => [name, { ...schema, description }] as const);
  return own.length === 0 ? undefined : { type: 'object', properties: Object.fromEntries(properties) };
}

function bodies(operations: readonly Placed[], types: Types): string {
  const rows = operations.flatMap(({ operation }) => {
    const schema = readBodySchema(operation);
    return schema === undefined ? [] : [`  readonly ${operation.operationId}: ${typeOf(schema, types, true, 1)};`];
  });
  return `/** O que se envia no corpo de cada operação que não tem um tipo com nome. */\nexport type Envios = {\n${rows.join('\n')}\n};`;
}

/** The body without a name among the schemas. */
function readBodySchema({ requestBody }: Operation): Schema | undefined {
  const schema = requestBody?.content['application/json']?.schema;
  return schema?.properties === undefined ? undefined : schema;
}

// Names for what stands at several places

/** An object, and the direction in which it goes. */
type Place = { readonly schema: Schema; readonly isSent: boolean };
type Group = { readonly name: string; readonly about?: string; readonly fields: Fields; readonly isSent: boolean };
/** Properties by their name. */
type Fields = ReadonlyMap<string, Field>;
/** `text`: the property as it is written, besides its indentation and `readonly`. */
type Field = { readonly schema: Schema; readonly isRequired: boolean; readonly text: string };
/** Names of long lists of values, by the list. */
type Unions = ReadonlyMap<string, string>;
type Types = { readonly unions: Unions; readonly groups: readonly Group[] };

/** Values that are longer than this are written once, under a name. */
const INLINE_MAX = 90;

/** Every object of the description by its name; one of an operation has the name of the table before it. */
function listPlaces(
  schemas: readonly (readonly [string, Schema])[],
  operations: readonly Placed[],
  sent: ReadonlySet<string>,
): ReadonlyMap<string, Place> {
  const ofOperations = operations.flatMap(({ operation }) => {
    const { operationId } = operation;
    const body = readBodySchema(operation);
    return [
      [`Respostas.${operationId}`, { schema: jsonOf(success(operation)), isSent: false }],
      [`Consultas.${operationId}`, { schema: makeQuerySchema(operation), isSent: true }],
      [`Envios.${operationId}`, { schema: body, isSent: true }],
    ] as const;
  });
  const all = [
    ...schemas.map(([name, schema]) => [name, { schema, isSent: sent.has(name) }] as const),
    ...ofOperations,
  ];
  return new Map(
    all.flatMap(([name, { schema, isSent }]) =>
      schema?.properties === undefined ? [] : [[name, { schema, isSent }] as const],
    ),
  );
}

function nameUnions(places: ReadonlyMap<string, Place>): Unions {
  const unions = new Map<string, string>();
  for (const { schema } of places.values()) {
    for (const [campo, { enum: values }] of Object.entries(schema.properties!)) {
      if (values === undefined || values.map(literal).join(' | ').length <= INLINE_MAX) continue;
      const name = UNION_NAMES[campo] ?? campo.split('_').map(upperFirst).join('');
      unions.set(listKey(values), name);
    }
  }
  return unions;
}

function makeGroups(places: ReadonlyMap<string, Place>, unions: Unions): readonly Group[] {
  return GROUPS.map(({ name, about, of: [first, second] }) => {
    const [one, other] = [places.get(first)!, places.get(second)!];
    const others = readFields(other.schema, unions);
    const alike = [...readFields(one.schema, unions)].filter(([key, { text }]) => others.get(key)?.text === text);
    return { name, about, fields: new Map(alike), isSent: one.isSent };
  });
}

function groupSchemas(
  schemas: readonly (readonly [string, Schema])[],
  sent: ReadonlySet<string>,
  unions: Unions,
): readonly Group[] {
  return schemas.flatMap(([name, schema]) =>
    schema.properties === undefined ? [] : [{ name, fields: readFields(schema, unions), isSent: sent.has(name) }],
  );
}

function readFields({ properties = {}, required = [] }: Schema, unions: Unions): Fields {
  return new Map(
    Object.entries(properties).map(([name, schema]) => {
      const isRequired = required.includes(name);
      const type = typeOf(schema, { unions, groups: [] }, true);
      return [name, { schema, isRequired, text: `${comment(schema.description)}${isRequired ? '' : '?'}: ${type}` }];
    }),
  );
}

function writeGroup(group: Group, types: Types): string {
  return `${comment(group.about)}export type ${group.name} = ${writeOwnType(group.name, types)};`;
}

/** The type of a name by its fields, and by smaller groups in it. */
function writeOwnType(name: string, { unions, groups }: Types): string {
  const { fields, isSent } = groups.find((one) => one.name === name)!;
  // Groups stand before schemas, so that a schema with the same fields refers to its group.
  const own = groups.findIndex((one) => one.name === name);
  const smaller = groups.filter((one, at) => one.fields.size < fields.size || at < own);
  return writeFields(fields, { unions, groups: smaller }, isSent, 0);
}

/** The largest groups among the fields, then the other fields. */
function writeFields(fields: Fields, types: Types, isSent: boolean, depth: number): string {
  const fit = types.groups.filter(
    (group) =>
      (isSent ? group.isSent : true) &&
      group.fields.size > (group.about === undefined ? 1 : 0) &&
      [...group.fields].every(([name, { text }]) => fields.get(name)?.text === text),
  );
  if (fit.length === 0) return objectType(fields, types, isSent, depth);
  const [largest] = fit.toSorted((a, b) => b.fields.size - a.fields.size);
  const name = largest!.isSent && !isSent ? `Readonly<${largest!.name}>` : largest!.name;
  const rest = new Map([...fields].filter(([one]) => !largest!.fields.has(one)));
  return rest.size === 0 ? name : `${name} & ${writeFields(rest, types, isSent, depth)}`;
}

// Types

/** `isSent`: the caller of the client fills the type in. */
function typeOf(schema: Schema, types: Types, isSent: boolean, depth = 0): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return enumType(schema.enum, types);
  if (schema.oneOf !== undefined) return union(schema.oneOf.map((one) => typeOf(one, types, isSent, depth)));
  const own = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return union([...new Set(own.map((type) => plainType(type, schema, types, isSent, depth)))]);
}

function enumType(values: NonNullable<Schema['enum']>, { unions }: Types): string {
  const name = unions.get(listKey(values));
  if (name === undefined) return union(values.map(literal));
  return values.includes(null) ? `${name} | null` : name;
}

function listKey(values: NonNullable<Schema['enum']>): string {
  return JSON.stringify(values.filter((value) => value !== null));
}

function plainType(type: string, schema: Schema, types: Types, isSent: boolean, depth: number): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const inner = typeOf(schema.items!, types, isSent, depth);
      const element = /^[\w.]+$/.test(inner) ? inner : `(${inner})`;
      return `${isSent ? '' : 'readonly '}${element}[]`;
    }
    case 'object':
      return schema.properties === undefined
        ? 'Readonly<Record<string, unknown>>'
        : writeFields(readFields(schema, types.unions), types, isSent, depth);
    case 'string':
      return schema.pattern === CODE_PATTERN ? CODE : 'string';
    default:
      return type;
  }
}

function objectType(fields: Fields, types: Types, isSent: boolean, depth: number): string {
  const indent = '  '.repeat(depth + 1);
  const lines = [...fields].map(([name, { schema, isRequired }]) => {
    const head = `${isSent ? '' : 'readonly '}${name}${isRequired ? '' : '?'}: `;
    return `${comment(schema.description, depth + 1)}${indent}${head}${typeOf(schema, types, isSent, depth + 1)};`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}

function literal(value: string | number | null): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value);
}

/** Names of types stand on one line each, if they do not fit one together. */
function union(members: readonly string[]): string {
  const line = members.join(' | ');
  return members.length < 2 || line.length <= LINE_MAX ? line : members.map((member) => `\n  | ${member}`).join('');
}

/** A named list of values. Codes that begin alike share their lines, so that a new one changes few. */
function writeLongUnion(name: string, members: readonly string[], about?: string): string {
  const lines: string[] = [];
  let [start, line] = ['', ''];
  for (const member of members) {
    const word = `| ${literal(member)}`;
    const own = new RegExp(CODE_PATTERN).test(member) ? member.slice(0, -2) : '';
    if (line === '' || own !== start || line.length + word.length >= LINE_MAX) {
      lines.push(line);
      [start, line] = [own, `  ${word}`];
    } else line += ` ${word}`;
  }
  return `${comment(about)}export type ${name} =${[...lines, line].join('\n')};`;
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function aboutOf({ title, description }: Schema): string | undefined {
  return [title, description].filter((text) => text !== undefined).join('. ') || undefined;
}

/** A comment before its subject, on one line: a changed word changes one line. */
function comment(text: string | undefined, depth = 0): string {
  if (text === undefined) return '';
  return `${'  '.repeat(depth)}/** ${text.replaceAll('*/', '*\\/').split(/\s+/).join(' ')} */\n`;
}

// References

/** Names of all schemas in a value, and in those schemas in turn. */
function reachable(from: unknown, schemas: Readonly<Record<string, Schema>>): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, one] of Object.entries(value)) {
      if (key !== '$ref' || typeof one !== 'string') {
        walk(one);
        continue;
      }
      const name = nameOf(one);
      if (found.has(name)) continue;
      found.add(name);
      walk(schemas[name]);
    }
  };
  walk(from);
  return found;
}

/** Every code used as the value of a code field, in order. */
function codesOf(...from: readonly unknown[]): readonly string[] {
  const codes = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, one] of Object.entries(value)) {
      if (key === 'enum' && Array.isArray(one)) {
        for (const code of one) if (new RegExp(CODE_PATTERN).test(code)) codes.add(code);
      } else if (!key.startsWith('example')) walk(one);
    }
  };
  walk(from);
  return [...codes].sort((a, b) => a.length - b.length || a.localeCompare(b));
}
