/**
 * Reads certificates: the holder (CNPJ or CPF, as ICP-Brasil writes them), the validity, the uses. `trust.ts` judges their authority;
 * `signer-faults.ts` judges their validity at the moment and their relation to the provider.
 *
 * Node reads the certificate and its key; this module reads the extensions from the same bytes.
 */

import { hash, type KeyObject, X509Certificate } from 'node:crypto';
import { RSA_PSS, WEAK } from './algorithms.ts';
import {
  type Asn1,
  bitsOf,
  hasDerLengths,
  isContext,
  isUniversal,
  octetsOf,
  oidOf,
  readAsn1,
  TAG,
  textOf,
  timeOf,
} from './asn1.ts';
import { attempt } from './attempt.ts';
import { childrenOf, commonNameOf, displayNameOf, normalizeName } from './distinguished-name.ts';
import { EXTENSION, ICP_BRASIL_NAME } from './oids.ts';

/** Certificates of ICP-Brasil have two to three thousand bytes. */
const CERTIFICATE_BYTES_MAX = 16_384;
/** The least that the national profile allows. */
const RSA_BITS_MIN = 2_048;
/** A curve as strong as the shortest RSA key (NIST SP 800-57, part 1, table 2). */
const CURVE_BITS_MIN = 224;
/** No authority issues longer keys. One signature check with such a key would take the time of hundreds. */
const RSA_BITS_MAX = 8_192;
/** No field of a holder is longer. */
const FIELD_MAX = 200;
/** Certificates kept in memory: those seen once, and those seen again. Endless new ones never push out the ones in use. */
const SEEN_ONCE_MAX = 1_000;
const SEEN_AGAIN_MAX = 4_000;

/** The field of a person: date of birth in eight positions, then the CPF in eleven, then other numbers. */
const CPF_OFFSET = 8;
const CPF_LENGTH = 11;

const CNPJ = /^[0-9A-Z]{12}\d{2}$/;
const CPF = /^\d{11}$/;

/** The bits of the extension in their order (RFC 5280, 4.2.1.3). */
const KEY_USAGES = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;

export type Holder = {
  readonly tipo: 'CNPJ' | 'CPF';
  readonly documento: string;
  /** The source of the document: a field of SAN, by its identifier, or CN. */
  readonly onde: string;
};

export type Certificate = {
  readonly der: Buffer;
  /** SHA-256 of the DER, in lower hex. */
  readonly fingerprint: string;
  /** A key of any kind; `asymmetricKeyType` tells which. An RSA key has 2048 bits or more. */
  readonly publicKey: KeyObject;
  /** Common name of the subject, or its last attribute; the same of the issuer. */
  readonly titular: string;
  readonly emissor: string;
  /** Both whole names in a comparable form: two are equal when RFC 5280 says so. */
  readonly subjectName: string;
  readonly issuerName: string;
  /** Lower hex, without the zero octet that makes the number positive. */
  readonly serial: string;
  /** Undefined: the certificate has neither CNPJ nor CPF. */
  readonly holder: Holder | undefined;
  /** Milliseconds since 1970; valid from the one to the other, both included. */
  readonly inicio: number;
  readonly fim: number;
  readonly isCa: boolean;
  /** Largest number of authorities between this one and an end certificate; undefined: any number. */
  readonly pathLength: number | undefined;
  /** Names of RFC 5280; undefined when the certificate does not restrict its use. */
  readonly keyUsage: readonly string[] | undefined;
  /** Dotted identifiers; undefined when the certificate does not restrict its use. */
  readonly extKeyUsage: readonly string[] | undefined;
  readonly policies: readonly string[];
  /** Critical extensions that this service does not process: RFC 5280, 4.2 demands a refusal. Name constraints are always among them. */
  readonly unprocessed: readonly string[];
  /** The digest of the issuer's signature, when that digest can be forged: 'MD5', 'SHA-1'. */
  readonly weakDigest: string | undefined;
  readonly x509: X509Certificate;
};

/** The refusal of bytes as a certificate: one Portuguese sentence. `change`: the part of the sentence with the remedy. */
export type CertificateProblem = { readonly problem: string; readonly change?: string };

let seenOnce = new Map<string, Certificate>();
let seenAgain = new Map<string, Certificate>();
/** Certificates that were seen again, by their Base64. */
let seenTexts = new Map<string, Certificate>();

