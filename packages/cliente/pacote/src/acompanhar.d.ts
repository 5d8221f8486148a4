/** Como se acompanha. */
export type Acompanhamento<Leitura> = {
    readonly signal?: AbortSignal;
    /** Depois disso, e de uma última consulta, {@link AindaEmAndamento} (padrão: 5 minutos). */
    readonly prazoMs?: number;
    /** Antes da primeira consulta (padrão: 250 ms). */
    readonly primeiraEsperaMs?: number;
    /** Entre duas consultas, no máximo, se o serviço não pede mais (padrão: 1 minuto). */
    readonly esperaMaximaMs?: number;
    /** A cada consulta, para mostrar a quem espera. */
    readonly aCada?: (andamento: Andamento<Leitura>) => void;
};
export type Andamento<Leitura> = {
    /** O estado, ou por que não se sabe. */
    readonly situacao: string;
    /** Se nada mais acontece por si: é a última vez. */
    readonly repousa: boolean;
    readonly leitura: Leitura | undefined;
    readonly decorridoMs: number;
};
export type Olhar<Leitura> = {
    readonly ler: (signal: AbortSignal | undefined) => Promise<{
        readonly leitura: Leitura;
        readonly cabecalhos: Headers;
    }>;
    readonly situacao: (leitura: Leitura) => string;
    readonly repousa: (leitura: Leitura) => boolean;
};
/** A primeira leitura em repouso. */
export declare function acompanhar<Leitura>({ ler, situacao, repousa }: Olhar<Leitura>, { signal, aCada, ...own }: Acompanhamento<Leitura>): Promise<Leitura>;
