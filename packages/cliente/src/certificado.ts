/**
 * An A1 certificate with its key, from PEM or from a PKCS#12 (`pkcs12.ts`): checks that they are a pair, and words the
 * refusal.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Assinante } from './assinatura.ts';
import { openPkcs12, type Pkcs12, type Pkcs12Problem, Pkcs12Refused } from './pkcs12.ts';

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

function ofPfx(bytes: Uint8Array, senha: string): Assinante {
  // An unset variable gives undefined; a PKCS#12 without password has an empty text.
  if (typeof senha !== 'string') throw new CertificadoRecusado('Informe senha, a do PKCS#12.');
  const { keys, certificates } = openPfx(bytes, senha);
  if (keys.length === 0) throw new CertificadoRecusado('O PKCS#12 não traz chave privada: exporte-o de novo, com ela.');
  return pairOf(
    keys,
    certificates.map((one) => certificateOf(one)),
  );
}

function openPfx(bytes: Uint8Array, senha: string): Pkcs12 {
  try {
    return openPkcs12(bytes, senha);
  } catch (cause) {
    if (!(cause instanceof Pkcs12Refused)) throw cause;
    throw new CertificadoRecusado(REFUSED[cause.problem], { cause });
  }
}

const NO_PKCS12 = 'pfx não é um PKCS#12 com certificado e chave, ou está incompleto.';
const NO_CIPHER = 'O PKCS#12 usa uma cifra que não se lê. Exporte-o de novo com AES-256, ou converta-o para PEM.';

const REFUSED: Readonly<Record<Pkcs12Problem, string>> = {
  not_pkcs12: NO_PKCS12,
  corrupt: NO_PKCS12,
  under_public_key: NO_PKCS12,
  part_under_public_key: NO_PKCS12,
  unknown_cipher: NO_CIPHER,
  unknown_derivation: NO_CIPHER,
  wrong_password: 'A senha não abre o PKCS#12. Maiúsculas e minúsculas contam.',
};
