/**
 * Waits, when the clock of the machine was set. A moment in a row is of its writer's clock. No row may be due later than the longest of our
 * own waits. A claimed row stays so for a whole lease from now.
 */

import { type Db, writeAlone } from '../pg/open.ts';
import { quoteWords } from '../pg/sql.ts';
import { TIPOS } from './fila.ts';

/**
 * Why something of ours waits, in the order of $3 and on: a claim, that of a lot, a note that is tried again, one that replaces another,
 * an event that is tried again, one that waits for its note, and whatever an integrator rehearses.
 */
const ESPERAS = ['reserva', 'reservaDeLote', 'nota', 'substituta', 'evento', 'eventoDeRascunho', 'ensaio'] as const;

/** How far away each may be due at most, in milliseconds. */
type Esperas = Readonly<Record<(typeof ESPERAS)[number], number>>;

/** Every kind, so that the index on what is due finds a moment. */
const ANY_TIPO = `f.tipo in (${quoteWords(TIPOS)})`;

/** When a claim ends that begins now; $3 and on are moments: now and the longest wait of each kind. */
const CLAIM_ENDS = "case when f.tipo = 'lote' then $4::timestamptz else $3::timestamptz end";

/** When something is due at the latest. */
const LATEST = `case when f.claims is not null then ${CLAIM_ENDS}
    when n.simular is not null or e.simular is not null then $9::timestamptz
    when n.estado = 'transmitida' then $5::timestamptz
    when e.estado = 'aguardando_autorizacao_nota' then $8::timestamptz
    when f.tipo = 'lote' or (f.tentativas = 0 and (n.id is not null or e.estado = 'pendente')) then $2
    when f.tipo = 'nota' then $6::timestamptz else $7::timestamptz end`;

/** A row that is locked is left to the next look, so that it delays no other. */
const SHORTEN = `with late as (
    select f.tipo, f.id, case when f.claims is null then $2 else ${CLAIM_ENDS} end as due_at
    from fila f
      left join notas n on f.tipo = 'nota' and n.tenant = $1 and n.mes = f.mes and n.id = f.id
      left join eventos e on f.tipo = 'evento' and e.tenant = $1 and e.id = f.id
    where f.tenant = $1 and ${ANY_TIPO} and f.due_at > $2 and f.due_at > ${LATEST}
    for update of f skip locked
  )
  update fila f set due_at = late.due_at from late where f.tenant = $1 and f.tipo || '' = late.tipo and f.id = late.id`;

/** What is claimed is due when the claim ends: the index on what is due finds it. */
const END_CLAIMS = `update fila f set due_at = $3, claims = null,
    tentativas = case when f.tipo = 'lote' then f.tentativas - 1 else f.tentativas end
  where f.tenant = $1 and ${ANY_TIPO} and f.due_at > $3 and f.claims = any ($2::uuid[])`;

const TENANTS = `select m.tenant from municipios m
  where exists (select 1 from fila f where f.tenant = m.tenant and ${ANY_TIPO}
    and f.due_at > $1::timestamptz + make_interval(secs => m.relogio_ms / 1000.0))`;

export function esperaStore(pool: Db) {
  return {
    /** Tenants with something due after a moment, each by its own clock. */
    listTenants: async (after: number): Promise<readonly string[]> =>
      (await pool.query<{ tenant: string }>(TENANTS, [new Date(after)])).rows.map(({ tenant }) => tenant),
    /** Brings what is due further away than it can be to now, and what is claimed to the end of a whole claim; how many. */
    shorten: async (tenant: string, now: number, esperas: Esperas): Promise<number> => {
      const latest = ESPERAS.map((espera) => new Date(now + esperas[espera]));
      return (await pool.query(SHORTEN, [tenant, new Date(now), ...latest])).rowCount ?? 0;
    },
    /** Makes due at once what is claimed under these tokens. What was announced was an attempt; a lot, of which nothing was stored, had none. */
    endClaims: async (tenant: string, tokens: readonly string[], now: number): Promise<void> => {
      await writeAlone(pool, { text: END_CLAIMS, values: [tenant, tokens, new Date(now)] });
    },
  };
}
