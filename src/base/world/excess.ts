/** Refusals of a limit. A command loads them without the flows. */
import type { Cota, Refused } from './idempotency.ts';

/** The refusal for want of room in a limit. `livreMs`: milliseconds until there is room. */
export function refuseExcess(mensagem: string, cota: Cota, livreMs: number): Refused {
  const esperaS = Math.max(1, Math.ceil(livreMs / 1_000));
  return { faults: [{ codigo: 'E703', xpath: '', mensagem }], status: 429, esperaS, cota };
}
