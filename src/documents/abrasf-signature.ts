/**
 * Signatures inside ABRASF documents: of the lot, of each RPS, of the request of a cancellation. Each stands beside the element that it
 * signs. A lot has signatures within signed elements, so one pair is judged at a time.
 *
 * The profile is that of the DPS (`signed.ts`). A municipality may also allow the profile of 2008: RSA-SHA1 with inclusive canonicalisation
 * (D-70), and a reference to the whole document, for clients whose lots have no `Id` (D-33).
 */
import { constants, hash, verify } from 'node:crypto';
import { type Fault, quoted } from '../fiscal/fault.ts';
import { attributeOf, type Elemento } from '../fiscal/layout/tree.ts';
import { ownOf } from '../fiscal/own.ts';
import { ENVELOPED, EXCLUSIVE, INCLUSIVE, XML_DIGESTS, XML_SIGNATURES, type XmlAlgorithm } from './algorithms.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { DSIG, isSignature } from './signature-shape.ts';
import { INCLUSIVE_PREFIXES_MAX, type XmlDocumentReading } from './xml.ts';

/** The fault of a signature; or its certificate, and `check`, which verifies it. */
export type AbrasfSignature =
  | { readonly fault: Fault }
  | { readonly certificate: Certificate; readonly check: () => Fault | undefined };

export type AbrasfSignatureOptions = {
  /** True: the municipality allows RSA-SHA1 and inclusive canonicalisation (`soap_sha1`). */
  readonly allowsSha1: boolean;
};

/** The signatures of one document. */
export type AbrasfSignatures = {
  /**
   * The signature beside an element in its parent; undefined when there is none. Nothing is digested before `check`: the signer can be
   * judged first, and a stranger's signature costs no more than its parsing. A duplicate Id is refused: the reference could mean either
   * element.
   */
  beside(parent: Elemento, signed: Elemento): AbrasfSignature | undefined;
};

/** A signature has some twenty elements and a certificate of three thousand characters. */
const ELEMENTS_MAX = 64;
const CHARACTERS_MAX = 32 * 1024;

type Context = {
  readonly reading: XmlDocumentReading;
  readonly allowsSha1: boolean;
  /** The number of elements with an identifier. */
  readonly countOfId: (id: string) => number;
  readonly certificateOf: (keyInfo: Elemento | undefined) => Certificate | Problem;
};

/** Opens the signatures of a document. Identifiers and certificates are read once for all of its signatures. */
export function abrasfSignatures(
  reading: XmlDocumentReading,
  { allowsSha1 }: AbrasfSignatureOptions,
): AbrasfSignatures {
  let ids: ReadonlyMap<string, number> | undefined;
  const certificates = new Map<string, Certificate | Problem>();
  const context: Context = {
    reading,
    allowsSha1,
    countOfId: (id) => {
      ids ??= idsIn(reading.root);
      return ids.get(id) ?? 0;
    },
    certificateOf: (keyInfo) => {
      const text = certificateTextOf(keyInfo);
      const certificate = certificates.get(text) ?? readCertificateText(text);
      certificates.set(text, certificate);
      return certificate;
    },
  };
  return {
    beside: (parent, signed) => {
      const signatures = parent.children.filter(isSignature);
      const [signature] = signatures;
      if (signature === undefined) return undefined;
      if (signatures.length > 1)
        return refuse(`${parent.name} traz ${signatures.length} assinaturas; deve trazer uma.`);
      const excess = excessIn(signature);
      return excess === undefined ? judgeArrangement(context, { parent, signed, signature }) : refuse(excess);
    },
  };
}

type Pair = { readonly parent: Elemento; readonly signed: Elemento; readonly signature: Elemento };
type Problem = { readonly problem: string };

/** The reason why a signature is too large. */
function excessIn(signature: Elemento): string | undefined {
  let [elements, characters] = [0, 0];
  const walk = ({ children, text, attributes }: Elemento): boolean => {
    elements += 1;
    characters += attributes.reduce((sum, { value }) => sum + value.length, text.length);
    return elements <= ELEMENTS_MAX && characters <= CHARACTERS_MAX && children.every(walk);
  };
  if (walk(signature)) return undefined;
  return `Signature traz mais do que uma assinatura tem (até ${ELEMENTS_MAX} elementos e ${CHARACTERS_MAX} caracteres). Deixe nela só SignedInfo, SignatureValue e KeyInfo com o certificado do assinante.`;
}

