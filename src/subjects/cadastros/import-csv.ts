/**
 * Imports a file of the municipality into its registry: CSV, or the first sheet of a spreadsheet. It is read line by line, and every bad
 * line is reported with its number and reason. Either all lines are stored, or none; on request all good ones are. The meaning of the
 * columns is in `fiscal/registers.ts`.
 */

import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Ensaio, Escrita, NovaRecusa, Recusada, Staging } from '../../base/book/staging.ts';
import { ignoring } from '../../base/traces/ignoring.ts';
import { writeTabela } from '../../base/world/escrever-tabela.ts';
import type { PorMao } from '../../base/world/operator.ts';
import { type CsvFault, type CsvFile, type CsvRecord, openCsv } from '../../documents/csv.ts';
import { writeFileFor } from '../../documents/new-files.ts';
import { isSheet } from '../../documents/sheet-mark.ts';
import { unmarkText } from '../../documents/write-csv.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { type Line, type Mend, quiet } from '../../fiscal/register-text.ts';
import { type Columns, type HeadingsGiven, placeColumns, REFUSED_HEADINGS } from './headings.ts';

/** A file of a municipality. */
export type ImportRequest = FileRequest & {
  /** Slug of the municipality. */
  readonly municipio: string;
  /** The operator: the import can then be undone, and stands in the trail. Absent: neither. */
  readonly by?: PorMao;
  /** The file's original name, if `arquivo` is a copy of it. */
  readonly nome?: string;
};

export type FileRequest = {
  readonly arquivo: string;
  /** Stores the good lines although there are bad ones; absent: the import does not offer it. */
  readonly parcial?: boolean;
  /** File for all the refused lines. */
  readonly erros: string | undefined;
  /** Nothing is stored: the outcome has the changes that would be made. */
  readonly previa?: boolean;
  /** `marca` of a rehearsal: stored only if the changes are still the same. */
  readonly comoNaPrevia?: string | undefined;
  /** The questions of the preview are answered: it is stored in spite of them. */
  readonly confirmado?: boolean;
  /** The columns of headings that name none. */
  readonly colunas?: HeadingsGiven | undefined;
  readonly onProgress: (progress: ImportProgress) => void;
};

export type ImportProgress = {
  readonly etapa: 'lendo' | 'conferindo' | 'gravando';
  readonly linhas: number;
  readonly bytes: number;
  readonly bytesTotal: number;
};

export type LinhaRecusada = { readonly linha: number; readonly motivo: string };

export type ImportOutcome<Counts> = {
  /** The form of the file in words, as `UTF-8, separador ";"`. */
  readonly lido: string;
  /** Lines that are not empty, without the header. */
  readonly linhas: number;
  readonly recusadas: number;
  /** The first refused lines. */
  readonly primeiras: readonly LinhaRecusada[];
  /** Sentences on what the law rarely admits, or what would surprise; nothing is stored until they are confirmed. */
  readonly perguntas: readonly string[];
  /** Sentences on values that were mended while they were read. */
  readonly consertos: readonly string[];
  /** Undefined: nothing was stored. */
  readonly counts: Counts | undefined;
  /** The changes that would be made, if the preview was asked for and there is a good line. */
  readonly previa: Ensaio<Counts> | undefined;
};

/** Refused lines that a screen shows; a file has them all. */
export const RECUSADAS_SHOWN_MAX = 100;
const REPORT_PAGE = 5_000;
const SHEET_MARK_BYTES = 4;

/** An opened file. */
export type TableFile = {
  /** Columns of the register that the file has. */
  readonly columns: readonly string[];
  readonly places: ReadonlyMap<string, readonly number[]>;
  readonly csv: CsvFile;
  readonly lido: string;
  close(): Promise<void>;
};

export type Reading<Row> = {
  read(line: Line): Row;
  /** The document or code of a refused line, if it can be read. */
  keyOf(line: Line): string | undefined;
  /** Called for every refused line, once all of them are known. */
  forget?(linha: number): void;
  /** The questions about the good lines, as {@link ImportOutcome} has them. */
  ask?(staging: Pick<Staging<Row, unknown>, 'probe'>): Promise<readonly string[]>;
};

