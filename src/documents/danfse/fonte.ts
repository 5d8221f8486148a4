/**
 * The TrueType fonts of the printed note: widths for measuring text, glyph numbers for writing it, and the objects that embed them. Two
 * small subsets made for this (`../fontes/README.md`) are embedded whole in each file. The fonts for other letters contribute only the
 * needed glyphs (`recorte.ts`), and are read when the first note needs one.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync, deflateSync, type ZlibOptions } from 'node:zlib';
import { cutGlyphs } from './recorte.ts';

export type Fonte = {
  /** PostScript name. */
  readonly name: string;
  /** Glyph numbers by code point. */
  readonly glyphs: ReadonlyMap<number, number>;
  readonly file: Buffer;
  /** The tables of the file by their tags. */
  readonly table: (tag: string) => Buffer;
  /** Thousandths of the size, by glyph number. */
  readonly widths: readonly number[];
  /** The own letters by UTF-16 unit, which reads faster than a map: most texts have no others. */
  readonly letras: () => readonly (Letra | undefined)[];
  readonly ascent: number;
  readonly descent: number;
  readonly capHeight: number;
  readonly box: readonly number[];
  readonly isBold: boolean;
};

/** `width`: in thousandths of the size. */
type Letra = { readonly glyph: number; readonly width: number };

const FONTES = path.resolve(import.meta.dirname, '../fontes');

/** The font of contents and the small print. */
export const SANS = makeOnce(() => readFonte('sans.ttf', 'NFSEAA+DanfseSans', false));
/** The font of titles and labels. */
export const NEGRITO = makeOnce(() => readFonte('sans-negrito.ttf', 'NFSEAB+DanfseSans-Bold', true));
/** The fonts for letters missing in these two, in the order of the search. */
const OUTRAS: readonly (() => Fonte)[] = [
  makeOnce(() => readFonte('letras.ttf.br', 'DanfseLetras', false)),
  makeOnce(() => readFonte('cjk.ttf.br', 'DroidSansFallback', false)),
];

/** A glyph of another font on a page: its number in the embedded small font, and its character. */
type Emprestada = { readonly number: number; readonly is: string };

/** The glyphs that a page takes from other fonts, by their numbers there, in the order of their first use. */
export type Emprestadas = Map<Fonte, Map<number, Emprestada>>;

/** Printed for a character that no font has. */
const REPLACEMENT = '?'.charCodeAt(0);

/** The glyphs of a text: runs of one font each, four hexadecimal digits per glyph. Undefined: the font of the text has all glyphs. */
export type Corrida = { readonly outra: Fonte | undefined; readonly hex: string };

/** The text in runs; glyphs of other fonts are entered in `emprestadas`. */
export function runsOf(fonte: Fonte, text: string, emprestadas: Emprestadas): readonly Corrida[] {
  const letras = fonte.letras();
  const numbers = Buffer.allocUnsafe(2 * text.length);
  for (let at = 0; at < text.length; at += 1) {
    const own = letras[text.charCodeAt(at)];
    if (own === undefined) return mixedRuns(fonte, text, emprestadas);
    numbers[2 * at] = own.glyph >> 8;
    numbers[2 * at + 1] = own.glyph;
  }
  return [{ outra: undefined, hex: numbers.toString('hex') }];
}

function mixedRuns(fonte: Fonte, text: string, emprestadas: Emprestadas): readonly Corrida[] {
  const runs: { outra: Fonte | undefined; hex: string }[] = [];
  for (const char of text) {
    for (const { of, glyph, is } of glyphsOf(fonte, char)) {
      const outra = of === fonte ? undefined : of;
      const hex = hexOf(outra === undefined ? glyph : borrow(emprestadas, outra, glyph, is));
      const last = runs.at(-1);
      if (last !== undefined && last.outra === outra) last.hex += hex;
      else runs.push({ outra, hex });
    }
  }
  return runs;
}

/** The number of a glyph in the embedded subset: 0 stands for a missing one. */
function borrow(emprestadas: Emprestadas, outra: Fonte, glyph: number, is: string): number {
  const taken = emprestadas.get(outra) ?? new Map<number, Emprestada>([[0, { number: 0, is: '' }]]);
  emprestadas.set(outra, taken);
  const { number } = taken.get(glyph) ?? { number: taken.size };
  taken.set(glyph, { number, is });
  return number;
}

/** The width of the text, in thousandths of the size. */
export function widthOf(fonte: Fonte, text: string): number {
  const letras = fonte.letras();
  let width = 0;
  for (let at = 0; at < text.length; at += 1) {
    const own = letras[text.charCodeAt(at)];
    if (own === undefined) return [...text].reduce((sum, char) => sum + advanceOf(fonte, char), 0);
    width += own.width;
  }
  return width;
}

/** The number of UTF-16 units of a text that fit. `reach`: says whether a width in thousandths of the size fits. */
export function fittingOf(fonte: Fonte, text: string, reach: (width: number) => boolean): number {
  let width = 0;
  let fitting = 0;
  for (const char of text) {
    width += advanceOf(fonte, char);
    if (!reach(width)) break;
    fitting += char.length;
  }
  return fitting;
}

function advanceOf(fonte: Fonte, char: string): number {
  const own = fonte.glyphs.get(char.codePointAt(0)!);
  if (own !== undefined) return fonte.widths[own]!;
  return glyphsOf(fonte, char).reduce((sum, { of, glyph }) => sum + of.widths[glyph]!, 0);
}

/** A glyph, its font, and its character. */
type Glyph = { readonly of: Fonte; readonly glyph: number; readonly is: string };

