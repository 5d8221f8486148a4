/**
 * The dated lists that a municipality keeps, each a row of one table: a list more is a row here, a migration, and the reading of its file
 * in `flows/listas.ts`.
 */

import { cacheReads } from './cache-reads.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import {
  countWritten,
  type Kind,
  listOf,
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

export const LISTAS: Readonly<Record<ListaNome, Lista>> = {
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

/**
 * A line of a file, by its columns: days `YYYY-MM-DD`, decimals as text. A column that may be empty is undefined; one of several values is
 * an array.
 */
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
      const text = `select ${columnsOf(nome)} from ${table} s where tenant = $1 order by ${listOf('s', [...key, 'inicio'])}`;
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
  const text = `select ${kept.join(', ')}`;
  return cacheReads(async (tenant: string) => {
    const { rows } = await pool.query<Record<ListaNome, boolean>>({ name: 'listas_mantidas', text, values: [tenant] });
    return rows[0]!;
  });
}

/** The columns of a line, as {@link Linha} has them. */
export function columnsOf(nome: ListaNome): string {
  const { key, told } = LISTAS[nome];
  return [...key, ...told, 'inicio::text', 'fim::text'].map((column) => `s.${column}`).join(', ');
}

function kindOf(tenant: string, lista: Lista): Kind<ContagemLista> {
  const { table, key, told, types = {} } = lista;
  const texts = Object.fromEntries([...key, ...told].map((column) => [column, types[column] ?? 'text']));
  return {
    columns: { linha: 'integer', ...texts, inicio: 'date', fim: 'date' },
    create: `
      create temp table entrada (linha integer primary key, like ${table});
      alter table entrada alter tenant drop not null`,
    checks: [refuseContradictions([...key, 'inicio'], ['fim', ...told], key), refuseOverlaps(key, 'inicio', 'fim')],
    merge: (client) => mergeLista(client, tenant, lista),
  };
}

/** Where a line of a key was refused, only what overlaps the file is taken away. */
async function mergeLista(client: PoolClient, tenant: string, { table, key, told }: Lista): Promise<ContagemLista> {
  const said = ['fim', ...told];
  const known = [...key, 'inicio'];
  const retirados = await countWritten(client, retirePeriods(table, key, 'inicio', 'fim'), [tenant]);
  const alterados = await countWritten(
    client,
    `update ${table} s set ${said.map((column) => `${column} = e.${column}`).join(', ')} from entrada e
    where s.tenant = $1 and ${known.map((column) => `s.${column} = e.${column}`).join(' and ')}
      and (${listOf('s', said)}) is distinct from (${listOf('e', said)})`,
    [tenant],
  );
  const novos = await countWritten(
    client,
    `insert into ${table} (tenant, ${[...known, ...said].join(', ')})
    select $1, ${listOf('e', [...known, ...said])} from entrada e on conflict (tenant, ${known.join(', ')}) do nothing`,
    [tenant],
  );
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from (select distinct ${listOf('e', known)} from entrada e) one`,
  );
  return { novos, alterados, retirados, iguais: rows[0]!.count - novos - alterados };
}
