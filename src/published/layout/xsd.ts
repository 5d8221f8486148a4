/**
 * XML schemas made of the tables: for the documents that this service reads from a sender, and for those that it writes.
 *
 * The reader accepts every DPS that the schema of the sender accepts, check digits aside. The reader accepts more: a sibling marked
 * `anywhere` may stand at any place. The schema accepts it before and after its neighbour only, to stay deterministic and short. Rules
 * between fields are not part of a schema.
 */

import { DPS_NAMESPACE, DPS_VERSAO } from '../../fiscal/layout/dps.ts';
import { EVENTO } from '../../fiscal/layout/evento.ts';
import { LAYOUTS } from '../../fiscal/layout/layouts.ts';
import { DPS, NFSE } from '../../fiscal/layout/nfse.ts';
import { SIGNATURE_NAMESPACE } from '../../fiscal/layout/reading.ts';
import type { SimpleType } from '../../fiscal/layout/simple-types.ts';
import {
  type Attribute,
  type Group,
  type Item,
  isRequiredOfSender,
  type Leaf,
} from '../../fiscal/layout/vocabulary.ts';
import { upperFirst } from '../../fiscal/words.ts';

/** The author of the documents that the schema describes. */
export type Side = 'sender' | 'national';

/** The schema of the DPS from a sender, in one of the layouts. */
export function dpsXsd({ versao, items } = LAYOUTS[0]!): string {
  const [infDps] = DPS.items;
  const attributes = DPS.attributes.map((one) => ({ ...one, type: { ...one.type, values: [versao] } }));
  return schema(
    { ...DPS, attributes, items: [{ ...infDps, items }] },
    'sender',
    `DPS ${versao} como este serviço a lê. Não se envia dhEmi, que o serviço escreve. Os tipos terminados em Lido aceitam mais do que o leiaute nacional; na nota o valor sai na forma nacional. Este esquema não confere dígitos verificadores, catálogos nem regras entre campos.`,
    versao,
  );
}

/** The schema of the NFS-e that this service writes, before and after the municipality signs it. */
export function nfseXsd(): string {
  return schema(
    NFSE,
    'national',
    `NFS-e ${DPS_VERSAO} como este serviço a escreve, com a DPS na forma nacional. No ambiente de homologação a nota não é assinada.`,
  );
}

/** The schema of the event that this service writes, with the request inside, before and after the municipality signs it. */
export function eventoXsd(): string {
  return schema(
    EVENTO,
    'national',
    `Evento de NFS-e ${DPS_VERSAO} como este serviço o escreve, com o pedido de registro dentro. No ambiente de homologação o evento não é assinado.`,
  );
}

/** Every schema by its file name. */
export const XSDS: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(LAYOUTS.map((layout) => [`dps-${layout.versao}.xsd`, () => dpsXsd(layout)])),
  [`nfse-${DPS_VERSAO}.xsd`]: nfseXsd,
  [`evento-${DPS_VERSAO}.xsd`]: eventoXsd,
};

type Lines = readonly string[];

/** The types named so far, in the order of their first use. */
type Named = {
  readonly side: Side;
  /** Name and content of each complex type; the content is undefined while it is being made. */
  readonly complex: { readonly name: string; content: Lines | undefined }[];
  readonly simple: Map<string, Lines>;
};

