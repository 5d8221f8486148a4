/**
 * The XML signature, in the one profile of the specification and no other (D-33): enveloped beside the signed element,
 * one Reference to its Id, exclusive C14N, RSA-SHA256, SHA-256, the certificate in KeyInfo.
 *
 * Digest and signature are checked over the canonical form that libxml2 wrote, which is also what the document was
 * read from (`canonical.ts`). Everything that differs is told, each with its place; what nearly fits is told as such
 * (`near-misses.ts`). Whether the certificate is good, and whose it is, is `certificateFaults` here; what to do about
 * a fault is decided elsewhere.
 */
import { constants, hash, verify } from 'node:crypto';
import { type Fault, quoted, type Told, told } from '../fiscal/fault.ts';
import { SIGNATURE_NAMESPACE } from '../fiscal/layout/read.ts';
import { attributeOf, type Elemento } from '../fiscal/layout/tree.ts';
import { ownOf } from '../fiscal/own.ts';
import { ENVELOPED, REQUIRED, URI_NAMES } from './algorithms.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { nearMissOfDigest, nearMissOfValue } from './near-misses.ts';
import type { XmlDocumentReading } from './xml.ts';

export const DSIG = SIGNATURE_NAMESPACE;

/** Which element of which document is signed. */
export type SignedProfile = { readonly root: string; readonly signed: string };

export const DPS_PROFILE: SignedProfile = { root: 'DPS', signed: 'infDPS' };
export const NFSE_PROFILE: SignedProfile = { root: 'NFSe', signed: 'infNFSe' };
export const EVENTO_PROFILE: SignedProfile = { root: 'evento', signed: 'infEvento' };

/** One thing that the profile fixes, as it was found. */
type ProfileLine = { readonly onde: string; readonly encontrado: string; readonly exigido: string };

export type SignatureReading = {
  /** E901, E902, E904 (unreadable) and E905; empty when the signature holds over the document. */
  readonly faults: readonly Fault[];
  readonly certificate: Certificate | undefined;
  /** The bytes of SignatureValue. */
  readonly valor: Buffer | undefined;
  /** What was compared, for whoever wants to see it. Undefined where it was not reached. */
  readonly assinado: string | undefined;
  readonly signedInfo: string | undefined;
  readonly resumo: { readonly declarado: string; readonly calculado: string } | undefined;
  readonly perfil: readonly ProfileLine[];
};

const NOTHING: Omit<SignatureReading, 'faults'> = {
  certificate: undefined,
  valor: undefined,
  assinado: undefined,
  signedInfo: undefined,
  resumo: undefined,
  perfil: [],
};

/** Checks the signature of a document that was read. The certificate itself is not judged here. */
export function checkSignature(reading: XmlDocumentReading, profile: SignedProfile): SignatureReading {
  const { root } = reading;
  const shape = shapeOf(reading, profile);
  const { element, signature } = shape;
  // What else is wrong is told together with the shape, where it is plain which signature is meant to be of which element.
  if (element === undefined || signature === undefined) return { ...NOTHING, faults: shape.faults };
  const base = `/${root.name}/Signature`;
  const parts = partsOf(signature, base);
  const { faults } = parts;
  faults.unshift(...shape.faults);
  const id = attributeOf(element, 'Id');
  referenceFaults(parts, id, profile, base);

  const assinado = reading.canonicalOf(element);
  const calculado = hash('sha256', assinado, 'base64');
  const declarado = withoutSpace(parts.digestValue?.text ?? '');
  const resumo = { declarado, calculado };
  if (parts.digestValue !== undefined && declarado !== calculado) {
    const near = nearMissOfDigest(reading, element, signature, declarado);
    faults.push({
      codigo: 'E902',
      xpath: `${base}/SignedInfo/Reference/DigestValue`,
      mensagem: `O resumo de ${profile.signed} não confere: o conteúdo não é o que foi assinado. ${near ?? NO_NEAR_DIGEST}`,
      // Of a habit that was recognised the message tells all.
      change: digestIs(calculado, near !== undefined),
      encontrado: quoted(declarado),
      esperado: calculado,
    });
  }

  const certificate = certificateOf(parts, base);
  const signedInfo = parts.signedInfo && reading.canonicalOf(parts.signedInfo);
  const valor = parts.signatureValue && decodedValue(parts, base);
  if (certificate !== undefined && signedInfo !== undefined && valor !== undefined) {
    valueFaults(reading, parts, { signedInfo, assinado, valor }, certificate, base);
  }
  return { faults, certificate, valor, assinado, signedInfo, resumo, perfil: parts.profile };
}

