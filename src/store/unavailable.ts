/** Failures that a repetition cures: by SQLSTATE, or by what `pg` and sockets say where there is none. */

/** `gone`: it does not answer; `restarting`: it is about to be there again; the others are about what it does not take just now. */
export type Unavailability =
  | 'gone'
  | 'restarting'
  | 'full'
  | 'crowded'
  | 'exhausted'
  | 'read_only'
  | 'denied'
  | 'slow'
  | 'locked'
  | 'conflict';

/** A failure that was found out here. */
export class StoreUnavailable extends Error {
  readonly kind: Unavailability;

  constructor(kind: Unavailability, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** The connection was lost after `commit` was sent: what it was to store is there, or is not. */
export class UncertainCommit extends StoreUnavailable {
  constructor(cause: unknown) {
    super(unavailabilityOf(cause) ?? 'gone', 'nobody knows what was committed', cause);
  }
}

/** By SQLSTATE, or by the beginning of one: the first that fits. */
const BY_SQLSTATE: readonly (readonly [begins: string, kind: Unavailability])[] = [
  ['53100', 'full'],
  ['53300', 'crowded'],
  ['53', 'exhausted'],
  ['08', 'gone'],
  ['57P', 'restarting'],
  ['25006', 'read_only'],
  // We were too slow for the server, which ended the transaction.
  ['25P03', 'slow'],
  ['25P04', 'slow'],
  ['57014', 'slow'],
  ['55P03', 'locked'],
  ['40', 'conflict'],
  // The password was changed, the database is given another name: whoever did so has more to do, and it is not who asks.
  ['28', 'denied'],
  ['3D000', 'denied'],
];

/** Of a host that is not reached, or not found just now. */
const OF_SOCKETS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** What `pg` says of a connection that is lost, or that was not had in time; it gives these no code. */
const OF_PG =
  /^(?:Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed)|Cannot use a pool after)/;

/** Undefined where the same would fail again: a mistake of ours, or a value that the database refuses. */
export function unavailabilityOf(error: unknown): Unavailability | undefined {
  if (error instanceof StoreUnavailable) return error.kind;
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const row = isSqlState(code) ? BY_SQLSTATE.find(([begins]) => code.startsWith(begins)) : undefined;
  if (row !== undefined) return row[1];
  // The socket file of a server that is not up; of any other file it is a mistake.
  const isSocket = OF_SOCKETS.has(code ?? '') || (code === 'ENOENT' && syscall === 'connect');
  return isSocket || OF_PG.test(error.message) ? 'gone' : undefined;
}

/** Whether the server itself said so; who says something is there. */
export function isSqlState(code: unknown): code is string {
  // With a digit, which `EPIPE` has not.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
}

export function isLocked(error: unknown): boolean {
  return unavailabilityOf(error) === 'locked';
}
