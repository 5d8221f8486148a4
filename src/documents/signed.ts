/**
 * The XML signature of a document. It is enveloped, beside the signed element, with one Reference to its Id and the certificate in KeyInfo.
 * The profile names the accepted algorithms: exclusive C14N, RSA-SHA256 and SHA-256 in REST v1 (D-33), others at the national door (D-910).
 *
 * Digest and signature are checked over the canonical form of libxml2, from which the document was read too (`canonical.ts`). Every
 * difference is a fault with its place. The faults concern the places of the elements (`signature-shape.ts`), their contents
 * (`signature-parts.ts`), and near misses (`near-misses.ts`). `signer-faults.ts` judges the certificate.
 */
import { constants, hash, verify } from 'node:crypto';
import { describeFault, type Fault, type FaultText, quoted } from '../fiscal/fault.ts';
import { attributeOf, type Elemento } from '../fiscal/layout/tree.ts';
import { isInclusive, NATIONAL_SHA1 } from './algorithms.ts';
import { type Certificate, certificateOfText, readCertificate } from './certificate.ts';
import { type NearDigest, nearMissOfDigest, nearMissOfValue } from './near-misses.ts';
import { ordinarySignatureOf } from './ordinary-signature.ts';
import { describeOtherProfile } from './other-profile.ts';
import { checkReference, type Methods, type Parts, type ProfileLine, partsOf } from './signature-parts.ts';
import { type SignedProfile, shapeOf } from './signature-shape.ts';
import { INCLUSIVE_PREFIXES_MAX, type XmlDocumentReading } from './xml.ts';

export type SignatureReading = {
  /** E901, E902, E904 (unreadable) and E905; empty when the signature of the document is valid. */
  readonly faults: readonly Fault[];
  readonly certificate: Certificate | undefined;
  /** The bytes of SignatureValue. */
  readonly valor: Buffer | undefined;
  /** The compared texts, for answers that show them. Undefined: the check ended earlier. */
  readonly assinado: string | undefined;
  readonly signedInfo: string | undefined;
  readonly resumo: { readonly algoritmo: string; readonly declarado: string; readonly calculado: string } | undefined;
  readonly perfil: () => readonly ProfileLine[];
};

const NOTHING: Omit<SignatureReading, 'faults'> = {
  certificate: undefined,
  valor: undefined,
  assinado: undefined,
  signedInfo: undefined,
  resumo: undefined,
  perfil: () => [],
};

/**
 * Checks the signature of a document that was read. The certificate itself is not judged here. A signature that is right by other algorithms
 * has one fault, which names them.
 */
export function checkSignature(
  reading: XmlDocumentReading,
  profile: SignedProfile,
  findOrdinary = ordinarySignatureOf,
): SignatureReading {
  const opened = openSignature(reading, profile, findOrdinary);
  if (!('parts' in opened)) return { ...NOTHING, faults: opened.faults };
  const ofAlgorithms = opened.parts.faults.filter(({ xpath }) => OF_ALGORITHMS.test(xpath));
  const other = ofAlgorithms.length === 0 ? undefined : verifyByOthers(reading, profile);
  if (other === undefined) return verifySignature(reading, profile, opened);
  const perfil = (): readonly ProfileLine[] => opened.parts.profile;
  return { ...other, faults: [describeOtherProfile(ofAlgorithms, perfil(), profile)], perfil };
}

/** Places of faults that other algorithms explain. */
const OF_ALGORITHMS = /\/(?:@Algorithm|Transforms|@URI)$/;

/** A signature that is right by the algorithms it names; undefined: it is wrong, or they are none that any door accepts. */
function verifyByOthers(reading: XmlDocumentReading, profile: SignedProfile): SignatureReading | undefined {
  if (profile.accepted === NATIONAL_SHA1) return undefined;
  const wide = { ...profile, accepted: NATIONAL_SHA1 };
  const opened = openSignature(reading, wide, () => undefined);
  if (!('parts' in opened) || opened.parts.faults.length > 0) return undefined;
  const read = verifySignature(reading, wide, opened);
  return read.faults.length === 0 ? read : undefined;
}

type Opened = {
  readonly element: Elemento;
  readonly signature: Elemento;
  readonly parts: Parts;
  /** All lines of the profile. */
  readonly perfil: () => readonly ProfileLine[];
};

