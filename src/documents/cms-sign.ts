/** Makes the CMS that `cms.ts` verifies: detached, over the bytes of a request, with the attributes of a CAdES-BES signature. */
import { hash, sign } from 'node:crypto';
import { der, readAsn1, requireValue } from './asn1.ts';
import { type Certificate, fieldsAfterVersion } from './certificate.ts';
import { CMS_OID } from './oids.ts';
import type { Signer } from './signing.ts';

/** A signer, and the authorities between it and the root, if they are to be included. */
export type CmsSigner = Signer & { readonly chain?: readonly Certificate[] };

/** The detached CMS over these bytes, in DER: SHA-256, with the attributes of a CAdES-BES signature. */
export function signCms(body: Uint8Array, { key, certificate, chain = [] }: CmsSigner): Buffer {
  const attribute = (oid: string, value: Buffer): Buffer => der.sequence(der.oid(oid), der.set(value));
  const attributes = [
    attribute(CMS_OID.contentType, der.oid(CMS_OID.data)),
    attribute(CMS_OID.messageDigest, der.octetString(hash('sha256', body, 'buffer'))),
    attribute(CMS_OID.signingTime, der.time(Date.now())),
    attribute(
      CMS_OID.signingCertificateV2,
      der.sequence(der.sequence(der.sequence(der.octetString(hash('sha256', certificate.der, 'buffer'))))),
    ),
  ].sort(Buffer.compare);
  const sha256 = der.sequence(der.oid(CMS_OID.sha256), der.null());
  const [serial, , issuer] = fieldsAfterVersion(readAsn1(certificate.der));
  const signerInfo = der.sequence(
    der.integer(1),
    der.sequence(requireValue(issuer).raw, requireValue(serial).raw),
    sha256,
    der.context(0, ...attributes),
    der.sequence(der.oid(CMS_OID.rsa), der.null()),
    der.octetString(sign('sha256', der.set(...attributes), key)),
  );
  const certificates = [certificate, ...chain].map((one) => one.der).sort(Buffer.compare);
  const signedData = der.sequence(
    der.integer(1),
    der.set(sha256),
    der.sequence(der.oid(CMS_OID.data)),
    der.context(0, ...certificates),
    der.set(signerInfo),
  );
  return der.sequence(der.oid(CMS_OID.signedData), der.context(0, signedData));
}
