/**
 * Limits how long a connection keeps the plans of its named statements (`planned.ts`). All indexes look alike for an almost empty table. A
 * plan with the wrong one reads the whole tenant once the table is full (measured: a fifth of the rate). The server would notice with its
 * next statistics, or never. A pool therefore checks the sizes of the tables, and all plans are made anew after growth.
 */
import { ignoreError, ignoring } from '../traces/ignoring.ts';
import type { Pool, PoolClient } from './pg.ts';

const LOOK_EVERY_MS = 2_000;
/** One part in so many of the time goes into looking. A look takes 6 ms of the server's processor after ten years of months. */
const LOOK_SHARE = 1_000;
/** Factor of growth up to which a plan stays good. */
const GROWN = 1.5;
/** Lifetime of plans, because the sizes do not include tables on other servers. */
const PLANS_KEPT_MS = 60_000;

type Sizes = Readonly<Record<string, number>>;

/** Bytes of each table, and of each month of monthly tables; its indexes grow with it. */
const SIZES = `select json_object_agg(oid, coalesce(pg_relation_size(oid), 0)) as sizes from pg_class
  where relkind = 'r' and relnamespace = (select oid from pg_namespace where nspname = current_schema())`;

/** Makes the connections of a pool discard their plans when those are old. */
export function renewPlans(pool: Pool): void {
  let sizes: Sizes = {};
  let timesGrown = 0;
  let nextLook = performance.now() + LOOK_EVERY_MS;
  const kept = new WeakMap<PoolClient, { readonly timesGrown: number; readonly since: number }>();
  const look = async (): Promise<void> => {
    const began = performance.now();
    try {
      const { rows } = await pool.query<{ sizes: Sizes }>(SIZES);
      const found = rows[0]!.sizes;
      if (Object.entries(found).some(([oid, size]) => size > GROWN * (sizes[oid] ?? 0))) {
        sizes = found;
        timesGrown += 1;
      }
    } catch {
      ignoreError('it also reaches every other statement');
    }
    const now = performance.now();
    nextLook = now + Math.min(PLANS_KEPT_MS, Math.max(LOOK_EVERY_MS, LOOK_SHARE * (now - began)));
  };
  pool.on('acquire', (client) => {
    const now = performance.now();
    const plans = kept.get(client);
    if (plans !== undefined && plans.timesGrown === timesGrown && now - plans.since < PLANS_KEPT_MS) return;
    kept.set(client, { timesGrown, since: now });
    // The statement goes first on the connection.
    if (plans !== undefined) client.query('discard plans').catch(ignoring('the next statement fails likewise'));
  });
  pool.on('release', () => {
    if (performance.now() < nextLook) return;
    // One look runs at a time, so that a locked table delays only this look.
    nextLook = Number.POSITIVE_INFINITY;
    // The released connection is free one turn later.
    setImmediate(() => void look());
  });
}
