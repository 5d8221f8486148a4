/**
 * The structured log: one JSON line an entry on standard error, so that standard output stays for people. The only
 * user of pino. Who logs decides what to say; personal data, documents and keys are not said at all.
 */
import pino from 'pino';

export type Logger = pino.Logger;

/** Entries are written in blocks of this many bytes, because a write a request would be a system call a request. */
const BLOCK_BYTES = 4096;
const FLUSH_MS = 500;

export function createLog(level: string): { log: Logger; flush: () => void } {
  const destination = pino.destination({ dest: 2, sync: false, minLength: BLOCK_BYTES, periodicFlush: FLUSH_MS });
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return {
    log,
    flush: () => {
      try {
        destination.flushSync();
      } catch {
        // The destination is not open yet, or closed already: there is nothing to write.
      }
    },
  };
}
