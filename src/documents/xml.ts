/**
 * Reads XML: bytes to a tree of elements, and from an element back to its line and column. The only user of libxml2.
 *
 * No document type, no entity beyond the five, no network, no external file. Size, depth and number of elements are bounded before the
 * content is read. `../fiscal/layout` knows the meaning of the elements.
 */
import { hash, randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  ParseOption,
  XmlC14NMode,
  XmlDocument,
  XmlElement,
  XmlParseError,
  XmlValidateError,
  XsdValidator,
} from 'libxml2-wasm';
import { type Fault, quoted } from '../fiscal/fault.ts';
import type { Extent } from '../fiscal/layout/correct-xml.ts';
import type { Elemento } from '../fiscal/layout/tree.ts';
import { type CanonicalReading, readCanonical } from './canonical.ts';
import { declarationFault, decodeXml, isWide, quickText, XML_DECLARATION } from './encoding.ts';
import { type Place, placesIn } from './places.ts';
import { readPlain } from './plain-xml.ts';
import { XML_DIFFERENCES, type XmlDifference } from './xml-differences.ts';
import { MARGIN_MAX, marginsOf } from './xml-margins.ts';
import { DPS_NAMESPACE, PARSER_LIMITS, translateMessage, type XmlSentence } from './xml-messages.ts';

/** The deepest path of the layout has 14 levels; a signature and a SOAP envelope stay far below this. */
const DEPTH_MAX = 32;
/** A DPS with a thousand deduction documents and their suppliers has about 30,000 elements. */
const ELEMENTS_MAX = 60_000;

const LIMITS = { depth: DEPTH_MAX, elements: ELEMENTS_MAX };

/** `xmlErrorLevel` of libxml2. */
const WARNING = 1;

const PADDED = `há mais de ${MARGIN_MAX} caracteres fora do elemento raiz (comentários, instruções, espaços), que nada dizem e seriam guardados com ele; retire-os.`;
const DOCTYPE_REFUSED = 'o documento traz uma declaração DOCTYPE, que não é aceita; retire-a.';

const OPTIONS =
  ParseOption.XML_PARSE_NO_XXE |
  ParseOption.XML_PARSE_NONET |
  ParseOption.XML_PARSE_NO_SYS_CATALOG |
  ParseOption.XML_PARSE_BIG_LINES;

const START: Place = { linha: 1, coluna: 1 };

export type XmlReading =
  | {
      readonly root: Elemento;
      /** The bytes as received. */
      readonly bytes: Uint8Array;
      readonly text: () => string;
      /** The extent of an element in that text; computed for all elements at the first call. */
      extentOf(element: Elemento): Extent | undefined;
      positionOf(element: Elemento): Place;
      /** Exclusive canonical form of an element with its content, without comments. */
      canonicalOf(element: Elemento): string;
      /** The exclusive form of the whole document without one element. */
      rootWithout(element: Elemento): string;
      /**
       * The inclusive forms of Canonical XML 1.0; the first call takes a parse. Undefined: the address of a namespace contains markup, or
       * the document declares more prefixes than programs do.
       */
      inclusive(): Pick<CanonicalReading, 'canonicalOf' | 'rootWithout'> | undefined;
      /** The first comment or processing instruction: no signature covers it, and nothing reads it. */
      strayMarkup(): StrayMarkup | undefined;
    }
  | XmlRefusal;

/** `withoutDps`: the message for the sender of another document than a DPS. */
type XmlRefusal = { readonly fault: Fault; readonly withoutDps: string };

/** A document that was read. */
export type XmlDocumentReading = Extract<XmlReading, { root: Elemento }>;

type StrayMarkup = { readonly kind: 'comentário' | 'instrução de processamento'; readonly position: Place };

/** Attributes in one tag: the canonical form sorts them, which is quadratic. */
const ATTRIBUTES_MAX = 256;
/** Prefixes in a document, and declarations in force at an element: each name is looked up in all of them. */
const PREFIXES_MAX = 256;
/** The canonical form repeats the address of a namespace wherever a prefix comes into use; ours have about forty characters. */
const NAMESPACE_LENGTH_MAX = 128;
/** A shorter document cannot reach a limit that matters. */
const SMALL_BYTES = 8_192;

/** libxml2 reads one plain document in this many too, and the two readings are compared. The choice is unpredictable from outside. */
const COMPARED_ONE_IN = 1_000;

/**
 * Parses a document. E201 refuses bytes that are not well-formed XML, with line, column and remedy. It also refuses features that this
 * service does not accept (DOCTYPE, custom entities, excessive depth or size).
 *
 * The result is read from the text that a signature is checked over: the canonical form that libxml2 writes. A plain document is read from
 * its own text in the same walk: only some of its tags differ from the canonical form (D-354).
 */