/** The glyphs of a character: its own, those of its plain forms (`㎡` is m and 2), or a question mark. */
function glyphsOf(fonte: Fonte, char: string): readonly Glyph[] {
  const own = glyphOf(fonte, char);
  if (own !== undefined) return [own];
  if (INVISIBLE.test(char)) return [];
  const plain = [...char.normalize('NFKC')].map((one) => glyphOf(fonte, one));
  if (plain.every((one) => one !== undefined)) return plain;
  return [{ of: fonte, glyph: fonte.glyphs.get(REPLACEMENT)!, is: '?' }];
}

/** Joiners, direction marks and the like. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

function glyphOf(fonte: Fonte, char: string): Glyph | undefined {
  const codePoint = char.codePointAt(0)!;
  const own = fonte.glyphs.get(codePoint);
  if (own !== undefined) return { of: fonte, glyph: own, is: char };
  for (const open of OUTRAS) {
    const of = open();
    const glyph = of.glyphs.get(codePoint);
    if (glyph !== undefined) return { of, glyph, is: char };
  }
  return undefined;
}

const HEX: string[] = [];

/** A number in four digits, made once: each letter of a page needs one. */
function hexOf(number: number): string {
  const made = HEX[number] ?? number.toString(16).padStart(4, '0');
  HEX[number] = made;
  return made;
}

function readFonte(fileName: string, name: string, isBold: boolean): Fonte {
  const stored = readFileSync(path.join(FONTES, fileName));
  const file = fileName.endsWith('.br') ? brotliDecompressSync(stored) : stored;
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
  const glyphs = new Map(characterMap(table('cmap'), fileName));
  return {
    name,
    glyphs,
    file,
    table,
    widths,
    letras: makeOnce(() => lettersOf(glyphs, widths)),
    ascent: thousandths(hhea.readInt16BE(4)),
    descent: thousandths(hhea.readInt16BE(6)),
    capHeight: thousandths(table('OS/2').readInt16BE(88)),
    box: [36, 38, 40, 42].map((at) => thousandths(head.readInt16BE(at))),
    isBold,
  };
}

function lettersOf(glyphs: Fonte['glyphs'], widths: Fonte['widths']): readonly (Letra | undefined)[] {
  const letras = new Array<Letra | undefined>(Math.max(...glyphs.keys()) + 1).fill(undefined);
  for (const [unit, glyph] of glyphs) letras[unit] = { glyph, width: widths[glyph]! };
  return letras;
}

/** The Unicode subtable in format 4, which every TrueType font has. */
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

/** An embedded font: its data in the file, and the character of each glyph. */
type Embutida = Pick<Fonte, 'name' | 'file' | 'widths' | 'ascent' | 'descent' | 'capHeight' | 'box' | 'isBold'> & {
  readonly stands: Iterable<readonly [glyph: number, char: string]>;
};

/** The five objects of a font that is embedded whole, numbered from `first` on; a page refers to the first of them. */
export function fontObjects(fonte: Fonte, first: number): readonly (string | Stream)[] {
  const stands = [...fonte.glyphs].map(([codePoint, glyph]) => [glyph, String.fromCodePoint(codePoint)] as const);
  return objectsOf({ ...fonte, stands }, first);
}

/** The five objects of a font from which a page takes some glyphs. */
export function cutObjects(fonte: Fonte, taken: ReadonlyMap<number, Emprestada>, first: number) {
  const glyphs = [...taken.keys()];
  const file = cutGlyphs(fonte.table, glyphs);
  const stands = [...taken.values()].map(({ number, is }) => [number, is] as const).slice(1);
  const widths = glyphs.map((glyph) => fonte.widths[glyph]!);
  // Two subsets of one font have two names: a program that joins files may treat equal names as one font.
  const tag = [...createHash('sha256').update(file).digest().subarray(0, 6)];
  const name = `${String.fromCharCode(...tag.map((byte) => 0x41 + (byte % 26)))}+${fonte.name}`;
  // Its glyphs stand in the lines of the other fonts; its own measures would make a reader of the page see higher
  // lines.
  const { ascent, descent } = SANS();
  return objectsOf({ ...fonte, name, file, widths, stands, ascent, descent }, first);
}

function objectsOf(fonte: Embutida, first: number): readonly (string | Stream)[] {
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

/** The data of an object besides its dictionary; it is deflated when written. */
export type Stream = { readonly data: Buffer; readonly entries?: string };

/** Lines of one operator, as the format allows. */
const MAPPINGS_MAX = 100;

/** The character of each glyph, so that the text can be copied and read aloud. */
function toUnicodeMap({ stands }: Embutida): string {
  const lines = new Map<number, string>();
  // Two characters may share a glyph (a space and a no-break space); the first is the plain one.
  for (const [glyph, char] of stands) lines.getOrInsert(glyph, `<${hexOf(glyph)}> <${utf16Of(char)}>`);
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

/** The character in UTF-16, as the format demands. */
function utf16Of(char: string): string {
  return Buffer.from(char, 'utf16le').swap16().toString('hex');
}

/** Made once, for every file. */
export const THOROUGHLY: ZlibOptions = { level: 9 };
/** Made for one page: half the time of the usual tables and window, and a page of half a kB more. */
export const QUICKLY: ZlibOptions = { level: 1, windowBits: 13, memLevel: 6 };

/** A stream as an object of the file. */
export function streamObject({ data, entries }: Stream, how: ZlibOptions): Buffer {
  const deflated = deflateSync(data, how);
  const head = `<< ${entries === undefined ? '' : `${entries} `}/Filter /FlateDecode /Length ${deflated.length} >>`;
  return Buffer.concat([Buffer.from(`${head}\nstream\n`), deflated, Buffer.from('\nendstream')]);
}

/** Makes a value at the first call, and keeps it. */
function makeOnce<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
