/**
 * Purposes of a certificate, by extendedKeyUsage (RFC 5280, 4.2.1.12). A signer needs emailProtection or clientAuth: ICP-Brasil
 * writes these into certificates of persons and companies (D-232).
 */

import { PURPOSE } from './oids.ts';

const TAKEN: Readonly<Record<string, string>> = {
  [PURPOSE.emailProtection]: 'emailProtection',
  [PURPOSE.clientAuth]: 'clientAuth',
};
const NAMES: Readonly<Record<string, string>> = {
  ...TAKEN,
  [PURPOSE.any]: 'anyExtendedKeyUsage',
  [PURPOSE.serverAuth]: 'serverAuth',
  [PURPOSE.codeSigning]: 'codeSigning',
  [PURPOSE.timeStamping]: 'timeStamping',
  [PURPOSE.ocspSigning]: 'OCSPSigning',
  [PURPOSE.documentSigning]: 'documentSigning',
};
const SHOWN_MAX = 5;

/** For messages. */
export const PURPOSES_TAKEN = 'emailProtection, clientAuth ou anyExtendedKeyUsage';

/** Of the purposes that serve for signing those that an extension admits; all of them where there is no extension. */
export function purposesIn(extKeyUsage: readonly string[] | undefined): readonly string[] {
  const all = Object.keys(TAKEN);
  return extKeyUsage === undefined || extKeyUsage.includes(PURPOSE.any)
    ? all
    : all.filter((oid) => extKeyUsage.includes(oid));
}

/** In words, an unknown one by its identifier. */
export function purposesShown(extKeyUsage: readonly string[] = [PURPOSE.any]): string {
  if (extKeyUsage.length === 0) return 'nenhum uso';
  const shown = extKeyUsage.slice(0, SHOWN_MAX).map((oid) => NAMES[oid] ?? oid);
  return extKeyUsage.length > SHOWN_MAX ? `${shown.join(', ')} e outros` : shown.join(', ');
}
