/** Checks the arrangement and the algorithms of the elements of an XML signature. `signed.ts` checks its digest and value. */
import { describeFault, type Fault, quoted } from '../fiscal/fault.ts';
import { isBlank } from '../fiscal/layout/check-text.ts';
import { attributeOf, type Elemento } from '../fiscal/layout/tree.ts';
import { ownOf } from '../fiscal/own.ts';
import {
  type Accepted,
  type Digest,
  ENVELOPED,
  INCLUSIVE,
  SHA256,
  STRICT,
  URI_NAMES,
  XML_DIGESTS,
  XML_SIGNATURES,
} from './algorithms.ts';
import { DSIG, type SignedProfile } from './signature-shape.ts';

/** A line of the profile: the found value of a place, the required ones, and whether it is one of them. */
export type ProfileLine = {
  readonly onde: string;
  readonly encontrado: string;
  readonly exigido: string;
  readonly confere: boolean;
};

export type Parts = {
  readonly faults: Fault[];
  readonly profile: ProfileLine[];
  signedInfo: Elemento | undefined;
  reference: Elemento | undefined;
  digestValue: Elemento | undefined;
  signatureValue: Elemento | undefined;
  certificates: readonly Elemento[];
  methods: Methods;
};

/** Algorithms by which a signature is verified; where its own are not accepted, those of {@link STRICT}. */
export type Methods = {
  readonly signing: Digest;
  readonly digesting: Digest;
  /** Canonicalisations of SignedInfo and of the content. */
  readonly ofInfo: string;
  readonly ofContent: string;
  /** The reference means the whole document. */
  readonly isWhole: boolean;
};

export const STRICT_METHODS: Methods = {
  signing: SHA256,
  digesting: SHA256,
  ofInfo: STRICT.CanonicalizationMethod[0],
  ofContent: STRICT.CanonicalizationMethod[0],
  isWhole: false,
};

/** Reads the elements of a signature, with the faults of their arrangement and algorithms. */
export function partsOf(signature: Elemento, base: string, accepted: Accepted): Parts {
  const parts: Parts = {
    faults: [],
    profile: [],
    signedInfo: undefined,
    reference: undefined,
    digestValue: undefined,
    signatureValue: undefined,
    certificates: [],
    methods: STRICT_METHODS,
  };
  const { faults } = parts;
  const [signedInfo, signatureValue, keyInfo] = readChildren(
    signature,
    base,
    ['SignedInfo', 'SignatureValue', 'KeyInfo'],
    ['Id'],
    faults,
  );
  parts.signatureValue = signatureValue;
  if (signatureValue !== undefined) checkLeaf(signatureValue, `${base}/SignatureValue`, ['Id'], faults);
  if (signedInfo !== undefined) readSignedInfo(signedInfo, `${base}/SignedInfo`, parts, accepted);
  readKeyInfo(keyInfo, `${base}/KeyInfo`, parts);
  return parts;
}

function readSignedInfo(signedInfo: Elemento, base: string, parts: Parts, accepted: Accepted): void {
  const { faults } = parts;
  const names = ['CanonicalizationMethod', 'SignatureMethod', 'Reference'];
  const [canonicalization, method, reference] = readChildren(signedInfo, base, names, ['Id'], faults);
  if (canonicalization === undefined || method === undefined || reference === undefined) return;
  parts.signedInfo = signedInfo;
  parts.reference = reference;
  const ofInfo = checkAlgorithm(canonicalization, base, accepted.CanonicalizationMethod, parts);
  const signing = checkAlgorithm(method, base, accepted.SignatureMethod, parts);
  const place = `${base}/Reference`;
  const members = ['Transforms', 'DigestMethod', 'DigestValue'];
  const [transforms, digestMethod, digestValue] = readChildren(reference, place, members, ['URI', 'Id'], faults);
  const ofContent = transforms && checkTransforms(transforms, `${place}/Transforms`, parts, accepted);
  const digesting = digestMethod && checkAlgorithm(digestMethod, place, accepted.DigestMethod, parts);
  if (digestValue !== undefined) checkLeaf(digestValue, `${place}/DigestValue`, [], faults);
  parts.digestValue = digestValue;
  const [first] = accepted.DigestMethod;
  parts.methods = {
    signing: XML_SIGNATURES[signing]!.digest,
    digesting: XML_DIGESTS[digesting ?? first]!.digest,
    ofInfo,
    ofContent: ofContent ?? STRICT_METHODS.ofContent,
    isWhole: false,
  };
}

