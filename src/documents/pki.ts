/**
 * A private "ICP-Brasil": authorities, certificates of companies and of persons with the fields that the national ones
 * carry, certificates of TLS servers, revocation lists. For trying out, for tests and for the simulator; nobody else
 * trusts them, and their names say "de Teste".
 *
 * Keys are made and handed on, never kept; files are written by who asks (`../flows/make-pki.ts`).
 */
import { createPublicKey, generateKeyPair, hash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { der, readAsn1 } from './asn1.ts';

const generate = promisify(generateKeyPair);

/** The least of ICP-Brasil's A1 certificates. */
const KEY_BITS = 2_048;
const SERIAL_BYTES = 16;

const OID = {
  sha256WithRsa: '1.2.840.113549.1.1.11',
  country: '2.5.4.6',
  organization: '2.5.4.10',
  organizationalUnit: '2.5.4.11',
  commonName: '2.5.4.3',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  reasonCode: '2.5.29.21',
  policies: '2.5.29.32',
  anyPolicy: '2.5.29.32.0',
  authorityKeyId: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  emailProtection: '1.3.6.1.5.5.7.3.4',
} as const;

/** Fields of ICP-Brasil in subjectAltName (DOC-ICP-04). */
const OTHER_NAME = {
  pessoa: '2.16.76.1.3.1',
  responsavel: '2.16.76.1.3.2',
  cnpj: '2.16.76.1.3.3',
  dadosDoResponsavel: '2.16.76.1.3.4',
  tituloDeEleitor: '2.16.76.1.3.5',
  ceiDaPessoa: '2.16.76.1.3.6',
  inss: '2.16.76.1.3.7',
} as const;

const RFB = 'Secretaria da Receita Federal de Teste';

/** The arc of A1 policies, and a number in it that no authority has. */
const POLICY_A1 = '2.16.76.1.2.1.99999';

/** Bits of keyUsage from the first on: digitalSignature 0, nonRepudiation 1, keyEncipherment 2, keyCertSign 5, cRLSign 6. */
const USAGE = { authority: [5, 6], holder: [0, 1, 2], server: [0, 2] } as const;

/** RFC 5280, 5.3.1. */
const REASON_KEY_COMPROMISE = 1;

export type Keys = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

/** Milliseconds since 1970. */
export type Validity = { readonly inicio: number; readonly fim: number };

/** Who signs certificates and lists. */
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

/** A new RSA key, made on the thread pool: ask for several at once. */
export async function newKeys(): Promise<Keys> {
  return generate('rsa', { modulusLength: KEY_BITS });
}

/** An authority that vouches for itself. */
export function rootAuthority(commonName: string, keys: Keys, validity: Validity): Authority {
  const name = nameOf(['Autoridade Certificadora Raiz de Teste'], commonName);
  const self = { certificate: Buffer.alloc(0), name, key: keys.privateKey };
  return { ...self, certificate: issue(self, authorityRequest(name, keys, validity, undefined)) };
}

/** An authority of end certificates under another one. */
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
      extension(OID.basicConstraints, der.sequence(...constraints), 'critical'),
      extension(OID.keyUsage, usage(USAGE.authority), 'critical'),
      extension(OID.policies, der.sequence(der.sequence(der.oid(OID.anyPolicy)))),
    ],
  };
}

/** An e-CNPJ of type A1; DER. */
export function companyCertificate(by: Authority, company: Company, publicKey: KeyObject, validity: Validity): Buffer {
  const { razaoSocial, cnpj, responsavel } = company;
  return issue(by, {
    name: nameOf([RFB, 'RFB e-CNPJ A1'], `${plain(razaoSocial)}:${cnpj}`),
    publicKey,
    validity,
    extensions: holderExtensions([
      [OTHER_NAME.responsavel, plain(responsavel.nome)],
      [OTHER_NAME.cnpj, cnpj],
      [OTHER_NAME.dadosDoResponsavel, personFields(responsavel)],
      [OTHER_NAME.inss, '0'.repeat(12)],
    ]),
  });
}

/** An e-CPF of type A1; DER. */
export function personCertificate(by: Authority, person: Person, publicKey: KeyObject, validity: Validity): Buffer {
  return issue(by, {
    name: nameOf([RFB, 'RFB e-CPF A1'], `${plain(person.nome)}:${person.cpf}`),
    publicKey,
    validity,
    extensions: holderExtensions([
      [OTHER_NAME.pessoa, personFields(person)],
      [OTHER_NAME.tituloDeEleitor, '0'.repeat(19)],
      [OTHER_NAME.ceiDaPessoa, '0'.repeat(12)],
    ]),
  });
}

