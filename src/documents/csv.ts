/**
 * Reads exported tables (RFC 4180, and the variants of spreadsheets in Brazil) as a stream. A bad line does not spoil the next one. Comma
 * or semicolon, UTF-8 or Latin-1, quotes, either line end. The callers know the meaning of a column.
 */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';

export type CsvRecord = {
  /** Line of the file where the record begins; the header is line 1. */
  readonly linha: number;
  readonly cells: readonly string[];
};

/** `problem`: one Portuguese sentence. */
export type CsvFault = { readonly linha: number; readonly problem: string };

export type CsvFile = {
  readonly codificacao: 'UTF-8' | 'Latin-1';
  readonly separador: ',' | ';';
  readonly bytes: number;
  /** The header as written, without the spaces around: the first line with a cell that is not empty. */
  readonly header: readonly string[];
  /** The lines after the header, some hundreds at a time; empty lines are skipped. */
  records(): AsyncGenerator<{ readonly records: readonly (CsvRecord | CsvFault)[]; readonly bytesRead: number }>;
};

/** The largest extent of an open quote: the rest of the file must not become one cell. */
const RECORD_CHARS_MAX = 65_536;
const RECORD_LINES_MAX = 20;
const CHUNK_BYTES = 262_144;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'não existe',
  ENOTDIR: 'não existe',
  EACCES: 'não pode ser lido por este usuário',
  EPERM: 'não pode ser lido por este usuário',
};

/** Opens a file and reads its header. Throws an Error in Portuguese that names the file. */
export async function openCsv(file: string): Promise<CsvFile> {
  const name = path.basename(file);
  try {
    const about = await stat(file);
    if (!about.isFile()) throw new Error(`${file} ${about.isDirectory() ? 'é uma pasta' : 'não é um arquivo comum'}.`);
    const codificacao = await encodingOf(file, name);
    const first = await findHeader(file, codificacao);
    if (first === undefined) throw new Error(`${name} está vazio: falta a linha de cabeçalho.`);
    const separador = separatorOf(first.text);
    const header = splitCells(first.text, separador);
    if (!Array.isArray(header)) throw new Error(`${name}: o cabeçalho não pôde ser lido: ${header}.`);
    return {
      codificacao,
      separador,
      bytes: about.size,
      header: header.map((cell) => cell.trim()),
      records: () => recordsOf(file, codificacao, separador, { linha: first.linha, width: header.length }),
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Error(`o arquivo ${file} ${REASONS[code] ?? `não pôde ser lido (${code})`}.`);
  }
}

/** Reads the whole file once: only its end proves that the bytes are UTF-8. */
async function encodingOf(file: string, name: string): Promise<CsvFile['codificacao']> {
  const handle = await open(file);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let codificacao: CsvFile['codificacao'] = 'UTF-8';
    for (let isFirst = true; ; isFirst = false) {
      const { bytesRead } = await handle.read(chunk);
      const seen = chunk.subarray(0, bytesRead);
      if (isFirst) refuseOtherFormats(seen, name);
      if (seen.includes(0)) throw new Error(`${name} não é um texto: traz bytes nulos. Exporte-o como CSV UTF-8.`);
      try {
        decoder.decode(seen, { stream: bytesRead > 0 });
      } catch {
        codificacao = 'Latin-1';
      }
      if (bytesRead === 0) return codificacao;
    }
  } finally {
    await handle.close();
  }
}

function refuseOtherFormats(start: Buffer, name: string): void {
  const begin = start.subarray(0, 4).toString('latin1');
  if (begin.startsWith('\xff\xfe') || begin.startsWith('\xfe\xff')) {
    throw new Error(`${name} está em UTF-16. Salve-o como CSV UTF-8.`);
  }
}