/** The certificate with exactly this Base64, if it was seen again before: nothing is decoded then. */
export function certificateOfText(text: string): Certificate | undefined {
  return seenTexts.get(text);
}

/**
 * Parses a certificate once: the same bytes give the same object while it stays in memory. It never throws; bytes that are no certificate,
 * or an untrustworthy key, give the problem.
 */
export function readCertificate(der: Uint8Array): Certificate | CertificateProblem {
  if (der.length === 0) return { problem: 'O certificado está vazio.' };
  if (der.length > CERTIFICATE_BYTES_MAX) {
    return { problem: `O certificado tem ${der.length} bytes; um certificado ICP-Brasil tem menos de 5.000.` };
  }
  const fingerprint = hash('sha256', der, 'hex');
  const known = seenAgain.get(fingerprint);
  if (known !== undefined) return known;
  const again = seenOnce.get(fingerprint);
  if (again !== undefined) {
    seenOnce.delete(fingerprint);
    seenAgain = remember(seenAgain, SEEN_AGAIN_MAX, fingerprint, again);
    seenTexts = remember(seenTexts, SEEN_AGAIN_MAX, again.der.toString('base64'), again);
    return again;
  }
  const made = parse(Buffer.from(der), fingerprint);
  if (!('problem' in made)) seenOnce = remember(seenOnce, SEEN_ONCE_MAX, fingerprint, made);
  return made;
}

/** Keeps a certificate in memory; a full memory loses its older half first. */
function remember(
  seen: Map<string, Certificate>,
  max: number,
  key: string,
  one: Certificate,
): Map<string, Certificate> {
  const kept = seen.size < max ? seen : new Map([...seen].slice(seen.size / 2));
  kept.set(key, one);
  return kept;
}

function parse(der: Buffer, fingerprint: string): Certificate | CertificateProblem {
  const x509 = attempt(() => new X509Certificate(der));
  // Node looks for PEM text anywhere in the bytes first. Its result must be all of them, or a hidden certificate would
  // lend its key to another.
  if (x509?.raw.equals(der) !== true) return describeStranger(der);
  const publicKey = attempt(() => x509.publicKey);
  if (publicKey === undefined) {
    return { problem: 'A chave pública do certificado é de um algoritmo desconhecido ou está corrompida.' };
  }
  const problem = keyProblem(publicKey);
  if (problem !== undefined) return { problem };
  try {
    return { der, fingerprint, publicKey, x509, ...fieldsOf(der) };
  } catch {
    return { problem: 'O certificado está corrompido: um dos seus campos ou extensões não é do formato X.509.' };
  }
}

