/** The dated lists that a municipality keeps. Their columns stand in `fiscal/registers.ts`. */
import { type Decimal, parseDecimal } from '../../fiscal/decimal.ts';
import type { Vigencia } from '../../fiscal/moment.ts';
import { LISTAS, type ListaNome, listTypes, type StoredLine, splitColumns } from '../../fiscal/registers.ts';
import { batchLookups } from '../pg/batch-lookups.ts';
import { cacheReads } from '../pg/cache-reads.ts';
import { readsOf } from '../pg/merge.ts';
import { asArrays, planMergeable } from '../pg/mergeable.ts';
import type { Db } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planOnce } from '../pg/planned.ts';
import { equateColumns, listColumns, unnestRows } from '../pg/sql.ts';
import type { Vista } from './auditoria-tabelas.ts';
import type { RegisterTable } from './importacoes.ts';
import { type Contagem, rowMerger, type StoredRow, type Value, type Writing } from './merge-rows.ts';
import { type Block, type Kind, type LinhaDatada, lockRegistry, type Staging, stageImport } from './staging.ts';

type Lista = {
  readonly table: Vista;
  /** Key columns of a line, without its beginning. An empty text stands for all parties. */
  readonly key: readonly string[];
  /** Data columns, and the type of each column that is no text. */
  readonly told: readonly string[];
  readonly types?: Readonly<Record<string, string>>;
};

function listaOf(nome: ListaNome): Lista {
  return { table: LISTAS[nome].table, ...splitColumns(nome), types: listTypes(nome) };
}

/** A list as a file contains it: without the columns that are `absent`. */
type ListaDeArquivo = Lista & { readonly absent: readonly string[] };

/** The table of a list, and the key of its lines. */
export function tableOfLista(nome: ListaNome): RegisterTable {
  const { table, key } = listaOf(nome);
  return { table, key: [...key, 'inicio'] };
}

/**
 * A line of a file, by its columns. Days are `YYYY-MM-DD`, decimals are text, several values are an array, and an empty value is undefined.
 */
export type Entrada = LinhaDatada & Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** `iguais`: lines that existed already, unchanged. */
export type ContagemLista = Contagem & { readonly retirados: number };

/** A line of any list as the database gives it. */
export type Linha = Readonly<Record<string, string | readonly string[] | null>> & {
  readonly inicio: string;
  readonly fim: string | null;
};

export function listaStore(pool: Db) {
  return {
    /**
     * Merges a file into a list; one merge of a tenant runs at a time. The lines of a key in the file replace the stored ones. `columns`:
     * those of the file; other columns keep their values.
     */
    import: <Result>(
      nome: ListaNome,
      tenant: string,
      columns: readonly string[],
      work: (staging: Staging<Entrada, ContagemLista>) => Promise<Result>,
    ): Promise<Result> => {
      const lista = listaOf(nome);
      const told = lista.told.filter((column) => columns.includes(column));
      return stageImport(pool, kindOf(tenant, { ...lista, told, absent: lista.told.filter(isNone(told)) }), work);
    },
    /** All lines of a list, in the order of key and date. */
    list: async (nome: ListaNome, tenant: string): Promise<readonly Linha[]> => {
      const { table, key } = listaOf(nome);
      const text = `select ${columnsOf(nome)} from ${table} s where tenant = $1 order by ${listColumns('s', [...key, 'inicio'])}`;
      return (await pool.query<Linha>(text, [tenant])).rows;
    },
    /** Number of lines of each list. */
    count: async (tenant: string): Promise<Readonly<Record<ListaNome, number>>> => {
      const counts = Object.entries(LISTAS).map(
        ([nome, { table }]) => `(select count(*)::int from ${table} where tenant = $1) as ${nome}`,
      );
      const { rows } = await pool.query<Record<ListaNome, number>>(`select ${counts.join(', ')}`, [tenant]);
      return rows[0]!;
    },
  };
}

/** The lists that a municipality keeps at all. One statement asks for all of them, and the answer is cached for a moment. */
export type Mantidas = (tenant: string) => Promise<Readonly<Record<ListaNome, boolean>>>;

export function listasMantidas(pool: Db): Mantidas {
  const kept = Object.entries(LISTAS).map(
    ([nome, { table }]) =>
      (tenant: string) =>
        `coalesce((select true from ${table} where tenant = ${tenant} limit 1), false) as ${nome}`,
  );
  const ask = planMergeable<never>(
    'listas_mantidas',
    asArrays([]),
    ({ rows, tenant, isOfSeveral }) =>
      `select ${[`${tenant} as tenant`, ...kept.map((column) => column(tenant))].join(', ')} ${isOfSeveral ? `from ${rows}` : ''}`,
  );
  return cacheReads(async (tenant: string) => {
    const { rows } = await readsOf(pool).query<Record<ListaNome, boolean>>(ask(tenant, []));
    return rows[0]!;
  });
}

/** The columns of a line, as {@link Linha} has them. */
export function columnsOf(nome: ListaNome): string {
  const { key, told } = listaOf(nome);
  return listColumns('s', [...key, ...told, 'inicio::text', 'fim::text']);
}

/** The content of a line, and its period. */
export function lineOf<Stored extends Pick<Linha, 'inicio' | 'fim'>, Said>(
  linha: Stored,
  read: (linha: Stored) => Said,
): Said & Vigencia {
  return { ...read(linha), inicio: linha.inicio, fim: linha.fim ?? undefined };
}

