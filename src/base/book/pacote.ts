/**
 * The received bytes and the note made of them, compressed together with a dictionary of their common words. The signer's certificate is
 * left out and kept once for all its notes. Any bytes are accepted and come out unchanged.
 */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** The received document and the note made of it. */
export type Papers = { readonly recebido: Buffer; readonly nfse: Buffer };

export type Certificado = { readonly impressao: Buffer; readonly der: Buffer };

export type Pacote = {
  readonly bytes: Buffer;
  /** The certificate that was left out of the received bytes. */
  readonly certificado: Certificado | undefined;
};

/** Dictionary of new documents. Older documents need their own, so no dictionary is ever changed or removed. */
export const DICIONARIO = 1;
/** Level 9 saves 6 % more and takes nearly twice as long. */
const LEVEL = 3;

/** Four octets each: number of received bytes, and position of the certificate in them (0: none). */
const HEAD_BYTES = 8;
const [CERTIFICATE, CERTIFICATE_END] = [Buffer.from('<X509Certificate>'), Buffer.from('</X509Certificate>')];

const dictionaries = new Map<number, Buffer>();

export function dictionaryOf(number: number): Buffer {
  const read = (): Buffer => readFileSync(new URL(`./dicionarios/${number}.zstd`, import.meta.url));
  return dictionaries.getOrInsertComputed(number, read);
}

/** All dictionaries, by the names of their files. Nothing compressed can be read without them. */
export function dicionarios(): ReadonlyMap<string, Buffer> {
  const names = readdirSync(new URL('./dicionarios/', import.meta.url)).sort();
  return new Map(names.map((name) => [`dicionarios/${name}`, dictionaryOf(Number.parseInt(name, 10))]));
}

/** Takes 60 µs; the thread pool would take three times as long. */
export function packPapers({ recebido, nfse }: Papers): Pacote {
  const found = findCertificate(recebido);
  const received = found === undefined ? [recebido] : [recebido.subarray(0, found.from), recebido.subarray(found.to)];
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(recebido.length - (found === undefined ? 0 : found.to - found.from), 0);
  head.writeUInt32LE(found?.from ?? 0, 4);
  const bytes = zstdCompressSync(Buffer.concat([head, ...received, nfse]), {
    dictionary: dictionaryOf(DICIONARIO),
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  return { bytes, certificado: found?.certificado };
}

/** `received`: returns the received bytes, including the certificate that was left out. */
export function openPacote(bytes: Buffer, dicionario: number) {
  const block = zstdDecompressSync(bytes, { dictionary: dictionaryOf(dicionario) });
  const [end, at] = [HEAD_BYTES + block.readUInt32LE(0), HEAD_BYTES + block.readUInt32LE(4)];
  return {
    nfse: block.subarray(end),
    received: (certificado: Buffer | null): Buffer => {
      if (at === HEAD_BYTES) return block.subarray(HEAD_BYTES, end);
      if (certificado === null) throw new Error('the certificate of the received bytes is not there');
      const text = Buffer.from(certificado.toString('base64'));
      return Buffer.concat([block.subarray(HEAD_BYTES, at), text, block.subarray(at, end)]);
    },
  };
}

/** Whether both documents come out unchanged. The whole ones are deleted only after this check. */
export function holdsPapers({ bytes, certificado }: Pacote, { recebido, nfse }: Papers): boolean {
  try {
    const inside = openPacote(bytes, DICIONARIO);
    return inside.nfse.equals(nfse) && inside.received(certificado?.der ?? null).equals(recebido);
  } catch {
    return false;
  }
}

/** Finds a certificate whose Base64 has the form that we would write. */
function findCertificate(recebido: Buffer): { from: number; to: number; certificado: Certificado } | undefined {
  const start = recebido.indexOf(CERTIFICATE);
  const from = start + CERTIFICATE.length;
  const to = start < 0 ? -1 : recebido.indexOf(CERTIFICATE_END, from);
  if (to < 0) return undefined;
  const text = recebido.toString('latin1', from, to);
  const der = Buffer.from(text, 'base64');
  if (der.length === 0 || der.toString('base64') !== text) return undefined;
  return { from, to, certificado: { impressao: hash('sha256', der, 'buffer'), der } };
}
