/**
 * A private "ICP-Brasil": authorities, certificates of companies and of persons with the national fields, certificates of TLS servers,
 * revocation lists. It serves trials, tests and the simulator. Nobody else trusts these certificates, and their names say "de Teste".
 *
 * Keys are made and returned, never kept; the caller writes files (`../subjects/municipios/make-pki.ts`).
 */

import { createPublicKey, generateKeyPair, hash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { SHA256_WITH_RSA } from './algorithms.ts';
import { der, readAsn1 } from './asn1.ts';
import { ANY_POLICY, EXTENSION, ICP_BRASIL_NAME, NAME_PART, PURPOSE, TEST_POLICY_A1 } from './oids.ts';

const generate = promisify(generateKeyPair);

/** The minimum of ICP-Brasil for A1 certificates. */
const KEY_BITS = 2_048;
const SERIAL_BYTES = 16;

const RFB = 'Secretaria da Receita Federal de Teste';

/** Bits of keyUsage from the first on: digitalSignature 0, nonRepudiation 1, keyEncipherment 2, keyCertSign 5, cRLSign 6. */
const USAGE = { authority: [5, 6], holder: [0, 1, 2], server: [0, 2] } as const;

/** RFC 5280, 5.3.1. */
const REASON_KEY_COMPROMISE = 1;

export type Keys = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

/** Milliseconds since 1970. */
export type Validity = { readonly inicio: number; readonly fim: number };

/** The signer of certificates and lists. */
export type Authority = { readonly certificate: Buffer; readonly name: Buffer; readonly key: KeyObject };

/** A company, as its e-CNPJ describes it. */
export type Company = {
  readonly razaoSocial: string;
  readonly cnpj: string;
  readonly responsavel: Person;
};

export type Person = {
  readonly nome: string;
  readonly cpf: string;
  /** `YYYY-MM-DD` */
  readonly nascimento: string;
};

/** A new RSA key, made on the thread pool: several can be made at once. */
export async function newKeys(): Promise<Keys> {
  return generate('rsa', { modulusLength: KEY_BITS });
}

/** A root, which signs its own certificate. */
export function rootAuthority(commonName: string, keys: Keys, validity: Validity): Authority {
  const name = nameOf(['Autoridade Certificadora Raiz de Teste'], commonName);
  const self = { certificate: Buffer.alloc(0), name, key: keys.privateKey };
  return { ...self, certificate: issue(self, authorityRequest(name, keys, validity, undefined)) };
}

/** An authority for end certificates, below another one. */
export function intermediateAuthority(
  parent: Authority,
  commonName: string,
  keys: Keys,
  validity: Validity,
): Authority {
  const name = nameOf([RFB], commonName);
  return { certificate: issue(parent, authorityRequest(name, keys, validity, 0)), name, key: keys.privateKey };
}

function authorityRequest(name: Buffer, keys: Keys, validity: Validity, pathLength: number | undefined): Request {
  const constraints = [der.boolean(true), ...(pathLength === undefined ? [] : [der.integer(pathLength)])];
  return {
    name,
    publicKey: keys.publicKey,
    validity,
    extensions: [
      extension(EXTENSION.basicConstraints, der.sequence(...constraints), 'critical'),
      extension(EXTENSION.keyUsage, keyUsageBits(USAGE.authority), 'critical'),
      extension(EXTENSION.policies, der.sequence(der.sequence(der.oid(ANY_POLICY)))),
    ],
  };
}

/** An e-CNPJ of type A1; DER. */
export function companyCertificate(by: Authority, company: Company, publicKey: KeyObject, validity: Validity): Buffer {
  const { razaoSocial, cnpj, responsavel } = company;
  return issue(by, {
    name: nameOf([RFB, 'RFB e-CNPJ A1'], `${inPlainCapitals(razaoSocial)}:${cnpj}`),
    publicKey,
    validity,
    extensions: holderExtensions([
      [ICP_BRASIL_NAME.responsavel, inPlainCapitals(responsavel.nome)],
      [ICP_BRASIL_NAME.cnpj, cnpj],
      [ICP_BRASIL_NAME.dadosDoResponsavel, personFields(responsavel)],
      [ICP_BRASIL_NAME.inss, '0'.repeat(12)],
    ]),
  });
}

/** An e-CPF of type A1; DER. */
export function personCertificate(by: Authority, person: Person, publicKey: KeyObject, validity: Validity): Buffer {
  return issue(by, {
    name: nameOf([RFB, 'RFB e-CPF A1'], `${inPlainCapitals(person.nome)}:${person.cpf}`),
    publicKey,
    validity,
    extensions: holderExtensions([
      [ICP_BRASIL_NAME.pessoa, personFields(person)],
      [ICP_BRASIL_NAME.tituloDeEleitor, '0'.repeat(19)],
      [ICP_BRASIL_NAME.ceiDaPessoa, '0'.repeat(12)],
    ]),
  });
}

/** Birth date (8), CPF (11), NIS (11), identity card (15) and its issuer (6): unknown values are zeros or spaces. */
function personFields({ cpf, nascimento }: Person): string {
  const [year, month, day] = nascimento.split('-');
  return `${day}${month}${year}${cpf}${'0'.repeat(11)}${'0'.repeat(15)}${' '.repeat(6)}`;
}

function holderExtensions(fields: readonly (readonly [oid: string, text: string])[]): Buffer[] {
  const names = fields.map(([oid, text]) =>
    // The standard allows OCTET STRING or PrintableString; the authorities in use write the first.
    der.context(0, der.oid(oid), der.context(0, der.octetString(Buffer.from(text, 'latin1')))),
  );
  return [
    extension(EXTENSION.basicConstraints, der.sequence()),
    extension(EXTENSION.keyUsage, keyUsageBits(USAGE.holder), 'critical'),
    extension(EXTENSION.extKeyUsage, der.sequence(der.oid(PURPOSE.clientAuth), der.oid(PURPOSE.emailProtection))),
    extension(EXTENSION.policies, der.sequence(der.sequence(der.oid(TEST_POLICY_A1)))),
    extension(EXTENSION.subjectAltName, der.sequence(...names)),
  ];
}

/** The certificate of a TLS server, for host names and addresses (IPv4 dotted, IPv6 as 16 octets in hex); DER. */
export function serverCertificate(
  by: Authority,
  { dns, ips }: { readonly dns: readonly string[]; readonly ips: readonly string[] },
  publicKey: KeyObject,
  validity: Validity,
): Buffer {
  const names = [
    ...dns.map((host) => der.contextPrimitive(2, Buffer.from(host, 'latin1'))),
    ...ips.map((ip) => der.contextPrimitive(7, addressOctets(ip))),
  ];
  return issue(by, {
    name: nameOf(['Servidor de Teste'], dns[0] ?? ips[0]!),
    publicKey,
    validity,
    extensions: [
      extension(EXTENSION.basicConstraints, der.sequence()),
      extension(EXTENSION.keyUsage, keyUsageBits(USAGE.server), 'critical'),
      extension(EXTENSION.extKeyUsage, der.sequence(der.oid(PURPOSE.serverAuth))),
      extension(EXTENSION.subjectAltName, der.sequence(...names)),
    ],
  });
}

function addressOctets(ip: string): Buffer {
  if (ip === '::1') return Buffer.concat([Buffer.alloc(15), Buffer.from([1])]);
  const octets = ip.split('.').map(Number);
  if (octets.length !== 4 || octets.some((octet) => !(octet >= 0 && octet <= 255))) {
    throw new TypeError(`${ip} is neither a dotted IPv4 address nor ::1`);
  }
  return Buffer.from(octets);
}

/** A revocation list of an authority for some of its certificates (DER), possibly none; DER. */
export function revocationList(by: Authority, certificates: readonly Buffer[], validity: Validity): Buffer {
  const reason = der.sequence(extension(EXTENSION.reason, der.enumerated(REASON_KEY_COMPROMISE)));
  const revoked = certificates.map((one) => der.sequence(serialOf(one), der.time(validity.inicio), reason));
  const list = der.sequence(
    der.integer(1),
    SIGNATURE_ALGORITHM,
    by.name,
    der.time(validity.inicio),
    der.time(validity.fim),
    ...(revoked.length === 0 ? [] : [der.sequence(...revoked)]),
    der.context(0, der.sequence(authorityKeyId(by), extension(EXTENSION.crlNumber, der.integer(1)))),
  );
  return signContent(list, by.key);
}

/** The encoded serial number of one of our certificates, which follows the version. */
function serialOf(certificate: Buffer): Buffer {
  return readAsn1(certificate).children[0]!.children[1]!.raw;
}

const SIGNATURE_ALGORITHM = der.sequence(der.oid(SHA256_WITH_RSA), der.null());

type Request = {
  readonly name: Buffer;
  readonly publicKey: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
};

function issue(by: Authority, { name, publicKey, validity, extensions }: Request): Buffer {
  const own = [authorityKeyId(by), extension(EXTENSION.subjectKeyId, der.octetString(keyIdOf(publicKey)))];
  const certificate = der.sequence(
    der.context(0, der.integer(2)),
    newSerial(),
    SIGNATURE_ALGORITHM,
    by.name,
    der.sequence(der.time(validity.inicio), der.time(validity.fim)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der.context(3, der.sequence(...own, ...extensions)),
  );
  return signContent(certificate, by.key);
}

function signContent(content: Buffer, key: KeyObject): Buffer {
  return der.sequence(content, SIGNATURE_ALGORITHM, der.bitString(sign('sha256', content, key)));
}

/** A positive serial number of full length: chance never repeats one. */
function newSerial(): Buffer {
  const octets = randomBytes(SERIAL_BYTES);
  octets[0] = (octets[0]! & 0x3f) | 0x40;
  return der.integer(BigInt(`0x${octets.toString('hex')}`));
}

function nameOf(units: readonly string[], commonName: string): Buffer {
  const attribute = (oid: string, value: Buffer): Buffer => der.set(der.sequence(der.oid(oid), value));
  return der.sequence(
    attribute(NAME_PART.country, der.printable('BR')),
    attribute(NAME_PART.organization, der.utf8('ICP-Brasil de Teste')),
    ...units.map((unit) => attribute(NAME_PART.organizationalUnit, der.utf8(unit))),
    attribute(NAME_PART.commonName, der.utf8(commonName)),
  );
}

/** Capital letters without accents, as the authorities write names. */
function inPlainCapitals(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase();
}

function extension(oid: string, value: Buffer, critical?: 'critical'): Buffer {
  return der.sequence(der.oid(oid), ...(critical ? [der.boolean(true)] : []), der.octetString(value));
}

/** DER drops the zero bits at the end (X.690, 11.2.2). */
function keyUsageBits(bits: readonly number[]): Buffer {
  const octet = bits.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  return der.bitString(Buffer.from([octet]), 7 - Math.max(...bits));
}

function authorityKeyId(by: Authority): Buffer {
  return extension(EXTENSION.authorityKeyId, der.sequence(der.contextPrimitive(0, keyIdOf(createPublicKey(by.key)))));
}

/** The left 160 bits of the key's SHA-256 (RFC 7093, method 1, over the whole SubjectPublicKeyInfo as in method 4). */
function keyIdOf(publicKey: KeyObject): Buffer {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'buffer').subarray(0, 20);
}

/** PEM of one or several DER values. */
export function pemOf(label: 'CERTIFICATE' | 'X509 CRL', ...values: readonly Buffer[]): string {
  return values
    .map(
      (value) =>
        `-----BEGIN ${label}-----\n${value.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`,
    )
    .join('');
}
