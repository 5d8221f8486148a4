/** Whether one certificate was signed with the key of another: checked once, and remembered for as long as the first is. */
import type { Certificate } from './certificate.ts';

/** Issuers remembered for a certificate; more than one has the name only when somebody makes them up. */
const ISSUERS_MAX = 32;

/** By the fingerprint of who should have signed it. */
const signatures = new WeakMap<Certificate, Map<string, boolean>>();

/** Of the signature alone: names, dates and what the issuer may do are judged elsewhere. */
export function isSignedBy(certificate: Certificate, issuer: Certificate): boolean {
  const known = signatures.get(certificate) ?? new Map<string, boolean>();
  signatures.set(certificate, known);
  const before = known.get(issuer.fingerprint);
  if (before !== undefined) return before;
  let isIt = false;
  try {
    isIt = certificate.x509.verify(issuer.publicKey);
  } catch {
    // A key of another kind than the algorithm wants.
  }
  if (known.size >= ISSUERS_MAX) known.clear();
  known.set(issuer.fingerprint, isIt);
  return isIt;
}
