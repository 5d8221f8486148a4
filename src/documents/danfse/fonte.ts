/**
 * A TrueType font as a PDF needs it: widths to measure text with, glyph numbers to write it with, and the objects that
 * embed it. The files are small cuts made for this (`../fontes/README.md`), so they are embedded whole.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { latinOf } from '../../fiscal/layout/check-text.ts';

export type Fonte = {
  /** PostScript name; of a cut, so it begins with a tag of six letters. */
  readonly name: string;
  readonly glyphs: ReadonlyMap<number, Glyph>;
  readonly file: Buffer;
  /** In thousandths of the size, by glyph number. */
  readonly widths: readonly number[];
  readonly ascent: number;
  readonly descent: number;
  readonly capHeight: number;
  readonly box: readonly number[];
  readonly isBold: boolean;
};

/** What a character is set with: a glyph, or the few that stand for it. */
type Glyph = {
  /** The number of the glyph as four hexadecimal digits. */
  readonly hex: string;
  /** In thousandths of the size. */
  readonly width: number;
};

const FONTES = path.resolve(import.meta.dirname, '../fontes');

/** Contents and the small print. */
export const SANS = makeOnce(() => readFonte('sans.ttf', 'NFSEAA+DanfseSans', false));
/** Titles and labels. */
export const NEGRITO = makeOnce(() => readFonte('sans-negrito.ttf', 'NFSEAB+DanfseSans-Bold', true));

/** Printed for what is not to be written with the letters of the font. */
const REPLACEMENT = '?'.charCodeAt(0);

/** The text as glyph numbers in hexadecimal, four digits each. */
export function glyphsOf(fonte: Fonte, text: string): string {
  let hex = '';
  for (const char of text.normalize('NFC')) hex += glyphOf(fonte, char).hex;
  return hex;
}

/** How far the text goes, in thousandths of the size. */
export function widthOf(fonte: Fonte, text: string): number {
  let width = 0;
  for (const char of text.normalize('NFC')) width += glyphOf(fonte, char).width;
  return width;
}

/** A name or a description may have any letter; one that the font has not is set as the nearest that it has. */
function glyphOf({ glyphs }: Fonte, char: string): Glyph {
  const own = glyphs.get(char.codePointAt(0)!);
  if (own !== undefined) return own;
  const near = [...latinOf(char)].flatMap((one) => glyphs.get(one.charCodeAt(0)) ?? []);
  if (near.length === 0) return glyphs.get(REPLACEMENT)!;
  return { hex: near.map(({ hex }) => hex).join(''), width: near.reduce((sum, { width }) => sum + width, 0) };
}

function readFonte(fileName: string, name: string, isBold: boolean): Fonte {
  const file = readFileSync(path.join(FONTES, fileName));
  const tables = new Map<string, Buffer>();
  for (let count = file.readUInt16BE(4), entry = 12; count > 0; count -= 1, entry += 16) {
    const start = file.readUInt32BE(entry + 8);
    const tag = file.toString('latin1', entry, entry + 4);
    tables.set(tag, file.subarray(start, start + file.readUInt32BE(entry + 12)));
  }
  const table = (tag: string): Buffer => tables.get(tag) ?? refuseFont(fileName, tag);
  const head = table('head');
  const thousandths = (units: number): number => Math.round((units * 1000) / head.readUInt16BE(18));
  const hhea = table('hhea');
  const hmtx = table('hmtx');
  const lastMetric = hhea.readUInt16BE(34) - 1;
  const glyphCount = table('maxp').readUInt16BE(4);
  const widths = Array.from({ length: glyphCount }, (_, glyph) =>
    thousandths(hmtx.readUInt16BE(4 * Math.min(glyph, lastMetric))),
  );
  const glyphs = new Map<number, Glyph>();
  for (const [codePoint, glyph] of characterMap(table('cmap'), fileName)) {
    glyphs.set(codePoint, { hex: glyph.toString(16).padStart(4, '0'), width: widths[glyph]! });
  }
  return {
    name,
    glyphs,
    file,
    widths,
    ascent: thousandths(hhea.readInt16BE(4)),
    descent: thousandths(hhea.readInt16BE(6)),
    capHeight: thousandths(table('OS/2').readInt16BE(88)),
    box: [36, 38, 40, 42].map((at) => thousandths(head.readInt16BE(at))),
    isBold,
  };
}

