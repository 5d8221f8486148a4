/**
 * Imports a file of the municipality into its registry. It is read line by line, and every bad line is reported with its number and reason.
 * Either all lines are stored, or none; on request all good ones are. The meaning of the columns is in
 * `fiscal/registers.ts`.
 */

import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Ensaio, Escrita, NovaRecusa, Recusada, Staging } from '../../base/book/staging.ts';
import { ignoring } from '../../base/traces/ignoring.ts';
import { writeTabela } from '../../base/world/escrever-tabela.ts';
import type { PorMao } from '../../base/world/operator.ts';
import { type CsvFault, type CsvFile, type CsvRecord, openCsv } from '../../documents/csv.ts';
import { writeFileFor } from '../../documents/new-files.ts';
import { unmarkText } from '../../documents/write-csv.ts';
import type { Line } from '../../fiscal/register-text.ts';

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
  readonly codificacao: CsvFile['codificacao'];
  readonly separador: CsvFile['separador'];
  /** Lines that are not empty, without the header. */
  readonly linhas: number;
  readonly recusadas: number;
  /** The first refused lines. */
  readonly primeiras: readonly LinhaRecusada[];
  /** Undefined: nothing was stored. */
  readonly counts: Counts | undefined;
  /** The changes that would be made, if the preview was asked for and there is a good line. */
  readonly previa: Ensaio<Counts> | undefined;
};

/** Refused lines that a screen shows; a file has them all. */
export const RECUSADAS_SHOWN_MAX = 100;
const REPORT_PAGE = 5_000;

export type Columns = {
  readonly required: readonly string[];
  readonly optional: readonly string[];
};

export type Reading<Row> = {
  read(line: Line): Row;
  /** The document or code of a refused line, if it can be read. */
  keyOf(line: Line): string | undefined;
  /** Called for every refused line, once all of them are known. */
  forget?(linha: number): void;
};

/** Opens the file and checks its columns. Throws an Error in Portuguese. */
export async function openTable(arquivo: string, { required, optional }: Columns): Promise<CsvFile> {
  const csv = await openCsv(arquivo);
  const names = csv.header.map((name) => name.toLowerCase());
  const known = [...required, ...optional];
  const problems = [
    ...describeColumns(
      'falta a coluna',
      'faltam as colunas',
      required.filter((name) => !names.includes(name)),
    ),
    ...describeColumns(
      'coluna desconhecida:',
      'colunas desconhecidas:',
      csv.header
        .filter((name) => !known.includes(name.toLowerCase()))
        .map((name) => (name === '' ? '(sem nome)' : name)),
    ),
    ...describeColumns(
      'coluna repetida:',
      'colunas repetidas:',
      known.filter((name) => names.indexOf(name) !== names.lastIndexOf(name)),
    ),
  ];
  if (problems.length === 0) return { ...csv, header: names };
  const also = optional.length === 0 ? '' : ` E pode ter: ${optional.join(', ')}.`;
  throw new Error(
    `cabeçalho de ${path.basename(arquivo)}: ${problems.join('; ')}. O arquivo precisa das colunas ${required.join(', ')}, em qualquer ordem.${also}`,
  );
}

function describeColumns(one: string, many: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${names.length === 1 ? one : many} ${names.join(', ')}`];
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
  { arquivo, parcial, erros, onProgress, previa, comoNaPrevia }: FileRequest,
  csv: CsvFile,
  { read, keyOf, forget }: Reading<Row>,
  stage: Stage<Row, Counts>,
  escrita?: Omit<Escrita<Counts>, 'asRehearsed'>,
): Promise<ImportOutcome<Counts>> {
  if (erros !== undefined) await checkReport(erros, arquivo);
  return stage(async (staging) => {
    const at = { linhas: 0, bytes: 0, bytesTotal: csv.bytes };
    const place = new Map(csv.header.map((name, column) => [name, column]));
    // One block is sent while the next is read.
    let sending: Promise<unknown> = Promise.resolve();
    for await (const { records, bytesRead } of csv.records()) {
      const { rows, refused } = readBlock(records, place, read, keyOf);
      await sending;
      sending = Promise.all([rows.length > 0 && staging.add(rows), staging.refuse(refused)]);
      sending.catch(ignoring('it is thrown where the block is awaited'));
      at.linhas += records.length;
      at.bytes = bytesRead;
      onProgress({ etapa: 'lendo', ...at });
    }
    await sending;
    onProgress({ etapa: 'conferindo', ...at });
    const recusadas = await staging.check();
    if (forget !== undefined) for await (const page of refusedIn(staging)) for (const { linha } of page) forget(linha);
    const isAnyGood = at.linhas > recusadas;
    const isWritten = previa !== true && isAnyGood && (recusadas === 0 || parcial === true);
    const ensaio = previa === true && isAnyGood ? await staging.rehearse() : undefined;
    if (isWritten) onProgress({ etapa: 'gravando', ...at });
    const counts = isWritten ? await staging.merge(escrita && { ...escrita, asRehearsed: comoNaPrevia }) : undefined;
    if (erros !== undefined) await writeReport(erros, staging);
    const primeiras = (await staging.refusedAfter(0, RECUSADAS_SHOWN_MAX)).map(describeRecusada);
    const { codificacao, separador } = csv;
    return { codificacao, separador, linhas: at.linhas, recusadas, primeiras, counts, previa: ensaio };
  });
}

/** A line whose cells `cellOf` gives. */
export function lineOf(
  linha: number,
  cellOf: (column: string) => string | undefined,
  onProblem: (column: string, problem: string) => unknown,
): Line {
  return {
    linha,
    text: (column) => unmarkText((cellOf(column) ?? '').normalize('NFC').trim()),
    refuse: (column, problem) => void onProblem(column, problem),
  };
}

/** The rows of one block of a file, and its refused lines. */
function readBlock<Row>(
  records: readonly (CsvRecord | CsvFault)[],
  place: ReadonlyMap<string, number>,
  read: Reading<Row>['read'],
  keyOf: Reading<Row>['keyOf'],
): { readonly rows: readonly Row[]; readonly refused: readonly NovaRecusa[] } {
  const rows: Row[] = [];
  const refused: NovaRecusa[] = [];
  for (const record of records) {
    const { linha } = record;
    if ('problem' in record) {
      refused.push({ linha, motivo: record.problem, chave: undefined });
      continue;
    }
    const problems: string[] = [];
    const cellOf = (column: string): string | undefined => record.cells[place.get(column) ?? -1];
    const line = lineOf(linha, cellOf, (column, problem) => problems.push(`${column} ${problem}`));
    const row = read(line);
    if (problems.length === 0) rows.push(row);
    else refused.push({ linha, motivo: problems.join('; '), chave: keyOf(line) });
  }
  return { rows, refused };
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

async function writeReport(erros: string, staging: Pick<Staging<never, unknown>, 'refusedAfter'>): Promise<void> {
  const rows = async function* (): AsyncGenerator<readonly string[]> {
    for await (const page of refusedIn(staging)) {
      yield* page.map(describeRecusada).map(({ linha, motivo }) => [String(linha), motivo]);
    }
  };
  await pipeline(Readable.from(writeTabela(['linha', 'motivo'], rows())), createWriteStream(erros));
}
