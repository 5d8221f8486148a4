/**
 * XML signatures of any kind, valid and invalid, made without our own code. The canonical form comes from xml-crypto, the arithmetic from
 * OpenSSL. The text is built here, so that a test can change any part of it.
 */
import { constants, hash, type KeyObject, privateEncrypt, sign } from 'node:crypto';
import { DOMParser } from '@xmldom/xmldom';
import { ExclusiveCanonicalization } from 'xml-crypto';
import {
  type Authority,
  companyCertificate,
  type Keys,
  pemOf,
  rootAuthority,
  type Validity,
} from '../../src/documents/pki.ts';
import { DAY_MS } from '../../src/fiscal/moment.ts';
import { readyKeys } from './keys.ts';

export const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
export const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
export const ENVELOPED = `${DSIG}enveloped-signature`;
export const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

export const PROVIDER_CNPJ = '11222333000181';

/** A signer: a key, and its certificate in the forms that are needed. */
export type Party = {
  readonly keys: Keys;
  readonly keyPem: string;
  readonly der: Buffer;
  readonly pem: string;
  readonly base64: string;
};

export function partyOf(keys: Keys, der: Buffer): Party {
  return {
    keys,
    keyPem: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    der,
    pem: pemOf('CERTIFICATE', der),
    base64: der.toString('base64'),
  };
}

/** A validity of a year around a moment, in milliseconds. */
export function yearAround(now: number): Validity {
  return { inicio: now - 180 * DAY_MS, fim: now + 180 * DAY_MS };
}

export function companyOf(cnpj: string): Parameters<typeof companyCertificate>[1] {
  const responsavel = { nome: 'Responsável de Teste', cpf: '12345678909', nascimento: '1980-01-31' };
  return { razaoSocial: 'Empresa Exemplo Ltda', cnpj, responsavel };
}

/** A validity for objects that other programs, or the machine's clock, check as well, such as a TLS connection. */
export const DECADES: Validity = { inicio: Date.parse('2020-01-01'), fim: Date.parse('2049-12-31') };

/** An authority, the provider, and another authority of the same name. */
export async function testParties(
  now: number,
  validity = yearAround(now),
): Promise<{ root: Authority; provider: Party; namesake: Party }> {
  const [rootKeys, own, others] = await Promise.all([readyKeys(), readyKeys(), readyKeys()]);
  const root = rootAuthority('AC Raiz de Teste', rootKeys, validity);
  const certified = (keys: Keys): Party =>
    partyOf(keys, companyCertificate(root, companyOf(PROVIDER_CNPJ), keys.publicKey, validity));
  return { root, provider: certified(own), namesake: certified(others) };
}

/** The exclusive canonical form of the first element of a local name, as xml-crypto writes it. */
export function canonicalByXmlCrypto(xml: string, name = 'infDPS'): string {
  const [element] = elementsNamed(xml, name);
  return new ExclusiveCanonicalization().process(element!, {});
}

export function elementsNamed(xml: string, name: string): readonly Element[] {
  const document = new DOMParser().parseFromString(xml.replace(/^\ufeff/, ''), 'text/xml');
  const found = document.getElementsByTagNameNS('*', name);
  return [...Array(found.length).keys()].map((place) => found[place]!);
}

/** The deviations from the profile; an absent field follows the profile. */
export type Bent = {
  readonly canonicalization?: string;
  readonly signatureMethod?: string;
  readonly digestMethod?: string;
  /** The content of `Transforms`; undefined omits the element. */
  readonly transforms?: string | undefined;
  /** The URI attribute; undefined omits it. */
  readonly uri?: string | undefined;
  /** The text to digest. */
  readonly digested?: string;
  readonly digest?: (text: string) => string;
  /** Changes the text of SignedInfo before its signature. */
  readonly signedInfo?: (text: string) => string;
  /** Makes the signature value from the canonical SignedInfo. */
  readonly value?: (canonical: string) => Buffer;
  /** Changes the text of SignatureValue. */
  readonly valueText?: (base64: string) => string;
  readonly keyInfo?: string;
  /** Additional content of Signature. */
  readonly more?: string;
  /** The prefix of the signature namespace. */
  readonly prefix?: string;
  /** Space between the elements of Signature. */
  readonly space?: string;
};

