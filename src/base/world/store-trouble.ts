/**
 * Messages about failures that a repetition cures, for every door: the obstacle, and the time of the next attempt. Any other failure is a
 * bug of ours, and has no message.
 */
import { NoServer } from '../pg/servers.ts';
import { type Unavailability, UncertainCommit, unavailabilityOf } from '../pg/unavailable.ts';
import type { Log, World } from './world.ts';

/** `esperaS`: seconds after which a repetition is useful. */
export type StoreTrouble = { readonly mensagem: string; readonly esperaS: number };

/** A database comes back within seconds, or not by itself; a lock is released sooner. */
export const STORE_WAIT_S = 5;
const LOCK_WAIT_S = 2;
/** A person must mount a disk again. */
const ARCHIVE_WAIT_S = 60;
/** Moving a municipality takes minutes. */
const CLOSED_WAIT_S = 30;

const TROUBLES: Readonly<Record<Unavailability, StoreTrouble>> = {
  gone: { mensagem: 'O banco de dados não responde.', esperaS: STORE_WAIT_S },
  node_gone: { mensagem: 'O nó do banco de dados em que está este município não responde.', esperaS: STORE_WAIT_S },
  restarting: { mensagem: 'O banco de dados está sendo reiniciado.', esperaS: STORE_WAIT_S },
  full: { mensagem: 'O banco de dados está sem espaço em disco.', esperaS: STORE_WAIT_S },
  crowded: { mensagem: 'O banco de dados não aceita mais conexões.', esperaS: STORE_WAIT_S },
  exhausted: { mensagem: 'O banco de dados está sem recursos livres.', esperaS: STORE_WAIT_S },
  read_only: { mensagem: 'O banco de dados só aceita leituras agora.', esperaS: STORE_WAIT_S },
  closed: {
    mensagem: 'O município está fechado por quem o opera: por ora só responde consultas.',
    esperaS: CLOSED_WAIT_S,
  },
  denied: { mensagem: 'O banco de dados não deixa este serviço entrar.', esperaS: STORE_WAIT_S },
  archived: { mensagem: 'O arquivo dos meses encerrados não pode ser lido agora.', esperaS: ARCHIVE_WAIT_S },
  slow: { mensagem: 'O banco de dados demorou demais.', esperaS: STORE_WAIT_S },
  queued: {
    mensagem:
      'O que chegou antes ao mesmo município ainda está sendo gravado. Nada do que foi enviado agora foi gravado.',
    esperaS: STORE_WAIT_S,
  },
  locked: { mensagem: 'Outra gravação ocupa os dados de que esta precisa.', esperaS: LOCK_WAIT_S },
  conflict: { mensagem: 'Outra gravação dos mesmos dados chegou no mesmo momento.', esperaS: LOCK_WAIT_S },
};

/** The outcome of the commit is unknown. */
const MAY_BE_STORED =
  'O que foi enviado pode ter sido gravado: envie de novo o mesmo, com o mesmo número ou a mesma Idempotency-Key, e nada se duplica.';

/** Undefined if a repetition would fail again. */
export function storeTroubleOf(error: unknown): StoreTrouble | undefined {
  const kind = unavailabilityOf(error);
  if (kind === undefined) return undefined;
  const trouble = TROUBLES[kind];
  return error instanceof UncertainCommit ? { ...trouble, mensagem: `${trouble.mensagem} ${MAY_BE_STORED}` } : trouble;
}

/** Result of {@link storeTroubleOf}, with `gone` as the default for an unknown error of the database. */
export function troubleOfStore(error: unknown): StoreTrouble {
  return storeTroubleOf(error) ?? TROUBLES.gone;
}

/** Whether the failure ends when the database is back. A slow statement may be as slow the next time. */
export function isPassing(error: unknown): boolean {
  const kind = unavailabilityOf(error);
  return kind !== undefined && kind !== 'slow';
}

/** The current obstacle to writing to the database; undefined: none. */
export async function askStore(world: World): Promise<StoreTrouble | undefined> {
  try {
    await world.store.ping();
    return undefined;
  } catch (error) {
    return troubleOfStore(error);
  }
}

/** Each kind of trouble gets one line at most in this time. */
const TELL_EVERY_MS = 5_000;

/** Number of occurrences of each kind since its last line. */
const countsOf = new WeakMap<Log, Map<string, number>>();

/**
 * Logs a failure. A temporary failure of the database is logged once, without a stack trace, and then with its count. Any other failure
 * needs attention and is logged each time. `message`: follows the obstacle, in Portuguese.
 */
export function tellTrouble(log: Log, error: unknown, about: object, message: string): void {
  const trouble = storeTroubleOf(error);
  if (trouble === undefined) log.error({ err: error, ...about }, message);
  else tellSeldom(log, { ...about, ...causeOf(error) }, `${trouble.mensagem} Por isso ${message}`);
}

/**
 * Logs the first occurrence at once, and later the number of the following ones. `message`: names the kind, without details of one
 * occurrence.
 */
export function tellSeldom(log: Log, about: object, message: string): void {
  const counts = countsOf.getOrInsertComputed(log, () => new Map());
  const count = counts.get(message);
  counts.set(message, (count ?? -1) + 1);
  if (count !== undefined) return;
  log.warn(about, message);
  const tell = (): void => {
    const times = counts.get(message)!;
    counts.delete(message);
    if (times === 0) return;
    log.warn({ times }, message);
    counts.set(message, 0);
    setTimeout(tell, TELL_EVERY_MS).unref();
  };
  setTimeout(tell, TELL_EVERY_MS).unref();
}

/** The code of the database or the socket, if any; the message of each server if there are several. */
function causeOf(error: unknown): { readonly code: string | undefined } | { readonly motivo: string } {
  if (error instanceof NoServer) return { motivo: error.message };
  if (unavailabilityOf(error) === 'archived') return { motivo: (error as Error).message };
  const { code, cause } = error as { readonly code?: string; readonly cause?: { readonly code?: string } };
  return { code: code ?? cause?.code };
}
