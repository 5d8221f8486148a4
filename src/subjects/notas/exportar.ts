/**
 * Exports the result of a search: a spreadsheet, a table as CSV, or all NFS-e in a ZIP. It has no time limit, and reports its progress. An
 * export holds one page of notes in memory.
 */

import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { momentOfNota } from '../../base/world/gather-facts.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import { KEPT_MS, openTrabalhos, type Trabalho, type Trabalhos } from '../../base/world/trabalhos.ts';
import type { World } from '../../base/world/world.ts';
import { readOwnNote } from '../../documents/own-note.ts';
import { writeCsv } from '../../documents/write-csv.ts';
import { writeXlsx } from '../../documents/write-xlsx.ts';
import { writeZip, type ZipEntry } from '../../documents/write-zip.ts';
import { daysIn, isoMoment } from '../../fiscal/moment.ts';
import {
  type BuscaEscrita,
  countNotasOf,
  type NotaAchada,
  type PaginaDeNotas,
  type ProblemasDaBusca,
  searchNotas,
} from './buscar.ts';
import { COLUNAS_DA_NOTA } from './colunas-da-nota.ts';
import { documentoDaNota } from './nota-inteira.ts';

type ExportWorld = Pick<World, 'store' | 'now'>;

export const FORMATOS = ['xlsx', 'csv', 'zip'] as const;
export type FormatoDeExportacao = (typeof FORMATOS)[number];

/** `avisos`: sentences about the search, such as that its result is a part. */
type Exportado = { readonly notas: number; readonly avisos: readonly string[] };

/** Notes so far, and how many there are; undefined: more than are counted in advance. */
export type TellProgress = (notas: number, total: number | undefined) => void;

/** Notes read at a time. */
const PAGE = 500;
/** Documents read at a time. */
const DOCUMENTOS = 50;
/** Notes counted in advance. */
const CONTADAS_MAX = 100_000;

/** Writes all notes of a search to a file, or tells the problems of the search by field. */
export async function exportNotas(
  world: ExportWorld,
  slug: string,
  {
    busca,
    formato,
    arquivo,
  }: { readonly busca: Partial<BuscaEscrita>; readonly formato: FormatoDeExportacao; readonly arquivo: string },
  onProgress: TellProgress,
  signal?: AbortSignal,
): Promise<Exportado | { readonly problems: ProblemasDaBusca }> {
  const first = await searchNotas(world, slug, busca, undefined, PAGE);
  if ('problems' in first) return first;
  const municipio = await municipioNamed(world, slug);
  const counted = await countNotasOf(world, municipio, busca, { max: CONTADAS_MAX });
  if ('problems' in counted) return counted;
  const total = counted.isWhole ? counted.notas : undefined;
  let notas = 0;
  const pages = async function* (): AsyncGenerator<readonly NotaAchada[]> {
    for await (const some of pagesOf(world, slug, busca, first)) {
      signal?.throwIfAborted();
      onProgress(notas, total);
      yield some;
      notas += some.length;
    }
  };
  await write(world, slug, formato, arquivo, pages());
  return { notas, avisos: first.avisos };
}

/** All notes of a search, some at a time, from its first page on. */
async function* pagesOf(
  world: ExportWorld,
  slug: string,
  busca: Partial<BuscaEscrita>,
  first: PaginaDeNotas,
): AsyncGenerator<readonly NotaAchada[]> {
  for (let page = first; ; ) {
    for (let at = 0; at < page.notas.length; at += DOCUMENTOS) yield page.notas.slice(at, at + DOCUMENTOS);
    if (page.seguinte === undefined) return;
    const next = await searchNotas(world, slug, busca, page.seguinte, PAGE);
    if ('problems' in next) return;
    page = next;
  }
}

/** The notes of a month (`2026-11`) of issue, or of a competence, as CSV, the oldest first; undefined: this is no month. */
export async function streamMes(
  world: ExportWorld,
  slug: string,
  mes: string,
  isOfCompetencia: boolean,
): Promise<AsyncIterable<string> | undefined> {
  const days = /^\d{4}-\d{2}$/.test(mes) ? daysIn(Number(mes.slice(0, 4)), Number(mes.slice(5))) : undefined;
  if (days === undefined) return undefined;
  const period = isOfCompetencia ? { competencia: mes } : { de: `${mes}-01`, ate: `${mes}-${days}` };
  const busca = { ...period, ordem: 'antigas' };
  const first = await searchNotas(world, slug, busca, undefined, PAGE);
  if ('problems' in first) return undefined;
  return writeCsv(HEAD, rowsOf(world, slug, pagesOf(world, slug, busca, first)), NUMEROS);
}

async function write(
  world: ExportWorld,
  slug: string,
  formato: FormatoDeExportacao,
  arquivo: string,
  pages: AsyncIterable<readonly NotaAchada[]>,
): Promise<void> {
  if (formato === 'zip') await writeZip(arquivo, documentsOf(world, slug, pages));
  else if (formato === 'xlsx') await writeXlsx(arquivo, SHEET, rowsOf(world, slug, pages));
  else {
    const lines = writeCsv(HEAD, rowsOf(world, slug, pages), NUMEROS);
    await pipeline(Readable.from(lines), createWriteStream(arquivo, { mode: 0o600 }));
  }
}