/** Birth date (8), CPF (11), NIS (11), identity card (15) and its issuer (6): what is not known is zeros or spaces. */
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
    extension(OID.basicConstraints, der.sequence()),
    extension(OID.keyUsage, usage(USAGE.holder), 'critical'),
    extension(OID.extKeyUsage, der.sequence(der.oid(OID.clientAuth), der.oid(OID.emailProtection))),
    extension(OID.policies, der.sequence(der.sequence(der.oid(POLICY_A1)))),
    extension(OID.subjectAltName, der.sequence(...names)),
  ];
}

/** A TLS server's, for host names and addresses (IPv4 dotted, IPv6 as 16 octets in hex); DER. */
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
      extension(OID.basicConstraints, der.sequence()),
      extension(OID.keyUsage, usage(USAGE.server), 'critical'),
      extension(OID.extKeyUsage, der.sequence(der.oid(OID.serverAuth))),
      extension(OID.subjectAltName, der.sequence(...names)),
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

/** A revocation list of an authority over these certificates of its own (DER), maybe none; DER. */
export function revocationList(by: Authority, certificates: readonly Buffer[], validity: Validity): Buffer {
  const reason = der.sequence(extension(OID.reasonCode, der.enumerated(REASON_KEY_COMPROMISE)));
  const revoked = certificates.map((one) => der.sequence(serialOf(one), der.time(validity.inicio), reason));
  const list = der.sequence(
    der.integer(1),
    SIGNATURE_ALGORITHM,
    by.name,
    der.time(validity.inicio),
    der.time(validity.fim),
    ...(revoked.length === 0 ? [] : [der.sequence(...revoked)]),
    der.context(0, der.sequence(authorityKeyId(by), extension(OID.crlNumber, der.integer(1)))),
  );
  return signed(list, by.key);
}

/** The serial number of one of our certificates, as it stands: it follows the version. */
function serialOf(certificate: Buffer): Buffer {
  return readAsn1(certificate).children[0]!.children[1]!.raw;
}

const SIGNATURE_ALGORITHM = der.sequence(der.oid(OID.sha256WithRsa), der.null());

type Request = {
  readonly name: Buffer;
  readonly publicKey: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
};

function issue(by: Authority, { name, publicKey, validity, extensions }: Request): Buffer {
  const own = [authorityKeyId(by), extension(OID.subjectKeyId, der.octetString(keyIdOf(publicKey)))];
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
  return signed(certificate, by.key);
}

function signed(content: Buffer, key: KeyObject): Buffer {
  return der.sequence(content, SIGNATURE_ALGORITHM, der.bitString(sign('sha256', content, key)));
}

/** Positive, of full length, and so never one that was given before. */
function newSerial(): Buffer {
  const octets = randomBytes(SERIAL_BYTES);
  octets[0] = (octets[0]! & 0x3f) | 0x40;
  return der.integer(BigInt(`0x${octets.toString('hex')}`));
}

function nameOf(units: readonly string[], commonName: string): Buffer {
  const attribute = (oid: string, value: Buffer): Buffer => der.set(der.sequence(der.oid(oid), value));
  return der.sequence(
    attribute(OID.country, der.printable('BR')),
    attribute(OID.organization, der.utf8('ICP-Brasil de Teste')),
    ...units.map((unit) => attribute(OID.organizationalUnit, der.utf8(unit))),
    attribute(OID.commonName, der.utf8(commonName)),
  );
}

/** Capital letters without accents, as the authorities write names. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase();
}

function extension(oid: string, value: Buffer, critical?: 'critical'): Buffer {
  return der.sequence(der.oid(oid), ...(critical ? [der.boolean(true)] : []), der.octetString(value));
}

/** DER drops the zero bits at the end (X.690, 11.2.2). */
function usage(bits: readonly number[]): Buffer {
  const octet = bits.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  return der.bitString(Buffer.from([octet]), 7 - Math.max(...bits));
}

function authorityKeyId(by: Authority): Buffer {
  return extension(OID.authorityKeyId, der.sequence(der.contextPrimitive(0, keyIdOf(createPublicKey(by.key)))));
}

/** The left 160 bits of the SHA-256 of the key (RFC 7093, method 1, over the whole SubjectPublicKeyInfo as method 4). */
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
