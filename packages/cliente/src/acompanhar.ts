/**
 * Polls until the state changes no more by itself: at the pace of the service (`Retry-After`), at growing intervals,
 * until a deadline. A short outage of the service ends nothing.
 */
import { AindaEmAndamento, NaoEntregue } from './erros.ts';
import { conferirTempos, esperar, retryAfterMs } from './espera.ts';

/** Como se acompanha. */
export type Acompanhamento<Leitura> = {
  readonly signal?: AbortSignal;
  /**
   * Depois disso, e de uma última consulta, {@link AindaEmAndamento} (padrão: 5 minutos); logo, se uma recusa pede que se
   * espere mais.
   */
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
  readonly ler: (
    signal: AbortSignal | undefined,
  ) => Promise<{ readonly leitura: Leitura; readonly cabecalhos: Headers }>;
  readonly situacao: (leitura: Leitura) => string;
  readonly repousa: (leitura: Leitura) => boolean;
};

const PRAZO_MS = 5 * 60_000;
const PRIMEIRA_MS = 250;
const MAXIMA_MS = 60_000;

/** A primeira leitura em repouso. */
export async function acompanhar<Leitura>(
  { ler, situacao, repousa }: Olhar<Leitura>,
  { signal, aCada, ...own }: Acompanhamento<Leitura>,
): Promise<Leitura> {
  const { prazoMs = PRAZO_MS, primeiraEsperaMs = PRIMEIRA_MS, esperaMaximaMs = MAXIMA_MS } = own;
  conferirTempos({ prazoMs, primeiraEsperaMs, esperaMaximaMs });
  const began = performance.now();
  let ultima: Leitura | undefined;
  let pause = primeiraEsperaMs;
  let doubling = Math.max(primeiraEsperaMs, 1);
  for (;;) {
    const left = began + prazoMs - performance.now();
    await esperar(Math.max(0, Math.min(pause, left)), signal);
    let asked: number | undefined;
    try {
      const { leitura, cabecalhos } = await ler(signal);
      ultima = leitura;
      asked = retryAfterMs(cabecalhos);
      const isAtRest = repousa(leitura);
      const decorridoMs = performance.now() - began;
      aCada?.({ situacao: situacao(leitura), repousa: isAtRest, leitura, decorridoMs });
      if (isAtRest) return leitura;
    } catch (error) {
      if (!(error instanceof NaoEntregue)) throw error;
      asked = error.esperaMs;
      const why = error.status === undefined ? 'sem resposta' : `HTTP ${error.status}`;
      const decorridoMs = performance.now() - began;
      aCada?.({ situacao: why, repousa: false, leitura: undefined, decorridoMs });
      // The service answers no question before that, and the deadline is earlier.
      if (asked !== undefined && decorridoMs + asked >= prazoMs) {
        const s = Math.ceil(asked / 1_000);
        throw new AindaEmAndamento(`O serviço pede ${s} s de espera (${why}), e o prazo acaba antes.`, ultima);
      }
    }
    if (performance.now() - began >= prazoMs) {
      const last = ultima === undefined ? 'sem nenhuma resposta' : situacao(ultima);
      throw new AindaEmAndamento(`O prazo de ${prazoMs} ms acabou antes do fim: ${last}. Consulte mais tarde.`, ultima);
    }
    doubling = Math.min(doubling * 2, esperaMaximaMs);
    // The service's own value is the minimum; a random part spreads clients that began together.
    pause = Math.max(asked ?? 0, doubling) * (1 + Math.random() / 4);
  }
}
