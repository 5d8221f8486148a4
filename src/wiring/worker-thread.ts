/**
 * The worker in a thread of its own: it takes about as much of a processor as issuing does. What it knows is in the database; a thread that
 * dies is started again and goes on.
 */
import type { OnStored } from '../base/book/recent.ts';
import { openWorld } from './open-world.ts';
import { createStore } from './store.ts';
import { enterThread, type MeasureAsked, type Measured, type ThreadSettings } from './thread.ts';

/** `pollMs`: how often the worker looks by itself, where that is not as usual. `isSecond`: another one does what is done once for all. */
export type WorkerSettings = ThreadSettings & { readonly pollMs?: number; readonly isSecond?: boolean };

/** To the thread: what a commit has stored (which saves a reading) or announced, that something is due, a question, or that it is time to end. */
export type WorkerMessage =
  | {
      readonly kind: 'stored';
      readonly tenant: string;
      readonly documents: Parameters<OnStored>[1];
      readonly claim: Parameters<OnStored>[2];
    }
  | { readonly kind: 'wake'; readonly tenants: readonly string[] }
  | MeasureAsked
  | { readonly kind: 'stop' };

/** From the thread: how many notas of a tenant may be announced as they are stored. */
type Leave = { readonly kind: 'leave'; readonly tenant: string; readonly notas: number };
export type FromWorker = Leave | Measured;

const { port, settings, log, pool, end, measure } = await enterThread<WorkerSettings>('transmissao');
const { world, startWorker, close } = openWorld(createStore(pool), log);
const worker = startWorker({
  pollMs: settings.pollMs,
  isSecond: settings.isSecond,
  onLeave: (tenant, notas) => port.postMessage({ kind: 'leave', tenant, notas } satisfies Leave),
});

port.on('message', (message: WorkerMessage) => {
  if (message.kind === 'stop') void end(close);
  else if (message.kind === 'measure') void measure(message);
  else if (message.kind === 'wake') for (const tenant of message.tenants) worker.wake(tenant);
  else {
    const { tenant, documents, claim } = message;
    world.store.notas.keepForTransmission(tenant, documents);
    if (claim !== undefined) worker.take(tenant, claim);
  }
});
