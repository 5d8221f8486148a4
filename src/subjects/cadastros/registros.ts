/**
 * The registers of a municipality, one row each: its name for people, its columns, and its reading, storage and display. Import, manual
 * change, export and undo are the same for all of them.
 */

import type { ImportacaoFeita, RegisterTable } from '../../base/book/importacoes.ts';
import { tableOfLista } from '../../base/book/listas.ts';
import type { Mudanca } from '../../base/book/merge-rows.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { writeTabela } from '../../base/world/escrever-tabela.ts';
import { needOpen } from '../../base/world/fechado.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { needMotivo, type PorMao, type Problem } from '../../base/world/operator.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import {
  type ListaNome,
  listFileColumns,
  listHeadings,
  listRegisterColumns,
  REGISTERS,
  type RegisterName,
  splitOptional,
  withoutInvented,
} from '../../fiscal/registers.ts';
import { CORRELACAO_TABLE } from './correlacoes.rows.ts';
import { correlacaoAsRows, prepareCorrelacao } from './correlacoes.ts';
import type { Columns } from './headings.ts';
import {
  escritaOf,
  type ImportOutcome,
  type ImportRequest,
  importTable,
  openTable,
  type Reading,
  type Stage,
} from './import-csv.ts';
import { PRESTADOR_TABLES } from './import-prestadores.rows.ts';
import { preparePrestadores } from './import-prestadores.ts';
import { listaAsRows, prepareLista } from './listas.ts';
import { prestadoresAsRows } from './prestadores.ts';

export type { Mudanca } from '../../base/book/merge-rows.ts';

export type RegistroNome = RegisterName;

/** Numbers of rows of one kind that an import changed, or would change. */
export type Conta = {
  /** `Estabelecimentos`, `Períodos do Simples Nacional`, or the title of the register. */
  readonly de: string;
  readonly novos: number;
  readonly alterados: number;
  readonly iguais: number;
  readonly retirados: number;
};

/** The reader and the storage of lines. `seen`: lines with notices; `avisos`: notices on the file as a whole. */
type Prepared = {
  readonly reading: Reading<unknown>;
  readonly stage: Stage<unknown, Counts>;
  readonly seen?: readonly Visto[];
  readonly avisos?: readonly string[];
};

/** Each register reads its own stored rows, and no other code looks into them. */
function prepared<Row, Own extends Counts>(
  own: Omit<Prepared, 'reading' | 'stage'> & { readonly reading: Reading<Row>; readonly stage: Stage<Row, Own> },
): Prepared {
  return own as unknown as Prepared;
}

type Visto = { readonly diz: (quantas: string) => string; readonly linhas: ReadonlySet<number> };

type Registro = {
  readonly titulo: string;
  readonly columns: Columns;
  /** The same in the order of the file. */
  readonly order: readonly string[];
  /** Key columns of a line, besides its beginning. */
  readonly key: readonly string[];
  /** The file is the whole register, and lines that it lacks are deleted; otherwise they stay. */
  readonly isWhole?: true;
  readonly tables: readonly [RegisterTable, ...RegisterTable[]];
  readonly prepare: (world: RegistryWorld, municipio: Municipio, header: readonly string[]) => Prepared;
  /** All lines as cells of the columns, required ones first. */
  readonly rows: (
    world: RegistryWorld,
    slug: string,
  ) => AsyncIterable<readonly string[]> | Promise<readonly (readonly string[])[]>;
};

type Stored = Pick<Registro, 'tables' | 'prepare' | 'rows' | 'isWhole'>;

function describeRegistro(nome: RegistroNome, stored: Stored): Registro {
  const { titulo } = REGISTERS[nome];
  const key = listRegisterColumns(nome).flatMap(([name, { isKey }]) => (isKey ? [name] : []));
  const columns = { ...splitOptional(nome), called: listHeadings(nome) };
  return { titulo, columns, order: listFileColumns(nome), key, ...stored };
}

function describeLista(nome: ListaNome): Registro {
  return describeRegistro(nome, {
    tables: [tableOfLista(nome)],
    prepare: (world, municipio, header) => prepared(prepareLista(world, nome, municipio, header)),
    rows: (world, slug) => listaAsRows(world, nome, slug),
  });
}

export const REGISTROS: Readonly<Record<RegistroNome, Registro>> = {
  prestadores: describeRegistro('prestadores', {
    tables: PRESTADOR_TABLES,
    prepare: (world, municipio, header) => prepared(preparePrestadores(world, municipio, header)),
    rows: prestadoresAsRows,
  }),
  servicos: describeLista('servicos'),
  beneficios: describeLista('beneficios'),
  deducoes: describeLista('deducoes'),
  regimes: describeLista('regimes'),
  nao_incidencias: describeLista('nao_incidencias'),
  correlacao: describeRegistro('correlacao', {
    isWhole: true,
    tables: [CORRELACAO_TABLE],
    prepare: (world, municipio) => prepared(prepareCorrelacao(world, municipio)),
    rows: correlacaoAsRows,
  }),
};

export function isRegistro(name: string): name is RegistroNome {
  return Object.hasOwn(REGISTROS, name);
}

export type RegistroImported = ImportOutcome<readonly Conta[]> & {
  /** Sentences on lines that an operator should look at. */
  readonly reparos: readonly string[];
};

/** Imports a file, or previews the changes. Throws an Error in Portuguese if the whole file is refused. */
export async function importRegistro(
  world: RegistryWorld,
  nome: RegistroNome,
  request: ImportRequest,
): Promise<RegistroImported> {
  return importInto(world, await municipioNamed(world, request.municipio), nome, request);
}

