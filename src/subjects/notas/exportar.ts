/** Exports the result of a search: a table, or all NFS-e in a ZIP. The export has no time limit, and reports its progress. */

import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeTabela } from '../../base/world/escrever-tabela.ts';
import { momentOfNota } from '../../base/world/gather-facts.ts';
import { openTrabalhos, type Trabalho, type Trabalhos } from '../../base/world/trabalhos.ts';
import type { World } from '../../base/world/world.ts';
import { writeZip, type ZipEntry } from '../../documents/write-zip.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { type BuscaEscrita, type NotaAchada, type ProblemasDaBusca, searchNotas } from './buscar.ts';
import { documentoDaNota } from './nota-inteira.ts';

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

/** Writes all notes of a search to a file, or tells the problems of the search by field. `onProgress`: notes so far. */
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
    await pipeline(Readable.from(writeTabela(COLUNAS, rowsOf(found()))), createWriteStream(arquivo, { mode: 0o600 }));
  } else await writeZip(arquivo, documentsOf(world, slug, found()));
  return { notas };
}

async function* rowsOf(notas: AsyncIterable<NotaAchada>): AsyncGenerator<readonly string[]> {
  for await (const nota of notas) {
    yield COLUNAS.map((coluna) => {
      const value = nota[coluna];
      if (value instanceof Date) return isoMoment(momentOfNota(nota.chave_acesso, value.getTime()));
      return value ?? '';
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

// Exports in the background, started in the console.

/** `bytes`: size of the file, once it is complete. */
type Feito = { readonly formato: FormatoDeExportacao; notas: number; bytes: number | undefined };
export type Exportacao = Trabalho<Feito>;

export type Exportacoes = Trabalhos<Feito>;

export function openExportacoes(world: Pick<World, 'log'>): Exportacoes {
  return openTrabalhos(world, 'uma exportação do console falhou');
}

/** Begins an export; undefined: another one is still running. */
export async function beginExport(
  world: ExportWorld & { readonly exportacoes: Exportacoes },
  slug: string,
  quem: string,
  busca: Partial<BuscaEscrita>,
  formato: FormatoDeExportacao,
): Promise<Exportacao | undefined> {
  const { exportacoes } = world;
  const one = await exportacoes.begin(slug, quem, { formato, notas: 0, bytes: undefined });
  if (one === undefined) return undefined;
  const { data, signal } = one;
  exportacoes.run(one, async () => {
    const arquivo = fileOf(one);
    const tell = (notas: number): void => {
      data.notas = notas;
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
