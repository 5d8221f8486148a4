/**
 * Signatures inside the documents of ABRASF: of the lot, of each RPS, of the request of a cancellation. Enveloped beside what
 * they sign, as everywhere; but a lot has signatures within signatures, so what is looked at is one pair at a time.
 *
 * The profile is that of the DPS (`signed.ts`), and, where a municipality allows it by name, that of 2008 as well: RSA-SHA1 with
 * inclusive canonicalisation (D-70), and a reference to the whole document, of clients whose lots have no `Id` (D-178).
 */
import { constants, hash, verify } from 'node:crypto';
import type { Fault } from '../fiscal/fault.ts';
import { attributeOf, type Elemento } from '../fiscal/layout/tree.ts';
import { ownOf } from '../fiscal/own.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { DSIG, ENVELOPED, isSignature, REQUIRED } from './signed.ts';
import { canonicalForm, extentOf, readXml, type XmlDocumentReading } from './xml.ts';

const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const EXCLUSIVE = REQUIRED.CanonicalizationMethod;

type Algorithm = { readonly digest: 'sha1' | 'sha256'; readonly isOld: boolean };

const SIGNATURE_METHODS: Readonly<Record<string, Algorithm>> = {
  [REQUIRED.SignatureMethod]: { digest: 'sha256', isOld: false },
  'http://www.w3.org/2000/09/xmldsig#rsa-sha1': { digest: 'sha1', isOld: true },
};
const DIGEST_METHODS: Readonly<Record<string, Algorithm>> = {
  [REQUIRED.DigestMethod]: { digest: 'sha256', isOld: false },
  'http://www.w3.org/2000/09/xmldsig#sha1': { digest: 'sha1', isOld: true },
};

/** What was found of one signature. */
export type AbrasfSignature = { readonly fault: Fault } | { readonly certificate: Certificate };

export type AbrasfSignatureOptions = {
  /** The municipality allows RSA-SHA1 and inclusive canonicalisation (`soap_sha1`). */
  readonly allowsSha1: boolean;
};

/**
 * The signature that stands beside an element in its parent, checked over that element; undefined when there is none. An element of
 * which a twin has the same Id is refused: the reference would be to either.
 */
export function checkAbrasfSignature(
  reading: XmlDocumentReading,
  parent: Elemento,
  signed: Elemento,
  options: AbrasfSignatureOptions,
): AbrasfSignature | undefined {
  const signatures = parent.children.filter(isSignature);
  const [signature] = signatures;
  if (signature === undefined) return undefined;
  if (signatures.length > 1) return refused(`${parent.name} traz ${signatures.length} assinaturas; deve trazer uma.`);
  return check(reading, { parent, signed, signature }, options);
}

type Pair = { readonly parent: Elemento; readonly signed: Elemento; readonly signature: Elemento };

