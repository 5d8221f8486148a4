/**
 * The sum of the counters of all parts of the service: its threads and processes are asked at once. A part that does not answer in time is
 * reported as silent, and its last counters stay in the sum. The counters of ended parts stay too: a falling sum would look to Prometheus
 * like a restart of the whole service.
 */
import { addUp, count, countedIn, gauges, type Snapshot, takeSnapshot, watchLoop } from '../base/measures/counters.ts';

/** Questions to a thread or a process, by their number. */
export class Questions {
  private readonly waiting = new Map<number, (snapshot: Snapshot) => void>();
  private asked = 0;

  ask(post: (asked: number) => void): Promise<Snapshot> {
    this.asked += 1;
    const { asked } = this;
    return new Promise((resolve) => {
      this.waiting.set(asked, resolve);
      post(asked);
    });
  }

  answer(asked: number, snapshot: Snapshot): void {
    this.waiting.get(asked)?.(snapshot);
    this.waiting.delete(asked);
  }

  /** An ended part gives no more answers. */
  forget(): void {
    this.waiting.clear();
  }
}

/** A part that can be asked. `tellsParts`: it reports itself which of its parts answer. `isOftenBusy`: its silence means nothing. */
export type Source = {
  readonly processo: string;
  readonly parte: string;
  readonly ask: () => Promise<Snapshot>;
  readonly tellsParts?: true;
  readonly isOftenBusy?: true;
};

/**
 * The wait for the answer of a thread; longer for a process, which asks its threads; shorter for a busy part, or for one that owes an
 * answer since long.
 */
const THREAD_WAIT_MS = 1_500;
const PROCESS_WAIT_MS = 2_000;
const BUSY_WAIT_MS = 300;
const OWED_WAIT_MS = 100;

/** Parts that are started again after their death. */
const DYING = ['processo', 'transmissao', 'painel'] as const;

/** Counts the death of a part that is started again. */
export function countRestart(parte: (typeof DYING)[number]): void {
  count('nfse_reinicios_total', { parte });
}

/** Processor time of all threads of this process. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

export class Collector {
  /** The process whose first thread this is. */
  readonly processo: string;
  private readonly last = new Map<Source, Snapshot>();
  /** A part that has not answered yet is not asked again meanwhile. */
  private readonly asking = new Map<Source, { readonly answer: Promise<Snapshot>; readonly since: number }>();
  private retired: Promise<Snapshot> = Promise.resolve([]);

  /** `parte`: the name of this thread's counters. */
  constructor(processo: string, parte: string) {
    this.processo = processo;
    watchLoop();
    const ask = async (): Promise<Snapshot> => [
      ...(await takeSnapshot(processo, parte)),
      ...gauges([
        { name: 'nfse_memoria_residente_bytes', labels: { processo }, value: process.memoryUsage.rss() },
        { name: 'nfse_processador_seconds', labels: { processo }, value: processorSeconds() },
      ]),
    ];
    this.add({ processo, parte, ask });
    // A counter that first appears with the value of one death would show one too few.
    for (const one of DYING) count('nfse_reinicios_total', { parte: one }, 0);
  }

  /** Adds a part to be asked; the result must be called when the part has ended. */
  add(source: Source): () => void {
    this.last.set(source, []);
    return () => {
      const counted = countedIn(this.last.get(source) ?? []);
      this.last.delete(source);
      this.asking.delete(source);
      this.retired = this.retired.then((before) => addUp([before, counted]));
    };
  }

  readonly collect = async (): Promise<Snapshot> => {
    const each = await Promise.all([...this.last.keys()].map((source) => this.askOne(source)));
    return addUp([await this.retired, ...each]);
  };

  /** The pending answer, and the time of its request. */
  private ask(source: Source): { readonly answer: Promise<Snapshot>; readonly since: number } {
    const before = this.asking.get(source);
    if (before !== undefined) return before;
    const answer = source.ask().finally(() => this.asking.delete(source));
    const asked = { answer, since: performance.now() };
    this.asking.set(source, asked);
    return asked;
  }

  private async askOne(source: Source): Promise<Snapshot> {
    const { processo, parte, tellsParts, isOftenBusy } = source;
    const late = Promise.withResolvers<undefined>();
    const waitMs = isOftenBusy ? BUSY_WAIT_MS : tellsParts ? PROCESS_WAIT_MS : THREAD_WAIT_MS;
    const { answer, since } = this.ask(source);
    const timer = setTimeout(() => late.resolve(undefined), Math.max(OWED_WAIT_MS, since + waitMs - performance.now()));
    const snapshot = await Promise.race([answer, late.promise]).catch(() => undefined);
    clearTimeout(timer);
    const answers = (value: number): Snapshot =>
      gauges([{ name: 'nfse_parte_responde', labels: { processo, parte }, value }]);
    if (snapshot === undefined) {
      return [...countedIn(this.last.get(source) ?? []), ...(isOftenBusy ? [] : answers(0))];
    }
    // The part ended meanwhile: its counters are among the retired ones.
    if (!this.last.has(source)) return [];
    this.last.set(source, snapshot);
    return tellsParts ? snapshot : [...snapshot, ...answers(1)];
  }
}
