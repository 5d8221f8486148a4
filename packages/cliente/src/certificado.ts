/**
 * An A1 certificate with its key, from PEM or from a PKCS#12 (.pfx, .p12, RFC 7292) under a password. Keys are opened by the
 * platform; what it has no reader for (the container, the certificates in it under the old ciphers that authorities still write)
 * is read here. The file's own checksum is not looked at: that the key is the pair of its certificate says more.
 */
import {
  createDecipheriv,
  createHash,
  createPrivateKey,
  type KeyObject,
  pbkdf2Sync,
  X509Certificate,
} from 'node:crypto';
import { type Asn1, Asn1Ilegivel, ID, isOid, lerAsn1, octetosDe } from './asn1.ts';
import type { Assinante } from './assinatura.ts';
import { decifrarRc2 } from './rc2.ts';

/** Um certificado A1 com a sua chave: em PEM, ou o arquivo PKCS#12 inteiro. */
export type Certificado =
  | {
      /** Um ou mais certificados em PEM; o da chave entre eles. */
      readonly certificado: string | Uint8Array;
      /** A chave em PEM; cifrada, com `senha`. */
      readonly chave: string | Uint8Array;
      readonly senha?: string;
    }
  | { readonly pfx: Uint8Array; readonly senha: string };

/** Um certificado que não serve, e o que fazer. */
export class CertificadoRecusado extends Error {
  override readonly name = 'CertificadoRecusado';
}

/** Lê o certificado e a chave, e confere que são par. */
export function lerCertificado(from: Certificado): Assinante {
  return 'pfx' in from ? ofPfx(from.pfx, from.senha) : ofPem(from);
}

function ofPem({ certificado, chave, senha }: Extract<Certificado, { certificado: unknown }>): Assinante {
  const blocks = textOf(certificado).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) {
    throw new CertificadoRecusado('certificado não traz um certificado em PEM. Se é um .pfx, passe { pfx, senha }.');
  }
  const pem = textOf(chave);
  if (!pem.includes('PRIVATE KEY-----')) throw new CertificadoRecusado('chave não traz uma chave privada em PEM.');
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, ...(senha === undefined ? {} : { passphrase: senha }) });
  } catch (cause) {
    const why = senha === undefined ? 'Se está cifrada, informe senha.' : 'Confira senha.';
    throw new CertificadoRecusado(`A chave não se abre. ${why}`, { cause });
  }
  return pairOf(
    [key],
    blocks.map((block) => certificateOf(block)),
  );
}

function textOf(content: string | Uint8Array): string {
  return typeof content === 'string' ? content : Buffer.from(content).toString('latin1');
}

function certificateOf(content: string | Buffer): X509Certificate {
  try {
    return new X509Certificate(content);
  } catch (cause) {
    throw new CertificadoRecusado('Um dos certificados não se lê: está incompleto ou foi alterado.', { cause });
  }
}

function pairOf(keys: readonly KeyObject[], certificates: readonly X509Certificate[]): Assinante {
  for (const chave of keys) {
    const certificado = certificates.find((one) => one.checkPrivateKey(chave));
    if (certificado === undefined) continue;
    if (chave.asymmetricKeyType !== 'rsa') {
      throw new CertificadoRecusado(`A chave é do tipo ${chave.asymmetricKeyType}; a NFS-e se assina com RSA.`);
    }
    return { chave, certificado, cadeia: certificates.filter((one) => one !== certificado && !one.checkIssued(one)) };
  }
  throw new CertificadoRecusado('O certificado não é o par da chave. Use os que foram emitidos juntos.');
}

// PKCS#12

const OID = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  keyBag: '1.2.840.113549.1.12.10.1.1',
  shroudedKeyBag: '1.2.840.113549.1.12.10.1.2',
  certBag: '1.2.840.113549.1.12.10.1.3',
  pbes2: '1.2.840.113549.1.5.13',
} as const;

/** OpenSSL writes 2,048, the most careful program a million. */
const ITERATIONS_MAX = 10_000_000;

