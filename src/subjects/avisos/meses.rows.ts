/** Months of issue that are told to a municipality's own addresses, once each. The deliveries are written with the month. */
import { type Db, runTransaction } from '../../base/pg/open.ts';
import { MES_FECHADO } from '../../fiscal/mudanca.ts';
import { insertEntregasDoMes } from './entregas.rows.ts';

/** The sums of a month as they are told: numbers of notes, and decimal texts. */
export type ResumoContado = {
  readonly notas: number;
  readonly canceladas: number;
  readonly valor_servico: string;
  readonly valor_base_calculo: string;
  readonly valor_issqn: string;
  readonly issqn_apurado: string;
  readonly issqn_retido: string;
  readonly valor_ibs: string;
  readonly valor_cbs: string;
};

export type MesContado = { readonly mes: number; readonly em: Date; readonly resumo: ResumoContado };

/** A query across tenants: those with an own address that wants months, and without this month. The order is random. */
const DUE = `select w.tenant, min(w.criado_em) as desde from webhooks w join municipios m on m.tenant = w.tenant and not m.fechado
  where w.documento = '' and w.ativo and (w.tipos = '{}' or '${MES_FECHADO}' = any (w.tipos))
    and not exists (select 1 from meses_fechados f where f.tenant = w.tenant and f.mes = $1)
  group by w.tenant order by random() limit $2`;
const COUNT = `select count(*)::int as notas from notas where tenant = $1 and mes = $2 and estado <> 'recusada'`;
const CLOSE = `insert into meses_fechados (tenant, mes, em, resumo)
  select tenant, $2::int, $3::timestamptz, $4::jsonb from municipios where tenant = $1 and not fechado
  on conflict (tenant, mes) do nothing`;
const LIST = 'select mes, em, resumo from meses_fechados where tenant = $1 and mes >= $2 order by mes';

export function mesFechadoStore(pool: Db) {
  return {
    /** Municipalities to whom a month was not told, at most `max`. `desde`: the registration of their oldest address. */
    listDue: async (mes: number, max: number) =>
      (await pool.query<{ readonly tenant: string; readonly desde: Date }>(DUE, [mes, max])).rows,
    /** The notes of a month that were not refused. */
    count: async (tenant: string, mes: number): Promise<number> =>
      (await pool.query<{ notas: number }>(COUNT, [tenant, mes])).rows[0]!.notas,
    /** Writes a month and its deliveries; a month that was told already stays as it is. `em`: milliseconds. */
    close: (tenant: string, mes: number, em: number, resumo: ResumoContado): Promise<void> =>
      runTransaction(pool, async (client) => {
        const { rowCount } = await client.query(CLOSE, [tenant, mes, new Date(em), JSON.stringify(resumo)]);
        if (rowCount === 1) await insertEntregasDoMes(client, tenant, mes, em);
      }),
    /** The told months from one on, in their order. */
    list: async (tenant: string, primeiro: number): Promise<readonly MesContado[]> =>
      (await pool.query<MesContado>(LIST, [tenant, primeiro])).rows,
  };
}