function check(
  reading: XmlDocumentReading,
  { parent, signed, signature }: Pair,
  { allowsSha1 }: AbrasfSignatureOptions,
): AbrasfSignature {
  const [signedInfo, signatureValue, keyInfo] = ['SignedInfo', 'SignatureValue', 'KeyInfo'].map((name) =>
    only(signature, name),
  );
  if (signedInfo === undefined || signatureValue === undefined) return refused('A assinatura está incompleta.');
  const [canonicalization, method, reference] = ['CanonicalizationMethod', 'SignatureMethod', 'Reference'].map((name) =>
    only(signedInfo, name),
  );
  const digestMethod = reference && only(reference, 'DigestMethod');
  const digestValue = reference && only(reference, 'DigestValue');
  if (!canonicalization || !method || !reference || !digestMethod || !digestValue) {
    return refused('SignedInfo está incompleto, ou tem mais de uma Reference.');
  }
  const id = attributeOf(signed, 'Id');
  const uri = attributeOf(reference, 'URI');
  const isWhole = uri === '' && allowsSha1 && mayBeWhole(reading, parent);
  if (!isWhole) {
    if (id === undefined || id === '') {
      const also = allowsSha1 ? ' (ou use URI="" no documento inteiro, com enveloped-signature)' : '';
      return refused(
        `${signed.name} não tem o atributo Id a que a assinatura se refere. Dê-lhe um Id e assine de novo${also}.`,
      );
    }
    if (uri !== `#${id}`) return refused(`A Reference aponta "${uri ?? ''}", e deve apontar "#${id}".`);
    if (countOfId(reading.root, id) > 1) return refused(`O identificador "${id}" está em mais de um elemento.`);
  }

  const signing = ownOf(SIGNATURE_METHODS, algorithmOf(method));
  const digesting = ownOf(DIGEST_METHODS, algorithmOf(digestMethod));
  const forms = [algorithmOf(canonicalization), ...transformsOf(reference).filter((one) => one !== ENVELOPED)];
  const isOld = signing?.isOld === true || digesting?.isOld === true || forms.includes(INCLUSIVE);
  const known =
    forms.length <= 2 &&
    signing !== undefined &&
    digesting !== undefined &&
    forms.every((one) => one === EXCLUSIVE || one === INCLUSIVE);
  if (!known || (isOld && !allowsSha1)) {
    const also = allowsSha1 ? ', ou RSA-SHA1 com SHA-1 e C14N inclusiva' : '';
    return refused(`Os algoritmos da assinatura não são os aceitos: RSA-SHA256, SHA-256 e C14N exclusiva${also}.`);
  }
  // A list of prefixes, or whatever else stands in an algorithm, would change what is signed.
  if (
    [canonicalization, method, digestMethod, ...transformElements(reference)].some(
      ({ children }) => children.length > 0,
    )
  ) {
    return refused(
      'Um algoritmo da assinatura traz elementos que não se aceitam; configure a C14N sem lista de prefixos.',
    );
  }

  const certificate = certificateOf(keyInfo);
  if ('problem' in certificate) return refused(certificate.problem);
  // Without a transformation that says how, XML Signature canonicalises inclusively.
  const [, form = INCLUSIVE] = forms;
  if (form === INCLUSIVE && !allowsSha1) return refused('Falta a transformação C14N exclusiva na Reference.');
  if (isWhole && !transformsOf(reference).includes(ENVELOPED)) {
    return refused('Uma Reference ao documento inteiro leva a transformação enveloped-signature.');
  }
  const content = isWhole ? wholeWithout(reading, signature, form) : canonical(reading, signed, form);
  const digest = hash(digesting.digest, content, 'base64');
  if (digest !== withoutSpace(digestValue.text)) {
    return refused(`O resumo de ${signed.name} não confere: o conteúdo não é o que foi assinado.`);
  }
  const text = canonical(reading, signedInfo, forms[0]!);
  const value = Buffer.from(withoutSpace(signatureValue.text), 'base64');
  const key = { key: certificate.publicKey, padding: constants.RSA_PKCS1_PADDING };
  if (!verify(signing.digest, Buffer.from(text, 'utf8'), key, value)) {
    return refused('O valor da assinatura não confere com SignedInfo e o certificado.');
  }
  return { certificate };
}

/**
 * Whether a reference to the whole document may be looked at: where the document is the message alone, and of its own signature, not of
 * each RPS, of which there may be hundreds.
 */
function mayBeWhole(reading: XmlDocumentReading, parent: Elemento): boolean {
  const { root } = reading;
  const isOwn = parent === root || (parent.name === 'Pedido' && root.children.includes(parent));
  return isOwn && root.name !== 'Envelope' && reading.strayMarkup() === undefined;
}

/** The canonical form of a document without one signature in it, which is what the transformation leaves. */
function wholeWithout(reading: XmlDocumentReading, signature: Elemento, form: string): string {
  const text = reading.text();
  const { start, end } = extentOf(text, signature)!;
  const rest = readXml(Buffer.from(text.slice(0, start) + text.slice(end), 'utf8'));
  if ('fault' in rest) throw new Error('a document without its signature does not read');
  return canonical(rest, rest.root, form);
}

function canonical(reading: XmlDocumentReading, element: Elemento, form: string): string {
  return form === EXCLUSIVE ? reading.canonicalOf(element) : canonicalForm(reading.bytes, element, 'inclusiva');
}

function only(parent: Elemento, name: string): Elemento | undefined {
  const found = parent.children.filter((child) => child.name === name && child.namespace === DSIG);
  return found.length === 1 ? found[0] : undefined;
}

function transformElements(reference: Elemento): readonly Elemento[] {
  return only(reference, 'Transforms')?.children ?? [];
}

function transformsOf(reference: Elemento): readonly string[] {
  return transformElements(reference).map(algorithmOf);
}

function algorithmOf(element: Elemento): string {
  return attributeOf(element, 'Algorithm') ?? '';
}

function countOfId(element: Elemento, id: string): number {
  const own = element.attributes.some(({ name, value }) => /^id$/i.test(name) && value === id) ? 1 : 0;
  return element.children.reduce((count, child) => count + countOfId(child, id), own);
}

function certificateOf(keyInfo: Elemento | undefined): Certificate | { readonly problem: string } {
  const data = keyInfo && only(keyInfo, 'X509Data');
  const [element] = data?.children.filter(({ name }) => name === 'X509Certificate') ?? [];
  if (element === undefined)
    return { problem: 'Falta o certificado do assinante em KeyInfo/X509Data/X509Certificate.' };
  const certificate = readCertificate(Buffer.from(withoutSpace(element.text), 'base64'));
  if ('problem' in certificate)
    return { problem: `X509Certificate não contém um certificado legível: ${certificate.problem}` };
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') return { problem: 'A assinatura pede uma chave RSA.' };
  return certificate;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

function refused(mensagem: string): { readonly fault: Fault } {
  return { fault: { codigo: 'E902', xpath: '', mensagem } };
}
