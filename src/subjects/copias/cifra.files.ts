/**
 * Files of a copy are compressed by gzip. If there is a key, they are encrypted by age for the holder of its secret half. Other programs
 * read both too: `age -d -i CHAVE ARQUIVO | gunzip`. This is the only importer of `age-encryption`, which is loaded when there is a key.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { constants, createGunzip, createGzip } from 'node:zlib';
import type { Decrypter, Encrypter } from 'age-encryption';

/** An operation that a copy does not allow; the message is for the operator. */
export class CopiaRecusada extends Error {}

/** Sizes and digest of a file that was written. */
export type Escrito = { readonly bytes: number; readonly sha256: string; readonly claros: number };

/** Texts of age: `age1…` is a recipient that may open a copy, `AGE-SECRET-KEY-…` an identity that opens one. */
type Keys = readonly string[];

const MODE = 0o600;
const AGE_ENDING = '.age';

/** The suffix of a sealed file's name. */
export function endingOf(recipients: Keys): string {
  return recipients.length === 0 ? '.gz' : `.gz${AGE_ENDING}`;
}

/** The recipients of a file, one a line. A secret key is refused: the machine that makes copies need not open them. */
export async function readRecipients(file: string): Promise<Keys> {
  const lines = await readKeyFile(file, 'NFSE_COPIAS_CHAVE');
  if (lines.some((line) => line.startsWith('AGE-SECRET-KEY-'))) {
    throw new CopiaRecusada(
      `${file} tem a chave secreta, que só abre cópias: guarde-a longe desta máquina, e ponha aqui a pública (age1…), que age-keygen -y ${file} mostra.`,
    );
  }
  const age = await loadAge();
  try {
    for (const line of lines) new age.Encrypter().addRecipient(line);
  } catch {
    throw new CopiaRecusada(`${file} não tem uma chave pública do age (age1…) em cada linha. age-keygen faz uma.`);
  }
  return lines;
}

/** The secret keys of a file that `age-keygen` wrote. */
export async function readIdentities(file: string): Promise<Keys> {
  const lines = await readKeyFile(file, '--chave');
  const age = await loadAge();
  try {
    await Promise.all(lines.map((line) => age.identityToRecipient(line)));
  } catch {
    throw new CopiaRecusada(`${file} não tem uma chave secreta do age (AGE-SECRET-KEY-…) em cada linha.`);
  }
  return lines;
}

const loadAge = () => import('age-encryption');

async function makeEncrypter(recipients: Keys): Promise<Encrypter> {
  const encrypter = new (await loadAge()).Encrypter();
  for (const one of recipients) encrypter.addRecipient(one);
  return encrypter;
}

async function makeDecrypter(identities: Keys): Promise<Decrypter> {
  const decrypter = new (await loadAge()).Decrypter();
  for (const one of identities) decrypter.addIdentity(one);
  return decrypter;
}

async function readKeyFile(file: string, given: string): Promise<Keys> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CopiaRecusada(`o arquivo de ${given}, ${file}, não pôde ser lido (${error.code}).`);
  });
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (keys.length === 0) throw new CopiaRecusada(`o arquivo de ${given}, ${file}, não tem chave nenhuma.`);
  return keys;
}

/** Writes a new file, which is on the disk when this resolves. */
export async function seal(file: string, plain: AsyncIterable<Uint8Array>, recipients: Keys): Promise<Escrito> {
  const encrypter = recipients.length === 0 ? undefined : await makeEncrypter(recipients);
  const hash = createHash('sha256');
  let [bytes, claros] = [0, 0];
  const handle = await open(file, 'wx', MODE);
  try {
    await pipeline(
      async function* () {
        for await (const piece of plain) {
          claros += piece.length;
          yield piece;
        }
      },
      createGzip({ level: constants.Z_BEST_SPEED }),
      async function* (packed: Readable) {
        if (encrypter === undefined) yield* packed;
        else yield* await encrypter.encrypt(Readable.toWeb(packed) as globalThis.ReadableStream<Uint8Array>);
      },
      async (sealed: AsyncIterable<Uint8Array>) => {
        for await (const piece of sealed) {
          hash.update(piece);
          bytes += piece.length;
          await writeAll(handle, piece);
        }
      },
    );
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { bytes, sha256: hash.digest('hex'), claros };
}

async function writeAll(handle: Awaited<ReturnType<typeof open>>, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at)).bytesWritten;
}

/** Opens a sealed file as a stream; fails if a byte was changed. `sha256`: of the file, if it is known. */
export async function unseal<Result>(
  file: string,
  identities: Keys,
  read: (plain: AsyncIterable<Buffer>) => Promise<Result>,
  sha256?: string,
): Promise<Result> {
  const isSealed = file.endsWith(AGE_ENDING);
  if (isSealed && identities.length === 0) {
    throw new CopiaRecusada(`${file} está cifrado: dê --chave ARQUIVO, com a chave secreta que o abre.`);
  }
  const decrypter = isSealed ? await makeDecrypter(identities) : undefined;
  const hash = createHash('sha256');
  let result: Result | undefined;
  try {
    await pipeline(
      createReadStream(file),
      async function* (stored: AsyncIterable<Buffer>) {
        for await (const piece of stored) {
          hash.update(piece);
          yield piece;
        }
      },
      async function* (stored: AsyncIterable<Buffer>) {
        if (decrypter === undefined) yield* stored;
        else yield* (await decrypter.decrypt(webOf(stored))) as unknown as ReadableStream<Uint8Array>;
      },
      isPacked(file) ? createGunzip() : new PassThrough(),
      async (plain: AsyncIterable<Buffer>) => {
        result = await read(plain);
      },
    );
  } catch (error) {
    throw error instanceof CopiaRecusada ? error : new CopiaRecusada(whyUnread(file, error as Error));
  }
  if (sha256 !== undefined && hash.digest('hex') !== sha256) {
    throw new CopiaRecusada(`${file} está danificado: não é o que foi escrito (SHA-256).`);
  }
  return result as Result;
}

/** Collects the whole opened content, up to a limit: a small file may unpack into more than there is room for. */
export const collectUpTo =
  (most: number) =>
  async (plain: AsyncIterable<Buffer>): Promise<Buffer> => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of plain) {
      bytes += piece.length;
      if (bytes > most) throw new Error(`aberto, tem mais de ${most} bytes`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  };

/** A file that an administrator archives with a command of their own may be uncompressed. */
const isPacked = (file: string): boolean => /\.gz(?:\.age)?$/.test(file);

function webOf(stored: AsyncIterable<Buffer>): globalThis.ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(stored, { objectMode: false })) as globalThis.ReadableStream<Uint8Array>;
}

function whyUnread(file: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `falta ${file}.`;
  if (/no identity matched/.test(error.message)) return `${file} não foi cifrado para a chave que veio em --chave.`;
  return `${file} está danificado, ou não pôde ser lido: ${error.message}.`;
}
