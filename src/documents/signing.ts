/**
 * Makes XML signatures in the profile that `signed.ts` verifies. The municipality signs the NFS-e and its events (D-35). A provider signs a
 * DPS or a document of the legacy port, with our own command line. Private keys come in as key objects and are passed on to nobody.
 */
import { hash, type KeyObject, sign } from 'node:crypto';
import { attributeOf, type Elemento } from '../fiscal/layout/tree.ts';
import { ownOf } from '../fiscal/own.ts';
import { ENVELOPED, REQUIRED } from './algorithms.ts';
import type { Certificate } from './certificate.ts';
import { decodeXml } from './encoding.ts';
import { DSIG, isSignature } from './signature-shape.ts';
import { extentOf, readXml, type XmlDocumentReading } from './xml.ts';

export type Signer = { readonly key: KeyObject; readonly certificate: Certificate };

/** The values that a signature adds to a document of known canonical form: with them it can be written again without the key. */
export type SignatureValue = { readonly value: Buffer; readonly certificate: Buffer };

/** The texts around the identifier and the digest in a `SignedInfo`. */
const BEFORE_ID =
  `<CanonicalizationMethod Algorithm="${REQUIRED.CanonicalizationMethod}"></CanonicalizationMethod>` +
  `<SignatureMethod Algorithm="${REQUIRED.SignatureMethod}"></SignatureMethod><Reference URI="#`;
const BEFORE_DIGEST =
  `"><Transforms><Transform Algorithm="${ENVELOPED}"></Transform>` +
  `<Transform Algorithm="${REQUIRED.CanonicalizationMethod}"></Transform></Transforms>` +
  `<DigestMethod Algorithm="${REQUIRED.DigestMethod}"></DigestMethod><DigestValue>`;
const BEHIND_DIGEST = '</DigestValue></Reference></SignedInfo>';

/** The texts around those and the other values in a `Signature`. */
const SIGNATURE_BEFORE_ID = `<Signature xmlns="${DSIG}"><SignedInfo>${BEFORE_ID}`;
const BEFORE_VALUE = `${BEHIND_DIGEST}<SignatureValue>`;
const BEFORE_CERTIFICATE = '</SignatureValue><KeyInfo><X509Data><X509Certificate>';
const BEHIND_CERTIFICATE = '</X509Certificate></X509Data></KeyInfo></Signature>';

/**
 * The `Signature` element over an element whose exclusive canonical form is `canonical`, and the bytes of its value. It takes a quarter of
 * a millisecond of this thread; a caller with many signatures uses a separate thread. The thread pool is slower: two signatures at once
 * share the vector units of a core, and take longer than one after the other (D-891).
 */
export function signCanonical(
  canonical: string,
  id: string,
  { key, certificate }: Signer,
): { readonly element: string; readonly value: Buffer } {
  const digest = digestOf(canonical);
  const value = sign(
    'sha256',
    Buffer.from(`<SignedInfo xmlns="${DSIG}">${BEFORE_ID}${id}${BEFORE_DIGEST}${digest}${BEHIND_DIGEST}`),
    key,
  );
  return { element: writeElement(id, digest, { value, certificate: certificate.der }), value };
}

/** The `Signature` element with a value that {@link signCanonical} made. */
export function signatureElement(canonical: string, id: string, value: SignatureValue): string {
  return writeElement(id, digestOf(canonical), value);
}

function writeElement(id: string, digest: string, { value, certificate }: SignatureValue): string {
  const texts = { digest, value: value.toString('base64'), certificate: certificate.toString('base64') };
  return piecesOf(id, texts).join('');
}

function digestOf(canonical: string): string {
  return hash('sha256', canonical, 'base64');
}

/** Texts in Base64. */
type SignatureTexts = { readonly digest: string; readonly value: string; readonly certificate: string };

/** The `Signature` element with these texts, in pieces. The element is its own canonical form. */
function piecesOf(id: string, { digest, value, certificate }: SignatureTexts): readonly string[] {
  return [
    ...[SIGNATURE_BEFORE_ID, id, BEFORE_DIGEST, digest],
    ...[BEFORE_VALUE, value, BEFORE_CERTIFICATE, certificate, BEHIND_CERTIFICATE],
  ];
}

