/**
 * Reads a plain document in one walk over its octets: the tree, and the places of its canonical forms in the text. Any other document is
 * left to libxml2.
 *
 * A plain document is UTF-8 without a mark. Its names are ASCII without prefix, in the two namespaces of the layout. Tags contain only
 * spaces, attributes only ASCII without references, and texts only the five entities. It has no DOCTYPE, comment, instruction, CDATA or
 * carriage return. Nothing is refused here: a document is read as libxml2 reads it, or is not plain (D-354).
 */
import { isUtf8 } from 'node:buffer';
import { DPS_NAMESPACE } from '../fiscal/layout/dps.ts';
import { SIGNATURE_NAMESPACE } from '../fiscal/layout/reading.ts';
import type { Atributo, Elemento } from '../fiscal/layout/tree.ts';
import type { CanonicalReading, Limits } from './canonical.ts';
import { keyWith, nameAt } from './plain-names.ts';
import { MARGIN_MAX } from './xml-margins.ts';

/** Less than the ten million characters of a text that libxml2 reads. */
const BYTES_MAX = 4_194_304;
/** Less than the fifty thousand characters of a name that libxml2 reads. */
const NAME_MAX = 100;
const ATTRIBUTES_MAX = 16;
/** Places that differ from the canonical form. Each costs more here than in libxml2; an ordinary document has a dozen. */
const REPLACED_MAX = 256;

const DECLARATION =
  /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])(?:UTF-8|utf-8)\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>/;
/** No plain declaration is longer. */
const DECLARATION_MAX = 80;

const [TAB, LINE_FEED, SPACE, QUOTE, AMPERSAND, APOSTROPHE, SLASH] = [9, 10, 32, 34, 38, 39, 47];
const [LESS, EQUALS, GREATER, QUESTION] = [60, 61, 62, 63];
/** The least first octets of characters of two, three and four octets. */
const [OF_TWO, OF_THREE, OF_FOUR] = [0xc0, 0xe0, 0xf0];
/** The octets of U+FFFE, which is no XML character; neither is the next one. */
const [LAST_FIRST, LAST_SECOND, LAST_THIRD] = [0xef, 0xbf, 0xbe];

