/**
 * Keeps the thread for requests with large bodies: started with the first of them, given one at a time, in turns of those who send them,
 * and ended when one takes more of the processor than a request may. What waits is bounded, so that its bodies are.
 */
import { Worker as Thread } from 'node:worker_threads';
import {
  ASIDE_CPU_MAX_MS,
  ASIDE_WAITING_MAX,
  type Aside,
  type AsideCall,
  type AsideSender,
  type AsideTrouble,
} from '../doors/rest/aside.ts';
import { networksOf } from '../doors/rest/buckets.ts';
import type { OnStored } from '../store/recent.ts';
import { openFairLine } from './fair-line.ts';
import type { AsideMessage, AsideReport, AsideSettings, Failure, QuotaAsked, QuotaSaid } from './large-body-thread.ts';
import type { Logger } from './log.ts';
import { endBeforeStoring, newStage } from './request-stage.ts';

const LOOK_MS = 100;
const STOP_MS = 15_000;
/** Megabytes, of the documents that come and go. */
const YOUNG_MB = 32;

type Answered = Extract<AsideReport, { kind: 'answer' }>['answer'] | AsideTrouble;
type Waiting = {
  readonly call: AsideCall;
  readonly quota: AsideSender['quota'];
  readonly resolve: (answer: Answered) => void;
  readonly reject: (error: Error) => void;
};

export type AsideThread = Aside & {
  /** From now on only the request under way is answered as itself; who waits, and who comes, is told that there are too many. */
  turnAway(): void;
  stop(): Promise<void>;
};

export type AsideOptions = {
  readonly onStored: OnStored;
  readonly wake: (tenant: string) => void;
  /** Asked at each look. */
  readonly cpuMaxMs?: () => number;
};

export function openAside(settings: AsideSettings, log: Logger, options: AsideOptions): AsideThread {
  const keeper = new ThreadKeeper(settings, log, options);
  return {
    answer: ((call, sender) => keeper.answer(call, sender)) as Aside['answer'],
    turnAway: () => keeper.turnAway(),
    stop: () => keeper.stop(),
  };
}

class ThreadKeeper {
  private readonly settings: AsideSettings;
  private readonly log: Logger;
  private readonly options: AsideOptions;
  private readonly waiting = openFairLine<Waiting>(ASIDE_WAITING_MAX);
  private thread: Thread | undefined;
  private isReady = false;
  private isStopping = false;
  private current: Waiting | undefined;

  constructor(settings: AsideSettings, log: Logger, options: AsideOptions) {
    this.settings = settings;
    this.log = log;
    this.options = options;
  }

  answer(call: AsideCall, { client, quota }: AsideSender): Promise<Answered> {
    if (this.isStopping) return Promise.resolve('crowded');
    return new Promise((resolve, reject) => {
      // Of a network as wide as one sender may have, or it would take a place from each of its addresses.
      const network = networksOf(client).at(-1)!.name;
      this.waiting.add(network, { call, quota, resolve, reject })?.resolve('crowded');
      this.beginNext();
    });
  }

  turnAway(): void {
    this.isStopping = true;
    for (const { resolve } of this.waiting.empty()) resolve('crowded');
  }

  async stop(): Promise<void> {
    this.turnAway();
    const { thread } = this;
    if (thread === undefined) return;
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    const timer = setTimeout(() => void this.thread?.terminate(), STOP_MS);
    say(thread, { kind: 'stop' });
    await ended;
    clearTimeout(timer);
  }

  private beginNext(): void {
    if (this.current !== undefined || this.waiting.size === 0 || this.isStopping) return;
    this.thread ??= this.start();
    if (!this.isReady) return;
    this.current = this.waiting.next()!;
    const stage = newStage();
    const { call, quota } = this.current;
    say(this.thread, { kind: 'call', call, stage, isCounted: quota !== undefined });
    // A thread that ends while it is looked at has its own way to say so.
    this.watch(this.thread, this.current, stage).catch(() => undefined);
  }

  private start(): Thread {
    this.isReady = false;
    const started = new Thread(new URL('./large-body-thread.ts', import.meta.url), {
      workerData: this.settings,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    // Of a thread that was ended only what it has stored still counts.
    started.on('message', (report: AsideReport) => {
      if (this.thread === started || report.kind === 'stored' || report.kind === 'wake') this.receive(report);
    });
    started.on('error', (error) =>
      this.log.error({ err: error }, 'a parte do serviço que atende os corpos grandes falhou'),
    );
    started.on('exit', () => {
      if (this.thread !== started) return;
      this.thread = undefined;
      this.settle(({ reject }) => reject(new Error('the thread of large bodies ended')));
    });
    return started;
  }

  private receive(report: AsideReport): void {
    if (report.kind === 'stored') this.options.onStored(report.tenant, report.documents);
    else if (report.kind === 'wake') this.options.wake(report.tenant);
    else if (report.kind === 'quota') this.askQuota(report.asked);
    else if (report.kind === 'answer') this.settle(({ resolve }) => resolve(report.answer));
    else if (report.kind === 'failure') this.settle(({ reject }) => reject(errorOf(report.error)));
    else {
      this.isReady = true;
      this.beginNext();
    }
  }

  /** The quota of a sender is counted in this thread; the other one asks. */
  private async askQuota({ name, told }: QuotaAsked): Promise<void> {
    const { thread, current } = this;
    const said = await (current!.quota![name] as (...told: QuotaAsked['told']) => QuotaSaid)(...told);
    if (thread !== undefined && this.thread === thread && this.current === current)
      say(thread, { kind: 'quota', said });
  }

  private settle(how: (one: Waiting) => void): void {
    const one = this.current;
    this.current = undefined;
    if (one !== undefined) how(one);
    this.beginNext();
  }

  /** Ends the thread that works on a request for too long; the next one gets another. What is being stored is told as it comes out. */
  private async watch(on: Thread, one: Waiting, stage: Int32Array): Promise<void> {
    const { cpuMaxMs = () => ASIDE_CPU_MAX_MS } = this.options;
    const isOver = (): boolean => this.current !== one || this.thread !== on;
    const before = await on.cpuUsage();
    while (!isOver()) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
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

function say(thread: Thread, message: AsideMessage): void {
  thread.postMessage(message);
}

function errorOf({ message, about }: Failure): Error {
  return Object.assign(new Error(message), about);
}
