/**
 * The structured log, by pino: one JSON line per entry on standard error, or a line to read if a person sees it. The caller decides what to
 * log: never personal data, documents or keys.
 */
import { isatty } from 'node:tty';
import pino from 'pino';
import { ignoreError } from '../base/traces/ignoring.ts';
import { XML_DIFFERENCES, type XmlDifference } from '../documents/xml-differences.ts';
import { describeEntry } from './log-lines.ts';

export type Logger = pino.Logger;

/** Entries are written in blocks of this many bytes; otherwise each request would cost a system call. */
const BLOCK_BYTES = 4096;
const FLUSH_MS = 500;
const STDERR = 2;

/** The part of an error that may be logged. Texts of the database quote values and rows, so only the names of its errors are logged. */
export function safeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const { code, severity, table, column, constraint, routine } = error as Error & Record<string, unknown>;
  if (severity === undefined) return { type: name, message, code, stack };
  const frames = stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
  return { type: 'DatabaseError', code, table, column, constraint, routine, stack: frames };
}

export function createLog(level: string): { log: Logger; flush: () => void } {
  const isRead = isatty(STDERR);
  const buffering = isRead ? { sync: true } : { sync: false, minLength: BLOCK_BYTES, periodicFlush: FLUSH_MS };
  const destination = pino.destination({ dest: STDERR, ...buffering });
  const log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: safeError } },
    isRead ? { write: (line: string) => destination.write(describeEntry(line)) } : destination,
  );
  XML_DIFFERENCES.subscribe((difference) => {
    log.fatal(difference as XmlDifference, 'as duas leituras de um XML diferem; vale a da libxml2');
  });
  return {
    log,
    flush: () => {
      try {
        destination.flushSync();
      } catch {
        ignoreError('the destination is not open yet, or already closed: there is nothing to write');
      }
    },
  };
}
