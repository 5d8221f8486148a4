/**
 * One A4 page as the bytes of a PDF: text, filled areas and lines, in centimetres from the upper left corner, as the standard measures. No
 * library is needed: a page of text in two fonts has a dozen objects, and the fonts are the same in every file.
 */
import {
  cutObjects,
  type Emprestadas,
  type Fonte,
  fittingOf,
  fontObjects,
  NEGRITO,
  runsOf,
  SANS,
  type Stream,
  streamObject,
  widthOf,
} from './fonte.ts';

export const PAGE_WIDTH = 21;
export const PAGE_HEIGHT = 29.7;
const POINTS_PER_CM = 72 / 2.54;

/** Red, green and blue, from 0 to 1, in the notation of the format. */
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
  readonly emprestadas: Emprestadas;
};

export function blankFolha(): Folha {
  return { shades: [], marks: [], ink: [], emprestadas: new Map() };
}

/** Width of a text in centimetres, set at its natural width. */
export function measure({ fonte, size }: Letra, text: string): number {
  return centimetres(widthOf(fonte(), text), size);
}

/** The number of UTF-16 units of a text that fit into a width in centimetres. */
export function fitting({ fonte, size }: Letra, text: string, width: number): number {
  return fittingOf(fonte(), text, (reached) => centimetres(reached, size) <= width);
}

function centimetres(thousandths: number, size: number): number {
  return (thousandths * size) / 1000 / POINTS_PER_CM;
}

/** Converts points to centimetres. */
export function points(count: number): number {
  return count / POINTS_PER_CM;
}

/** Sets a text with its baseline at `y`. `stretch`: 1 for the natural width of the letters, less for narrower ones. */
export function setText(
  { ink, emprestadas }: Folha,
  letra: Letra,
  x: number,
  y: number,
  text: string,
  stretch = 1,
  cor: Cor = PRETO,
): void {
  const place = `${writeLength(x)} ${writeHeight(y)} Td`;
  const shown = showText(letra, text, emprestadas);
  ink.push(`${beginText(letra, cor)} ${writeNumber(stretch * 100)} Tz ${place} ${shown} ET`);
}

/** Sets a text below all others, turned by `degrees` around the page's middle, and moved by `offset` at right angles. */
export function setMark(
  { marks, emprestadas }: Folha,
  letra: Letra,
  text: string,
  { cor, degrees, offset }: { readonly cor: Cor; readonly degrees: number; readonly offset: number },
): void {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const half = measure(letra, text) / 2;
  const x = PAGE_WIDTH / 2 - half * cos + offset * sin;
  const y = PAGE_HEIGHT / 2 + half * sin + offset * cos;
  const matrix = [cos, sin, -sin, cos].map((value) => value.toFixed(5)).join(' ');
  const place = `${matrix} ${writeLength(x)} ${writeHeight(y)} Tm`;
  marks.push(`${beginText(letra, cor)} ${place} ${showText(letra, text, emprestadas)} ET`);
}

function beginText(letra: Letra, cor: Cor): string {
  return `BT ${chooseFont(letra)} ${cor} rg`;
}

function chooseFont({ fonte, size }: Letra): string {
  return `/${fonte().isBold ? 'N' : 'S'} ${size} Tf`;
}

/** The operators that show a text: a single one, unless other fonts supply letters. */
function showText(letra: Letra, text: string, emprestadas: Emprestadas): string {
  const runs = runsOf(letra.fonte(), text, emprestadas);
  return runs
    .map(({ outra, hex }) => {
      if (outra === undefined) return `<${hex}> Tj`;
      const name = nameOfLent([...emprestadas.keys()].indexOf(outra));
      return `/${name} ${letra.size} Tf <${hex}> Tj ${chooseFont(letra)}`;
    })
    .join(' ');
}

/** The name of a supplying font, in the resources of the page. */
function nameOfLent(place: number): string {
  return `E${place}`;
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

/** A horizontal line of a width in points. */
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

/** A height from the upper edge, converted to that from the lower edge, as the format counts. */
function writeHeight(cm: number): string {
  return writeLength(PAGE_HEIGHT - cm);
}

/** A hundredth of a point is finer than any printer. */
function writeNumber(value: number): string {
  return String(Math.round(value * 100) / 100);
}

const [CATALOG, PAGES, PAGE, CONTENT, INFO, FIRST_FONT] = [1, 2, 3, 4, 5, 6];
const OBJECTS_OF_A_FONT = 5;

/** The objects of the fonts, which are the same for every page. */
let fonts: readonly Buffer[] | undefined;

/** The file. `title`, in plain ASCII, is the document's name in a viewer. */
export function pdfOf({ shades, marks, ink, emprestadas }: Folha, title: string): Buffer {
  fonts ??= [SANS(), NEGRITO()]
    .flatMap((fonte, place) => fontObjects(fonte, FIRST_FONT + place * OBJECTS_OF_A_FONT))
    .map(objectOf);
  const [sans, negrito] = [FIRST_FONT, FIRST_FONT + OBJECTS_OF_A_FONT];
  const firstLent = FIRST_FONT + 2 * OBJECTS_OF_A_FONT;
  const lent = [...emprestadas].map(([fonte, taken], place) => {
    const first = firstLent + place * OBJECTS_OF_A_FONT;
    return { objects: cutObjects(fonte, taken, first).map(objectOf), resource: `/${nameOfLent(place)} ${first} 0 R ` };
  });
  const resources = `/S ${sans} 0 R /N ${negrito} 0 R ${lent.map(({ resource }) => resource).join('')}`;
  const box = `[0 0 ${writeLength(PAGE_WIDTH)} ${writeLength(PAGE_HEIGHT)}]`;
  const objects: Buffer[] = [];
  objects[CATALOG] = objectOf(
    `<< /Type /Catalog /Pages ${PAGES} 0 R /Lang (pt-BR) /ViewerPreferences << /DisplayDocTitle true >> >>`,
  );
  objects[PAGES] = objectOf(`<< /Type /Pages /Kids [${PAGE} 0 R] /Count 1 >>`);
  objects[PAGE] = objectOf(
    `<< /Type /Page /Parent ${PAGES} 0 R /MediaBox ${box} /Contents ${CONTENT} 0 R /Resources << /Font << ${resources}>> >> >>`,
  );
  objects[CONTENT] = objectOf({ data: Buffer.from([...shades, ...marks, ...ink].join('\n'), 'latin1') });
  objects[INFO] = objectOf(`<< /Title (${title}) /Creator (emissor-nfse) >>`);
  objects.push(...fonts, ...lent.flatMap((one) => one.objects));
  return fileOf(objects);
}

function objectOf(object: string | Stream): Buffer {
  return typeof object === 'string' ? Buffer.from(object) : streamObject(object);
}

/** The bytes after the version mark the file as binary. */
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