/** True when a text is the `Signature` element with these texts. No such element is built. */
export function isSignatureWith(text: string, id: string, texts: SignatureTexts): boolean {
  let at = 0;
  for (const piece of piecesOf(id, texts)) {
    const end = at + piece.length;
    if (text.slice(at, end) !== piece) return false;
    at = end;
  }
  return at === text.length;
}

/** The `Signature` element over an element whose exclusive canonical form is `canonical`. */
export function signatureOf(canonical: string, id: string, signer: Signer): string {
  return signCanonical(canonical, id, signer).element;
}

/** Documents that a provider signs, by the name of their root, with the path to the signed element. */
const SIGNED: Readonly<Record<string, readonly string[]>> = {
  DPS: ['infDPS'],
  EnviarLoteRpsEnvio: ['LoteRps'],
  CancelarNfseEnvio: ['Pedido', 'InfPedidoCancelamento'],
};

/**
 * A DPS, a lot of RPS or the request of a cancellation with its signature, which replaces an existing one. It throws in Portuguese when the
 * document cannot be signed.
 */
export function signXml(xml: Uint8Array, signer: Signer): Buffer {
  const reading = readXml(xml);
  if ('fault' in reading) throw new Error(reading.fault.mensagem);
  const { parent, signed } = findPlace(reading.root);
  const id = attributeOf(signed, 'Id');
  if (id === undefined || id === '') {
    throw new Error(`falta o atributo Id em ${signed.name}; a assinatura se refere a ele.`);
  }
  if (reading.strayMarkup() !== undefined) {
    throw new Error('o documento traz comentários ou instruções de processamento; retire-os antes de assinar.');
  }
  const signature = signatureOf(reading.canonicalOf(signed), id, signer);
  return Buffer.from(insertSignature(reading, parent, signature), 'utf8');
}

/** True when a document already has a signature in the place of the new one. */
export function isSigned(xml: Uint8Array): boolean {
  const reading = readXml(xml);
  return !('fault' in reading) && findPlace(reading.root).parent.children.some(isSignature);
}

/** The place for the signature of a document: the end of `parent`, which holds the signed element. */
function findPlace(root: Elemento): { readonly parent: Elemento; readonly signed: Elemento } {
  const steps = ownOf(SIGNED, root.name);
  if (root.name === 'Envelope') {
    throw new Error(
      'o arquivo é um envelope SOAP; assine o documento que vai dentro dele, e ponha-o no envelope depois.',
    );
  }
  if (steps === undefined) {
    throw new Error(`o documento é ${root.name}; assinam-se ${Object.keys(SIGNED).join(', ')}. Não há o que assinar.`);
  }
  let parent = root;
  let signed = root;
  for (const step of steps) {
    const [next, ...others] = signed.children.filter(({ name }) => name === step);
    if (next === undefined || others.length > 0) {
      throw new Error(`o documento ${root.name} deve ter um ${step} dentro de ${signed.name}; não há o que assinar.`);
    }
    [parent, signed] = [signed, next];
  }
  return { parent, signed };
}

/** The text with the signature before the end of an element, otherwise unchanged; everything is written in UTF-8. */
function insertSignature({ bytes }: XmlDocumentReading, parent: Elemento, signature: string): string {
  const text = cutSignatures(decodeXml(bytes), parent);
  const end = text.lastIndexOf('</', extentOf(text, parent)!.end - 1);
  return declareUtf8(text.slice(0, end) + signature + text.slice(end));
}

/** An XML document without the signatures below its root; a text that is no XML stays unchanged. */
export function withoutSignatures(xml: string): string {
  const reading = readXml(Buffer.from(xml));
  return 'fault' in reading ? xml : cutSignatures(xml, reading.root);
}

function cutSignatures(xml: string, parent: Elemento): string {
  let text = xml;
  // The last signature is removed first, so that the places of those before it stay right.
  for (const child of parent.children.filter(isSignature).reverse()) {
    const { start, end } = extentOf(text, child)!;
    text = text.slice(0, start) + text.slice(end).trimStart();
  }
  return text;
}

function declareUtf8(text: string): string {
  return text.replace(/^(<\?xml[^>]*?encoding\s*=\s*)(["'])[\w.:-]+\2/, '$1$2UTF-8$2');
}