/** The signed element and the parts of its signature; only the faults unless that pair is clear. */
function openSignature(
  reading: XmlDocumentReading,
  profile: SignedProfile,
  findOrdinary: typeof ordinarySignatureOf,
): Opened | { readonly faults: readonly Fault[] } {
  const ordinary = findOrdinary(reading, profile);
  const shape = ordinary ?? shapeOf(reading, profile);
  const { element, signature } = shape;
  if (element === undefined || signature === undefined) return { faults: shape.faults };
  const lookInto = (): Parts => {
    const base = baseOf(reading);
    const found = partsOf(signature, base, profile.accepted);
    found.faults.unshift(...shape.faults);
    checkReference(found, attributeOf(element, 'Id'), profile, base);
    return found;
  };
  const parts = ordinary?.parts ?? lookInto();
  return { element, signature, parts, perfil: () => (ordinary === undefined ? parts : lookInto()).profile };
}

function baseOf({ root }: XmlDocumentReading): string {
  return `/${root.name}/Signature`;
}

/** Verifies digest and value; the faults are those of the parts, and these two. */
function verifySignature(
  reading: XmlDocumentReading,
  profile: SignedProfile,
  { element, signature, parts, perfil }: Opened,
): SignatureReading {
  const base = baseOf(reading);
  const { faults, methods } = parts;
  const assinado = contentOf(reading, methods, element, signature);
  const signedInfo = parts.signedInfo && formOf(reading, methods.ofInfo)?.canonicalOf(parts.signedInfo);
  if (assinado === undefined || (parts.signedInfo !== undefined && signedInfo === undefined)) {
    faults.push({ codigo: 'E902', xpath: base, ...NO_INCLUSIVE });
    return { ...NOTHING, faults, perfil };
  }
  const calculado = hash(methods.digesting.name, assinado, 'base64');
  const declarado = removeSpace(parts.digestValue?.text ?? '');
  const resumo = { algoritmo: methods.digesting.shown, declarado, calculado };
  if (parts.digestValue !== undefined && declarado !== calculado) {
    const near = nearMissOfDigest(reading, element, signature, declarado);
    faults.push({
      codigo: 'E902',
      xpath: `${base}/SignedInfo/Reference/DigestValue`,
      mensagem: sayDigest(profile, near),
      // The message explains a recognised habit completely.
      change: near?.change ?? adviseDigest(calculado, near !== undefined),
      encontrado: quoted(declarado),
      esperado: near?.esperado ?? calculado,
    });
  }

  const certificate = certificateOf(parts, base);
  const valor = parts.signatureValue && decodeValue(parts, base);
  if (certificate !== undefined && signedInfo !== undefined && valor !== undefined) {
    checkValue(reading, parts, { signedInfo, assinado, valor }, certificate, base);
  }
  return { faults, certificate, valor, assinado, signedInfo, resumo, perfil };
}

/** A canonicalisation of the document; undefined if its inclusive form is not made. */
function formOf(reading: XmlDocumentReading, form: string): ReturnType<XmlDocumentReading['inclusive']> {
  return isInclusive(form) ? reading.inclusive() : reading;
}

/** The text that the reference means. */
function contentOf(
  reading: XmlDocumentReading,
  { ofContent, isWhole }: Methods,
  element: Elemento,
  signature: Elemento,
): string | undefined {
  const form = formOf(reading, ofContent);
  return isWhole ? form?.rootWithout(signature) : form?.canonicalOf(element);
}

const NO_INCLUSIVE = describeFault(
  `A C14N inclusiva deste documento não se calcula: são aceitos até ${INCLUSIVE_PREFIXES_MAX} prefixos diferentes em xmlns:…, e endereços sem & < >;`,
  'retire as declarações que nada usa, ou assine com C14N exclusiva.',
);

/** A recognised habit left the content as it was signed. */
function sayDigest({ signed }: SignedProfile, near: NearDigest | undefined): string {
  const differs = `O resumo de ${signed} não confere`;
  if (near === undefined) return `${differs}: o conteúdo não é o que foi assinado. ${NO_NEAR_DIGEST}`;
  return near.isOfDeclaration ? near.mensagem : `${differs}. ${near.mensagem}`;
}

/** The correction of any DigestValue: the value that it must have. */
export function adviseDigest(calculado: string, isRecognised = false): string {
  const how = isRecognised
    ? 'é o SHA-256, em Base64, da forma canônica exclusiva de infDPS em UTF-8'
    : 'compare, byte a byte, o que o seu programa resume com a forma canônica (forma_canonica)';
  return `Para este conteúdo o DigestValue é ${calculado}: ${how}.`;
}

const NO_NEAR_DIGEST =
  'Algo mudou depois da assinatura (reindentação, outra codificação, um valor editado), ou o resumo foi calculado sobre outro texto. Assine por último e envie os bytes assinados; POST …/assinatura/verificacao mostra a forma canônica que resumimos.';

