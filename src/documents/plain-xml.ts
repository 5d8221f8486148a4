/**
 * Writes the exclusive canonical form of a plain document without a parser; anything that is not plain is left to libxml2.
 *
 * Plain is UTF-8 without a mark, names of ASCII without prefix, the two namespaces of the layout, spaces alone within tags, attributes of
 * ASCII without references, and in texts the five entities. It has no DOCTYPE, comment, instruction, CDATA or carriage return.
 * Nothing is refused here: a document is written as libxml2 writes it, or is not plain (D-354).
 */
import { isUtf8 } from 'node:buffer';
import { DPS_NAMESPACE } from '../fiscal/layout/dps.ts';
import { SIGNATURE_NAMESPACE } from '../fiscal/layout/reading.ts';
import type { Limits } from './canonical.ts';
import { MARGIN_MAX } from './xml-margins.ts';

/** Below the ten million characters of a text that libxml2 reads. */
const BYTES_MAX = 4_194_304;
/** Below the fifty thousand characters of a name that libxml2 reads. */
const NAME_MAX = 100;
const ATTRIBUTES_MAX = 16;
/** Places that are not in canonical form. Each costs more than libxml2 takes for it; an ordinary document has a dozen. */
const REPLACED_MAX = 256;

const NAMESPACES: ReadonlySet<string> = new Set([DPS_NAMESPACE, SIGNATURE_NAMESPACE]);

const DECLARATION =
  /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])(?:UTF-8|utf-8)\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>/;
/** Longer than any declaration that is plain. */
const DECLARATION_MAX = 80;

/** An attribute in either quotes, whose value has no reference, no markup and no quote. */
const ATTRIBUTE = / +([A-Za-z_][\w.-]{0,99})=(?:"([ !#-%(-;=?-~]*)"|'([ !#-%(-;=?-~]*)')/y;
const END_OF_TAG = / *(\/?)>/y;
/** After the name: one attribute as the canonical form writes it, which is no declaration. */
const CANONICAL_ATTRIBUTE = /^ (?!xmlns=)[A-Za-z_][\w.-]{0,99}="[ !#-%(-;=?-~]*">/;

const [TAB, LINE_FEED, SPACE, AMPERSAND, SLASH, LESS, GREATER, QUESTION] = [9, 10, 32, 38, 47, 60, 62, 63];
/** The first octet of U+FFFE and U+FFFF, which are no characters of XML, and of others that are. */
const [LAST_BLOCK, LAST_SECOND, LAST_THIRD] = [0xef, 0xbf, 0xbe];

/** What an octet may be part of: the first letter of a name, the rest of one, a text. */
const [FIRST, REST, TEXT] = [1, 2, 4];
const KINDS = Uint8Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet);
  if (/[A-Za-z_]/.test(character)) return FIRST | REST | TEXT;
  if (/[\d.-]/.test(character)) return REST | TEXT;
  const isText = octet < SPACE ? octet === TAB || octet === LINE_FEED : !'<>&\xef'.includes(character);
  return isText ? TEXT : 0;
});

/** How far a document is read. What stands before `copied` is in `written`, in canonical form. */
type Scan = {
  readonly bytes: Buffer;
  readonly limits: Limits;
  at: number;
  elements: number;
  depth: number;
  /** Of the open elements, from the root on: where their names begin and end, and the namespace inside. */
  readonly nameStarts: number[];
  readonly nameEnds: number[];
  readonly namespaces: string[];
  written: string;
  copied: number;
  /** How many places were written anew. */
  replaced: number;
};

/** The exclusive canonical form of a plain document; undefined where it is not plain, well-formed or not. */
export function canonicalOfPlain(given: Uint8Array, limits: Limits): string | undefined {
  if (given.length > BYTES_MAX || given[0] !== LESS || !isUtf8(given)) return undefined;
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.length);
  const start = startOfRoot(bytes);
  if (start === undefined) return undefined;
  const scan: Scan = {
    bytes,
    limits,
    at: start,
    elements: 0,
    depth: 0,
    nameStarts: [],
    nameEnds: [],
    namespaces: [],
    written: '',
    copied: start,
    replaced: 0,
  };
  do {
    const isEnd = scan.depth > 0 && bytes[scan.at + 1] === SLASH;
    const isRead = isEnd ? readEndTag(scan) : readStartTag(scan);
    if (!isRead || (scan.depth > 0 && !readText(scan))) return undefined;
  } while (scan.depth > 0);
  const end = scan.at;
  const isAlone = skipSpace(bytes, end) === bytes.length && start + bytes.length - end <= MARGIN_MAX;
  return isAlone ? scan.written + bytes.toString('utf8', scan.copied, end) : undefined;
}

function startOfRoot(bytes: Buffer): number | undefined {
  if (bytes[1] !== QUESTION) return 0;
  const declaration = DECLARATION.exec(bytes.toString('latin1', 0, DECLARATION_MAX));
  if (declaration === null) return undefined;
  const start = skipSpace(bytes, declaration[0].length);
  return bytes[start] === LESS ? start : undefined;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === SPACE || bytes[at] === LINE_FEED || bytes[at] === TAB) at += 1;
  return at;
}

