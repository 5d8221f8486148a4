/**
 * PKCS#12 (.pfx, .p12) in and out, RFC 7292: how a certificate of type A1 is handed over, its key and its chain under a
 * password. The container and the derivation of keys are read here; the ciphers are those of `node:crypto`, and RC2,
 * which OpenSSL has put away and the authorities still write, is node-forge's, loaded when a file asks for it.
 *
 * Keys that are not under a password of the reader (privacy by public key) and RC4 are not read.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  hash,
  type KeyObject,
  pbkdf2,
  randomBytes,
  timingSafeEqual,
  X509Certificate,
} from 'node:crypto';
import { promisify } from 'node:util';
import { type Asn1, Asn1Error, der, isContext, isUniversal, octetsOf, oidOf, readAsn1, TAG } from './asn1.ts';

const deriveKey = promisify(pbkdf2);

/** OpenSSL writes 2,048, Windows 2,000, the most careful program a million. */
const ITERATIONS_MAX = 10_000_000;
/** Of the files we write: a few milliseconds for the owner of the password. */
const ITERATIONS_WRITTEN = 10_000;
const SALT_BYTES = 16;
/** A chain is three certificates; a key store with all of ICP-Brasil in it is a mistake. */
const CERTIFICATES_MAX = 100;
/** SafeContents may hold SafeContents. */
const NESTING_MAX = 4;

const OID = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  encryptedData: '1.2.840.113549.1.7.6',
  keyBag: '1.2.840.113549.1.12.10.1.1',
  shroudedKeyBag: '1.2.840.113549.1.12.10.1.2',
  certBag: '1.2.840.113549.1.12.10.1.3',
  safeContentsBag: '1.2.840.113549.1.12.10.1.6',
  x509Certificate: '1.2.840.113549.1.9.22.1',
  localKeyId: '1.2.840.113549.1.9.21',
  pbes2: '1.2.840.113549.1.5.13',
  pbkdf2: '1.2.840.113549.1.5.12',
  hmacSha256: '1.2.840.113549.2.9',
  aes256Cbc: '2.16.840.1.101.3.4.1.42',
  sha256: '2.16.840.1.101.3.4.2.1',
} as const;

/** Digests of the MAC: name for `node:crypto` and the block that the derivation of RFC 7292 fills. */
const DIGESTS: Readonly<Record<string, Digest>> = {
  '1.3.14.3.2.26': { name: 'sha1', blockBytes: 64 },
  '2.16.840.1.101.3.4.2.4': { name: 'sha224', blockBytes: 64 },
  [OID.sha256]: { name: 'sha256', blockBytes: 64 },
  '2.16.840.1.101.3.4.2.2': { name: 'sha384', blockBytes: 128 },
  '2.16.840.1.101.3.4.2.3': { name: 'sha512', blockBytes: 128 },
};

/** The pseudo-random functions of PBKDF2. */
const PRFS: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  [OID.hmacSha256]: 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};

type Cipher = { readonly name: string; readonly keyBytes: number };

/** Of PBES2, RFC 8018. */
const CIPHERS: Readonly<Record<string, Cipher>> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyBytes: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyBytes: 24 },
  [OID.aes256Cbc]: { name: 'aes-256-cbc', keyBytes: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', keyBytes: 24 },
};

/** Of RFC 7292, appendix C, all with SHA-1. */
const OLD_CIPHERS: Readonly<Record<string, Cipher>> = {
  '1.2.840.113549.1.12.1.3': { name: 'des-ede3-cbc', keyBytes: 24 },
  '1.2.840.113549.1.12.1.4': { name: 'des-ede-cbc', keyBytes: 16 },
  '1.2.840.113549.1.12.1.5': { name: 'rc2', keyBytes: 16 },
  '1.2.840.113549.1.12.1.6': { name: 'rc2', keyBytes: 5 },
};
const OLD_IV_BYTES = 8;

type Digest = { readonly name: string; readonly blockBytes: number };

const SHA1: Digest = { name: 'sha1', blockBytes: 64 };

/** A password as the two families of ciphers want it: UTF-16 with a closing zero, and plain octets. */
type Password = { readonly wide: Buffer; readonly narrow: Buffer };

export type Pfx = {
  /** PKCS#8, not encrypted. */
  readonly keyPem: string;
  /** DER; the one that belongs to the key comes first, when it is there. */
  readonly certificates: readonly Buffer[];
};

