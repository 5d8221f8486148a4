/**
 * Shortens waits after the clock of the machine was changed. A stored moment comes from the clock of its writer. No row may be due later
 * than the longest of our own waits (D-257). A claimed row stays claimed for a whole lease from now.
 */

import { type Db, writeAlone } from '../pg/open.ts';
import { quoteWords } from '../pg/sql.ts';
import { TIPOS } from './fila.ts';

/**
 * Reasons to wait, in the order of the parameters from $3 on: a claim, a claim of a lot, a note that is tried again, a substitute note. An
 * event that is tried again, an event that waits for its note, and a rehearsal of an integrator follow.
 */
const ESPERAS = ['reserva', 'reservaDeLote', 'nota', 'substituta', 'evento', 'eventoDeRascunho', 'ensaio'] as const;

/** The longest wait of each kind, in milliseconds. */
type Esperas = Readonly<Record<(typeof ESPERAS)[number], number>>;

/** Every kind, so that the index on due rows is used. */
const ANY_TIPO = `f.tipo in (${quoteWords(TIPOS)})`;

/** End of a claim that begins now. The parameters from $3 on are moments: now and the longest wait of each kind. */
const CLAIM_ENDS = "case when f.tipo = 'lote' then $4::timestamptz else $3::timestamptz end";

/** The latest moment at which a row is due. */
const LATEST = `case when f.claims is not null then ${CLAIM_ENDS}
    when n.simular is not null or e.simular is not null then $9::timestamptz
    when n.estado = 'transmitida' then $5::timestamptz
    when e.estado = 'aguardando_autorizacao_nota' then $8::timestamptz
    when f.tipo = 'lote' or (f.tentativas = 0 and (n.id is not null or e.estado = 'pendente')) then $2
    when f.tipo = 'nota' then $6::timestamptz else $7::timestamptz end`;

/** A locked row is left to the next look, so that it delays no other. */
const SHORTEN = `with late as (
    select f.tipo, f.id, case when f.claims is null then $2 else ${CLAIM_ENDS} end as due_at
    from fila f
      left join notas n on f.tipo = 'nota' and n.tenant = $1 and n.mes = f.mes and n.id = f.id
      left join eventos e on f.tipo = 'evento' and e.tenant = $1 and e.id = f.id
    where f.tenant = $1 and ${ANY_TIPO} and f.due_at > $2 and f.due_at > ${LATEST}
    for update of f skip locked
  )
  update fila f set due_at = late.due_at from late where f.tenant = $1 and f.tipo || '' = late.tipo and f.id = late.id`;

/** A claimed row is due when its claim ends, so the index on due rows finds it. */
const END_CLAIMS = `update fila f set due_at = $3, claims = null,
    tentativas = case when f.tipo = 'lote' then f.tentativas - 1 else f.tentativas end
  where f.tenant = $1 and ${ANY_TIPO} and f.due_at > $3 and f.claims = any ($2::uuid[])`;

const TENANTS = `select m.tenant from municipios m
  where exists (select 1 from fila f where f.tenant = m.tenant and ${ANY_TIPO}
    and f.due_at > $1::timestamptz + make_interval(secs => m.relogio_ms / 1000.0))`;

export function esperaStore(pool: Db) {
  return {
    /** Tenants with rows due after a moment, each by its own clock. */
    listTenants: async (after: number): Promise<readonly string[]> =>
      (await pool.query<{ tenant: string }>(TENANTS, [new Date(after)])).rows.map(({ tenant }) => tenant),
    /**
     * Makes rows due now whose wait is longer than possible. A claimed row becomes due at the end of a whole claim. Returns the number of
     * rows.
     */
    shorten: async (tenant: string, now: number, esperas: Esperas): Promise<number> => {
      const latest = ESPERAS.map((espera) => new Date(now + esperas[espera]));
      return (await pool.query(SHORTEN, [tenant, new Date(now), ...latest])).rowCount ?? 0;
    },
    /**
     * Makes the rows claimed under these tokens due at once. A note or event keeps its attempt. A lot loses it, since nothing of the lot
     * was stored.
     */
    endClaims: async (tenant: string, tokens: readonly string[], now: number): Promise<void> => {
      await writeAlone(pool, { text: END_CLAIMS, values: [tenant, tokens, new Date(now)] });
    },
  };
}