/** Opens the file and finds its columns. Throws an Error in Portuguese. */
export async function openTable(
  { arquivo, colunas }: Pick<FileRequest, 'arquivo' | 'colunas'>,
  columns: Columns,
): Promise<TableFile> {
  const sheet = (await beginsAsSheet(arquivo)) ? await mkdtemp(path.join(tmpdir(), 'nfse-planilha-')) : undefined;
  const close = async (): Promise<void> => {
    if (sheet !== undefined) await rm(sheet, { recursive: true, force: true });
  };
  try {
    const file = sheet === undefined ? arquivo : path.join(sheet, path.basename(arquivo));
    // The library of spreadsheets is loaded where one comes.
    if (sheet !== undefined) await (await import('../../documents/sheet.ts')).writeSheetAsCsv(arquivo, file);
    const csv = await openCsv(file);
    const places = placeColumns(path.basename(arquivo), csv.header, columns, colunas);
    return { columns: [...places.keys()], places, csv, lido: describeFile(csv, sheet !== undefined), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function beginsAsSheet(arquivo: string): Promise<boolean> {
  const file = await open(arquivo).catch(ignoring('the reader of the file says why it cannot be opened'));
  if (file === undefined) return false;
  try {
    const start = new Uint8Array(SHEET_MARK_BYTES);
    await file.read(start);
    return isSheet(start);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return false;
    throw error;
  } finally {
    await file.close();
  }
}

function describeFile({ codificacao, separador }: CsvFile, isFromSheet: boolean): string {
  if (isFromSheet) return 'a primeira aba de uma planilha';
  const hint = codificacao === 'Latin-1' ? ' (o arquivo não é UTF-8; confira os acentos)' : '';
  return `${codificacao}${hint}, separador "${separador}"`;
}

/** Runs `work` on a register for which nothing is staged yet. */
export type Stage<Row, Counts> = <Result>(work: (staging: Staging<Row, Counts>) => Promise<Result>) => Promise<Result>;

/**
 * The records of an import in its own transaction: the import itself, so that it can be undone, and an act. Undefined: no operator is
 * named.
 */
export function escritaOf<Counts extends object>(
  tenant: string,
  registro: string,
  { by, nome, arquivo }: Pick<ImportRequest, 'by' | 'nome' | 'arquivo'>,
  em: number,
): Omit<Escrita<Counts>, 'asRehearsed'> | undefined {
  if (by === undefined) return undefined;
  const called = nome ?? path.basename(arquivo);
  const importacao = { id: randomUUID(), em, registro, arquivo: called, quem: by.quem, via: by.via };
  return {
    tenant,
    importacao,
    atos: ({ counts }) => [
      { ...by, em, objeto: 'importacao', chave: registro, acao: 'importada', depois: { arquivo: called, ...counts } },
    ],
  };
}

/** Reads all lines into the staging tables. Stores them if none is refused, or if `parcial` allows it. */
export async function importTable<Row, Counts>(
  { arquivo, parcial, erros, onProgress, previa, comoNaPrevia, confirmado }: FileRequest,
  table: TableFile,
  { read, keyOf, forget, ask }: Reading<Row>,
  stage: Stage<Row, Counts>,
  escrita?: Omit<Escrita<Counts>, 'asRehearsed'>,
): Promise<ImportOutcome<Counts>> {
  if (erros !== undefined) await checkReport(erros, arquivo);
  return stage(async (staging) => {
    const { csv, lido } = table;
    const at = { linhas: 0, bytes: 0, bytesTotal: csv.bytes };
    const mended = new Map<Mend, number>();
    // One block is sent while the next is read.
    let sending: Promise<unknown> = Promise.resolve();
    for await (const { records, bytesRead } of csv.records()) {
      const { rows, refused, mends } = readBlock(records, table, read, keyOf);
      await sending;
      sending = Promise.all([rows.length > 0 && staging.add(rows), staging.refuse(refused)]);
      sending.catch(ignoring('it is thrown where the block is awaited'));
      for (const mend of mends) mended.set(mend, (mended.get(mend) ?? 0) + 1);
      at.linhas += records.length;
      at.bytes = bytesRead;
      onProgress({ etapa: 'lendo', ...at });
    }
    await sending;
    onProgress({ etapa: 'conferindo', ...at });
    const recusadas = await staging.check();
    if (forget !== undefined) for await (const page of refusedIn(staging)) for (const { linha } of page) forget(linha);
    const isAnyGood = at.linhas > recusadas;
    const mayBeWritten = isAnyGood && (recusadas === 0 || parcial === true || previa === true);
    const perguntas = confirmado !== true && mayBeWritten ? ((await ask?.(staging)) ?? []) : [];
    const isSure = perguntas.length === 0 || confirmado === true;
    const isWritten = previa !== true && isAnyGood && isSure && (recusadas === 0 || parcial === true);
    const ensaio = previa === true && isAnyGood ? await staging.rehearse() : undefined;
    if (isWritten) onProgress({ etapa: 'gravando', ...at });
    const counts = isWritten ? await staging.merge(escrita && { ...escrita, asRehearsed: comoNaPrevia }) : undefined;
    if (erros !== undefined) await writeReport(erros, table, staging);
    const primeiras = (await staging.refusedAfter(0, RECUSADAS_SHOWN_MAX)).map(describeRecusada);
    const consertos = [...mended].map(([mend, lines]) => describeMend(mend, lines));
    return { lido, linhas: at.linhas, recusadas, primeiras, perguntas, consertos, counts, previa: ensaio };
  });
}

/** A line whose cells `cellOf` gives. */
export function lineOf(
  linha: number,
  cellOf: (column: string) => string | undefined,
  onProblem: (column: string, problem: string) => unknown,
  onMend: (mend: Mend) => unknown = () => undefined,
): Line {
  return {
    linha,
    text: (column) => unmarkText((cellOf(column) ?? '').normalize('NFC').trim()),
    refuse: (column, problem) => void onProblem(column, problem),
    mend: (mend) => void onMend(mend),
  };
}

/** The rows of one block of a file, its refused lines, and what was mended in each good one. */
function readBlock<Row>(
  records: readonly (CsvRecord | CsvFault)[],
  { places, csv: { header } }: Pick<TableFile, 'places' | 'csv'>,
  read: Reading<Row>['read'],
  keyOf: Reading<Row>['keyOf'],
): { readonly rows: readonly Row[]; readonly refused: readonly NovaRecusa[]; readonly mends: readonly Mend[] } {
  const rows: Row[] = [];
  const refused: NovaRecusa[] = [];
  const mends: Mend[] = [];
  for (const record of records) {
    const { linha } = record;
    if ('problem' in record) {
      refused.push({ linha, motivo: record.problem, chave: undefined });
      continue;
    }
    const problems: string[] = [];
    const own = new Set<Mend>();
    const textsOf = (column: string): readonly string[] => [
      ...new Set((places.get(column) ?? []).map((place) => record.cells[place]!.trim()).filter(Boolean)),
    ];
    // A problem names the column as the heading of the file does.
    const nameColumn = (column: string): string => {
      const all = places.get(column) ?? [];
      const filled = all.filter((place) => record.cells[place]!.trim() !== '');
      const headings = (filled.length > 0 ? filled : all).map((place) => header[place]);
      return headings.join(filled.length > 0 ? ' e ' : ' ou ') || column;
    };
    const line = lineOf(
      linha,
      (column) => textsOf(column)[0],
      (column, problem) => problems.push(`${nameColumn(column)} ${problem}`),
      (mend) => own.add(mend),
    );
    for (const column of places.keys())
      if (textsOf(column).length > 1) line.refuse(column, 'vieram juntos, com valores diferentes');
    const row = read(line);
    if (problems.length > 0) {
      refused.push({ linha, motivo: problems.join('; '), chave: keyOf(quiet(line)) });
      continue;
    }
    rows.push(row);
    mends.push(...own);
  }
  return { rows, refused, mends };
}

const MENDS: Readonly<Record<Mend, string>> = {
  zeros: 'Zeros à esquerda que a planilha tinha tirado, e que os dígitos de controle ou a tabela confirmam, devolvidos',
};

function describeMend(mend: Mend, lines: number): string {
  return `${MENDS[mend]} em ${lines === 1 ? '1 linha' : `${groupDigits(lines)} linhas`}. Confira.`;
}

const CONFLITOS: Readonly<Record<string, (outra: number | undefined) => string>> = {
  contradiz: (outra) => `repete a chave da linha ${outra} com outros dados`,
  sobrepoe: (outra) => `o período se sobrepõe ao da linha ${outra}`,
};

export function describeRecusada({ linha, motivo, outra }: Recusada): LinhaRecusada {
  return { linha, motivo: CONFLITOS[motivo]?.(outra) ?? motivo };
}

/** Checks first that the report can be written, and is not the input file. */
async function checkReport(erros: string, arquivo: string): Promise<void> {
  const [report, source] = await Promise.all([realpath(erros).catch(() => undefined), realpath(arquivo)]);
  if (report === source) throw new Error('--erros indica o próprio arquivo que se importa; escolha outro nome.');
  try {
    await writeFileFor(erros, '', { flag: 'a' });
  } catch (error) {
    throw new Error(`o arquivo ${erros}, de --erros, não pode ser escrito (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** All refused lines, in pages. */
async function* refusedIn(
  staging: Pick<Staging<never, unknown>, 'refusedAfter'>,
): AsyncGenerator<readonly Recusada[], void> {
  for (let after = 0; ; ) {
    const page = await staging.refusedAfter(after, REPORT_PAGE);
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)!.linha;
  }
}

/** The refused lines as the file has them, with number and reason in front: once corrected they are imported like any file. */
async function writeReport(
  erros: string,
  { csv }: TableFile,
  staging: Pick<Staging<never, unknown>, 'refusedAfter'>,
): Promise<void> {
  const reasons = new Map<number, string>();
  for await (const page of refusedIn(staging))
    for (const { linha, motivo } of page.map(describeRecusada)) reasons.set(linha, motivo);
  const isOurs = csv.header.map((name) => REFUSED_HEADINGS.some((one) => one === name.toLowerCase()));
  const others = (cells: readonly string[]): readonly string[] => cells.filter((_, place) => !isOurs[place]);
  const rows = async function* (): AsyncGenerator<readonly string[]> {
    for await (const { records } of csv.records()) {
      for (const record of records) {
        const motivo = reasons.get(record.linha);
        if (motivo !== undefined)
          yield [String(record.linha), motivo, ...others('cells' in record ? record.cells.map(unmarkText) : [])];
      }
    }
  };
  const head = [...REFUSED_HEADINGS, ...others(csv.header)];
  await pipeline(Readable.from(writeTabela(head, rows())), createWriteStream(erros));
}
