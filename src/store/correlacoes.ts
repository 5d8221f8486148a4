/** What a municipality says of the codes of the legacy port: which national ones they are. */
import type { Correlacao } from '../fiscal/abrasf/rps-values.ts';
import { cacheReads } from './cache-reads.ts';
import { type Db, runTransaction } from './open.ts';

/** A line of a municipality's correlation. */
export type LinhaCorrelacao = { readonly item: string; readonly codigoMunicipal: string } & Correlacao;

export function correlacaoStore(pool: Db) {
  const correlacoes = cacheReads(async (tenant: string): Promise<ReadonlyMap<string, Correlacao>> => {
    const { rows } = await pool.query<CorrelacaoRow>(CORRELACOES, [tenant]);
    return new Map(rows.map((row) => [`${row.item} ${row.codigo_municipal}`, correlacaoOf(row)]));
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
        const column = (pick: (linha: LinhaCorrelacao) => string | undefined): (string | undefined)[] =>
          linhas.map(pick);
        await client.query(INSERT_CORRELACOES, [
          tenant,
          column(({ item }) => item),
          column(({ codigoMunicipal }) => codigoMunicipal),
          column(({ cTribNac }) => cTribNac),
          column(({ cNBS }) => cNBS),
          column(({ CST }) => CST),
          column(({ cClassTrib }) => cClassTrib),
          column(({ cIndOp }) => cIndOp),
          column(({ tpImunidade }) => tpImunidade),
          column(({ nBM }) => nBM),
        ]);
      }),
  };
}

type CorrelacaoRow = {
  item: string;
  codigo_municipal: string;
  codigo_tributacao_nacional: string | null;
  nbs: string | null;
  cst: string | null;
  c_class_trib: string | null;
  c_ind_op: string | null;
  tp_imunidade: string | null;
  n_bm: string | null;
};

const CORRELACAO = `item, codigo_municipal, codigo_tributacao_nacional, nbs, cst, c_class_trib, c_ind_op, tp_imunidade, n_bm`;
const CORRELACOES = `select ${CORRELACAO} from correlacoes_legadas where tenant = $1`;
const INSERT_CORRELACOES = `insert into correlacoes_legadas (tenant, ${CORRELACAO})
  select $1, * from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])`;

function correlacaoOf(row: CorrelacaoRow): Correlacao {
  return {
    cTribNac: row.codigo_tributacao_nacional ?? undefined,
    cNBS: row.nbs ?? undefined,
    CST: row.cst ?? undefined,
    cClassTrib: row.c_class_trib ?? undefined,
    cIndOp: row.c_ind_op ?? undefined,
    tpImunidade: row.tp_imunidade ?? undefined,
    nBM: row.n_bm ?? undefined,
  };
}
