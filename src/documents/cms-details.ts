/**
 * Details of a CMS for the signature debugger: algorithms, signed attributes, the declared digest and that of the body. It reads as much as
 * it can and refuses nothing; `cms.ts` alone decides whether a signature is accepted.
 */
import { constants, hash, verify } from 'node:crypto';
import { cutText } from '../fiscal/fault.ts';
import { CMS_DIGESTS, CMS_SIGNATURES, OID_NAMES, SHA256 } from './algorithms.ts';
import { type Asn1, isContext, isUniversal, octetsOf, oidOf, readAsn1, TAG, timeOf, tryAsn1 } from './asn1.ts';
import { attempt } from './attempt.ts';
import type { Certificate } from './certificate.ts';
import { signedForm } from './cms.ts';
import { ATTRIBUTE_NAMES, CMS_OID } from './oids.ts';

/** A CMS has two or three signed attributes, and about ten with a timestamp. */
const ATTRIBUTES_MAX = 32;
const VALUE_SHOWN_MAX = 128;

export type CmsDetails = {
  readonly algoritmos: readonly {
    readonly onde: string;
    /** null: the value could not be read. */
    readonly encontrado: string | null;
    readonly exigido: string;
    readonly confere: boolean;
  }[];
  /** undefined: the signature covers the body itself, or could not be read. */
  readonly atributos: readonly { readonly oid: string; readonly nome: string; readonly valor: string }[] | undefined;
  /** Hexadecimal digits, as openssl shows them. `declarado` undefined: the CMS declares no digest. */
  readonly digest: { readonly algoritmo: string; readonly declarado: string | undefined; readonly calculado: string };
  /** True when the key made the value, over the attributes or else over the body; undefined: it cannot be told. */
  readonly valueHolds: boolean | undefined;
};

const DIGESTS_TAKEN = [...new Set(Object.values(CMS_DIGESTS).map(({ shown }) => shown))].join(', ');
const SIGNATURE_TAKEN = 'RSA PKCS#1 v1.5';

/** The details of a header's value. `certificate`: the result of `verifyCms`. It never throws for input from outside. */
export function detailsOfCms(
  header: string | undefined,
  body: Uint8Array,
  certificate: Certificate | undefined,
): CmsDetails {
  const signer = signerIn(header);
  const digest = (signer && CMS_DIGESTS[signer.digestOid]) ?? SHA256;
  const calculado = hash(digest.name, body, 'hex');
  const declared = signer?.attributes?.children.find((one) => oidIn(one) === CMS_OID.messageDigest);
  const octets = declared?.children[1]?.children[0];
  return {
    algoritmos: [
      algorithmLine('digest', signer?.digestOid, CMS_DIGESTS, DIGESTS_TAKEN),
      algorithmLine('signature', signer?.signatureOid, CMS_SIGNATURES, SIGNATURE_TAKEN),
    ],
    atributos: signer?.attributes?.children.slice(0, ATTRIBUTES_MAX).map(attributeLine),
    digest: {
      algoritmo: digest.shown,
      declarado: isUniversal(octets, TAG.octetString)
        ? cutText(octetsOf(octets).toString('hex'), VALUE_SHOWN_MAX)
        : undefined,
      calculado,
    },
    valueHolds: signer && certificate && valueHolds(signer, body, certificate),
  };
}

type Signer = {
  readonly digestOid: string;
  readonly signatureOid: string;
  readonly attributes: Asn1 | undefined;
  readonly signature: Asn1;
};

/** The first SignerInfo, if it is complete. */
function signerIn(header: string | undefined): Signer | undefined {
  if (header === undefined) return undefined;
  return tryAsn1(() => {
    const signedData = readAsn1(Buffer.from(header, 'base64')).children[1]?.children[0];
    const info = signedData?.children.findLast((part) => isUniversal(part, TAG.set))?.children[0];
    const [, , digestAlgorithm, ...rest] = info?.children ?? [];
    const attributes = isContext(rest[0], 0) ? rest.shift() : undefined;
    const [signatureAlgorithm, signature] = rest;
    if (!isUniversal(signature, TAG.octetString)) return undefined;
    const digestOid = oidOf(digestAlgorithm?.children[0]);
    return { digestOid, signatureOid: oidOf(signatureAlgorithm?.children[0]), attributes, signature };
  });
}

function valueHolds(signer: Signer, body: Uint8Array, { publicKey }: Certificate): boolean | undefined {
  const digest = CMS_DIGESTS[signer.digestOid];
  if (digest === undefined || !(signer.signatureOid in CMS_SIGNATURES)) return undefined;
  if (publicKey.asymmetricKeyType !== 'rsa') return undefined;
  const message = signer.attributes === undefined ? body : signedForm(signer.attributes);
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PADDING };
  return verify(digest.name, message, key, octetsOf(signer.signature));
}

function attributeLine(attribute: Asn1): { oid: string; nome: string; valor: string } {
  const oid = oidIn(attribute) ?? '';
  const value = attribute.children[1]?.children[0];
  return {
    oid: cutText(oid, VALUE_SHOWN_MAX),
    nome: ATTRIBUTE_NAMES[oid] ?? 'desconhecido',
    valor: value === undefined ? '' : cutText(attributeText(oid, value), VALUE_SHOWN_MAX),
  };
}

/** The value of an attribute in the form that libraries show; otherwise its size. */
function attributeText(oid: string, value: Asn1): string {
  const text = attempt(() => {
    if (oid === CMS_OID.contentType) return oidOf(value);
    if (oid === CMS_OID.messageDigest) return octetsOf(value).toString('hex');
    return oid === CMS_OID.signingTime ? new Date(timeOf(value)).toISOString() : undefined;
  });
  // A value of another type than its name promises has no text.
  return text ?? `${value.raw.length} bytes`;
}

function oidIn(attribute: Asn1): string | undefined {
  const [first] = attribute.children;
  return isUniversal(first, TAG.oid) && first.content.length > 0 ? oidOf(first) : undefined;
}

/** `oid` undefined: no SignerInfo could be read. */
function algorithmLine(
  part: 'digest' | 'signature',
  oid: string | undefined,
  taken: typeof CMS_SIGNATURES,
  exigido: string,
): CmsDetails['algoritmos'][number] {
  const onde = `SignerInfo/${part}Algorithm`;
  if (oid === undefined) return { onde, encontrado: null, exigido, confere: false };
  const confere = oid in taken;
  const digest = taken[oid]?.shown;
  const signature = digest === undefined ? SIGNATURE_TAKEN : `${SIGNATURE_TAKEN} com ${digest}`;
  const known = part === 'digest' ? digest : signature;
  const encontrado = (confere ? known : undefined) ?? OID_NAMES[oid] ?? `OID ${cutText(oid, VALUE_SHOWN_MAX)}`;
  return { onde, encontrado, exigido, confere };
}