/** These octets did not open with this password: another form of it may. */
class WrongPassword extends Error {}

/**
 * The key and the certificates of a PKCS#12. Throws an Error in Portuguese that tells a wrong password from a file that
 * is something else; the caller knows the file's name.
 */
export async function readPfx(bytes: Uint8Array, senha: string): Promise<Pfx> {
  const { safe, mac } = containerOf(bytes);
  for (const password of passwordForms(senha)) {
    if (mac !== undefined && !macHolds(mac, safe, password)) continue;
    try {
      return await openSafe(safe, password);
    } catch (error) {
      if (!(error instanceof WrongPassword)) throw inOurWords(error);
    }
  }
  throw new Error(
    senha === ''
      ? 'o PKCS#12 tem senha, e nenhuma foi informada. Informe, com --senha-arquivo (de um município, --adn-senha-arquivo), o arquivo que traz na primeira linha a senha com que o certificado foi exportado.'
      : `a senha informada não abre o PKCS#12. Confira-a${/^\s|\s$/.test(senha) ? ' (ela começa ou termina com espaço)' : ''}; maiúsculas e minúsculas contam.`,
  );
}

function inOurWords(error: unknown): unknown {
  return error instanceof Asn1Error ? new Error('o PKCS#12 está corrompido: confere com a senha e não se lê.') : error;
}

type Mac = { readonly digest: Digest; readonly value: Buffer; readonly salt: Buffer; readonly iterations: number };

/** What the outermost layer holds, before any password. */
function containerOf(bytes: Uint8Array): { readonly safe: Buffer; readonly mac: Mac | undefined } {
  const seems = otherThanPfx(bytes);
  if (seems !== undefined) throw new Error(seems);
  try {
    const [version, authSafe, macData] = readAsn1(bytes).children;
    if (!isUniversal(version, TAG.integer) || authSafe === undefined) throw new Asn1Error('no PFX');
    const kind = oidOf(authSafe.children[0]);
    if (kind === OID.signedData)
      throw new Error('o PKCS#12 é protegido por chave pública, e só se lê o que tem senha.');
    if (kind !== OID.data) throw new Asn1Error('no PFX');
    return { safe: octetsOf(inside(authSafe.children[1])), mac: macData === undefined ? undefined : macOf(macData) };
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    throw new Error('não é um PKCS#12 (.pfx ou .p12), ou está incompleto. Exporte o certificado de novo, com a chave.');
  }
}

/** A usual confusion, said by name. */
function otherThanPfx(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) return 'está vazio.';
  const text = buffer.subarray(0, 4096).toString('latin1').trimStart();
  if (text.startsWith('-----BEGIN')) {
    return 'é um PEM, e não um PKCS#12. No lugar de --pfx, use --certificado e --chave (de um município, --adn-certificado e --adn-chave).';
  }
  if (/^MII[A-Za-z0-9+/]{40}/.test(text)) {
    return 'está em Base64. Decodifique-o antes (base64 -d) para ter o PKCS#12 binário.';
  }
  try {
    const [inner] = readAsn1(buffer).children;
    // A certificate begins with the sequence that is signed, a PKCS#12 with its version.
    if (isUniversal(inner, TAG.sequence)) {
      return 'é só um certificado, sem a chave. Exporte do repositório de certificados com a chave privada (.pfx).';
    }
  } catch {
    // What it is not is said by who reads it.
  }
  return undefined;
}

function macOf(macData: Asn1): Mac | undefined {
  const [digestInfo, salt, iterations] = macData.children;
  const [algorithm, value] = present(digestInfo).children;
  // A MAC of another kind (RFC 9579) is left unchecked: decryption and the key's certificate say whether it opened.
  const digest = DIGESTS[oidOf(algorithm?.children[0])];
  if (digest === undefined) return undefined;
  return {
    digest,
    value: octetsOf(present(value)),
    salt: octetsOf(present(salt)),
    iterations: iterations === undefined ? 1 : iterationsOf(iterations),
  };
}

function iterationsOf(value: Asn1 | undefined): number {
  if (!isUniversal(value, TAG.integer) || value.content.length === 0 || value.content.length > 6) {
    throw new Asn1Error('no number of iterations');
  }
  const iterations = value.content.readUIntBE(0, value.content.length);
  if (iterations < 1 || iterations > ITERATIONS_MAX) throw new Asn1Error('an absurd number of iterations');
  return iterations;
}

