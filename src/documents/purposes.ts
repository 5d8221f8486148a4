/**
 * What a certificate is for, by extendedKeyUsage (RFC 5280, 4.2.1.12). Whoever signs here needs the protection of e-mail or
 * the authentication of a client, which are what ICP-Brasil writes into certificates of persons and companies (D-232).
 */

const ANY = '2.5.29.37.0';
const TAKEN: Readonly<Record<string, string>> = {
  '1.3.6.1.5.5.7.3.4': 'emailProtection',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
};
const NAMES: Readonly<Record<string, string>> = {
  ...TAKEN,
  [ANY]: 'anyExtendedKeyUsage',
  '1.3.6.1.5.5.7.3.1': 'serverAuth',
  '1.3.6.1.5.5.7.3.3': 'codeSigning',
  '1.3.6.1.5.5.7.3.8': 'timeStamping',
  '1.3.6.1.5.5.7.3.9': 'OCSPSigning',
  '1.3.6.1.5.5.7.3.36': 'documentSigning',
};
const SHOWN_MAX = 5;

/** For messages. */
export const PURPOSES_TAKEN = 'emailProtection, clientAuth ou anyExtendedKeyUsage';

/** Of the purposes that serve for signing those that an extension admits; all of them where there is no extension. */
export function purposesIn(extKeyUsage: readonly string[] | undefined): readonly string[] {
  const all = Object.keys(TAKEN);
  return extKeyUsage === undefined || extKeyUsage.includes(ANY) ? all : all.filter((oid) => extKeyUsage.includes(oid));
}

/** In words, an unknown one by its identifier. */
export function purposesShown(extKeyUsage: readonly string[] = [ANY]): string {
  if (extKeyUsage.length === 0) return 'nenhum uso';
  const shown = extKeyUsage.slice(0, SHOWN_MAX).map((oid) => NAMES[oid] ?? oid);
  return extKeyUsage.length > SHOWN_MAX ? `${shown.join(', ')} e outros` : shown.join(', ');
}
