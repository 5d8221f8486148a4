/**
 * The envelopes of the national API: a document in gzip and Base64, as the one property of a JSON. Programs write the name of the property
 * without quotes too, and the national environment takes it.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeBytes } from '../../documents/base64-text.ts';
import { readJson } from '../../documents/json.ts';
import { type Fault, quoted } from '../../fiscal/fault.ts';

/** Bytes of an opened document, as of a request. */
const XML_MAX_BYTES = 1024 * 1024;

/** The whole body, where JSON would have quotes around the name. */
const UNQUOTED = /^\s*\{\s*([A-Za-z0-9]{1,60})\s*:\s*"([A-Za-z0-9+/=\\\s]*)"\s*\}\s*$/;

/** The document in an envelope, or the one fault of the envelope (E003). `name`: the property that holds it. */
export function openEmbrulho(body: Buffer, name: string): { readonly xml: Buffer } | { readonly fault: Fault } {
  const found = valueIn(body, name);
  if (typeof found !== 'string') return found;
  const opened = decodeBytes(found);
  if ('problema' in opened) return refuse(name, `O valor de ${name} não é Base64: ${opened.problema}.`);
  try {
    return { xml: gunzipSync(opened.bytes, { maxOutputLength: XML_MAX_BYTES }) };
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const problem = isTooLong
      ? 'passa de 1 MB depois de aberto'
      : opened.bytes[0] === 0x3c
        ? 'é XML sem compressão: comprima-o em gzip antes do Base64'
        : 'não é um gzip inteiro: comprima o XML em gzip, e ponha o resultado em Base64';
    return refuse(name, `O conteúdo de ${name} ${problem}.`);
  }
}

function valueIn(body: Buffer, name: string): string | { readonly fault: Fault } {
  const json = readJson(body);
  if ('fault' in json) {
    const [, written, value] = UNQUOTED.exec(body.toString('latin1')) ?? [];
    if (written === undefined || value === undefined) return json;
    return written === name ? unescapeText(value) : refuse(written, describeMissing(name, [written]));
  }
  const members = json.value.kind === 'object' ? json.value.members : [];
  const member = members.find((one) => one.name === name);
  if (member?.value.kind === 'string') return member.value.text;
  if (member !== undefined) return refuse(name, `O valor de ${name} não é um texto: devia ser Base64, entre aspas.`);
  const names = members.map((one) => one.name);
  return refuse(name, describeMissing(name, names));
}

/** The text of a string, whose escapes are those of JSON; one that is none stays as it came, and is no Base64. */
function unescapeText(value: string): string {
  const read = readJson(Buffer.from(`"${value.replaceAll(/\s/g, '')}"`));
  return 'value' in read && read.value.kind === 'string' ? read.value.text : value;
}

function describeMissing(name: string, names: readonly string[]): string {
  const found = names.length === 0 ? '' : `, e traz ${names.slice(0, 5).map(quoted).join(', ')}`;
  return `O corpo deve ser um objeto JSON com ${name}: o XML assinado, em gzip e Base64${found}.`;
}

function refuse(campo: string, mensagem: string): { readonly fault: Fault } {
  return { fault: { codigo: 'E003', xpath: '', campo, mensagem } };
}

/** A document as answers bring it. */
export function makeEmbrulho(xml: string): string {
  return gzipSync(xml).toString('base64');
}
