/**
 * Reads a certificate and its private key from files of the operator: PEM, or PKCS#12. An error names the file as it was given, with the
 * remedy. A certificate outside its validity is accepted: the caller decides whether that matters.
 *
 * The key stays in memory as an opaque object and is written nowhere.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { attempt } from './attempt.ts';
import { type Certificate, pemBlocks, readCertificate } from './certificate.ts';
import { readPfx } from './pfx.ts';
import { pemOf } from './pki.ts';
import type { Signer } from './signing.ts';

/** No key store of one signer is larger. Reading another file by mistake stays cheap. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
/** No chain of ICP-Brasil is longer. */
const CHAIN_MAX = 8;

type Secret = {
  /** File with the password in its first line. */
  readonly senhaArquivo?: string | undefined;
  readonly senha?: string | undefined;
};

/** Paths; those of a tenant are absolute, those of the command line as they were typed. */
export type KeyFiles = Secret & ({ readonly certificado: string; readonly chave: string } | { readonly pfx: string });

/** `chain`: the included authorities, from the issuer of the certificate upwards. */
export type ChainedSigner = Signer & { readonly chain: readonly Certificate[] };

/** Reads the files. It throws an Error in Portuguese that begins with the file and gives the remedy. */
export async function loadSigner(files: KeyFiles): Promise<ChainedSigner> {
  const senha = await passwordOf(files);
  return 'certificado' in files
    ? signerOfPem(files.certificado, files.chave, senha)
    : signerOfPfx(files.pfx, senha ?? '');
}

/** The files with a secret: the key, and the password that opens it. */
export function secretFiles({ senhaArquivo, ...files }: KeyFiles): readonly string[] {
  const key = 'pfx' in files ? files.pfx : files.chave;
  return senhaArquivo === undefined ? [key] : [key, senhaArquivo];
}

async function signerOfPfx(file: string, senha: string): Promise<ChainedSigner> {
  const bytes = await contentOf(file);
  return readNamed(file, () => signerInPfx(bytes, senha));
}

/** The signer in a PKCS#12. It throws an Error in Portuguese, which names no file. */
export function signerInPfx(bytes: Uint8Array, senha: string): ChainedSigner {
  const { keyPem, certificates } = readPfx(bytes, senha);
  const readable = readAll(certificates, 'o PKCS#12 não traz certificado.');
  return matchKey(createPrivateKey(keyPem), readable, ' que o acompanha');
}

async function signerOfPem(certificado: string, chave: string, senha: string | undefined): Promise<ChainedSigner> {
  const [certificateBytes, keyBytes] = await Promise.all([contentOf(certificado), contentOf(chave)]);
  const key = readNamed(chave, () => keyOf(keyBytes, senha));
  return readNamed(certificado, () => matchKey(key, certificatesOf(certificateBytes), ` de ${chave}`));
}

/** Reads a part of a file; an error begins with the file's name. */
function readNamed<Value>(file: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function contentOf(file: string): Promise<Buffer> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > FILE_BYTES_MAX) throw new Error(`${file}: tem ${bytes.length} bytes; não é um certificado.`);
    return bytes;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Error(`${file}: ${REASONS[code] ?? `não pôde ser lido (${code}).`}`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'o arquivo não existe. Confira o caminho.',
  EISDIR: 'é uma pasta, e não um arquivo.',
  ENOTDIR: 'o arquivo não existe. Confira o caminho.',
  EACCES: 'falta permissão de leitura. Dê-a ao usuário que executa o programa.',
};

async function passwordOf({ senha, senhaArquivo }: Secret): Promise<string | undefined> {
  if (senha !== undefined || senhaArquivo === undefined) return senha;
  // An editor ends the line, and no password has more than one line.
  const [line] = (await contentOf(senhaArquivo))
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/, 1);
  return line;
}

