/** The dated lists that a municipality keeps. One more is a row here, a migration, and the reading of its file in `flows/listas.ts`. */
import { type Decimal, parseDecimal } from '../fiscal/decimal.ts';
import type { Vigencia } from '../fiscal/moment.ts';
import { batchLookups } from './batch-lookups.ts';
import { cacheReads } from './cache-reads.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import { planOnce } from './planned.ts';
import { equateColumns, listColumns, unnestRows } from './sql.ts';
import {
  countWritten,
  type Kind,
  refuseContradictions,
  refuseOverlaps,
  retirePeriods,
  type Staging,
  stageImport,
} from './staging.ts';

export type ListaNome = 'servicos' | 'beneficios' | 'deducoes' | 'regimes' | 'nao_incidencias';

type Lista = {
  readonly table: string;
  /** By which a line is known, beside its beginning; an empty text is everybody. */
  readonly key: readonly string[];
  /** What it says, and the type of each column that is no text. */
  readonly told: readonly string[];
  readonly types?: Readonly<Record<string, string>>;
};

const LISTAS: Readonly<Record<ListaNome, Lista>> = {
  servicos: {
    table: 'servicos_municipais',
    key: ['codigo'],
    told: ['descricao', 'codigo_tributacao_nacional', 'cnae_codigo', 'aliquota'],
    types: { aliquota: 'numeric(5, 2)' },
  },
  beneficios: {
    table: 'beneficios_municipais',
    key: ['numero'],
    told: ['descricao', 'tipo', 'reducao', 'aliquota', 'servicos', 'documentos'],
    types: { reducao: 'numeric(5, 2)', aliquota: 'numeric(5, 2)', servicos: 'text[]', documentos: 'text[]' },
  },
  deducoes: {
    table: 'deducoes_admitidas',
    key: ['codigo_tributacao_nacional'],
    told: ['formas'],
    types: { formas: 'text[]' },
  },
  regimes: {
    table: 'regimes_especiais',
    key: ['regime', 'documento'],
    told: ['servicos'],
    types: { servicos: 'text[]' },
  },
  nao_incidencias: { table: 'nao_incidencias', key: ['codigo_tributacao_nacional', 'documento'], told: [] },
};

/** Tables of the lists. */
export const LISTA_TABLES: readonly string[] = Object.values(LISTAS).map(({ table }) => table);

/** A line of a file, by its columns: days `YYYY-MM-DD`, decimals as text, several values as an array, and undefined for empty. */
export type Entrada = { readonly linha: number } & Readonly<
  Record<string, string | number | readonly string[] | undefined>
>;

export type ContagemLista = {
  readonly novos: number;
  readonly alterados: number;
  /** Lines that were there before just like this. */
  readonly iguais: number;
  readonly retirados: number;
};

/** A line as the database gives it. */
export type Linha = Readonly<Record<string, string | readonly string[] | null>> & {
  readonly inicio: string;
  readonly fim: string | null;
};

