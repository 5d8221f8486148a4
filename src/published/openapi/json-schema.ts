/**
 * The request bodies as JSON Schema 2020-12. The JSON body of issuance is made of its own table and that of the DPS; each type of event has
 * one schema for its request.
 *
 * A schema admits exactly the forms that the service accepts, as far as a schema can. Null counts as absent, a group requires its fields
 * once it has one, and a code has the accepted spellings. Check digits, other notations of an amount and conditions of the law are outside
 * the schemas.
 */

import { formatDecimal } from '../../fiscal/decimal.ts';
import type { Campo, Item } from '../../fiscal/layout/corpo.ts';
import { HOSTS, type Host, joinCampo, NAMES } from '../../fiscal/layout/plan-corpo.ts';
import { type SimpleType, T } from '../../fiscal/layout/simple-types.ts';
import { isRequiredOfSender, type Leaf } from '../../fiscal/layout/vocabulary.ts';
import { type CampoEvento, TIPOS_EVENTO, type TipoEvento } from '../../fiscal/tipos-evento.ts';
import { upperFirst } from '../../fiscal/words.ts';
import { contentOf, meaningsOf, type Step, stepsBelow } from '../layout/elements.ts';
import { patternOf, shortSpellings } from '../layout/xsd.ts';
import type { Json } from './described.ts';
import { conditionsOf, sentSchema } from './json-conditions.ts';

/** Schemas by name, and the reference from one to another. */
export type Schemas = Readonly<Record<string, Json>>;
export type RefTo = (name: string) => string;

/** Name of the schema of the body of issuance. */
export const CORPO_SCHEMA = 'CorpoDaDps';
/** Name of the schema for the request of an event of any type. */
export const PEDIDO_SCHEMA = 'PedidoDeEvento';

// The body of issuance

/** Names of objects that stand at several places, or whose place alone gives no clear name. */
const OBJECT_NAMES: Readonly<Record<string, string>> = {
  '': CORPO_SCHEMA,
  prestador_endereco: 'Endereco',
  'prestador_endereco.exterior': 'EnderecoNoExterior',
  'obra.endereco': 'EnderecoDoLocal',
  'obra.endereco.exterior': 'EnderecoDoLocalNoExterior',
};

/** The schemas of the body and of the objects in it; objects of the same content share one. */
export function corpoSchemas(ref: RefTo): Schemas {
  const schemas: Record<string, Json> = {};
  const nameByContent = new Map<string, string>();
  const nameByPlace = new Map<string, string>();
  // The order is from the inside out: the schema of an object refers to those of the objects within it.
  for (const host of HOSTS.toReversed()) {
    const schema = hostSchema(host, (place) => ref(nameByPlace.get(place)!));
    const content = JSON.stringify(schema);
    // The first of several equal objects in the order of the body gives the name.
    const [first] = HOSTS.filter((one) => contentOf(one.items.values()) === contentOf(host.items.values()));
    const name = nameByContent.getOrInsertComputed(content, () => objectName(first!.campo, schemas));
    nameByPlace.set(host.campo, name);
    schemas[name] = schema;
  }
  return Object.fromEntries(Object.entries(schemas).toReversed());
}

function objectName(campo: string, taken: Schemas): string {
  const words = campo.replaceAll('[]', '').split(/[._]/);
  const name = OBJECT_NAMES[campo] ?? words.map(upperFirst).join('');
  return name in taken ? `${name}2` : name;
}

