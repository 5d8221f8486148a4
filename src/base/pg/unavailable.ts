/** Failures that a repetition cures: by SQLSTATE, or by what `pg` and sockets say where there is none. */

/**
 * `gone`: it does not answer; `restarting`: it is about to be there again; `closed`: it is asked for a municipality that is; the others are
 * about what it does not take just now. `node_gone`: a node of a Citus does not answer, and its tenants wait while others go on.
 * `archived`: the archive of past months cannot be read. `queued`: others are written first, and its turn did not come.
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

/** A failure that was found out here. */
export class StoreUnavailable extends Error {
  readonly kind: Unavailability;

  constructor(kind: Unavailability, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** The embedded server is there and does not answer. The message says what to do, for the operator. */
export class EmbutidoMudo extends StoreUnavailable {
  constructor(message: string, cause: unknown) {
    super('gone', message, cause);
  }
}

/** Of a municipality that takes nothing that is written just now, or is there no more. */
export class MunicipioClosed extends StoreUnavailable {
  constructor(tenant: string) {
    super('closed', `the municipality ${tenant} is closed`);
  }
}

/** The connection was lost after `commit` was sent: what it was to store is there, or is not. */
export class UncertainCommit extends StoreUnavailable {
  constructor(cause: unknown) {
    super(unavailabilityOf(cause) ?? 'gone', 'nobody knows what was committed', cause);
  }
}

/**
 * A statement that always writes wrote nothing: the municipality is gone, or Citus was dividing its shard as the statement waited, and did
 * nothing of it without saying so.
 */
export class NotWritten extends StoreUnavailable {
  constructor(message: string) {
    super('locked', message);
  }
}

/** By SQLSTATE, or by the beginning of one: the first that fits. */
const BY_SQLSTATE: readonly (readonly [begins: string, kind: Unavailability])[] = [
  ['53100', 'full'],
  ['53300', 'crowded'],
  ['53', 'exhausted'],
  // A server that says so speaks of another: whoever has lost this one has no SQLSTATE.
  ['08006', 'node_gone'],
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

/** What it says where the server asks for a password and there is none. */
const NO_PASSWORD = /^SASL: .*client password must be a /;

/** What Citus says of a node that is lost as a transaction ends, under the code of an internal error. */
const OF_CITUS = /^(?:could not commit transaction for shard|failure on connection marked as essential)/;

/** What Citus says of a shard that was moved or divided as a statement was about to use it, under the same code. */
const OF_A_MOVE = /^could not find valid entry for shard /;

/** PgBouncer says by one code (08P01) all that it does not do; this is of one client more than it takes. */
const POOLER_FULL = /^(?:no more connections allowed|client connections exceeded) \(max_/;

/** Undefined where the same would fail again: a mistake of ours, or a value that the database refuses. */
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
  // The socket file of a server that is not up; of any other file it is a mistake.
  const isSocket = OF_SOCKETS.has(code ?? '') || (code === 'ENOENT' && syscall === 'connect');
  return isSocket || OF_PG.test(error.message) ? 'gone' : undefined;
}

export function isWithoutPassword(error: Error): boolean {
  return NO_PASSWORD.test(error.message);
}

/** Whether the server itself said so; who says something is there. */
export function isSqlState(code: unknown): code is string {
  // With a digit, which `EPIPE` has not.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
}

/** Whether the answer to a statement was not had within its own `query_timeout`, for which `pg` has no code. */
export function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

export function isLocked(error: unknown): boolean {
  return unavailabilityOf(error) === 'locked';
}
