/**
 * Makes a small TrueType font of some glyphs of another, for a PDF to embed. The glyphs are numbered anew from 0. The parts of a composed
 * glyph are added at the end. Instructions for drawing on a screen are left out.
 */
/** The bytes of the small font. `table`: a table of the large font by its tag. `glyphs`: numbers in the large font, 0 first. */
export function cutGlyphs(table: (tag: string) => Buffer, glyphs: readonly number[]): Buffer {
  const [head, hhea, maxp] = [Buffer.from(table('head')), Buffer.from(table('hhea')), Buffer.from(table('maxp'))];
  const [loca, glyf, hmtx] = [table('loca'), table('glyf'), table('hmtx')];
  const isLong = head.readInt16BE(50) === 1;
  const offsetOf = (glyph: number): number =>
    isLong ? loca.readUInt32BE(4 * glyph) : 2 * loca.readUInt16BE(2 * glyph);
  const numbers = new Map(glyphs.map((glyph, number) => [glyph, number]));
  const outlines: Buffer[] = [];
  const offsets = [0];
  // The map grows during the walk: parts of glyphs are added at its end.
  for (const glyph of numbers.keys()) {
    const outline = Buffer.from(glyf.subarray(offsetOf(glyph), offsetOf(glyph + 1)));
    for (const place of partsOf(outline)) {
      outline.writeUInt16BE(numbers.getOrInsert(outline.readUInt16BE(place), numbers.size), place);
    }
    const padded = padTo4(outline);
    outlines.push(padded);
    offsets.push(offsets.at(-1)! + padded.length);
  }
  const lastMetric = hhea.readUInt16BE(34) - 1;
  const metrics = Buffer.alloc(4 * numbers.size);
  for (const [glyph, number] of numbers) {
    metrics.writeUInt16BE(hmtx.readUInt16BE(4 * Math.min(glyph, lastMetric)), 4 * number);
    const bearing = glyph <= lastMetric ? 4 * glyph + 2 : 4 * (lastMetric + 1) + 2 * (glyph - lastMetric - 1);
    metrics.writeInt16BE(hmtx.readInt16BE(bearing), 4 * number + 2);
  }
  const places = Buffer.alloc(4 * offsets.length);
  for (const [at, offset] of offsets.entries()) places.writeUInt32BE(offset, 4 * at);
  head.writeUInt32BE(0, CHECKSUM_ADJUSTMENT);
  head.writeInt16BE(1, 50);
  hhea.writeUInt16BE(numbers.size, 34);
  maxp.writeUInt16BE(numbers.size, 4);
  return fileOf([
    ['glyf', Buffer.concat(outlines)],
    ['head', head],
    ['hhea', hhea],
    ['hmtx', metrics],
    ['loca', places],
    ['maxp', maxp],
  ]);
}

const [ARE_WORDS, HAS_SCALE, HAS_MORE, HAS_TWO_SCALES, HAS_MATRIX] = [0x1, 0x8, 0x20, 0x40, 0x80];

/** The positions of the part numbers in an outline; a plain one has none. */
function partsOf(outline: Buffer): readonly number[] {
  if (outline.length === 0 || outline.readInt16BE(0) >= 0) return [];
  const places: number[] = [];
  for (let at = 10, hasMore = true; hasMore; ) {
    const flags = outline.readUInt16BE(at);
    places.push(at + 2);
    at += 4 + (flags & ARE_WORDS ? 4 : 2);
    at += flags & HAS_SCALE ? 2 : flags & HAS_TWO_SCALES ? 4 : flags & HAS_MATRIX ? 8 : 0;
    hasMore = (flags & HAS_MORE) !== 0;
  }
  return places;
}

const CHECKSUM_ADJUSTMENT = 8;
/** The constant from which the checksum adjustment of a file is computed. */
const CHECKSUM = 0xb1b0afba;

/** `tables` in the order of their tags. */
function fileOf(tables: readonly (readonly [tag: string, data: Buffer])[]): Buffer {
  const directory = Buffer.alloc(12 + 16 * tables.length);
  const step = 2 ** Math.floor(Math.log2(tables.length));
  directory.writeUInt32BE(0x00010000, 0);
  for (const [at, value] of [tables.length, 16 * step, Math.log2(step), 16 * (tables.length - step)].entries()) {
    directory.writeUInt16BE(value, 4 + 2 * at);
  }
  let offset = directory.length;
  const pieces: Buffer[] = [directory];
  for (const [place, [tag, data]] of tables.entries()) {
    const entry = 12 + 16 * place;
    const padded = padTo4(data);
    directory.write(tag, entry, 'latin1');
    directory.writeUInt32BE(sumOf(padded), entry + 4);
    directory.writeUInt32BE(offset, entry + 8);
    directory.writeUInt32BE(data.length, entry + 12);
    pieces.push(padded);
    offset += padded.length;
  }
  const file = Buffer.concat(pieces);
  const head = tables.findIndex(([tag]) => tag === 'head');
  file.writeUInt32BE((CHECKSUM - sumOf(file)) >>> 0, file.readUInt32BE(12 + 16 * head + 8) + CHECKSUM_ADJUSTMENT);
  return file;
}

function sumOf(data: Buffer): number {
  let sum = 0;
  for (let at = 0; at < data.length; at += 4) sum = (sum + data.readUInt32BE(at)) >>> 0;
  return sum;
}

function padTo4(data: Buffer): Buffer {
  return data.length % 4 === 0 ? data : Buffer.concat([data, Buffer.alloc(4 - (data.length % 4))]);
}