function present(value: Asn1 | undefined): Asn1 {
  if (value === undefined) throw new Asn1Error('something is missing');
  return value;
}

/** What an explicit tag is around. */
function inside(value: Asn1 | undefined): Asn1 {
  return present(value?.children[0]);
}

function macHolds({ digest, value, salt, iterations }: Mac, safe: Buffer, { wide }: Password): boolean {
  const length = hash(digest.name, '', 'buffer').length;
  const key = pkcs12Key(digest, { password: wide, salt, iterations, purpose: PURPOSE.mac, length });
  const computed = createHmac(digest.name, key).update(safe).digest();
  return computed.length === value.length && timingSafeEqual(computed, value);
}

type Bags = { keys: KeyObject[]; certificates: Buffer[] };

async function openSafe(safe: Buffer, password: Password): Promise<Pfx> {
  const bags: Bags = { keys: [], certificates: [] };
  for (const info of decrypted(() => readAsn1(safe)).children) {
    const kind = oidOf(info.children[0]);
    const content = inside(info.children[1]);
    if (kind === OID.data) await readBags(readAsn1(octetsOf(content)), password, bags, 1);
    else if (kind === OID.encryptedData) {
      const [, algorithm, octets] = present(content.children[1]).children;
      if (!isContext(octets, 0)) throw new Asn1Error('nothing encrypted here');
      const plain = await decrypt(present(algorithm), octetsOf(octets), password);
      await readBags(
        decrypted(() => readAsn1(plain)),
        password,
        bags,
        1,
      );
    } else throw new Error('o PKCS#12 tem uma parte protegida por chave pública, e só se lê o que tem senha.');
  }
  return chosen(bags);
}

/** Octets that a wrong password made look like well padded ones are still no ASN.1. */
function decrypted(read: () => Asn1): Asn1 {
  try {
    return read();
  } catch {
    throw new WrongPassword();
  }
}

async function readBags(contents: Asn1, password: Password, bags: Bags, depth: number): Promise<void> {
  if (depth > NESTING_MAX) throw new Asn1Error('nested too deep');
  for (const bag of contents.children) {
    const value = inside(bag.children[1]);
    switch (oidOf(bag.children[0])) {
      case OID.keyBag:
        bags.keys.push(keyOf(value.raw));
        break;
      case OID.shroudedKeyBag: {
        const [algorithm, octets] = value.children;
        bags.keys.push(keyOf(await decrypt(present(algorithm), octetsOf(present(octets)), password)));
        break;
      }
      case OID.certBag:
        if (oidOf(value.children[0]) === OID.x509Certificate && bags.certificates.length < CERTIFICATES_MAX) {
          bags.certificates.push(octetsOf(inside(value.children[1])));
        }
        break;
      case OID.safeContentsBag:
        await readBags(value, password, bags, depth + 1);
        break;
      default: // Revocation lists and secrets are none of our business.
    }
  }
}

function keyOf(pkcs8: Buffer): KeyObject {
  try {
    return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  } catch {
    throw new WrongPassword();
  }
}

function chosen({ keys, certificates }: Bags): Pfx {
  const [firstKey] = keys;
  if (firstKey === undefined) {
    throw new Error('o PKCS#12 não traz chave privada. Exporte o certificado de novo, marcando a exportação da chave.');
  }
  if (certificates.length === 0) throw new Error('o PKCS#12 não traz certificado, só a chave.');
  for (const key of keys) {
    const own = certificates.findIndex((certificate) => isPair(certificate, key));
    if (own >= 0) {
      const rest = certificates.filter((_, index) => index !== own);
      return { keyPem: pemOf(key), certificates: [certificates[own]!, ...rest] };
    }
  }
  return { keyPem: pemOf(firstKey), certificates };
}

function isPair(certificate: Buffer, key: KeyObject): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(key);
  } catch {
    return false;
  }
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

