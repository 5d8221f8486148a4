/** What every thread of the service begins and ends with: its port, its settings, its log and its connections to the database. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Connection } from '../store/servers.ts';
import { readOwnConfig } from './config.ts';
import { createLog } from './log.ts';
import { openLoggedPool } from './logged-pool.ts';
import { NO_TRACES, startTraces } from './traces.ts';

export type ThreadSettings = { readonly connection: Connection; readonly logLevel: string };

/** `traced`: the name of the thread in traces, where it has any. `end`: closes what the thread has opened besides, its connections and its log, and lets the thread end. */
export async function enterThread<Settings extends ThreadSettings>(traced?: string) {
  const port = parentPort;
  if (port === null) throw new Error('this file is started as a thread');
  const settings = workerData as Settings;
  const { log, flush } = createLog(settings.logLevel);
  const traces = traced === undefined ? NO_TRACES : await startTraces(readOwnConfig(), log, traced);
  const pool = openLoggedPool(settings.connection, log);
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
  return { port, settings, log, pool, end };
}