/** The same into a municipality, which for a preview need not be stored yet. */
export async function importInto(
  world: RegistryWorld,
  municipio: Municipio,
  nome: RegistroNome,
  request: Omit<ImportRequest, 'municipio'>,
): Promise<RegistroImported> {
  needOpen(municipio);
  const { columns, prepare } = REGISTROS[nome];
  const file = await openTable(request, columns);
  try {
    const { reading, stage, seen = [], avisos = [] } = prepare(world, municipio, file.columns);
    const escrita = escritaOf<Counts>(municipio.tenant, nome, request, world.now());
    const { counts, previa, consertos, ...outcome } = await importTable<unknown, Counts>(
      request,
      file,
      reading,
      stage,
      escrita,
    );
    return {
      ...outcome,
      consertos,
      counts: counts && contasOf(nome, counts),
      previa: previa && { ...previa, counts: contasOf(nome, previa.counts) },
      reparos: [
        ...consertos,
        ...avisos,
        ...seen.flatMap(({ diz, linhas }) => (linhas.size === 0 ? [] : [diz(groupDigits(linhas.size))])),
      ],
    };
  } finally {
    await file.close();
  }
}

type Counts = {
  readonly novos: number;
  readonly alterados: number;
  readonly iguais: number;
  readonly retirados?: number;
  readonly simples?: Counts;
};

function contasOf(nome: RegistroNome, { novos, alterados, iguais, retirados = 0, simples }: Counts): readonly Conta[] {
  const de = nome === 'prestadores' ? 'Estabelecimentos' : REGISTROS[nome].titulo;
  const own = { de, novos, alterados, iguais, retirados };
  if (simples === undefined) return [own];
  return [own, { de: 'Períodos do Simples Nacional', ...simples, retirados: simples.retirados ?? 0 }];
}

/** A register as a file that could be imported again, a line at a time. */
export async function* exportRegistro(world: RegistryWorld, nome: RegistroNome, slug: string): AsyncGenerator<string> {
  const { order, rows } = REGISTROS[nome];
  yield* writeTabela(order, await rows(world, slug));
}

/** The first lines of a register, as cells of its columns in their order. */
export async function firstLinesOf(
  world: RegistryWorld,
  nome: RegistroNome,
  slug: string,
  max: number,
): Promise<readonly (readonly string[])[]> {
  const lines: (readonly string[])[] = [];
  for await (const row of await REGISTROS[nome].rows(world, slug)) {
    lines.push(row);
    if (lines.length === max) break;
  }
  return lines;
}

/** The last import of a register that can be undone. */
export async function lastImport(
  world: RegistryWorld,
  nome: RegistroNome,
  slug: string,
): Promise<ImportacaoFeita | undefined> {
  const { tenant } = await municipioNamed(world, slug);
  return world.store.importacoes.findLast(tenant, nome);
}

/** Restores the state of a register before its last import; returns the number of rows. */
export async function undoImport(
  world: RegistryWorld,
  nome: RegistroNome,
  slug: string,
  by: PorMao,
): Promise<{ readonly linhas: number } | Problem> {
  const municipio = await municipioNamed(world, slug);
  needOpen(municipio);
  const read = needMotivo(by);
  if ('problem' in read) return read;
  const { tables, titulo } = REGISTROS[nome];
  const done = await world.store.importacoes.undo(municipio.tenant, nome, tables, ({ arquivo }, linhas) => ({
    ...by,
    ...read,
    em: world.now(),
    objeto: 'importacao',
    chave: nome,
    acao: 'desfeita',
    depois: { arquivo, linhas },
  }));
  if (done === 'nenhuma') return { problem: `${titulo}: não há importação que se possa desfazer.` };
  if ('mudadas' in done) {
    return {
      problem: `Nada foi desfeito: depois da importação alguém mudou ${done.mudadas.join('; ')}. Corrija à mão, ou importe um arquivo corrigido.`,
    };
  }
  return done;
}

/** A change as texts for people: the act, the row, and the fields that differ. An empty value is an empty text. */
export function describeMudanca(mudanca: Mudanca): {
  readonly acao: 'novo' | 'muda' | 'sai';
  readonly quem: string;
  readonly campos: readonly { readonly nome: string; readonly antes: string; readonly depois: string }[];
} {
  const [antes, depois] = [mudanca.antes, mudanca.depois].map((row) => row && withoutInvented(row));
  const said = (row: Mudanca['antes'], nome: string): string => {
    const value = row?.[nome];
    if (typeof value === 'boolean') return value ? 'sim' : 'não';
    return Array.isArray(value) ? value.join(' ') : String(value ?? '');
  };
  const row = depois ?? antes!;
  const names = Object.keys(row).filter((nome) => nome !== 'inscricao_comparavel' && nome !== 'origem');
  const known = ['documento', 'inscricao_municipal', 'codigo', 'numero', 'regime', 'item', 'codigo_municipal'];
  const which = [...known.filter((nome) => names.includes(nome)), 'inicio'].map((nome) => said(row, nome));
  const quem = which.filter((text) => text !== '').join(' ') || said(row, 'codigo_tributacao_nacional');
  const campos = names
    .map((nome) => ({ nome, antes: said(antes, nome), depois: said(depois, nome) }))
    .filter((campo) => campo.antes !== campo.depois);
  const acao = antes === undefined ? 'novo' : depois === undefined ? 'sai' : 'muda';
  return { acao, quem, campos };
}