export const transform = (algorithm: string, inside = ''): string =>
  `<Transform Algorithm="${algorithm}">${inside}</Transform>`;
export const TRANSFORMS = transform(ENVELOPED) + transform(EXCLUSIVE);
export const x509 = (base64: string): string =>
  `<KeyInfo><X509Data><X509Certificate>${base64}</X509Certificate></X509Data></KeyInfo>`;

export const sha256 = (text: string | Buffer): string => hash('sha256', text, 'base64');

/** The text without its digests and other Base64 values, whose random letters sometimes spell a word: NaN, null. */
export const withoutBase64 = (text: string): string => text.replace(/[A-Za-z0-9+/]{40,}={0,2}/g, '');

/** The `Signature` element over an unsigned document. */
export function signatureOver(xml: string, { keys, base64 }: Party, bent: Bent = {}): string {
  const { space = '', prefix, digest = sha256, signedInfo: bend = (text) => text } = bent;
  const digested = bent.digested ?? canonicalByXmlCrypto(xml);
  const transforms = 'transforms' in bent ? bent.transforms : TRANSFORMS;
  const uri = 'uri' in bent ? bent.uri : `#${idOf(xml)}`;
  const spaced = (text: string): string => text.replaceAll('><', `>${space}<`);
  const inside = spaced(
    `><CanonicalizationMethod Algorithm="${bent.canonicalization ?? EXCLUSIVE}"></CanonicalizationMethod>` +
      `<SignatureMethod Algorithm="${bent.signatureMethod ?? RSA_SHA256}"></SignatureMethod>` +
      `<Reference${uri === undefined ? '' : ` URI="${uri}"`}>` +
      `${transforms === undefined ? '' : `<Transforms>${transforms}</Transforms>`}` +
      `<DigestMethod Algorithm="${bent.digestMethod ?? SHA256}"></DigestMethod>` +
      `<DigestValue>${digest(digested)}</DigestValue></Reference><`,
  ).slice(1, -1);
  const signedInfo = withPrefix(bend(`<SignedInfo>${inside}</SignedInfo>`), prefix);
  const declaration = prefix === undefined ? `xmlns="${DSIG}"` : `xmlns:${prefix}="${DSIG}"`;
  const apex = signedInfo.replace(/^<[\w:]+/, `$& ${declaration}`);
  const value = (bent.value ?? rsaSha256(keys.privateKey))(apex.replace(/\r\n?/g, '\n')).toString('base64');
  const text = (bent.valueText ?? ((one) => one))(value);
  const rest = withPrefix(
    `<SignatureValue>${text}</SignatureValue>${bent.keyInfo ?? x509(base64)}${bent.more ?? ''}`,
    prefix,
  );
  const name = prefix === undefined ? 'Signature' : `${prefix}:Signature`;
  return `<${name} ${declaration}>${space}${signedInfo}${space}${spaced(rest)}${space}</${name}>`;
}

/** The document with its signature after the signed element. */
export function signedBy(xml: string, party: Party, bent: Bent = {}): string {
  return withSignature(xml, signatureOver(xml, party, bent));
}

export function withSignature(xml: string, signature: string): string {
  return xml.replace(/<\/(?:[\w]+:)?DPS\s*>\s*$/, (end) => signature + end);
}

