/**
 * Decodes the bytes of an XML document by its byte order mark and its declaration. A contradiction between the two is refused: two programs
 * would read the document differently (D-237).
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { quoted } from '../fiscal/fault.ts';
import { attempt } from './attempt.ts';

/** The beginning of a declaration, after a byte order mark that was decoded as UTF-8 or as Latin-1. */
export const XML_DECLARATION = /^(?:\ufeff|\u00ef\u00bb\u00bf)?<\?xml[ \t\r\n]/;

/** No program writes a declaration half as long. */
const DECLARATION_MAX = 1_024;

/** The fault of a document's declaration, in Portuguese. `offset`: the number of characters before it. */
export type DeclarationFault = {
  readonly mensagem: string;
  readonly encontrado?: string;
  readonly offset: number;
  /** True: XML itself forbids it (XML 1.0, 4.3.3), and not this service alone. */
  readonly isMalformed: boolean;
};

/** The encoding that the first bytes show, independent of the declaration. */
type Family = 'utf-8' | 'utf-16le' | 'utf-16be' | 'octets';

const FAMILY_WORDS: Readonly<Record<Family, string>> = {
  'utf-8': 'o documento começa com a marca (BOM) de UTF-8',
  'utf-16le': 'os bytes são UTF-16, primeiro o menos significativo',
  'utf-16be': 'os bytes são UTF-16, primeiro o mais significativo',
  octets: 'os bytes são de uma codificação de oito bits',
};

function familyOf(bytes: Uint8Array): Family {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return 'utf-16be';
  return 'octets';
}

/** True when the bytes begin as UTF-16 or UTF-32, in which an ASCII character takes more than one octet. */
export function isWide(bytes: Uint8Array): boolean {
  return bytes[0] === 0 || bytes[1] === 0 || bytes[0] === 0xff || bytes[0] === 0xfe;
}

/** A quick decoding for finding markup. Markup is correct in it; the text between may be decoded wrongly. */
export function quickText(bytes: Uint8Array): string {
  return isWide(bytes) ? decodeXml(bytes) : decodeLatin(bytes);
}

