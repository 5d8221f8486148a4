/** The head of an image: its type and its size, read before anything is decoded. */

/** Pixels of an image; a scan of a letterhead has a quarter of them. */
export const PIXELS_MAX = 4_000_000;

export type ImagemHead = {
  readonly tipo: 'png' | 'jpeg';
  /** Pixels. */
  readonly largura: number;
  readonly altura: number;
  /** A PNG in seven passes: its decoder knows no bound. */
  readonly isEntrelacada: boolean;
};

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const IHDR = Buffer.from('\0\0\0\rIHDR', 'latin1');
/** Octets of a PNG up to the end of its first chunk. */
const PNG_HEAD = 33;

/** Undefined: the bytes are neither a PNG nor a JPEG. */
export function readImagemHead(bytes: Buffer): ImagemHead | undefined {
  return readPng(bytes) ?? readJpeg(bytes);
}

function readPng(bytes: Buffer): ImagemHead | undefined {
  if (bytes.length < PNG_HEAD || !bytes.subarray(0, PNG.length).equals(PNG)) return undefined;
  // A second head could declare another size.
  if (bytes.indexOf(IHDR) !== PNG.length || bytes.indexOf('IHDR', PNG.length + IHDR.length) !== -1) return undefined;
  const place = PNG.length + IHDR.length;
  const [largura, altura] = [bytes.readUInt32BE(place), bytes.readUInt32BE(place + 4)];
  return { tipo: 'png', largura, altura, isEntrelacada: bytes[place + 12] !== 0 };
}

const START = 0xffd8;
const SCAN = 0xda;
/** Markers between C0 and CF that are no frame: tables, an extension, and arithmetic coding. */
const NO_FRAME: readonly number[] = [0xc4, 0xc8, 0xcc];

/** The first frame of a JPEG; the decoder has its own bound for others. */
function readJpeg(bytes: Buffer): ImagemHead | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== START) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === SCAN) return undefined;
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.includes(marker)) {
      const [altura, largura] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
      return { tipo: 'jpeg', largura, altura, isEntrelacada: false };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
