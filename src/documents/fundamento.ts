/**
 * The ground of a verdict on a signature, for showing it years later: the authorities above the signer's certificate, and their revocation
 * lists at that time (D-672).
 */
import { hash } from 'node:crypto';
import type { Certificate } from './certificate.ts';
import type { Crl } from './crl.ts';

/** A document in DER, under its SHA-256. */
type Guardado = { readonly impressao: Buffer; readonly der: Buffer };

export type Fundamento = {
  /** SHA-256 over the whole ground. */
  readonly impressao: Buffer;
  /** Authorities, from the one that issued the signer's certificate to the anchor. */
  readonly cadeia: readonly Guardado[];
  /** The lists of these authorities that counted. */
  readonly listas: readonly Guardado[];
};

/** A list has megabytes: its digest is computed once. */
const prints = new WeakMap<Buffer, Buffer>();

/** `authorities`: a chain without the signer. */
export function makeFundamento(authorities: readonly Certificate[], lists: readonly Crl[]): Fundamento {
  const cadeia = authorities.map(({ der, fingerprint }) => ({ der, impressao: Buffer.from(fingerprint, 'hex') }));
  const listas = lists.map(({ der }) => ({
    der,
    impressao: prints.getOrInsertComputed(der, () => hash('sha256', der, 'buffer')),
  }));
  const text = [cadeia, listas].map((some) => some.map(({ impressao }) => impressao.toString('hex')).join(' '));
  return { impressao: hash('sha256', text.join('\n'), 'buffer'), cadeia, listas };
}
