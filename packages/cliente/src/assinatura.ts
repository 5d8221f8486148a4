/**
 * The two signatures that the service accepts. One is XML-DSig in the profile of the DPS (enveloped, exclusive
 * canonical form, RSA-SHA256); the other is a detached CMS over the bytes of a JSON body. The key stays an opaque
 * object.
 */
import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { der, ID, lerAsn1 } from './asn1.ts';
import { OID } from './oids.ts';
import { atributoDe, espacoDe, filhosDe, formaCanonica, lerXml, XmlRecusado } from './xml.ts';

/** Uma chave e o certificado dela; `cadeia`: as autoridades acima, se vieram. */
export type Assinante = {
  readonly chave: KeyObject;
  readonly certificado: X509Certificate;
  readonly cadeia: readonly X509Certificate[];
};

const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const ENVELOPED = `${DSIG}enveloped-signature`;
const EXC_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

/** Se o XML traz uma assinatura, de quem quer que seja. */
export function estaAssinado(xml: string): boolean {
  return /<(?:[\w.-]+:)?Signature[\s>]/.test(xml) && xml.includes(DSIG);
}

/**
 * Assina uma DPS: o texto como é, com `Signature` depois de `infDPS`. Rejeita com `XmlRecusado`, e o lugar, o que não se pode
 * assinar: uma DPS já assinada, comentários, DOCTYPE, outra codificação que UTF-8.
 */
export function assinarXml(xml: string, { chave, certificado }: Assinante): string {
  const root = lerXml(xml);
  const elements = filhosDe(root);
  const [element, ...others] = elements.filter(({ nome }) => nome === 'infDPS');
  if (root.nome !== 'DPS' || element === undefined || others.length > 0) {
    throw new XmlRecusado('o documento não é DPS com um infDPS dentro; não há o que assinar.');
  }
  if (elements.some((one) => one.nome === 'Signature' && espacoDe(one) === DSIG)) {
    throw new XmlRecusado('a DPS já está assinada; retire Signature para assiná-la de novo.');
  }
  if (elements.length > 1) throw new XmlRecusado('dentro de DPS só pode vir infDPS, que é o que a assinatura cobre.');
  const id = atributoDe(element, 'Id');
  if (id === undefined || !/^[\w.-]+$/.test(id))
    throw new XmlRecusado('falta o Id de infDPS, a que a assinatura se refere.');
  const info = signedInfo(sha256(formaCanonica(element)), id);
  // The text is already canonical, except for the declaration, which stands in Signature (D-165).
  const value = sign('sha256', Buffer.from(`<SignedInfo xmlns="${DSIG}">${info}</SignedInfo>`), chave);
  const signature =
    `<Signature xmlns="${DSIG}"><SignedInfo>${info}</SignedInfo><SignatureValue>${value.toString('base64')}</SignatureValue>` +
    `<KeyInfo><X509Data><X509Certificate>${certificado.raw.toString('base64')}</X509Certificate></X509Data></KeyInfo></Signature>`;
  // Only spaces may follow the end tag of the root: comments and the like were refused.
  const end = xml.lastIndexOf('</');
  return xml.slice(0, end) + signature + xml.slice(end);
}

function signedInfo(digest: Buffer, id: string): string {
  return (
    `<CanonicalizationMethod Algorithm="${EXC_C14N}"></CanonicalizationMethod>` +
    `<SignatureMethod Algorithm="${RSA_SHA256}"></SignatureMethod>` +
    `<Reference URI="#${id}"><Transforms><Transform Algorithm="${ENVELOPED}"></Transform>` +
    `<Transform Algorithm="${EXC_C14N}"></Transform></Transforms>` +
    `<DigestMethod Algorithm="${SHA256}"></DigestMethod><DigestValue>${digest.toString('base64')}</DigestValue></Reference>`
  );
}

/**
 * O valor de `X-DPS-Assinatura` ou `X-Evento-Assinatura`: CMS destacado (RFC 5652) sobre estes bytes, com o certificado dentro, em
 * DER e Base64. Envie exatamente os mesmos bytes.
 */
export function assinarCms(corpo: Uint8Array, { chave, certificado, cadeia }: Assinante, agora = Date.now()): string {
  const attribute = (oid: string, value: Buffer): Buffer => der.sequencia(der.oid(oid), der.conjunto(value));
  const attributes = [
    attribute(OID.contentType, der.oid(OID.data)),
    attribute(OID.signingTime, der.momento(agora)),
    attribute(OID.messageDigest, der.octetos(sha256(corpo))),
    // The signed attribute names the signer's certificate (CAdES).
    attribute(
      OID.signingCertificateV2,
      der.sequencia(der.sequencia(der.sequencia(der.octetos(sha256(certificado.raw))))),
    ),
  ].sort(Buffer.compare);
  const digestAlgorithm = der.sequencia(der.oid(OID.sha256), der.nulo());
  const { issuer, serial } = issuerAndSerial(certificado);
  const signerInfo = der.sequencia(
    der.inteiro(1),
    der.sequencia(issuer, serial),
    digestAlgorithm,
    der.contexto0(...attributes),
    der.sequencia(der.oid(OID.rsa), der.nulo()),
    der.octetos(sign('sha256', der.conjunto(...attributes), chave)),
  );
  const signedData = der.sequencia(
    der.inteiro(1),
    der.conjunto(digestAlgorithm),
    der.sequencia(der.oid(OID.data)),
    der.contexto0(...[certificado, ...cadeia].map(({ raw }) => raw).sort(Buffer.compare)),
    der.conjunto(signerInfo),
  );
  return der.sequencia(der.oid(OID.signedData), der.contexto0(signedData)).toString('base64');
}

/** Issuer and serial stand as in the certificate, octet for octet. */
function issuerAndSerial({ raw }: X509Certificate): { readonly issuer: Buffer; readonly serial: Buffer } {
  const fields = lerAsn1(raw).filhos[0]?.filhos ?? [];
  // The version stands first, unless it is the oldest one.
  const [serial, , issuer] = fields[0]?.id === ID.contexto0 ? fields.slice(1) : fields;
  return { issuer: issuer!.inteiro, serial: serial!.inteiro };
}

function sha256(content: string | Uint8Array): Buffer {
  return createHash('sha256').update(content).digest();
}
