/**
 * Changes lines of a register by hand, one at a time. The machinery of the imports reads, checks and stores them, and reports each problem
 * with its column.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import { RegistroMudou } from '../../base/book/staging.ts';
import { needOpen } from '../../base/world/fechado.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import type { PorMao, Problem } from '../../base/world/operator.ts';
import { bareDocumento } from '../../fiscal/chave.ts';
import { upperFirst } from '../../fiscal/words.ts';
import { foreseeNotas, type Mudado } from './consequencias.ts';
import { describeRecusada, lineOf, type Reading } from './import-csv.ts';
import type { Perguntas } from './prestadores.ts';
import type { PrestadorListado } from './procurar-prestadores.rows.ts';
import { type Mudanca, REGISTROS, type RegistroNome } from './registros.ts';

/** A line by its columns; a missing column is empty. */
export type Celulas = Readonly<Record<string, string>>;

/** Sentences by column; the empty name is for problems without a column. `perguntas`: sentences to confirm, if nothing is wrong. */
export type ProblemasDaLinha = {
  readonly problems: Readonly<Record<string, string>>;
  readonly perguntas?: readonly string[];
};

export type LinhaDoRegistro = {
  readonly cells: Celulas /** What tells it from all others, as a text. */;
  readonly id: string;
};

/** Columns that identify a line. */
function keyOf(nome: RegistroNome): readonly string[] {
  const { key, isWhole } = REGISTROS[nome];
  return isWhole ? key : [...key, 'inicio'];
}

/** Lines of a register, in its order: all, or those that contain the words. */
export async function linesOf(
  world: RegistryWorld,
  nome: RegistroNome,
  slug: string,
  procurado = '',
): Promise<readonly LinhaDoRegistro[]> {
  const columns = REGISTROS[nome].order;
  const lines: LinhaDoRegistro[] = [];
  for await (const row of await REGISTROS[nome].rows(world, slug)) {
    const cells = Object.fromEntries(columns.map((column, place) => [column, row[place] ?? '']));
    if (hasText(row, procurado)) lines.push({ cells, id: idOf(nome, cells) });
  }
  return lines;
}

/** Whether a line contains all words; accents and case are ignored. */
function hasText(row: readonly string[], procurado: string): boolean {
  const plain = (text: string): string =>
    text
      .normalize('NFD')
      .replace(/[\u0300-\u036f]/g, '')
      .toUpperCase();
  const whole = plain(row.join(' '));
  return plain(procurado)
    .split(/\s+/)
    .every((word) => whole.includes(word));
}

function idOf(nome: RegistroNome, cells: Celulas): string {
  return keyOf(nome)
    .map((column) => cells[column] ?? '')
    .join(' ');
}

/** Lines that are stored together with this one: those of the same key, or all if the file is the whole register. */
function groupOf(nome: RegistroNome, lines: readonly LinhaDoRegistro[], cells: Celulas): readonly LinhaDoRegistro[] {
  const { key, isWhole } = REGISTROS[nome];
  if (isWhole) return lines;
  return lines.filter((line) => key.every((column) => line.cells[column] === cells[column]));
}

/** Replaces the line that `id` names, or adds a new one. `confirmado`: the questions about it are answered. */
export async function saveLine(
  world: RegistryWorld,
  nome: Exclude<RegistroNome, 'prestadores'>,
  slug: string,
  cells: Celulas,
  { id, confirmado }: { readonly id: string | undefined; readonly confirmado: boolean },
  by: PorMao,
): Promise<ProblemasDaLinha | undefined> {
  const municipio = await municipioNamed(world, slug);
  const read = readLines(prepareLines(world, nome, municipio, [cells]).reading, [cells]);
  if ('problems' in read) return read;
  // The cells as they are stored, for the comparison with existing lines.
  const stored = { ...cells, ...keyCells(nome, read.rows[0] as Readonly<Record<string, unknown>>) };
  const lines = await linesOf(world, nome, slug);
  const before = id === undefined ? undefined : lines.find((line) => line.id === id);
  if (id !== undefined && before === undefined) return { problems: { '': GONE } };
  const own = idOf(nome, stored);
  if (own !== id && lines.some((line) => line.id === own)) return { problems: { '': THERE } };
  const isMoved = before !== undefined && groupOf(nome, [before], stored).length === 0;
  if (isMoved) return { problems: { [REGISTROS[nome].key[0]!]: MOVED } };
  const rest = groupOf(nome, lines, stored).filter((line) => line !== before);
  const acao = before === undefined ? 'cadastrada' : 'alterada';
  const ato = { acao, chave: `${nome} ${own}`, antes: before?.cells, depois: stored };
  const isOwn = ({ antes, depois }: Mudanca): boolean =>
    [own, id].includes(idOf(nome, keyCells(nome, depois ?? antes!))) &&
    (antes === undefined || before === undefined || hasCells(antes, before.cells));
  const whole = [cells, ...rest.map((line) => line.cells)];
  return storeLines(world, nome, slug, whole, { ato, by, isMeant: isOwn, confirmado });
}

