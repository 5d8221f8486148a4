/** Files in a `tar` archive (POSIX ustar), written and read as a stream. Names are short, and only files are supported. */

const BLOCK = 512;
/** Two empty blocks end the archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** The bytes of a file with its header and padding. `at`: milliseconds. */
export function tarFile(name: string, bytes: Uint8Array, at: number): readonly Uint8Array[] {
  const head = Buffer.alloc(BLOCK);
  head.write(name, 0, 100, 'utf8');
  const octal = (value: number, place: number, length: number): void =>
    void head.write(`${value.toString(8).padStart(length - 1, '0')}\0`, place, 'latin1');
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes.length, 124, 12);
  octal(Math.floor(at / 1000), 136, 12);
  head.write('0', 156, 'latin1');
  head.write('ustar\x0000', 257, 'latin1');
  head.write(`${checksumOf(head).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return [head, bytes, Buffer.alloc(paddingOf(bytes.length))];
}

function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

/** The checksum field itself counts as spaces. */
function checksumOf(head: Buffer): number {
  return head.reduce((sum, octet, place) => sum + (place >= 148 && place < 156 ? 0x20 : octet), 0);
}

export type TarEntry = { readonly name: string; readonly bytes: Buffer };

/** The bytes are no such archive, or were cut off. */
export class BrokenTar extends Error {}

/** The files of an archive; each is whole in memory. `sizeMax`: limit of one file, in bytes. It throws {@link BrokenTar}. */
export async function* readTar(source: AsyncIterable<Buffer>, sizeMax: number): AsyncGenerator<TarEntry> {
  const pieces = new Pieces(source);
  for (;;) {
    const head = await pieces.take(BLOCK);
    if (head.every((octet) => octet === 0)) return;
    const sum = Number.parseInt(head.toString('latin1', 148, 156), 8);
    const size = Number.parseInt(head.toString('latin1', 124, 136), 8);
    if (sum !== checksumOf(head) || !(size >= 0 && size <= sizeMax)) throw new BrokenTar('not the head of a file');
    const bytes = await pieces.take(size);
    await pieces.take(paddingOf(size));
    yield { name: head.toString('utf8', 0, head.indexOf(0)), bytes };
  }
}

/** Reads a stream of pieces of any length in portions of a requested size. */
class Pieces {
  private readonly source: AsyncIterator<Buffer>;
  private held: Buffer[] = [];
  private length = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    while (this.length < count) {
      const { done, value } = await this.source.next();
      if (done) throw new BrokenTar('it was cut off');
      this.held.push(value);
      this.length += value.length;
    }
    const all = this.held.length === 1 ? this.held[0]! : Buffer.concat(this.held);
    this.held = [all.subarray(count)];
    this.length -= count;
    return all.subarray(0, count);
  }
}
