/** State of the circuit to the national environment for a municipality, as its transmitting process saw it last. */
import type { Db } from '../pg/open.ts';

/** `abertoEm` undefined: the circuit is closed. Milliseconds. */
export type Circuito = { readonly abertoEm: number | undefined; readonly motivo: string | undefined };

/** Moments in milliseconds; undefined: never. `falha`: why the last question or test without an answer got none. */
export type CircuitoOuvido = Circuito & {
  readonly respondeuEm: number | undefined;
  readonly falhouEm: number | undefined;
  readonly falha: string | undefined;
};

const MOTIVO_MAX = 500;

/** A municipality that was deleted meanwhile gets no row, and neither does an unchanged state. */
const NOTE = `insert into circuitos as c (tenant, aberto_em, motivo, visto_em)
    select m.tenant, $2::timestamptz, $3::text, $4::timestamptz from municipios m where m.tenant = $1
    on conflict (tenant) do update set aberto_em = excluded.aberto_em, motivo = excluded.motivo, visto_em = excluded.visto_em
      where (c.aberto_em is null) <> (excluded.aberto_em is null)`;

/** A later moment of another process stays. */
const HEAR = `insert into circuitos as c (tenant, visto_em, respondeu_em, falhou_em, falha)
    select m.tenant, $2::timestamptz, $3::timestamptz, $4::timestamptz, $5::text from municipios m where m.tenant = $1
    on conflict (tenant) do update set respondeu_em = greatest(c.respondeu_em, excluded.respondeu_em),
      falhou_em = greatest(c.falhou_em, excluded.falhou_em), falha = coalesce(excluded.falha, c.falha)`;

const FIND = 'select aberto_em, motivo, respondeu_em, falhou_em, falha from circuitos where tenant = $1';

type Row = Readonly<Record<'aberto_em' | 'respondeu_em' | 'falhou_em', Date | null>> &
  Readonly<Record<'motivo' | 'falha', string | null>>;

export function circuitoStore(pool: Db) {
  return {
    /** Stores the state of a tenant's circuit if it changed. */
    note: async (tenant: string, { abertoEm, motivo }: Circuito, now: number): Promise<void> => {
      const since = abertoEm === undefined ? null : new Date(abertoEm);
      await pool.query(NOTE, [tenant, since, motivo?.slice(0, MOTIVO_MAX), new Date(now)]);
    },
    /** Stores that the environment answered a tenant; `falha`: why it did not. */
    hear: async (tenant: string, falha: string | undefined, now: number): Promise<void> => {
      const at = new Date(now);
      const [respondeu, falhou] = falha === undefined ? [at, null] : [null, at];
      await pool.query(HEAR, [tenant, at, respondeu, falhou, falha?.slice(0, MOTIVO_MAX) ?? null]);
    },
    /** Undefined: nobody has transmitted or tested for it. */
    find: async (tenant: string): Promise<CircuitoOuvido | undefined> => {
      const [row] = (await pool.query<Row>(FIND, [tenant])).rows;
      return (
        row && {
          ...{ abertoEm: row.aberto_em?.getTime(), motivo: row.motivo ?? undefined },
          ...{ respondeuEm: row.respondeu_em?.getTime(), falhouEm: row.falhou_em?.getTime() },
          falha: row.falha ?? undefined,
        }
      );
    },
  };
}
