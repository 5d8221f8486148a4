/** Finds the pools that lead to the coordinator of a Citus, for which some queries have another form. */
import { ignoring } from '../traces/ignoring.ts';
import type { Pool } from './pg.ts';

/** SQL: whether the database of a session has Citus. */
export const IS_DISTRIBUTED = `exists (select from pg_extension where extname = 'citus')`;

const coordinators = new WeakSet<object>();

export function noteCoordinator(client: object): void {
  coordinators.add(client);
}

/**
 * Asks every new connection of a pool before all other statements. The answer of a pooled connection is known from its opening
 * (`pooled.ts`).
 */
export function noteCoordinators(pool: Pool, isPooled = false): void {
  pool.on('connect', (client) => {
    if (isPooled) {
      if (coordinators.has(client)) coordinators.add(pool);
      return;
    }
    client
      .query<{ is: boolean }>(`select ${IS_DISTRIBUTED} as is`)
      .then(
        ({ rows }) => void (rows[0]!.is && coordinators.add(pool)),
        ignoring('it also reaches the next statement of the connection'),
      );
  });
}

/** Whether a pool leads to a coordinator, as far as its connections have answered. */
export function isDistributed(pool: Pool): boolean {
  return coordinators.has(pool);
}
