/**
 * Waits, when the clock of the machine was set. A moment in a row is of its writer's clock. No row may be due later than the longest of our
 * own waits. A claimed row stays so for a whole lease from now.
 */
import { JOBS, type Jobs } from './claims.ts';
import { type Db, writeAlone } from './open.ts';

/**
 * Why something of ours waits, in the order of $3 and on: a claim, that of a lot, a note that is tried again, one that replaces another,
 * an event that is tried again, one that waits for its note, and whatever an integrator rehearses.
 */
const ESPERAS = ['reserva', 'reservaDeLote', 'nota', 'substituta', 'evento', 'eventoDeRascunho', 'ensaio'] as const;

/** How far away each may be due at most, in milliseconds. */
type Esperas = Readonly<Record<(typeof ESPERAS)[number], number>>;

const LONGEST: Readonly<Record<Jobs, string>> = {
  notas: `case when claims is not null then $3 when simular is not null then $9 when estado = 'transmitida' then $5
    when tentativas = 0 then 0 else $6 end`,
  eventos: `case when claims is not null then $3 when simular is not null then $9
    when estado = 'aguardando_autorizacao_nota' then $8 when tentativas = 0 and estado = 'pendente' then 0 else $7 end`,
  lotes: 'case when claims is not null then $4 else 0 end',
};

/** A row that is locked is left to the next look, so that it delays no other. */
function shortenStatement(table: Jobs): string {
  const claim = table === 'lotes' ? '$4' : '$3';
  return `update ${table} set due_at = $2 + case when claims is null then 0 else ${claim} end * interval '1 ms'
    where tenant = $1 and ctid = any (array(select ctid from ${table}
      where tenant = $1 and due_at > $2 and due_at > $2 + (${LONGEST[table]}) * interval '1 ms'
        and greatest($3::int, $4::int, $5::int, $6::int, $7::int, $8::int, $9::int) > 0
      for update skip locked))`;
}

/** What is claimed is due when the claim ends: the index on what is due finds it. */
function endClaimsStatement(table: Jobs): string {
  const tried = table === 'lotes' ? ', tentativas = tentativas - 1' : '';
  return `update ${table} set due_at = $3, claims = null${tried}
    where tenant = $1 and claims = any ($2::uuid[]) and due_at > $3`;
}

/** With an index on what is due, each table is one look a tenant. */
const TENANTS = `select m.tenant from municipios m
  where ${JOBS.map((table) => `exists (select 1 from ${table} x where x.tenant = m.tenant and x.due_at > $1)`).join(' or ')}`;

export function esperaStore(pool: Db) {
  return {
    /** Tenants with something due after a moment. */
    listTenants: async (after: number): Promise<readonly string[]> =>
      (await pool.query<{ tenant: string }>(TENANTS, [new Date(after)])).rows.map(({ tenant }) => tenant),
    /** Brings what is due further away than it can be to now, and what is claimed to the end of a whole claim; how many. */
    shorten: async (tenant: string, now: number, esperas: Esperas): Promise<number> => {
      const longest = ESPERAS.map((espera) => esperas[espera]);
      let rows = 0;
      for (const table of JOBS) {
        rows += (await pool.query(shortenStatement(table), [tenant, new Date(now), ...longest])).rowCount ?? 0;
      }
      return rows;
    },
    /** Makes due at once what is claimed under these tokens. What was announced was an attempt; a lot, of which nothing was stored, had none. */
    endClaims: async (tenant: string, tokens: readonly string[], now: number): Promise<void> => {
      for (const table of JOBS)
        await writeAlone(pool, { text: endClaimsStatement(table), values: [tenant, tokens, new Date(now)] });
    },
  };
}
