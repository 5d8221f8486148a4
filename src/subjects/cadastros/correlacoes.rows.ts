/** A municipality's correlation of the legacy port's codes with the national ones. */

import type { RegisterTable } from '../../base/book/importacoes.ts';
import type { ContagemLista } from '../../base/book/listas.ts';
import { rowMerger } from '../../base/book/merge-rows.ts';
import { type Kind, type LinhaDatada, lockRegistry, type Staging, stageImport } from '../../base/book/staging.ts';
import { cacheReads } from '../../base/pg/cache-reads.ts';
import type { Db } from '../../base/pg/open.ts';
import type { Correlacao } from '../../fiscal/abrasf/rps-values.ts';

/** The fields of a line, and the column of each. */
const COLUMNS: Readonly<Record<keyof Correlacao, string>> = {
  cTribNac: 'codigo_tributacao_nacional',
  cNBS: 'nbs',
  CST: 'cst',
  cClassTrib: 'c_class_trib',
  cIndOp: 'c_ind_op',
  tpImunidade: 'tp_imunidade',
  nBM: 'n_bm',
};
const SAID = Object.entries(COLUMNS) as [keyof Correlacao, string][];

const SELECT = `select concat(item, ' ', codigo_municipal) as codigos,
    ${SAID.map(([name, column]) => `${column} as "${name}"`).join(', ')}
  from correlacoes_legadas where tenant = $1`;

/** A line of the file, by the columns of the table. */
export type EntradaCorrelacao = LinhaDatada & Readonly<Record<string, string | number | undefined>>;

const KEY = ['item', 'codigo_municipal'];

export const CORRELACAO_TABLE: RegisterTable = { table: 'correlacoes_legadas', key: KEY };

/** The file is the whole correlation: lines that it does not have are deleted. */
function kindOf(tenant: string): Kind<EntradaCorrelacao, ContagemLista> {
  const merger = rowMerger<EntradaCorrelacao>({
    table: CORRELACAO_TABLE.table,
    key: KEY,
    told: SAID.map(([, column]) => column),
    tell: (column) => (row) => row[column],
  });
  return {
    about: (row) => merger.keyOf(row),
    known: () => '',
    said: (row) => JSON.stringify(SAID.map(([, column]) => row[column] ?? null)),
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
      const columns = [...KEY, ...SAID.map(([, column]) => column)].join(', ');
      const text = `select ${columns} from correlacoes_legadas where tenant = $1 order by ${KEY.join(', ')}`;
      return (await pool.query<Record<string, string | null>>(text, [tenant])).rows;
    },
    /** One merge of a tenant at a time; the file is the whole correlation. */
    importCorrelacao: <Result>(
      tenant: string,
      work: (staging: Staging<EntradaCorrelacao, ContagemLista>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, kindOf(tenant), work),
  };
}
