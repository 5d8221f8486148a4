/** Merges a file of establishments into the registry: the file replaces the establishments that it names, and the rest stays. */

import type { RegisterTable } from '../../base/book/importacoes.ts';
import { addCounts, type ContagemLista, listaMerger, NONE_COUNTED } from '../../base/book/listas.ts';
import { type Contagem, rowMerger, type Value, type Writing } from '../../base/book/merge-rows.ts';
import {
  type Block,
  type Kind,
  type LinhaDatada,
  lockRegistry,
  type Staging,
  stageImport,
} from '../../base/book/staging.ts';
import type { Db } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { bareIm } from '../../fiscal/facts.ts';
import { listRegisterColumns, listTypes, PRESTADORES } from '../../fiscal/registers.ts';

/** A line of the file, by the columns of the tables; days are `YYYY-MM-DD`. A new provider is authorised. */
export type EntradaPrestador = LinhaDatada & {
  readonly documento: string;
  /** Empty: there is none. */
  readonly inscricao_municipal: string;
} & Readonly<Record<string, Value>>;

/** `simples`: periods of the Simples Nacional. */
export type ContagemPrestadores = Contagem & { readonly simples: ContagemLista };

/** The column of the table that tells the establishments of a document apart, made of the registration. */
const COMPARED = 'inscricao_comparavel';

/** Tables of the register. */
export const PRESTADOR_TABLES: readonly [RegisterTable, RegisterTable] = [
  { table: PRESTADORES.table, key: ['documento', COMPARED] },
  { table: 'simples_nacional', key: ['documento', 'inicio'] },
];

export function prestadorImport(pool: Db) {
  return {
    /** `columns`: those of the table that the file gives; `hasSimples`: it has the periods. One merge of a tenant runs at a time. */
    import: <Result>(
      tenant: string,
      asked: Asked,
      work: (staging: Staging<EntradaPrestador, ContagemPrestadores>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, kindOf(tenant, asked), work),
  };
}

type Asked = { readonly columns: readonly string[]; readonly hasSimples: boolean; readonly now: number };

function kindOf(tenant: string, { columns, hasSimples, now }: Asked): Kind<EntradaPrestador, ContagemPrestadores> {
  const told = columns.filter((column) => column !== 'documento');
  const mergeEstablishments = establishmentMerger(told, now);
  /** The file replaces all periods of each provider that it names. */
  const mergeSimples = listaMerger({ table: 'simples_nacional', key: ['documento'], told: [], absent: [] });
  return {
    about: ({ documento }) => documento,
    known: ({ inscricao_municipal: im }) => bareIm(im),
    said: (row) => JSON.stringify(told.map((column) => row[column] ?? null)),
    lock: (client) => lockRegistry(client, tenant),
    merge: async (client, blocks, writing) => {
      let establishments = NONE_COUNTED;
      let simples = NONE_COUNTED;
      for (const block of blocks) {
        establishments = addCounts(establishments, await mergeEstablishments(client, tenant, block, writing));
        if (hasSimples) simples = addCounts(simples, await mergeSimples(client, tenant, block, writing));
      }
      const { novos, alterados, iguais } = establishments;
      return { novos, alterados, iguais, simples };
    },
  };
}

function establishmentMerger(told: readonly string[], now: number) {
  const absent = listRegisterColumns('prestadores').flatMap(([name, { absent: value, sql = 'text' }]) =>
    value === undefined || told.includes(name) ? [] : [[name, `'${value}'::${sql}`]],
  );
  const merger = rowMerger<EntradaPrestador>({
    table: PRESTADORES.table,
    key: ['documento', COMPARED],
    told: [...told, 'origem'],
    generated: [COMPARED],
    born: {
      ...Object.fromEntries(absent),
      criado_em: `'${new Date(now).toISOString()}'::timestamptz`,
    },
    types: listTypes('prestadores'),
    tell: (column) => {
      if (column === 'origem') return () => 'cadastro';
      if (column === COMPARED) return (row) => bareIm(row.inscricao_municipal);
      return (row) => row[column];
    },
  });
  return async (
    client: PoolClient,
    tenant: string,
    block: Block<EntradaPrestador>,
    writing: Writing,
  ): Promise<ContagemLista> => {
    const stored = await merger.read(
      client,
      tenant,
      ['documento'],
      block.about.map((documento) => [documento]),
    );
    const found = new Map(stored.map((row) => [merger.storedKeyOf(row), row]));
    const wanted = new Map(block.rows.map((row) => [merger.keyOf(row), row]));
    // A row that a first DPS created was a guess; the registry knows better now.
    const guessed = stored.filter((row) => row['origem'] === 'dps' && !wanted.has(merger.storedKeyOf(row)));
    return { ...(await merger.write(client, tenant, wanted, found, guessed, writing)), retirados: guessed.length };
  };
}
