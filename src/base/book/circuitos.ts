/** State of the circuit to the national environment for a municipality, as its transmitting process saw it last. */
import type { Db } from '../pg/open.ts';

/** `abertoEm` undefined: the circuit is closed. Milliseconds. */
export type Circuito = { readonly abertoEm: number | undefined; readonly motivo: string | undefined };

const MOTIVO_MAX = 500;

/** A municipality that was deleted meanwhile gets no row, and neither does an unchanged state. */
const NOTE = `insert into circuitos as c (tenant, aberto_em, motivo, visto_em)
    select m.tenant, $2::timestamptz, $3::text, $4::timestamptz from municipios m where m.tenant = $1
    on conflict (tenant) do update set aberto_em = excluded.aberto_em, motivo = excluded.motivo, visto_em = excluded.visto_em
      where (c.aberto_em is null) <> (excluded.aberto_em is null)`;

const FIND = 'select aberto_em, motivo from circuitos where tenant = $1';

export function circuitoStore(pool: Db) {
  return {
    /** Stores the state of a tenant's circuit if it changed. */
    note: async (tenant: string, { abertoEm, motivo }: Circuito, now: number): Promise<void> => {
      const since = abertoEm === undefined ? null : new Date(abertoEm);
      await pool.query(NOTE, [tenant, since, motivo?.slice(0, MOTIVO_MAX), new Date(now)]);
    },
    /** Undefined: no process has transmitted for it. */
    find: async (tenant: string): Promise<Circuito | undefined> => {
      const [row] = (await pool.query<{ aberto_em: Date | null; motivo: string | null }>(FIND, [tenant])).rows;
      return row && { abertoEm: row.aberto_em?.getTime(), motivo: row.motivo ?? undefined };
    },
  };
}