function judgeArrangement(context: Context, { parent, signed, signature }: Pair): AbrasfSignature {
  const parts = partsOf(signature);
  if (typeof parts === 'string') return refuse(parts);
  const { reading, allowsSha1 } = context;
  const isWhole = attributeOf(parts.reference, 'URI') === '' && allowsSha1 && mayBeWhole(reading, parent);
  const misplaced = isWhole ? undefined : referenceProblem(context, signed, parts);
  if (misplaced !== undefined) return refuse(misplaced);
  const methods = methodsOf(parts, allowsSha1);
  if (typeof methods === 'string') return refuse(methods);
  const certificate = context.certificateOf(onlyChild(signature, 'KeyInfo'));
  if ('problem' in certificate) return refuse(certificate.problem);
  if (methods.form === INCLUSIVE && !allowsSha1) return refuse('Falta a transformação C14N exclusiva na Reference.');
  if (isWhole && !transformsOf(parts.reference).includes(ENVELOPED)) {
    return refuse('Uma Reference ao documento inteiro leva a transformação enveloped-signature.');
  }
  const content: Content = (form) => (isWhole ? form?.rootWithout(signature) : form?.canonicalOf(signed));
  return { certificate, check: () => check(reading, { parts, methods, content, signed }, certificate) };
}

type Parts = Exclude<ReturnType<typeof partsOf>, string>;

/** The elements of a signature, or the fault of a missing one. */
function partsOf(signature: Elemento) {
  const [signedInfo, signatureValue] = [onlyChild(signature, 'SignedInfo'), onlyChild(signature, 'SignatureValue')];
  if (signedInfo === undefined || signatureValue === undefined) return 'A assinatura está incompleta.';
  const [canonicalization, method, reference] = ['CanonicalizationMethod', 'SignatureMethod', 'Reference'].map((name) =>
    onlyChild(signedInfo, name),
  );
  const digestMethod = reference && onlyChild(reference, 'DigestMethod');
  const digestValue = reference && onlyChild(reference, 'DigestValue');
  return canonicalization && method && reference && digestMethod && digestValue
    ? { signedInfo, signatureValue, canonicalization, method, reference, digestMethod, digestValue }
    : 'SignedInfo está incompleto, ou tem mais de uma Reference.';
}

/** The fault of a reference that does not name the signed element alone. */
function referenceProblem(
  { allowsSha1, countOfId }: Context,
  signed: Elemento,
  { reference }: Parts,
): string | undefined {
  const [id, uri] = [attributeOf(signed, 'Id'), attributeOf(reference, 'URI')];
  if (id === undefined || id === '') {
    const also = allowsSha1 ? ' (ou use URI="" no documento inteiro, com enveloped-signature)' : '';
    return `${signed.name} não tem o atributo Id a que a assinatura se refere. Dê-lhe um Id e assine de novo${also}.`;
  }
  if (uri !== `#${id}`) return `A Reference aponta "${quoted(uri ?? '')}", e deve apontar "#${quoted(id)}".`;
  return countOfId(id) > 1 ? `O identificador "${quoted(id)}" está em mais de um elemento.` : undefined;
}

/** `form`: the canonical form of the content; `ofInfo`: that of SignedInfo. */
type Methods = {
  readonly signing: XmlAlgorithm;
  readonly digesting: XmlAlgorithm;
  readonly form: string;
  readonly ofInfo: string;
};

function methodsOf(
  { canonicalization, method, reference, digestMethod }: Parts,
  allowsSha1: boolean,
): Methods | string {
  const signing = ownOf(XML_SIGNATURES, algorithmOf(method));
  const digesting = ownOf(XML_DIGESTS, algorithmOf(digestMethod));
  const ofInfo = algorithmOf(canonicalization);
  const transforms = transformsOf(reference).filter((one) => one !== ENVELOPED);
  const forms = [ofInfo, ...transforms];
  const isKnown = transforms.length <= 1 && forms.every((one) => one === EXCLUSIVE || one === INCLUSIVE);
  const isOld = signing?.isOld === true || digesting?.isOld === true || forms.includes(INCLUSIVE);
  if (signing === undefined || digesting === undefined || !isKnown || (isOld && !allowsSha1)) {
    const also = allowsSha1 ? ', ou RSA-SHA1 com SHA-1 e C14N inclusiva' : '';
    return `Os algoritmos da assinatura não são os aceitos: RSA-SHA256, SHA-256 e C14N exclusiva${also}.`;
  }
  // Elements inside an algorithm, such as a list of prefixes, would change the signed content.
  const all = [canonicalization, method, digestMethod, ...transformElements(reference)];
  if (all.some(({ children }) => children.length > 0)) {
    return 'Um algoritmo da assinatura traz elementos que não se aceitam; configure a C14N sem lista de prefixos.';
  }
  // XML Signature canonicalises inclusively when no transformation says otherwise.
  return { signing, digesting, form: transforms[0] ?? INCLUSIVE, ofInfo };
}

