/** Readies a database for this program: its schema, and the first rows and tables of the rooms that need some. */
import { ensureMesesAhead, MesesForbidden } from '../base/book/meses.ts';
import { applyMigrations } from '../base/pg/migrate.ts';
import type { Tell } from '../base/pg/migration-watch.ts';
import type { Migration } from '../base/pg/migrations.ts';
import type { Db } from '../base/pg/open.ts';
import { isLocked } from '../base/pg/unavailable.ts';
import { loadParts } from '../subjects/subjects.ts';

/**
 * Applies the missing migrations as {@link applyMigrations} does, and returns their names. It also completes the
 * schema and fills tables as the subjects announce, and creates the coming months.
 */
export async function migrate(
  pool: Db,
  tell: Tell = () => undefined,
  signal?: AbortSignal,
  all?: readonly Migration[],
): Promise<readonly string[]> {
  const applied = await applyMigrations(pool, tell, signal, all);
  for (const complete of await loadParts(({ completeSchema }) => completeSchema)) await complete(pool, tell);
  for (const fill of await loadParts(({ fillTables }) => fillTables)) await fill(pool);
  await makeMesesAhead(pool, tell);
  return applied;
}

/** A failure here does not stop the service: the existing months last for weeks, and the worker tries each day. */
async function makeMesesAhead(pool: Db, tell: Tell): Promise<void> {
  try {
    await ensureMesesAhead(pool, Date.now());
  } catch (error) {
    if (!(error instanceof MesesForbidden || isLocked(error))) throw error;
    tell(error instanceof MesesForbidden ? error.message : 'as tabelas dos próximos meses ficam para depois');
  }
}
