/** A municipality's correlation of the legacy port's codes with the national ones. */

import type { RegisterTable } from '../../base/book/importacoes.ts';
import type { ContagemLista } from '../../base/book/listas.ts';
import { rowMerger, type Value } from '../../base/book/merge-rows.ts';
import { type Kind, type LinhaDatada, lockRegistry, type Staging, stageImport } from '../../base/book/staging.ts';
import { cacheReads } from '../../base/pg/cache-reads.ts';
import type { Db } from '../../base/pg/open.ts';
import { CORRELACAO, type Correlacao, listRegisterColumns, splitColumns } from '../../fiscal/registers.ts';

/** The fields of a line, and the column of each. */
const SAID = listRegisterColumns('correlacao').flatMap(([name, { field, stored = name }]) =>
  field === undefined ? [] : [[field, stored] as const],
);

const SELECT = `select concat(item, ' ', codigo_municipal) as codigos,
    ${SAID.map(([name, column]) => `${column} as "${name}"`).join(', ')}
  from ${CORRELACAO.table} where tenant = $1`;

/** A line of the file, by the columns of the table. */
export type EntradaCorrelacao = LinhaDatada & Readonly<Record<string, Value>>;

const { key: KEY, told: TOLD } = splitColumns('correlacao');

export const CORRELACAO_TABLE: RegisterTable = { table: CORRELACAO.table, key: KEY };

/** The file is the whole correlation: lines that it does not have are deleted. */
function kindOf(tenant: string): Kind<EntradaCorrelacao, ContagemLista> {
  const merger = rowMerger<EntradaCorrelacao>({
    table: CORRELACAO_TABLE.table,
    key: KEY,
    told: TOLD,
    tell: (column) => (row) => row[column],
  });
  return {
    about: (row) => merger.keyOf(row),
    known: () => '',
    said: (row) => JSON.stringify(TOLD.map((column) => row[column] ?? null)),
    lock: (client) => lockRegistry(client, tenant),
    merge: async (client, blocks, writing) => {
      const wanted = new Map([...blocks].flatMap(({ rows }) => rows.map((row) => [merger.keyOf(row), row])));
      const found = await merger.readAll(client, tenant);
      const stored = new Map(found.map((row) => [merger.storedKeyOf(row), row]));
      const retired = found.filter((row) => !wanted.has(merger.storedKeyOf(row)));
      return {
        ...(await merger.write(client, tenant, wanted, stored, retired, writing)),
        retirados: retired.length,
      };
    },
  };
}

export function correlacaoStore(pool: Db) {
  const correlacoes = cacheReads(async (tenant: string): Promise<ReadonlyMap<string, Correlacao>> => {
    type Row = Readonly<Record<string, string | null>> & { readonly codigos: string };
    const { rows } = await pool.query<Row>(SELECT, [tenant]);
    return new Map(
      rows.map(({ codigos, ...said }) => {
        const values = Object.entries(said).map(([name, value]) => [name, value ?? undefined]);
        return [codigos, Object.fromEntries(values) as Correlacao];
      }),
    );
  });
  return {
    /** The line of a municipal code, else the line of the item. `nenhuma`: the municipality has imported no correlation. */
    findCorrelacao: async (
      tenant: string,
      item: string,
      codigoMunicipal: string,
    ): Promise<Correlacao | 'nenhuma' | undefined> => {
      const all = await correlacoes(tenant);
      return all.size === 0 ? 'nenhuma' : (all.get(`${item} ${codigoMunicipal}`) ?? all.get(`${item} `));
    },
    /** The whole correlation, line by line. */
    listCorrelacao: async (tenant: string): Promise<readonly Readonly<Record<string, string | null>>[]> => {
      const columns = [...KEY, ...TOLD].join(', ');
      const text = `select ${columns} from ${CORRELACAO.table} where tenant = $1 order by ${KEY.join(', ')}`;
      return (await pool.query<Record<string, string | null>>(text, [tenant])).rows;
    },
    /** One merge of a tenant at a time; the file is the whole correlation. */
    importCorrelacao: <Result>(
      tenant: string,
      work: (staging: Staging<EntradaCorrelacao, ContagemLista>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, kindOf(tenant), work),
  };
}