export function listaStore(pool: Db) {
  return {
    /** Of one tenant one merge at a time. Of a key that the file names, the lines are those of the file. */
    import: <Result>(
      nome: ListaNome,
      tenant: string,
      work: (staging: Staging<Entrada, ContagemLista>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, tenant, kindOf(tenant, LISTAS[nome]), work),
    /** The whole list, in the order of key and date. */
    list: async (nome: ListaNome, tenant: string): Promise<readonly Linha[]> => {
      const { table, key } = LISTAS[nome];
      const text = `select ${columnsOf(nome)} from ${table} s where tenant = $1 order by ${listColumns('s', [...key, 'inicio'])}`;
      return (await pool.query<Linha>(text, [tenant])).rows;
    },
    /** How many lines each list has. */
    count: async (tenant: string): Promise<Readonly<Record<ListaNome, number>>> => {
      const counts = Object.entries(LISTAS).map(
        ([nome, { table }]) => `(select count(*)::int from ${table} where tenant = $1) as ${nome}`,
      );
      const { rows } = await pool.query<Record<ListaNome, number>>(`select ${counts.join(', ')}`, [tenant]);
      return rows[0]!;
    },
  };
}

/** Which lists a municipality keeps at all: one statement for all of them, kept for a moment. */
export type Mantidas = (tenant: string) => Promise<Readonly<Record<ListaNome, boolean>>>;

export function listasMantidas(pool: Db): Mantidas {
  const kept = Object.entries(LISTAS).map(
    ([nome, { table }]) => `exists (select 1 from ${table} where tenant = $1) as ${nome}`,
  );
  const ask = planOnce('listas_mantidas', `select ${kept.join(', ')}`);
  return cacheReads(async (tenant: string) => {
    const { rows } = await pool.query<Record<ListaNome, boolean>>(ask([tenant]));
    return rows[0]!;
  });
}

/** The columns of a line, as {@link Linha} has them. */
export function columnsOf(nome: ListaNome): string {
  const { key, told } = LISTAS[nome];
  return listColumns('s', [...key, ...told, 'inicio::text', 'fim::text']);
}

/** What a line says, and when. */
export function lineOf<Said>(linha: Linha, read: (linha: Linha) => Said): Said & Vigencia {
  return { ...read(linha), inicio: linha.inicio, fim: linha.fim ?? undefined };
}

/** The lines of a key, in the order of the list: one statement for all who ask in the same turn, kept for a moment. */
export function lookUpLines<Said>(
  pool: Db,
  nome: ListaNome,
  read: (linha: Linha) => Said,
  by?: readonly string[],
): (tenant: string, ...key: readonly string[]) => Promise<readonly (Said & Vigencia)[]> {
  const lista = LISTAS[nome];
  const key = by ?? lista.key;
  const keys = unnestRows<readonly string[]>(
    key.map((column, place) => [`${column} text`, (parts) => parts[place]]),
    2,
  );
  // Each key looks its own lines up: a plain join reads all of a tenant for many keys. One by one, as `ONE_BY_ONE` (`open.ts`).
  const text = `select s.* from ${keys.relation} cross join lateral (
      select ${columnsOf(nome)} from ${lista.table} s where s.tenant = $1 and ${equateColumns('s', 'x', key)} offset 0
    ) s where x.${key[0]} || '' = x.${key[0]} order by ${listColumns('s', [...lista.key, 'inicio'])}`;
  const ask = planOnce(`${nome}_por_${by?.join('_') ?? 'chave'}`, text);
  const load = batchLookups<readonly (Said & Vigencia)[]>(async (tenant, chaves) => {
    const { rows } = await pool.query<Linha>(ask([tenant, ...keys.valuesOf(chaves.map((chave) => chave.split(' ')))]));
    const found = Map.groupBy(rows, (row) => key.map((column) => row[column]).join(' '));
    return new Map([...found].map(([chave, linhas]) => [chave, linhas.map((linha) => lineOf(linha, read))]));
  });
  return cacheReads(async (tenant, ...chave) => (await load(tenant!, chave.join(' '))) ?? []);
}

type Value = Linha[string] | undefined;

export const textOf = (value: Value): string => String(value);
export const decimalOf = (value: Value): Decimal | undefined =>
  value === null ? undefined : parseDecimal(textOf(value));
export const setOf = (value: Value): ReadonlySet<string> => new Set(value as readonly string[]);

function kindOf(tenant: string, lista: Lista): Kind<ContagemLista> {
  const { table, key, told, types = {} } = lista;
  const texts = Object.fromEntries([...key, ...told].map((column) => [column, types[column] ?? 'text']));
  return {
    columns: { linha: 'integer', ...texts, inicio: 'date', fim: 'date' },
    create: `
      create temp table entrada (linha integer primary key, like ${table});
      alter table entrada alter tenant drop not null`,
    checks: [refuseContradictions([...key, 'inicio'], ['fim', ...told], key), refuseOverlaps(key)],
    merge: (client) => mergeLista(client, tenant, lista),
  };
}

/** Where a line of a key was refused, only what overlaps the file is taken away. Lines without a beginning are none of the list. */
export async function mergeLista(
  client: PoolClient,
  tenant: string,
  { table, key, told }: Lista,
): Promise<ContagemLista> {
  const said = ['fim', ...told];
  const known = [...key, 'inicio'];
  const retirados = await countWritten(client, retirePeriods(table, key), [tenant]);
  const alterados = await countWritten(
    client,
    `update ${table} s set ${said.map((column) => `${column} = e.${column}`).join(', ')} from entrada e
    where s.tenant = $1 and ${equateColumns('s', 'e', known)}
      and (${listColumns('s', said)}) is distinct from (${listColumns('e', said)})`,
    [tenant],
  );
  const novos = await countWritten(
    client,
    `insert into ${table} (tenant, ${[...known, ...said].join(', ')})
    select $1, ${listColumns('e', [...known, ...said])} from entrada e where e.inicio is not null
    on conflict (tenant, ${known.join(', ')}) do nothing`,
    [tenant],
  );
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from (select distinct ${listColumns('e', known)} from entrada e where e.inicio is not null) one`,
  );
  return { novos, alterados, retirados, iguais: rows[0]!.count - novos - alterados };
}