/** The first line that has more than spaces and separators. */
async function findHeader(
  file: string,
  codificacao: CsvFile['codificacao'],
): Promise<{ readonly text: string; readonly linha: number } | undefined> {
  let before = 0;
  for await (const { lines } of linesOf(file, codificacao)) {
    const at = lines.findIndex((line) => /[^\s;,"]/.test(line));
    if (at >= 0) return { text: lines[at]!, linha: before + at + 1 };
    before += lines.length;
  }
  return undefined;
}

/** The lines of a file. A line that is too long is cut and reported, and its rest is dropped. */
async function* linesOf(
  file: string,
  codificacao: CsvFile['codificacao'],
): AsyncGenerator<{ lines: readonly string[]; bytesRead: number }> {
  // Latin-1 here means the Windows code page that contains it: exports that name one mean the other.
  const decoder = new TextDecoder(codificacao === 'UTF-8' ? 'utf-8' : 'windows-1252');
  const stream = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  let rest = '';
  let bytesRead = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytesRead += chunk.length;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!.slice(0, RECORD_CHARS_MAX + 1);
    yield { lines: lines.map(cutReturn), bytesRead };
  }
  rest += decoder.decode();
  if (rest !== '') yield { lines: [cutReturn(rest)], bytesRead };
}

function cutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** The more frequent separator of the header; names of columns have neither. */
function separatorOf(header: string): ',' | ';' {
  return header.split(';').length > header.split(',').length ? ';' : ',';
}

type Header = { readonly linha: number; readonly width: number };

type RecordReader = {
  /** The next line, without its end. */
  read(line: string): void;
  /** The records since the last call. */
  take(): (CsvRecord | CsvFault)[];
  /** Ends the text: a record that is still open is reported. */
  end(): void;
};

/** Makes records of the lines behind the header, which stands in line `linha` and has `width` cells. */
function createRecordReader(separador: string, { linha: header, width }: Header): RecordReader {
  let linha = header;
  /** Lines of a record whose quotes are still open; the first of them is number `begun`. */
  let open: string[] = [];
  let begun = 0;
  const records: (CsvRecord | CsvFault)[] = [];

  const add = (cells: readonly string[] | string, at: number): void => {
    if (typeof cells === 'string') records.push({ linha: at, problem: cells });
    else if (cells.some((cell) => cell.trim() !== '')) records.push(fitCells({ linha: at, cells }, width));
  };
  /** Reports the line that opened the record, and reads the following lines without it. */
  const giveUp = (): void => {
    const [, ...others] = open;
    records.push({ linha: begun, problem: UNCLOSED });
    open = [];
    const first = begun + 1;
    for (const [place, line] of others.entries()) feed(line, first + place);
  };
  const feed = (line: string, at: number): void => {
    const mayOpen = open.length === 0 && line.includes('"') && line.length <= RECORD_CHARS_MAX;
    if (open.length === 0 && !(mayOpen && isOpen(line, separador))) {
      add(splitCells(line, separador), at);
      return;
    }
    if (open.length === 0) begun = at;
    open.push(line);
    if (open.length > 1 && line.includes('"')) {
      const whole = open.join('\n');
      if (!isOpen(whole, separador)) {
        const cells = splitCells(whole, separador);
        // A later line may close the quote by chance: its record then has another number of cells than the header.
        if (typeof cells === 'string' || cells.length !== width) {
          giveUp();
          return;
        }
        open = [];
        add(cells, begun);
        return;
      }
    }
    if (open.length >= RECORD_LINES_MAX) giveUp();
  };

  return {
    read: (line) => {
      linha += 1;
      feed(line, linha);
    },
    take: () => records.splice(0),
    end: () => {
      while (open.length > 0) giveUp();
    },
  };
}

async function* recordsOf(
  file: string,
  codificacao: CsvFile['codificacao'],
  separador: ',' | ';',
  header: Header,
): ReturnType<CsvFile['records']> {
  const reader = createRecordReader(separador, header);
  let left = header.linha;
  for await (const { lines, bytesRead } of linesOf(file, codificacao)) {
    for (const line of lines.slice(left)) reader.read(line);
    left = Math.max(0, left - lines.length);
    yield { records: reader.take(), bytesRead };
  }
  reader.end();
  const records = reader.take();
  if (records.length > 0) yield { records, bytesRead: (await stat(file)).size };
}

/** Reads a table with commas from a text. */
export function readCsvText(text: string): { header: readonly string[]; records: readonly (CsvRecord | CsvFault)[] } {
  const [first = '', ...lines] = text.split('\n').map(cutReturn);
  const header = splitCells(first, ',');
  if (typeof header === 'string') return { header: [], records: [{ linha: 1, problem: header }] };
  const reader = createRecordReader(',', { linha: 1, width: header.length });
  for (const line of lines) reader.read(line);
  reader.end();
  return { header, records: reader.take() };
}

/** A record with as many cells as the header. Spreadsheets leave empty cells at the end: they are cut. */
function fitCells(record: CsvRecord, width: number): CsvRecord | CsvFault {
  const { cells, linha } = record;
  if (cells.length === width) return record;
  if (cells.length > width && cells.slice(width).every((cell) => cell.trim() === '')) {
    return { linha, cells: cells.slice(0, width) };
  }
  const hint = cells.length > width ? ' (um campo com o separador dentro precisa de aspas)' : '';
  return { linha, problem: `a linha tem ${cells.length} campos, e o cabeçalho ${width}${hint}` };
}

const UNCLOSED = 'as aspas que abrem um campo não se fecham';
const STRAY =
  'há aspas no meio de um campo; ponha o campo inteiro entre aspas, e escreva duas vezes as aspas de dentro';
const TOO_LONG = `a linha tem mais de ${RECORD_CHARS_MAX} caracteres`;

/** True when the text ends inside a quoted cell. Only a quote at the beginning of a cell opens one. */
function isOpen(text: string, separador: string): boolean {
  let at = 0;
  for (;;) {
    if (text[at] === '"') {
      at = closingQuote(text, at);
      if (at < 0) return true;
    }
    const next = text.indexOf(separador, at);
    if (next < 0) return false;
    at = next + 1;
  }
}

/** Position of the quote that closes the cell opened at `from`; -1 when there is none. */
function closingQuote(text: string, from: number): number {
  for (let at = from + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0 || text[at + 1] !== '"') return at;
  }
}

/** The cells of a record, or its fault. */
function splitCells(text: string, separador: string): string[] | string {
  if (text.length > RECORD_CHARS_MAX) return TOO_LONG;
  if (!text.includes('"')) return text.split(separador);
  const cells: string[] = [];
  for (let at = 0; ; ) {
    let end: number;
    if (text[at] === '"') {
      const close = closingQuote(text, at);
      if (close < 0) return UNCLOSED;
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
      end = close + 1;
      if (end < text.length && text[end] !== separador) return STRAY;
    } else {
      end = text.indexOf(separador, at);
      if (end < 0) end = text.length;
      const cell = text.slice(at, end);
      if (cell.includes('"')) return STRAY;
      cells.push(cell);
    }
    if (end >= text.length) return cells;
    at = end + 1;
  }
}
