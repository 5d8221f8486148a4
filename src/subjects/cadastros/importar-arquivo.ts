/** An import in the console: the file is read, its changes are shown, and then it is confirmed or left. It is not shared (D-850). */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RegistroMudou } from '../../base/book/staging.ts';
import type { PorMao } from '../../base/world/operator.ts';
import { openTrabalhos, type Trabalho, type Trabalhos } from '../../base/world/trabalhos.ts';
import type { World } from '../../base/world/world.ts';
import { type Heading, type HeadingsGiven, HeadingsUnknown } from './headings.ts';
import type { ImportProgress } from './import-csv.ts';
import { importRegistro, type RegistroImported, type RegistroNome } from './registros.ts';

type Visto = {
  readonly registro: RegistroNome;
  /** Name of the file, as its owner calls it. */
  readonly nome: string;
  progresso: ImportProgress | undefined;
  /** Preview of the changes. */
  previa: RegistroImported | undefined;
  /** Result of the import. */
  feito: RegistroImported | undefined;
  /** The reason why the whole file is refused, or was not stored: a sentence. */
  problema: string | undefined;
  /** The headings of the file, if one of them names no column. */
  cabecalho: readonly Heading[] | undefined;
  /** The columns that the operator gave to headings. */
  colunas: HeadingsGiven;
};

export type Importacao = Trabalho<Visto>;
export type Importacoes = Trabalhos<Visto>;

export function openImportacoes(world: Pick<World, 'log' | 'now'>): Importacoes {
  return openTrabalhos(world, 'uma importação do console falhou');
}

type ImportWorld = Pick<World, 'store' | 'now'> & { readonly importacoes: Importacoes };

/** Starts the preview of a file; undefined: another import must end first. */
export async function beginImport(
  world: ImportWorld,
  slug: string,
  quem: string,
  registro: RegistroNome,
  file: { readonly nome: string; readonly conteudo: Uint8Array },
): Promise<Importacao | undefined> {
  const { importacoes } = world;
  const nothing = { progresso: undefined, previa: undefined, feito: undefined, problema: undefined };
  const unasked = { cabecalho: undefined, colunas: {} };
  const one = await importacoes.begin(slug, quem, { registro, nome: file.nome, ...nothing, ...unasked });
  if (one === undefined) return undefined;
  importacoes.run(one, async () => {
    await writeFile(fileOf(one), file.conteudo, { mode: 0o600 });
    one.data.previa = await read(world, one, { previa: true });
  });
  return one;
}

/** Reads the file again with columns for its headings; false: another import must end first. */
export function matchHeadings(world: ImportWorld, one: Importacao, colunas: HeadingsGiven): boolean {
  const { data } = one;
  if (one.isRunning || data.feito !== undefined) return true;
  return world.importacoes.again(one, async () => {
    Object.assign(data, { colunas, cabecalho: undefined, problema: undefined });
    data.previa = await read(world, one, { previa: true });
  });
}

/** Confirms the preview with its questions; false: another import must end first. `parcial`: also if lines are refused. */
export function confirmImport(world: ImportWorld, one: Importacao, parcial: boolean, by: PorMao): boolean {
  const { data } = one;
  if (one.isRunning || data.feito !== undefined) return true;
  return world.importacoes.again(one, async () => {
    data.feito = await read(world, one, { parcial, by, confirmado: true, comoNaPrevia: data.previa?.previa?.marca });
  });
}

/** The file of the refused lines of the preview. */
export function refusedFile({ folder }: Importacao): string {
  return path.join(folder, 'recusadas.csv');
}

async function read(
  world: ImportWorld,
  one: Importacao,
  asked: { previa?: true; parcial?: boolean; confirmado?: true; by?: PorMao; comoNaPrevia?: string | undefined },
): Promise<RegistroImported | undefined> {
  const { data, municipio } = one;
  const onProgress = (progresso: ImportProgress): void => {
    data.progresso = progresso;
  };
  try {
    const { nome, colunas } = data;
    const erros = asked.previa === true ? refusedFile(one) : undefined;
    const request = { municipio, arquivo: fileOf(one), nome, colunas, erros, onProgress, ...asked };
    return await importRegistro(world, data.registro, request);
  } catch (error) {
    if (error instanceof RegistroMudou) data.problema = MUDOU;
    else if (error instanceof HeadingsUnknown) data.cabecalho = error.headings;
    else if (error instanceof Error && error.constructor === Error)
      data.problema = error.message.replaceAll(path.basename(fileOf(one)), data.nome);
    else throw error;
    return undefined;
  }
}

const MUDOU =
  'Nada foi gravado: enquanto a prévia estava na tela, alguém mudou o cadastro, e o arquivo já não faria o mesmo. Envie-o de novo e veja a prévia nova.';

function fileOf({ folder }: Importacao): string {
  return path.join(folder, 'entrada.csv');
}
