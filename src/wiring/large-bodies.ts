/**
 * Runs the thread that answers requests with large bodies, one at a time, in turns. The first request starts the thread; a request that
 * uses too much processor time ends it, and so does a time without requests. The queue is bounded, and with it the memory of its bodies.
 */
import { Worker as Thread } from 'node:worker_threads';
import type { OnStored } from '../base/book/recent.ts';
import {
  ASIDE_CPU_MAX_MS,
  type Aside,
  type AsideCall,
  type AsideSender,
  type AsideTrouble,
} from '../base/http/aside.ts';
import { ignoring } from '../base/traces/ignoring.ts';
import { SALAS } from '../base/world/lugares.ts';
import { networksOf } from '../base/world/redes.ts';
import { type Collector, Questions } from './collect.ts';
import { errorOf } from './failure.ts';
import { type Names, openFairLine } from './fair-line.ts';
import type { AsideMessage, AsideReport, QuotaAnswer, QuotaAsked } from './large-body-thread.ts';
import type { Logger } from './log.ts';
import { endBeforeStoring, newStage } from './request-stage.ts';
import type { ThreadSettings } from './thread.ts';

const LOOK_MS = 100;
const STOP_MS = 15_000;
/** A thread without requests for so long is ended: it holds 50 MB, and another one is there in half a second (D-871). */
const IDLE_MS = 300_000;
/** Megabytes of the young generation, for documents that live as long as a request. */
const YOUNG_MB = 32;

type Answered = Extract<AsideReport, { kind: 'answer' }>['answer'] | AsideTrouble;
type Waiting = {
  readonly call: AsideCall;
  readonly quota: AsideSender['quota'];
  readonly resolve: (answer: Answered) => void;
  readonly reject: (error: Error) => void;
};

export type AsideOptions = {
  readonly onStored: OnStored;
  readonly wake: (tenant: string) => void;
  /** Collects the counters of the thread. */
  readonly collector?: Collector;
  /** The limit of processor time; read at each look. */
  readonly cpuMaxMs?: () => number;
  readonly idleMs?: number;
};

/** Holds the thread, and the requests that wait for it. */
export class AsideThread implements Aside {
  private readonly settings: ThreadSettings;
  private readonly log: Logger;
  private readonly options: AsideOptions;
  private readonly waiting = openFairLine<Waiting>(SALAS.corpos_grandes);
  private thread: Thread | undefined;
  private isReady = false;
  private isStopping = false;
  private current: Waiting | undefined;
  private idle: NodeJS.Timeout | undefined;

  constructor(settings: ThreadSettings, log: Logger, options: AsideOptions) {
    this.settings = settings;
    this.log = log;
    this.options = options;
  }

  readonly answer = ((call: AsideCall, { client, quota }: AsideSender): Promise<Answered> => {
    if (this.isStopping) return Promise.resolve('crowded');
    return new Promise((resolve, reject) => {
      const names = namesOf(call.municipio, client);
      this.waiting.add(call.municipio.ambiente, names, { call, quota, resolve, reject })?.resolve('crowded');
      this.beginNext();
    });
  }) as Aside['answer'];

  /** Refuses all waiting and further requests as overloaded; the current one is still answered. */
  readonly turnAway = (): void => {
    this.isStopping = true;
    for (const { resolve } of this.waiting.empty()) resolve('crowded');
  };

  readonly stop = async (): Promise<void> => {
    this.turnAway();
    clearTimeout(this.idle);
    const { thread } = this;
    if (thread === undefined) return;
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    const timer = setTimeout(() => void this.thread?.terminate(), STOP_MS);
    post(thread, { kind: 'stop' });
    await ended;
    clearTimeout(timer);
  };

  private beginNext(): void {
    if (this.current !== undefined || this.waiting.size === 0 || this.isStopping) return;
    clearTimeout(this.idle);
    this.thread ??= this.start();
    if (!this.isReady) return;
    this.current = this.waiting.next()!;
    const stage = newStage();
    const { call, quota } = this.current;
    post(this.thread, { kind: 'call', call, stage, isCounted: quota !== undefined });
    const watched = this.watch(this.thread, this.current, stage);
    watched.catch(ignoring('a thread that ends during a look is handled by its exit event'));
  }