export function readXml(bytes: Uint8Array, readOrdinary: typeof readPlain = readPlain): XmlReading {
  const plain = readOrdinary(bytes, LIMITS);
  if (plain !== undefined && randomInt(COMPARED_ONE_IN) > 0) return readingOf(bytes, plain, true);
  const canonical = canonicalise(bytes);
  const theirs = typeof canonical === 'string' ? readingOfCanonical(bytes, canonical) : canonical;
  const aspecto = plain && differenceOf(plain, theirs);
  if (aspecto !== undefined) {
    XML_DIFFERENCES.publish({
      resumo: hash('sha256', bytes, 'hex'),
      bytes: bytes.length,
      aspecto,
    } satisfies XmlDifference);
  }
  return theirs;
}

/**
 * The difference from the reading by libxml2. The compared canonical forms are those of the document and of two levels below it, which
 * include the signed elements.
 */
function differenceOf(plain: CanonicalReading, theirs: XmlReading): XmlDifference['aspecto'] | undefined {
  if ('fault' in theirs) return 'recusa';
  if (!isDeepStrictEqual(plain.root, theirs.root)) return 'árvore';
  const compared = [plain.root, ...plain.root.children, ...plain.root.children.flatMap(({ children }) => children)];
  return compared.every((one) => plain.canonicalOf(one) === theirs.canonicalOf(one)) ? undefined : 'forma canônica';
}

/** The exclusive canonical form of a document, written by libxml2. */
function canonicalise(bytes: Uint8Array): string | XmlRefusal {
  const quick = quickText(bytes);
  const misdeclared = declarationFault(bytes, quick);
  if (misdeclared !== undefined) {
    const { mensagem, encontrado, offset, isMalformed } = misdeclared;
    return (isMalformed ? malformed : notTaken)({ mensagem }, placeOf(decodeXml(bytes), offset), encontrado);
  }
  const doctype = doctypeAt(bytes, quick);
  if (doctype !== undefined) return notTaken({ mensagem: DOCTYPE_REFUSED }, doctype, '<!DOCTYPE');
  const excess = bytes.length < SMALL_BYTES ? undefined : excessOf(quick);
  if (excess !== undefined) return beyond(excess);
  if (bytes.length > MARGIN_MAX && marginsOf(quick) > MARGIN_MAX) return notTaken({ mensagem: PADDED });
  let document: XmlDocument;
  try {
    document = XmlDocument.fromBuffer(bytes, { option: OPTIONS });
  } catch (error) {
    if (!(error instanceof XmlParseError)) throw error;
    // A warning of libxml2 may stand before the error that refuses the document.
    const detail = error.details.find(({ level }) => level > WARNING) ?? error.details[0];
    const position = { linha: detail?.line ?? 1, coluna: detail?.col ?? 1 };
    const said = detail?.message ?? error.message;
    return (PARSER_LIMITS.test(said) ? notTaken : malformed)(translateMessage(said), position);
  }
  try {
    // The quick decoding did not show the DOCTYPE in this encoding.
    if (document.dtd !== null) return notTaken({ mensagem: DOCTYPE_REFUSED }, START, '<!DOCTYPE');
    return document.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 });
  } catch {
    return relativeNamespace(bytes);
  } finally {
    document.dispose();
  }
}

/** Reads a document out of its canonical form. */
function readingOfCanonical(bytes: Uint8Array, canonical: string): XmlReading {
  const read = readCanonical(canonical, LIMITS);
  if ('strangeNamespace' in read) return strangeNamespace(bytes, read.strangeNamespace);
  return 'limit' in read ? beyond(read.limit) : readingOf(bytes, read, false);
}

/** `isPlain`: the document has neither comments nor instructions. */
function readingOf(bytes: Uint8Array, read: CanonicalReading, isPlain: boolean): XmlDocumentReading {
  let decoded: string | undefined;
  let inclusive: ReturnType<typeof readInclusive> | undefined;
  const text = (): string => (decoded ??= decodeXml(bytes));
  let extents: readonly Extent[] | undefined;
  let placeOfTag: ReturnType<typeof placesOfTags> | undefined;
  return {
    root: read.root,
    bytes,
    text,
    extentOf: ({ index }) => {
      extents ??= extentsIn(text());
      return extents[index];
    },
    positionOf: ({ index }) => {
      placeOfTag ??= placesOfTags(text());
      return placeOfTag(index);
    },
    canonicalOf: read.canonicalOf,
    rootWithout: read.rootWithout,
    inclusive: () => {
      inclusive ??= readInclusive(bytes);
      return 'root' in inclusive ? inclusive : undefined;
    },
    strayMarkup: () => (isPlain ? undefined : strayMarkupIn(quickText(bytes), text)),
  };
}