function hostSchema(host: Host, refAt: (place: string) => string): Json {
  const { required, allOf } = conditionsOf(host);
  const properties = [...host.items.values()].map((item) => {
    const schema = itemSchema(item, host, refAt);
    return [item.name, required.includes(item.name) ? schema : orNull(schema)];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    ...(allOf.length === 0 ? {} : { allOf }),
    additionalProperties: false,
  };
}

/** The schema of a property that may also be null, which counts as absent. */
function orNull({ $ref, ...schema }: Json): Json {
  if ($ref !== undefined) return { ...schema, oneOf: [{ $ref }, { type: 'null' }] };
  const { type, enum: values } = schema as {
    readonly type: string | readonly string[];
    readonly enum?: readonly string[];
  };
  return { ...schema, type: [type, 'null'].flat(), ...(values === undefined ? {} : { enum: [...values, null] }) };
}

function itemSchema(item: Item, host: Host, refAt: (place: string) => string): Json {
  if (item.kind === 'declaracao') {
    const about = `Declarado, para ser comparado com o calculado (na nota, ${item.note}).`;
    return { description: sentences(about, expectedText(item.type)), ...valueSchema(item.type) };
  }
  const steps = stepsBelow(host.path, item.kind === 'campo' ? item.paths[0] : item.path);
  const { element, parent } = steps.at(-1)!;
  const where = `Na DPS: ${item.kind === 'campo' ? item.paths.join(' ou ') : item.path}`;
  const choice = choiceText(steps, host);
  if (item.kind === 'grupo') {
    const $ref = refAt(joinCampo(host.campo, item.name) + (item.many ? '[]' : ''));
    const description = sentences(
      item.many ? `${element.doc}, de uma lista` : element.doc,
      choice,
      whenText(steps),
      where,
    );
    return item.many ? { type: 'array', maxItems: element.max, items: { $ref }, description } : { $ref, description };
  }
  const { type } = element as Leaf;
  const isDocument = item.paths.length > 1;
  const value = isDocument ? DOCUMENTO : valueSchema(type, item.integer);
  const description = sentences(
    ...(isDocument ? [DOCUMENTO_TEXT] : aboutText(element as Leaf)),
    meaningText(element as Leaf, parent),
    choice,
    whenText(steps),
    padraoText(item, steps),
    where,
  );
  if (item.many) return { description, type: 'array', maxItems: element.max, items: value };
  const isDefault = item.padrao !== undefined && typeof item.padrao === 'object' && choice === '';
  return {
    description,
    ...value,
    ...(isDefault ? { default: (item.padrao as { readonly texto: string }).texto } : {}),
  };
}

const DOCUMENTO_TEXT = 'CNPJ de 14 posições ou CPF de 11 dígitos, sem pontuação';
const DOCUMENTO: Json = { type: 'string', pattern: '^(?:[0-9]{11}|[0-9A-Z]{14})$' };

/** The schema of a value. */
function valueSchema(type: SimpleType, integer = false): Json {
  if (type.kind === 'decimal') return decimalSchema(type);
  if (type.kind === 'enum') return { type: 'string', enum: [...type.values!, ...shortSpellings(type)] };
  const pattern = type.pattern === undefined ? ANY_TEXT : patternOf(type);
  if (integer)
    return { type: ['string', 'integer'], pattern: anchor(pattern), minimum: 1, maximum: 10 ** type.max - 1 };
  if (type.kind === 'date') return { type: 'string', format: 'date', pattern: anchor(pattern) };
  const isFixed = type.kind === 'digits' || type.min === type.max;
  return {
    type: 'string',
    ...(isFixed ? {} : { minLength: type.min, maxLength: type.max }),
    pattern: anchor(pattern),
  };
}

/** Characters that XML admits, at least one of them not white space. */
const ANY_TEXT =
  '[\\t\\n\\r ]*[^\\u0000-\\u0020\\uFFFE\\uFFFF][^\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\uFFFE\\uFFFF]*';

/**
 * An amount as a number, or as a text with two decimals, further zeros aside. An ambiguous text that could mean thousands (`1.000`) is not
 * admitted. The highest value is a power of ten.
 */
function decimalSchema({ digits = 1, highest }: SimpleType): Json {
  const type = ['string', 'number'];
  const upTo = (more: number): string => `(?:0|[1-9][0-9]{0,${more}})(?:\\.[0-9]{1,2}0*)?`;
  if (highest === undefined) {
    const most = digits - 1;
    const amount = `(?:0|[1-9][0-9]{0,${most}})(?:\\.[0-9]{1,2}|\\.[0-9]{2}00+)?|(?:0|[1-9][0-9]{3,${most}})\\.[0-9]{2}0`;
    return { type, pattern: anchor(digits > 3 ? amount : upTo(most)), minimum: 0, exclusiveMaximum: 10 ** digits };
  }
  const maximum = Number(formatDecimal(highest));
  return { type, pattern: anchor(`${upTo(digits - 2)}|${maximum}(?:\\.0+)?`), minimum: 0, maximum };
}

function anchor(pattern: string): string {
  return `^(?:${pattern})$`;
}

/** The meaning and the form of a field, without repetition. */
function aboutText({ doc, type }: Leaf): readonly string[] {
  const expected = expectedText(type);
  return expected.toLowerCase().startsWith(doc.toLowerCase()) ? [expected] : [doc, expected];
}

function expectedText({ expected, options, values }: SimpleType): string {
  // The schema lists the values of an enumeration already.
  return options === undefined || options !== values?.join(', ') ? upperFirst(expected) : '';
}

function meaningText(leaf: Leaf, parent: string): string {
  const { values, expected } = leaf.type;
  if (values?.every((value) => expected.includes(`${value} (`))) return '';
  return meaningsOf(leaf, parent)
    .map(({ codigo, descricao }) => `${codigo} ${descricao}`)
    .join('; ');
}

function choiceText(steps: readonly Step[], host: Host): string {
  return steps
    .flatMap(({ choice }) => {
      if (choice === undefined) return [];
      const names = [...new Set(choice.paths.map((path) => nameIn(path, host)))];
      if (names.length < 2) return [];
      return [`${choice.min === 1 ? 'Exatamente um de' : 'No máximo um de'}: ${names.join(', ')}`];
    })
    .join('. ');
}

/** The name of an element in an object; a group without an object of its own is named by its fields. */
function nameIn(path: string, { campo }: Host): string {
  const { name, host } = NAMES.get(path)!;
  return host === campo || name.includes('/') ? name.replaceAll('/', ' e ') : name;
}

/** The note that a field is required with its group, which the object does not show. */
function whenText(steps: readonly Step[]): string {
  const { element, choice } = steps.at(-1)!;
  const around = steps.slice(0, -1).findLast((step) => !isRequiredOfSender(step.element));
  if (around === undefined || choice !== undefined || !isRequiredOfSender(element)) return '';
  return `Obrigatório quando há ${around.element.doc.charAt(0).toLowerCase()}${around.element.doc.slice(1)}`;
}

function padraoText({ padrao }: Campo, steps: readonly Step[]): string {
  if (padrao === undefined) return '';
  if (padrao === 'ambiente')
    return 'Obrigatório em produção, com 1; sem ele, na integração, o ambiente é o do endereço';
  const alone = steps.some(({ choice }) => choice !== undefined) ? 'Sem nenhum dos outros' : 'Sem ele';
  return `${alone}, ${padrao.texto}`;
}

// The request of an event

/** The schemas of the event requests that an integrator may register, and the schema of any of them. */
export function eventoSchemas(ref: RefTo): Schemas {
  const tipos: readonly TipoEvento[] = TIPOS_EVENTO.filter(({ porOficio }) => !porOficio);
  const named = tipos.map((tipo) => [eventoName(tipo), tipo] as const);
  return {
    [PEDIDO_SCHEMA]: {
      title: 'Registro de evento',
      description: 'Os campos dependem de tipo_evento.',
      oneOf: named.map(([name]) => ({ $ref: ref(name) })),
      discriminator: {
        propertyName: 'tipo_evento',
        mapping: Object.fromEntries(named.map(([name, { slug }]) => [slug, ref(name)])),
      },
    },
    ...Object.fromEntries(named.map(([name, tipo]) => [name, tipoSchema(tipo)])),
  };
}

function eventoName({ slug }: TipoEvento): string {
  return `Evento${slug.split('_').map(upperFirst).join('')}`;
}

function tipoSchema({ slug, codigo, descricao, autor, campos }: TipoEvento): Json {
  const conditions = campos.flatMap(({ nome, obrigatorioCom }) =>
    obrigatorioCom === undefined
      ? []
      : [
          {
            if: {
              properties: { [obrigatorioCom.campo]: { const: obrigatorioCom.valor } },
              required: [obrigatorioCom.campo],
            },
            // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
            then: sentSchema(nome),
          },
        ],
  );
  return {
    type: 'object',
    title: descricao,
    description: sentences(
      `Evento ${codigo}`,
      autor === undefined ? '' : `Sem autor, vale o documento do ${autor} da nota`,
    ),
    properties: {
      tipo_evento: { type: 'string', const: slug, description: 'O tipo do evento.' },
      ...Object.fromEntries(
        campos.map((campo) => [campo.nome, campo.obrigatorio ? campoSchema(campo) : orNull(campoSchema(campo))]),
      ),
      ...Object.fromEntries(Object.entries(COMUNS).map(([nome, schema]) => [nome, orNull(schema)])),
    },
    required: ['tipo_evento', ...campos.flatMap(({ nome, obrigatorio }) => (obrigatorio ? [nome] : []))],
    not: { allOf: [sentSchema('cnpj_autor'), sentSchema('cpf_autor')] },
    ...(conditions.length === 0 ? {} : { allOf: conditions }),
    additionalProperties: false,
  };
}

/** The properties of every type of event. */
const COMUNS: Schemas = {
  cnpj_autor: { ...valueSchema(T.cnpj), description: 'CNPJ do autor; no máximo um de cnpj_autor e cpf_autor.' },
  cpf_autor: { ...valueSchema(T.cpf), description: 'CPF do autor; no máximo um de cnpj_autor e cpf_autor.' },
  chave_acesso: {
    ...valueSchema(T.chaveNFSe),
    description:
      'Chave da nota, opcional: se vem, tem de ser a do endereço, e o corpo assinado não vale em outra nota.',
  },
  numero_protocolo: {
    type: 'string',
    description: 'Número de protocolo da nota, opcional: se vem, tem de ser o da nota do endereço.',
  },
};

function campoSchema({ sobre, tipo, opcoes, obrigatorioCom, exemplo }: CampoEvento): Json {
  const meanings = (opcoes ?? []).map(({ codigo, descricao }) => `${codigo} ${descricao}`).join('; ');
  const when = obrigatorioCom === undefined ? '' : `Obrigatório com ${obrigatorioCom.campo} ${obrigatorioCom.valor}`;
  return { description: sentences(sobre, meanings, when), ...valueSchema(tipo), examples: [exemplo] };
}

// Words

function sentences(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .map((part) => (part.endsWith('.') ? part : `${part}.`))
    .join(' ');
}
