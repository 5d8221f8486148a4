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
import type { OnStored } from '../store/notas.ts';
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

export function openAside(
  workerData: AsideSettings,
  log: Logger,
  { onStored, wake, cpuMaxMs = () => ASIDE_CPU_MAX_MS }: AsideOptions,
): AsideThread {
  const waiting = openFairLine<Waiting>(ASIDE_WAITING_MAX);
  let thread: Thread | undefined;
  let isReady = false;
  let current: Waiting | undefined;
  let stopping = false;

  const settle = (how: (one: Waiting) => void): void => {
    const one = current;
    current = undefined;
    if (one !== undefined) how(one);
    next();
  };
  const tell = async ({ name, told }: QuotaAsked): Promise<void> => {
    const [asking, one] = [thread, current];
    const said = await (one!.quota![name] as (...told: QuotaAsked['told']) => QuotaSaid)(...told);
    if (asking !== undefined && thread === asking && current === one) say(asking, { kind: 'quota', said });
  };
  const heard = (report: AsideReport): void => {
    if (report.kind === 'stored') onStored(report.tenant, report.documents);
    else if (report.kind === 'wake') wake(report.tenant);
    else if (report.kind === 'quota') tell(report.asked);
    else if (report.kind === 'answer') settle(({ resolve }) => resolve(report.answer));
    else if (report.kind === 'failure') settle(({ reject }) => reject(errorOf(report.error)));
    else {
      isReady = true;
      next();
    }
  };
  const start = (): Thread => {
    isReady = false;
    const started = new Thread(new URL('./large-body-thread.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    // Of a thread that was ended only what it has stored still counts.
    started.on('message', (report: AsideReport) => {
      if (thread === started || report.kind === 'stored' || report.kind === 'wake') heard(report);
    });
    started.on('error', (error) => log.error({ err: error }, 'a parte do serviço que atende os corpos grandes falhou'));
    started.on('exit', () => {
      if (thread !== started) return;
      thread = undefined;
      settle(({ reject }) => reject(new Error('the thread of large bodies ended')));
    });
    return started;
  };
  const next = (): void => {
    if (current !== undefined || waiting.size === 0 || stopping) return;
    thread ??= start();
    if (!isReady) return;
    current = waiting.next()!;
    const stage = newStage();
    const { call, quota } = current;
    say(thread, { kind: 'call', call, stage, isCounted: quota !== undefined });
    // A thread that ends while it is looked at has its own way to say so.
    watch(thread, current, stage).catch(() => undefined);
  };
  /** Ends the thread that works on a request for too long; the next one gets another. What is being stored is told as it comes out. */
  const watch = async (on: Thread, one: Waiting, stage: Int32Array): Promise<void> => {
    const before = await on.cpuUsage();
    while (current === one && thread === on) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const { user, system } = await on.cpuUsage(before);
      if (current !== one || thread !== on || user + system < cpuMaxMs() * 1_000) continue;
      if (!endBeforeStoring(stage)) return;
      const { route, municipio, body } = one.call;
      log.warn({ route, tenant: municipio.tenant, bytes: body.length }, 'um pedido caro demais foi encerrado');
      thread = undefined;
      await on.terminate();
      settle(({ resolve }) => resolve('too_dear'));
    }
  };
  const answer = (call: AsideCall, { client, quota }: AsideSender): Promise<Answered> => {
    if (stopping) return Promise.resolve('crowded');
    return new Promise((resolve, reject) => {
      // Of a network as wide as one sender may have, or it would take a place from each of its addresses.
      const network = networksOf(client).at(-1)!.name;
      waiting.add(network, { call, quota, resolve, reject })?.resolve('crowded');
      next();
    });
  };
  const turnAway = (): void => {
    stopping = true;
    for (const { resolve } of waiting.empty()) resolve('crowded');
  };
  return {
    answer: answer as Aside['answer'],
    turnAway,
    stop: async () => {
      turnAway();
      if (thread === undefined) return;
      const ended = new Promise((resolve) => thread!.once('exit', resolve));
      const timer = setTimeout(() => void thread?.terminate(), STOP_MS);
      say(thread, { kind: 'stop' });
      await ended;
      clearTimeout(timer);
    },
  };
}

function say(thread: Thread, message: AsideMessage): void {
  thread.postMessage(message);
}

function errorOf({ message, about }: Failure): Error {
  return Object.assign(new Error(message), about);
}
