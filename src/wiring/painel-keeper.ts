/** Runs the thread of the console beside the doors, and stops it in order. The service continues if the thread fails. */
import { Worker as Thread } from 'node:worker_threads';
import type { Connection } from '../base/pg/servers.ts';
import { type Collector, countRestart } from './collect.ts';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import type { FromPainel, PainelOpen, PainelSettings, ToPainel } from './painel-thread.ts';

const RESTART_MS = 5_000;
/** The time limit for downloads under way. */
const STOP_MS = 15_000;
/** A few operators ask at a time, and an export reads beside them. */
const CONNECTIONS = 4;

/** The result for the starter of the service: the console's address, the reason why it is closed, or that it is not wanted. */
export type PainelTold = PainelOpen | { readonly problem: string } | undefined;

export type Painel = {
  /** The state at the start. */
  readonly told: PainelTold;
  stop(): Promise<void>;
};

/** The dependencies of the console. `wake`: something of a tenant was made due. `collector`: has the counters of all parts. */
export type PainelNeeds = {
  readonly wake: (tenant: string) => void;
  readonly collector: Collector;
};

/** Resolves once the console is open, or is known to be closed. */
export async function startPainel(
  { painel, logLevel }: Pick<Config, 'painel' | 'logLevel'>,
  connection: Connection,
  log: Logger,
  { wake, collector }: PainelNeeds,
): Promise<Painel> {
  if (painel.port === 0) return { told: undefined, stop: async () => undefined };
  const { processo } = collector;
  const settings: PainelSettings = { connection: { ...connection, max: CONNECTIONS }, logLevel, processo };
  const first = Promise.withResolvers<PainelTold>();
  let isEnding = false;
  let thread: Thread;
  let ended: Promise<void>;
  const hear = (message: FromPainel): void => {
    if (message.kind === 'wake') wake(message.tenant);
    else if (message.kind === 'collect') void answer(message.asked);
    else if (message.kind === 'open') first.resolve(message.painel);
    else {
      log.warn(`o console do município não abriu: ${message.problem}. O serviço segue sem ele`);
      isEnding = true;
      first.resolve({ problem: message.problem });
      thread.postMessage({ kind: 'stop' } satisfies ToPainel);
    }
  };
  const answer = async (asked: number): Promise<void> => {
    thread.postMessage({ kind: 'collected', asked, snapshot: await collector.collect() } satisfies ToPainel);
  };
  const start = (): void => {
    thread = new Thread(new URL('./painel-thread.ts', import.meta.url), {
      workerData: settings,
      // The library of passkeys queries algorithms that Node marks as experimental, with a warning.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    thread.on('message', hear);
    thread.on('error', (error: Error) => {
      log.error({ err: error }, 'o console do município falhou; é aberto de novo');
      first.resolve({ problem: error.message });
    });
    ended = new Promise((resolve) => {
      thread.once('exit', () => {
        resolve();
        if (isEnding) return;
        countRestart('painel');
        setTimeout(start, RESTART_MS).unref();
      });
    });
  };
  start();
  return {
    told: await first.promise,
    stop: async () => {
      isEnding = true;
      thread.postMessage({ kind: 'stop' } satisfies ToPainel);
      const timer = setTimeout(() => void thread.terminate(), STOP_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