/** A step for whoever asks what to change: whatever is wrong with DigestValue, this is what it must be. */
export function digestIs(calculado: string, isRecognised = false): string {
  const how = isRecognised
    ? 'é o SHA-256, em Base64, da forma canônica exclusiva de infDPS em UTF-8'
    : 'compare, byte a byte, o que o seu programa resume com a forma canônica (forma_canonica)';
  return `Para este conteúdo o DigestValue é ${calculado}: ${how}.`;
}

const NO_NEAR_DIGEST =
  'Algo mudou depois da assinatura (reindentação, outra codificação, um valor editado), ou o resumo foi calculado sobre outro texto. Assine por último e envie os bytes assinados; POST …/assinatura/verificacao mostra a forma canônica que resumimos.';

/** A document may have sixty thousand elements, each of them in a wrong place. */
const SHAPE_FAULTS_MAX = 20;
const NESTED_TOLD_MAX = 5;

type Shape = {
  readonly faults: readonly Fault[];
  /** The one signed element and its one signature; undefined when there is none, or another one anywhere. */
  readonly element?: Elemento | undefined;
  readonly signature?: Elemento | undefined;
};

/** Where things stand: one signed element and one signature, side by side, and nothing else. */
function shapeOf(reading: XmlDocumentReading, { root: rootName, signed }: SignedProfile): Shape {
  const { root } = reading;
  const base = `/${root.name}`;
  const faults: Fault[] = [];
  const refuse = (xpath: string, fault: Omit<Fault, 'codigo' | 'xpath'>): void => {
    if (faults.length < SHAPE_FAULTS_MAX) faults.push({ codigo: 'E902', xpath, ...fault });
  };
  const elements = root.children.filter((child) => child.name === signed);
  const signatures = root.children.filter(isSignature);
  const nested: { readonly path: string; readonly what: 'signature' | 'signed' }[] = [];
  let hasSignature = false;
  const ids = new Map<string, readonly Elemento[]>();
  /** From the root to where the walk is. */
  const trail: Elemento[] = [];
  const walk = (element: Elemento): void => {
    trail.push(element);
    for (const { name, value } of element.attributes) {
      if (!/^id$/i.test(name)) continue;
      const before = ids.get(value);
      if (before === undefined) ids.set(value, trail.slice());
      else if (faults.length < SHAPE_FAULTS_MAX) {
        const here = pathOf(trail);
        const mensagem = `O identificador ${quoted(value)} aparece em dois elementos: ${pathOf(before)} e ${here}.`;
        const change = `Dê a cada elemento um identificador só seu; o de ${signed} é o que se assina.`;
        refuse(here, { mensagem, change });
      }
    }
    const isOne = trail.length > 1 && isSignature(element);
    hasSignature ||= isOne;
    if (trail.length > 2 && (isOne || element.name === signed) && nested.length < NESTED_TOLD_MAX) {
      nested.push({ path: pathOf(trail), what: isOne ? 'signature' : 'signed' });
    }
    for (const child of element.children) walk(child);
    trail.pop();
  };
  walk(root);

  if (!hasSignature) {
    const other = root.children.find((child) => child.name === 'Signature');
    const mensagem =
      other === undefined
        ? `O documento não está assinado: falta o elemento Signature depois de ${signed}, dentro de ${rootName}.`
        : `O elemento Signature não é uma assinatura XML: o seu espaço de nomes deve ser ${DSIG}.`;
    return { faults: [{ codigo: 'E901', xpath: `${base}/Signature`, mensagem, ...given(other?.namespace) }] };
  }
  const onlyOne = `Deixe um só ${signed}, diretamente dentro de ${rootName}.`;
  for (const { path, what } of nested) {
    const fault =
      what === 'signature'
        ? {
            mensagem: `A assinatura está em ${path}; o seu lugar é depois de ${signed}, dentro de ${rootName}, e só uma é aceita.`,
            change: `Ponha a assinatura depois de ${signed}, dentro de ${rootName}, e só ali.`,
          }
        : {
            mensagem: `Há um ${signed} em ${path}; o documento só pode ter um, diretamente dentro de ${rootName}.`,
            change: onlyOne,
          };
    refuse(path, fault);
  }
  if (elements.length !== 1) {
    const found = elements.length === 0 ? 'nenhum' : `${elements.length}`;
    const xpath = elements.length === 0 ? `${base}/${signed}` : `${base}/${signed}[2]`;
    refuse(xpath, { mensagem: `O documento assinado deve ter um só ${signed}, e traz ${found}.`, change: onlyOne });
  }
  if (signatures.length > 1) {
    const mensagem = `O documento deve ter uma só Signature, e traz ${signatures.length}.`;
    refuse(`${base}/Signature[2]`, { mensagem, change: 'Deixe uma só Signature: a do prestador.' });
  }
  for (const child of root.children) {
    if (child.name === signed || isSignature(child)) continue;
    if (faults.length >= SHAPE_FAULTS_MAX) break;
    const mensagem = `O elemento ${child.name} está fora do que a assinatura cobre: dentro de ${rootName} só podem vir ${signed} e Signature.`;
    const change = `Tire ${child.name} de ${rootName}.`;
    refuse(pathOf([root, child]), { mensagem, change, encontrado: quoted(child.name) });
  }
  const [element] = elements;
  const [signature] = signatures;
  if (element !== undefined && signature !== undefined && signature.index < element.index) {
    const found = `A Signature está antes de ${signed}; o seu lugar é depois dele.`;
    const change = `Ponha Signature no fim de ${rootName}: a mudança de lugar não desfaz a assinatura.`;
    refuse(`${base}/Signature`, { ...told(found, change), kind: 'signature_misplaced' });
  }
  if (!isBlank(root.text))
    refuse(base, { mensagem: `Há texto solto em ${rootName}, fora do que a assinatura cobre; retire-o.` });
  const stray = reading.strayMarkup();
  if (stray !== undefined) {
    const { what, change } = STRAY[stray.kind];
    const mensagem = `O documento traz ${what}, que a assinatura não cobre; retire antes de assinar.`;
    refuse('', { mensagem, change, ...stray.position });
  }
  const other = element?.attributes.find(
    ({ name, namespace }) => /^id$/i.test(name) && (name !== 'Id' || namespace !== ''),
  );
  if (other !== undefined) {
    const mensagem = `${signed} traz, além de Id, o atributo ${other.name}, que outros programas tomariam pelo identificador; retire-o.`;
    refuse(`${base}/${signed}/@${other.name}`, { mensagem, encontrado: quoted(other.value) });
  }
  const isAlone = elements.length === 1 && signatures.length === 1 && nested.length === 0;
  return isAlone ? { faults, element, signature } : { faults };
}

