/**
 * The worker in a thread of its own: it takes about as much of a processor as issuing does. What it knows is in the database; a thread that
 * dies is started again and goes on.
 */
import type { OnStored } from '../store/recent.ts';
import { createStore } from '../store/store.ts';
import { openWorld } from './open-world.ts';
import { enterThread, type ThreadSettings } from './thread.ts';

/** `pollMs`: how often the worker looks by itself, where that is not as usual. */
export type WorkerSettings = ThreadSettings & { readonly pollMs?: number };

/** To the thread: what a commit has stored (which saves a reading), that something is due, or that it is time to end. */
export type WorkerMessage =
  | { readonly kind: 'stored'; readonly tenant: string; readonly documents: Parameters<OnStored>[1] }
  | { readonly kind: 'wake' }
  | { readonly kind: 'stop' };

const { port, settings, log, pool, end } = enterThread<WorkerSettings>();
const { world, startWorker, close } = openWorld(createStore(pool), log);
const worker = startWorker(settings.pollMs);

port.on('message', (message: WorkerMessage) => {
  if (message.kind === 'stop') void end(close);
  else if (message.kind === 'wake') worker.wake();
  else world.store.notas.keepForTransmission(message.tenant, message.documents);
});
