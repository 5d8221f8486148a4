/** What a CMS calls by number: contents, attributes, algorithms. */

export const CMS_OID = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  countersignature: '1.2.840.113549.1.9.6',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  subjectKeyId: '2.5.29.14',
  rsa: '1.2.840.113549.1.1.1',
  sha256: '2.16.840.1.101.3.4.2.1',
} as const;

export const ATTRIBUTE_NAMES: Readonly<Record<string, string>> = {
  [CMS_OID.contentType]: 'contentType',
  [CMS_OID.messageDigest]: 'messageDigest',
  [CMS_OID.signingTime]: 'signingTime',
  [CMS_OID.countersignature]: 'countersignature',
  [CMS_OID.signingCertificate]: 'signingCertificate',
  [CMS_OID.signingCertificateV2]: 'signingCertificateV2',
  '1.2.840.113549.1.9.15': 'smimeCapabilities',
  '1.2.840.113549.1.9.16.2.14': 'timeStampToken',
  '1.2.840.113549.1.9.16.2.15': 'sigPolicyId',
  '1.2.840.113549.1.9.52': 'cmsAlgorithmProtection',
};

/** Names for `node:crypto` and for people. */
export type Digest = { readonly name: string; readonly shown: string };

export const SHA1: Digest = { name: 'sha1', shown: 'SHA-1' };
export const SHA256: Digest = { name: 'sha256', shown: 'SHA-256' };
const SHA384: Digest = { name: 'sha384', shown: 'SHA-384' };
const SHA512: Digest = { name: 'sha512', shown: 'SHA-512' };

/** Those that are taken. */
export const DIGESTS: Readonly<Record<string, Digest>> = {
  [CMS_OID.sha256]: SHA256,
  '2.16.840.1.101.3.4.2.2': SHA384,
  '2.16.840.1.101.3.4.2.3': SHA512,
};

/** RSA PKCS#1 v1.5; those that name a digest name the one that they go with. */
export const SIGNATURES: Readonly<Record<string, Digest | undefined>> = {
  [CMS_OID.rsa]: undefined,
  '1.2.840.113549.1.1.11': SHA256,
  '1.2.840.113549.1.1.12': SHA384,
  '1.2.840.113549.1.1.13': SHA512,
};

/** What people meet and may not use, by name. */
export const KNOWN_NAMES: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.5': 'MD5',
  '1.3.14.3.2.26': 'SHA-1',
  '2.16.840.1.101.3.4.2.4': 'SHA-224',
  '2.16.840.1.101.3.4.2.8': 'SHA3-256',
  '1.2.840.113549.1.1.4': 'RSA com MD5',
  '1.2.840.113549.1.1.5': 'RSA com SHA-1',
  '1.2.840.113549.1.1.10': 'RSA-PSS',
  '1.2.840.10045.2.1': 'curva elíptica (ECDSA)',
  '1.2.840.10045.4.1': 'ECDSA com SHA-1',
  '1.2.840.10045.4.3.2': 'ECDSA com SHA-256',
  '1.2.840.10045.4.3.3': 'ECDSA com SHA-384',
  '1.2.840.10045.4.3.4': 'ECDSA com SHA-512',
};
