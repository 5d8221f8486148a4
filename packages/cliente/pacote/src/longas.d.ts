/**
 * Questions that wait at the service until there is something to answer, one after the other. An outage ends nothing: it is asked again,
 * ever less often, and what the reader had read stays his.
 */
import type { AvisoDeRepeticao, Insistencia } from './chamada.ts';
import type { Operacao } from './tipos.ts';
/** Segundos que uma pergunta espera no serviço: menos do que costuma esperar um proxy; e o máximo dele. */
export declare const ESPERA_S: {
    readonly usual: 50;
    readonly maxima: 55;
};
export type Longa<Leitura> = {
    readonly operacao: Operacao;
    /** Seconds that the next question may wait. */
    readonly esperaS: () => number;
    readonly ler: (esperaS: number, more: Partial<Insistencia>) => Promise<Leitura>;
    /** Whether an answer is one that came because the waiting was over. */
    readonly isEmpty: (leitura: Leitura) => boolean;
    /** By `performance.now`: then there is one last question. */
    readonly end?: number;
    readonly signal: AbortSignal | undefined;
};
type Ways = {
    readonly insistencia: Insistencia;
    readonly aoRepetir: (aviso: AvisoDeRepeticao) => void;
};
/** The answers as they come, until the end, or without one. */
export declare function perguntar<Leitura>({ insistencia, aoRepetir }: Ways, { operacao, esperaS, ler, isEmpty, end, signal }: Longa<Leitura>): AsyncGenerator<Leitura, void>;
export {};