function ofPfx(bytes: Uint8Array, senha: string): Assinante {
  // What a variable that is not set gives; a PKCS#12 without password has an empty one.
  if (typeof senha !== 'string') throw new CertificadoRecusado('Informe senha, a do PKCS#12.');
  const keys: KeyObject[] = [];
  const certificates: X509Certificate[] = [];
  try {
    const [version, authSafe] = lerAsn1(bytes).filhos;
    if (version?.id !== ID.inteiro || !isOid(authSafe?.filhos[0], OID.data)) throw new Asn1Ilegivel('no PFX');
    for (const info of lerAsn1(octetosDe(inside(authSafe?.filhos[1]))).filhos) {
      for (const bag of lerAsn1(safeOf(info, senha)).filhos) {
        const [kind, value] = bag.filhos;
        if (isOid(kind, OID.keyBag)) keys.push(keyOf(inside(value).inteiro, undefined));
        if (isOid(kind, OID.shroudedKeyBag)) keys.push(keyOf(inside(value).inteiro, senha));
        if (isOid(kind, OID.certBag)) certificates.push(certificateOf(octetosDe(inside(inside(value).filhos[1]))));
      }
    }
  } catch (cause) {
    if (!(cause instanceof Asn1Ilegivel)) throw cause;
    throw new CertificadoRecusado('pfx não é um PKCS#12 com certificado e chave, ou está incompleto.', { cause });
  }
  if (keys.length === 0) throw new CertificadoRecusado('O PKCS#12 não traz chave privada: exporte-o de novo, com ela.');
  return pairOf(keys, certificates);
}

/** What an explicit tag is around. */
function inside(value: Asn1 | undefined): Asn1 {
  return present(value?.filhos[0]);
}

function present(value: Asn1 | undefined): Asn1 {
  if (value === undefined) throw new Asn1Ilegivel('something is missing');
  return value;
}

function keyOf(pkcs8: Buffer, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({
      key: pkcs8,
      format: 'der',
      type: 'pkcs8',
      ...(passphrase === undefined ? {} : { passphrase }),
    });
  } catch (cause) {
    throw wrongPassword(cause);
  }
}

function wrongPassword(cause: unknown): CertificadoRecusado {
  return new CertificadoRecusado('A senha não abre o PKCS#12. Maiúsculas e minúsculas contam.', { cause });
}

/** The bags of one part of the container. */
function safeOf(info: Asn1, senha: string): Buffer {
  const [kind, content] = info.filhos;
  if (isOid(kind, OID.data)) return octetosDe(inside(content));
  if (!isOid(kind, OID.encryptedData)) throw new Asn1Ilegivel('a part under a key that is no password');
  const [, algorithm, octets] = present(inside(content).filhos[1]).filhos;
  const { chave, iv, cifra } = keyFrom(present(algorithm), senha);
  try {
    const encrypted = octetosDe(present(octets));
    if (cifra === 'rc2') return decifrarRc2(encrypted, chave, iv);
    const decipher = createDecipheriv(cifra, chave, iv);
    const plain = Buffer.concat([decipher.update(encrypted), decipher.final()]);
    lerAsn1(plain);
    return plain;
  } catch (cause) {
    throw wrongPassword(cause);
  }
}

type Opened = { readonly cifra: string; readonly chave: Buffer; readonly iv: Buffer };

/** Ciphers of RFC 7292, appendix C, with a key of so many octets. */
const OLD: Readonly<Record<string, { readonly cifra: string; readonly octetos: number }>> = {
  '1.2.840.113549.1.12.1.3': { cifra: 'des-ede3-cbc', octetos: 24 },
  '1.2.840.113549.1.12.1.5': { cifra: 'rc2', octetos: 16 },
  '1.2.840.113549.1.12.1.6': { cifra: 'rc2', octetos: 5 },
};
const OLD_IV_BYTES = 8;

