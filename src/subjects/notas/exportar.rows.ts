/** The documents of many notes, for an export. */
import { NFSE, type NfseColumns, withNfse } from '../../base/book/documentos.ts';
import { groupByMes, type Ref } from '../../base/book/fila.ts';
import { type Db, ONE_BY_ONE } from '../../base/pg/open.ts';
import { planMonthly } from '../../base/pg/planned.ts';

const DOCUMENTOS = planMonthly(
  'nfse_exportada',
  `select n.id, n.mes, ${NFSE} from unnest($3::bigint[]) as x (id)
    join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id
    left join documentos d on d.tenant = $1 and d.mes = $2 and d.nota = x.id ${ONE_BY_ONE}`,
);

export function nfseStore(pool: Db) {
  return {
    /** The NFS-e of notes by id, as UTF-8, also of archived months. */
    read: async (tenant: string, refs: readonly Ref[]): Promise<ReadonlyMap<string, Uint8Array>> => {
      const ofMonths = [...groupByMes(refs)].map(async ([mes, some]) => {
        const { rows } = await pool.query<Ref & NfseColumns>(DOCUMENTOS([tenant, mes, some.map(({ id }) => id)]));
        return Promise.all(rows.map((row) => withNfse({ pool, tenant }, row, row.id)));
      });
      const whole = (await Promise.all(ofMonths)).flat();
      return new Map(whole.map(({ id, nfse }) => [id, nfse]));
    },
  };
}
