/** Object identifiers other than algorithms: contents and attributes of a CMS, names, extensions and purposes of certificates. */
import { OID } from '../../packages/cliente/src/oids.ts';

const ATTRIBUTE = {
  contentType: OID.contentType,
  messageDigest: OID.messageDigest,
  signingTime: OID.signingTime,
  countersignature: '1.2.840.113549.1.9.6',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: OID.signingCertificateV2,
  smimeCapabilities: '1.2.840.113549.1.9.15',
  timeStampToken: '1.2.840.113549.1.9.16.2.14',
  sigPolicyId: '1.2.840.113549.1.9.16.2.15',
  cmsAlgorithmProtection: '1.2.840.113549.1.9.52',
} as const;

export const CMS_OID = { ...OID, ...ATTRIBUTE } as const;

/** Attributes of a CMS, for messages. */
export const ATTRIBUTE_NAMES = namesByOid(ATTRIBUTE);

function namesByOid(table: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(table).map(([name, oid]) => [oid, name]));
}

/** ContentInfo of another type than signedData (RFC 5652 and its predecessors), for messages. */
export const OTHER_CONTENTS: Readonly<Record<string, string>> = {
  [OID.data]: 'dados sem assinatura (data)',
  '1.2.840.113549.1.7.3': 'dados cifrados (envelopedData)',
  '1.2.840.113549.1.7.4': 'dados assinados e cifrados (signedAndEnvelopedData)',
  '1.2.840.113549.1.7.5': 'só um resumo (digestedData)',
  [OID.encryptedData]: 'dados cifrados (encryptedData)',
  '1.2.840.113549.1.9.16.1.2': 'dados autenticados (authData)',
  '1.2.840.113549.1.9.16.1.4': 'um carimbo do tempo (TSTInfo)',
  '1.2.840.113549.1.9.16.1.9': 'dados comprimidos (compressedData)',
};

/** Parts of a distinguished name. */
export const NAME_PART = {
  commonName: '2.5.4.3',
  country: '2.5.4.6',
  organization: '2.5.4.10',
  organizationalUnit: '2.5.4.11',
} as const;

/** Extensions of certificates, of revocation lists and of their entries (RFC 5280). */
export const EXTENSION = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  reason: '2.5.29.21',
  deltaIndicator: '2.5.29.27',
  distributionPoint: '2.5.29.28',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  policies: '2.5.29.32',
  authorityKeyId: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
} as const;

export const ANY_POLICY = '2.5.29.32.0';
/** The arc of A1 policies, and a number in it that no authority has. */
export const TEST_POLICY_A1 = '2.16.76.1.2.1.99999';

/** Purposes of a certificate's key (RFC 5280, 4.2.1.12), by their names in messages. */
export const PURPOSE = {
  anyExtendedKeyUsage: '2.5.29.37.0',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  OCSPSigning: '1.3.6.1.5.5.7.3.9',
  documentSigning: '1.3.6.1.5.5.7.3.36',
} as const;

/** Purposes of a certificate, for messages. */
export const PURPOSE_NAMES = namesByOid(PURPOSE);

/** Fields of ICP-Brasil (DOC-ICP-04). The field of a company's representative never names the holder. */
export const ICP_BRASIL_NAME = {
  pessoa: '2.16.76.1.3.1',
  responsavel: '2.16.76.1.3.2',
  cnpj: '2.16.76.1.3.3',
  dadosDoResponsavel: '2.16.76.1.3.4',
  tituloDeEleitor: '2.16.76.1.3.5',
  ceiDaPessoa: '2.16.76.1.3.6',
  inss: '2.16.76.1.3.7',
} as const;
