/**
 * Finds the content that was signed in place of a body, after a failed verification. A dozen habits of HTTP clients and JSON libraries
 * cause most failures; naming the habit ends the search. `near-misses.ts` does the same for XML.
 */
import { constants, hash, type KeyObject, publicDecrypt } from 'node:crypto';
import { describeFault, type FaultText } from '../fiscal/fault.ts';
import { isUniversal, octetsOf, oidOf, readAsn1, TAG } from './asn1.ts';
import { attempt } from './attempt.ts';

/** A longer body is not diagnosed: it would take too much time. */
const DIAGNOSED_BYTES_MAX = 64 * 1024;

/** The signed content in words, after "Foi assinado ", and its bytes; a fault when the habit has a known remedy. */
type Candidate = readonly [habit: string | FaultText, bytes: () => Uint8Array | string | undefined];

/** The content signed in place of the body, in Portuguese; undefined: no usual one. */
export function nearMissOfBody(body: Uint8Array, isSigned: (bytes: Uint8Array) => boolean): FaultText | undefined {
  if (body.length > DIAGNOSED_BYTES_MAX) return undefined;
  for (const [habit, bytes] of candidatesOf(body)) {
    // Some candidates have no bytes for a body that is no JSON, or is nested too deep.
    const candidate = attempt(bytes);
    if (candidate === undefined || !isSigned(Buffer.from(candidate))) continue;
    return typeof habit === 'string' ? { mensagem: `Foi assinado ${habit}` } : habit;
  }
  return undefined;
}

function candidatesOf(body: Uint8Array): readonly Candidate[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString('utf8');
  const withoutBom = text.replace(/^\uFEFF/, '');
  const withoutEnd = (): string | undefined => (/\s$/.test(text) ? text.replace(/\r?\n$/, '') : undefined);
  const sha256 = (encoding: 'hex' | 'base64' | 'buffer') => () => hash('sha256', bytes, encoding);
  return [
    ['o corpo com uma quebra de linha (LF) no fim, que não veio na requisição.', () => `${text}\n`],
    ['o corpo com uma quebra de linha (CR LF) no fim, que não veio na requisição.', () => `${text}\r\n`],
    ['o corpo sem a quebra de linha do fim, que veio na requisição.', withoutEnd],
    [
      describeFault('Foi assinado o corpo com fins de linha CR LF, e veio com LF. No OpenSSL,', 'assine com -binary.'),
      () => text.replace(/\r?\n/g, '\r\n'),
    ],
    [
      'o corpo com fins de linha CR LF, como faz o OpenSSL sem -binary, e veio com LF.',
      () => text.replace(/\r?\n|$/g, '\r\n'),
    ],
    ['o corpo com fins de linha LF, e veio com CR LF.', () => text.replaceAll('\r\n', '\n')],
    ['o corpo com a marca de ordem de bytes (BOM) no começo, que não veio na requisição.', () => `\uFEFF${text}`],
    ['o corpo sem a marca de ordem de bytes (BOM) do começo, que veio na requisição.', () => withoutBom],
    ['o corpo sem os espaços do começo e do fim, que vieram na requisição.', () => text.trim()],
    ...serializationsOf(withoutBom),
    ['o corpo codificado em Latin-1, e veio em UTF-8.', () => Buffer.from(text, 'latin1')],
    ['o corpo em UTF-8, e veio em Latin-1.', () => Buffer.from(bytes.toString('latin1'), 'utf8')],
    ['o corpo codificado em UTF-16, e veio em UTF-8.', () => Buffer.from(text, 'utf16le')],
    ['o texto em Base64 do corpo, e não o corpo.', () => bytes.toString('base64')],
    ['o resumo SHA-256 do corpo, e não o corpo: a biblioteca já calcula o resumo.', sha256('buffer')],
    ['o texto hexadecimal do resumo SHA-256 do corpo, e não o corpo: a biblioteca já calcula o resumo.', sha256('hex')],
    ['o Base64 do resumo SHA-256 do corpo, e não o corpo: a biblioteca já calcula o resumo.', sha256('base64')],
    ['um conteúdo vazio: o corpo não chegou à função que assina.', () => ''],
  ];
}

/** Other texts of the same JSON, as the usual libraries write it. */
function serializationsOf(text: string): readonly Candidate[] {
  const json = (): unknown => JSON.parse(text);
  const spaced = (): string => respaceJson(text, { afterColon: ' ', afterComma: ' ' });
  const compact = (): string => respaceJson(text, { afterColon: '', afterComma: '' });
  const asWritten: readonly (readonly [how: string, bytes: () => string])[] = [
    ['compacto, sem espaços nem quebras de linha', compact],
    ['compacto que JSON.stringify(JSON.parse(corpo)) dá', () => JSON.stringify(json())],
    ['indentado com 2 espaços', () => JSON.stringify(json(), null, 2)],
    ['indentado com 4 espaços', () => JSON.stringify(json(), null, 4)],
    ['indentado com tabulações', () => JSON.stringify(json(), null, '\t')],
    ['com um espaço depois de : e de vírgula, como o json.dumps do Python escreve', spaced],
    ['como o json.dumps do Python escreve, com \\u no lugar dos acentos', () => escapeNonAscii(spaced())],
    ['compacto, com \\u no lugar dos acentos', () => escapeNonAscii(compact())],
    ['como o json_encode do PHP escreve, com \\/ e \\u', () => escapeNonAscii(compact()).replaceAll('/', '\\/')],
    ['com as chaves em ordem alfabética', () => JSON.stringify(sortKeys(json()))],
  ];
  const change = 'Assine os bytes que vão na requisição, e não outra serialização do mesmo JSON.';
  return asWritten.map(([how, bytes]) => [describeFault(`Foi assinado o JSON ${how}.`, change), bytes]);
}

/** The same tokens with other white space between them; numbers and escapes stay unchanged. */
function respaceJson(json: string, { afterColon, afterComma }: Record<'afterColon' | 'afterComma', string>): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+|[:,]/g, (token) => {
    if (token === ':') return `:${afterColon}`;
    if (token === ',') return `,${afterComma}`;
    return token.startsWith('"') ? token : '';
  });
}

function escapeNonAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, sortKeys(one)]),
  );
}

/** The digest inside a signature value. `algorithm` undefined: a bare digest was signed. */
export type SignedDigest = { readonly algorithm: string | undefined; readonly digest: Buffer };

/** The digest inside a signature value; undefined when this key did not make the value. */
export function signedDigestOf(publicKey: KeyObject, value: Uint8Array): SignedDigest | undefined {
  const content = attempt(() => publicDecrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, value));
  if (content === undefined) return undefined;
  const bare = { algorithm: undefined, digest: content };
  const named = attempt(() => {
    const [algorithm, digest] = readAsn1(content).children;
    if (!isUniversal(digest, TAG.octetString)) return bare;
    return { algorithm: oidOf(algorithm?.children[0]), digest: octetsOf(digest) };
  });
  return named ?? bare;
}