/**
 * The lines of a key, in the order of the list. One statement serves all callers of the same turn, and its answers are cached for a moment.
 */
export function lookUpLines<Nome extends ListaNome, Said>(
  pool: Db,
  nome: Nome,
  read: (linha: StoredLine<Nome>) => Said,
  by?: readonly string[],
): (tenant: string, ...key: readonly string[]) => Promise<readonly (Said & Vigencia)[]> {
  const lista = listaOf(nome);
  const key = by ?? lista.key;
  const keys = unnestRows<readonly string[]>(
    key.map((column, place) => [`${column} text`, (parts) => parts[place]]),
    2,
  );
  // Each key is looked up by itself, since a plain join reads all lines of a tenant for many keys. The condition corresponds to
  // `ONE_BY_ONE` (`open.ts`).
  const text = `select s.* from ${keys.relation} cross join lateral (
      select ${columnsOf(nome)} from ${lista.table} s where s.tenant = $1 and ${equateColumns('s', 'x', key)} offset 0
    ) s where x.${key[0]} || '' = x.${key[0]} order by ${listColumns('s', [...lista.key, 'inicio'])}`;
  const ask = planOnce(`${nome}_por_${by?.join('_') ?? 'chave'}`, text);
  const load = batchLookups<readonly (Said & Vigencia)[]>(async (tenant, chaves) => {
    const { rows } = await pool.query<StoredLine<Nome> & Linha>(
      ask([tenant, ...keys.valuesOf(chaves.map((chave) => chave.split(' ')))]),
    );
    const found = Map.groupBy(rows, (row) => key.map((column) => row[column]).join(' '));
    return new Map([...found].map(([chave, linhas]) => [chave, linhas.map((linha) => lineOf(linha, read))]));
  });
  return cacheReads(async (tenant, ...chave) => (await load(tenant!, chave.join(' '))) ?? []);
}

export const decimalOf = (value: string | null): Decimal | undefined =>
  value === null ? undefined : parseDecimal(value);

const isNone =
  (of: readonly string[]) =>
  (one: string): boolean =>
    !of.includes(one);

function kindOf(tenant: string, lista: ListaDeArquivo): Kind<Entrada, ContagemLista> {
  const { key, told } = lista;
  const merge = listaMerger(lista);
  return {
    about: (row) => textsOf(row, key),
    known: ({ inicio = '' }) => inicio,
    said: (row) => JSON.stringify(['fim', ...told].map((column) => row[column] ?? null)),
    lock: (client) => lockRegistry(client, tenant),
    merge: async (client, blocks, writing) => {
      let counted = NONE_COUNTED;
      for (const block of blocks) counted = addCounts(counted, await merge(client, tenant, block, writing));
      return counted;
    },
  };
}

export const NONE_COUNTED: ContagemLista = { novos: 0, alterados: 0, iguais: 0, retirados: 0 };

export function addCounts(one: ContagemLista, other: ContagemLista): ContagemLista {
  return {
    novos: one.novos + other.novos,
    alterados: one.alterados + other.alterados,
    iguais: one.iguais + other.iguais,
    retirados: one.retirados + other.retirados,
  };
}

function textsOf(row: Readonly<Record<string, Value>>, columns: readonly string[]): string {
  return columns.map((column) => row[column]).join(' ');
}

type LinhaLida = LinhaDatada & Readonly<Record<string, Value>>;

/**
 * Merges the periods of a file. They replace all stored periods of their key. A refused line in the file limits the deletion to overlapping
 * stored periods of its key.
 */
export function listaMerger({ table, key, told, types = {}, absent }: ListaDeArquivo) {
  // A new line has empty arrays in the absent columns.
  const born = absent.filter((column) => types[column] === 'text[]').map((column) => [column, "'{}'::text[]"]);
  const merger = rowMerger<LinhaLida>({
    table,
    key: [...key, 'inicio'],
    told: ['fim', ...told],
    born: Object.fromEntries(born),
    types: { ...types, inicio: 'date', fim: 'date' },
    tell: (column) => (row) => row[column],
  });
  return async (
    client: PoolClient,
    tenant: string,
    { about, rows, recusadas }: Block<LinhaLida>,
    writing: Writing,
  ): Promise<ContagemLista> => {
    const keys = about.map((one) => one.split(' '));
    const found = await merger.read(client, tenant, key, keys);
    // Lines without a beginning do not enter the list.
    const dated = rows.filter(({ inicio }) => inicio !== undefined);
    const wanted = new Map(dated.map((row) => [merger.keyOf(row), row]));
    const retired = found.filter((stored) => {
      if (wanted.has(merger.storedKeyOf(stored))) return false;
      const whom = textsOf(stored, key);
      return !recusadas.has(whom) || dated.some((row) => textsOf(row, key) === whom && overlaps(row, stored));
    });
    const kept = new Map(found.map((stored) => [merger.storedKeyOf(stored), stored]));
    return { ...(await merger.write(client, tenant, wanted, kept, retired, writing)), retirados: retired.length };
  };
}

/** Whether a line with a beginning overlaps a stored one. */
function overlaps({ inicio, fim }: LinhaLida, stored: StoredRow): boolean {
  const [from, until] = [stored['inicio'] as string, stored['fim'] as string | null];
  return (until === null || inicio! <= until) && (fim === undefined || from <= fim);
}
