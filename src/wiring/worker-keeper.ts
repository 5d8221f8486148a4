/** Keeps the thread of the worker running beside the doors, and takes it down in order. */
import { Worker as Thread } from 'node:worker_threads';
import type { Announce } from '../base/book/claim-notas.ts';
import type { OnStored } from '../base/book/recent.ts';
import { Leaves } from '../base/delivery/announced.ts';
import { gatherTurn } from '../base/delivery/wake.ts';
import { type Collector, countRestart, Questions } from './collect.ts';
import type { Logger } from './log.ts';
import type { FromWorker, WorkerMessage, WorkerSettings } from './worker-thread.ts';

const RESTART_MS = 1_000;
/** The time limit for a batch under way; the next worker delivers the rest when its claim has expired. */
const STOP_MS = 45_000;
/** Megabytes of the young generation. Lots are short-lived; less room would have them copied to the old generation. */
const YOUNG_MB = 48;

export type Transmitter = {
  readonly onStored: OnStored;
  /** Asks whether new notas will be sent at once, and may thus be announced when they are stored. */
  readonly announce: Announce;
  /** Something of a tenant was made due in this thread: the worker looks at once. */
  wake(tenant: string): void;
  stop(): Promise<void>;
};

/** `collector`: collects the counters of the thread. */
export function startTransmitterThread(settings: WorkerSettings, log: Logger, collector?: Collector): Transmitter {
  let stopping = false;
  let thread: Thread;
  let ended: Promise<void>;
  const leaves = new Leaves();
  const start = (): void => {
    thread = new Thread(new URL('./worker-thread.ts', import.meta.url), {
      workerData: settings,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const questions = new Questions();
    const processo = collector?.processo ?? '';
    const ask = () => questions.ask((asked) => post({ kind: 'measure', asked, processo }));
    const leave = collector?.add({ processo, parte: 'transmissao', ask });
    thread.on('message', (message: FromWorker) => {
      if (message.kind === 'leave') leaves.give(message.tenant, message.notas);
      else questions.answer(message.asked, message.snapshot);
    });
    thread.on('error', (error) =>
      log.error({ err: error }, 'a parte do serviço que transmite ao ADN falhou; é iniciada de novo'),
    );
    ended = new Promise((resolve) => {
      thread.once('exit', () => {
        resolve();
        leaves.clear();
        leave?.();
        if (stopping) return;
        countRestart('transmissao');
        setTimeout(start, RESTART_MS).unref();
      });
    });
  };
  /** Tenants with a wake-up among the gathered messages. */
  const rung = new Set<string>();
  const post = gatherTurn<WorkerMessage>((messages) => {
    rung.clear();
    thread.postMessage(messages);
  });
  start();
  return {
    onStored: (tenant, documents, claim) => post({ kind: 'stored', tenant, documents, claim }),
    announce: leaves.announce,
    wake: (tenant) => {
      if (rung.has(tenant)) return;
      rung.add(tenant);
      post({ kind: 'wake', tenant });
    },
    stop: async () => {
      stopping = true;
      post({ kind: 'stop' });
      const timer = setTimeout(() => void thread.terminate(), STOP_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
