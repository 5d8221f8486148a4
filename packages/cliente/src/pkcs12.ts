/**
 * Opens a PKCS#12 (.pfx, .p12, RFC 7292) with its password, and reads its keys and certificates. The ciphers are those
 * of the platform, and RC2 (`rc2.ts`); RC4, and a part under a public key, are not read. The caller finds the pair of
 * key and certificate, and words a refusal.
 */
import {
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  type KeyObject,
  pbkdf2Sync,
  timingSafeEqual,
} from 'node:crypto';
import { type Asn1, Asn1Ilegivel, ID, lerAsn1, octetosDe, oidDe } from './asn1.ts';
import { OID } from './oids.ts';
import { decifrarRc2 } from './rc2.ts';

/** OpenSSL writes 2,048, Windows 2,000, the most careful program a million. */
const ITERATIONS_MAX = 10_000_000;
/** A chain is three certificates; a key store with all of ICP-Brasil in it is a mistake. */
const CERTIFICATES_MAX = 100;
/** SafeContents may hold SafeContents. */
const NESTING_MAX = 4;

export type Pkcs12 = {
  readonly keys: readonly KeyObject[];
  /** DER, in the order of the file. */
  readonly certificates: readonly Buffer[];
};

export type Pkcs12Problem =
  | 'not_pkcs12'
  | 'wrong_password'
  /** The password opens the file, but its content cannot be parsed. */
  | 'corrupt'
  | 'under_public_key'
  | 'part_under_public_key'
  | 'unknown_cipher'
  | 'unknown_derivation';

/** The reason why a file does not open. `oid`: the unknown cipher. */
export class Pkcs12Refused extends Error {
  readonly problem: Pkcs12Problem;
  readonly oid: string | undefined;

  constructor(problem: Pkcs12Problem, more: { readonly oid?: string; readonly cause?: unknown } = {}) {
    super(problem, { cause: more.cause });
    this.problem = problem;
    this.oid = more.oid;
  }
}

/** This form of the password did not open the octets: another form may. */
class NotOpened extends Error {}

/** A password in the forms of the two cipher families: UTF-16 with a closing zero, and plain octets. */
type Password = { readonly wide: Buffer; readonly narrow: Buffer };

/** Opens the file, or throws {@link Pkcs12Refused}. */
export function openPkcs12(bytes: Uint8Array, password: string): Pkcs12 {
  const { safe, mac } = containerOf(bytes);
  for (const form of passwordForms(password)) {
    if (mac !== undefined && !isMacRight(mac, safe, form)) continue;
    try {
      return openSafe(safe, form);
    } catch (cause) {
      if (cause instanceof NotOpened) continue;
      throw cause instanceof Asn1Ilegivel ? new Pkcs12Refused('corrupt', { cause }) : cause;
    }
  }
  throw new Pkcs12Refused('wrong_password');
}

type Mac = { readonly digest: Digest; readonly value: Buffer; readonly salt: Buffer; readonly iterations: number };

/** The content of the outermost layer, before any password. */
function containerOf(bytes: Uint8Array): { readonly safe: Buffer; readonly mac: Mac | undefined } {
  try {
    const [version, authSafe, macData] = lerAsn1(bytes).filhos;
    if (version?.id !== ID.inteiro || authSafe === undefined) throw new Asn1Ilegivel('no PFX');
    const kind = oidDe(authSafe.filhos[0]);
    if (kind === OID.signedData) throw new Pkcs12Refused('under_public_key');
    if (kind !== OID.data) throw new Asn1Ilegivel('no PFX');
    return { safe: octetosDe(inside(authSafe.filhos[1])), mac: macData === undefined ? undefined : macOf(macData) };
  } catch (cause) {
    throw cause instanceof Asn1Ilegivel ? new Pkcs12Refused('not_pkcs12', { cause }) : cause;
  }
}

/** A MAC of another kind (RFC 9579) is not checked: decryption and the match of key and certificate prove the password. */
function macOf({ filhos: [digestInfo, salt, iterations] }: Asn1): Mac | undefined {
  const [algorithm, value] = demand(digestInfo).filhos;
  const digest = DIGESTS[oidDe(algorithm?.filhos[0])];
  if (digest === undefined) return undefined;
  return {
    digest,
    value: octetosDe(demand(value)),
    salt: octetosDe(demand(salt)),
    iterations: iterations === undefined ? 1 : iterationsOf(iterations),
  };
}

function isMacRight({ digest, value, salt, iterations }: Mac, safe: Buffer, { wide }: Password): boolean {
  const length = createHash(digest.name).digest().length;
  const key = derivedKey(digest, { password: wide, salt, iterations, purpose: PURPOSE.mac, length });
  const computed = createHmac(digest.name, key).update(safe).digest();
  return computed.length === value.length && timingSafeEqual(computed, value);
}

type Bags = { readonly keys: KeyObject[]; readonly certificates: Buffer[] };

