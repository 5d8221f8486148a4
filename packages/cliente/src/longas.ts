/**
 * Long polling: requests that wait at the service for an answer, one after the other. An outage ends nothing: the
 * request is repeated at growing intervals, and no answer that was read is lost.
 */
import type { AvisoDeRepeticao, Insistencia } from './chamada.ts';
import { NaoEntregue } from './erros.ts';
import { esperar, pausaMs } from './espera.ts';
import type { Operacao } from './tipos.ts';

/** Segundos que uma pergunta espera no serviço: menos do que costuma esperar um proxy; e o máximo dele. */
export const ESPERA_S = { usual: 50, maxima: 55 } as const;

export type Longa<Leitura> = {
  readonly operacao: Operacao;
  /** Seconds that the next request may wait. */
  readonly esperaS: () => number;
  readonly ler: (esperaS: number, more: Partial<Insistencia>) => Promise<Leitura>;
  /** True for an answer that came because the waiting time was over. */
  readonly isEmpty: (leitura: Leitura) => boolean;
  /** A moment of `performance.now`: one last request follows it. */
  readonly end?: number;
  readonly signal: AbortSignal | undefined;
};

type Ways = {
  readonly insistencia: Insistencia;
  readonly aoRepetir: (aviso: AvisoDeRepeticao) => void;
};

/** The answers as they come, until the end, or until a refusal asks for a wait beyond it. */
export async function* perguntar<Leitura>(
  { insistencia, aoRepetir }: Ways,
  { operacao, esperaS, ler, isEmpty, end = Number.POSITIVE_INFINITY, signal }: Longa<Leitura>,
): AsyncGenerator<Leitura, void> {
  let [falhas, early] = [0, 0];
  let isAnswered = false;
  for (;;) {
    // The first request, and the one after a failure, only test the service and the position.
    const espera = isAnswered && falhas === 0 ? esperaS() : 0;
    const began = performance.now();
    const isLast = began >= end;
    let pauseMs: number;
    try {
      const tempoLimiteMs = insistencia.tempoLimiteMs + espera * 1_000;
      const leitura = await ler(espera, { tentativas: 1, tempoLimiteMs, prazoMs: Number.POSITIVE_INFINITY });
      const tookMs = performance.now() - began;
      falhas = 0;
      isAnswered = true;
      yield leitura;
      // An overloaded service answers at once, and would be polled without a pause.
      early = isEmpty(leitura) && tookMs < espera * 500 ? early + 1 : 0;
      pauseMs = early === 0 ? 0 : pausaMs(early, insistencia);
    } catch (error) {
      if (!(error instanceof NaoEntregue) || (!isAnswered && isAlien(error))) throw error;
      if (error.esperaMs !== undefined && performance.now() + error.esperaMs >= end) return;
      falhas += 1;
      pauseMs = error.esperaMs ?? pausaMs(falhas, insistencia);
      aoRepetir({ operacao, tentativa: falhas, esperaMs: pauseMs, motivo: error.message });
    }
    if (isLast) return;
    if (pauseMs > 0) await esperar(Math.max(0, Math.min(pauseMs, end - performance.now())), signal);
  }
}

/** The answer comes from another service: the address is wrong unless a correct answer came before. */
function isAlien({ status }: NaoEntregue): boolean {
  return status !== undefined && status < 500 && status !== 408 && status !== 429;
}