const STRAY = {
  comentário: { what: 'um comentário', change: 'Tire todo comentário do documento.' },
  'instrução de processamento': {
    what: 'uma instrução de processamento',
    change: 'Tire toda instrução de processamento do documento (<?…?>, menos a declaração <?xml …?>).',
  },
} as const;

/** Where an element stands, as XPath; with its position wherever it has siblings of its name. */
function pathOf(trail: readonly Elemento[]): string {
  const steps = trail.map((element, depth) => {
    const twins = trail[depth - 1]?.children.filter(({ name }) => name === element.name) ?? [];
    return twins.length > 1 ? `${element.name}[${twins.indexOf(element) + 1}]` : element.name;
  });
  return `/${steps.join('/')}`;
}

type Parts = {
  readonly faults: Fault[];
  readonly profile: ProfileLine[];
  signedInfo: Elemento | undefined;
  reference: Elemento | undefined;
  digestValue: Elemento | undefined;
  signatureValue: Elemento | undefined;
  certificates: readonly Elemento[];
};

/** The elements of a signature, and what is wrong with their arrangement and algorithms. */
function partsOf(signature: Elemento, base: string): Parts {
  const parts: Parts = {
    faults: [],
    profile: [],
    signedInfo: undefined,
    reference: undefined,
    digestValue: undefined,
    signatureValue: undefined,
    certificates: [],
  };
  const { faults } = parts;
  const [signedInfo, signatureValue, keyInfo] = childrenOf(
    signature,
    base,
    ['SignedInfo', 'SignatureValue', 'KeyInfo'],
    ['Id'],
    faults,
  );
  parts.signatureValue = signatureValue;
  if (signatureValue !== undefined) leaf(signatureValue, `${base}/SignatureValue`, ['Id'], faults);
  if (signedInfo !== undefined) signedInfoOf(signedInfo, `${base}/SignedInfo`, parts);
  keyInfoOf(keyInfo, `${base}/KeyInfo`, parts);
  return parts;
}