function keyOf(bytes: Buffer, senha: string | undefined): KeyObject {
  const text = bytes.toString('latin1');
  const label = /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----/.exec(text)?.[1];
  if (label === undefined) {
    const der = derKeyOf(bytes);
    if (der !== undefined) return der;
    throw new Error(describeMissingKey(text));
  }
  const isEncrypted = label.startsWith('ENCRYPTED') || /^Proc-Type: 4,ENCRYPTED/m.test(text);
  if (isEncrypted && senha === undefined) {
    throw new Error(
      'a chave está cifrada, e nenhuma senha foi informada. Informe o arquivo com a senha: --senha-arquivo (de um município, --adn-senha-arquivo).',
    );
  }
  const key = attempt(() => createPrivateKey(isEncrypted ? { key: bytes, passphrase: senha } : { key: bytes }));
  if (key !== undefined) return key;
  throw new Error(
    isEncrypted
      ? 'a senha informada não abre a chave. Confira-a; maiúsculas e minúsculas contam.'
      : 'a chave em PEM está corrompida ou incompleta. Copie-a de novo, com as linhas BEGIN e END.',
  );
}

function derKeyOf(bytes: Buffer): KeyObject | undefined {
  const readAs = (type: 'pkcs8' | 'pkcs1'): KeyObject | undefined =>
    attempt(() => createPrivateKey({ key: bytes, format: 'der', type }));
  return readAs('pkcs8') ?? readAs('pkcs1');
}

function describeMissingKey(text: string): string {
  if (text.trim() === '') return 'está vazio.';
  if (text.includes('BEGIN PUBLIC KEY')) return 'traz a chave pública; aqui se pede a privada.';
  if (text.includes('BEGIN CERTIFICATE')) return 'traz só o certificado; aqui se pede a chave privada que é par dele.';
  return 'não traz uma chave privada em PEM (PKCS#8 ou PKCS#1). Se é um .pfx ou .p12, use --pfx (de um município, --adn-pfx).';
}

function certificatesOf(bytes: Buffer): Certificate[] {
  const text = bytes.toString('latin1');
  if (!text.includes('-----BEGIN')) {
    const certificate = readCertificate(bytes);
    if (!('problem' in certificate)) return [certificate];
    throw new Error(
      text.trim() === ''
        ? 'está vazio.'
        : 'não traz um certificado em PEM nem em DER. Se é um .pfx ou .p12, use --pfx (de um município, --adn-pfx).',
    );
  }
  return readAll(
    pemBlocks(text, 'CERTIFICATE'),
    'o PEM não traz certificado. Copie-o de novo, com as linhas BEGIN e END.',
  );
}

/** The readable certificates. Old authorities of a chain may be unreadable. */
function readAll(ders: readonly Buffer[], none: string): Certificate[] {
  const readings = ders.map(readCertificate);
  const certificates = readings.filter((one): one is Certificate => !('problem' in one));
  if (certificates.length > 0) return certificates;
  throw new Error(readings.find((one) => 'problem' in one)?.problem ?? none);
}

function matchKey(key: KeyObject, certificates: readonly Certificate[], whose: string): ChainedSigner {
  if (key.asymmetricKeyType !== 'rsa') {
    throw new Error(`a chave${whose} é do tipo ${key.asymmetricKeyType}; a assinatura da NFS-e se faz com RSA.`);
  }
  const certificate = certificates.find(({ x509 }) => x509.checkPrivateKey(key));
  if (certificate === undefined) {
    const what = certificates.length === 1 ? 'o certificado não é par' : 'nenhum dos certificados é par';
    throw new Error(`${what} da chave${whose}. Use a chave com que o certificado foi emitido.`);
  }
  return { key, certificate, chain: chainOf(certificate, certificates) };
}

/** The chain from the issuer upwards, as far as the certificates reach. The root is left out: its reader must have it. */
function chainOf(certificate: Certificate, others: readonly Certificate[]): readonly Certificate[] {
  const chain: Certificate[] = [];
  for (let below = certificate; chain.length < CHAIN_MAX; ) {
    const issuer = others.find((one) => one.fingerprint !== below.fingerprint && below.x509.checkIssued(one.x509));
    if (issuer === undefined || chain.includes(issuer) || issuer.x509.checkIssued(issuer.x509)) break;
    chain.push(issuer);
    below = issuer;
  }
  return chain;
}

/** The material for a TLS client or server: the key, and the certificate with its chain, both PEM. */
export function tlsMaterialOf({ key, certificate, chain }: ChainedSigner): {
  readonly key: string;
  readonly cert: string;
} {
  return {
    key: key.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: pemOf('CERTIFICATE', certificate.der, ...chain.map(({ der }) => der)),
  };
}
