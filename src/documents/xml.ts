/**
 * XML in: bytes to a tree of elements, and back from an element to its line and column. The only user of libxml2.
 *
 * No document type, no entity beyond the five, no network, no external file; size, depth and number of elements are
 * bounded before anybody looks at the content. What the elements mean is `../fiscal/layout`'s affair.
 */
import {
  ParseOption,
  XmlC14NMode,
  XmlCData,
  XmlDocument,
  XmlElement,
  type XmlNode,
  XmlParseError,
  XmlText,
  XmlTreeNode,
  XmlValidateError,
  XmlXPath,
  XsdValidator,
} from 'libxml2-wasm';
import type { Fault } from '../fiscal/fault.ts';
import type { Atributo, Elemento } from '../fiscal/layout/tree.ts';

/** The deepest path of the layout has 14 levels; a signature and a SOAP envelope stay far below this. */
const DEPTH_MAX = 32;
/** A DPS with a thousand deduction documents and their suppliers has about 30,000 elements. */
const ELEMENTS_MAX = 60_000;

const DOCTYPE_REFUSED = 'O documento traz uma declaração DOCTYPE, que não é aceita; retire-a.';

const OPTIONS =
  ParseOption.XML_PARSE_NO_XXE |
  ParseOption.XML_PARSE_NONET |
  ParseOption.XML_PARSE_NO_SYS_CATALOG |
  ParseOption.XML_PARSE_BIG_LINES;

/** Place in the text, both from 1; the column counts characters. */
export type Position = { readonly linha: number; readonly coluna: number };

const START: Position = { linha: 1, coluna: 1 };

export type XmlReading =
  | { readonly root: Elemento; readonly text: () => string; positionOf(element: Elemento): Position }
  | { readonly fault: Fault };

/**
 * Parses a document. Answers E201 with line, column and the way to mend it when the bytes are not well-formed XML, or
 * use what this service does not take (DOCTYPE, entities of their own, absurd depth or size).
 */
export function readXml(bytes: Uint8Array): XmlReading {
  const strange = strangeEncoding(bytes);
  if (strange !== undefined) return malformed(`a codificação ${strange} não é conhecida; envie em UTF-8.`, START);
  const doctype = doctypeAt(bytes);
  if (doctype !== undefined) return malformed(DOCTYPE_REFUSED, doctype, '<!DOCTYPE');
  let document: XmlDocument;
  try {
    document = XmlDocument.fromBuffer(bytes, { option: OPTIONS });
  } catch (error) {
    if (!(error instanceof XmlParseError)) throw error;
    const [detail] = error.details;
    const position = { linha: detail?.line ?? 1, coluna: detail?.col ?? 1 };
    return malformed(inPortuguese(detail?.message ?? error.message), position);
  }
  try {
    // An encoding in which the text before the parser did not show it.
    if (document.dtd !== null) return malformed(DOCTYPE_REFUSED, START, '<!DOCTYPE');
    const count = { elements: 0, tooDeep: false };
    const root = treeOf(document.root, 1, count);
    if (count.tooDeep || count.elements > ELEMENTS_MAX) {
      const limit = count.tooDeep ? `${DEPTH_MAX} níveis de elementos` : `${ELEMENTS_MAX} elementos`;
      return malformed(`O documento passa do limite de ${limit}.`, START);
    }
    let decoded: string | undefined;
    let positions: readonly Position[] | undefined;
    const text = (): string => (decoded ??= decodeXml(bytes));
    const positionOf = ({ index }: Elemento): Position => {
      positions ??= positionsOfTags(text());
      return positions[index] ?? START;
    };
    return { root, text, positionOf };
  } finally {
    document.dispose();
  }
}

function treeOf(element: XmlElement, depth: number, count: { elements: number; tooDeep: boolean }): Elemento {
  const index = count.elements;
  count.elements += 1;
  const children: Elemento[] = [];
  let text = '';
  if (depth > DEPTH_MAX) count.tooDeep = true;
  else if (count.elements <= ELEMENTS_MAX) {
    for (let node = element.firstChild; node !== null && count.elements <= ELEMENTS_MAX; node = nextOf(node)) {
      if (node instanceof XmlElement) children.push(treeOf(node, depth + 1, count));
      else if (node instanceof XmlText || node instanceof XmlCData) text += node.content;
    }
  }
  return {
    name: element.name,
    namespace: element.namespaceUri,
    text,
    children,
    attributes: attributesOf(element),
    index,
  };
}

const NEXT_NODE = XmlXPath.compile('following-sibling::node()[1]');

/** The library gives a processing instruction as a node that does not know its neighbours, whatever its type says. */
function nextOf(node: XmlTreeNode): XmlTreeNode | null {
  return node instanceof XmlTreeNode ? node.next : ((node as XmlNode).get(NEXT_NODE) as XmlTreeNode | null);
}

const NO_ATTRIBUTES: readonly Atributo[] = [];