/** The tree of a document that this service wrote: it is its own canonical form (D-34) and needs no parser. */
export function readOwnXml(bytes: Uint8Array): Elemento {
  const read = readCanonical(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'), LIMITS);
  if (!('root' in read)) throw new Error('a document that we wrote does not read');
  return read.root;
}

/** Different prefixes of a document in inclusive form: the time grows with the elements times the square of this number. */
export const INCLUSIVE_PREFIXES_MAX = 16;

/** Reads a document accepted by {@link readXml} in the form that keeps unused declarations. */
function readInclusive(bytes: Uint8Array): ReturnType<typeof readCanonical> {
  const prefixes = new Set<string>();
  for (const { 0: found } of quickText(bytes).matchAll(/xmlns:[^\s=]+/g)) {
    if (prefixes.add(found).size > INCLUSIVE_PREFIXES_MAX) return { limit: `${INCLUSIVE_PREFIXES_MAX} prefixos` };
  }
  const document = XmlDocument.fromBuffer(bytes, { option: OPTIONS });
  try {
    const text = document.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_1_0 });
    return readCanonical(text, LIMITS, 'inclusiva');
  } finally {
    document.dispose();
  }
}

/** The canonical form of one element by libxml2 alone, for a document accepted by {@link readXml}: each call takes a whole parse. */
export function canonicalForm(bytes: Uint8Array, { index }: Elemento, form: 'exclusiva' | 'inclusiva'): string {
  const document = XmlDocument.fromBuffer(bytes, { option: OPTIONS });
  try {
    const node = document.get(`(//*)[${index + 1}]`);
    if (!(node instanceof XmlElement)) throw new RangeError('the document has no such element');
    const mode = form === 'exclusiva' ? XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 : XmlC14NMode.XML_C14N_1_0;
    return node.canonicalizeToString({ mode });
  } finally {
    document.dispose();
  }
}

/** The limit that a document exceeds, checked before its canonical form is computed. The parser refuses a text that is no XML. */
function excessOf(text: string): string | undefined {
  const prefixes = new Set<string>();
  /** Declarations of each open element, and their sum. */
  const open: number[] = [];
  let inForce = 0;
  let tags = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const end = MARKUP_WITHOUT_TAGS.find(([begin]) => text.startsWith(begin, at))?.[1];
    if (end !== undefined) {
      const close = text.indexOf(end, at);
      if (close < 0) return undefined;
      at = close + end.length;
      continue;
    }
    let attributes = 0;
    let declarations = 0;
    let declares = false;
    const start = at;
    for (at += 1; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === GREATER) break;
      if (code === LESS) return undefined;
      if (code === LETTER_X && text.startsWith('xmlns', at)) {
        declares = true;
        if (text[at + 5] === ':') {
          const end = endOfName(text, at + 6);
          prefixes.add(text.slice(at + 6, end));
          declarations += 1;
          at = end - 1;
          continue;
        }
      }
      if (code !== QUOTE && code !== APOSTROPHE) continue;
      attributes += 1;
      const close = text.indexOf(text[at]!, at + 1);
      if (close < 0) return undefined;
      if (declares && close - at > NAMESPACE_LENGTH_MAX + 1) {
        return `${NAMESPACE_LENGTH_MAX} caracteres no endereço de um espaço de nomes`;
      }
      declares = false;
      at = close;
    }
    // Start tags and end tags count alike.
    tags += 1;
    if (tags > 2 * ELEMENTS_MAX) return `${ELEMENTS_MAX} elementos`;
    if (attributes > ATTRIBUTES_MAX) return `${ATTRIBUTES_MAX} atributos em um elemento`;
    if (prefixes.size > PREFIXES_MAX) return `${PREFIXES_MAX} prefixos declarados`;
    if (inForce + declarations > PREFIXES_MAX)
      return `${PREFIXES_MAX} declarações de prefixos em elementos um dentro do outro`;
    if (text.charCodeAt(start + 1) === SLASH) inForce -= open.pop() ?? 0;
    else if (text.charCodeAt(at - 1) !== SLASH) {
      open.push(declarations);
      inForce += declarations;
    }
  }
  return undefined;
}

function endOfName(text: string, start: number): number {
  let end = start;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === EQUALS || code === GREATER || code === LESS || code <= SPACE) break;
  }
  return end;
}

