/**
 * One A4 page as the bytes of a PDF: text, filled areas and lines, in centimetres from the upper left corner, as the standard
 * measures. No library: a page of text in two fonts needs a dozen objects, and the fonts are the same in every file.
 */
import { type Fonte, fontObjects, glyphsOf, NEGRITO, SANS, type Stream, streamObject, widthOf } from './fonte.ts';

export const PAGE_WIDTH = 21;
export const PAGE_HEIGHT = 29.7;
const POINTS_PER_CM = 72 / 2.54;

/** Red, green and blue, from 0 to 1, as the format writes them. */
export type Cor = string;
const PRETO: Cor = '0 0 0';
export const BRANCO: Cor = '1 1 1';

export type Letra = { readonly fonte: () => Fonte; readonly size: number };

export type Area = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };

/** The layers of a page from the lowest: shading, watermark, text and lines. */
export type Folha = {
  readonly shades: string[];
  readonly marks: string[];
  readonly ink: string[];
};

export function blankFolha(): Folha {
  return { shades: [], marks: [], ink: [] };
}

/** Width of a text in centimetres, set at its natural width. */
export function measure({ fonte, size }: Letra, text: string): number {
  return (widthOf(fonte(), text) * size) / 1000 / POINTS_PER_CM;
}

/** Points as centimetres. */
export function points(count: number): number {
  return count / POINTS_PER_CM;
}

/** Sets a text with its baseline at `y`. `stretch`: 1 for the natural width of the letters, less to set them narrower. */
export function setText(
  { ink }: Folha,
  letra: Letra,
  x: number,
  y: number,
  text: string,
  stretch = 1,
  cor: Cor = PRETO,
): void {
  const place = `${writeLength(x)} ${writeHeight(y)} Td`;
  ink.push(
    `${beginText(letra, cor)} ${writeNumber(stretch * 100)} Tz ${place} <${glyphsOf(letra.fonte(), text)}> Tj ET`,
  );
}

/** Sets a text below all others, turned by `degrees` around the middle of the page and moved by `offset` at right angles. */
export function setMark(
  { marks }: Folha,
  letra: Letra,
  text: string,
  { cor, degrees, offset }: { readonly cor: Cor; readonly degrees: number; readonly offset: number },
): void {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const half = measure(letra, text) / 2;
  const x = PAGE_WIDTH / 2 - half * cos + offset * sin;
  const y = PAGE_HEIGHT / 2 + half * sin + offset * cos;
  const matrix = [cos, sin, -sin, cos].map((value) => value.toFixed(5)).join(' ');
  marks.push(
    `${beginText(letra, cor)} ${matrix} ${writeLength(x)} ${writeHeight(y)} Tm <${glyphsOf(letra.fonte(), text)}> Tj ET`,
  );
}

function beginText({ fonte, size }: Letra, cor: Cor): string {
  return `BT /${fonte().isBold ? 'N' : 'S'} ${size} Tf ${cor} rg`;
}

export function shade({ shades }: Folha, area: Area, cor: Cor): void {
  shades.push(fillPaths([area], cor));
}

export function fill({ ink }: Folha, areas: readonly Area[], cor: Cor): void {
  ink.push(fillPaths(areas, cor));
}

function fillPaths(areas: readonly Area[], cor: Cor): string {
  const paths = areas.map(
    ({ x, y, w, h }) => `${writeLength(x)} ${writeHeight(y + h)} ${writeLength(w)} ${writeLength(h)} re`,
  );
  return `${cor} rg ${paths.join(' ')} f`;
}

/** A level line, so many points wide. */
export function rule({ ink }: Folha, x: number, y: number, w: number, width: number): void {
  ink.push(`${PRETO} RG ${width} w ${writeLength(x)} ${writeHeight(y)} m ${writeLength(x + w)} ${writeHeight(y)} l S`);
}

/** An empty frame. */
export function frame({ ink }: Folha, { x, y, w, h }: Area, width: number): void {
  ink.push(`${PRETO} RG ${width} w ${writeLength(x)} ${writeHeight(y + h)} ${writeLength(w)} ${writeLength(h)} re S`);
}

/** A distance from the left edge, or any length, in points. */
function writeLength(cm: number): string {
  return writeNumber(cm * POINTS_PER_CM);
}

/** A place counted from the upper edge, as the format counts it: from the lower one. */
function writeHeight(cm: number): string {
  return writeLength(PAGE_HEIGHT - cm);
}

/** A hundredth of a point is finer than any printer. */
function writeNumber(value: number): string {
  return String(Math.round(value * 100) / 100);
}

const [CATALOG, PAGES, PAGE, CONTENT, INFO, FIRST_FONT] = [1, 2, 3, 4, 5, 6];
const OBJECTS_OF_A_FONT = 5;

/** The objects of the fonts, which no page changes. */
let fonts: readonly Buffer[] | undefined;

/** The file. `title` in plain ASCII; it is what a viewer shows as the name of the document. */
export function pdfOf({ shades, marks, ink }: Folha, title: string): Buffer {
  fonts ??= [SANS(), NEGRITO()]
    .flatMap((fonte, place) => fontObjects(fonte, FIRST_FONT + place * OBJECTS_OF_A_FONT))
    .map(objectOf);
  const [sans, negrito] = [FIRST_FONT, FIRST_FONT + OBJECTS_OF_A_FONT];
  const box = `[0 0 ${writeLength(PAGE_WIDTH)} ${writeLength(PAGE_HEIGHT)}]`;
  const objects: Buffer[] = [];
  objects[CATALOG] = objectOf(
    `<< /Type /Catalog /Pages ${PAGES} 0 R /Lang (pt-BR) /ViewerPreferences << /DisplayDocTitle true >> >>`,
  );
  objects[PAGES] = objectOf(`<< /Type /Pages /Kids [${PAGE} 0 R] /Count 1 >>`);
  objects[PAGE] = objectOf(
    `<< /Type /Page /Parent ${PAGES} 0 R /MediaBox ${box} /Contents ${CONTENT} 0 R /Resources << /Font << /S ${sans} 0 R /N ${negrito} 0 R >> >> >>`,
  );
  objects[CONTENT] = objectOf({ data: Buffer.from([...shades, ...marks, ...ink].join('\n'), 'latin1') });
  objects[INFO] = objectOf(`<< /Title (${title}) /Creator (emissor-nfse) >>`);
  objects.push(...fonts);
  return fileOf(objects);
}

function objectOf(object: string | Stream): Buffer {
  return typeof object === 'string' ? Buffer.from(object) : streamObject(object);
}

/** The bytes after the version tell who looks at the beginning of a file that this one is not text. */
const HEADER = Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n', 'latin1');

/** `objects` from number 1 on. */
function fileOf(objects: readonly Buffer[]): Buffer {
  const pieces: Buffer[] = [HEADER];
  const rows = ['0000000000 65535 f \n'];
  let at = HEADER.length;
  for (const [number, object] of objects.entries()) {
    if (number === 0) continue;
    const [head, tail] = [Buffer.from(`${number} 0 obj\n`), Buffer.from('\nendobj\n')];
    pieces.push(head, object, tail);
    rows.push(`${String(at).padStart(10, '0')} 00000 n \n`);
    at += head.length + object.length + tail.length;
  }
  const trailer = `trailer\n<< /Size ${rows.length} /Root ${CATALOG} 0 R /Info ${INFO} 0 R >>\nstartxref\n${at}\n%%EOF\n`;
  pieces.push(Buffer.from(`xref\n0 ${rows.length}\n${rows.join('')}${trailer}`));
  return Buffer.concat(pieces);
}