/** Of PBES2, RFC 8018. */
const CIPHERS: typeof OLD = {
  '2.16.840.1.101.3.4.1.2': { cifra: 'aes-128-cbc', octetos: 16 },
  '2.16.840.1.101.3.4.1.22': { cifra: 'aes-192-cbc', octetos: 24 },
  '2.16.840.1.101.3.4.1.42': { cifra: 'aes-256-cbc', octetos: 32 },
  '1.2.840.113549.3.7': { cifra: 'des-ede3-cbc', octetos: 24 },
};

const PRFS: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};

function keyFrom(algorithm: Asn1, senha: string): Opened {
  const [kind, parameters] = algorithm.filhos;
  if (isOid(kind, OID.pbes2)) {
    const [derivation, scheme] = present(parameters).filhos;
    const [schemeOid, iv] = present(scheme).filhos;
    const [salt, iterations, ...rest] = present(derivation?.filhos[1]).filhos;
    const prf = rest.find(({ id }) => id === ID.sequencia)?.filhos[0];
    const { cifra, octetos } = named(CIPHERS, schemeOid);
    const digest = prf === undefined ? 'sha1' : named(PRFS, prf);
    const chave = pbkdf2Sync(senha, octetosDe(present(salt)), numberOf(iterations), octetos, digest);
    return { cifra, chave, iv: octetosDe(present(iv)) };
  }
  const { cifra, octetos } = named(OLD, kind);
  const [salt, iterations] = present(parameters).filhos;
  const derive = (purpose: 1 | 2, length: number): Buffer =>
    pkcs12Key(senha, octetosDe(present(salt)), numberOf(iterations), purpose, length);
  return { cifra, chave: derive(1, octetos), iv: derive(2, OLD_IV_BYTES) };
}

function named<Value>(table: Readonly<Record<string, Value>>, oid: Asn1 | undefined): Value {
  const found = Object.entries(table).find(([dotted]) => isOid(oid, dotted));
  if (found === undefined) {
    throw new CertificadoRecusado(
      'O PKCS#12 usa uma cifra que não se lê. Exporte-o de novo com AES-256, ou converta-o para PEM.',
    );
  }
  return found[1];
}

function numberOf(value: Asn1 | undefined): number {
  const { conteudo } = present(value);
  const number = conteudo.length === 0 || conteudo.length > 6 ? 0 : conteudo.readUIntBE(0, conteudo.length);
  if (number < 1 || number > ITERATIONS_MAX) throw new Asn1Ilegivel('an absurd number of iterations');
  return number;
}

const BLOCK_BYTES = 64;

/** The derivation of RFC 7292, appendix B.2, with SHA-1. `purpose`: 1 a key, 2 an initialisation vector. */
function pkcs12Key(senha: string, salt: Buffer, iterations: number, purpose: 1 | 2, length: number): Buffer {
  const password = Buffer.from(`${senha}\0`, 'utf16le').swap16();
  const input = Buffer.concat([wholeBlocks(salt), wholeBlocks(password)]);
  const made: Buffer[] = [];
  for (let have = 0; have < length; ) {
    let digest: Buffer = Buffer.concat([Buffer.alloc(BLOCK_BYTES, purpose), input]);
    for (let round = 0; round < iterations; round += 1) digest = createHash('sha1').update(digest).digest();
    made.push(digest);
    have += digest.length;
    const addend = Buffer.alloc(BLOCK_BYTES, digest);
    for (let block = 0; block < input.length; block += BLOCK_BYTES) {
      let carry = 1;
      for (let place = BLOCK_BYTES - 1; place >= 0; place -= 1) {
        const sum = input[block + place]! + addend[place]! + carry;
        input[block + place] = sum & 0xff;
        carry = sum >> 8;
      }
    }
  }
  return Buffer.concat(made).subarray(0, length);
}

function wholeBlocks(octets: Buffer): Buffer {
  if (octets.length === 0) return octets;
  return Buffer.alloc(Math.ceil(octets.length / BLOCK_BYTES) * BLOCK_BYTES, octets);
}