function openSafe(safe: Buffer, password: Password): Pkcs12 {
  const bags: Bags = { keys: [], certificates: [] };
  for (const info of readDecrypted(safe).filhos) {
    const kind = oidDe(info.filhos[0]);
    const content = inside(info.filhos[1]);
    if (kind === OID.data) readBags(lerAsn1(octetosDe(content)), password, bags, 1);
    else if (kind === OID.encryptedData) {
      const [, algorithm, octets] = demand(content.filhos[1]).filhos;
      if (octets?.id !== ID.contexto0 && octets?.id !== ID.contexto0Simples)
        throw new Asn1Ilegivel('nothing encrypted');
      readBags(readDecrypted(decrypt(demand(algorithm), octetosDe(demand(octets)), password)), password, bags, 1);
    } else throw new Pkcs12Refused('part_under_public_key');
  }
  return bags;
}

/** A wrong password may give valid padding by chance, but no ASN.1. */
function readDecrypted(octets: Buffer): Asn1 {
  try {
    return lerAsn1(octets);
  } catch {
    throw new NotOpened();
  }
}

function readBags(contents: Asn1, password: Password, bags: Bags, depth: number): void {
  if (depth > NESTING_MAX) throw new Asn1Ilegivel('nested too deep');
  for (const { filhos } of contents.filhos) {
    const value = inside(filhos[1]);
    const [first, second] = value.filhos;
    switch (oidDe(filhos[0])) {
      case OID.keyBag:
        bags.keys.push(keyOf(value.inteiro));
        break;
      case OID.shroudedKeyBag:
        bags.keys.push(keyOf(decrypt(demand(first), octetosDe(demand(second)), password)));
        break;
      case OID.certBag:
        if (oidDe(first) === OID.x509Certificate && bags.certificates.length < CERTIFICATES_MAX)
          bags.certificates.push(octetosDe(inside(second)));
        break;
      case OID.safeContentsBag:
        readBags(value, password, bags, depth + 1);
        break;
      default: // Revocation lists and secrets are not read.
    }
  }
}

function keyOf(pkcs8: Buffer): KeyObject {
  try {
    return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  } catch {
    throw new NotOpened();
  }
}

type Cipher = { readonly name: string; readonly keyBytes: number };

/** Ciphers of PBES2, RFC 8018. */
const CIPHERS: Readonly<Record<string, Cipher>> = {
  [OID.aes128]: { name: 'aes-128-cbc', keyBytes: 16 },
  [OID.aes192]: { name: 'aes-192-cbc', keyBytes: 24 },
  [OID.aes256]: { name: 'aes-256-cbc', keyBytes: 32 },
  [OID.tripleDes]: { name: 'des-ede3-cbc', keyBytes: 24 },
};

/** Ciphers of RFC 7292, appendix C, all with SHA-1. */
const OLD_CIPHERS: Readonly<Record<string, Cipher>> = {
  [OID.pbeSha1TripleDes]: { name: 'des-ede3-cbc', keyBytes: 24 },
  [OID.pbeSha1TwoKeyDes]: { name: 'des-ede-cbc', keyBytes: 16 },
  [OID.pbeSha1Rc2Of128]: { name: 'rc2', keyBytes: 16 },
  [OID.pbeSha1Rc2Of40]: { name: 'rc2', keyBytes: 5 },
};
const OLD_IV_BYTES = 8;

/** The pseudo-random functions of PBKDF2. */
const PRFS: Readonly<Record<string, string>> = {
  [OID.hmacSha1]: 'sha1',
  [OID.hmacSha224]: 'sha224',
  [OID.hmacSha256]: 'sha256',
  [OID.hmacSha384]: 'sha384',
  [OID.hmacSha512]: 'sha512',
};

function decrypt({ filhos: [name, parameters] }: Asn1, octets: Buffer, password: Password): Buffer {
  const oid = oidDe(name);
  if (oid === OID.pbes2) return decryptPbes2(demand(parameters), octets, password);
  const cipher = OLD_CIPHERS[oid];
  if (cipher === undefined) throw new Pkcs12Refused('unknown_cipher', { oid });
  const salt = octetosDe(demand(parameters?.filhos[0]));
  const iterations = iterationsOf(parameters?.filhos[1]);
  const derive = (purpose: number, length: number): Buffer =>
    derivedKey(SHA1, { password: password.wide, salt, iterations, purpose, length });
  return decipher(cipher.name, derive(PURPOSE.key, cipher.keyBytes), derive(PURPOSE.iv, OLD_IV_BYTES), octets);
}