const HEAD = COLUNAS_DA_NOTA.map(({ coluna }) => coluna);
const NUMEROS: ReadonlySet<string> = new Set(
  COLUNAS_DA_NOTA.filter(({ tipo }) => ['numero', 'valor', 'percentual'].includes(tipo)).map(({ coluna }) => coluna),
);
const SHEET = { nome: 'Notas', colunas: COLUNAS_DA_NOTA };

/** The cells of each note; its document is read once. */
async function* rowsOf(
  { store }: ExportWorld,
  slug: string,
  pages: AsyncIterable<readonly NotaAchada[]>,
): AsyncGenerator<readonly string[]> {
  for await (const notas of pages) {
    const nfses = await store.nfses.read(slug, notas);
    for (const { id, chave_acesso, estado, data_cancelamento, classe_issqn: classe, regime } of notas) {
      const nfse = nfses.get(id);
      // The note was eliminated with its month after it was found.
      if (nfse === undefined) continue;
      const ler = readOwnNote(nfse);
      const cancelada =
        data_cancelamento === null ? undefined : isoMoment(momentOfNota(chave_acesso, +data_cancelamento));
      const andamento = { chave: chave_acesso, estado, cancelada, classe, regime };
      yield COLUNAS_DA_NOTA.map(({ read }) => read(ler, andamento) ?? '');
    }
  }
}

async function* documentsOf(
  world: ExportWorld,
  slug: string,
  pages: AsyncIterable<readonly NotaAchada[]>,
): AsyncGenerator<ZipEntry> {
  for await (const notas of pages) {
    for (const { chave_acesso } of notas) {
      const documento = await documentoDaNota(world, slug, chave_acesso, 'nfse');
      if ('problem' in documento) continue;
      yield { nome: documento.nome, conteudo: Buffer.from(documento.conteudo) };
    }
  }
}

// Exports in the background, started in the console.

/** `total`: notes of the search, once counted. `bytes`: size of the file, once it is complete. */
type Feito = {
  readonly formato: FormatoDeExportacao;
  readonly busca: Partial<BuscaEscrita>;
  /** The process that had begun it ended before the file was complete. */
  readonly wasInterrupted: boolean;
  notas: number;
  total: number | undefined;
  bytes: number | undefined;
};
export type Exportacao = Trabalho<Feito>;

export type Exportacoes = Trabalhos<Feito>;

export function openExportacoes(world: Pick<World, 'log' | 'now'>): Exportacoes {
  return openTrabalhos(world, 'uma exportação do console falhou');
}

type ConsoleWorld = ExportWorld & { readonly exportacoes: Exportacoes };

/** Begins an export; undefined: another one is still running. The request is stored, for a process that comes after this one. */
export async function beginExport(
  world: ConsoleWorld,
  slug: string,
  quem: string,
  busca: Partial<BuscaEscrita>,
  formato: FormatoDeExportacao,
): Promise<Exportacao | undefined> {
  const { exportacoes, store } = world;
  const one = await exportacoes.begin(slug, quem, newData(formato, busca));
  if (one === undefined) return undefined;
  const { id, em } = one;
  await store.exportacoesDoConsole.insert(slug, { id, quem, em, formato, busca }, world.now() - KEPT_MS);
  return runExport(world, one);
}

function newData(formato: FormatoDeExportacao, busca: Partial<BuscaEscrita>, wasInterrupted = false): Feito {
  return { formato, busca, wasInterrupted, notas: 0, total: undefined, bytes: undefined };
}

/** Begins the exports of a user anew that ended with the process that made them; returns those that wait for room. */
export async function resumeExports(world: ConsoleWorld, slug: string, quem: string): Promise<readonly string[]> {
  const waiting: string[] = [];
  const { exportacoes, store } = world;
  for (const { id, em, formato, busca } of await store.exportacoesDoConsole.list(slug, quem, world.now() - KEPT_MS)) {
    if (exportacoes.find(slug, quem, id) !== undefined) continue;
    const data = newData(formato as FormatoDeExportacao, busca, true);
    const one = await exportacoes.begin(slug, quem, data, { id, em });
    if (one === undefined) waiting.push(id);
    else runExport(world, one);
  }
  return waiting;
}

/** Stops an export, or deletes its file. */
export async function discardExport({ exportacoes, store }: ConsoleWorld, one: Exportacao): Promise<void> {
  await store.exportacoesDoConsole.remove(one.municipio, one.id);
  await exportacoes.discard(one);
}

function runExport(world: ConsoleWorld, one: Exportacao): Exportacao {
  const { exportacoes } = world;
  const {
    data,
    signal,
    municipio: slug,
    data: { busca, formato },
  } = one;
  exportacoes.run(one, async () => {
    const arquivo = fileOf(one);
    const tell: TellProgress = (notas, total) => {
      Object.assign(data, { notas, total });
    };
    const done = await exportNotas(world, slug, { busca, formato, arquivo }, tell, signal);
    if ('problems' in done) throw new Error(Object.values(done.problems).join(' '));
    data.notas = done.notas;
    data.bytes = (await stat(arquivo)).size;
  });
  return one;
}

/** The file of a complete export. */
export function readExport(one: Exportacao): Readable {
  return createReadStream(fileOf(one));
}

function fileOf({ folder, data: { formato } }: Exportacao): string {
  return path.join(folder, `notas.${formato}`);
}