function signedInfoOf(signedInfo: Elemento, base: string, parts: Parts): void {
  const { faults } = parts;
  const names = ['CanonicalizationMethod', 'SignatureMethod', 'Reference'];
  const [canonicalization, method, reference] = childrenOf(signedInfo, base, names, ['Id'], faults);
  if (canonicalization === undefined || method === undefined || reference === undefined) return;
  parts.signedInfo = signedInfo;
  parts.reference = reference;
  algorithm(canonicalization, base, REQUIRED.CanonicalizationMethod, parts);
  algorithm(method, base, REQUIRED.SignatureMethod, parts);
  const place = `${base}/Reference`;
  const members = ['Transforms', 'DigestMethod', 'DigestValue'];
  const [transforms, digestMethod, digestValue] = childrenOf(reference, place, members, ['URI', 'Id'], faults);
  if (transforms !== undefined) transformFaults(transforms, `${place}/Transforms`, parts);
  if (digestMethod !== undefined) algorithm(digestMethod, place, REQUIRED.DigestMethod, parts);
  if (digestValue !== undefined) leaf(digestValue, `${place}/DigestValue`, [], faults);
  parts.digestValue = digestValue;
}

const WITHOUT_PREFIXES = 'configure a C14N exclusiva sem lista de prefixos.';

/** Transformations that a message names; two are right. */
const TRANSFORMS_TOLD_MAX = 6;

/** Enveloped-signature and then exclusive C14N, or the latter alone. */
function transformFaults(transforms: Elemento, base: string, parts: Parts): void {
  const found = transforms.children.map((child) => attributeOf(child, 'Algorithm') ?? '');
  const wanted = 'enveloped-signature e depois C14N exclusiva, ou só C14N exclusiva';
  const named = found.slice(0, TRANSFORMS_TOLD_MAX).map(algorithmName);
  const more = found.length > named.length ? ` e mais ${found.length - named.length}` : '';
  const line = { onde: base, encontrado: `${named.join(', ') || 'nenhuma'}${more}`, exigido: wanted };
  parts.profile.push(line);
  const [first, second] = found;
  const exclusive = REQUIRED.CanonicalizationMethod;
  const fits =
    (found.length === 1 && first === exclusive) || (found.length === 2 && first === ENVELOPED && second === exclusive);
  const isPlain = transforms.children.every(
    (child) =>
      child.name === 'Transform' &&
      child.namespace === DSIG &&
      child.children.length === 0 &&
      isBlank(child.text) &&
      child.attributes.length === 1,
  );
  if (fits && isPlain && transforms.attributes.length === 0 && isBlank(transforms.text)) return;
  const extra = transforms.children.find((child) => child.children.length > 0)?.children[0];
  const said = fits
    ? {
        mensagem: `As transformações são as certas, mas trazem ${extra?.name ?? 'texto, atributos ou elementos'} que não se aceita; ${WITHOUT_PREFIXES}`,
        change: `Em Transforms: ${WITHOUT_PREFIXES}`,
      }
    : {
        mensagem: `As transformações da Reference são ${line.encontrado}; as aceitas são ${wanted}.`,
        change: `Em Transforms ponha, nesta ordem: ${ENVELOPED} e ${exclusive}.`,
      };
  parts.faults.push({
    codigo: 'E902',
    xpath: base,
    ...said,
    encontrado: quoted(found.join(' ')),
    esperado: `${ENVELOPED} ${exclusive}`,
  });
}

