/**
 * The worker in a thread of its own: it uses about as much processor time as issuing. Its state is in the database; a dead thread is
 * started again and continues.
 */
import type { OnStored } from '../base/book/recent.ts';
import { openWorld } from './open-world.ts';
import { createStore } from './store.ts';
import { enterThread, type MeasureAsked, type Measured, type ThreadSettings } from './thread.ts';

/** `pollMs`: the worker's poll interval, if not the default. `isSecond`: another worker performs the single tasks. */
export type WorkerSettings = ThreadSettings & { readonly pollMs?: number; readonly isSecond?: boolean };

/**
 * Messages to the thread, which come gathered: documents stored by a commit (which saves a reading); an announced claim; a wake-up; a query for its counters;
 * the order to end.
 */
export type WorkerMessage =
  | {
      readonly kind: 'stored';
      readonly tenant: string;
      readonly documents: Parameters<OnStored>[1];
      readonly claim: Parameters<OnStored>[2];
    }
  | { readonly kind: 'wake'; readonly tenant: string }
  | MeasureAsked
  | { readonly kind: 'stop' };

/** The message from the thread: how many notas may be announced when they are stored (`OnLeave`). */
type Leave = { readonly kind: 'leave'; readonly tenant: string | undefined; readonly notas: number };
export type FromWorker = Leave | Measured;

const { port, settings, log, pool, end, measure } = await enterThread<WorkerSettings>('transmissao');
const { world, startWorker, close } = openWorld(createStore(pool), log);
const worker = await startWorker({
  pollMs: settings.pollMs,
  isSecond: settings.isSecond,
  onLeave: (tenant, notas) => port.postMessage({ kind: 'leave', tenant, notas } satisfies Leave),
});

port.on('message', (messages: readonly WorkerMessage[]) => {
  for (const message of messages) obey(message);
});

function obey(message: WorkerMessage): void {
  if (message.kind === 'stop') void end(close);
  else if (message.kind === 'measure') void measure(message);
  else if (message.kind === 'wake') worker.wake(message.tenant);
  else {
    const { tenant, documents, claim } = message;
    world.store.notas.keepForTransmission(tenant, documents);
    if (claim !== undefined) worker.take(tenant, claim);
  }
}