function schema(root: Group, side: Side, about: string, versao = DPS_VERSAO): string {
  const named: Named = { side, complex: [], simple: new Map() };
  const outer = elementLines(root, [], true, named);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!-- Gerado por scripts/generate.ts a partir das tabelas do leiaute; não edite. -->',
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="${DPS_NAMESPACE}"`,
    `  targetNamespace="${DPS_NAMESPACE}" elementFormDefault="qualified" version="${versao}">`,
    ...indent(documentation(about)),
    ...indent(outer),
    ...named.complex.flatMap(({ name, content }) =>
      indent([`<xs:complexType name="${name}">`, ...indent(content!), '</xs:complexType>']),
    ),
    ...[...named.simple].flatMap(([name, content]) =>
      indent([`<xs:simpleType name="${name}">`, ...indent(content), '</xs:simpleType>']),
    ),
    '</xs:schema>',
  ];
  return `${lines.join('\n')}\n`;
}

// Elements and the types of groups.

function elementLines(item: Leaf | Group, path: readonly string[], required: boolean, named: Named): Lines {
  const [name, ...others] = namesOf(item, named);
  if (others.length === 0) return elementOf(item, name, path, required, named);
  return choice(
    required,
    [name, ...others].map((spelt) => elementOf(item, spelt, path, true, named)),
  );
}

/** The names of an element: for a sender those that are read, else the written one (D-15). */
function namesOf(item: Leaf | Group, { side }: Named): readonly [string, ...string[]] {
  return item.alias === undefined || side === 'national' ? [item.name] : [item.name, item.alias];
}

function elementOf(item: Leaf | Group, name: string, path: readonly string[], required: boolean, named: Named): Lines {
  const type = item.kind === 'group' ? complexType(item, path, named) : simpleType(item.type, named);
  const most = item.max === 1 ? '' : ` maxOccurs="${item.max}"`;
  return [
    `<xs:element name="${name}" type="${type}"${minOccurs(required)}${most}>`,
    ...indent(documentation(item.doc)),
    '</xs:element>',
  ];
}

/** The name of the type of a group; groups of the same content share it. */
function complexType(group: Group, above: readonly string[], named: Named): string {
  const path = [...above, group.name];
  const place = named.complex.length;
  const type: Named['complex'][number] = { name: freeName(path, named), content: undefined };
  named.complex.push(type);
  const content = [
    '<xs:sequence>',
    ...indent(contentLines(group, path, named)),
    ...(group.signed ? [`  <xs:any namespace="${SIGNATURE_NAMESPACE}" processContents="lax" minOccurs="0"/>`] : []),
    '</xs:sequence>',
    ...(group.attributes ?? []).flatMap((attribute) => attributeLines(attribute, named)),
  ];
  const twin = named.complex.find((other) => other.content?.join('\n') === content.join('\n'));
  if (twin === undefined) {
    type.content = content;
    return type.name;
  }
  named.complex.splice(place, 1);
  return twin.name;
}

/** The content of a group. A sender's group is not empty, even if each of its members is optional (D-34). */
function contentLines({ items }: Group, path: readonly string[], named: Named): Lines {
  const parts = segments(items, named);
  const mayBeEmpty = parts.flat().every((item) => !isRequired(item, named));
  if (named.side === 'national' || !mayBeEmpty) return parts.flatMap((part) => anyOrder(part, path, named));
  if (parts.some((part) => part.length > 1)) throw new RangeError(`No way to say that ${path.join('/')} is not empty`);
  return choice(
    true,
    parts.map(([first], place) => [
      '<xs:sequence>',
      ...indent([
        ...particle(first!, true, path, named),
        ...parts.slice(place + 1).flatMap((part) => anyOrder(part, path, named)),
      ]),
      '</xs:sequence>',
    ]),
  );
}

/** The name of a type: as many last names of the path as make it unique. */
function freeName(path: readonly string[], named: Named): string {
  for (let steps = 1; steps <= path.length; steps += 1) {
    const name = `TC${path.slice(-steps).map(upperFirst).join('')}`;
    if (!named.complex.some((type) => type.name === name)) return name;
  }
  throw new RangeError(`Two groups at ${path.join('/')}`);
}

function attributeLines({ name, type, doc }: Attribute, named: Named): Lines {
  return [
    `<xs:attribute name="${name}" type="${simpleType(type, named)}" use="required">`,
    ...indent(documentation(doc)),
    '</xs:attribute>',
  ];
}

// Order.

/**
 * Siblings in the national order, as segments with free order inside. Most segments have one element. Neighbours marked `anywhere` share a
 * segment; a single one shares it with the following sibling (D-12).
 */
function segments(items: readonly Item[], { side }: Named): readonly (readonly Item[])[] {
  if (side === 'national') return items.map((item) => [item]);
  const all: Item[][] = [];
  for (const item of items) {
    if (item.kind !== 'choice' && item.sent === 'refused') continue;
    const last = all.at(-1);
    if (last?.every(isLoose) && (isLoose(item) || last.length === 1)) last.push(item);
    else all.push([item]);
  }
  return all;
}

function isLoose(item: Item): boolean {
  return item.kind !== 'choice' && item.anywhere === true;
}

/** Every order of the items, written so that the first name decides the branch. */
function anyOrder(items: readonly Item[], path: readonly string[], named: Named): Lines {
  const [only, ...others] = items;
  if (only === undefined) return [];
  if (others.length === 0) return particle(only, isRequired(only, named), path, named);
  const branches = items.map((first) => [
    '<xs:sequence>',
    ...indent(particle(first, true, path, named)),
    ...indent(
      anyOrder(
        items.filter((item) => item !== first),
        path,
        named,
      ),
    ),
    '</xs:sequence>',
  ]);
  return choice(
    items.some((item) => isRequired(item, named)),
    branches,
  );
}

function particle(item: Item, required: boolean, path: readonly string[], named: Named): Lines {
  if (item.kind !== 'choice') return elementLines(item, path, required, named);
  return choice(
    required,
    item.items.map((member) => elementLines(member, path, true, named)),
  );
}

function isRequired(item: Item, { side }: Named): boolean {
  return item.kind === 'choice' || side === 'national' ? item.min === 1 : isRequiredOfSender(item);
}

function choice(required: boolean, branches: readonly Lines[]): Lines {
  return [`<xs:choice${minOccurs(required)}>`, ...indent(branches.flat()), '</xs:choice>'];
}

function minOccurs(required: boolean): string {
  return required ? '' : ' minOccurs="0"';
}

// Simple types.

function simpleType(type: SimpleType, named: Named): string {
  const name = typeName(type, named.side);
  const shown = named.side === 'national' ? nationalType(type) : type;
  const content = [
    ...documentation(shown.expected),
    '<xs:restriction base="xs:string">',
    ...indent(facets(shown)),
    '</xs:restriction>',
  ];
  const known = named.simple.get(name);
  if (known === undefined) named.simple.set(name, content);
  else if (dropDocumentation(known) !== dropDocumentation(content)) {
    throw new RangeError(`Two types of the name ${name}`);
  }
  return name;
}

/** The name of a type. A type that the reader accepts more widely than the national layout has a name of its own. */
export function typeName(type: SimpleType, side: Side): string {
  const wider = side === 'sender' && (type.reads !== undefined || type.national !== undefined);
  return wider ? `${type.name}Lido` : type.name;
}

/** The type of the values in a note. */
export function nationalType(type: SimpleType): SimpleType {
  return type.national ?? { ...type, reads: undefined };
}

function facets(type: SimpleType): Lines {
  if (type.kind === 'enum') {
    return [...type.values!, ...shortSpellings(type)].map((value) => `<xs:enumeration value="${value}"/>`);
  }
  return [...lengths(type), `<xs:pattern value="${patternOf(type)}"/>`];
}

/** Spellings of enumerated values without the zero, if the type reads them: `1` for `01` (D-83). */
export function shortSpellings(type: SimpleType): readonly string[] {
  const { reads } = type;
  return reads === undefined
    ? []
    : type.values!.map((value) => String(Number(value))).filter((v) => reads.pattern.test(v));
}

/** Lengths are stated only if the pattern leaves them open. */
function lengths(type: SimpleType): Lines {
  if (type.kind !== 'text' || (type.pattern !== undefined && !/[*+]/.test(type.pattern))) return [];
  return [`<xs:minLength value="${type.min}"/>`, `<xs:maxLength value="${type.max}"/>`];
}

/** Any text with at least one character other than white space. */
const SOME_TEXT = '\\s*\\S[\\s\\S]*';

/** Dates from 2000 to 2099, where every fourth year is a leap year. */
const DATE =
  '20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|20[0-9]{2}-(0[13-9]|1[0-2])-(29|30)|20[0-9]{2}-(0[13578]|1[02])-31|20([02468][048]|[13579][26])-02-29';

/** The pattern of a type without enumerated values, in the syntax of XML Schema: the whole value must match. */
export function patternOf(type: SimpleType): string {
  if (type.kind === 'date') return DATE;
  if (type.kind === 'datetime') return `(${DATE})${type.pattern!.slice(type.pattern!.indexOf('T'))}`;
  const pattern = type.highest === undefined ? (type.pattern ?? SOME_TEXT) : upTo(type.highest);
  return type.reads === undefined ? pattern : `${pattern}|${type.reads.pattern.source.replace(/^\^|\$$/g, '')}`;
}

/** A schema cannot compare a text with a number, so the bound is written as digits. */
function upTo(highest: bigint): string {
  const whole = String(highest / 100n);
  if (highest % 100n !== 0n || !/^10+$/.test(whole)) throw new RangeError(`No pattern for up to ${highest} hundredths`);
  return `${whole}(\\.00)?|0(\\.[0-9]{2})?|[1-9][0-9]{0,${whole.length - 2}}(\\.[0-9]{2})?`;
}

// Text.

function documentation(text: string): Lines {
  return [`<xs:annotation><xs:documentation>${escapeText(text)}</xs:documentation></xs:annotation>`];
}

function dropDocumentation(lines: Lines): string {
  return lines.filter((line) => !line.includes('<xs:documentation>')).join('\n');
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function indent(lines: Lines): Lines {
  return lines.map((line) => `  ${line}`);
}
