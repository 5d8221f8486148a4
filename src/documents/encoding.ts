/**
 * How the bytes of an XML document are characters: byte order mark, declaration, and whether they agree. What contradicts itself is
 * refused, because two readers would not read the same.
 */
import { quoted } from '../fiscal/fault.ts';

/** The beginning of the declaration, behind a byte order mark in whatever way it was decoded. */
export const XML_DECLARATION = /^(?:\ufeff|\u00ef\u00bb\u00bf)?<\?xml[ \t\r\n]/;

/** No program writes a declaration half as long. */
const DECLARATION_MAX = 1_024;

/** What is wrong with how a document begins, in Portuguese, what was found there, and how many characters of the text come before. */
export type DeclarationFault = {
  readonly mensagem: string;
  readonly encontrado?: string;
  readonly offset: number;
  /** That no reader may take it (XML 1.0, 4.3.3), and not we alone. */
  readonly isMalformed: boolean;
};

/** What the bytes are by themselves, before anything is declared. */
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

/** Whether it begins as UTF-16 or UTF-32 does, in which a character of ASCII is no octet alone. */
export function isWide(bytes: Uint8Array): boolean {
  return bytes[0] === 0 || bytes[1] === 0 || bytes[0] === 0xff || bytes[0] === 0xfe;
}

/** A text in which markup stands where it stands in the document; what is between may be decoded wrongly, and quickly. */
export function quickText(bytes: Uint8Array): string {
  return isWide(bytes) ? decodeXml(bytes) : latin(bytes);
}

function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** `quick`: of {@link quickText}. Undefined: the document may be parsed. */
export function declarationFault(bytes: Uint8Array, quick: string): DeclarationFault | undefined {
  const [first, second, third, fourth] = bytes;
  if (bytes.length >= 4 && ((first === 0 && second === 0) || (third === 0 && fourth === 0)))
    return unknown('UTF-32', 0);
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
  if (decoder === undefined) return unknown(declared, offset);
  const family = familyOf(bytes);
  return fits(declared, decoder, family)
    ? undefined
    : { ...contradiction(declared, family), offset, isMalformed: true };
}

/** A byte order mark, in whatever way it was decoded. */
const MARK = /^(?:\ufeff|\u00ef\u00bb\u00bf)/;
const VERSION = /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(["'])([^"'<>]*)\1/;
const ENCODING = /^<\?xml[^>]*?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*(["'])([\w.:-]+)\1/;

function unknown(declared: string, offset: number): DeclarationFault {
  const encontrado = quoted(declared);
  return {
    mensagem: `a codificação ${encontrado} não é conhecida; envie em UTF-8.`,
    encontrado,
    offset,
    isMalformed: false,
  };
}

function fits(declared: string, { encoding }: TextDecoder, family: Family): boolean {
  if (family === 'octets') return !encoding.startsWith('utf-16');
  // The name without an order of the octets is of both.
  if (/^utf-16$/i.test(declared)) return family !== 'utf-8';
  return encoding === family;
}

function contradiction(declared: string, family: Family): Pick<DeclarationFault, 'mensagem' | 'encontrado'> {
  const mend = family.startsWith('utf-16')
    ? 'declare encoding="UTF-16", ou envie em UTF-8'
    : /^utf-16/i.test(declared)
      ? 'declare encoding="UTF-8" (em .NET, um StringWriter declara utf-16 em textos que depois vão em UTF-8)'
      : 'declare encoding="UTF-8", ou retire a marca';
  const encontrado = quoted(declared);
  return { mensagem: `a declaração diz encoding="${encontrado}", e ${FAMILY_WORDS[family]}; ${mend}.`, encontrado };
}

/** In these an octet below 128 is what it is in ASCII, so that markup can be looked for before anything is decoded. */
const PLAIN_ENCODINGS = /^(?:utf-8|utf-16le|utf-16be|iso-8859-\d+|windows-\d+|koi8-[ru]|macintosh)$/;

/** What we show must be what the parser reads: an encoding that it may know and we do not is none. */
function decoderOf(encoding: string): TextDecoder | undefined {
  try {
    const decoder = new TextDecoder(encoding);
    return PLAIN_ENCODINGS.test(decoder.encoding) ? decoder : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a document, by its byte order mark, else its declaration, else UTF-8. The mark itself is dropped. */
export function decodeXml(bytes: Uint8Array): string {
  return decoderOfBytes(bytes).decode(bytes);
}

function decoderOfBytes(bytes: Uint8Array): TextDecoder {
  const family = familyOf(bytes);
  if (family !== 'octets') return new TextDecoder(family);
  const declared = ENCODING.exec(latin(bytes.subarray(0, DECLARATION_MAX)))?.[2];
  return (declared === undefined ? undefined : decoderOf(declared)) ?? new TextDecoder();
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]*))/i;

/**
 * What the `charset` of a Content-Type says that the body does not, in Portuguese. Undefined where they agree, and where every octet is of
 * ASCII, which the two read alike. JSON is always UTF-8.
 */
export function charsetContradiction(contentType: string, bytes: Uint8Array, kind: 'xml' | 'json'): string | undefined {
  const found = CHARSET.exec(contentType);
  if (found === null) return undefined;
  const charset = found[1] ?? found[2]!;
  const actual = kind === 'json' ? 'utf-8' : decoderOfBytes(bytes).encoding;
  const said = decoderOf(charset)?.encoding;
  if (said === actual || (/^utf-16$/i.test(charset) && actual.startsWith('utf-16'))) return undefined;
  const isAscii = said !== undefined && !said.startsWith('utf-16') && bytes.every((octet) => octet < 0x80);
  if (isAscii && !isWide(bytes)) return undefined;
  return `O Content-Type diz charset=${quoted(charset)}, e o corpo é ${actual.toUpperCase()}. Envie charset=${actual}, ou Content-Type sem charset.`;
}
