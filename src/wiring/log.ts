/**
 * The structured log, by pino: one JSON line per entry on standard error, or a line to read at a terminal (D-828). The caller decides what
 * to log: never personal data, documents or keys.
 */
import { isatty } from 'node:tty';
import pino from 'pino';
import { ignoreError } from '../base/traces/ignoring.ts';
import { PRINT_FAILURES } from '../documents/print-failures.ts';
import { XML_DIFFERENCES, type XmlDifference } from '../documents/xml-differences.ts';

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
  PRINT_FAILURES.subscribe((error) => {
    log.error(
      { err: error },
      'a parte do serviço que imprime notas falhou; as que esperavam são impressas pelo fio que atende',
    );
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

/** The name of each level of pino. */
const LEVELS: Readonly<Record<number, string>> = {
  20: 'Detalhe',
  30: 'Informação',
  40: 'Aviso',
  50: 'Erro',
  60: 'Erro grave',
};

type Entry = {
  readonly level: number;
  readonly time: string;
  readonly msg?: string;
  readonly err?: { readonly type?: string; readonly message?: string; readonly code?: string; readonly stack?: string };
};

/** One line of JSON as a line to read: the local time, the level in words, the message, its data, and the place of an error. */
export function describeEntry(line: string): string {
  const { level, time, msg, err, ...data } = JSON.parse(line) as Entry;
  const about = Object.entries(data).map(([name, value]) => `${name}=${textOf(value)}`);
  const clock = new Date(time).toLocaleTimeString('pt-BR');
  const text = [msg, ...(err === undefined ? [] : [describeErr(err)])].filter(Boolean).join(': ');
  const details = about.length === 0 ? '' : ` (${about.join(', ')})`;
  const frames = err?.stack?.split('\n').filter((one) => /^\s+at /.test(one)) ?? [];
  return `${[`${clock} ${LEVELS[level] ?? level}: ${text}${details}`, ...frames].join('\n')}\n`;
}

function describeErr({ type, message, code }: NonNullable<Entry['err']>): string {
  return [message ?? type, code].filter(Boolean).join(' ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