function decodeLatin(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Checks the declaration of a document. `quick`: its {@link quickText}. */
export function declarationFault(bytes: Uint8Array, quick: string): DeclarationFault | undefined {
  const [first, second, third, fourth] = bytes;
  if (bytes.length >= 4 && ((first === 0 && second === 0) || (third === 0 && fourth === 0)))
    return describeUnknown('UTF-32', 0);
  const head = quick.slice(0, DECLARATION_MAX).replace(MARK, '');
  if (!XML_DECLARATION.test(head)) return undefined;
  if (!head.includes('?>')) {
    return {
      mensagem: 'a declaração <?xml …?> não é fechada com ?>, ou é comprida demais.',
      offset: 0,
      isMalformed: true,
    };
  }
  const version = VERSION.exec(head)?.[2];
  if (version !== undefined && version !== '1.0') {
    const encontrado = quoted(version);
    const mensagem = `a declaração diz version="${encontrado}", e só se lê XML 1.0; declare version="1.0".`;
    return { mensagem, encontrado, offset: head.indexOf('version'), isMalformed: false };
  }
  const found = ENCODING.exec(head);
  if (found === null) return undefined;
  const [before, , declared = ''] = found;
  const offset = before.lastIndexOf('encoding');
  const decoder = decoderOf(declared);
  if (decoder === undefined) return describeUnknown(declared, offset);
  const family = familyOf(bytes);
  return agrees(declared, decoder, family)
    ? undefined
    : { ...describeContradiction(declared, family), offset, isMalformed: true };
}

/** A byte order mark that was decoded as UTF-8 or as Latin-1. */
const MARK = /^(?:\ufeff|\u00ef\u00bb\u00bf)/;
const VERSION = /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(["'])([^"'<>]*)\1/;
const ENCODING = /^<\?xml[^>]*?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*(["'])([\w.:-]+)\1/;

function describeUnknown(declared: string, offset: number): DeclarationFault {
  const encontrado = quoted(declared);
  return {
    mensagem: `a codificação ${encontrado} não é conhecida; envie em UTF-8.`,
    encontrado,
    offset,
    isMalformed: false,
  };
}

function agrees(declared: string, { encoding }: TextDecoder, family: Family): boolean {
  if (family === 'octets') return !encoding.startsWith('utf-16');
  // The name UTF-16 does not tell the byte order.
  if (/^utf-16$/i.test(declared)) return family !== 'utf-8';
  return encoding === family;
}

function describeContradiction(declared: string, family: Family): Pick<DeclarationFault, 'mensagem' | 'encontrado'> {
  const mend = family.startsWith('utf-16')
    ? 'declare encoding="UTF-16", ou envie em UTF-8'
    : /^utf-16/i.test(declared)
      ? 'declare encoding="UTF-8" (em .NET, um StringWriter declara utf-16 em textos que depois vão em UTF-8)'
      : 'declare encoding="UTF-8", ou retire a marca';
  const encontrado = quoted(declared);
  return { mensagem: `a declaração diz encoding="${encontrado}", e ${FAMILY_WORDS[family]}; ${mend}.`, encontrado };
}

/** The encodings that need no decoding to find markup: an octet below 128 is ASCII in them. */
const PLAIN_ENCODINGS = /^(?:utf-8|utf-16le|utf-16be|iso-8859-\d+|windows-\d+|koi8-[ru]|macintosh)$/;

/** The decoder of an encoding. The shown text must be the parser's text, so an encoding that only one of them knows is refused. */
function decoderOf(encoding: string): TextDecoder | undefined {
  const decoder = attempt(() => new TextDecoder(encoding));
  return decoder !== undefined && PLAIN_ENCODINGS.test(decoder.encoding) ? decoder : undefined;
}

/** A declared encoding that contradicts the UTF-8 bytes of a document, and the correction of a text read by it. */
export type WrongDeclaration = {
  readonly declared: string;
  /** Undefined: these bytes cannot have given the text. */
  readonly mend: (text: string) => string | undefined;
};

/** Undefined: the declaration agrees with the bytes, or nothing distinguishes the two. */
export function wrongDeclarationOf(bytes: Uint8Array): WrongDeclaration | undefined {
  if (familyOf(bytes) !== 'octets') return undefined;
  const declared = ENCODING.exec(decodeLatin(bytes.subarray(0, DECLARATION_MAX)))?.[2];
  const decoder = declared === undefined ? undefined : decoderOf(declared);
  if (decoder === undefined || decoder.encoding === 'utf-8' || isAscii(bytes) || !isUtf8(bytes)) return undefined;
  const octets = new Map<string, number>();
  for (let octet = 0; octet < 0x100; octet += 1) octets.set(String.fromCharCode(octet), octet);
  // A browser and a parser disagree on 80 to 9F of ISO-8859-1, so both readings count.
  for (let octet = 0x80; octet < 0x100; octet += 1) octets.set(decoder.decode(Uint8Array.of(octet)), octet);
  return { declared: declared!, mend: (text) => utf8Of(text, octets) };
}

function utf8Of(text: string, octets: ReadonlyMap<string, number>): string | undefined {
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place += 1) {
    const octet = octets.get(text[place]!);
    if (octet === undefined) return undefined;
    bytes[place] = octet;
  }
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : undefined;
}

/** The text of a document, by its byte order mark, else its declaration, else UTF-8. The mark itself is dropped. */
export function decodeXml(bytes: Uint8Array): string {
  return decoderOfBytes(bytes).decode(bytes);
}

function decoderOfBytes(bytes: Uint8Array): TextDecoder {
  const family = familyOf(bytes);
  if (family !== 'octets') return new TextDecoder(family);
  const declared = ENCODING.exec(decodeLatin(bytes.subarray(0, DECLARATION_MAX)))?.[2];
  return (declared === undefined ? undefined : decoderOf(declared)) ?? new TextDecoder();
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]*))/i;

/**
 * The contradiction between the `charset` of a Content-Type and the body, in Portuguese. A body of ASCII alone contradicts no encoding that
 * contains ASCII. JSON is always UTF-8.
 */
export function charsetContradiction(contentType: string, bytes: Uint8Array, kind: 'xml' | 'json'): string | undefined {
  const found = CHARSET.exec(contentType);
  if (found === null) return undefined;
  const charset = found[1] ?? found[2]!;
  const actual = kind === 'json' ? 'utf-8' : decoderOfBytes(bytes).encoding;
  const said = decoderOf(charset)?.encoding;
  if (said === actual || (/^utf-16$/i.test(charset) && actual.startsWith('utf-16'))) return undefined;
  if (said !== undefined && !said.startsWith('utf-16') && isAscii(bytes) && !isWide(bytes)) return undefined;
  return `O Content-Type diz charset=${quoted(charset)}, e o corpo é ${actual.toUpperCase()}. Envie charset=${actual}, ou Content-Type sem charset.`;
}