type Form = ReturnType<XmlDocumentReading['inclusive']> | XmlDocumentReading;
/** The signed content in a canonical form. */
type Content = (form: Form) => string | undefined;

type Checked = {
  readonly parts: Parts;
  readonly methods: Methods;
  readonly content: Content;
  readonly signed: Elemento;
};

function check(
  reading: XmlDocumentReading,
  { parts, methods, content, signed }: Checked,
  { publicKey }: Certificate,
): Fault | undefined {
  const { signedInfo, signatureValue, digestValue } = parts;
  const { signing, digesting, form, ofInfo } = methods;
  const formOf = (one: string): Form => (one === EXCLUSIVE ? reading : reading.inclusive());
  const [digested, text] = [content(formOf(form)), formOf(ofInfo)?.canonicalOf(signedInfo)];
  if (digested === undefined || text === undefined) {
    const limit = `até ${INCLUSIVE_PREFIXES_MAX} prefixos diferentes em xmlns:…, e endereços sem & < >`;
    return refuse(`A C14N inclusiva deste documento não se calcula: são aceitos ${limit}.`).fault;
  }
  if (hash(digesting.digest.name, digested, 'base64') !== withoutSpace(digestValue.text)) {
    return refuse(`O resumo de ${signed.name} não confere: o conteúdo não é o que foi assinado.`).fault;
  }
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PADDING };
  const value = Buffer.from(withoutSpace(signatureValue.text), 'base64');
  return verify(signing.digest.name, Buffer.from(text, 'utf8'), key, value)
    ? undefined
    : refuse('O valor da assinatura não confere com SignedInfo e o certificado.').fault;
}

/**
 * True when a signature may refer to the whole document: that of the document itself, outside any envelope. There may be hundreds of RPS,
 * and each digest of the whole would cost as much as the document.
 */
function mayBeWhole(reading: XmlDocumentReading, parent: Elemento): boolean {
  const { root } = reading;
  const isOwn = parent === root || (parent.name === 'Pedido' && root.children.includes(parent));
  return isOwn && root.name !== 'Envelope' && reading.strayMarkup() === undefined;
}

function onlyChild(parent: Elemento, name: string): Elemento | undefined {
  const found = parent.children.filter((child) => child.name === name && child.namespace === DSIG);
  return found.length === 1 ? found[0] : undefined;
}

function transformElements(reference: Elemento): readonly Elemento[] {
  return onlyChild(reference, 'Transforms')?.children ?? [];
}

function transformsOf(reference: Elemento): readonly string[] {
  return transformElements(reference).map(algorithmOf);
}

function algorithmOf(element: Elemento): string {
  return attributeOf(element, 'Algorithm') ?? '';
}

/** The number of elements with each identifier, in any case of its attribute's name. */
function idsIn(root: Elemento): ReadonlyMap<string, number> {
  const ids = new Map<string, number>();
  const walk = ({ attributes, children }: Elemento): void => {
    const own = new Set(attributes.flatMap(({ name, value }) => (/^id$/i.test(name) ? [value] : [])));
    for (const id of own) ids.set(id, (ids.get(id) ?? 0) + 1);
    children.forEach(walk);
  };
  walk(root);
  return ids;
}

/** Empty text: there is no certificate. */
function certificateTextOf(keyInfo: Elemento | undefined): string {
  const data = keyInfo && onlyChild(keyInfo, 'X509Data');
  const [element] = data?.children.filter(({ name }) => name === 'X509Certificate') ?? [];
  return element?.text ?? '';
}

function readCertificateText(text: string): Certificate | Problem {
  if (text === '') return { problem: 'Falta o certificado do assinante em KeyInfo/X509Data/X509Certificate.' };
  const certificate = readCertificate(Buffer.from(withoutSpace(text), 'base64'));
  if ('problem' in certificate)
    return { problem: `X509Certificate não contém um certificado legível: ${certificate.problem}` };
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') return { problem: 'A assinatura pede uma chave RSA.' };
  return certificate;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

function refuse(mensagem: string): { readonly fault: Fault } {
  return { fault: { codigo: 'E902', xpath: '', mensagem } };
}
