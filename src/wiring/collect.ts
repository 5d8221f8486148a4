/**
 * What all parts of the service have counted, added up: its threads and processes are asked at once. One that does not answer in time is told to
 * be silent, and what it had counted by then stays in the sum, as does what those have counted that are gone: a sum that fell would look to
 * Prometheus like a restart of the whole service.
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

  /** Who is gone answers no more. */
  forget(): void {
    this.waiting.clear();
  }
}

/** Somebody who is asked. `tellsParts`: it says itself which of its parts answer. `isOftenBusy`: that it does not answer says nothing. */
export type Source = {
  readonly processo: string;
  readonly parte: string;
  readonly ask: () => Promise<Snapshot>;
  readonly tellsParts?: true;
  readonly isOftenBusy?: true;
};

/** How long a thread is waited for; a process, which asks its threads, longer; not as long who is often busy, or has owed an answer for so long. */
const THREAD_WAIT_MS = 1_500;
const PROCESS_WAIT_MS = 2_000;
const BUSY_WAIT_MS = 300;
const OWED_WAIT_MS = 100;

/** What may die and is started again. */
const DYING = ['processo', 'transmissao', 'painel'] as const;

/** Counts a death after which something is started again. */
export function countRestart(parte: (typeof DYING)[number]): void {
  count('nfse_reinicios_total', { parte });
}

/** Of all threads of this process. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

export class Collector {
  /** Of which process this thread is the first. */
  readonly processo: string;
  private readonly last = new Map<Source, Snapshot>();
  /** Who has not answered yet is not asked again meanwhile. */
  private readonly asking = new Map<Source, { readonly answer: Promise<Snapshot>; readonly since: number }>();
  private retired: Promise<Snapshot> = Promise.resolve([]);

  /** `parte`: as which this thread counts. */
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
    // What is first seen with one death behind it would show one too few.
    for (const one of DYING) count('nfse_reinicios_total', { parte: one }, 0);
  }

  /** Has somebody asked from now on; the result is to be called when it is gone. */
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

  /** The answer to come, and since when. */
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
    const timer = setTimeout(late.resolve, Math.max(OWED_WAIT_MS, since + waitMs - performance.now()));
    const snapshot = await Promise.race([answer, late.promise]).catch(() => undefined);
    clearTimeout(timer);
    const answers = (value: number): Snapshot =>
      gauges([{ name: 'nfse_parte_responde', labels: { processo, parte }, value }]);
    if (snapshot === undefined) {
      return [...countedIn(this.last.get(source) ?? []), ...(isOftenBusy ? [] : answers(0))];
    }
    // Gone meanwhile: what it had counted is among those that are.
    if (!this.last.has(source)) return [];
    this.last.set(source, snapshot);
    return tellsParts ? snapshot : [...snapshot, ...answers(1)];
  }
}
