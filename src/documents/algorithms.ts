/**
 * One table of the algorithms of signatures: their names in ASN.1, in XML and in messages, their digests, and their permitted uses. The
 * algorithms of a PKCS#12 alone are in `packages/cliente/src/pkcs12.ts`.
 */
import { OID } from '../../packages/cliente/src/oids.ts';
import { SIGNATURE_NAMESPACE as DSIG } from '../fiscal/layout/reading.ts';
import { der } from './asn1.ts';

/** A digest: its name for `node:crypto`, its displayed name, its length. */
export type Digest = { readonly name: string; readonly shown: string; readonly bytes: number };

export const SHA1: Digest = { name: 'sha1', shown: 'SHA-1', bytes: 20 };
export const SHA256: Digest = { name: 'sha256', shown: 'SHA-256', bytes: 32 };
const SHA384: Digest = { name: 'sha384', shown: 'SHA-384', bytes: 48 };
const SHA512: Digest = { name: 'sha512', shown: 'SHA-512', bytes: 64 };

/**
 * The permitted use of an algorithm. `cms`: a body of JSON; `lists`: a revocation list; `xml`: a signature inside a document, other than
 * the one profile of REST v1.
 */
type Use = 'cms' | 'lists' | 'xml';

type Algorithm = {
  /** Its identifier in ASN.1. */
  readonly oid?: string;
  /** The name in messages; without one, messages give the identifier. */
  readonly name?: string;
  /** Its identifier in XML, and its name in messages about XML. */
  readonly uri?: string;
  readonly uriName?: string;
  /** The digest that the algorithm is or uses; undefined: the identifier names none. */
  readonly digest?: Digest;
  /** The name of that digest when it can be forged. */
  readonly weak?: string;
  /** The permitted uses; the XML signature of a DPS in REST v1 follows {@link STRICT} alone. */
  readonly uses?: readonly Use[];
};

const ENC = 'http://www.w3.org/2001/04/xmlenc#';
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';

const DIGEST_ALGORITHMS: readonly Algorithm[] = [
  { oid: '1.2.840.113549.2.5', name: 'MD5', weak: 'MD5' },
  { oid: OID.sha1, name: 'SHA-1', uri: `${DSIG}sha1`, uriName: 'SHA-1', digest: SHA1, weak: 'SHA-1', uses: ['xml'] },
  { oid: OID.sha224, name: 'SHA-224' },
  { oid: OID.sha256, uri: `${ENC}sha256`, uriName: 'SHA-256', digest: SHA256, uses: ['cms', 'xml'] },
  { oid: OID.sha384, uri: `${MORE}sha384`, uriName: 'SHA-384', digest: SHA384, uses: ['cms'] },
  { oid: OID.sha512, uri: `${ENC}sha512`, uriName: 'SHA-512', digest: SHA512, uses: ['cms'] },
  { oid: '2.16.840.1.101.3.4.2.8', name: 'SHA3-256' },
];

/** RSA-PSS names its digest in its parameters. */
export const RSA_PSS = '1.2.840.113549.1.1.10';
export const SHA256_WITH_RSA = '1.2.840.113549.1.1.11';

/** RSA (PKCS#1 v1.5) over a digest. */
function rsaWith(oid: string, digest: Digest, uses: readonly Use[]): Algorithm {
  return { oid, uri: `${MORE}rsa-${digest.name}`, uriName: `RSA-${digest.shown.replace('-', '')}`, digest, uses };
}