function keyInfoOf(keyInfo: Elemento | undefined, base: string, parts: Parts): void {
  const data = keyInfo?.children.filter((child) => child.name === 'X509Data' && child.namespace === DSIG) ?? [];
  parts.certificates = data.flatMap((one) =>
    one.children.filter((child) => child.name === 'X509Certificate' && child.namespace === DSIG),
  );
  const xpath = `${base}/X509Data/X509Certificate`;
  if (parts.certificates.length === 0) {
    const instead = keyInfo?.children.map(({ name }) => name).join(', ');
    const problem = keyInfo === undefined ? 'Falta KeyInfo' : `KeyInfo traz ${instead || 'nada'} e não o certificado`;
    const change =
      'ponha o certificado do assinante em KeyInfo/X509Data/X509Certificate, em DER e Base64, sem cabeçalhos nem quebras de linha.';
    parts.faults.push({ codigo: 'E905', xpath, ...told(`${problem}:`, change) });
    return;
  }
  const strange = [...keyInfo!.children, ...data.flatMap(({ children }) => children)].find(
    (child) => !['X509Data', 'X509Certificate'].includes(child.name) || child.namespace !== DSIG,
  );
  if (strange !== undefined || parts.certificates.length > 1 || data.length > 1) {
    const found = strange === undefined ? `${parts.certificates.length} certificados` : strange.name;
    const mensagem = `KeyInfo deve trazer só o certificado do assinante, em um X509Data com um X509Certificate; há ${found}.`;
    parts.faults.push({ codigo: 'E902', xpath: base, mensagem, encontrado: quoted(found) });
    if (parts.certificates.length > 1) parts.certificates = [];
  }
  const certificate = parts.certificates[0];
  if (certificate !== undefined) leaf(certificate, xpath, [], parts.faults);
  for (const element of [keyInfo!, ...data]) onlyAttributes(element, base, ['Id'], parts.faults);
  if ([keyInfo!, ...data].some(({ text }) => !isBlank(text))) {
    parts.faults.push({ codigo: 'E902', xpath: base, mensagem: 'Há texto solto em KeyInfo; retire-o.' });
  }
}

function algorithm(element: Elemento, parent: string, exigido: string, parts: Parts): void {
  const onde = `${parent}/${element.name}`;
  const encontrado = attributeOf(element, 'Algorithm') ?? '';
  parts.profile.push({ onde, encontrado, exigido });
  if (encontrado !== exigido) {
    const found = encontrado === '' ? 'Falta o atributo Algorithm' : `O algoritmo é ${algorithmName(encontrado)}`;
    const mensagem = `${found} em ${element.name}${spellingOf(encontrado, exigido)}; o aceito é ${algorithmName(exigido)} (${exigido}).`;
    parts.faults.push({
      codigo: 'E902',
      xpath: `${onde}/@Algorithm`,
      mensagem,
      change: `Em ${element.name} ponha Algorithm="${exigido}".`,
      encontrado: quoted(encontrado),
      esperado: exigido,
    });
    return;
  }
  const [inside] = element.children;
  if (inside !== undefined || !isBlank(element.text)) {
    const what = inside === undefined ? 'texto' : inside.name;
    const mensagem = `${element.name} traz ${what}, que não é aceito; ${WITHOUT_PREFIXES}`;
    const change = `Em ${element.name}: ${WITHOUT_PREFIXES}`;
    parts.faults.push({ codigo: 'E902', xpath: onde, mensagem, change, encontrado: quoted(what) });
  }
  onlyAttributes(element, onde, ['Algorithm'], parts.faults);
}

