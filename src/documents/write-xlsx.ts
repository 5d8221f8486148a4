/**
 * A table as an Office Open XML spreadsheet (ECMA-376, part 1), written while its rows are read (D-831): memory holds one block of rows. Keys and
 * documents are texts, which no program turns into a number or runs as a formula; days and amounts are values that it can add and order.
 */
import { writeZip, type ZipEntry } from './write-zip.ts';

export type ColunaXlsx = { readonly titulo: string; readonly tipo: TipoXlsx };

/** A cell's content by kind: any text, `YYYY-MM-DD`, `YYYY-MM-DDTHH:MM:SS…` in local time, a whole number, an amount, a percentage. */
export type TipoXlsx = 'texto' | 'data' | 'momento' | 'numero' | 'valor' | 'percentual';

/** Formats of cells by kind, with the numbers of the standard (18.8.30); those from 164 on are declared in {@link STYLES}. */
const FORMATOS = { texto: 49, data: 164, momento: 165, numero: 1, valor: 4, percentual: 10 } as const satisfies Record<
  TipoXlsx,
  number
>;
const TIPOS = Object.keys(FORMATOS) as readonly TipoXlsx[];
/** Styles by their places: the head of a table, then the kinds. */
const HEAD_STYLE = 0;
const STYLE_OF = Object.fromEntries(TIPOS.map((tipo, place) => [tipo, place + 1])) as Record<TipoXlsx, number>;

/** Rows that a sheet holds, its head included; the rows beyond stand in another sheet. */
const ROWS_MAX = 1_048_576;
/** Digits that a program of spreadsheets keeps of a number; a longer one is written as a text. */
const SURE_DIGITS = 15;
/** Characters that a cell holds. */
const TEXT_MAX = 32_767;
const BLOCK_CHARS = 1 << 16;

/**
 * Writes the file. `rows`: cells in the order of the columns; an empty one is left out. `rowsMax`: of a sheet. Rejects with the error of the
 * rows or of the disk.
 */
export async function writeXlsx(
  file: string,
  { nome, colunas }: { readonly nome: string; readonly colunas: readonly ColunaXlsx[] },
  rows: AsyncIterable<readonly string[]>,
  rowsMax = ROWS_MAX,
): Promise<void> {
  await writeZip(file, listParts(nome, colunas, rows[Symbol.asyncIterator](), rowsMax));
}

/** The parts of the file. A sheet is complete before the next part is named, because its rows decide whether another follows. */
async function* listParts(
  nome: string,
  colunas: readonly ColunaXlsx[],
  rows: AsyncIterator<readonly string[]>,
  rowsMax: number,
): AsyncGenerator<ZipEntry> {
  const names: string[] = [];
  let next = await rows.next();
  do {
    let isWhole = false;
    names.push(names.length === 0 ? nome : `${nome} (${names.length + 1})`);
    const end = Promise.withResolvers<void>();
    const writeSheet = async function* (): AsyncGenerator<string> {
      try {
        yield `${HEAD}<worksheet xmlns="${SPREADSHEET}">${FROZEN}${writeWidths(colunas)}<sheetData>`;
        let block = writeHead(colunas);
        for (let at = 2; !next.done && at <= rowsMax; at += 1) {
          block += writeRow(colunas, next.value, at);
          if (block.length >= BLOCK_CHARS) {
            yield block;
            block = '';
          }
          next = await rows.next();
        }
        yield `${block}</sheetData></worksheet>`;
        isWhole = true;
      } finally {
        end.resolve();
      }
    };
    yield { nome: `xl/worksheets/sheet${names.length}.xml`, conteudo: writeSheet() };
    await end.promise;
    if (!isWhole) return;
  } while (!next.done);
  for (const [part, text] of listFrame(names)) yield { nome: part, conteudo: Buffer.from(text) };
}

/** Widths of columns by kind, in characters. */
const WIDTHS: Readonly<Record<TipoXlsx, number>> = {
  texto: 22,
  data: 12,
  momento: 20,
  numero: 12,
  valor: 16,
  percentual: 12,
};

function writeWidths(colunas: readonly ColunaXlsx[]): string {
  const widths = colunas.map(({ titulo, tipo }, place) => {
    const width = Math.max(WIDTHS[tipo], titulo.length + 2);
    return `<col min="${place + 1}" max="${place + 1}" width="${width}" customWidth="1"/>`;
  });
  return `<cols>${widths.join('')}</cols>`;
}

function writeHead(colunas: readonly ColunaXlsx[]): string {
  const cells = colunas.map(({ titulo }, place) => writeText(`${nameColumn(place)}1`, HEAD_STYLE, titulo));
  return `<row r="1">${cells.join('')}</row>`;
}

