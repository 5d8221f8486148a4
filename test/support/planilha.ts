/** Spreadsheets as Office Open XML (ECMA-376, part 1) has them, written by hand: the smallest that a program of spreadsheets opens. */
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A cell: a text, a number as its digits, a day `YYYY-MM-DD`, or a share of one shown as a percentage. */
export type Celula = string | { readonly number: string } | { readonly day: string } | { readonly percent: string };

const SPREADSHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

/** Cell formats by their places: general, a date, a percentage (18.8.30: 14 and 9). */
const STYLES = `${HEAD}<styleSheet xmlns="${SPREADSHEET}"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="9"/></cellXfs></styleSheet>`;

const PARTS: readonly (readonly [name: string, text: string])[] = [
  [
    '[Content_Types].xml',
    `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/></Types>`,
  ],
  [
    '_rels/.rels',
    `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  ],
  [
    'xl/workbook.xml',
    `${HEAD}<workbook xmlns="${SPREADSHEET}" xmlns:r="${OFFICE}"><sheets><sheet name="Plan1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  ],
  [
    'xl/_rels/workbook.xml.rels',
    `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  ],
  ['xl/styles.xml', STYLES],
];

/** The days since the epoch of spreadsheets, in which 1900 is a leap year. */
function serialOf(day: string): number {
  return (Date.parse(day) - Date.parse('1899-12-30')) / 86_400_000;
}

function writeCell(cell: Celula, place: string): string {
  if (typeof cell === 'string') {
    if (cell === '') return '';
    const text = cell.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
  }
  if ('day' in cell) return `<c r="${place}" s="1"><v>${serialOf(cell.day)}</v></c>`;
  return 'percent' in cell
    ? `<c r="${place}" s="2"><v>${cell.percent}</v></c>`
    : `<c r="${place}"><v>${cell.number}</v></c>`;
}

/** The rows of a sheet as XML. */
export function writeRows(rows: readonly (readonly Celula[])[]): string {
  return rows
    .map((cells, at) => {
      const written = cells.map((cell, column) => writeCell(cell, `${String.fromCharCode(65 + column)}${at + 1}`));
      return `<row r="${at + 1}">${written.join('')}</row>`;
    })
    .join('');
}

/** An `.xlsx` file whose sheet has this XML in its `sheetData`. */
export function packSheet(sheetData: string): Promise<Buffer> {
  const zip = new ZipFile();
  const sheet = `${HEAD}<worksheet xmlns="${SPREADSHEET}"><sheetData>${sheetData}</sheetData></worksheet>`;
  for (const [name, text] of [...PARTS, ['xl/worksheets/sheet1.xml', sheet] as const])
    zip.addBuffer(Buffer.from(text), name);
  zip.end();
  return buffer(zip.outputStream);
}