const WITHOUT_PREFIXES = 'configure a C14N exclusiva sem lista de prefixos.';

/** The number of transformations that a message names. Two are right. */
const TRANSFORMS_TOLD_MAX = 6;

/**
 * The canonicalisation of the content. Adds a fault unless the transformations are enveloped-signature and then an accepted form, or that
 * form alone. XML Signature canonicalises inclusively where none says otherwise.
 */
function checkTransforms(transforms: Elemento, base: string, parts: Parts, accepted: Accepted): string {
  const found = transforms.children.map((child) => attributeOf(child, 'Algorithm') ?? '');
  const [form, ...others] = accepted.CanonicalizationMethod;
  const names = [form, ...others].map(algorithmName).join(' ou ');
  const wanted = `enveloped-signature e depois ${names}, ou só ${names}`;
  const named = found.slice(0, TRANSFORMS_TOLD_MAX).map(algorithmName);
  const more = found.length > named.length ? ` e mais ${found.length - named.length}` : '';
  const forms = found[0] === ENVELOPED ? found.slice(1) : found;
  const ofContent = forms.length === 0 && found.length === 1 ? INCLUSIVE : forms.length === 1 ? forms[0]! : '';
  const fits = accepted.CanonicalizationMethod.includes(ofContent);
  const encontrado = `${named.join(', ') || 'nenhuma'}${more}`;
  parts.profile.push({ onde: base, encontrado, exigido: wanted, confere: fits });
  const isPlain = transforms.children.every(
    (child) =>
      child.name === 'Transform' &&
      child.namespace === DSIG &&
      child.children.length === 0 &&
      isBlank(child.text) &&
      child.attributes.length === 1,
  );
  if (fits && isPlain && transforms.attributes.length === 0 && isBlank(transforms.text)) return ofContent;
  const extra = transforms.children.find((child) => child.children.length > 0)?.children[0];
  const texts = fits
    ? {
        mensagem: `As transformações são as certas, mas trazem ${extra?.name ?? 'texto, atributos ou elementos'} que não se aceita; ${WITHOUT_PREFIXES}`,
        change: `Em Transforms: ${WITHOUT_PREFIXES}`,
      }
    : {
        mensagem: `As transformações da Reference são ${encontrado}; as aceitas são ${wanted}.`,
        change: `Em Transforms ponha, nesta ordem: ${ENVELOPED} e ${form}.`,
      };
  parts.faults.push({
    codigo: 'E902',
    xpath: base,
    ...texts,
    encontrado: quoted(found.join(' ')),
    esperado: `${ENVELOPED} ${form}`,
  });
  return fits ? ofContent : form;
}

function readKeyInfo(keyInfo: Elemento | undefined, base: string, parts: Parts): void {
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
    parts.faults.push({ codigo: 'E905', xpath, ...describeFault(`${problem}:`, change) });
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
  if (certificate !== undefined) checkLeaf(certificate, xpath, [], parts.faults);
  for (const element of [keyInfo!, ...data]) checkAttributes(element, base, ['Id'], parts.faults);
  if ([keyInfo!, ...data].some(({ text }) => !isBlank(text))) {
    parts.faults.push({ codigo: 'E902', xpath: base, mensagem: 'Há texto solto em KeyInfo; retire-o.' });
  }
}