/** The Reference names the signed element by its Id, and nothing else. */
function referenceFaults(parts: Parts, id: string | undefined, { signed }: SignedProfile, base: string): void {
  const { reference, faults } = parts;
  if (id === undefined || id === '') {
    const mensagem = `${signed} não tem o atributo Id, e a assinatura não tem a que se referir.`;
    faults.push({ codigo: 'E902', xpath: `${base.replace(/\/Signature$/, '')}/${signed}/@Id`, mensagem });
    return;
  }
  if (reference === undefined) return;
  const found = attributeOf(reference, 'URI');
  const wanted = `#${id}`;
  const xpath = `${base}/SignedInfo/Reference/@URI`;
  parts.profile.push({ onde: xpath, encontrado: found ?? '', exigido: wanted });
  if (found === wanted) return;
  const problem =
    found === undefined
      ? 'A Reference não tem URI'
      : found === ''
        ? 'A Reference tem URI vazia, isto é, aponta o documento inteiro'
        : `A Reference aponta ${quoted(found)}`;
  const mensagem = `${problem}; deve apontar o Id de ${signed}: ${quoted(wanted)}.`;
  const change = `Na Reference ponha URI="${quoted(wanted)}".`;
  faults.push({ codigo: 'E902', xpath, mensagem, change, encontrado: quoted(found ?? ''), esperado: quoted(wanted) });
}

function certificateOf(parts: Parts, base: string): Certificate | undefined {
  const [element] = parts.certificates;
  if (element === undefined) return undefined;
  const xpath = `${base}/KeyInfo/X509Data/X509Certificate`;
  const text = withoutSpace(element.text);
  if (text === '') {
    const mensagem = 'X509Certificate está vazio: ponha nele o certificado do assinante, em DER e Base64.';
    const change = 'Ponha em X509Certificate o certificado do assinante, em DER e Base64.';
    parts.faults.push({ codigo: 'E905', xpath, mensagem, change });
    return undefined;
  }
  const refuse = (fault: Told): undefined => {
    parts.faults.push({ codigo: 'E904', xpath, ...fault, encontrado: quoted(text.slice(0, 40)) });
  };
  if (text.startsWith('-----BEGIN')) {
    const change = 'envie só o Base64 entre BEGIN e END, sem quebras de linha.';
    return refuse({
      mensagem: `X509Certificate traz o cabeçalho PEM; ${change}`,
      change: `Em X509Certificate: ${change}`,
    });
  }
  const bytes = base64Of(text);
  if (bytes === undefined)
    return refuse(told('X509Certificate não é Base64;', 'ponha o certificado em DER, codificado em Base64.'));
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

function decodedValue(parts: Parts, base: string): Buffer | undefined {
  const text = withoutSpace(parts.signatureValue!.text);
  const value = base64Of(text);
  if (value === undefined) {
    const encontrado = quoted(parts.signatureValue!.text.trim());
    const mensagem =
      text === ''
        ? 'SignatureValue está vazio: a assinatura não foi calculada.'
        : 'SignatureValue não está em Base64 (letras, algarismos, + e /, com = no fim se faltar para múltiplo de 4).';
    parts.faults.push({ codigo: 'E902', xpath: `${base}/SignatureValue`, mensagem, encontrado });
  }
  return value;
}

type Compared = { readonly signedInfo: string; readonly assinado: string; readonly valor: Buffer };

function valueFaults(
  reading: XmlDocumentReading,
  parts: Parts,
  { signedInfo, assinado, valor }: Compared,
  certificate: Certificate,
  base: string,
): void {
  if (verifiesRsaSha256(signedInfo, valor, certificate)) return;
  const near = nearMissOfValue(reading, parts.signedInfo!, assinado, valor, certificate);
  const { mensagem: why, change } = near ?? NO_NEAR_VALUE;
  const mensagem = `O valor da assinatura não confere com SignedInfo e o certificado de ${nameOf(certificate)}. ${why}`;
  parts.faults.push({ codigo: 'E902', xpath: `${base}/SignatureValue`, mensagem, change: change ?? why });
}

const NO_NEAR_VALUE: Told = told(
  'SignedInfo não foi assinado com a chave deste certificado, ou SignatureValue foi alterado depois.',
  'Ponha em KeyInfo o certificado que é par da chave que assina, e assine com RSA-SHA256.',
);

/** The CN without the document that follows the colon: of a person it is a CPF. */
export function nameOf({ titular }: Certificate): string {
  return titular.replace(/:[^:]*$/, '');
}

export function verifiesRsaSha256(text: string, signature: Uint8Array, { publicKey }: Certificate): boolean {
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PADDING };
  return verify('sha256', Buffer.from(text, 'utf8'), key, signature);
}

