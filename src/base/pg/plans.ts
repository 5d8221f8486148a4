/**
 * How long a connection keeps the plans of the statements that it knows (`planned.ts`). For an almost empty table all indexes look alike,
 * and the plan that took the wrong one reads the whole tenant once the table is full (measured: a fifth of the rate). The server would see
 * that with its next statistics, or never. So a pool looks how large tables are, and when one has grown all plans are made anew.
 */
import type { Pool, PoolClient } from './pg.ts';

const LOOK_EVERY_MS = 2_000;
/** Of the time, one part in so many goes into looking: after ten years of months a look takes 6 ms of the server's processor. */
const LOOK_SHARE = 1_000;
/** A plan for a table of some size is no worse for one of half as much again. */
const GROWN = 1.5;
/** For what the sizes do not show: what lies on other servers. */
const PLANS_KEPT_MS = 60_000;

type Sizes = Readonly<Record<string, number>>;

/** Bytes of each table, and of each month of those that are kept by month; its indexes grow with it. */
const SIZES = `select json_object_agg(oid, coalesce(pg_relation_size(oid), 0)) as sizes from pg_class
  where relkind = 'r' and relnamespace = (select oid from pg_namespace where nspname = current_schema())`;

/** Has the connections of a pool make their plans anew when those are old. */
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
      // What fails here fails for everybody who asks.
    }
    const now = performance.now();
    nextLook = now + Math.min(PLANS_KEPT_MS, Math.max(LOOK_EVERY_MS, LOOK_SHARE * (now - began)));
  };
  pool.on('acquire', (client) => {
    const now = performance.now();
    const plans = kept.get(client);
    if (plans !== undefined && plans.timesGrown === timesGrown && now - plans.since < PLANS_KEPT_MS) return;
    kept.set(client, { timesGrown, since: now });
    // Sent ahead of what the connection is taken for. Where it fails, so does what is asked next.
    if (plans !== undefined) client.query('discard plans').catch(() => undefined);
  });
  pool.on('release', () => {
    if (performance.now() < nextLook) return;
    // One at a time: a table that somebody has locked holds up this look alone.
    nextLook = Number.POSITIVE_INFINITY;
    // A turn later the connection that is given back is free.
    setImmediate(() => void look());
  });
}
