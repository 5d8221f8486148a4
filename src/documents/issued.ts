/** Checks whether one certificate was signed with the key of another. The answer is remembered with the certificate. */
import type { Certificate } from './certificate.ts';

/** Issuers remembered for a certificate; more than one has the name only when somebody makes them up. */
const ISSUERS_MAX = 32;

/** By the fingerprint of who should have signed it. */
const signatures = new WeakMap<Certificate, Map<string, boolean>>();

/** Whether the key of the issuer made the signature. `chain.ts` judges names, dates and uses. */
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
