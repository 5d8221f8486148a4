/** Merges a file of establishments into the registry: what the file names becomes as it says, the rest stays. */
import { bareIm, ENDERECO_NAO_INFORMADO } from '../fiscal/facts.ts';
import { addCounts, type ContagemLista, listaMerger, NONE_COUNTED } from './listas.ts';
import { type Contagem, rowMerger } from './merge-rows.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import { type Block, type Kind, lockRegistry, type Staging, stageImport } from './staging.ts';

/** Columns that a file may do without; what it does without is not touched. */
export const COLUNAS_OPCIONAIS = [
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
  /** Empty where there is none. */
  readonly inscricao_municipal: string;
  readonly razao_social: string;
  readonly autorizado: boolean;
  /** Period of the Simples Nacional. */
  readonly inicio: string | undefined;
  readonly fim: string | undefined;
} & { readonly [Column in ColunaOpcional]?: string | undefined };

/** `simples`: periods of the Simples Nacional. */
export type ContagemPrestadores = Contagem & { readonly simples: ContagemLista };

const ALWAYS = ['inscricao_municipal', 'razao_social', 'autorizado'] as const;

/** What stands in a row whose file has no such column. */
const DEFAULTS: Readonly<Partial<Record<ColunaOpcional, string>>> = {
  logradouro: ENDERECO_NAO_INFORMADO.xLgr,
  numero: ENDERECO_NAO_INFORMADO.nro,
  bairro: ENDERECO_NAO_INFORMADO.xBairro,
  cep: ENDERECO_NAO_INFORMADO.CEP,
};

export function prestadorImport(pool: Db) {
  return {
    /** `columns`: the optional ones that the file has. Of one tenant one merge at a time. */
    import: <Result>(
      tenant: string,
      { columns, now }: { readonly columns: readonly ColunaOpcional[]; readonly now: number },
      work: (staging: Staging<EntradaPrestador, ContagemPrestadores>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, kindOf(tenant, columns, now), work),
  };
}

function kindOf(
  tenant: string,
  columns: readonly ColunaOpcional[],
  now: number,
): Kind<EntradaPrestador, ContagemPrestadores> {
  const told = [...ALWAYS, ...columns];
  const mergeEstablishments = establishmentMerger(columns, now);
  /** Of a provider that the file names, the periods are those of the file. */
  const mergeSimples = listaMerger({ table: 'simples_nacional', key: ['documento'], told: [] });
  return {
    about: ({ documento }) => documento,
    known: ({ inscricao_municipal: im }) => bareIm(im),
    said: (row) => JSON.stringify(told.map((column) => row[column] ?? null)),
    lock: (client) => lockRegistry(client, tenant),
    merge: async (client, blocks) => {
      let establishments = NONE_COUNTED;
      let simples = NONE_COUNTED;
      for (const block of blocks) {
        establishments = addCounts(establishments, await mergeEstablishments(client, tenant, block));
        simples = addCounts(simples, await mergeSimples(client, tenant, block));
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
      ...Object.fromEntries(absent.map(([column, value]) => [column, `'${value}'`])),
      criado_em: `'${new Date(now).toISOString()}'::timestamptz`,
    },
    types: { autorizado: 'boolean' },
    tell: (column) => {
      if (column === 'origem') return () => 'cadastro';
      if (column === 'inscricao_comparavel') return (row) => bareIm(row.inscricao_municipal);
      return (row) => row[column as keyof EntradaPrestador];
    },
  });
  return async (client: PoolClient, tenant: string, block: Block<EntradaPrestador>): Promise<ContagemLista> => {
    const stored = await merger.read(
      client,
      tenant,
      ['documento'],
      block.about.map((documento) => [documento]),
    );
    const found = new Map(stored.map((row) => [merger.storedKeyOf(row), row]));
    const wanted = new Map(block.rows.map((row) => [merger.keyOf(row), row]));
    // What a first DPS had brought was a guess; the registry knows better now.
    const guessed = stored.filter((row) => row.origem === 'dps' && !wanted.has(merger.storedKeyOf(row)));
    return { ...(await merger.write(client, tenant, wanted, found, guessed)), retirados: guessed.length };
  };
}
