/**
 * One A4 page as the bytes of a PDF: text, filled areas and lines, in centimetres from the upper left corner, as the standard measures. No
 * library is needed: a page of text in two fonts has a dozen objects, and the fonts are the same in every file.
 */
import { once } from '../../fiscal/catalogs/table.ts';
import {
  cutObjects,
  type Emprestadas,
  type Fonte,
  fittingOf,
  fontObjects,
  NEGRITO,
  QUICKLY,
  runsOf,
  SANS,
  type Stream,
  streamObject,
  THOROUGHLY,
  widthOf,
} from './fonte.ts';

export const PAGE_WIDTH = 21;
export const PAGE_HEIGHT = 29.7;
const POINTS_PER_CM = 72 / 2.54;

/** Red, green and blue, from 0 to 1, in the notation of the format. */
export type Cor = string;
export const PRETO: Cor = '0 0 0';
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

/** A text set in its letters, but for its height: the operators before and after that. */
export type Linha = { readonly before: string; readonly after: string };

/** `stretch`: 1 for the natural width of the letters, less for narrower ones. */
export function composeText(
  { emprestadas }: Pick<Folha, 'emprestadas'>,
  letra: Letra,
  x: number,
  text: string,
  stretch = 1,
  cor: Cor = PRETO,
): Linha {
  const before = `${beginText(letra, cor)} ${writeNumber(stretch * 100)} Tz ${writeLength(x)} `;
  return { before, after: ` Td ${showText(letra, text, emprestadas)} ET` };
}

/** Sets a text with its baseline at `y`. */
export function setText({ ink }: Folha, { before, after }: Linha, y: number): void {
  ink.push(before + writeHeight(y) + after);
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
  const [first] = runs;
  if (runs.length === 1 && first!.outra === undefined) return `<${first!.hex}> Tj`;
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
  shades.push(fillPath(area, cor));
}

export function fill({ ink }: Folha, area: Area, cor: Cor): void {
  ink.push(fillPath(area, cor));
}

function fillPath({ x, y, w, h }: Area, cor: Cor): string {
  return `${cor} rg ${writeLength(x)} ${writeHeight(y + h)} ${writeLength(w)} ${writeLength(h)} re f`;
}

/** Fills the dark cells of a QR code. Neighbours in a row are one rectangle; the drawing is scaled so that a cell is one unit. */
export function fillCells({ ink }: Folha, { x, y, w, h }: Area, rows: readonly (readonly boolean[])[], cor: Cor): void {
  const cell = ((w * POINTS_PER_CM) / rows.length).toFixed(5);
  const paths = [`q ${cor} rg ${cell} 0 0 ${cell} ${writeLength(x)} ${writeHeight(y + h)} cm`];
  for (const [place, row] of rows.entries()) {
    const bottom = ` ${rows.length - 1 - place} `;
    for (let from = row.indexOf(true); from >= 0; ) {
      const end = row.indexOf(false, from);
      const until = end < 0 ? row.length : end;
      paths.push(`${from}${bottom}${until - from} 1 re`);
      from = end < 0 ? -1 : row.indexOf(true, end);
    }
  }
  ink.push(`${paths.join('\n')} f Q`);
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

/** The decimals of a number by its hundredths, without the last zero. */
const DECIMALS = Array.from({ length: 100 }, (_, hundredths) => String(hundredths / 100).slice(1));

/** A hundredth of a point is finer than any printer. The parts of a number are written apart: a fraction is dear to write. */
function writeNumber(value: number): string {
  const hundredths = Math.round(Math.abs(value) * 100);
  const text = `${Math.trunc(hundredths / 100)}${DECIMALS[hundredths % 100]}`;
  return value < 0 && hundredths > 0 ? `-${text}` : text;
}

const [CATALOG, PAGES, PAGE, CONTENT, INFO, FIRST_FONT] = [1, 2, 3, 4, 5, 6];
const OBJECTS_OF_A_FONT = 5;

/** The objects that every file has: the catalogue, the list of its one page, and the fonts. */
const SAME = once(() => {
  const catalog = `<< /Type /Catalog /Pages ${PAGES} 0 R /Lang (pt-BR) /ViewerPreferences << /DisplayDocTitle true >> >>`;
  const fonts = [SANS(), NEGRITO()].flatMap((fonte, place) =>
    fontObjects(fonte, FIRST_FONT + place * OBJECTS_OF_A_FONT),
  );
  return {
    first: [catalog, `<< /Type /Pages /Kids [${PAGE} 0 R] /Count 1 >>`].map((one, at) => objectOf(CATALOG + at, one)),
    fonts: fonts.map((one, at) => objectOf(FIRST_FONT + at, one, THOROUGHLY)),
  };
});

/** The file. `title`, in plain ASCII, is the document's name in a viewer. */
export function pdfOf({ shades, marks, ink, emprestadas }: Folha, title: string): Buffer {
  const { first, fonts } = SAME();
  const [sans, negrito] = [FIRST_FONT, FIRST_FONT + OBJECTS_OF_A_FONT];
  const lent = [...emprestadas].map(([fonte, taken], place) => {
    const number = FIRST_FONT + (2 + place) * OBJECTS_OF_A_FONT;
    const objects = cutObjects(fonte, taken, number).map((one, at) => objectOf(number + at, one));
    return { objects, resource: `/${nameOfLent(place)} ${number} 0 R ` };
  });
  const resources = `/S ${sans} 0 R /N ${negrito} 0 R ${lent.map(({ resource }) => resource).join('')}`;
  const box = `[0 0 ${writeLength(PAGE_WIDTH)} ${writeLength(PAGE_HEIGHT)}]`;
  const page = `<< /Type /Page /Parent ${PAGES} 0 R /MediaBox ${box} /Contents ${CONTENT} 0 R /Resources << /Font << ${resources}>> >> >>`;
  return fileOf([
    ...first,
    objectOf(PAGE, page),
    objectOf(CONTENT, { data: Buffer.from([...shades, ...marks, ...ink].join('\n'), 'latin1') }),
    objectOf(INFO, `<< /Title (${title}) /Creator (emissor-nfse) >>`),
    ...fonts,
    ...lent.flatMap(({ objects }) => objects),
  ]);
}

function objectOf(number: number, object: string | Stream, how = QUICKLY): Buffer {
  const [head, tail] = [`${number} 0 obj\n`, '\nendobj\n'];
  if (typeof object === 'string') return Buffer.from(head + object + tail);
  return Buffer.concat([Buffer.from(head), streamObject(object, how), Buffer.from(tail)]);
}

/** The bytes after the version mark the file as binary. */
const HEADER = Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n', 'latin1');

/** `objects` from number 1 on. */
function fileOf(objects: readonly Buffer[]): Buffer {
  let rows = '0000000000 65535 f \n';
  let at = HEADER.length;
  for (const { length } of objects) {
    rows += `${String(at).padStart(10, '0')} 00000 n \n`;
    at += length;
  }
  const size = objects.length + 1;
  const trailer = `trailer\n<< /Size ${size} /Root ${CATALOG} 0 R /Info ${INFO} 0 R >>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([HEADER, ...objects, Buffer.from(`xref\n0 ${size}\n${rows}${trailer}`)]);
}