/** The algorithm that an element states, or the preferred one with a fault. */
function checkAlgorithm(
  element: Elemento,
  parent: string,
  accepted: readonly [string, ...string[]],
  parts: Parts,
): string {
  const onde = `${parent}/${element.name}`;
  const encontrado = attributeOf(element, 'Algorithm') ?? '';
  const [preferred, ...others] = accepted;
  const confere = accepted.includes(encontrado);
  parts.profile.push({ onde, encontrado, exigido: accepted.join(' ou '), confere });
  if (!confere) {
    const found = encontrado === '' ? 'Falta o atributo Algorithm' : `O algoritmo é ${algorithmName(encontrado)}`;
    const also = others.length === 0 ? '' : `, ou ${others.map(algorithmName).join(', ')}`;
    const mensagem = `${found} em ${element.name}${describeSpelling(encontrado, preferred)}; o aceito é ${algorithmName(preferred)} (${preferred})${also}.`;
    parts.faults.push({
      codigo: 'E902',
      xpath: `${onde}/@Algorithm`,
      mensagem,
      change: `Em ${element.name} ponha Algorithm="${preferred}".`,
      encontrado: quoted(encontrado),
      esperado: preferred,
    });
    return preferred;
  }
  const [inside] = element.children;
  if (inside !== undefined || !isBlank(element.text)) {
    const what = inside === undefined ? 'texto' : inside.name;
    const mensagem = `${element.name} traz ${what}, que não é aceito; ${WITHOUT_PREFIXES}`;
    const change = `Em ${element.name}: ${WITHOUT_PREFIXES}`;
    parts.faults.push({ codigo: 'E902', xpath: onde, mensagem, change, encontrado: quoted(what) });
  }
  checkAttributes(element, onde, ['Algorithm'], parts.faults);
  return encontrado;
}

/** Adds a fault unless the Reference names the signed element by its Id, or, where accepted, the whole document. */
export function checkReference(
  parts: Parts,
  id: string | undefined,
  { signed, accepted }: SignedProfile,
  base: string,
): void {
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
  const isWhole = found === '' && accepted.mayBeWhole && isEnveloped(reference);
  const confere = isWhole || found === wanted;
  parts.profile.push({ onde: xpath, encontrado: found ?? '', exigido: wanted, confere });
  if (isWhole) parts.methods = { ...parts.methods, isWhole };
  if (confere) return;
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

/** The signature leaves itself out, as one within its own content must. */
function isEnveloped(reference: Elemento): boolean {
  const [first] = reference.children.find(({ name }) => name === 'Transforms')?.children ?? [];
  return first !== undefined && attributeOf(first, 'Algorithm') === ENVELOPED;
}

/** The required children, undefined if missing. Adds a fault for a missing, repeated, strange or misplaced one. */
function readChildren(
  parent: Elemento,
  base: string,
  names: readonly string[],
  attributes: readonly string[],
  faults: Fault[],
): readonly (Elemento | undefined)[] {
  checkAttributes(parent, base, attributes, faults);
  if (!isBlank(parent.text))
    faults.push({ codigo: 'E902', xpath: base, mensagem: `Há texto solto em ${parent.name}.` });
  const found = names.map((name) => parent.children.filter((child) => child.name === name && child.namespace === DSIG));
  names.forEach((name, place) => {
    const { length } = found[place]!;
    // A missing KeyInfo has a code of its own.
    if (length === 1 || (length === 0 && name === 'KeyInfo')) return;
    const xpath = `${base}/${name}${length === 0 ? '' : '[2]'}`;
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
    if (order.some((place, at) => place < (order[at - 1] ?? 0))) {
      faults.push({ codigo: 'E902', xpath: base, mensagem: `Em ${parent.name} a ordem é ${names.join(', ')}.` });
    }
  }
  return found.map(([first]) => first);
}

function checkLeaf(element: Elemento, xpath: string, attributes: readonly string[], faults: Fault[]): void {
  checkAttributes(element, xpath, attributes, faults);
  const [inside] = element.children;
  if (inside === undefined) return;
  faults.push({ codigo: 'E902', xpath, mensagem: `${element.name} só pode conter texto, e traz ${inside.name}.` });
}

function checkAttributes(element: Elemento, xpath: string, allowed: readonly string[], faults: Fault[]): void {
  for (const { name, namespace } of element.attributes) {
    if (namespace === '' && allowed.includes(name)) continue;
    faults.push({
      codigo: 'E902',
      xpath: `${xpath}/@${name}`,
      mensagem: `${element.name} traz o atributo ${name}, que não é aceito.`,
    });
  }
}

/** The spelling difference between an identifier and the wanted one, if only spaces or letter case differ. */
function describeSpelling(found: string, wanted: string): string {
  if (found.trim() === wanted) return ', com espaço no começo ou no fim';
  return found.toLowerCase() === wanted.toLowerCase() ? ', com maiúsculas e minúsculas trocadas' : '';
}

function algorithmName(identifier: string): string {
  return ownOf(URI_NAMES, identifier) ?? (identifier === '' ? 'não informado' : quoted(identifier));
}
