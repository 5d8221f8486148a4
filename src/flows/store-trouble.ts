/**
 * What is said of a failure that a repetition cures, in the words of every door: what stands in the way, and when to come again.
 * Anything else is a mistake of ours, and is not told.
 */
import { type Unavailability, UncertainCommit, unavailabilityOf } from '../store/unavailable.ts';
import type { World } from './world.ts';

/** `esperaS`: seconds after which it is worth sending again. */
export type StoreTrouble = { readonly mensagem: string; readonly esperaS: number };

/** A database comes back within seconds, or not by itself; a lock is let go sooner. */
export const STORE_WAIT_S = 5;
const LOCK_WAIT_S = 2;

const TROUBLES: Readonly<Record<Unavailability, StoreTrouble>> = {
  gone: { mensagem: 'O banco de dados não responde.', esperaS: STORE_WAIT_S },
  restarting: { mensagem: 'O banco de dados está sendo reiniciado.', esperaS: STORE_WAIT_S },
  full: { mensagem: 'O banco de dados está sem espaço em disco.', esperaS: STORE_WAIT_S },
  crowded: { mensagem: 'O banco de dados não aceita mais conexões.', esperaS: STORE_WAIT_S },
  exhausted: { mensagem: 'O banco de dados está sem recursos livres.', esperaS: STORE_WAIT_S },
  read_only: { mensagem: 'O banco de dados só aceita leituras agora.', esperaS: STORE_WAIT_S },
  denied: { mensagem: 'O banco de dados não deixa este serviço entrar.', esperaS: STORE_WAIT_S },
  slow: { mensagem: 'O banco de dados demorou demais.', esperaS: STORE_WAIT_S },
  locked: { mensagem: 'Outra gravação ocupa os dados de que esta precisa.', esperaS: LOCK_WAIT_S },
  conflict: { mensagem: 'Outra gravação dos mesmos dados chegou no mesmo momento.', esperaS: LOCK_WAIT_S },
};

/** Where nobody can say what became of it. */
const MAY_BE_STORED =
  'O que foi enviado pode ter sido gravado: envie de novo o mesmo, com o mesmo número ou a mesma Idempotency-Key, e nada se duplica.';

/** Undefined where the same would fail again. */
export function storeTroubleOf(error: unknown): StoreTrouble | undefined {
  const kind = unavailabilityOf(error);
  if (kind === undefined) return undefined;
  const trouble = TROUBLES[kind];
  return error instanceof UncertainCommit ? { ...trouble, mensagem: `${trouble.mensagem} ${MAY_BE_STORED}` } : trouble;
}

/** As {@link storeTroubleOf}, of a database that does not say what it wants. */
export function troubleOfStore(error: unknown): StoreTrouble {
  return storeTroubleOf(error) ?? TROUBLES.gone;
}

/** Whether it is over when the database is there again. What takes too long may take as long the next time. */
export function isPassing(error: unknown): boolean {
  const kind = unavailabilityOf(error);
  return kind !== undefined && kind !== 'slow';
}

/** What keeps the database from being written to just now; undefined: nothing. */
export async function askStore(world: World): Promise<StoreTrouble | undefined> {
  try {
    await world.store.ping();
    return undefined;
  } catch (error) {
    return troubleOfStore(error);
  }
}

/** Logs a failure of the worker: a database that cannot be used just now comes back; anything else wants somebody's attention. */
export function tellTrouble({ log }: World, error: unknown, about: object, message: string): void {
  const trouble = storeTroubleOf(error);
  if (trouble === undefined) log.error({ err: error, ...about }, message);
  else log.warn({ err: error, ...about }, `${trouble.mensagem} Por isso ${message}`);
}