async function decrypt(algorithm: Asn1, octets: Buffer, password: Password): Promise<Buffer> {
  const [oid, parameters] = algorithm.children;
  const name = oidOf(oid);
  if (name === OID.pbes2) return decryptPbes2(present(parameters), octets, password);
  const cipher = OLD_CIPHERS[name];
  if (cipher === undefined) {
    throw new Error(`o PKCS#12 usa uma cifra que não se lê (OID ${name}). Exporte-o de novo com AES ou 3DES.`);
  }
  const salt = octetsOf(present(parameters?.children[0]));
  const iterations = iterationsOf(parameters?.children[1]);
  const derive = (purpose: number, length: number): Buffer =>
    pkcs12Key(SHA1, { password: password.wide, salt, iterations, purpose, length });
  return deciphered(cipher.name, derive(PURPOSE.key, cipher.keyBytes), derive(PURPOSE.iv, OLD_IV_BYTES), octets);
}

async function decryptPbes2(parameters: Asn1, octets: Buffer, { narrow }: Password): Promise<Buffer> {
  const [derivation, scheme] = parameters.children;
  const [schemeOid, iv] = present(scheme).children;
  const cipher = CIPHERS[oidOf(schemeOid)];
  const [derivationOid, settings] = present(derivation).children;
  const [salt, iterations, ...rest] = present(settings).children;
  const prfOid = rest.find((value) => isUniversal(value, TAG.sequence))?.children[0];
  const prf = prfOid === undefined ? 'sha1' : PRFS[oidOf(prfOid)];
  if (cipher === undefined || prf === undefined || oidOf(derivationOid) !== OID.pbkdf2) {
    throw new Error('o PKCS#12 usa uma cifra que não se lê. Exporte-o de novo com AES-256 e PBKDF2.');
  }
  const key = await deriveKey(narrow, octetsOf(present(salt)), iterationsOf(iterations), cipher.keyBytes, prf);
  return deciphered(cipher.name, key, octetsOf(present(iv)), octets);
}

async function deciphered(cipher: string, key: Buffer, iv: Buffer, octets: Buffer): Promise<Buffer> {
  if (cipher === 'rc2') return decipheredRc2(key, iv, octets);
  try {
    const decipher = createDecipheriv(cipher, key, iv);
    return Buffer.concat([decipher.update(octets), decipher.final()]);
  } catch {
    throw new WrongPassword();
  }
}

async function decipheredRc2(key: Buffer, iv: Buffer, octets: Buffer): Promise<Buffer> {
  const { default: forge } = await import('node-forge');
  const cipher = forge.rc2.createDecryptionCipher(key.toString('latin1'), key.length * 8);
  cipher.start(iv.toString('latin1'));
  cipher.update(forge.util.createBuffer(octets.toString('latin1')));
  if (!cipher.finish()) throw new WrongPassword();
  return Buffer.from(cipher.output.getBytes(), 'latin1');
}

/** RFC 7292, appendix B.3: what the derived octets are for. */
const PURPOSE = { key: 1, iv: 2, mac: 3 } as const;

type Derivation = {
  readonly password: Buffer;
  readonly salt: Buffer;
  readonly iterations: number;
  readonly purpose: number;
  readonly length: number;
};

/** The derivation of RFC 7292, appendix B.2, whose letters are kept. */
function pkcs12Key(
  { name, blockBytes: v }: Digest,
  { password, salt, iterations, purpose, length }: Derivation,
): Buffer {
  const D = Buffer.alloc(v, purpose);
  const I = Buffer.concat([filled(salt, v), filled(password, v)]);
  const parts: Buffer[] = [];
  for (let have = 0; have < length; ) {
    let A = Buffer.concat([D, I]);
    for (let round = 0; round < iterations; round += 1) A = hash(name, A, 'buffer');
    parts.push(A);
    have += A.length;
    const B = Buffer.alloc(v, A);
    for (let block = 0; block < I.length; block += v) addPlusOne(I.subarray(block, block + v), B);
  }
  return Buffer.concat(parts).subarray(0, length);
}

/** Repeated to whole blocks; nothing stays nothing. */
function filled(octets: Buffer, block: number): Buffer {
  return octets.length === 0 ? octets : Buffer.alloc(Math.ceil(octets.length / block) * block, octets);
}

/** `number` + `addend` + 1, in its own octets. */
function addPlusOne(number: Buffer, addend: Buffer): void {
  let carry = 1;
  for (let i = number.length - 1; i >= 0; i -= 1) {
    const sum = number[i]! + addend[i]! + carry;
    number[i] = sum & 0xff;
    carry = sum >> 8;
  }
}