const SIGNATURE_ALGORITHMS: readonly Algorithm[] = [
  { oid: OID.rsa, uses: ['cms'] },
  { oid: '1.2.840.113549.1.1.2', weak: 'MD2' },
  { oid: '1.2.840.113549.1.1.3', weak: 'MD4' },
  { oid: '1.2.840.113549.1.1.4', name: 'RSA com MD5', weak: 'MD5' },
  {
    ...rsaWith('1.2.840.113549.1.1.5', SHA1, ['xml']),
    name: 'RSA com SHA-1',
    uri: `${DSIG}rsa-sha1`,
    weak: 'SHA-1',
  },
  { oid: '1.3.14.3.2.29', weak: 'SHA-1' },
  { oid: '1.2.840.10040.4.3', weak: 'SHA-1' },
  { oid: RSA_PSS, name: 'RSA-PSS' },
  rsaWith(SHA256_WITH_RSA, SHA256, ['cms', 'lists', 'xml']),
  rsaWith('1.2.840.113549.1.1.12', SHA384, ['cms', 'lists']),
  rsaWith('1.2.840.113549.1.1.13', SHA512, ['cms', 'lists']),
  { oid: '1.2.840.10045.2.1', name: 'curva elíptica (ECDSA)' },
  { oid: '1.2.840.10045.4.1', name: 'ECDSA com SHA-1', weak: 'SHA-1' },
  {
    oid: '1.2.840.10045.4.3.2',
    name: 'ECDSA com SHA-256',
    uri: `${MORE}ecdsa-sha256`,
    uriName: 'ECDSA-SHA256',
    digest: SHA256,
    uses: ['lists'],
  },
  { oid: '1.2.840.10045.4.3.3', name: 'ECDSA com SHA-384', digest: SHA384, uses: ['lists'] },
  { oid: '1.2.840.10045.4.3.4', name: 'ECDSA com SHA-512', digest: SHA512, uses: ['lists'] },
  // Ed25519 and Ed448 have a fixed digest.
  { oid: '1.3.101.112', uses: ['lists'] },
  { oid: '1.3.101.113', uses: ['lists'] },
  { uri: 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1', uriName: 'RSA-PSS-SHA256' },
  { uri: `${DSIG}hmac-sha1`, uriName: 'HMAC-SHA1' },
  { uri: `${MORE}hmac-sha256`, uriName: 'HMAC-SHA256' },
];

export const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
export const ENVELOPED = `${DSIG}enveloped-signature`;

const TRANSFORMS: readonly Algorithm[] = [
  { uri: EXCLUSIVE, uriName: 'C14N exclusiva' },
  { uri: `${EXCLUSIVE}WithComments`, uriName: 'C14N exclusiva com comentários' },
  { uri: INCLUSIVE, uriName: 'C14N inclusiva 1.0' },
  { uri: `${INCLUSIVE}#WithComments`, uriName: 'C14N inclusiva 1.0 com comentários' },
  { uri: 'http://www.w3.org/2006/12/xml-c14n11', uriName: 'C14N inclusiva 1.1' },
  { uri: ENVELOPED, uriName: 'enveloped-signature' },
  { uri: 'http://www.w3.org/TR/1999/REC-xpath-19991116', uriName: 'filtro XPath' },
  { uri: 'http://www.w3.org/TR/1999/REC-xslt-19991116', uriName: 'XSLT' },
  { uri: `${DSIG}base64`, uriName: 'Base64' },
];

const WITH_COMMENTS = [`${EXCLUSIVE}WithComments`, `${INCLUSIVE}#WithComments`] as const;

/** Whether a canonicalisation keeps all declarations in force. Documents with comments are refused, so both ways of each form are equal. */
export function isInclusive(form: string): boolean {
  return form.startsWith(INCLUSIVE);
}

const ALL = [...DIGEST_ALGORITHMS, ...SIGNATURE_ALGORITHMS, ...TRANSFORMS];

/** The values of the rows that have one, by the identifiers of the rows. */
function columnOf<Value>(
  rows: readonly Algorithm[],
  by: 'oid' | 'uri',
  value: (row: Algorithm) => Value | undefined,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    rows.flatMap((row) => {
      const [key, found] = [row[by], value(row)];
      return key === undefined || found === undefined ? [] : [[key, found]];
    }),
  );
}

const takenBy = (rows: readonly Algorithm[], use: Use): readonly Algorithm[] =>
  rows.filter(({ uses }) => uses?.includes(use));