/** Untrustworthy keys of a signer or an authority (D-234). */
function keyProblem({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  if (asymmetricKeyType === 'dsa') return 'A chave do certificado é DSA, que não é mais aceita; use RSA.';
  const { modulusLength: bits, namedCurve } = asymmetricKeyDetails ?? {};
  if (bits !== undefined && bits < RSA_BITS_MIN) {
    return `A chave do certificado tem ${bits} bits; o mínimo é ${RSA_BITS_MIN}.`;
  }
  if (bits !== undefined && bits > RSA_BITS_MAX) {
    return `A chave do certificado tem ${bits} bits; o máximo aceito é ${RSA_BITS_MAX}.`;
  }
  // The names of curves contain their bits. Roots of ICP-Brasil write the numbers of their curves out, which must be
  // those of a known one. Numbers made to fit a foreign key (CVE-2020-0601) have no name.
  if (asymmetricKeyType === 'ec' && !(Number(/\d{3}/.exec(namedCurve ?? '')) >= CURVE_BITS_MIN)) {
    return `A chave do certificado é da curva ${namedCurve ?? 'sem nome'}; só se aceita uma conhecida, de ${CURVE_BITS_MIN} bits ou mais.`;
  }
  return undefined;
}

function describeStranger(der: Buffer): CertificateProblem {
  const start = der.subarray(0, 64).toString('latin1');
  if (start.includes('-----BEGIN')) {
    const change = 'envie só o conteúdo em Base64, sem cabeçalho.';
    return { problem: `O certificado veio em PEM (com a linha -----BEGIN); ${change}`, change };
  }
  if (/^MII[A-Za-z0-9+/]/.test(start)) return { problem: 'O certificado foi codificado em Base64 duas vezes.' };
  return { problem: 'Os bytes não são um certificado X.509 em DER.' };
}

function fieldsOf(der: Buffer): Omit<Certificate, 'der' | 'fingerprint' | 'publicKey' | 'x509'> {
  const whole = readAsn1(der);
  // Other readers reject BER, or read it differently.
  if (!hasDerLengths(whole)) throw new TypeError('a certificate is DER');
  const [serial, algorithm, issuer, validity, subject, , ...more] = fieldsAfterVersion(whole);
  const [inicio, fim] = childrenOf(validity);
  const extensions = extensionsOf(more.find((part) => isContext(part, 3)));
  const read = <Value>(oid: string, readValue: (value: Asn1) => Value): Value | undefined => {
    const value = extensions.get(oid)?.value;
    return value === undefined ? undefined : readValue(value);
  };
  const { isCa, pathLength } = read(EXTENSION.basicConstraints, constraintsOf) ?? NO_AUTHORITY;
  return {
    titular: displayNameOf(subject!),
    emissor: displayNameOf(issuer!),
    subjectName: normalizeName(subject!),
    issuerName: normalizeName(issuer!),
    serial: serialOf(serial),
    holder: holderOf(read(EXTENSION.subjectAltName, otherNamesOf) ?? [], commonNameOf(subject!)),
    inicio: timeOf(inicio),
    fim: timeOf(fim),
    isCa,
    pathLength,
    keyUsage: read(EXTENSION.keyUsage, keyUsagesOf),
    extKeyUsage: read(EXTENSION.extKeyUsage, (value) => childrenOf(value).map(oidOf)),
    policies: read(EXTENSION.policies, policiesOf) ?? [],
    unprocessed: [...extensions]
      .filter(([oid, one]) => oid === EXTENSION.nameConstraints || (one.isCritical && !READ_EXTENSIONS.has(oid)))
      .map(([oid]) => oid),
    weakDigest: weakDigestOf(algorithm),
  };
}

/** The signed fields of a certificate from its serial number on. Version 1 has no version field. */
export function fieldsAfterVersion({ children: [signed] }: Asn1): readonly Asn1[] {
  const fields = signed?.children ?? [];
  return isContext(fields[0], 0) ? fields.slice(1) : fields;
}

function policiesOf(value: Asn1): readonly string[] {
  return childrenOf(value).map((policy) => oidOf(sequenceIn(policy)[0]));
}

/** Lower hex of a non-negative INTEGER. */
function serialOf(value: Asn1 | undefined): string {
  if (!isUniversal(value, TAG.integer) || value.content.length === 0) throw new TypeError('no serial number here');
  return value.content.toString('hex').replace(/^(00)+(?=.)/, '');
}

/** An extension. `value` undefined: this service does not read it. */
type Extension = { readonly isCritical: boolean; readonly value: Asn1 | undefined };

/** Extensions without effect here, which must still have their type: identifiers of keys, addresses of lists. */
const UNASKED_EXTENSIONS: Readonly<Record<string, (value: Asn1) => boolean>> = {
  [EXTENSION.subjectKeyId]: (value) => isUniversal(value, TAG.octetString),
  [EXTENSION.crlDistributionPoints]: (value) =>
    isUniversal(value, TAG.sequence) && value.children.every(isThreeOptions),
  [EXTENSION.authorityKeyId]: isThreeOptions,
};

/** True for a SEQUENCE of `[0]`, `[1]` and `[2]`, in this order, each optional. */
function isThreeOptions(value: Asn1): boolean {
  const places = value.children.map((part) => [0, 1, 2].findIndex((tag) => isContext(part, tag)));
  return isUniversal(value, TAG.sequence) && places.every((place, at) => place > (places[at - 1] ?? -1));
}

const READ_EXTENSIONS: ReadonlySet<string> = new Set([
  EXTENSION.keyUsage,
  EXTENSION.subjectAltName,
  EXTENSION.basicConstraints,
  EXTENSION.policies,
  EXTENSION.extKeyUsage,
]);

function extensionsOf(wrapped: Asn1 | undefined): ReadonlyMap<string, Extension> {
  const extensions = new Map<string, Extension>();
  if (wrapped === undefined) return extensions;
  for (const extension of sequenceIn(wrapped.children.length === 1 ? wrapped.children[0] : undefined)) {
    const [id, ...rest] = sequenceIn(extension);
    const oid = oidOf(id);
    // A duplicate extension could be read in two ways; RFC 5280 forbids it.
    if (extensions.has(oid)) throw new TypeError(`the extension ${oid} occurs twice`);
    const flag = isUniversal(rest[0], TAG.boolean) ? rest.shift() : undefined;
    const [octets, ...more] = rest;
    if (!isUniversal(octets, TAG.octetString) || more.length > 0)
      throw new TypeError(`the extension ${oid} has no value`);
    const isCritical = flag !== undefined && isTrue(flag);
    if (UNASKED_EXTENSIONS[oid]?.(readAsn1(octetsOf(octets))) === false) throw new TypeError(`${oid} of another type`);
    const value = READ_EXTENSIONS.has(oid) ? readAsn1(octetsOf(octets)) : undefined;
    if (value !== undefined && oid !== EXTENSION.keyUsage) sequenceIn(value);
    if (value !== undefined && !hasDerLengths(value)) throw new TypeError('an extension is DER');
    extensions.set(oid, { isCritical, value });
  }
  return extensions;
}

type AuthorityConstraints = Pick<Certificate, 'isCa' | 'pathLength'>;

const NO_AUTHORITY: AuthorityConstraints = { isCa: false, pathLength: undefined };

function constraintsOf(value: Asn1): AuthorityConstraints {
  const parts = [...sequenceIn(value)];
  const flag = isUniversal(parts[0], TAG.boolean) ? parts.shift() : undefined;
  const [length, ...more] = parts;
  if (more.length > 0) throw new TypeError('basic constraints with something more');
  const isNegative = length !== undefined && (length.content[0] ?? 0) >= 0x80;
  if (isNegative) throw new TypeError('a negative length of the path');
  const isCa = flag !== undefined && isTrue(flag);
  return { isCa, pathLength: length === undefined ? undefined : Number.parseInt(serialOf(length), 16) };
}

/** The parts of a SEQUENCE; another type throws. */
function sequenceIn(value: Asn1 | undefined): readonly Asn1[] {
  if (!isUniversal(value, TAG.sequence)) throw new TypeError('no sequence where there is one');
  return childrenOf(value);
}

function isTrue({ content }: Asn1): boolean {
  if (content.length !== 1) throw new TypeError('no boolean');
  return content[0] !== 0;
}

function keyUsagesOf(value: Asn1): readonly string[] {
  if (!isUniversal(value, TAG.bitString)) throw new TypeError('key usage is no bit string');
  const octets = bitsOf(value);
  return KEY_USAGES.filter((_, bit) => ((octets[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

function weakDigestOf(algorithm: Asn1 | undefined): string | undefined {
  const [id, parameters] = childrenOf(algorithm);
  const oid = oidOf(id);
  if (oid !== RSA_PSS) return WEAK[oid];
  const chosen = parameters?.children.find((part) => isContext(part, 0))?.children[0]?.children[0];
  // RFC 4055: a missing digest means SHA-1.
  return chosen === undefined ? 'SHA-1' : WEAK[oidOf(chosen)];
}

/** The holder in the fields of ICP-Brasil, a CNPJ before a CPF; without them, the document behind the last colon of the common name. */
function holderOf(fields: readonly OtherName[], commonName: string | undefined): Holder | undefined {
  const inField = (
    tipo: Holder['tipo'],
    oid: string,
    read: (text: string) => string | undefined,
  ): Holder | undefined => {
    const [documento] = fields.flatMap(([id, text]) => (id === oid ? (read(text) ?? []) : []));
    return documento === undefined ? undefined : { tipo, documento, onde: `SAN ${oid}` };
  };
  const found = inField('CNPJ', ICP_BRASIL_NAME.cnpj, cnpjIn) ?? inField('CPF', ICP_BRASIL_NAME.pessoa, cpfIn);
  if (found !== undefined || commonName?.includes(':') !== true) return found;
  const tail = commonName.slice(commonName.lastIndexOf(':') + 1);
  const cnpj = cnpjIn(tail);
  if (cnpj !== undefined) return { tipo: 'CNPJ', documento: cnpj, onde: 'CN' };
  const cpf = tail.trim().length === CPF_LENGTH ? cpfIn(tail) : undefined;
  return cpf === undefined ? undefined : { tipo: 'CPF', documento: cpf, onde: 'CN' };
}

function otherNamesOf(names: Asn1): readonly OtherName[] {
  return childrenOf(names).flatMap((name): OtherName[] => {
    if (!isContext(name, 0)) return [];
    const [id, wrapped] = childrenOf(name);
    const value = isContext(wrapped, 0) ? wrapped.children[0] : undefined;
    return value === undefined ? [] : [[oidOf(id), textOf(value)]];
  });
}

type OtherName = readonly [oid: string, text: string];

/** The text without the spaces or zero octets with which authorities fill fields. */
function trimFiller(text: string): string {
  return text.replace(/^[\s\0]+|[\s\0]+$/g, '');
}

/** A CNPJ. Authorities write zeros for a missing one. */
function cnpjIn(text: string): string | undefined {
  const documento = text.length > FIELD_MAX ? '' : trimFiller(text);
  return CNPJ.test(documento) && !/^0+$/.test(documento) ? documento : undefined;
}

/** A CPF, from the long field of a person or alone, as some authorities write it. */
function cpfIn(text: string): string | undefined {
  const whole = text.length > FIELD_MAX ? '' : trimFiller(text);
  const documento = whole.length === CPF_LENGTH ? whole : text.slice(CPF_OFFSET, CPF_OFFSET + CPF_LENGTH);
  return CPF.test(documento) && !/^0+$/.test(documento) ? documento : undefined;
}

/** The bytes of every PEM block of a kind ('CERTIFICATE', 'X509 CRL'); text between the blocks is ignored. */
export function pemBlocks(pem: string, label: string): readonly Buffer[] {
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const blocks: Buffer[] = [];
  for (let at = pem.indexOf(begin); at >= 0; at = pem.indexOf(begin, at + 1)) {
    const stop = pem.indexOf(end, at);
    if (stop < 0) break;
    blocks.push(Buffer.from(pem.slice(at + begin.length, stop), 'base64'));
  }
  return blocks;
}

/** All certificates in a PEM text, in its order. A block that is no certificate is left out. */
export function certificatesOfPem(pem: string): readonly Certificate[] {
  return pemBlocks(pem, 'CERTIFICATE').flatMap((der) => {
    const certificate = readCertificate(der);
    return 'problem' in certificate ? [] : [certificate];
  });
}

/** Issuers remembered for a certificate; only an attack gives more than one of a name. */
const ISSUERS_MAX = 32;

/** The result of each issuer's check, by its fingerprint. */
const issuers = new WeakMap<Certificate, Map<string, boolean>>();

/** True when the key of an issuer made the signature of a certificate. The answer is kept with the certificate. */
export function isSignedBy(certificate: Certificate, issuer: Certificate): boolean {
  const known = issuers.getOrInsertComputed(certificate, () => new Map());
  const before = known.get(issuer.fingerprint);
  if (before !== undefined) return before;
  // A key of another kind than the algorithm needs throws.
  const isIt = attempt(() => certificate.x509.verify(issuer.publicKey)) ?? false;
  if (known.size >= ISSUERS_MAX) known.clear();
  known.set(issuer.fingerprint, isIt);
  return isIt;
}

/** D-31: a CNPJ by its first eight characters (any establishment of the company), a CPF in full. Both without mask. */
export function isHeldBy(holder: Holder, documento: string): boolean {
  if (holder.tipo === 'CPF') return documento === holder.documento;
  return documento.length === 14 && documento.slice(0, 8) === holder.documento.slice(0, 8);
}

/** The masked document for messages: a CNPJ shows the eight compared characters, a CPF the six in the middle. */
export function maskedDocument(documento: string): string {
  if (CNPJ.test(documento)) return `${documento.slice(0, 2)}.${documento.slice(2, 5)}.${documento.slice(5, 8)}/****-**`;
  if (CPF.test(documento)) return `***.${documento.slice(3, 6)}.${documento.slice(6, 9)}-**`;
  return '***';
}

/** Names of certificates end with the document of their holder, for a person a CPF. */
export function withoutDocument(name: string): string {
  return maskDocuments(name.replace(/\s*:[^:]*$/, ''));
}

/** A name may contain the document anywhere, and messages quote names. */
export function maskDocuments(text: string): string {
  return text.replace(/\b(?:\d{11}|[0-9A-Z]{12}\d{2})\b/g, maskedDocument);
}