/**
 * The octets a password may have become. The standard has one way; programs that took it for bytes have others, and an
 * empty one is written with or without its closing zero.
 */
function passwordForms(senha: string): Password[] {
  const narrow = Buffer.from(senha, 'utf8');
  if (senha === '') {
    return [
      { wide: wideOf(''), narrow },
      { wide: Buffer.alloc(0), narrow },
    ];
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII
  if (/^[\x00-\x7f]*$/.test(senha)) return [{ wide: wideOf(senha), narrow }];
  return [
    { wide: wideOf(senha), narrow },
    { wide: wideOf(narrow.toString('latin1')), narrow },
    { wide: wideOf(senha), narrow: Buffer.from(senha, 'latin1') },
  ];
}

function wideOf(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf16le').swap16();
}

/**
 * A PKCS#12 that every present program reads: AES-256 with PBKDF2 and a MAC of SHA-256. `certificates` are DER, that of
 * the key first.
 */
export async function writePfx(key: KeyObject, certificates: readonly Buffer[], senha: string): Promise<Buffer> {
  const [password] = passwordForms(senha);
  const [own] = certificates;
  const keyId = der.sequence(
    der.oid(OID.localKeyId),
    der.set(der.octetString(own === undefined ? Buffer.alloc(1) : hash('sha1', own, 'buffer'))),
  );
  const certBags = certificates.map((certificate, index) =>
    der.sequence(
      der.oid(OID.certBag),
      der.context(0, der.sequence(der.oid(OID.x509Certificate), der.context(0, der.octetString(certificate)))),
      ...(index === 0 ? [der.set(keyId)] : []),
    ),
  );
  const [keyPart, certPart] = await Promise.all([
    encrypted(key.export({ type: 'pkcs8', format: 'der' }), password!),
    encrypted(der.sequence(...certBags), password!),
  ]);
  const keyBag = der.sequence(
    der.oid(OID.shroudedKeyBag),
    der.context(0, der.sequence(keyPart.algorithm, der.octetString(keyPart.octets))),
    der.set(keyId),
  );
  const safe = der.sequence(
    der.sequence(
      der.oid(OID.encryptedData),
      der.context(
        0,
        der.sequence(
          der.integer(0),
          der.sequence(der.oid(OID.data), certPart.algorithm, der.contextPrimitive(0, certPart.octets)),
        ),
      ),
    ),
    dataInfo(der.sequence(keyBag)),
  );
  return der.sequence(der.integer(3), dataInfo(safe), macDataOf(safe, password!));
}

function dataInfo(octets: Buffer): Buffer {
  return der.sequence(der.oid(OID.data), der.context(0, der.octetString(octets)));
}

async function encrypted(
  plain: Buffer,
  { narrow }: Password,
): Promise<{ readonly algorithm: Buffer; readonly octets: Buffer }> {
  const { name, keyBytes } = CIPHERS[OID.aes256Cbc]!;
  const [salt, iv] = [randomBytes(SALT_BYTES), randomBytes(16)];
  const cipher = createCipheriv(name, await deriveKey(narrow, salt, ITERATIONS_WRITTEN, keyBytes, 'sha256'), iv);
  const octets = Buffer.concat([cipher.update(plain), cipher.final()]);
  const prf = der.sequence(der.oid(OID.hmacSha256), der.null());
  const derivation = der.sequence(
    der.oid(OID.pbkdf2),
    der.sequence(der.octetString(salt), der.integer(ITERATIONS_WRITTEN), prf),
  );
  const scheme = der.sequence(der.oid(OID.aes256Cbc), der.octetString(iv));
  return { algorithm: der.sequence(der.oid(OID.pbes2), der.sequence(derivation, scheme)), octets };
}

function macDataOf(safe: Buffer, { wide }: Password): Buffer {
  const digest = DIGESTS[OID.sha256]!;
  const salt = randomBytes(SALT_BYTES);
  const wanted = { password: wide, salt, iterations: ITERATIONS_WRITTEN, purpose: PURPOSE.mac, length: 32 };
  const value = createHmac(digest.name, pkcs12Key(digest, wanted)).update(safe).digest();
  return der.sequence(
    der.sequence(der.sequence(der.oid(OID.sha256), der.null()), der.octetString(value)),
    der.octetString(salt),
    der.integer(ITERATIONS_WRITTEN),
  );
}
