/**
 * Makes XML signatures in the profile that `signed.ts` verifies: the municipality's over the NFS-e and its events
 * (D-35), and a provider's over a DPS, for our own command line. Private keys come in as key objects and go nowhere.
 */
import { hash, type KeyObject, sign } from 'node:crypto';
import { attributeOf } from '../fiscal/layout/tree.ts';
import type { Certificate } from './certificate.ts';
import { DPS_PROFILE, DSIG, ENVELOPED, isSignature, REQUIRED, type SignedProfile } from './signed.ts';
import { decodeXml, extentOf, readXml, type XmlDocumentReading } from './xml.ts';

export type Signer = { readonly key: KeyObject; readonly certificate: Certificate };

/** What a signature adds to a document whose canonical form is known: enough to write it again without the key. */
export type SignatureValue = { readonly value: Buffer; readonly certificate: Buffer };

/** Canonical as it stands, but for the declaration that canonicalising gives to SignedInfo. */
function signedInfoOf(canonical: string, id: string): string {
  const digest = hash('sha256', canonical, 'base64');
  return (
    `<CanonicalizationMethod Algorithm="${REQUIRED.CanonicalizationMethod}"></CanonicalizationMethod>` +
    `<SignatureMethod Algorithm="${REQUIRED.SignatureMethod}"></SignatureMethod>` +
    `<Reference URI="#${id}"><Transforms><Transform Algorithm="${ENVELOPED}"></Transform>` +
    `<Transform Algorithm="${REQUIRED.CanonicalizationMethod}"></Transform></Transforms>` +
    `<DigestMethod Algorithm="${REQUIRED.DigestMethod}"></DigestMethod><DigestValue>${digest}</DigestValue></Reference>`
  );
}

/**
 * The value of a signature over an element whose exclusive canonical form is `canonical`. It takes a quarter of a
 * millisecond of this thread; whoever signs many has a thread of its own. On the thread pool it takes longer: two at once
 * share the vector units of a core, and both together are slower than one after the other (measured).
 */
export function signatureValueOf(canonical: string, id: string, { key }: Signer): Buffer {
  const text = `<SignedInfo xmlns="${DSIG}">${signedInfoOf(canonical, id)}</SignedInfo>`;
  return sign('sha256', Buffer.from(text, 'utf8'), key);
}

/** The `Signature` element with a value that {@link signatureValueOf} made. It is its own canonical form. */
export function signatureElement(canonical: string, id: string, { value, certificate }: SignatureValue): string {
  return (
    `<Signature xmlns="${DSIG}"><SignedInfo>${signedInfoOf(canonical, id)}</SignedInfo>` +
    `<SignatureValue>${value.toString('base64')}</SignatureValue><KeyInfo><X509Data>` +
    `<X509Certificate>${certificate.toString('base64')}</X509Certificate></X509Data></KeyInfo></Signature>`
  );
}

/** The `Signature` element over an element whose exclusive canonical form is `canonical`. */
export function signatureOf(canonical: string, id: string, signer: Signer): string {
  const value = signatureValueOf(canonical, id, signer);
  return signatureElement(canonical, id, { value, certificate: signer.certificate.der });
}

/** A DPS with its signature, in place of one that it may have. Throws, in Portuguese, when it cannot be signed. */
export function signDps(xml: Uint8Array, signer: Signer): Buffer {
  return signDocument(xml, DPS_PROFILE, signer);
}

function signDocument(xml: Uint8Array, profile: SignedProfile, signer: Signer): Buffer {
  const { root: rootName, signed } = profile;
  const reading = readXml(xml);
  if ('fault' in reading) throw new Error(reading.fault.mensagem);
  const { root } = reading;
  const [element] = root.children.filter(({ name }) => name === signed);
  if (root.name !== rootName || element === undefined) {
    throw new Error(`o documento não é ${rootName} com ${signed} dentro; não há o que assinar.`);
  }
  const id = attributeOf(element, 'Id');
  if (id === undefined || id === '') throw new Error(`falta o atributo Id em ${signed}; a assinatura se refere a ele.`);
  if (reading.strayMarkup() !== undefined) {
    throw new Error('o documento traz comentários ou instruções de processamento; retire-os antes de assinar.');
  }
  const signature = signatureOf(reading.canonicalOf(element), id, signer);
  return Buffer.from(withSignatureAtEnd(reading, signature), 'utf8');
}

/** The text as it is, with the signature before the end of the root; everything is written in UTF-8. */
function withSignatureAtEnd({ bytes, root }: XmlDocumentReading, signature: string): string {
  let text = decodeXml(bytes);
  // The last one first, so that the places of those before it stay right.
  for (const child of root.children.filter(isSignature).reverse()) {
    const { start, end } = extentOf(text, child)!;
    text = text.slice(0, start) + text.slice(end).trimStart();
  }
  const end = text.lastIndexOf('</');
  return utf8Declared(text.slice(0, end) + signature + text.slice(end));
}

function utf8Declared(text: string): string {
  return text.replace(/^(<\?xml[^>]*?encoding\s*=\s*)(["'])[\w.:-]+\2/, '$1$2UTF-8$2');
}