function decryptPbes2({ filhos: [derivation, scheme] }: Asn1, octets: Buffer, { narrow }: Password): Buffer {
  const [schemeOid, iv] = demand(scheme).filhos;
  const cipher = CIPHERS[oidDe(schemeOid)];
  const [derivationOid, settings] = demand(derivation).filhos;
  const [salt, iterations, ...rest] = demand(settings).filhos;
  const prfOid = rest.find(({ id }) => id === ID.sequencia)?.filhos[0];
  const prf = prfOid === undefined ? 'sha1' : PRFS[oidDe(prfOid)];
  if (cipher === undefined || prf === undefined || oidDe(derivationOid) !== OID.pbkdf2)
    throw new Pkcs12Refused('unknown_derivation');
  const key = pbkdf2Sync(narrow, octetosDe(demand(salt)), iterationsOf(iterations), cipher.keyBytes, prf);
  return decipher(cipher.name, key, octetosDe(demand(iv)), octets);
}

function decipher(cipher: string, key: Buffer, iv: Buffer, octets: Buffer): Buffer {
  try {
    if (cipher === 'rc2') return decifrarRc2(octets, key, iv);
    const decipher = createDecipheriv(cipher, key, iv);
    return Buffer.concat([decipher.update(octets), decipher.final()]);
  } catch {
    throw new NotOpened();
  }
}

function iterationsOf(value: Asn1 | undefined): number {
  const { id, conteudo } = demand(value);
  if (id !== ID.inteiro || conteudo.length === 0 || conteudo.length > 6)
    throw new Asn1Ilegivel('no number of iterations');
  const iterations = conteudo.readUIntBE(0, conteudo.length);
  if (iterations < 1 || iterations > ITERATIONS_MAX) throw new Asn1Ilegivel('an absurd number of iterations');
  return iterations;
}

function demand(value: Asn1 | undefined): Asn1 {
  if (value === undefined) throw new Asn1Ilegivel('something is missing');
  return value;
}

/** The value inside an explicit tag. */
function inside(value: Asn1 | undefined): Asn1 {
  return demand(value?.filhos[0]);
}

type Digest = { readonly name: string; readonly blockBytes: number };

const SHA1: Digest = { name: 'sha1', blockBytes: 64 };
export const SHA256: Digest = { name: 'sha256', blockBytes: 64 };

/** Digests of the MAC, with the block size for the derivation of RFC 7292. */
const DIGESTS: Readonly<Record<string, Digest>> = {
  [OID.sha1]: SHA1,
  [OID.sha224]: { name: 'sha224', blockBytes: 64 },
  [OID.sha256]: SHA256,
  [OID.sha384]: { name: 'sha384', blockBytes: 128 },
  [OID.sha512]: { name: 'sha512', blockBytes: 128 },
};

/** The purposes of derived octets in RFC 7292, appendix B.3. */
export const PURPOSE = { key: 1, iv: 2, mac: 3 } as const;

type Derivation = {
  readonly password: Buffer;
  readonly salt: Buffer;
  readonly iterations: number;
  readonly purpose: number;
  readonly length: number;
};

/** The derivation of RFC 7292, appendix B.2, with the letters of the RFC. */
export function derivedKey(
  { name, blockBytes: v }: Digest,
  { password, salt, iterations, purpose, length }: Derivation,
): Buffer {
  const D = Buffer.alloc(v, purpose);
  const I = Buffer.concat([fillBlocks(salt, v), fillBlocks(password, v)]);
  const parts: Buffer[] = [];
  for (let have = 0; have < length; ) {
    let A: Buffer = Buffer.concat([D, I]);
    for (let round = 0; round < iterations; round += 1) A = createHash(name).update(A).digest();
    parts.push(A);
    have += A.length;
    const B = Buffer.alloc(v, A);
    for (let block = 0; block < I.length; block += v) addPlusOne(I.subarray(block, block + v), B);
  }
  return Buffer.concat(parts).subarray(0, length);
}

/** The octets repeated to whole blocks; an empty value stays empty. */
function fillBlocks(octets: Buffer, block: number): Buffer {
  return octets.length === 0 ? octets : Buffer.alloc(Math.ceil(octets.length / block) * block, octets);
}

/** Adds `addend` + 1 to `number`, in place. */
function addPlusOne(number: Buffer, addend: Buffer): void {
  let carry = 1;
  for (let i = number.length - 1; i >= 0; i -= 1) {
    const sum = number[i]! + addend[i]! + carry;
    number[i] = sum & 0xff;
    carry = sum >> 8;
  }
}

/**
 * The octets that a password may stand for, the standard form first. Programs have written plain bytes, and an empty
 * password with or without a closing zero.
 */
export function passwordForms(password: string): readonly [Password, ...Password[]] {
  const narrow = Buffer.from(password, 'utf8');
  const standard = { wide: wideOf(password), narrow };
  if (password === '') return [standard, { wide: Buffer.alloc(0), narrow }];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII
  if (/^[\x00-\x7f]*$/.test(password)) return [standard];
  return [
    standard,
    { wide: wideOf(narrow.toString('latin1')), narrow },
    { wide: standard.wide, narrow: Buffer.from(password, 'latin1') },
  ];
}

function wideOf(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf16le').swap16();
}
