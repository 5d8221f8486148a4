/** A file as an integrator sends it: XML, or JSON with its signature beside it. */
import { tipoDoCorpo } from '../../../packages/cliente/src/index.ts';
import { bytesOf } from './command.ts';

/** Header in which the signature of a JSON body travels. */
export const CAMPO = 'X-DPS-Assinatura';

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
  const isJson = tipoDoCorpo(body) === 'json';
  if (!isJson && cms !== undefined) return `--cms é para um corpo JSON, e ${file} não é JSON.\n`;
  if (!isJson) return { kind: 'xml', body };
  return { kind: 'json', body, assinatura: cms === undefined ? undefined : await signatureIn(cms) };
}

/** The signature beside a file, as the client takes it. */
export function signatureOf(sent: SentFile): { readonly assinatura?: string } {
  return sent.kind === 'json' && sent.assinatura !== undefined ? { assinatura: sent.assinatura } : {};
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
