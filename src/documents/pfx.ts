/**
 * Reads and writes PKCS#12 (.pfx, .p12, RFC 7292): the usual file of a certificate of type A1, with key and chain under a password. The
 * reader is that of the client package (`pkcs12.ts`); this module has the messages of a refusal and the writer.
 */
import { createCipheriv, createHmac, hash, type KeyObject, pbkdf2, randomBytes, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { OID } from '../../packages/cliente/src/oids.ts';
import {
  derivedKey,
  openPkcs12,
  type Pkcs12,
  type Pkcs12Problem,
  Pkcs12Refused,
  PURPOSE,
  passwordForms,
  SHA256,
} from '../../packages/cliente/src/pkcs12.ts';
import { der, isUniversal, readAsn1, TAG } from './asn1.ts';
import { attempt } from './attempt.ts';

const deriveKey = promisify(pbkdf2);

/** Iterations of the written files: a few milliseconds for the owner of the password. */
const ITERATIONS_WRITTEN = 10_000;
const SALT_BYTES = 16;

export type Pfx = {
  /** PKCS#8, not encrypted. */
  readonly keyPem: string;
  /** DER; the certificate of the key comes first, if the file has it. */
  readonly certificates: readonly Buffer[];
};

/**
 * The key and the certificates of a PKCS#12. It throws an Error in Portuguese, which tells a wrong password from a file of another kind;
 * the caller knows the file's name.
 */
export function readPfx(bytes: Uint8Array, senha: string): Pfx {
  const seems = describeOtherFormat(bytes);
  if (seems !== undefined) throw new Error(seems);
  try {
    return choosePair(openPkcs12(bytes, senha));
  } catch (error) {
    throw error instanceof Pkcs12Refused ? new Error(describeRefusal(error, senha)) : error;
  }
}

function describeRefusal({ problem, oid }: Pkcs12Refused, senha: string): string {
  if (problem === 'wrong_password') return describeWrongPassword(senha);
  return problem === 'unknown_cipher'
    ? `o PKCS#12 usa uma cifra que não se lê (OID ${oid}). Exporte-o de novo com AES ou 3DES.`
    : REFUSED[problem];
}

const REFUSED: Readonly<Record<Exclude<Pkcs12Problem, 'wrong_password' | 'unknown_cipher'>, string>> = {
  not_pkcs12: 'não é um PKCS#12 (.pfx ou .p12), ou está incompleto. Exporte o certificado de novo, com a chave.',
  corrupt: 'o PKCS#12 está corrompido: confere com a senha e não se lê.',
  under_public_key: 'o PKCS#12 é protegido por chave pública, e só se lê o que tem senha.',
  part_under_public_key: 'o PKCS#12 tem uma parte protegida por chave pública, e só se lê o que tem senha.',
  unknown_derivation: 'o PKCS#12 usa uma cifra que não se lê. Exporte-o de novo com AES-256 e PBKDF2.',
};

function describeWrongPassword(senha: string): string {
  return senha === ''
    ? 'o PKCS#12 tem senha, e nenhuma foi informada. Informe, com --senha-arquivo (de um município, --adn-senha-arquivo), o arquivo que traz na primeira linha a senha com que o certificado foi exportado.'
    : `a senha informada não abre o PKCS#12. Confira-a${/^\s|\s$/.test(senha) ? ' (ela começa ou termina com espaço)' : ''}; maiúsculas e minúsculas contam.`;
}

/** Names another format that is often taken for a PKCS#12. */
function describeOtherFormat(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) return 'está vazio.';
  const text = buffer.subarray(0, 4096).toString('latin1').trimStart();
  if (text.startsWith('-----BEGIN')) {
    return 'é um PEM, e não um PKCS#12. No lugar de --pfx, use --certificado e --chave (de um município, --adn-certificado e --adn-chave).';
  }
  if (/^MII[A-Za-z0-9+/]{40}/.test(text)) {
    return 'está em Base64. Decodifique-o antes (base64 -d) para ter o PKCS#12 binário.';
  }
  const [inner] = attempt(() => readAsn1(buffer).children) ?? [];
  // A certificate begins with the signed sequence, a PKCS#12 with its version.
  return isUniversal(inner, TAG.sequence)
    ? 'é só um certificado, sem a chave. Exporte do repositório de certificados com a chave privada (.pfx).'
    : undefined;
}

function choosePair({ keys, certificates }: Pkcs12): Pfx {
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
  return attempt(() => new X509Certificate(certificate).checkPrivateKey(key)) === true;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** A PKCS#12 that every current program reads: AES-256 with PBKDF2 and a MAC of SHA-256. `certificates` are DER, that of the key first. */
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
    encrypted(key.export({ type: 'pkcs8', format: 'der' }), password),
    encrypted(der.sequence(...certBags), password),
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
  return der.sequence(der.integer(3), dataInfo(safe), macDataOf(safe, password));
}

function dataInfo(octets: Buffer): Buffer {
  return der.sequence(der.oid(OID.data), der.context(0, der.octetString(octets)));
}

async function encrypted(
  plain: Buffer,
  { narrow }: ReturnType<typeof passwordForms>[0],
): Promise<{ readonly algorithm: Buffer; readonly octets: Buffer }> {
  const [salt, iv] = [randomBytes(SALT_BYTES), randomBytes(16)];
  const cipher = createCipheriv('aes-256-cbc', await deriveKey(narrow, salt, ITERATIONS_WRITTEN, 32, 'sha256'), iv);
  const octets = Buffer.concat([cipher.update(plain), cipher.final()]);
  const prf = der.sequence(der.oid(OID.hmacSha256), der.null());
  const derivation = der.sequence(
    der.oid(OID.pbkdf2),
    der.sequence(der.octetString(salt), der.integer(ITERATIONS_WRITTEN), prf),
  );
  const scheme = der.sequence(der.oid(OID.aes256), der.octetString(iv));
  return { algorithm: der.sequence(der.oid(OID.pbes2), der.sequence(derivation, scheme)), octets };
}

function macDataOf(safe: Buffer, { wide }: ReturnType<typeof passwordForms>[0]): Buffer {
  const salt = randomBytes(SALT_BYTES);
  const wanted = { password: wide, salt, iterations: ITERATIONS_WRITTEN, purpose: PURPOSE.mac, length: 32 };
  const value = createHmac('sha256', derivedKey(SHA256, wanted)).update(safe).digest();
  return der.sequence(
    der.sequence(der.sequence(der.oid(OID.sha256), der.null()), der.octetString(value)),
    der.octetString(salt),
    der.integer(ITERATIONS_WRITTEN),
  );
}