function attributesOf(element: XmlElement): readonly Atributo[] {
  const attributes = element.attrs;
  if (attributes.length === 0) return NO_ATTRIBUTES;
  return attributes.map((attribute) => ({
    name: attribute.name,
    namespace: attribute.namespaceUri,
    value: attribute.value,
  }));
}

function malformed(mensagem: string, position: Position, encontrado?: string): { fault: Fault } {
  const where = `linha ${position.linha}, coluna ${position.coluna}`;
  const found = encontrado === undefined ? {} : { encontrado };
  return {
    fault: { codigo: 'E201', xpath: '', mensagem: `XML malformado (${where}): ${mensagem}`, ...found, ...position },
  };
}

/** What libxml2 says, in the words of somebody who must mend it. Unknown messages are passed on inside of ours. */
function inPortuguese(message: string): string {
  const plain = message.trim();
  for (const [pattern, say] of MESSAGES) {
    const match = pattern.exec(plain);
    if (match) return say.replace(/\$(\d)/g, (_, group) => match[Number(group)] ?? '');
  }
  return `o documento não é XML bem formado (${plain.split('\n', 1)[0]}).`;
}

const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^Document is empty/, 'o corpo está vazio.'],
  [/^Start tag expected/, 'o corpo não começa com um elemento XML; envie o documento DPS.'],
  [/^Premature end of data in tag (\S+) line (\d+)/, 'o documento acaba antes de fechar <$1>, aberto na linha $2.'],
  [/^Opening and ending tag mismatch: (\S+) line (\d+) and (\S+)/, '<$1>, aberto na linha $2, é fechado por </$3>.'],
  [/^xmlParseEntityRef: no name/, 'há um & solto; dentro de texto escreva &amp;.'],
  [/^EntityRef: expecting ';'/, 'há um & que não forma uma entidade; dentro de texto escreva &amp;.'],
  [/^Entity '([^']+)' not defined/, 'a entidade &$1; não existe em XML; use o próprio caractere ou &#código;.'],
  [/^StartTag: invalid element name/, 'há um < que não inicia um elemento; dentro de texto escreva &lt;.'],
  [/^Attribute (\S+) redefined/, 'o atributo $1 aparece duas vezes no mesmo elemento.'],
  [/^AttValue: " or ' expected/, 'o valor do atributo deve vir entre aspas.'],
  [/^Extra content at the end of the document/, 'há conteúdo depois do fim do elemento raiz; envie um só documento.'],
  [/^Unsupported encoding:? ?(.*)$/, 'a codificação $1 não é conhecida; envie em UTF-8.'],
  [
    /^Invalid bytes in character encoding/,
    'há bytes que não são da codificação declarada; grave o arquivo em UTF-8 ou declare a codificação certa em <?xml encoding="…"?>.',
  ],
  [
    /^Input is not proper UTF-8/,
    'há bytes que não são UTF-8; grave o arquivo em UTF-8 ou declare a codificação certa.',
  ],
  [
    /^Namespace prefix (\S+)(?: for (\S+))? on (\S+) is not defined/,
    'o prefixo $1 de $3 não foi declarado com xmlns:$1.',
  ],
  [/^PCDATA invalid Char value (\d+)/, 'há um caractere de controle (código $1), que XML não admite; retire-o.'],
  [
    /^XML declaration allowed only at the start/,
    'há espaço ou linha antes de <?xml …?>; a declaração deve ser o primeiro caractere.',
  ],
  [/^Double hyphen within comment/, 'há -- dentro de um comentário.'],
  [/^Excessive depth/, 'há elementos aninhados demais.'],
  [/^Name too long/, 'há um nome comprido demais.'],
  [/^Comment not terminated/, 'um comentário não é fechado com -->.'],
  [/^CData section not finished/, 'uma seção CDATA não é fechada com ]]>.'],
  [/^ParsePI: PI (\S+) never end/, 'a instrução <?$1 não é fechada com ?>.'],
  [/^Sequence ']]>' not allowed/, 'há ]]> solto; dentro de texto escreva ]]&gt;.'],
  [/^Unescaped '<' not allowed/, 'há um < no valor de um atributo; escreva &lt;.'],
  [/^Specification mandates value for attribute (\S+)/, 'o atributo $1 não tem valor; escreva $1="…".'],
  [/^Namespaced Attribute (\S+) in .* redefined/, 'o atributo $1 aparece duas vezes no mesmo elemento.'],
  [/^error parsing attribute name/, 'há na tag algo que não é atributo; confira se ela é fechada com >.'],
  [/^attributes construct error/, 'falta um espaço entre dois atributos, ou uma aspa.'],
  [/^Couldn't find end of Start Tag (\S+)/, 'a tag <$1 não é fechada com >.'],
  [/^expected '>'/, 'falta fechar uma tag com >.'],
  [/^(\S+): Empty XML namespace is not allowed/, 'a declaração $1 está vazia; um prefixo precisa de um endereço.'],
  [/^Failed to parse QName '([^']+)'/, 'o nome $1 tem dois-pontos onde não pode.'],
  [
    /^xmlParseCharRef: invalid xmlChar value (\d+)/,
    'há uma referência a um caractere (código $1) que XML não admite; retire-a.',
  ],
  [/^xmlParseCharRef/, 'há uma referência &#…; que não é de nenhum caractere.'],
  [/^Invalid character: Char 0x(\w+)/, 'há um caractere (código $1, hexadecimal) que XML não admite; retire-o.'],
  [/^Unsupported version '([^']+)'/, 'a versão $1 de XML não é conhecida; declare version="1.0".'],
  [/^Blank needed here/, 'falta um espaço, ou os bytes não são da codificação que <?xml …?> declara.'],
];

