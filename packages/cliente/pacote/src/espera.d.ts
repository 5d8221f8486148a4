/** The first pause, and the longest. */
type Ritmo = {
    readonly primeiraEsperaMs: number;
    readonly esperaMaximaMs: number;
};
/** The longest that a timer of Node runs; beyond it, it would run out at once. */
export declare const TIMER_MAX_MS: number;
/** Rejeita o que não é um tempo; `Infinity` é um. */
export declare function conferirTempos(tempos: Readonly<Record<string, number>>): void;
/** The pause after so many tries, from half to the whole of one that doubles. */
export declare function pausaMs(tentativa: number, { primeiraEsperaMs, esperaMaximaMs }: Ritmo): number;
/** Milissegundos que um `Retry-After` pede; undefined onde não há, ou não se lê. */
export declare function retryAfterMs(cabecalhos: Headers, agora?: number): number | undefined;
/** Rejects with the reason of the signal when it comes first. */
export declare function esperar(ms: number, signal: AbortSignal | undefined): Promise<void>;
export {};
