/**
 * The time of the next useful query about a row that changes by itself (D-217). It is the due time of the row, from the database. Limits
 * apply if that is unforeseeably far away, or if the row is overdue.
 */
import type { EventoRow } from '../book/evento-rows.ts';
import type { NotaRow } from '../book/nota-columns.ts';

/** A new or imminent claim is settled within a second. */
const SOON_MS = 1_000;
/** Limit for an overdue row (an outage, or no transmitting process), and for a row that another event may wake. */
const UNFORESEEN_MAX_MS = 60_000;
/** Limit for any due time, and for a row that only an operator can advance. */
export const PROXIMA_MAX_MS = 3_600_000;

type Row = { readonly due_at: Date | null; readonly claims: string | null };

/** Milliseconds from `now` on, at least one second. */
function waitOf({ due_at, claims }: Row, now: number, maxMs = PROXIMA_MAX_MS): number {
  if (claims !== null) return SOON_MS;
  if (due_at === null) return maxMs;
  const left = due_at.getTime() - now;
  // The wait of an overdue row equals the time it is overdue: short at first, then ever longer.
  return Math.max(SOON_MS, left > 0 ? Math.min(left, maxMs) : Math.min(-left, UNFORESEEN_MAX_MS));
}

/** The moment rounded up to the second, so that it is never too early. */
export function fullSecond(moment: number): number {
  return Math.ceil(moment / 1000) * 1000;
}

/** Moment, in milliseconds. A nota that may not be sent yet waits for the event of the nota that it replaces. That event wakes it. */
export function proximaDaNota({ estado, ...row }: Pick<NotaRow, 'estado' | 'due_at' | 'claims'>, now: number): number {
  return now + waitOf(row, now, estado === 'emitida' ? UNFORESEEN_MAX_MS : PROXIMA_MAX_MS);
}

/** Moment for an event, in milliseconds. An event that waits for its nota is sent with it. */
export function proximaDoEvento(row: EventoRow, now: number): number {
  const { nota_estado: estado, nota_due_at: due_at, nota_claims: claims } = row;
  const waitsForNota = row.estado === 'aguardando_autorizacao_nota' && due_at !== null;
  return waitsForNota ? proximaDaNota({ estado, due_at, claims }, now) : now + waitOf(row, now);
}