/** The children that must be there, in this order and nothing else; a missing one is undefined. */
function childrenOf(
  parent: Elemento,
  base: string,
  names: readonly string[],
  attributes: readonly string[],
  faults: Fault[],
): readonly (Elemento | undefined)[] {
  onlyAttributes(parent, base, attributes, faults);
  if (!isBlank(parent.text))
    faults.push({ codigo: 'E902', xpath: base, mensagem: `Há texto solto em ${parent.name}.` });
  const found = names.map((name) => parent.children.filter((child) => child.name === name && child.namespace === DSIG));
  names.forEach((name, place) => {
    const { length } = found[place]!;
    // The lack of KeyInfo has a code of its own.
    if (length === 1 || (length === 0 && name === 'KeyInfo')) return;
    const xpath = `${base}/${name}${length > 1 ? '[2]' : ''}`;
    const mensagem =
      length === 0 ? `Falta ${name} em ${parent.name}.` : `${parent.name} deve ter um só ${name}, e tem ${length}.`;
    faults.push({ codigo: 'E902', xpath, mensagem });
  });
  const strange = parent.children.find((child) => !names.includes(child.name) || child.namespace !== DSIG);
  if (strange !== undefined) {
    const mensagem = `${parent.name} traz ${strange.name}, que não faz parte da assinatura aceita.`;
    faults.push({ codigo: 'E902', xpath: `${base}/${strange.name}`, mensagem, encontrado: quoted(strange.name) });
  } else {
    const order = parent.children.map(({ name }) => names.indexOf(name));
    if (order.some((place, at) => at > 0 && place < order[at - 1]!)) {
      faults.push({ codigo: 'E902', xpath: base, mensagem: `Em ${parent.name} a ordem é ${names.join(', ')}.` });
    }
  }
  return found.map(([first]) => first);
}

function leaf(element: Elemento, xpath: string, attributes: readonly string[], faults: Fault[]): void {
  onlyAttributes(element, xpath, attributes, faults);
  const [inside] = element.children;
  if (inside === undefined) return;
  faults.push({ codigo: 'E902', xpath, mensagem: `${element.name} só pode conter texto, e traz ${inside.name}.` });
}

function onlyAttributes(element: Elemento, xpath: string, allowed: readonly string[], faults: Fault[]): void {
  for (const { name, namespace } of element.attributes) {
    if (namespace === '' && allowed.includes(name)) continue;
    faults.push({
      codigo: 'E902',
      xpath: `${xpath}/@${name}`,
      mensagem: `${element.name} traz o atributo ${name}, que não é aceito.`,
    });
  }
}

/** Whether an element is a signature of XML, by name and namespace. */
export function isSignature({ name, namespace }: Elemento): boolean {
  return name === 'Signature' && namespace === DSIG;
}

/** Identifiers are compared as they stand. */
function spellingOf(found: string, wanted: string): string {
  if (found.trim() === wanted) return ', com espaço no começo ou no fim';
  return found.toLowerCase() === wanted.toLowerCase() ? ', com maiúsculas e minúsculas trocadas' : '';
}

function algorithmName(identifier: string): string {
  return ownOf(URI_NAMES, identifier) ?? (identifier === '' ? 'não informado' : quoted(identifier));
}

function isBlank(text: string): boolean {
  return /^[ \t\n\r]*$/.test(text);
}

function withoutSpace(text: string): string {
  return /[ \t\n\r]/.test(text) ? text.replace(/[ \t\n\r]+/g, '') : text;
}

/** The bytes of canonical Base64: two texts of the same bytes would be two signatures of one document. */
function base64Of(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : undefined;
}

function given(found: string | undefined): { encontrado: string } | Record<string, never> {
  return found === undefined ? {} : { encontrado: quoted(found) };
}