/** The possible parts of an octet: the first letter of a name, the rest of one, a text, the value of an attribute. */
const [FIRST, REST, TEXT, VALUE] = [1, 2, 4, 8];
const KINDS = Uint8Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet);
  if (/[A-Za-z_]/.test(character)) return FIRST | REST | TEXT | VALUE;
  if (/[\d.-]/.test(character)) return REST | TEXT | VALUE;
  if (/[ !#-%(-;=?-~]/.test(character)) return TEXT | VALUE;
  return /[\t\n"'\x7f]/.test(character) ? TEXT : 0;
});

const NO_ATTRIBUTES: readonly Atributo[] = [];
const NO_CHILDREN: readonly Elemento[] = [];

/** Places in the text, and their text in the canonical form. */
type Replaced = { readonly from: number; readonly to: number; readonly written: string };

/** The state of the reading. */
type Scan = {
  readonly octets: Buffer;
  /** The same bytes as characters. */
  readonly text: string;
  readonly limits: Limits;
  /** The only possible end of the root: behind the last `>`. */
  readonly end: number;
  /** The next octet, and the surplus of octets over characters before it. */
  at: number;
  surplus: number;
  elements: number;
  /** The positions of each element by index, in sequence: its beginning, the end of its name, and its end. */
  readonly places: number[];
  /** Elements whose parent is still open. */
  readonly read: Elemento[];
  waiting: number;
  readonly replaced: Replaced[];
};

/** A plain document; undefined: it is not plain, whether or not it is well-formed. */
export function readPlain(given: Uint8Array, limits: Limits): CanonicalReading | undefined {
  if (given.length > BYTES_MAX || given[0] !== LESS || !isUtf8(given)) return undefined;
  const octets = Buffer.from(given.buffer, given.byteOffset, given.length);
  let end = octets.length;
  while (isSpace(octets[end - 1]!)) end -= 1;
  const start = startOfRoot(octets);
  // The last octet ends every walk over the octets.
  const isAlone = start < end && octets[end - 1] === GREATER && start + octets.length - end <= MARGIN_MAX;
  if (!isAlone || octets[start] !== LESS) return undefined;
  const scan: Scan = {
    octets,
    text: octets.toString('utf8'),
    limits,
    end,
    at: start,
    surplus: 0,
    elements: 0,
    places: [],
    read: [],
    waiting: 0,
    replaced: [],
  };
  const root = readElement(scan, '', 0);
  return root === undefined || scan.at !== end ? undefined : readingOf(scan, root);
}

function readingOf({ text, places, replaced }: Scan, root: Elemento): CanonicalReading {
  const write = (from: number, to: number): string => writeCanonical(text, replaced, from, to);
  return {
    root,
    canonicalOf: ({ index, namespace }) => {
      const start = places[3 * index]!;
      const whole = write(start, places[3 * index + 2]!);
      const nameEnd = places[3 * index + 1]! - start;
      // An element can only lack an ancestor's declaration of the namespace.
      if (namespace === '' || whole.startsWith(XMLNS, nameEnd)) return whole;
      return `${whole.slice(0, nameEnd)}${XMLNS}${namespace}"${whole.slice(nameEnd)}`;
    },
    rootWithout: ({ index }) => write(places[0]!, places[3 * index]!) + write(places[3 * index + 2]!, places[2]!),
  };
}

const XMLNS = ' xmlns="';

/** The canonical form between two places of the text. */
function writeCanonical(text: string, replaced: readonly Replaced[], start: number, end: number): string {
  let copied = start;
  let whole = '';
  for (const { from, to, written } of replaced) {
    if (from < start || to > end) continue;
    whole += text.slice(copied, from) + written;
    copied = to;
  }
  return whole + text.slice(copied, end);
}

function isSpace(octet: number): boolean {
  return octet === SPACE || octet === LINE_FEED || octet === TAB;
}

/** The beginning of the root, if it begins with a `<`. */
function startOfRoot(octets: Buffer): number {
  if (octets[1] !== QUESTION) return 0;
  const declaration = DECLARATION.exec(octets.toString('latin1', 0, DECLARATION_MAX));
  if (declaration === null) return octets.length;
  let start = declaration[0].length;
  while (isSpace(octets[start]!)) start += 1;
  return start;
}

/** Reads an element; `outer` is the namespace around it. */
function readElement(scan: Scan, outer: string, depth: number): Elemento | undefined {
  const { octets, limits, places, read, surplus, at: start, waiting } = scan;
  const index = scan.elements;
  if (depth === limits.depth || index === limits.elements) return undefined;
  scan.elements += 1;
  scan.at += 1;
  const name = readName(scan);
  if (name === undefined) return undefined;
  const nameEnd = scan.at;
  places.push(start - surplus, nameEnd - surplus, 0);
  let namespace = outer;
  let attributes = NO_ATTRIBUTES;
  let isOpen = true;
  if (octets[nameEnd] === GREATER) scan.at += 1;
  else {
    const tag = readTag(scan, name, outer);
    if (tag === undefined) return undefined;
    ({ namespace, attributes, isOpen } = tag);
  }
  let text = '';
  while (isOpen) {
    const piece = readText(scan);
    if (piece === undefined) return undefined;
    text += piece;
    if (octets[scan.at + 1] === SLASH) {
      if (!readEndTag(scan, start + 1, nameEnd)) return undefined;
      break;
    }
    const child = readElement(scan, namespace, depth + 1);
    if (child === undefined) return undefined;
    read[scan.waiting] = child;
    scan.waiting += 1;
  }
  const children = scan.waiting === waiting ? NO_CHILDREN : read.slice(waiting, scan.waiting);
  scan.waiting = waiting;
  places[3 * index + 2] = scan.at - scan.surplus;
  return { name, namespace, text, children, attributes, index };
}

function readEndTag(scan: Scan, nameStart: number, nameEnd: number): boolean {
  const { octets } = scan;
  let at = scan.at + 2;
  for (let place = nameStart; place < nameEnd; place += 1, at += 1) {
    if (octets[at] !== octets[place]) return false;
  }
  scan.at = at + 1;
  return octets[at] === GREATER;
}

/** Reads the name of an element or an attribute. */
function readName(scan: Scan): string | undefined {
  const { octets, text, at: start, surplus } = scan;
  let at = start;
  let octet = octets[at]!;
  if ((KINDS[octet]! & FIRST) === 0) return undefined;
  let key = 0;
  do {
    key = keyWith(key, octet);
    at += 1;
    octet = octets[at]!;
  } while ((KINDS[octet]! & REST) !== 0);
  if (at - start > NAME_MAX) return undefined;
  scan.at = at;
  return nameAt(octets, start, at, key) ?? text.slice(start - surplus, at - surplus);
}

type Tag = { readonly namespace: string; readonly attributes: readonly Atributo[]; readonly isOpen: boolean };

/** Reads the rest of a start tag after its name; a tag that is not canonical is rewritten. */
function readTag(scan: Scan, element: string, outer: string): Tag | undefined {
  const { octets, at: start } = scan;
  const attributes: Atributo[] = [];
  let declared: string | undefined;
  let last = '';
  let isCanonical = true;
  for (let from = start; octets[from] === SPACE; from = scan.at) {
    while (octets[scan.at] === SPACE) scan.at += 1;
    if (octets[scan.at] === GREATER || octets[scan.at] === SLASH) {
      isCanonical = false;
      break;
    }
    // Each attribute is compared with those before it, so there must be few of them.
    const attribute = attributes.length === ATTRIBUTES_MAX ? undefined : readAttribute(scan);
    if (attribute === undefined) return undefined;
    const { name, value } = attribute;
    if (scan.at - from > name.length + value.length + ' =""'.length || octets[scan.at - 1] === APOSTROPHE) {
      isCanonical = false;
    }
    if (name === 'xmlns') {
      if (declared !== undefined || (value !== DPS_NAMESPACE && value !== SIGNATURE_NAMESPACE)) return undefined;
      declared = value === DPS_NAMESPACE ? DPS_NAMESPACE : SIGNATURE_NAMESPACE;
      if (declared === outer || attributes.length > 0) isCanonical = false;
      continue;
    }
    if (name > last) last = name;
    else if (attributes.some((other) => other.name === name)) return undefined;
    else isCanonical = false;
    attributes.push(attribute);
  }
  const isOpen = octets[scan.at] !== SLASH;
  if (!isOpen) scan.at += 1;
  if (octets[scan.at] !== GREATER) return undefined;
  scan.at += 1;
  const namespace = declared ?? outer;
  if (!isCanonical || !isOpen) {
    attributes.sort((one, other) => (one.name < other.name ? -1 : 1));
    let written = namespace === outer ? '' : `${XMLNS}${namespace}"`;
    for (const { name, value } of attributes) written += ` ${name}="${value}"`;
    if (!replace(scan, start, isOpen ? `${written}>` : `${written}></${element}>`)) return undefined;
  }
  return { namespace, attributes, isOpen };
}

/** An attribute in either quotes; its value has no reference, no markup and no quote. */
function readAttribute(scan: Scan): Atributo | undefined {
  const { octets, surplus } = scan;
  const name = readName(scan);
  if (name === undefined || octets[scan.at] !== EQUALS) return undefined;
  const quote = octets[scan.at + 1];
  if (quote !== QUOTE && quote !== APOSTROPHE) return undefined;
  const from = scan.at + 2;
  let at = from;
  while ((KINDS[octets[at]!]! & VALUE) !== 0) at += 1;
  scan.at = at + 1;
  return octets[at] === quote
    ? { name, namespace: '', value: scan.text.slice(from - surplus, at - surplus) }
    : undefined;
}

/** Reads the text between two tags. */
function readText(scan: Scan): string | undefined {
  const { octets, at: start, surplus } = scan;
  if (start === scan.end) return undefined;
  let at = start;
  let octet: number;
  let hasReferences = false;
  for (;;) {
    while ((KINDS[octets[at]!]! & TEXT) !== 0) at += 1;
    octet = octets[at]!;
    scan.at = at;
    if (octet === LESS) break;
    if (octet === AMPERSAND) hasReferences = true;
    if (!(octet === AMPERSAND ? readReference(scan) : readCharacter(scan, octet))) return undefined;
    at = scan.at;
  }
  if (at === start) return '';
  const piece = scan.text.slice(start - surplus, at - scan.surplus);
  return hasReferences ? resolveReferences(piece) : piece;
}

/** Reads a character of more than one octet. */
function readCharacter(scan: Scan, first: number): boolean {
  const { octets, at } = scan;
  if (first < OF_TWO) return false;
  if (first === LAST_FIRST && octets[at + 1] === LAST_SECOND && octets[at + 2]! >= LAST_THIRD) return false;
  const width = first < OF_THREE ? 2 : first < OF_FOUR ? 3 : 4;
  scan.at += width;
  // A character of four octets has two UTF-16 units.
  scan.surplus += width === 2 ? 1 : 2;
  return true;
}

/** `written`: the canonical form of an entity, if it differs. */
const ENTITIES: readonly { readonly name: string; readonly character: string; readonly written?: string }[] = [
  { name: '&amp;', character: '&' },
  { name: '&lt;', character: '<' },
  { name: '&gt;', character: '>' },
  { name: '&quot;', character: '"', written: '"' },
  { name: '&apos;', character: "'", written: "'" },
];

function readReference(scan: Scan): boolean {
  const { text, at, surplus } = scan;
  const entity = ENTITIES.find(({ name }) => text.startsWith(name, at - surplus));
  if (entity === undefined) return false;
  scan.at += entity.name.length;
  return entity.written === undefined || replace(scan, at, entity.written);
}

function resolveReferences(text: string): string {
  return text.replace(/&[a-z]+;/g, (reference) => ENTITIES.find(({ name }) => name === reference)!.character);
}

/** Replaces the text from an octet to the current position; false: too many places were replaced. */
function replace({ at, surplus, replaced }: Scan, from: number, written: string): boolean {
  replaced.push({ from: from - surplus, to: at - surplus, written });
  return replaced.length <= REPLACED_MAX;
}
