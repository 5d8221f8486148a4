/** A file as an integrator sends it: XML, or JSON with its signature beside it; and the sending of it to a service. */
import { bytesOf } from './command.ts';

/** Header in which the signature of a JSON body travels. */
export const CAMPO = 'X-DPS-Assinatura';
const TIMEOUT_MS = 30_000;

export type SentFile =
  | { readonly kind: 'xml'; readonly body: Uint8Array }
  | {
      readonly kind: 'json';
      readonly body: Uint8Array;
      /** Value of the signature header. */
      readonly assinatura: string | undefined;
    };

/** What the file is, is read off its beginning. `cms`: file with the signature of a JSON body. A text: asked wrongly. */
export async function sentFile(file: string, cms: string | undefined): Promise<SentFile | string> {
  const body = await bytesOf(file);
  // Of an XML in UTF-16 every other byte is zero.
  const start = Buffer.from(body.subarray(0, 256))
    .toString('latin1')
    .replace(/^(ï»¿|ÿþ|þÿ)/, '')
    .replace(/[\0\s]/g, '');
  const isJson = start.startsWith('{') || start.startsWith('[');
  if (!isJson && cms !== undefined) return `--cms é para um corpo JSON, e ${file} não é JSON.\n`;
  if (!isJson) return { kind: 'xml', body };
  return { kind: 'json', body, assinatura: cms === undefined ? undefined : await signatureIn(cms) };
}

const DER_SEQUENCE = 0x30;
/** After the tag of a SEQUENCE, a length in long form: no text has this octet second, and a CMS always. */
const DER_LONG = 0x80;

async function signatureIn(file: string): Promise<string> {
  const bytes = Buffer.from(await bytesOf(file));
  if (bytes[0] === DER_SEQUENCE && (bytes[1] ?? 0) >= DER_LONG) return bytes.toString('base64');
  const text = bytes.toString('latin1').trim().replace(/\s+/g, ' ');
  if (!/^[ -~]*$/.test(text)) throw new Error(`o arquivo ${file} não é Base64 nem um CMS em DER.`);
  return text;
}

export type Answered = {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the answer of another program, looked at field by field
  readonly body: any;
};

/**
 * Posts the file as it is. `more`: headers besides; the signature of a JSON body goes in `campo`. Throws an Error in Portuguese
 * when there is no answer, or none of such a service.
 */
export async function postFile(
  address: string,
  sent: SentFile,
  { campo = CAMPO, more = {} }: { readonly campo?: string; readonly more?: Readonly<Record<string, string>> } = {},
): Promise<Answered> {
  const own = sent.kind === 'json' && sent.assinatura !== undefined ? { [campo]: sent.assinatura } : {};
  const type = sent.kind === 'json' ? 'application/json' : 'application/xml';
  let response: Response;
  let text: string;
  try {
    const body = sent.body as Uint8Array<ArrayBuffer>;
    const headers = { 'Content-Type': type, Accept: 'application/json', ...own, ...more };
    response = await fetch(address, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    text = await response.text();
  } catch {
    throw new Error(`não houve resposta de ${address}. O serviço está no ar? Suba-o com: npm start`);
  }
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    throw new Error(`${address} respondeu algo que não é deste serviço (HTTP ${response.status}).`);
  }
}
