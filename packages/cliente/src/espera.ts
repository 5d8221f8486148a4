/** How long to wait: what the service says, else ever longer, with chance in it so that many clients do not come back at once. */
import { setTimeout as sleep } from 'node:timers/promises';

/** The first pause, and the longest. */
type Ritmo = { readonly primeiraEsperaMs: number; readonly esperaMaximaMs: number };

/** The pause after so many tries, from half to the whole of one that doubles. */
export function pausaMs(tentativa: number, { primeiraEsperaMs, esperaMaximaMs }: Ritmo): number {
  const whole = Math.min(primeiraEsperaMs * 2 ** (tentativa - 1), esperaMaximaMs);
  return whole * (0.5 + Math.random() / 2);
}

/** Milissegundos que um `Retry-After` pede; undefined onde não há, ou não se lê. */
export function retryAfterMs(cabecalhos: Headers, agora = Date.now()): number | undefined {
  const text = cabecalhos.get('retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - agora);
}

/** Rejects with the reason of the signal when it comes first. */
export async function esperar(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
