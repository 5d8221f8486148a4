/**
 * The dated lists of a municipality as files: how a CSV comes into one, and how one becomes a CSV again. What the columns of a list mean
 * is in the file of its name; where it is kept, in `store/listas.ts`.
 */
import type { ContagemLista, Entrada, Linha, ListaNome } from '../store/listas.ts';
import { type ImportOutcome, type ImportRequest, importTable, type Line, openTable, periodOf } from './import-csv.ts';
import { BENEFICIOS } from './lista-beneficios.ts';
import type { ListaCsv, Reparo } from './lista-csv.ts';
import { DEDUCOES } from './lista-deducoes.ts';
import { NAO_INCIDENCIAS, REGIMES } from './lista-regimes.ts';
import { SERVICOS } from './lista-servicos.ts';
import { municipioNamed, type RegistryWorld } from './municipios.ts';

export type { ListaNome } from '../store/listas.ts';

export const LISTAS_CSV: Readonly<Record<ListaNome, ListaCsv>> = {
  servicos: SERVICOS,
  beneficios: BENEFICIOS,
  deducoes: DEDUCOES,
  regimes: REGIMES,
  nao_incidencias: NAO_INCIDENCIAS,
};

const PERIODO = ['inicio', 'fim'];

/** Columns of the file of a list. */
export function colunasDa(nome: ListaNome): readonly string[] {
  return [...LISTAS_CSV[nome].colunas, ...PERIODO];
}

export type ListaImported = ImportOutcome<ContagemLista> & {
  /** What there is to look at, and in how many of the lines that are not refused. */
  readonly reparos: readonly { readonly diz: Reparo['diz']; readonly quantas: number }[];
};

/** Throws an Error in Portuguese when the file as a whole cannot be taken. */
export async function importLista(
  world: RegistryWorld,
  nome: ListaNome,
  request: ImportRequest,
): Promise<ListaImported> {
  const municipio = await municipioNamed(world, request.municipio);
  const csv = await openTable(request.arquivo, { required: colunasDa(nome), optional: [] });
  const { read, chave, reparos } = LISTAS_CSV[nome];
  const seen = reparos.map((reparo) => ({ ...reparo, linhas: new Set<number>() }));
  const reading = {
    read: (line: Line): Entrada => {
      const said = read(line, municipio);
      const { inicio, fim } = periodOf(line, 'inicio', 'fim');
      if (line.text('inicio') === '') line.refuse('inicio está vazio');
      const entrada: Entrada = { linha: line.linha, ...said, inicio: inicio ?? '', fim };
      for (const { has, linhas } of seen) if (has(entrada)) linhas.add(line.linha);
      return entrada;
    },
    keyOf: (line: Line): string | undefined => chave(line) || undefined,
    forget: (linha: number): void => {
      for (const { linhas } of seen) linhas.delete(linha);
    },
  };
  const outcome = await importTable<Entrada, ContagemLista>(request, csv, reading, (work) =>
    world.store.listas.import(nome, municipio.tenant, work),
  );
  return { ...outcome, reparos: seen.map(({ diz, linhas }) => ({ diz, quantas: linhas.size })) };
}

/** The list as a file that could be imported, line by line without their ends; no lines when the municipality keeps none. */
export async function listaAsCsv(world: RegistryWorld, nome: ListaNome, slug: string): Promise<readonly string[]> {
  const { tenant } = await municipioNamed(world, slug);
  const linhas = await world.store.listas.list(nome, tenant);
  if (linhas.length === 0) return [];
  const colunas = colunasDa(nome);
  return [colunas.join(','), ...linhas.map((linha) => colunas.map((coluna) => cellOf(linha[coluna])).join(','))];
}

function cellOf(value: Linha[string] | undefined): string {
  const text = value == null ? '' : typeof value === 'string' ? value : value.join(' ');
  return /[",\n\r;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
