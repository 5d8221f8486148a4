/** How long to wait: what the service says, else ever longer, with chance in it so that many clients do not come back at once. */
import { setTimeout as sleep } from 'node:timers/promises';
/** The longest that a timer of Node runs; beyond it, it would run out at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1;
/** Rejeita o que não é um tempo; `Infinity` é um. */
export function conferirTempos(tempos) {
    for (const [nome, ms] of Object.entries(tempos)) {
        if (typeof ms !== 'number' || !(ms >= 0))
            throw new TypeError(`${nome} é um número de milissegundos, a partir de 0.`);
    }
}
/** The pause after so many tries, from half to the whole of one that doubles. */
export function pausaMs(tentativa, { primeiraEsperaMs, esperaMaximaMs }) {
    const whole = Math.min(primeiraEsperaMs * 2 ** (tentativa - 1), esperaMaximaMs);
    return whole * (0.5 + Math.random() / 2);
}
/** Milissegundos que um `Retry-After` pede; undefined onde não há, ou não se lê. */
export function retryAfterMs(cabecalhos, agora = Date.now()) {
    const text = cabecalhos.get('retry-after')?.trim();
    if (text === undefined || text === '')
        return undefined;
    if (/^\d{1,9}$/.test(text))
        return Number(text) * 1000;
    // A date is read in many forms, even 1.5; one of HTTP begins with the day of the week.
    const date = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(date) ? undefined : Math.max(0, date - agora);
}
/** Rejects with the reason of the signal when it comes first. */
export async function esperar(ms, signal) {
    signal?.throwIfAborted();
    try {
        await sleep(Math.min(ms, TIMER_MAX_MS), undefined, signal === undefined ? {} : { signal });
        signal?.throwIfAborted();
    }
    catch (error) {
        signal?.throwIfAborted();
        throw error;
    }
}
