/** Merges a file of establishments into the registry: the file replaces the establishments that it names, and the rest stays. */

import type { RegisterTable } from '../../base/book/importacoes.ts';
import { addCounts, type ContagemLista, listaMerger, NONE_COUNTED } from '../../base/book/listas.ts';
import { type Contagem, rowMerger, type Writing } from '../../base/book/merge-rows.ts';
import { type Block, type Kind, lockRegistry, type Staging, stageImport } from '../../base/book/staging.ts';
import type { Db } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { bareIm, ENDERECO_NAO_INFORMADO } from '../../fiscal/facts.ts';

/** Optional columns of a file; a column that it lacks is not changed. A new provider is authorised. */
export const COLUNAS_OPCIONAIS = [
  'autorizado',
  'nome_fantasia',
  'logradouro',
  'numero',
  'complemento',
  'bairro',
  'cep',
  'fone',
  'email',
] as const;

export type ColunaOpcional = (typeof COLUNAS_OPCIONAIS)[number];

/** A line of the file. Days are `YYYY-MM-DD`. */
export type EntradaPrestador = {
  readonly linha: number;
  readonly documento: string;
  /** Empty: there is none. */
  readonly inscricao_municipal: string;
  readonly razao_social: string;
  /** Period of the Simples Nacional. */
  readonly inicio: string | undefined;
  readonly fim: string | undefined;
  readonly autorizado?: boolean | undefined;
} & { readonly [Column in Exclude<ColunaOpcional, 'autorizado'>]?: string | undefined };

/** `simples`: periods of the Simples Nacional. */
export type ContagemPrestadores = Contagem & { readonly simples: ContagemLista };

const ALWAYS = ['inscricao_municipal', 'razao_social'] as const;

/** Values, in SQL, of columns that the file does not have. */
const DEFAULTS: Readonly<Partial<Record<ColunaOpcional, string>>> = {
  autorizado: 'true',
  logradouro: `'${ENDERECO_NAO_INFORMADO.xLgr}'`,
  numero: `'${ENDERECO_NAO_INFORMADO.nro}'`,
  bairro: `'${ENDERECO_NAO_INFORMADO.xBairro}'`,
  cep: `'${ENDERECO_NAO_INFORMADO.CEP}'`,
};

/** Tables of the register. */
export const PRESTADOR_TABLES: readonly [RegisterTable, RegisterTable] = [
  { table: 'prestadores', key: ['documento', 'inscricao_comparavel'] },
  { table: 'simples_nacional', key: ['documento', 'inicio'] },
];

export function prestadorImport(pool: Db) {
  return {
    /** `columns`: the optional ones that the file has; `hasSimples`: it has the periods. One merge of a tenant runs at a time. */
    import: <Result>(
      tenant: string,
      asked: Asked,
      work: (staging: Staging<EntradaPrestador, ContagemPrestadores>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, kindOf(tenant, asked), work),
  };
}

type Asked = { readonly columns: readonly ColunaOpcional[]; readonly hasSimples: boolean; readonly now: number };

function kindOf(tenant: string, { columns, hasSimples, now }: Asked): Kind<EntradaPrestador, ContagemPrestadores> {
  const told = [...ALWAYS, ...columns];
  const mergeEstablishments = establishmentMerger(columns, now);
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

function establishmentMerger(columns: readonly ColunaOpcional[], now: number) {
  const absent = Object.entries(DEFAULTS).filter(([column]) => !columns.includes(column as ColunaOpcional));
  const merger = rowMerger<EntradaPrestador>({
    table: 'prestadores',
    key: ['documento', 'inscricao_comparavel'],
    told: [...ALWAYS, ...columns, 'origem'],
    generated: ['inscricao_comparavel'],
    born: {
      ...Object.fromEntries(absent),
      criado_em: `'${new Date(now).toISOString()}'::timestamptz`,
    },
    types: { autorizado: 'boolean' },
    tell: (column) => {
      if (column === 'origem') return () => 'cadastro';
      if (column === 'inscricao_comparavel') return (row) => bareIm(row.inscricao_municipal);
      return (row) => row[column as keyof EntradaPrestador];
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
