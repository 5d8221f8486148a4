/**
 * The pause between attempts: the service's own value, or growing intervals. A random part keeps many clients from
 * coming back at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** The first pause, and the longest. */
type Ritmo = { readonly primeiraEsperaMs: number; readonly esperaMaximaMs: number };

/** The longest timer of Node; a longer one would fire at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

/** Rejeita o que não é um tempo; `Infinity` é um. */
export function conferirTempos(tempos: Readonly<Record<string, number>>): void {
  for (const [nome, ms] of Object.entries(tempos)) {
    if (typeof ms !== 'number' || !(ms >= 0))
      throw new TypeError(`${nome} é um número de milissegundos, a partir de 0.`);
  }
}

/** The pause after a number of attempts: the interval doubles, and chance takes half to the whole of it. */
export function pausaMs(tentativa: number, { primeiraEsperaMs, esperaMaximaMs }: Ritmo): number {
  const whole = Math.min(primeiraEsperaMs * 2 ** (tentativa - 1), esperaMaximaMs);
  return whole * (0.5 + Math.random() / 2);
}

/** Milissegundos que um `Retry-After` pede; undefined onde não há, ou não se lê. */
export function retryAfterMs(cabecalhos: Headers, agora = Date.now()): number | undefined {
  const text = cabecalhos.get('retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Date.parse accepts many forms, even 1.5; an HTTP date begins with the day of the week.
  const date = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - agora);
}

/** Waits; it rejects with the reason of the signal when that comes first. */
export async function esperar(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(Math.min(ms, TIMER_MAX_MS), undefined, signal === undefined ? {} : { signal });
    signal?.throwIfAborted();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
