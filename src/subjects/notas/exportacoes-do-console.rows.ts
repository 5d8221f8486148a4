/** Exports that somebody asked of the console for. The request outlives the process that makes its file. */
import type { Db } from '../../base/pg/open.ts';

/** `em`: milliseconds. `busca`: the search as it was written. */
export type ExportacaoPedida = {
  readonly id: string;
  readonly quem: string;
  readonly em: number;
  readonly formato: string;
  readonly busca: Readonly<Record<string, string>>;
};

const INSERT = `insert into exportacoes_do_console (tenant, id, quem, em, formato, busca) values ($1, $2, $3, $4, $5, $6)`;
const FORGET = 'delete from exportacoes_do_console where tenant = $1 and em <= $2';
const LIST = `select id, quem, em, formato, busca from exportacoes_do_console where tenant = $1 and quem = $2 and em > $3 order by em`;

export function exportacaoDoConsoleStore(pool: Db) {
  return {
    /** Writes a request, and deletes those of the municipality from before a moment (milliseconds). */
    insert: async (tenant: string, { id, quem, em, formato, busca }: ExportacaoPedida, before: number) => {
      await pool.query(FORGET, [tenant, new Date(before)]);
      await pool.query(INSERT, [tenant, id, quem, new Date(em), formato, JSON.stringify(busca)]);
    },
    /** The requests of a user since a moment (milliseconds), the oldest first. */
    list: async (tenant: string, quem: string, since: number): Promise<readonly ExportacaoPedida[]> => {
      type Row = Omit<ExportacaoPedida, 'em'> & { readonly em: Date };
      const { rows } = await pool.query<Row>(LIST, [tenant, quem, new Date(since)]);
      return rows.map((row) => ({ ...row, em: +row.em }));
    },
    remove: async (tenant: string, id: string): Promise<void> => {
      await pool.query('delete from exportacoes_do_console where tenant = $1 and id = $2', [tenant, id]);
    },
  };
}