/** Markup in which a `<` opens no tag: its beginning and its end. */
const MARKUP_WITHOUT_TAGS = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

const [SPACE, EXCLAMATION, QUOTE, APOSTROPHE, SLASH, LESS, EQUALS, GREATER] = [32, 33, 34, 39, 47, 60, 61, 62];
const [QUESTION, LETTER_X] = [63, 120];

/** Refuses a namespace address with markup characters: tools disagree on its canonical form. */
function strangeNamespace(bytes: Uint8Array, address: string): XmlRefusal {
  const text = decodeXml(bytes);
  const found = /\sxmlns(?::[^\s=]+)?\s*=\s*(?:"[^"]*[&<>][^"]*"|'[^']*[&"<>][^']*')/.exec(text);
  const position = found === null ? START : placeOf(text, found.index + 1);
  const mensagem = `o espaço de nomes "${quoted(address)}" tem um caractere (& < > ou aspas) que não se aceita nele.`;
  return notTaken({ mensagem, ofDps: DPS_NAMESPACE }, position, quoted(address));
}

/** Refuses a relative namespace address: it has no defined canonical form, and is not that of the layout. */
function relativeNamespace(bytes: Uint8Array): XmlRefusal {
  const text = decodeXml(bytes);
  for (const match of text.matchAll(/\sxmlns(?::[^\s=]+)?\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    const address = match[1] ?? match[2]!;
    if (address === '' || /^[A-Za-z][\w+.-]*:/.test(address)) continue;
    const mensagem = `o espaço de nomes "${address.slice(0, 80)}" não é um endereço completo.`;
    return notTaken({ mensagem, ofDps: DPS_NAMESPACE }, placeOf(text, match.index + 1), address.slice(0, 80));
  }
  return notTaken({ mensagem: 'o documento não tem forma canônica: confira os endereços em xmlns.' });
}

function strayMarkupIn(quick: string, text: () => string): StrayMarkup | undefined {
  const declaration = XML_DECLARATION.exec(quick)?.[0].length ?? 0;
  if (!quick.includes('<!--') && quick.lastIndexOf('<?') < declaration) return undefined;
  const whole = text();
  for (const { 0: found, index } of whole.matchAll(/<!\[CDATA\[[\s\S]*?\]\]>|<!--|<\?/g)) {
    if (found.startsWith('<![') || (index === 0 && XML_DECLARATION.test(whole))) continue;
    return { kind: found === '<?' ? 'instrução de processamento' : 'comentário', position: placeOf(whole, index) };
  }
  return undefined;
}

function malformed(sentence: XmlSentence, position: Place, encontrado?: string): XmlRefusal {
  return refusal('XML malformado', sentence, position, encontrado);
}

/** Refuses XML that may be well-formed, but is not accepted here. `position` undefined: no single place is at fault. */
function notTaken(sentence: XmlSentence, position?: Place, encontrado?: string): XmlRefusal {
  return refusal('XML não aceito', sentence, position, encontrado);
}

/** Refuses a document beyond a limit: `limit` is a number and its unit. */
function beyond(limit: string): XmlRefusal {
  const mensagem = `o documento passa do limite de ${limit}, de que nenhum documento daqui precisa; confira o programa que o escreve.`;
  return notTaken({ mensagem });
}

function refusal(what: string, sentence: XmlSentence, position?: Place, encontrado?: string): XmlRefusal {
  const where = position === undefined ? '' : ` (linha ${position.linha}, coluna ${position.coluna})`;
  const withoutDps = `${what}${where}: ${sentence.mensagem}`;
  const { ofDps } = sentence;
  const mensagem = ofDps === undefined ? withoutDps : `${withoutDps.slice(0, -1)}; ${ofDps}.`;
  const found = encontrado === undefined ? {} : { encontrado };
  return { fault: { codigo: 'E201', xpath: '', mensagem, ...found, ...position }, withoutDps };
}

/** The place of a DOCTYPE in the prolog, found before the parser reads it. */
function doctypeAt(bytes: Uint8Array, text: string): Place | undefined {
  const prolog = /^(?:\uFEFF|\u00EF\u00BB\u00BF)?(?:\s+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->)*/.exec(text)![0];
  if (!/^<!DOCTYPE/i.test(text.slice(prolog.length, prolog.length + 9))) return undefined;
  const before = isWide(bytes) ? prolog : decodeXml(bytes.subarray(0, prolog.length));
  return placeOf(before, before.length);
}

/** Tags, and the markup to skip in the search for them: comments, CDATA and instructions, by the rules of XML. */
const MARKUP =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<\/[^>]*>|<[^\s/!?>](?:[^>"']|"[^"]*"|'[^']*')*>/g;

/**
 * The beginning of the next start tag of a text; -1: there is none. The text must be well-formed XML: a `<` always opens markup there.
 * Searching for that character costs a tenth of reading the tags with {@link MARKUP}.
 */
function nextStartTag(text: string, from: number): number {
  for (let at = text.indexOf('<', from); at >= 0; at = text.indexOf('<', at + 1)) {
    const second = text.charCodeAt(at + 1);
    if (second === SLASH) continue;
    if (second !== EXCLAMATION && second !== QUESTION) return at;
    const [opening, closing] = MARKUP_WITHOUT_TAGS.find(([one]) => text.startsWith(one, at)) ?? ['<', '>'];
    at = text.indexOf(closing, at + opening.length);
    if (at < 0) return -1;
  }
  return -1;
}

/** Line and column of start tags, by their number. libxml2 keeps lines only, so the text is walked once more, up to the requested tag. */
function placesOfTags(text: string): (index: number) => Place {
  const placeAt = placesIn(text);
  const starts: number[] = [];
  return (index) => {
    while (starts.length <= index) {
      const start = nextStartTag(text, starts.length === 0 ? 0 : starts.at(-1)! + 1);
      if (start < 0) return START;
      starts.push(start);
    }
    return placeAt(starts[index]!);
  };
}

/** The beginning and the end of every element in its text, by its number. One walk. */
function extentsIn(text: string): readonly Extent[] {
  const extents: Extent[] = [];
  const open: number[] = [];
  for (const { 0: found, index } of text.matchAll(MARKUP)) {
    const second = found.charAt(1);
    if (second === '!' || second === '?') continue;
    const end = index + found.length;
    if (second === '/') {
      const number = open.pop();
      if (number !== undefined) extents[number] = { ...extents[number]!, close: index, end };
    } else {
      if (!found.endsWith('/>')) open.push(extents.length);
      extents.push({ start: index, open: end, close: end, end });
    }
  }
  return extents;
}

/** The beginning and the end of an element in its text; undefined: the text has no such element. */
export function extentOf(text: string, element: Elemento): Extent | undefined {
  return extentsIn(text)[element.index];
}

function placeOf(text: string, offset: number): Place {
  return placesIn(text)(offset);
}

/**
 * Exclusive canonical form of a document's `infDPS`, for comparing the content of two documents. Undefined: the bytes are not XML or have
 * no `infDPS`.
 */
export function canonicalInfDps(bytes: Uint8Array): string | undefined {
  const reading = readXml(bytes);
  if ('fault' in reading) return undefined;
  const infDps = reading.root.children.find(({ name }) => name === 'infDPS');
  return infDps && reading.canonicalOf(infDps);
}

/** Compiled schemas kept at once; the project has a handful. */
const SCHEMAS_MAX = 8;

type CompiledSchema = { readonly validator: XsdValidator; readonly document: XmlDocument };

const compiledSchemas = new Map<string, CompiledSchema>();

/**
 * The findings of a schema in a document: one sentence each in the words of libxml2, with the line. Empty: the document is valid. A schema
 * that does not compile is our own fault and throws.
 */
export function xsdErrors(xsd: string, xml: Uint8Array): string[] {
  const validator = compiledSchema(xsd);
  let document: XmlDocument | undefined;
  try {
    document = XmlDocument.fromBuffer(xml, { option: OPTIONS });
    validator.validate(document);
    return [];
  } catch (error) {
    if (error instanceof XmlParseError || error instanceof XmlValidateError) return error.details.map(finding);
    throw error;
  } finally {
    document?.dispose();
  }
}

function finding({ line, message }: { readonly line: number; readonly message: string }): string {
  return `${line}: ${message.trim()}`;
}

/** A compiled schema refers to the document that it was made of, so the two are kept and disposed together. */
function compiledSchema(xsd: string): XsdValidator {
  const known = compiledSchemas.get(xsd);
  if (known !== undefined) return known.validator;
  const document = XmlDocument.fromString(xsd, { option: OPTIONS });
  try {
    const validator = XsdValidator.fromDoc(document);
    const [oldest] = compiledSchemas;
    if (oldest !== undefined && compiledSchemas.size >= SCHEMAS_MAX) {
      compiledSchemas.delete(oldest[0]);
      oldest[1].validator.dispose();
      oldest[1].document.dispose();
    }
    compiledSchemas.set(xsd, { validator, document });
    return validator;
  } catch (error) {
    document.dispose();
    throw error;
  }
}