function writeRow(colunas: readonly ColunaXlsx[], cells: readonly string[], at: number): string {
  const written = cells.map((text, place) =>
    text === '' ? '' : writeCell(`${nameColumn(place)}${at}`, colunas[place]!.tipo, text),
  );
  return `<row r="${at}">${written.join('')}</row>`;
}

function writeCell(place: string, tipo: TipoXlsx, text: string): string {
  const value = VALUES[tipo](text);
  return value === undefined
    ? writeText(place, STYLE_OF.texto, text)
    : `<c r="${place}" s="${STYLE_OF[tipo]}"><v>${value}</v></c>`;
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** The value of a cell; undefined: the text has none, and stays a text. */
const VALUES: Readonly<Record<TipoXlsx, (text: string) => string | undefined>> = {
  texto: () => undefined,
  data: (text) => serialOf(`${text}T00:00:00`),
  momento: serialOf,
  numero: readNumber,
  valor: readNumber,
  percentual: (text) => {
    const number = readNumber(text);
    return number === undefined ? undefined : String(Number((Number(number) / 100).toPrecision(SURE_DIGITS)));
  },
};

function readNumber(text: string): string | undefined {
  return NUMBER.test(text) && text.replace(/\D/g, '').length <= SURE_DIGITS ? text : undefined;
}

const DAY_S = 86_400;
/** The day from which spreadsheets count, in which 1900 is a leap year (18.17.4.1). */
const FIRST_DAY = Date.parse('1899-12-30T00:00:00Z');

/** Days since the first day of spreadsheets, of a local time without regard to its zone. */
function serialOf(moment: string): string | undefined {
  const instant = Date.parse(`${moment.slice(0, 19)}Z`);
  if (Number.isNaN(instant)) return undefined;
  return String(Number(((instant - FIRST_DAY) / 1_000 / DAY_S).toPrecision(SURE_DIGITS)));
}

function writeText(place: string, style: number, text: string): string {
  return `<c r="${place}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapeText(text)}</t></is></c>`;
}

/** Characters that XML 1.0 does not have. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const NO_XML = /[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/g;

/** A text such as `_x0041_` is read as the character that it names, unless its underscore is escaped (22.9.2.19). */
function escapeText(text: string): string {
  return text
    .slice(0, TEXT_MAX)
    .toWellFormed()
    .replace(NO_XML, '\uFFFD')
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');
}

/** `A`, `Z`, `AA`. */
function nameColumn(place: number): string {
  const last = String.fromCharCode(65 + (place % 26));
  return place < 26 ? last : nameColumn(Math.floor(place / 26) - 1) + last;
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const SPREADSHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
/** The head of the table stays in sight. */
const FROZEN =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';

const STYLES = [
  `${HEAD}<styleSheet xmlns="${SPREADSHEET}">`,
  `<numFmts count="2"><numFmt numFmtId="${FORMATOS.data}" formatCode="dd/mm/yyyy"/>`,
  `<numFmt numFmtId="${FORMATOS.momento}" formatCode="dd/mm/yyyy\\ hh:mm:ss"/></numFmts>`,
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>',
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>',
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
  `<cellXfs count="${TIPOS.length + 1}"><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>`,
  ...TIPOS.map(
    (tipo) => `<xf numFmtId="${FORMATOS[tipo]}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
  ),
  '</cellXfs></styleSheet>',
].join('');

/** The parts that say where the sheets are. */
function listFrame(sheets: readonly string[]): readonly (readonly [part: string, text: string])[] {
  const each = (write: (name: string, number: number) => string): string =>
    sheets.map((name, place) => write(name, place + 1)).join('');
  const overrides = each(
    (_, at) => `<Override PartName="/xl/worksheets/sheet${at}.xml" ContentType="${TYPE}.worksheet+xml"/>`,
  );
  const listed = each((name, at) => `<sheet name="${escapeText(name)}" sheetId="${at}" r:id="rId${at}"/>`);
  const related = each(
    (_, at) => `<Relationship Id="rId${at}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${at}.xml"/>`,
  );
  const styles = `<Relationship Id="rId${sheets.length + 1}" Type="${OFFICE}/styles" Target="styles.xml"/>`;
  return [
    [
      '[Content_Types].xml',
      `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/>${overrides}</Types>`,
    ],
    [
      '_rels/.rels',
      `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `${HEAD}<workbook xmlns="${SPREADSHEET}" xmlns:r="${OFFICE}"><sheets>${listed}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${related}${styles}</Relationships>`,
    ],
    ['xl/styles.xml', STYLES],
  ];
}