/** The subtable of Unicode in format 4, which every TrueType font has. */
function characterMap(cmap: Buffer, fileName: string): readonly (readonly [codePoint: number, glyph: number])[] {
  const count = cmap.readUInt16BE(2);
  const offsets = Array.from({ length: count }, (_, at) => cmap.readUInt32BE(8 + 8 * at));
  const start = offsets.find((offset) => cmap.readUInt16BE(offset) === 4) ?? refuseFont(fileName, 'cmap');
  const table = cmap.subarray(start);
  const size = table.readUInt16BE(6);
  const pairs: [number, number][] = [];
  for (let at = 0; at < size; at += 2) {
    const last = table.readUInt16BE(14 + at);
    const first = table.readUInt16BE(16 + size + at);
    const delta = table.readUInt16BE(16 + 2 * size + at);
    const place = 16 + 3 * size + at;
    const range = table.readUInt16BE(place);
    for (let code = first; code <= last && code !== 0xffff; code += 1) {
      const found = range === 0 ? code : table.readUInt16BE(place + range + 2 * (code - first));
      if (found !== 0) pairs.push([code, (found + delta) & 0xffff]);
    }
  }
  return pairs;
}

function refuseFont(fileName: string, tag: string): never {
  throw new Error(`${fileName} is no font that can be read: ${tag}`);
}

/** The five objects of an embedded font, numbered from `first` on; a page uses the first of them. */
export function fontObjects(fonte: Fonte, first: number): readonly (string | Stream)[] {
  const [, descendant, descriptor, file, toUnicode] = [0, 1, 2, 3, 4].map((at) => `${first + at} 0 R`);
  const { name, box, ascent, descent, capHeight } = fonte;
  const system = '<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>';
  const stem = fonte.isBold ? 140 : 80;
  return [
    `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /Identity-H /DescendantFonts [${descendant}] /ToUnicode ${toUnicode} >>`,
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /${name} /CIDSystemInfo ${system} /FontDescriptor ${descriptor} /CIDToGIDMap /Identity /DW 0 /W [0 [${fonte.widths.join(' ')}]] >>`,
    `<< /Type /FontDescriptor /FontName /${name} /Flags 32 /FontBBox [${box.join(' ')}] /ItalicAngle 0 /Ascent ${ascent} /Descent ${descent} /CapHeight ${capHeight} /StemV ${stem} /FontFile2 ${file} >>`,
    { data: fonte.file, entries: `/Length1 ${fonte.file.length}` },
    { data: Buffer.from(toUnicodeMap(fonte)) },
  ];
}

/** What an object holds besides its dictionary; it is deflated when written. */
export type Stream = { readonly data: Buffer; readonly entries?: string };

/** Lines of one operator, as the format allows. */
const MAPPINGS_MAX = 100;

/** Which character each glyph stands for, so that the text can be copied and read aloud. */
function toUnicodeMap({ glyphs }: Fonte): string {
  const lines = new Map<string, string>();
  // Two characters may share a glyph (a space and the one that does not break); the first is the plain one.
  for (const [codePoint, { hex }] of glyphs) {
    if (!lines.has(hex)) lines.set(hex, `<${hex}> <${codePoint.toString(16).padStart(4, '0')}>`);
  }
  const all = [...lines.values()];
  const blocks: string[] = [];
  for (let at = 0; at < all.length; at += MAPPINGS_MAX) {
    const some = all.slice(at, at + MAPPINGS_MAX);
    blocks.push(`${some.length} beginbfchar`, ...some, 'endbfchar');
  }
  return [
    '/CIDInit /ProcSet findresource begin',
    '12 dict begin',
    'begincmap',
    '/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def',
    '/CMapName /Adobe-Identity-UCS def',
    '/CMapType 2 def',
    '1 begincodespacerange',
    '<0000> <ffff>',
    'endcodespacerange',
    ...blocks,
    'endcmap',
    'CMapName currentdict /CMap defineresource pop',
    'end',
    'end',
    '',
  ].join('\n');
}

/** Measured: a fourth of the time of the usual level, and a page of 1 kB more. */
const LEVEL = 3;

/** A stream as an object of the file. */
export function streamObject({ data, entries }: Stream): Buffer {
  const deflated = deflateSync(data, { level: LEVEL });
  const head = `<< ${entries === undefined ? '' : `${entries} `}/Filter /FlateDecode /Length ${deflated.length} >>`;
  return Buffer.concat([Buffer.from(`${head}\nstream\n`), deflated, Buffer.from('\nendstream')]);
}

/** Makes a value when it is first asked for. */
function makeOnce<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
