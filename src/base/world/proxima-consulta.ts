/**
 * When it is worth asking again about what goes on by itself (D-217): when the row is due, which the database knows; not when that
 * is far beyond what anybody can foresee, and not at every moment while it is overdue.
 */
import type { EventoRow } from '../book/evento-rows.ts';
import type { NotaRow } from '../book/nota-columns.ts';

/** A claim that was just made, or is about to be, is settled within a second. */
const SOON_MS = 1_000;
/** What is due and not attended to (an outage, nobody who transmits), or may be woken by what somebody else does. */
const UNFORESEEN_MAX_MS = 60_000;
/** However late it is due, and where only an operator can bring it on. */
export const PROXIMA_MAX_MS = 3_600_000;

type Row = { readonly due_at: Date | null; readonly claims: string | null };

/** Milliseconds from `now` on, 1 s at least. */
function waitOf({ due_at, claims }: Row, now: number, maxMs = PROXIMA_MAX_MS): number {
  if (claims !== null) return SOON_MS;
  if (due_at === null) return maxMs;
  const left = due_at.getTime() - now;
  // An overdue row is asked about after as long again as it is overdue: often at first, then ever less.
  return Math.max(SOON_MS, left > 0 ? Math.min(left, maxMs) : Math.min(-left, UNFORESEEN_MAX_MS));
}

/** The moment as it is told, to the second: never before it is worth asking. */
export function fullSecond(moment: number): number {
  return Math.ceil(moment / 1000) * 1000;
}

/** Moment, in milliseconds. One that is kept from being sent waits for the event of the nota that it replaces, which wakes it. */
export function proximaDaNota({ estado, ...row }: Pick<NotaRow, 'estado' | 'due_at' | 'claims'>, now: number): number {
  return now + waitOf(row, now, estado === 'emitida' ? UNFORESEEN_MAX_MS : PROXIMA_MAX_MS);
}

/** The same of an event. One that waits for its nota goes when that one does. */
export function proximaDoEvento(row: EventoRow, now: number): number {
  const { nota_estado: estado, nota_due_at: due_at, nota_claims: claims } = row;
  const waitsForNota = row.estado === 'aguardando_autorizacao_nota' && due_at !== null;
  return waitsForNota ? proximaDaNota({ estado, due_at, claims }, now) : now + waitOf(row, now);
}
