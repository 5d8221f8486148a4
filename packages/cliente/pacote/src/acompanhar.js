/**
 * Asks until nothing more happens by itself: as often as the service says (`Retry-After`), ever less often, until a deadline. A service
 * that is away for a moment ends nothing.
 */
import { AindaEmAndamento, NaoEntregue } from './erros.js';
import { conferirTempos, esperar, retryAfterMs } from './espera.js';
const PRAZO_MS = 5 * 60_000;
const PRIMEIRA_MS = 250;
const MAXIMA_MS = 60_000;
/** A primeira leitura em repouso. */
export async function acompanhar({ ler, situacao, repousa }, { signal, aCada, ...own }) {
    const { prazoMs = PRAZO_MS, primeiraEsperaMs = PRIMEIRA_MS, esperaMaximaMs = MAXIMA_MS } = own;
    conferirTempos({ prazoMs, primeiraEsperaMs, esperaMaximaMs });
    const began = performance.now();
    let ultima;
    let pause = primeiraEsperaMs;
    let doubling = Math.max(primeiraEsperaMs, 1);
    for (;;) {
        const left = began + prazoMs - performance.now();
        await esperar(Math.max(0, Math.min(pause, left)), signal);
        let asked;
        try {
            const { leitura, cabecalhos } = await ler(signal);
            ultima = leitura;
            asked = retryAfterMs(cabecalhos);
            const isAtRest = repousa(leitura);
            const decorridoMs = performance.now() - began;
            aCada?.({ situacao: situacao(leitura), repousa: isAtRest, leitura, decorridoMs });
            if (isAtRest)
                return leitura;
        }
        catch (error) {
            if (!(error instanceof NaoEntregue))
                throw error;
            asked = error.esperaMs;
            const why = error.status === undefined ? 'sem resposta' : `HTTP ${error.status}`;
            aCada?.({ situacao: why, repousa: false, leitura: undefined, decorridoMs: performance.now() - began });
        }
        if (performance.now() - began >= prazoMs) {
            const last = ultima === undefined ? 'sem nenhuma resposta' : situacao(ultima);
            throw new AindaEmAndamento(`O prazo de ${prazoMs} ms acabou antes do fim: ${last}. Consulte mais tarde.`, ultima);
        }
        doubling = Math.min(doubling * 2, esperaMaximaMs);
        // What the service asks for is the least; chance keeps those apart who began together.
        pause = Math.max(asked ?? 0, doubling) * (1 + Math.random() / 4);
    }
}
