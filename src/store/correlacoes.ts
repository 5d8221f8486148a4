/** What a municipality says of the codes of the legacy port: which national ones they are. */
import type { Correlacao } from '../fiscal/abrasf/rps-values.ts';
import { cacheReads } from './cache-reads.ts';
import { type Db, runTransaction } from './open.ts';
import { type ArrayColumn, listColumns, unnestRows } from './sql.ts';

/** A line of a municipality's correlation. */
export type LinhaCorrelacao = { readonly item: string; readonly codigoMunicipal: string } & Correlacao;

/** What a line says, and the column of each. */
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

const LINES = unnestRows<LinhaCorrelacao>(
  [
    ['item text', ({ item }) => item],
    ['codigo_municipal text', ({ codigoMunicipal }) => codigoMunicipal],
    ...SAID.map(([name, column]): ArrayColumn<LinhaCorrelacao> => [`${column} text`, (linha) => linha[name]]),
  ],
  2,
);
const INSERT = `insert into correlacoes_legadas (tenant, ${LINES.names.join(', ')}) 
  select m.tenant, ${listColumns('x', LINES.names)} from municipios m cross join ${LINES.relation} where m.tenant = $1`;

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
    /** Writes the whole correlation of a municipality in place of the one it had. */
    replaceCorrelacoes: (tenant: string, linhas: readonly LinhaCorrelacao[]): Promise<void> =>
      runTransaction(pool, async (client) => {
        await client.query('delete from correlacoes_legadas where tenant = $1', [tenant]);
        await client.query(INSERT, [tenant, ...LINES.valuesOf(linhas)]);
      }),
  };
}