/** The names of XML identifiers in messages. */
export const URI_NAMES = columnOf(ALL, 'uri', ({ uriName }) => uriName);

/** The algorithms of a CMS: digests, and signatures with their digest; null: the identifier names none. */
export const CMS_DIGESTS = columnOf(takenBy(DIGEST_ALGORITHMS, 'cms'), 'oid', ({ digest }) => digest);
export const CMS_SIGNATURES = columnOf(takenBy(SIGNATURE_ALGORITHMS, 'cms'), 'oid', ({ digest }) => digest ?? null);

/** The names of ASN.1 identifiers in messages. */
export const OID_NAMES = columnOf(ALL, 'oid', ({ name }) => name);

/** The signature algorithms of a revocation list, with the name of their digest; null: the algorithm has a fixed one. */
export const LIST_DIGESTS = columnOf(
  takenBy(SIGNATURE_ALGORITHMS, 'lists'),
  'oid',
  ({ digest }) => digest?.name ?? null,
);

/** The algorithms whose digest can be forged, with the name of that digest. */
export const WEAK = columnOf(ALL, 'oid', ({ weak }) => weak);

/** An algorithm of a signature in XML. `isOld`: allowed only if the municipality says so. */
export type XmlAlgorithm = { readonly digest: Digest; readonly isOld: boolean };
const ofXml = (rows: readonly Algorithm[]): Readonly<Record<string, XmlAlgorithm>> =>
  columnOf(takenBy(rows, 'xml'), 'uri', ({ digest, weak }) => ({ digest: digest!, isOld: weak !== undefined }));
export const XML_DIGESTS = ofXml(DIGEST_ALGORITHMS);
export const XML_SIGNATURES = ofXml(SIGNATURE_ALGORITHMS);

/** Accepted algorithms by the name of the element that states each, the preferred one first; and whether `URI=""` is accepted. */
export type Accepted = {
  readonly CanonicalizationMethod: readonly [string, ...string[]];
  readonly SignatureMethod: readonly [string, ...string[]];
  readonly DigestMethod: readonly [string, ...string[]];
  readonly mayBeWhole: boolean;
};

/** The algorithms of all that this service signs, by the name of the element that states each. */
export const REQUIRED = {
  CanonicalizationMethod: EXCLUSIVE,
  SignatureMethod: `${MORE}rsa-sha256`,
  DigestMethod: `${ENC}sha256`,
} as const;

/** The one profile of REST v1. */
export const STRICT: Accepted = {
  CanonicalizationMethod: [REQUIRED.CanonicalizationMethod],
  SignatureMethod: [REQUIRED.SignatureMethod],
  DigestMethod: [REQUIRED.DigestMethod],
  mayBeWhole: false,
};

/** Signatures as programs of the national API make them. */
export const NATIONAL: Accepted = {
  ...STRICT,
  CanonicalizationMethod: [EXCLUSIVE, INCLUSIVE, ...WITH_COMMENTS],
  mayBeWhole: true,
};

/** The same with SHA-1, which can be forged: a municipality must allow it. */
export const NATIONAL_SHA1: Accepted = {
  ...NATIONAL,
  SignatureMethod: [...NATIONAL.SignatureMethod, `${DSIG}rsa-sha1`],
  DigestMethod: [...NATIONAL.DigestMethod, `${DSIG}sha1`],
};

/** The digests in use, by their length. */
export const DIGESTS_BY_BYTES: ReadonlyMap<number, Digest> = new Map(
  [SHA1, SHA256, SHA384, SHA512].map((digest) => [digest.bytes, digest]),
);

/** The digests in use, by the DER of their identifiers in hexadecimal, as a signature holds it (RFC 8017, 9.2). */
export const DIGESTS_BY_DER: Readonly<Record<string, Digest>> = Object.fromEntries(
  Object.entries(columnOf(DIGEST_ALGORITHMS, 'oid', ({ digest }) => digest)).map(([oid, digest]) => [
    der.oid(oid).toString('hex'),
    digest,
  ]),
);
