/**
 * Bodies and their headers: whether a route takes a body of this kind (E003), and how a DPS is read from a request. The meaning of the body
 * is not judged here.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Fault } from '../../fiscal/fault.ts';
import { quoted } from '../../fiscal/fault.ts';
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import { charsetContradiction, DPS_SIGNATURE_HEADER, type SentDps } from '../world/sent-documents.ts';
import type { Call, MediaType } from './route.ts';

/** A refusal of the request itself: the fault, and the header concerned. */
export type Misfit = { readonly fault: Fault; readonly campo: string };

/** The content types of a route, and the page that helps a sender of national content. */
type Taking = { readonly takes: readonly MediaType[]; readonly nacional?: string | undefined };

/** The fault of the headers of a body, found before the body is read. */
export function headersMisfit(headers: IncomingHttpHeaders, { takes, nacional }: Taking): Misfit | undefined {
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return misfitOf(
      'Content-Encoding',
      `Este serviço não lê corpos comprimidos. Envie sem Content-Encoding.${after(nacional)}`,
      coding,
    );
  }
  const sent = headers['content-type'];
  if (sent === undefined || sent.trim() === '') {
    return misfitOf('Content-Type', `Falta o cabeçalho Content-Type. ${adviseTypes(takes)}${after(nacional)}`);
  }
  const type = mediaTypeOf(headers) ?? '';
  if (takes.some((one) => one === type)) return undefined;
  const problem = `Este endereço não recebe ${quoted(type)}.`;
  return misfitOf('Content-Type', `${problem} ${adviseTypes(takes)}${after(nacional)}`, quoted(type));
}

function after(sentence: string | undefined): string {
  return sentence === undefined ? '' : ` ${sentence}`;
}

/** All types that a route takes; the first of two names for XML suffices. */
function adviseTypes(takes: readonly MediaType[]): string {
  const xml = takes.find((one) => one.endsWith('/xml'));
  const ways = [
    ...(xml === undefined ? [] : [`a DPS em XML, com Content-Type: ${xml}`]),
    ...(takes.includes('application/json') ? ['o corpo em JSON, com Content-Type: application/json'] : []),
    ...(takes.includes('text/csv') ? ['o arquivo em CSV, com Content-Type: text/csv'] : []),
  ];
  return `Envie ${ways.join('; ou ')}.`;
}

/** The media type without its parameters. */
export function mediaTypeOf(headers: IncomingHttpHeaders): string | undefined {
  return headers['content-type']?.replace(/;.*$/s, '').trim().toLowerCase();
}

/**
 * A body that is plainly JSON although it was announced as XML, or the reverse, or of another encoding. Its reader judges everything else.
 */
export function bodyMisfit(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { takes, nacional }: Taking,
): Misfit | undefined {
  if (mediaTypeOf(headers) === 'text/csv') return undefined;
  const first = firstCharacter(body);
  const isJson = first === '{' || first === '[';
  const kind = mediaTypeOf(headers) === 'application/json' ? 'json' : 'xml';
  const packed = kind === 'json' ? packedAs(body) : undefined;
  if (packed !== undefined) {
    const mensagem = `O Content-Type anuncia JSON, mas o corpo é ${packed}, que este serviço não abre. ${adviseTypes(takes)}${after(nacional)}`;
    return misfitOf('Content-Type', mensagem, first);
  }
  if (kind === 'json' ? first !== '<' : !isJson) {
    const contrary = charsetContradiction(headers['content-type'] ?? '', body, kind);
    return contrary === undefined ? undefined : misfitOf('Content-Type', contrary);
  }
  const mensagem = isJson
    ? 'O Content-Type anuncia XML, mas o corpo é JSON. Envie a DPS em XML; ou, se este endereço recebe JSON, com Content-Type: application/json.'
    : takes.includes('application/xml')
      ? 'O Content-Type anuncia JSON, mas o corpo é XML. Envie-o com Content-Type: application/xml.'
      : `O Content-Type anuncia JSON, mas o corpo é XML. ${adviseTypes(takes)}`;
  return misfitOf('Content-Type', `${mensagem}${after(nacional)}`, first);
}

/** A packed form of the national environment that is sent as the whole body; in Portuguese. */
function packedAs(body: Buffer): string | undefined {
  if (body[0] === 0x1f && body[1] === 0x8b) return 'um gzip';
  return /^"?H4sI/.test(body.toString('latin1', 0, 5)) ? 'um gzip em Base64' : undefined;
}

/** Number of bytes searched for the first character that is not white space. */
const SPACE_MAX = 1_024;

function firstCharacter(body: Buffer): string | undefined {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  for (let index = start; index < Math.min(body.length, SPACE_MAX); index += 1) {
    const byte = body[index]!;
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return String.fromCharCode(byte);
  }
  return undefined;
}

function misfitOf(campo: string, mensagem: string, encontrado?: string): Misfit {
  return { fault: { codigo: 'E003', xpath: '', mensagem, ...(encontrado === undefined ? {} : { encontrado }) }, campo };
}

export function readSentDps({
  headers,
  body,
  quota,
  requisicao,
}: Pick<Call, 'headers' | 'body' | 'quota'> & Partial<Pick<Call, 'requisicao'>>): SentDps {
  const simular = headerOf({ headers }, SIMULAR_HEADER);
  if (mediaTypeOf(headers) !== 'application/json') return { kind: 'xml', body, simular, quota, requisicao };
  return { kind: 'json', body, simular, quota, requisicao, assinatura: headerOf({ headers }, DPS_SIGNATURE_HEADER) };
}

/** A header that should come once; repeated values are joined. */
export function headerOf({ headers }: Pick<Call, 'headers'>, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}
