/**
 * Reads a tar file in the form that PostgreSQL writes for a base backup: plain files and folders with short names. Any other member is
 * refused, and so is a name that leads out of the folder: a copy may have come from anywhere.
 */

const BLOCK = 512;
const NAME = [0, 100] as const;
const SIZE = [124, 136] as const;
const CHECKSUM = [148, 156] as const;
const TYPE_AT = 156;
const PREFIX = [345, 500] as const;

/** A member; `content` is read to its end before the next one comes. */
export type Membro = { readonly nome: string; readonly isFolder: boolean; readonly bytes: number };

/** The message is for the operator. */
class TarRecusado extends Error {}

/** Calls `onMember` for each member; unread content is skipped. */
export async function readTar(
  source: AsyncIterable<Buffer>,
  onMember: (membro: Membro, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const pieces = new Pieces(source);
  for (;;) {
    const header = await pieces.take(BLOCK);
    if (header === undefined) throw new TarRecusado('o arquivo tar acaba no meio');
    // Two empty blocks are the end; the rest is padding.
    if (header.every((byte) => byte === 0)) break;
    const membro = readHeader(header);
    const content = pieces.read(membro.bytes);
    await onMember(membro, content);
    for await (const _ of content);
    const filling = (BLOCK - (membro.bytes % BLOCK)) % BLOCK;
    if (filling > 0) await pieces.take(filling);
  }
  await pieces.drain();
}

function readHeader(header: Buffer): Membro {
  const text = ([from, to]: readonly [number, number]): string => {
    const field = header.subarray(from, to);
    const end = field.indexOf(0);
    return field.toString('latin1', 0, end < 0 ? field.length : end);
  };
  const number = (field: readonly [number, number]): number => Number.parseInt(text(field).trim() || '0', 8);
  const blank = Buffer.from(header).fill(' ', ...CHECKSUM);
  if (blank.reduce((sum, byte) => sum + byte, 0) !== number(CHECKSUM)) {
    throw new TarRecusado('um cabeçalho do arquivo tar está danificado');
  }
  const prefix = text(PREFIX);
  const nome = (prefix === '' ? text(NAME) : `${prefix}/${text(NAME)}`).replace(/^\.\//, '').replace(/\/$/, '');
  const type = String.fromCharCode(header[TYPE_AT]!);
  if (!['0', '\0', '5'].includes(type)) throw new TarRecusado(`${nome} não é arquivo nem pasta (tipo ${type})`);
  if (nome.startsWith('/') || nome.split('/').includes('..')) throw new TarRecusado(`${nome} leva para fora da pasta`);
  const bytes = number(SIZE);
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new TarRecusado(`${nome} não diz o seu tamanho`);
  return { nome, isFolder: type === '5', bytes };
}

/** A stream read by lengths. */
class Pieces {
  private readonly source: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** Exactly `length` bytes; undefined: the stream has ended before. */
  async take(length: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      const piece = await this.next(missing);
      if (piece === undefined) return undefined;
      parts.push(piece);
      missing -= piece.length;
    }
    return Buffer.concat(parts);
  }

  async *read(length: number): AsyncGenerator<Buffer> {
    for (let missing = length; missing > 0; ) {
      const piece = await this.next(missing);
      if (piece === undefined) throw new TarRecusado('o arquivo tar acaba no meio');
      missing -= piece.length;
      yield piece;
    }
  }

  async drain(): Promise<void> {
    while (!(await this.source.next()).done);
  }

  private async next(atMost: number): Promise<Buffer | undefined> {
    if (this.rest.length === 0) {
      const { value, done } = await this.source.next();
      if (done === true) return undefined;
      this.rest = value;
    }
    const piece = this.rest.subarray(0, atMost);
    this.rest = this.rest.subarray(piece.length);
    return piece;
  }
}
