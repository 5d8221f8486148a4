/** What a search finds, as a file: a table, or all NFS-e in a ZIP. It takes as long as it takes, and says how far it is. */
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeCsv } from '../documents/write-csv.ts';
import { writeZip, type ZipEntry } from '../documents/write-zip.ts';
import { isoMoment } from '../fiscal/moment.ts';
import { type BuscaEscrita, type NotaAchada, type ProblemasDaBusca, searchNotas } from './buscar-notas.ts';
import { momentOfNota } from './gather-facts.ts';
import { documentoDaNota } from './nota-inteira.ts';
import { tellTrouble } from './store-trouble.ts';
import type { World } from './world.ts';

type ExportWorld = Pick<World, 'store' | 'now'>;

export const FORMATOS = ['csv', 'zip'] as const;
export type FormatoDeExportacao = (typeof FORMATOS)[number];

type Exportado = { readonly notas: number };

/** Notes read at a time. */
const PAGE = 500;

const COLUNAS = [
  'chave_acesso',
  'estado',
  'data_emissao',
  'data_competencia',
  'serie_dps',
  'numero_dps',
  'prestador_cpf_cnpj',
  'prestador_razao_social',
  'tomador_cpf_cnpj',
  'tomador_razao_social',
  'valor_servico',
] as const satisfies readonly (keyof NotaAchada)[];

/** Writes all that a search finds to a file. `onProgress`: notes so far. Or what is wrong with the search, by field. */
export async function exportNotas(
  world: ExportWorld,
  slug: string,
  {
    busca,
    formato,
    arquivo,
  }: { readonly busca: Partial<BuscaEscrita>; readonly formato: FormatoDeExportacao; readonly arquivo: string },
  onProgress: (notas: number) => void,
  signal?: AbortSignal,
): Promise<Exportado | { readonly problems: ProblemasDaBusca }> {
  const first = await searchNotas(world, slug, busca, undefined, PAGE);
  if ('problems' in first) return first;
  let notas = 0;
  const found = async function* (): AsyncGenerator<NotaAchada> {
    for (let page = first; ; ) {
      for (const nota of page.notas) {
        signal?.throwIfAborted();
        yield nota;
        notas += 1;
      }
      onProgress(notas);
      if (page.seguinte === undefined) return;
      const next = await searchNotas(world, slug, busca, page.seguinte, PAGE);
      if ('problems' in next) return;
      page = next;
    }
  };
  if (formato === 'csv') {
    await pipeline(Readable.from(writeCsv(COLUNAS, rowsOf(found()))), createWriteStream(arquivo, { mode: 0o600 }));
  } else await writeZip(arquivo, documentsOf(world, slug, found()));
  return { notas };
}

async function* rowsOf(notas: AsyncIterable<NotaAchada>): AsyncGenerator<readonly string[]> {
  for await (const nota of notas) {
    yield COLUNAS.map((coluna) => {
      const value = nota[coluna];
      if (value instanceof Date) return isoMoment(momentOfNota(nota.chave_acesso, value.getTime()));
      return coluna === 'valor_servico' ? value!.replace('.', ',') : (value ?? '');
    });
  }
}

async function* documentsOf(
  world: ExportWorld,
  slug: string,
  notas: AsyncIterable<NotaAchada>,
): AsyncGenerator<ZipEntry> {
  for await (const { chave_acesso } of notas) {
    const documento = await documentoDaNota(world, slug, chave_acesso, 'nfse');
    if ('problem' in documento) continue;
    yield { nome: documento.nome, conteudo: Buffer.from(documento.conteudo) };
  }
}

// In the background, for whoever asks by the console.

export type Exportacao = {
  readonly id: string;
  readonly municipio: string;
  readonly quem: string;
  readonly formato: FormatoDeExportacao;
  readonly estado: 'fazendo' | 'pronta' | 'falhou';
  readonly notas: number;
  /** Of the file that is ready. */
  readonly bytes: number;
};

type Kept = Omit<Exportacao, 'estado' | 'notas' | 'bytes'> & {
  estado: Exportacao['estado'];
  notas: number;
  bytes: number;
  readonly folder: string;
  readonly stop: AbortController;
};

export type Exportacoes = {
  /** The export that was begun, or why none is now. */
  start(
    slug: string,
    quem: string,
    busca: Partial<BuscaEscrita>,
    formato: FormatoDeExportacao,
  ): Promise<Exportacao | { readonly problem: string }>;
  find(slug: string, quem: string, id: string): Exportacao | undefined;
  /** Its file; undefined where there is none that is ready. */
  read(slug: string, quem: string, id: string): Readable | undefined;
  close(): Promise<void>;
};

/** At once in one process, and of one person: each reads the database as fast as it goes. */
const RUNNING_MAX = 2;
const KEPT_MS = 3_600_000;

/** Exports of this process. They end with it. */
export function openExportacoes(world: ExportWorld & Pick<World, 'log'>): Exportacoes {
  const kept = new Map<string, Kept>();
  const find = (slug: string, quem: string, id: string): Kept | undefined => {
    const one = kept.get(id);
    return one?.municipio === slug && one.quem === quem ? one : undefined;
  };
  const drop = async (one: Kept): Promise<void> => {
    kept.delete(one.id);
    one.stop.abort();
    await rm(one.folder, { recursive: true, force: true });
  };
  const run = async (one: Kept, busca: Partial<BuscaEscrita>): Promise<void> => {
    const { municipio, formato } = one;
    const arquivo = fileOf(one);
    try {
      const done = await exportNotas(
        world,
        municipio,
        { busca, formato, arquivo },
        (notas) => Object.assign(one, { notas }),
        one.stop.signal,
      );
      if ('problems' in done) throw new Error(Object.values(done.problems).join(' '));
      Object.assign(one, { estado: 'pronta', notas: done.notas, bytes: (await stat(arquivo)).size });
    } catch (error) {
      if (one.stop.signal.aborted) return;
      one.estado = 'falhou';
      tellTrouble(world.log, error, { tenant: municipio }, 'uma exportação do console falhou');
    }
    setTimeout(() => void drop(one), KEPT_MS).unref();
  };
  return {
    start: async (slug, quem, busca, formato) => {
      const running = [...kept.values()].filter(({ estado }) => estado === 'fazendo');
      if (running.length >= RUNNING_MAX) {
        return { problem: 'Já se fazem duas exportações neste console. Espere que uma termine, e peça de novo.' };
      }
      const folder = await mkdtemp(path.join(tmpdir(), 'nfse-exportacao-'));
      const one: Kept = {
        ...{ id: randomUUID(), municipio: slug, quem, formato, estado: 'fazendo', notas: 0, bytes: 0 },
        folder,
        stop: new AbortController(),
      };
      kept.set(one.id, one);
      void run(one, busca);
      return one;
    },
    find,
    read: (slug, quem, id) => {
      const one = find(slug, quem, id);
      return one?.estado === 'pronta' ? createReadStream(fileOf(one)) : undefined;
    },
    close: async () => {
      await Promise.all([...kept.values()].map(drop));
    },
  };
}

function fileOf({ folder, formato }: Pick<Kept, 'folder' | 'formato'>): string {
  return path.join(folder, `notas.${formato}`);
}