/** The key columns of a row of the database or of a file. */
function keyCells(nome: RegistroNome, row: Readonly<Record<string, unknown>>): Celulas {
  return Object.fromEntries(keyOf(nome).map((column) => [column, String(row[column] ?? '')]));
}

/** Whether a row of the database still says what the cells of a line said. */
function hasCells(row: NonNullable<Mudanca['antes']>, cells: Celulas): boolean {
  return Object.entries(row).every(([column, value]) => {
    const text = value == null ? '' : Array.isArray(value) ? value.join(' ') : String(value);
    return cells[column] === undefined || cells[column] === text;
  });
}

const GONE = 'Esta linha não existe mais: alguém a mudou ou retirou. Volte à lista.';
const THERE = 'Já há uma linha igual a esta no que a identifica. Altere aquela.';
const MEANWHILE =
  'Enquanto isto estava aberto alguém mudou este cadastro. Nada foi gravado: volte à lista e altere de novo.';
const MOVED = 'O que identifica a linha não se altera. Cadastre outra, e retire esta.';

/** Deletes a line. `confirmado`: the questions about the notes that its absence would have refused are answered. */
export async function removeLine(
  world: RegistryWorld,
  nome: Exclude<RegistroNome, 'prestadores'>,
  slug: string,
  { id, confirmado }: { readonly id: string; readonly confirmado: boolean },
  by: PorMao,
): Promise<Problem | Perguntas | undefined> {
  const municipio = await municipioNamed(world, slug);
  needOpen(municipio);
  const line = (await linesOf(world, nome, slug)).find((one) => one.id === id);
  if (line === undefined) return { problem: GONE };
  const ato = { acao: 'retirada', chave: `${nome} ${id}`, antes: line.cells, depois: undefined };
  const [{ table }] = REGISTROS[nome].tables;
  const values = Object.fromEntries(keyOf(nome).map((column) => [column, line.cells[column]!]));
  // The correlation judges no note.
  if (!confirmado && nome !== 'correlacao') {
    const perguntas = await world.store.importacoes.probeWithout(municipio.tenant, table, values, (client) =>
      foreseeNotas(world, municipio, client, { com: 'Sem esta linha' }),
    );
    if (perguntas.length > 0) return { perguntas };
  }
  await world.store.importacoes.removeRow(municipio.tenant, table, values, actOf(nome, ato, by, world.now()));
  return undefined;
}

/** Periods of the Simples Nacional, `YYYY-MM-DD` or `DD/MM/YYYY`; an empty end: it goes on. */
export type PeriodoEscrito = { readonly inicio: string; readonly fim: string };

/**
 * Stores an establishment. `isNew`: an existing one is refused; otherwise a missing one is refused. `periods`: replace all periods of the
 * document; undefined: they stay. `confirmado`: the questions about the notes of a changed one are answered.
 */
export async function savePrestador(
  world: RegistryWorld,
  slug: string,
  cells: Celulas,
  periods: readonly PeriodoEscrito[] | undefined,
  { isNew, confirmado }: { readonly isNew: boolean; readonly confirmado: boolean },
  by: PorMao,
): Promise<ProblemasDaLinha | undefined> {
  const { tenant } = await municipioNamed(world, slug);
  const documento = bareDocumento(cells['documento'] ?? '');
  const known = await world.store.prestadores.search(tenant, { documento }, undefined, 1_000);
  const before = known.find(({ inscricao_municipal: im }) => im === (cells['inscricao_municipal'] ?? '').trim());
  if (isNew && before !== undefined) {
    return { problems: { documento: 'já está no cadastro com esta inscrição. Altere o que há.' } };
  }
  if (!isNew && before === undefined) return { problems: { documento: 'não está no cadastro com esta inscrição.' } };
  const whole = withAddress(cells, before);
  const written = (periods ?? []).filter(({ inicio, fim }) => inicio !== '' || fim !== '');
  const lines: Celulas[] = written.map(({ inicio, fim }) => ({ ...whole, simples_inicio: inicio, simples_fim: fim }));
  if (lines.length === 0) lines.push(periods === undefined ? whole : { ...whole, simples_inicio: '', simples_fim: '' });
  const ato = {
    acao: isNew ? 'cadastrado' : 'alterado',
    chave: documento,
    antes: before && {
      ...before,
      autorizado: before.autorizado ? 'sim' : 'nao',
      simples: before.simples.map((period) => period.join(' a ')).join('; '),
    },
    depois: {
      ...cells,
      ...(periods && { simples: written.map(({ inicio, fim }) => `${inicio} a ${fim}`).join('; ') }),
    },
  };
  const mudado = { com: 'Com esta mudança', prestador: documento };
  return storeLines(world, 'prestadores', slug, lines, { ato, by, mudado, confirmado: isNew || confirmado });
}

