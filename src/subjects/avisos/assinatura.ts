/** Signature of a webhook message (Standard Webhooks 1.0), by a secret that the receiver has too. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';
const VERSION = 'v1,';

/** Largest difference between the moment of a message and the receiver's clock, in seconds, either way. */
export const AVISO_MOMENTO_MAX_S = 300;
/** Signatures of one message that are checked: there are two while a secret is being replaced. */
const ASSINATURAS_MAX = 16;

export function makeSegredo(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** The text of a secret, which its receiver gets once. */
export function writeSegredo(segredo: Uint8Array): string {
  return PREFIX + Buffer.from(segredo).toString('base64');
}

/** The secret of such a text; undefined for any other text. */
export function readSegredo(text: string): Buffer | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]{22,88}={0,2})$/.exec(text) ?? [];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
}

/** The headers of a message, signed with each of these secrets; `em`: seconds since 1970. */
export function signAviso(
  segredos: readonly Uint8Array[],
  { id, em, corpo }: { readonly id: string; readonly em: number; readonly corpo: string },
): Readonly<Record<string, string>> {
  const signed = segredos.map((segredo) => signOne(segredo, id, String(em), corpo));
  return { 'webhook-id': id, 'webhook-timestamp': String(em), 'webhook-signature': signed.join(' ') };
}

function signOne(segredo: Uint8Array, id: string, em: string, corpo: string | Uint8Array): string {
  return VERSION + createHmac('sha256', segredo).update(`${id}.${em}.`).update(corpo).digest('base64');
}

/** A received message: headers by their lower-case names, and the body byte for byte. */
export type AvisoRecebido = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly corpo: Uint8Array;
};

/** Faults of a message, in the order of the checks. */
export type FaltaDeAviso =
  | 'falta_cabecalho'
  | 'momento_ilegivel'
  | 'momento_passado'
  | 'momento_futuro'
  | 'falta_assinatura'
  | 'assinatura_alheia';

/** The fault of a message under a secret; undefined: its signature holds. `agora`: milliseconds. */
export function verifyAviso(
  segredo: Uint8Array,
  { headers, corpo }: AvisoRecebido,
  agora: number,
): FaltaDeAviso | undefined {
  const [id, em, assinaturas] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headers[name]);
  if (typeof id !== 'string' || typeof em !== 'string' || typeof assinaturas !== 'string') return 'falta_cabecalho';
  if (id === '' || em === '' || assinaturas === '') return 'falta_cabecalho';
  if (!/^[1-9]\d{0,11}$/.test(em)) return 'momento_ilegivel';
  const away = Math.floor(agora / 1000) - Number(em);
  if (Math.abs(away) > AVISO_MOMENTO_MAX_S) return away > 0 ? 'momento_passado' : 'momento_futuro';
  const signed = assinaturas.split(' ', ASSINATURAS_MAX).filter((one) => one.startsWith(VERSION));
  if (signed.length === 0) return 'falta_assinatura';
  const expected = Buffer.from(signOne(segredo, id, em, corpo));
  return signed.some((one) => isSame(Buffer.from(one), expected)) ? undefined : 'assinatura_alheia';
}

/** Takes the same time wherever the bytes differ; the length of a signature is no secret. */
function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
