/**
 * The worker in a thread of its own: signing, compressing and speaking with the national environment take about as much
 * of a processor as issuing does, and would take it from the requests. It knows nothing that the database does not; a
 * thread that dies is started again and goes on.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createLog } from './log.ts';
import type { OnStored } from './store/notas.ts';
import { openPool } from './store/open.ts';
import type { PoolConfig } from './store/pg.ts';
import { createStore } from './store/store.ts';
import { openWorld } from './world.ts';

export type ThreadSettings = { readonly connection: PoolConfig; readonly logLevel: string };

/** To the thread: what a commit has stored, or that it is time to end. From it: that it has ended in order. */
export type ThreadMessage =
  | { readonly kind: 'stored'; readonly tenant: string; readonly documents: Parameters<OnStored>[1] }
  | { readonly kind: 'stop' };

const port = parentPort;
if (port === null) throw new Error('this file is started as a thread');
const { connection, logLevel } = workerData as ThreadSettings;
const { log, flush } = createLog(logLevel);
const pool = openPool(connection, (error) =>
  log.warn({ err: error }, 'uma conexão ociosa com o banco se perdeu; outra é aberta'),
);
const { world, startWorker, close } = openWorld(createStore(pool), log);
startWorker();

port.on('message', (message: ThreadMessage) => {
  if (message.kind === 'stored') {
    world.store.keepForTransmission(message.tenant, message.documents);
    world.wake(message.tenant);
    return;
  }
  void end();
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