const ADDRESS = ['logradouro', 'numero', 'complemento', 'bairro', 'cep'] as const;

/** An address is read as a whole, so a part of it is completed with the stored rest. */
function withAddress(cells: Celulas, before: PrestadorListado | undefined): Celulas {
  if (ADDRESS.every((column) => cells[column] === undefined)) return cells;
  return { ...Object.fromEntries(ADDRESS.map((column) => [column, before?.[column] ?? ''])), ...cells };
}

type AtoDeLinha = {
  readonly acao: string;
  readonly chave: string;
  readonly antes: object | undefined;
  readonly depois: object | undefined;
};

function actOf(nome: RegistroNome, { antes, depois, ...ato }: AtoDeLinha, by: PorMao, em: number) {
  const objeto = nome === 'prestadores' ? 'prestador' : nome === 'correlacao' ? 'correlacao' : 'lista';
  return { ...by, em, objeto, ...ato, ...changesOf(antes, depois) } as const;
}

/** Only the fields that differ between the old and the new state. */
function changesOf(antes: object | undefined, depois: object | undefined) {
  if (antes === undefined || depois === undefined) return { antes, depois };
  const [one, other] = [antes, depois] as [Record<string, unknown>, Record<string, unknown>];
  const differ = Object.keys(other).filter((name) => String(one[name] ?? '') !== String(other[name] ?? ''));
  const pick = (from: Record<string, unknown>) => Object.fromEntries(differ.map((name) => [name, from[name] ?? '']));
  return { antes: pick(one), depois: pick(other) };
}

function prepareLines(world: RegistryWorld, nome: RegistroNome, municipio: Municipio, lines: readonly Celulas[]) {
  return REGISTROS[nome].prepare(world, municipio, [...new Set(lines.flatMap(Object.keys))]);
}

/** Lines as rows of the register, or their problems by column. */
function readLines(
  reading: Reading<unknown>,
  lines: readonly Celulas[],
): { readonly rows: readonly unknown[] } | ProblemasDaLinha {
  const problems: Record<string, string> = {};
  const onProblem = (column: string, problem: string): void => {
    problems[column] ??= `${upperFirst(problem)}.`;
  };
  const rows = lines.map((cells, place) => reading.read(lineOf(place + 1, (column) => cells[column], onProblem)));
  return Object.keys(problems).length > 0 ? { problems } : { rows };
}

/**
 * `isMeant`: whether a change was asked for; any other one shows that the register was changed meanwhile. `confirmado`: the questions about
 * the lines are answered.
 */
type Storing = {
  readonly ato: AtoDeLinha;
  readonly by: PorMao;
  readonly isMeant?: (mudanca: Mudanca) => boolean;
  /** The change is foreseen for the notes of one provider; undefined: the register asks its own questions. */
  readonly mudado?: Mudado;
  readonly confirmado: boolean;
};

async function storeLines(
  world: RegistryWorld,
  nome: RegistroNome,
  slug: string,
  lines: readonly Celulas[],
  { ato, by, isMeant = () => true, mudado, confirmado }: Storing,
): Promise<ProblemasDaLinha | undefined> {
  const municipio = await municipioNamed(world, slug);
  needOpen(municipio);
  const prepared = prepareLines(world, nome, municipio, lines);
  const read = readLines(prepared.reading, lines);
  if ('problems' in read) return read;
  return prepared.stage(async (staging) => {
    await staging.add(read.rows);
    await staging.check();
    const [refused] = await staging.refusedAfter(0, 1);
    if (refused !== undefined) return { problems: { '': `${describeRecusada(refused).motivo}.` } };
    const { mudancas, marca } = await staging.rehearse();
    if (!mudancas.every(isMeant)) return { problems: { '': MEANWHILE } };
    const ask = async (): Promise<readonly string[]> =>
      mudado === undefined
        ? ((await prepared.reading.ask?.(staging)) ?? [])
        : staging.probe((client) => foreseeNotas(world, municipio, client, mudado));
    const perguntas = confirmado ? [] : await ask();
    if (perguntas.length > 0) return { problems: {}, perguntas };
    const atos = () => [actOf(nome, ato, by, world.now())];
    try {
      await staging.merge({ tenant: municipio.tenant, asRehearsed: marca, atos });
    } catch (error) {
      if (error instanceof RegistroMudou) return { problems: { '': MEANWHILE } };
      throw error;
    }
    return undefined;
  });
}
