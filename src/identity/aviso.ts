/** How what is told to an address is signed (Standard Webhooks 1.0): by a secret that its receiver has as well. */
import { createHmac, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

export function makeSegredo(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** As its receiver is given it, once. */
export function writeSegredo(segredo: Uint8Array): string {
  return PREFIX + Buffer.from(segredo).toString('base64');
}

/** The secret of such a text; undefined of any other. */
export function readSegredo(text: string): Buffer | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]{22,88}={0,2})$/.exec(text) ?? [];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
}

/** The headers of a message under each of these secrets; `em`: seconds since 1970. */
export function signAviso(
  segredos: readonly Uint8Array[],
  { id, em, corpo }: { readonly id: string; readonly em: number; readonly corpo: string },
): Readonly<Record<string, string>> {
  const signed = segredos.map((segredo) => {
    const value = createHmac('sha256', segredo).update(`${id}.${em}.${corpo}`).digest('base64');
    return `v1,${value}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(em), 'webhook-signature': signed.join(' ') };
}
