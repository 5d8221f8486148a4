/**
 * The types of the client (`packages/cliente/src/tipos.ts`), made of the public description: requests, answers, codes,
 * and the address of each operation. They are written as the formatter would write them, so that a changed contract
 * shows as a small diff.
 *
 * The description of each field states the parts of JSON Schema that types cannot express (patterns, limits,
 * conditions).
 */
import { DESCRIBED_DOOR } from '../src/doors/rest/described-door.ts';
import { describeApi } from '../src/published/openapi/openapi.ts';

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

/** Line width of the formatter. */
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
  const parts = [
    HEADER,
    unionType(
      CODES,
      codesOf(paths, components),
      'Os códigos que o serviço responde. O que cada um significa está em `/docs/erros`.',
    ),
    `/** Um deles, ou um que um serviço mais novo conheça. */\nexport type ${CODE} = ${CODES} | (string & {});`,
    ...schemas.map(
      ([name, schema]) =>
        `${comment(aboutOf(schema))}export type ${name} = ${typeOf(schema, sent.has(name), 0, 12 + name.length)};`,
    ),
    table(operations),
    answers(operations),
    queries(operations),
    bodies(operations),
  ];
  // A union over several lines leaves no spaces at the end of its first line.
  return `${parts.join('\n\n')}\n`.replace(/ +$/gm, '');
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
    const line = `  ${operationId}: { ${facts.join(', ')} },`;
    if (line.length <= LINE_MAX) return line;
    return `  ${operationId}: {\n${facts.map((fact) => `    ${fact},\n`).join('')}  },`;
  });
  return `/** Onde está cada operação: abaixo do segmento do município, ou fora dele. */\nexport const OPERACOES = {\n${rows.join('\n')}\n} as const;\n\nexport type Operacao = keyof typeof OPERACOES;`;
}

function answers(operations: readonly Placed[]): string {
  const rows = operations.map(({ operation }) => {
    const schema = jsonOf(success(operation));
    const type = schema === undefined ? 'undefined' : typeOf(schema, false, 1, 4 + operation.operationId.length);
    return `${comment(operation.summary, 1)}  readonly ${operation.operationId}: ${type};`;
  });
  return `/** O corpo da resposta de sucesso de cada operação; undefined onde não é JSON. */\nexport type Respostas = {\n${rows.join('\n')}\n};`;
}

function queries(operations: readonly Placed[]): string {
  const rows = operations.flatMap(({ operation: { operationId, parameters = [] } }) => {
    const own = parameters.filter((one) => one.in === 'query');
    if (own.length === 0) return [];
    const fields = own.map(
      ({ name, description, schema }) => `${comment(description, 2)}    ${name}?: ${typeOf(schema, true, 2, 0)};`,
    );
    return [`  readonly ${operationId}: {\n${fields.join('\n')}\n  };`];
  });
  return `/** O que se pode perguntar a cada operação no endereço. */\nexport type Consultas = {\n${rows.join('\n')}\n};`;
}

/** Bodies without a name among the schemas. */
function bodies(operations: readonly Placed[]): string {
  const rows = operations.flatMap(({ operation: { operationId, requestBody } }) => {
    const schema = requestBody?.content['application/json']?.schema;
    if (schema?.properties === undefined) return [];
    return [`  readonly ${operationId}: ${objectType(schema, true, 1)};`];
  });
  return `/** O que se envia no corpo de cada operação que não tem um tipo com nome. */\nexport type Envios = {\n${rows.join('\n')}\n};`;
}

// Types

/** `isSent`: the caller of the client fills the type in. `before`: characters before it on its line, besides the indentation. */
function typeOf(schema: Schema, isSent: boolean, depth: number, before: number): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal), depth, before);
  if (schema.oneOf !== undefined) {
    return union(
      schema.oneOf.map((one) => typeOf(one, isSent, depth, before)),
      depth,
      before,
    );
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return union([...new Set(types.map((type) => plainType(type, schema, isSent, depth)))], depth, before);
}

function plainType(type: string, schema: Schema, isSent: boolean, depth: number): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const inner = typeOf(schema.items!, isSent, depth, 0);
      const element = /^[\w.]+$/.test(inner) || inner.startsWith('{') ? inner : `(${inner})`;
      return `${isSent ? '' : 'readonly '}${element}[]`;
    }
    case 'object':
      return schema.properties === undefined ? 'Readonly<Record<string, unknown>>' : objectType(schema, isSent, depth);
    case 'string':
      return schema.pattern === CODE_PATTERN ? CODE : 'string';
    default:
      return type;
  }
}

function objectType({ properties = {}, required = [] }: Schema, isSent: boolean, depth: number): string {
  const indent = '  '.repeat(depth + 1);
  const fields = Object.entries(properties).map(([name, field]) => {
    const head = `${isSent ? '' : 'readonly '}${name}${required.includes(name) ? '' : '?'}: `;
    return `${comment(field.description, depth + 1)}${indent}${head}${typeOf(field, isSent, depth + 1, head.length)};`;
  });
  return `{\n${fields.join('\n')}\n${'  '.repeat(depth)}}`;
}

function literal(value: string | number | null): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value);
}

/** The union stands on one line if it fits, as the formatter does. */
function union(members: readonly string[], depth: number, before: number): string {
  const line = members.join(' | ');
  if (members.length < 2 || 2 * depth + before + line.length + 1 <= LINE_MAX) return line;
  const indent = '  '.repeat(depth + 1);
  return `\n${members.map((member) => `${indent}| ${member}`).join('\n')}`;
}

function unionType(name: string, members: readonly string[], about: string): string {
  return `${comment(about)}export type ${name} =${union(members.map(literal), 0, LINE_MAX)};`;
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function aboutOf({ title, description }: Schema): string | undefined {
  return [title, description].filter((text) => text !== undefined).join('. ') || undefined;
}

/** A comment block before its subject; a long one has several lines. */
function comment(text: string | undefined, depth = 0): string {
  if (text === undefined) return '';
  const indent = '  '.repeat(depth);
  const words = text.replaceAll('*/', '*\\/').split(/\s+/);
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && indent.length + last.length + word.length + 8 <= LINE_MAX)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
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