  private start(): Thread {
    this.isReady = false;
    const started = new Thread(new URL('./large-body-thread.ts', import.meta.url), {
      workerData: this.settings,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    // A terminated thread may still report the documents that it has stored, and nothing else.
    started.on('message', (report: AsideReport) => {
      if (this.thread === started || report.kind === 'stored' || report.kind === 'wake') this.receive(report);
    });
    started.on('error', (error) =>
      this.log.error({ err: error }, 'a parte do serviço que atende os corpos grandes falhou'),
    );
    const leave = this.measure(started);
    started.on('exit', () => {
      leave();
      if (this.thread !== started) return;
      this.thread = undefined;
      this.settle(({ reject }) => reject(new Error('the thread of large bodies ended')));
    });
    return started;
  }

  /** Registers the counters of a thread until it has ended; a thread with an expensive request answers late. */
  private measure(thread: Thread): () => void {
    const { collector } = this.options;
    if (collector === undefined) return () => undefined;
    const { processo } = collector;
    const questions = new Questions();
    thread.on('message', (report: AsideReport) => {
      if (report.kind === 'measured') questions.answer(report.asked, report.snapshot);
    });
    const ask = () => questions.ask((asked) => post(thread, { kind: 'measure', asked, processo }));
    return collector.add({ processo, parte: 'corpos_grandes', ask, isOftenBusy: true });
  }

  private receive(report: AsideReport): void {
    if (report.kind === 'stored') this.options.onStored(report.tenant, report.documents);
    else if (report.kind === 'wake') this.options.wake(report.tenant);
    else if (report.kind === 'quota') this.askQuota(report.asked);
    else if (report.kind === 'answer') this.settle(({ resolve }) => resolve(report.answer));
    else if (report.kind === 'failure') this.settle(({ reject }) => reject(errorOf(report.error)));
    else if (report.kind === 'ready') {
      this.isReady = true;
      this.beginNext();
    }
  }

  /** Queries the quota of the sender, which is counted in this thread, and posts its answer. */
  private async askQuota({ name, args }: QuotaAsked): Promise<void> {
    const { thread, current } = this;
    const answer = await (current!.quota![name] as (...args: QuotaAsked['args']) => QuotaAnswer)(...args);
    if (thread !== undefined && this.thread === thread && this.current === current)
      post(thread, { kind: 'quota', answer });
  }

  private settle(how: (one: Waiting) => void): void {
    const one = this.current;
    this.current = undefined;
    if (one !== undefined) how(one);
    this.beginNext();
    if (this.current === undefined) this.endIfIdle();
  }

  /** A request that comes after the order to end gets another thread. */
  private endIfIdle(): void {
    clearTimeout(this.idle);
    const { idleMs = IDLE_MS } = this.options;
    this.idle = setTimeout(() => {
      const { thread } = this;
      if (thread === undefined || this.isStopping) return;
      this.thread = undefined;
      post(thread, { kind: 'stop' });
    }, idleMs).unref();
  }

  /**
   * Terminates the thread if its request takes too long; the next request gets a new one. A request that is being stored is not terminated.
   */
  private async watch(on: Thread, one: Waiting, stage: Int32Array): Promise<void> {
    const { cpuMaxMs = () => ASIDE_CPU_MAX_MS } = this.options;
    const isOver = (): boolean => this.current !== one || this.thread !== on;
    const before = await on.cpuUsage();
    while (!isOver()) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_MS, cpuMaxMs())));
      const { user, system } = await on.cpuUsage(before);
      if (isOver() || user + system < cpuMaxMs() * 1_000) continue;
      if (!endBeforeStoring(stage)) return;
      const { route, municipio, body } = one.call;
      this.log.warn({ route, tenant: municipio.tenant, bytes: body.length }, 'um pedido caro demais foi encerrado');
      this.thread = undefined;
      await on.terminate();
      this.settle(({ resolve }) => resolve('too_dear'));
    }
  }
}

/**
 * The names for the turns: senders first; the municipalities of one sender share its turns, because anybody may send to any of them. A
 * sender is its widest network: a /48 would count as thousands of single addresses.
 */
function namesOf({ tenant }: { readonly tenant: string }, client: string): Names {
  return [networksOf(client).at(-1)!.name, tenant];
}

function post(thread: Thread, message: AsideMessage): void {
  thread.postMessage(message);
}
