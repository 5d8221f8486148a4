/** Keeps the thread of the worker running beside the doors, and takes it down in order. */
import { Worker as Thread } from 'node:worker_threads';
import { ringOnce } from '../delivery/wake.ts';
import type { OnStored } from '../store/recent.ts';
import type { Logger } from './log.ts';
import type { ThreadMessage, ThreadSettings } from './worker-thread.ts';

const RESTART_MS = 1_000;
/** A batch under way has its answers within this; what it leaves is found by its lease. */
const STOP_MS = 45_000;
/** Megabytes. Lots are short-lived: without room for them they would be copied among the old. */
const YOUNG_MB = 48;

export type Transmitter = {
  readonly onStored: OnStored;
  /** Something was made due in this thread: the worker looks at once. */
  wake(): void;
  stop(): Promise<void>;
};

export function startTransmitterThread(settings: ThreadSettings, log: Logger): Transmitter {
  let stopping = false;
  let thread: Thread;
  let ended: Promise<void>;
  const start = (): void => {
    thread = new Thread(new URL('./worker-thread.ts', import.meta.url), {
      workerData: settings,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    thread.on('error', (error) =>
      log.error({ err: error }, 'a parte do serviço que transmite ao ADN falhou; é iniciada de novo'),
    );
    ended = new Promise((resolve) => {
      thread.once('exit', () => {
        resolve();
        if (!stopping) setTimeout(start, RESTART_MS).unref();
      });
    });
  };
  const say = (message: ThreadMessage): void => thread.postMessage(message);
  start();
  return {
    onStored: (tenant, documents) => say({ kind: 'stored', tenant, documents }),
    wake: ringOnce(() => say({ kind: 'wake' })),
    stop: async () => {
      stopping = true;
      say({ kind: 'stop' });
      const timer = setTimeout(() => void thread.terminate(), STOP_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