export function idOf(xml: string): string {
  return /<(?:\w+:)?infDPS[^>]*?\sId\s*=\s*["']([^"']*)/.exec(xml)?.[1] ?? '';
}

function withPrefix(text: string, prefix: string | undefined): string {
  return prefix === undefined ? text : text.replace(/<(\/?)(?=[A-Z])/g, `<$1${prefix}:`);
}

export const rsaSha256 =
  (key: KeyObject) =>
  (text: string): Buffer =>
    sign('sha256', Buffer.from(text), { key, padding: constants.RSA_PKCS1_PADDING });

/** Raw RSA over a block of the key's size that holds the data to sign. */
export function rsaOfBlock(key: KeyObject, block: Buffer): Buffer {
  return privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, block);
}

/** Numbers that depend on a seed alone (mulberry32). */
export function chanceOf(seed: number): { below(end: number): number; pick<T>(from: readonly T[]): T } {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return { below, pick: (from) => from[below(from.length)]! };
}
export type Chance = ReturnType<typeof chanceOf>;

/** Different spellings of the same document. All but the encodings are applied before the signature. */
export const DRESSES: Readonly<Record<string, (xml: string) => string>> = {
  'as it is': (xml) => xml,
  'in one line': (xml) => xml.replace(/>\s+</g, '><'),
  'lines of CR LF': (xml) => xml.replaceAll('\n', '\r\n'),
  'tabs, and spaces in tags': (xml) => xml.replace(/ {2}/g, '\t').replace(/<\/(\w+)>/g, '</$1 >'),
  'a prefix': (xml) =>
    xml
      .replace(/<(\/?)(?=[A-Za-z])/g, '<$1n:')
      .replace('xmlns="', 'xmlns:n="')
      .replace('Id="', 'Id = "'),
  'single quotes': (xml) => xml.replace(/(versao|Id|xmlns)="([^"]*)"/g, "$1='$2'"),
  'characters by number': (xml) => xml.replace(/[^\0-~]/gu, (character) => `&#${character.codePointAt(0)};`),
  'a CDATA section': (xml) => xml.replace(/(<xDescServ>)([^<&]*)(<)/, '$1<![CDATA[$2]]>$3'),
  'a CDATA section within a value': (xml) => xml.replace(/(<xDescServ>.)([^<&]+)(.<)/, '$1<![CDATA[$2]]>$3'),
  'a namespace that nobody uses': (xml) =>
    xml.replace('<DPS ', '<DPS xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '),
  'a namespace that the root uses': (xml) => xml.replace('<DPS ', '<DPS xmlns:p="urn:p" p:a="1" '),
  'the namespace declared again': (xml) =>
    xml.replace('<infDPS ', '<infDPS xmlns="http://www.sped.fazenda.gov.br/nfse" '),
  'an empty element': (xml) => xml.replace('</infDPS>', '<vazio/></infDPS>'),
  'no declaration': (xml) => xml.replace(/^<\?xml[^>]*>\s*/, ''),
  'white space around the root': (xml) => `${xml}\r\n\t `,
};

/** Encodings, applied after the signature: the signature is over characters. */
export const ENCODINGS: Readonly<Record<string, (xml: string) => Buffer>> = {
  'UTF-8': (xml) => Buffer.from(xml, 'utf8'),
  'UTF-8 with a mark': (xml) => Buffer.from(`\ufeff${xml}`, 'utf8'),
  'ISO-8859-1': (xml) => Buffer.from(declared(xml, 'ISO-8859-1'), 'latin1'),
  'windows-1252': (xml) =>
    Buffer.from(declared(xml, 'windows-1252').replaceAll('€', '\x80').replaceAll('—', '\x97'), 'latin1'),
  'UTF-16 little endian': (xml) => Buffer.from(`\ufeff${declared(xml, 'UTF-16')}`, 'utf16le'),
  'UTF-16 big endian': (xml) => Buffer.from(`\ufeff${declared(xml, 'UTF-16')}`, 'utf16le').swap16(),
};

function declared(xml: string, encoding: string): string {
  return `<?xml version="1.0" encoding="${encoding}"?>${xml.replace(/^<\?xml[^>]*>/, '')}`;
}