function readEndTag(scan: Scan): boolean {
  const { bytes } = scan;
  scan.depth -= 1;
  const nameEnd = scan.nameEnds[scan.depth]!;
  let at = scan.at + 2;
  for (let place = scan.nameStarts[scan.depth]!; place < nameEnd; place += 1, at += 1) {
    if (bytes[at] !== bytes[place]) return false;
  }
  scan.at = at + 1;
  return bytes[at] === GREATER;
}

function readStartTag(scan: Scan): boolean {
  const { bytes, limits, depth, namespaces } = scan;
  scan.elements += 1;
  if (depth === limits.depth || scan.elements > limits.elements) return false;
  const nameStart = scan.at + 1;
  let at = nameStart;
  if ((KINDS[bytes[at]!]! & FIRST) === 0) return false;
  do at += 1;
  while ((KINDS[bytes[at]!]! & REST) !== 0);
  if (at - nameStart > NAME_MAX) return false;
  scan.nameStarts[depth] = nameStart;
  scan.nameEnds[depth] = at;
  namespaces[depth] = depth === 0 ? '' : namespaces[depth - 1]!;
  scan.depth += 1;
  scan.at = at + 1;
  return bytes[at] === GREATER || readAttributes(scan, at);
}

/** Reads what follows the name of a start tag, and writes the tag anew where it is not in canonical form. */
function readAttributes(scan: Scan, nameEnd: number): boolean {
  const { bytes, namespaces } = scan;
  const close = bytes.indexOf(GREATER, nameEnd);
  const source = bytes.toString('latin1', nameEnd, close + 1);
  scan.at = close + 1;
  if (CANONICAL_ATTRIBUTE.test(source)) return true;
  const depth = scan.depth - 1;
  const outer = namespaces[depth]!;
  const attributes = new Map<string, string>();
  let end = 0;
  ATTRIBUTE.lastIndex = 0;
  for (let found = ATTRIBUTE.exec(source); found !== null; found = ATTRIBUTE.exec(source)) {
    end = ATTRIBUTE.lastIndex;
    const [, name, twice, once] = found;
    if (attributes.has(name!) || attributes.size === ATTRIBUTES_MAX) return false;
    attributes.set(name!, twice ?? once!);
  }
  END_OF_TAG.lastIndex = end;
  const closing = END_OF_TAG.exec(source)?.[1];
  const namespace = attributes.get('xmlns');
  if (closing === undefined || (namespace !== undefined && !NAMESPACES.has(namespace))) return false;
  namespaces[depth] = namespace ?? outer;
  attributes.delete('xmlns');
  let written = namespaces[depth] === outer ? '' : ` xmlns="${namespace}"`;
  for (const name of [...attributes.keys()].sort()) written += ` ${name}="${attributes.get(name)}"`;
  written += '>';
  if (closing === '/') {
    written += `</${bytes.toString('latin1', scan.nameStarts[depth], nameEnd)}>`;
    scan.depth = depth;
  }
  return written === source || replace(scan, nameEnd, written);
}

/** Reads what stands between two tags. */
function readText(scan: Scan): boolean {
  const { bytes } = scan;
  let { at } = scan;
  for (;;) {
    while ((KINDS[bytes[at]!]! & TEXT) !== 0) at += 1;
    const octet = bytes[at];
    if (octet === LESS) break;
    if (octet === LAST_BLOCK) {
      if (bytes[at + 1] === LAST_SECOND && bytes[at + 2]! >= LAST_THIRD) return false;
      at += 3;
      continue;
    }
    const entity = octet === AMPERSAND ? entityAt(bytes, at) : undefined;
    if (entity === undefined) return false;
    scan.at = at + entity.octets.length;
    if (entity.written !== undefined && !replace(scan, at, entity.written)) return false;
    at = scan.at;
  }
  scan.at = at;
  return true;
}

/** An entity in a text. `written`: what the canonical form has instead. */
type Entity = { readonly octets: Buffer; readonly written?: string };

const ENTITIES: readonly Entity[] = [
  { octets: Buffer.from('&amp;') },
  { octets: Buffer.from('&lt;') },
  { octets: Buffer.from('&gt;') },
  { octets: Buffer.from('&quot;'), written: '"' },
  { octets: Buffer.from('&apos;'), written: "'" },
];

function entityAt(bytes: Buffer, at: number): Entity | undefined {
  return ENTITIES.find(({ octets }) => octets.every((octet, place) => bytes[at + place] === octet));
}

/** Writes other text for what stands between a place and where the scan is; false where too much was written anew. */
function replace(scan: Scan, from: number, text: string): boolean {
  scan.written += scan.bytes.toString('utf8', scan.copied, from) + text;
  scan.copied = scan.at;
  scan.replaced += 1;
  return scan.replaced <= REPLACED_MAX;
}
