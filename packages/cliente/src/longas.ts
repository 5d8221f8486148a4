/**
 * Questions that wait at the service until there is something to answer, one after the other. An outage ends nothing: it is asked again,
 * ever less often, and what the reader had read stays his.
 */
import type { AvisoDeRepeticao, Insistencia } from './chamada.ts';
import { NaoEntregue } from './erros.ts';
import { esperar, pausaMs } from './espera.ts';
import type { Operacao } from './tipos.ts';

/** Segundos que uma pergunta espera no serviço: menos do que costuma esperar um proxy; e o máximo dele. */
export const ESPERA_S = { usual: 50, maxima: 55 } as const;

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
export async function* perguntar<Leitura>(
  { insistencia, aoRepetir }: Ways,
  { operacao, esperaS, ler, isEmpty, end = Number.POSITIVE_INFINITY, signal }: Longa<Leitura>,
): AsyncGenerator<Leitura, void> {
  let [falhas, early] = [0, 0];
  let isAnswered = false;
  for (;;) {
    // The first question, and the one after a failure, only ask whether somebody is there, and where one stands.
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
      // A service where too many wait answers at once, and would be asked without end.
      early = isEmpty(leitura) && tookMs < espera * 500 ? early + 1 : 0;
      pauseMs = early === 0 ? 0 : pausaMs(early, insistencia);
    } catch (error) {
      if (!(error instanceof NaoEntregue) || (!isAnswered && isAlien(error))) throw error;
      falhas += 1;
      pauseMs = error.esperaMs ?? pausaMs(falhas, insistencia);
      aoRepetir({ operacao, tentativa: falhas, esperaMs: pauseMs, motivo: error.message });
    }
    if (isLast) return;
    if (pauseMs > 0) await esperar(Math.max(0, Math.min(pauseMs, end - performance.now())), signal);
  }
}

/** An answer of somebody else: of a wrong address, where nothing was right before. */
function isAlien({ status }: NaoEntregue): boolean {
  return status !== undefined && status < 500 && status !== 408 && status !== 429;
}
