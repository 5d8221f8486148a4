/** Failures that a repetition cures, by SQLSTATE, or by the messages of `pg` and sockets without one (D-248). */

/**
 * `gone`: no answer; `restarting`: it will be back soon; `closed`: the municipality is closed; most others name an obstacle to writing.
 * `node_gone`: a node of a Citus does not answer; its tenants wait while others go on. `archived`: the archive of past months cannot be
 * read. `queued`: earlier batches took too long, and its turn did not come.
 */
export type Unavailability =
  | 'gone'
  | 'node_gone'
  | 'restarting'
  | 'full'
  | 'crowded'
  | 'exhausted'
  | 'read_only'
  | 'closed'
  | 'denied'
  | 'archived'
  | 'slow'
  | 'queued'
  | 'locked'
  | 'conflict';

/** A failure that was detected in this program. */
export class StoreUnavailable extends Error {
  readonly kind: Unavailability;

  constructor(kind: Unavailability, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** The embedded server runs and does not answer. The message tells the operator the remedy. */
export class EmbutidoMudo extends StoreUnavailable {
  constructor(message: string, cause: unknown) {
    super('gone', message, cause);
  }
}

/** The municipality is closed for writing, or no longer exists. */
export class MunicipioClosed extends StoreUnavailable {
  constructor(tenant: string) {
    super('closed', `the municipality ${tenant} is closed`);
  }
}

/** The connection was lost after `commit` was sent, so the outcome of the commit is unknown. */
export class UncertainCommit extends StoreUnavailable {
  constructor(cause: unknown) {
    super(unavailabilityOf(cause) ?? 'gone', 'nobody knows what was committed', cause);
  }
}

/**
 * A statement that always writes a row wrote none. The municipality no longer exists, or Citus split its shard while the statement waited.
 * Citus then does nothing and reports no error.
 */
export class NotWritten extends StoreUnavailable {
  constructor(message: string) {
    super('locked', message);
  }
}

/** Kinds by SQLSTATE or its beginning; the first match counts. */
const BY_SQLSTATE: readonly (readonly [begins: string, kind: Unavailability])[] = [
  ['53100', 'full'],
  ['53300', 'crowded'],
  ['53', 'exhausted'],
  // A server that reports this code means another node. A client that lost its own connection has no SQLSTATE.
  ['08006', 'node_gone'],
  ['08', 'gone'],
  ['57P', 'restarting'],
  ['25006', 'read_only'],
  // The server ended the transaction because we were too slow.
  ['25P03', 'slow'],
  ['25P04', 'slow'],
  ['57014', 'slow'],
  ['55P03', 'locked'],
  ['40', 'conflict'],
  // The password or the name of the database was changed. The administrator will complete that change, and the client cannot.
  ['28', 'denied'],
  ['3D000', 'denied'],
];

/** Codes of a host that is unreachable, or not found at the moment. */
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

/** Messages of `pg` about a lost connection, or one that was not opened in time. They have no code. */
const OF_PG =
  /^(?:Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed)|Cannot use a pool after)/;

/** Message of `pg` if the server asks for a password and none is given. */
const NO_PASSWORD = /^SASL: .*client password must be a /;

/** Messages of Citus about a node lost at the end of a transaction, under the code of an internal error. */
const OF_CITUS = /^(?:could not commit transaction for shard|failure on connection marked as essential)/;

/** Message of Citus about a shard that was moved or split just before a statement used it. It has the same code. */
const OF_A_MOVE = /^could not find valid entry for shard /;

/** Message of PgBouncer about too many clients. Its code (08P01) covers all of its refusals. */
const POOLER_FULL = /^(?:no more connections allowed|client connections exceeded) \(max_/;

/** Undefined if a repetition would fail again: a bug of ours, or a value that the database refuses. */
export function unavailabilityOf(error: unknown): Unavailability | undefined {
  if (error instanceof StoreUnavailable) return error.kind;
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (POOLER_FULL.test(error.message)) return 'crowded';
  const row = isSqlState(code) ? BY_SQLSTATE.find(([begins]) => code.startsWith(begins)) : undefined;
  if (row !== undefined) return row[1];
  if (isWithoutPassword(error)) return 'denied';
  if (OF_CITUS.test(error.message)) return 'node_gone';
  if (OF_A_MOVE.test(error.message)) return 'locked';
  // The socket file of a server that is not running. A missing file is a bug in any other case.
  const isSocket = OF_SOCKETS.has(code ?? '') || (code === 'ENOENT' && syscall === 'connect');
  return isSocket || OF_PG.test(error.message) ? 'gone' : undefined;
}

export function isWithoutPassword(error: Error): boolean {
  return NO_PASSWORD.test(error.message);
}

/** Whether the code is a SQLSTATE, which proves that a server answered. */
export function isSqlState(code: unknown): code is string {
  // The digit excludes `EPIPE`.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
}

/** Whether a statement exceeded its own `query_timeout`, for which `pg` has no code. */
export function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

export function isLocked(error: unknown): boolean {
  return unavailabilityOf(error) === 'locked';
}
