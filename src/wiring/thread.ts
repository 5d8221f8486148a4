/** The common start and end of every thread of the service: its port, its settings, its log and its connections to the database. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Snapshot, takeSnapshot, watchLoop } from '../base/measures/counters.ts';
import type { Connection } from '../base/pg/servers.ts';
import { holdOwnChaves } from './auditoria-chave.ts';
import { readOwnConfig } from './config.ts';
import { createLog } from './log.ts';
import { openLoggedPool } from './logged-pool.ts';
import { startTraces } from './traces.ts';

export type ThreadSettings = { readonly connection: Connection; readonly logLevel: string };

/** The query to a thread for its counters, and its answer. */
export type MeasureAsked = { readonly kind: 'measure'; readonly asked: number; readonly processo: string };
export type Measured = { readonly kind: 'measured'; readonly asked: number; readonly snapshot: Snapshot };

/**
 * `parte`: the name of the thread in counters and traces. `end`: closes the further resources of the thread, its connections and its log,
 * and lets the thread end.
 */
export async function enterThread<Settings extends ThreadSettings>(parte: string) {
  const port = parentPort;
  if (port === null) throw new Error('this file is started as a thread');
  const settings = workerData as Settings;
  const { log, flush } = createLog(settings.logLevel);
  const config = readOwnConfig();
  const traces = await startTraces(config, log, parte);
  await holdOwnChaves(config);
  const pool = openLoggedPool(settings.connection, log);
  watchLoop();
  const end = async (close: () => Promise<void>): Promise<void> => {
    try {
      await close();
      await pool.end();
      await traces.end();
    } finally {
      flush();
      port.close();
      if (traces.areSent) process.exit();
    }
  };
  const measure = async ({ asked, processo }: MeasureAsked): Promise<void> => {
    const snapshot = await takeSnapshot(processo, parte);
    port.postMessage({ kind: 'measured', asked, snapshot } satisfies Measured);
  };
  return { port, settings, log, pool, end, measure };
}
