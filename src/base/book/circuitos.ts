/** Whether the circuit to the national environment is open for a municipality, as whoever transmits for it saw it last. */
import type { Db } from '../pg/open.ts';

/** `abertoEm` undefined: it is closed. Milliseconds. */
export type Circuito = { readonly abertoEm: number | undefined; readonly motivo: string | undefined };

const MOTIVO_MAX = 500;

/** Of a municipality that was deleted meanwhile nothing is written, nor what is there already. */
const NOTE = `insert into circuitos as c (tenant, aberto_em, motivo, visto_em)
    select m.tenant, $2::timestamptz, $3::text, $4::timestamptz from municipios m where m.tenant = $1
    on conflict (tenant) do update set aberto_em = excluded.aberto_em, motivo = excluded.motivo, visto_em = excluded.visto_em
      where (c.aberto_em is null) <> (excluded.aberto_em is null)`;

const FIND = 'select aberto_em, motivo from circuitos where tenant = $1';

export function circuitoStore(pool: Db) {
  return {
    /** Writes how the circuit of a tenant is, where that is news. */
    note: async (tenant: string, { abertoEm, motivo }: Circuito, now: number): Promise<void> => {
      const since = abertoEm === undefined ? null : new Date(abertoEm);
      await pool.query(NOTE, [tenant, since, motivo?.slice(0, MOTIVO_MAX), new Date(now)]);
    },
    /** Undefined: nobody has transmitted for it. */
    find: async (tenant: string): Promise<Circuito | undefined> => {
      const [row] = (await pool.query<{ aberto_em: Date | null; motivo: string | null }>(FIND, [tenant])).rows;
      return row && { abertoEm: row.aberto_em?.getTime(), motivo: row.motivo ?? undefined };
    },
  };
}
