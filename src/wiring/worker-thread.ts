/**
 * The worker in a thread of its own: signing, compressing and speaking with the national environment take about as much
 * of a processor as issuing does, and would take it from the requests. It knows nothing that the database does not; a
 * thread that dies is started again and goes on.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { tellTrouble } from '../flows/store-trouble.ts';
import { openPool } from '../store/open.ts';
import type { PoolConfig } from '../store/pg.ts';
import type { OnStored } from '../store/recent.ts';
import { createStore } from '../store/store.ts';
import { createLog } from './log.ts';
import { openWorld } from './open-world.ts';

/** `pollMs`: how often the worker looks by itself, where that is not as usual. */
export type ThreadSettings = {
  readonly connection: PoolConfig;
  readonly logLevel: string;
  readonly pollMs?: number;
};

/** To the thread: what a commit has stored (which saves a reading), that something is due, or that it is time to end. */
export type ThreadMessage =
  | { readonly kind: 'stored'; readonly tenant: string; readonly documents: Parameters<OnStored>[1] }
  | { readonly kind: 'wake' }
  | { readonly kind: 'stop' };

const port = parentPort;
if (port === null) throw new Error('this file is started as a thread');
const { connection, logLevel, pollMs } = workerData as ThreadSettings;
const { log, flush } = createLog(logLevel);
const pool = openPool(connection, (error) =>
  tellTrouble(log, error, {}, 'uma conexão ociosa com o banco se perdeu; outra é aberta'),
);
const { world, startWorker, close } = openWorld(createStore(pool), log);
const worker = startWorker(pollMs);

port.on('message', (message: ThreadMessage) => {
  if (message.kind === 'stop') void end();
  else if (message.kind === 'wake') worker.wake();
  else world.store.notas.keepForTransmission(message.tenant, message.documents);
});

async function end(): Promise<void> {
  try {
    await close();
    await pool.end();
  } finally {
    flush();
    port!.close();
  }
}
