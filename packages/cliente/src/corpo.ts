/** The body of a request as bytes, from any form, signed when the client has a certificate. */
import { type Assinante, assinarCms, assinarXml, estaAssinado } from './assinatura.ts';
import type { CorpoDaDps } from './tipos.ts';
import { XmlRecusado } from './xml.ts';

/** Uma DPS: o corpo JSON como objeto, ou o texto (ou os bytes) em XML ou JSON, que segue como está. */
export type Dps = CorpoDaDps | string | Uint8Array;

export type Corpo = {
  readonly bytes: Uint8Array;
  readonly tipo: 'xml' | 'json';
  /** The signature of a JSON body. */
  readonly assinatura: string | undefined;
};

/** Um objeto, como corpo que não se assina. */
export function corpoJson(content: object): Corpo {
  return { bytes: Buffer.from(JSON.stringify(content)), tipo: 'json', assinatura: undefined };
}

/** The type is decided within these first bytes. */
const START_BYTES = 256;

/** O que os bytes são, pelo seu começo. */
export function tipoDoCorpo(bytes: Uint8Array): 'xml' | 'json' {
  // Every other byte of an XML in UTF-16 is zero.
  const start = Buffer.from(bytes.subarray(0, START_BYTES))
    .toString('latin1')
    .replace(/^(ï»¿|ÿþ|þÿ)/, '')
    .replace(/[\0\s]/g, '');
  return start.startsWith('{') || start.startsWith('[') ? 'json' : 'xml';
}

/** `assinatura`: the signature of a JSON body that is signed already; the bytes must then be the signed ones. */
export function corpoDe(
  content: object | string | Uint8Array,
  assinatura: string | undefined,
  assinante: Assinante | undefined,
): Corpo {
  const bytes = bytesOf(content);
  const tipo = tipoDoCorpo(bytes);
  if (tipo === 'json') {
    return { bytes, tipo, assinatura: assinatura ?? (assinante && assinarCms(bytes, assinante)) };
  }
  if (assinatura !== undefined) throw new TypeError('assinatura é de um corpo JSON; a de um XML vai dentro dele.');
  return { bytes: assinante === undefined ? bytes : signedXml(bytes, assinante), tipo, assinatura: undefined };
}

function bytesOf(content: object | string | Uint8Array): Uint8Array {
  if (content instanceof Uint8Array) return content;
  return Buffer.from(typeof content === 'string' ? content : JSON.stringify(content), 'utf8');
}

/** A body that is signed already is sent unchanged. */
function signedXml(bytes: Uint8Array, assinante: Assinante): Uint8Array {
  if (estaAssinado(Buffer.from(bytes).toString('latin1').replaceAll('\0', ''))) return bytes;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new XmlRecusado('o documento não está em UTF-8; converta-o antes de assinar.', { cause });
  }
  return Buffer.from(assinarXml(text, assinante), 'utf8');
}
