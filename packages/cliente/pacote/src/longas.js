import { NaoEntregue } from './erros.js';
import { esperar, pausaMs } from './espera.js';
/** Segundos que uma pergunta espera no serviço: menos do que costuma esperar um proxy; e o máximo dele. */
export const ESPERA_S = { usual: 50, maxima: 55 };
/** The answers as they come, until the end, or without one. */
export async function* perguntar({ insistencia, aoRepetir }, { operacao, esperaS, ler, isEmpty, end = Number.POSITIVE_INFINITY, signal }) {
    let [falhas, early] = [0, 0];
    let isAnswered = false;
    for (;;) {
        // The first question, and the one after a failure, only ask whether somebody is there, and where one stands.
        const espera = isAnswered && falhas === 0 ? esperaS() : 0;
        const began = performance.now();
        const isLast = began >= end;
        let pauseMs;
        try {
            const tempoLimiteMs = insistencia.tempoLimiteMs + espera * 1_000;
            const leitura = await ler(espera, { tentativas: 1, tempoLimiteMs, prazoMs: Number.POSITIVE_INFINITY });
            const tookMs = performance.now() - began;
            falhas = 0;
            isAnswered = true;
            yield leitura;
            // A service where too many wait answers at once, and would be asked without end.
            early = isEmpty(leitura) && tookMs < espera * 500 ? early + 1 : 0;
            pauseMs = early === 0 ? 0 : pausaMs(early, insistencia);
        }
        catch (error) {
            if (!(error instanceof NaoEntregue) || (!isAnswered && isAlien(error)))
                throw error;
            falhas += 1;
            pauseMs = error.esperaMs ?? pausaMs(falhas, insistencia);
            aoRepetir({ operacao, tentativa: falhas, esperaMs: pauseMs, motivo: error.message });
        }
        if (isLast)
            return;
        if (pauseMs > 0)
            await esperar(Math.max(0, Math.min(pauseMs, end - performance.now())), signal);
    }
}
/** An answer of somebody else: of a wrong address, where nothing was right before. */
function isAlien({ status }) {
    return status !== undefined && status < 500 && status !== 408 && status !== 429;
}