function certificateOf(parts: Parts, base: string): Certificate | undefined {
  const [element] = parts.certificates;
  if (element === undefined) return undefined;
  const known = certificateOfText(element.text);
  if (known?.publicKey.asymmetricKeyType === 'rsa') return known;
  const xpath = `${base}/KeyInfo/X509Data/X509Certificate`;
  const text = removeSpace(element.text);
  if (text === '') {
    const mensagem = 'X509Certificate está vazio: ponha nele o certificado do assinante, em DER e Base64.';
    const change = 'Ponha em X509Certificate o certificado do assinante, em DER e Base64.';
    parts.faults.push({ codigo: 'E905', xpath, mensagem, change });
    return undefined;
  }
  const refuse = (fault: FaultText): undefined => {
    parts.faults.push({ codigo: 'E904', xpath, ...fault, encontrado: quoted(text.slice(0, 40)) });
  };
  if (text.startsWith('-----BEGIN')) {
    const change = 'envie só o Base64 entre BEGIN e END, sem quebras de linha.';
    return refuse({
      mensagem: `X509Certificate traz o cabeçalho PEM; ${change}`,
      change: `Em X509Certificate: ${change}`,
    });
  }
  const bytes = decodeBase64(text);
  if (bytes === undefined)
    return refuse(describeFault('X509Certificate não é Base64;', 'ponha o certificado em DER, codificado em Base64.'));
  const certificate = readCertificate(bytes);
  if ('problem' in certificate) {
    const { problem, change } = certificate;
    const mensagem = `X509Certificate não contém um certificado legível: ${problem}`;
    return refuse({ mensagem, ...(change === undefined ? {} : { change: `Em X509Certificate: ${change}` }) });
  }
  const { asymmetricKeyType } = certificate.publicKey;
  if (asymmetricKeyType !== 'rsa')
    return refuse({ mensagem: `A chave do certificado é ${asymmetricKeyType}; a assinatura pede uma chave RSA.` });
  return certificate;
}

function decodeValue(parts: Parts, base: string): Buffer | undefined {
  const written = parts.signatureValue!.text;
  const value = decodeBase64(written) ?? decodeBase64(removeSpace(written));
  if (value === undefined) {
    const encontrado = quoted(written.trim());
    const mensagem =
      removeSpace(written) === ''
        ? 'SignatureValue está vazio: a assinatura não foi calculada.'
        : 'SignatureValue não está em Base64 (letras, dígitos, + e /, com = no fim se faltar para múltiplo de 4).';
    parts.faults.push({ codigo: 'E902', xpath: `${base}/SignatureValue`, mensagem, encontrado });
  }
  return value;
}

type Compared = { readonly signedInfo: string; readonly assinado: string; readonly valor: Buffer };

function checkValue(
  reading: XmlDocumentReading,
  parts: Parts,
  { signedInfo, assinado, valor }: Compared,
  certificate: Certificate,
  base: string,
): void {
  if (verifiesRsa(parts.methods.signing.name, signedInfo, valor, certificate)) return;
  const near = nearMissOfValue(reading, parts.signedInfo!, assinado, valor, certificate);
  const { mensagem: why, change } = near ?? NO_NEAR_VALUE;
  const mensagem = `O valor da assinatura não confere com SignedInfo e o certificado de ${nameOf(certificate)}. ${why}`;
  parts.faults.push({ codigo: 'E902', xpath: `${base}/SignatureValue`, mensagem, change: change ?? why });
}

const NO_NEAR_VALUE: FaultText = describeFault(
  'SignedInfo não foi assinado com a chave deste certificado, ou SignatureValue foi alterado depois.',
  'Ponha em KeyInfo o certificado que é par da chave que assina, e assine com RSA-SHA256.',
);

/** The CN without the part behind the last colon: a person's certificate has the CPF there. */
export function nameOf({ titular }: Certificate): string {
  return titular.replace(/:[^:]*$/, '');
}

/** `digest`: name for `node:crypto`. */
export function verifiesRsa(
  digest: string,
  text: string,
  signature: Uint8Array,
  { publicKey }: Pick<Certificate, 'publicKey'>,
): boolean {
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PADDING };
  return verify(digest, Buffer.from(text, 'utf8'), key, signature);
}

function removeSpace(text: string): string {
  return text.replace(/[ \t\n\r]+/g, '');
}

/** Decodes canonical Base64 alone: two texts of the same bytes would be two signatures of one document. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : undefined;
}
