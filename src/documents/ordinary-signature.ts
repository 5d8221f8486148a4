/**
 * Recognises the usual signature by its text (D-355): the exact text that this service writes when it signs. A recognised signature is in
 * its place and within the profile, so its elements need no further check. Nothing is refused here.
 */
import { isBlank } from '../fiscal/layout/check-text.ts';
import { attributeOf, type Elemento } from '../fiscal/layout/tree.ts';
import { type Parts, STRICT_METHODS } from './signature-parts.ts';
import type { SignedProfile } from './signature-shape.ts';
import { isSignatureWith } from './signing.ts';
import type { XmlDocumentReading } from './xml.ts';

type OrdinarySignature = {
  readonly faults: readonly [];
  readonly element: Elemento;
  readonly signature: Elemento;
  readonly parts: Parts;
};

/**
 * The signed element and its signature, if both stand alone and in order below the root. No other element may be taken for either. The
 * signature must be the exact text of our signer with its digest, value and certificate. Undefined otherwise.
 */
export function ordinarySignatureOf(
  reading: XmlDocumentReading,
  { signed }: SignedProfile,
): OrdinarySignature | undefined {
  const { root } = reading;
  const [element, signature] = root.children;
  if (element?.name !== signed || signature === undefined || root.children.length > 2) return undefined;
  const id = soleIdOf(element);
  const isAlone =
    id !== undefined &&
    root.attributes.every(({ name }) => !/^id$/i.test(name)) &&
    isBlank(root.text) &&
    reading.strayMarkup() === undefined &&
    hasPlainContent(element, signed);
  if (!isAlone) return undefined;
  const [signedInfo, signatureValue, keyInfo] = signature.children;
  const reference = signedInfo?.children[2];
  const digestValue = reference?.children[2];
  const certificate = keyInfo?.children[0]?.children[0];
  if (signatureValue === undefined || digestValue === undefined || certificate === undefined) return undefined;
  // Each text is taken from its place in the comparison: a text with markup is longer in the document, and does not
  // match.
  if (attributeOf(reference!, 'URI') !== `#${id}`) return undefined;
  const texts = { digest: digestValue.text, value: signatureValue.text, certificate: certificate.text };
  if (!isSignatureWith(reading.canonicalOf(signature), id, texts)) return undefined;
  const certificates = [certificate];
  const found = { signedInfo, reference, digestValue, signatureValue, certificates };
  const parts = { faults: [], profile: [], ...found, methods: STRICT_METHODS };
  return { faults: [], element, signature, parts };
}

/** The identifier of an element without any other attribute. */
function soleIdOf({ attributes: [first, ...others] }: Elemento): string | undefined {
  const isSole = first?.name === 'Id' && first.namespace === '' && first.value !== '' && others.length === 0;
  return isSole ? first.value : undefined;
}

/** True when nothing in an element has an attribute, the name of the signed element, or that of a signature. */
function hasPlainContent({ children }: Elemento, signed: string): boolean {
  for (const child of children) {
    if (child.attributes.length > 0 || child.name === signed || child.name === 'Signature') return false;
    if (!hasPlainContent(child, signed)) return false;
  }
  return true;
}