/** Where a DOCTYPE stands in the prolog, before the parser has seen anything of it. */
function doctypeAt(bytes: Uint8Array): Position | undefined {
  const wide = bytes[0] === 0 || bytes[1] === 0 || bytes[0] === 0xff || bytes[0] === 0xfe;
  const text = wide ? decodeXml(bytes) : latin(bytes);
  const prolog = /^(?:\uFEFF|\u00EF\u00BB\u00BF)?(?:\s+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->)*/.exec(text)![0];
  if (!/^<!DOCTYPE/i.test(text.slice(prolog.length, prolog.length + 9))) return undefined;
  const before = wide ? prolog : decodeXml(bytes.subarray(0, prolog.length));
  return placeOf(before, before.length);
}

function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** An encoding that the parser may know and {@link decodeXml} does not: what we show must be what was read. */
function strangeEncoding(bytes: Uint8Array): string | undefined {
  const [first, second, third, fourth] = bytes;
  if (bytes.length >= 4 && ((first === 0 && second === 0) || (third === 0 && fourth === 0))) return 'UTF-32';
  const declared = declaredEncoding(bytes);
  return declared === undefined || decoderOf(declared) !== undefined ? undefined : declared;
}

function declaredEncoding(bytes: Uint8Array): string | undefined {
  return /^<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(latin(bytes.subarray(0, 200)))?.[1];
}

function decoderOf(encoding: string): TextDecoder | undefined {
  try {
    return new TextDecoder(encoding);
  } catch {
    return undefined;
  }
}

/** The text of a document, by its byte order mark, else its declaration, else UTF-8. The mark itself is dropped. */
export function decodeXml(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (first === 0x3c && second === 0) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0 && second === 0x3c) return new TextDecoder('utf-16be').decode(bytes);
  const declared = declaredEncoding(bytes);
  const decoder = declared === undefined ? undefined : decoderOf(declared);
  return (decoder ?? new TextDecoder()).decode(bytes);
}

/**
 * Line and column of every start tag. libxml2 keeps lines only, so the text is walked once more, on the path of a
 * refusal alone: comments, CDATA and instructions are stepped over as XML says.
 */
function positionsOfTags(text: string): readonly Position[] {
  const markup = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<[^\s/!?>](?:[^>"']|"[^"]*"|'[^']*')*>/g;
  const walk = walkThrough(text);
  const positions: Position[] = [];
  for (let match = markup.exec(text); match !== null; match = markup.exec(text)) {
    const second = match[0].charAt(1);
    if (second !== '!' && second !== '?') positions.push(walk(match.index));
  }
  return positions;
}

function placeOf(text: string, offset: number): Position {
  return walkThrough(text)(offset);
}

/** Tells the place of one offset after another, each further on. XML ends a line with LF, CR LF or CR. */
function walkThrough(text: string): (offset: number) => Position {
  let [at, linha, coluna] = [0, 1, 1];
  return (offset) => {
    for (; at < offset; at += 1) {
      const unit = text.charCodeAt(at);
      const endsLine = unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10);
      if (endsLine) [linha, coluna] = [linha + 1, 1];
      // The second half of a character outside the basic plane is no column of its own.
      else if ((unit & 0xfc00) !== 0xdc00) coluna += 1;
    }
    return { linha, coluna };
  };
}

/**
 * Exclusive canonical form of the `infDPS` of a document, for telling whether two documents say the same. Undefined
 * when the bytes are not XML or have no `infDPS`.
 */
export function canonicalInfDps(bytes: Uint8Array): string | undefined {
  let document: XmlDocument | undefined;
  try {
    document = XmlDocument.fromBuffer(bytes, { option: OPTIONS });
    for (let node = document.root.firstChild; node !== null; node = nextOf(node)) {
      if (node instanceof XmlElement && node.name === 'infDPS') {
        return node.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 });
      }
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    document?.dispose();
  }
}

/** Compiled schemas kept at a time; the project has a handful. */
const SCHEMAS_MAX = 8;

type CompiledSchema = { readonly validator: XsdValidator; readonly document: XmlDocument };

const compiledSchemas = new Map<string, CompiledSchema>();

/**
 * What a schema finds wrong in a document, one sentence a finding in the words of libxml2, with the line. Empty when the
 * document is valid. A schema that does not compile is our own fault and throws.
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

/** A compiled schema points into the document that it was made of, so the two live and go together. */
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
