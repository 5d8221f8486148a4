/** What every thread of the service begins and ends with: its port, its settings, its log and its connections to the database. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Connection } from '../store/servers.ts';
import { createLog } from './log.ts';
import { openLoggedPool } from './logged-pool.ts';

export type ThreadSettings = { readonly connection: Connection; readonly logLevel: string };

/** `end`: closes what the thread has opened besides, its connections and its log, and lets the thread end. */
export function enterThread<Settings extends ThreadSettings>() {
  const port = parentPort;
  if (port === null) throw new Error('this file is started as a thread');
  const settings = workerData as Settings;
  const { log, flush } = createLog(settings.logLevel);
  const pool = openLoggedPool(settings.connection, log);
  const end = async (close: () => Promise<void>): Promise<void> => {
    try {
      await close();
      await pool.end();
    } finally {
      flush();
      port.close();
    }
  };
  return { port, settings, log, pool, end };
}
