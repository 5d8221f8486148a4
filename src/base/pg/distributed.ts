/** Which pools lead to the coordinator of a Citus, of which some questions are asked in another form. */
import type { Pool } from './pg.ts';

/** SQL: whether Citus is in the database of a session. */
export const IS_DISTRIBUTED = `exists (select from pg_extension where extname = 'citus')`;

const coordinators = new WeakSet<object>();

export function noteCoordinator(client: object): void {
  coordinators.add(client);
}

/** Has every new connection of a pool asked, ahead of all that it is asked later; behind a pooler it was as it was made (`pooled.ts`). */
export function noteCoordinators(pool: Pool, isPooled = false): void {
  pool.on('connect', (client) => {
    if (isPooled) {
      if (coordinators.has(client)) coordinators.add(pool);
      return;
    }
    // What fails here fails for who asks next.
    client.query<{ is: boolean }>(`select ${IS_DISTRIBUTED} as is`).then(
      ({ rows }) => void (rows[0]!.is && coordinators.add(pool)),
      () => undefined,
    );
  });
}

/** Whether a pool does, as far as its connections have answered. */
export function isDistributed(pool: Pool): boolean {
  return coordinators.has(pool);
}
