/**
 * Merges statements. Works of several tenants in one transaction ask for them, and so do look-ups. All statements of a turn of the event
 * loop are sent at its end. Equal statements of different tenants become one, and each work keeps its own order (D-873).
 */
import { isDistributed } from './distributed.ts';
import { joinCalls, type Mergeable } from './mergeable.ts';
import type { Db } from './open.ts';
import type { PoolClient, QueryConfig, QueryResult, QueryResultRow } from './pg.ts';

type Asked = Parameters<(query: string | QueryConfig, values?: unknown[]) => void>;

type Waiting = {
  readonly asked: Asked;
  readonly resolve: (result: QueryResult) => void;
  readonly reject: (error: unknown) => void;
};

/** `createClient`: a client for one of the works. `send`: sends what waits at once, before the transaction ends. */
export type Merged = { createClient(): PoolClient; send(): void };

/** Works that share the transaction of a client. */
export function mergeQueries(client: PoolClient): Merged {
  const lines: Waiting[][] = [];
  let isDue = false;
  const send = (): void => {
    isDue = false;
    for (const some of takeTogether(lines)) sendTogether(client, some);
  };
  const createClient = (): PoolClient => {
    const line: Waiting[] = [];
    lines.push(line);
    const query = (...asked: Asked): Promise<QueryResult> =>
      new Promise((resolve, reject) => {
        line.push({ asked, resolve, reject });
        if (isDue) return;
        isDue = true;
        process.nextTick(send);
      });
    return { query } as PoolClient;
  };
  return { createClient, send };
}

const readers = new WeakMap<Db, Pick<Db, 'query'>>();

/** Sends the look-ups of one turn, equal ones of different tenants as one. Each goes to its node on Citus. */
export function readsOf(pool: Db): Pick<Db, 'query'> {
  return readers.getOrInsertComputed(pool, () => {
    let asked: Waiting[] = [];
    const send = (): void => {
      const lines = asked.map((waiting) => [waiting]);
      asked = [];
      for (const some of takeTogether(lines)) sendTogether(pool, some);
    };
    const query = (...asking: Asked): Promise<QueryResult> => {
      if (isDistributed(pool)) return queryOn(pool, asking);
      return new Promise((resolve, reject) => {
        if (asked.push({ asked: asking, resolve, reject }) === 1) setImmediate(send);
      });
    };
    return { query } as Pick<Db, 'query'>;
  });
}

/** Works that each send their own statements on a client. */
export function keepApart(client: PoolClient): Merged {
  return { createClient: () => client, send: () => undefined };
}

function mergeableOf({ asked: [query] }: Waiting): Mergeable | undefined {
  return typeof query === 'object' && 'merging' in query ? (query as Mergeable) : undefined;
}

/** Identifies a statement among the lines; one that cannot be merged equals none. */
function keyOf(waiting: Waiting): unknown {
  return mergeableOf(waiting)?.merging.key ?? waiting;
}

/**
 * Takes all statements from the fronts of the lines, in groups that are sent as one each. A group waits while another line still has the
 * same statement further back. Two statements of one tenant are never in one group: their results could not be told apart.
 */
function takeTogether(lines: readonly Waiting[][]): readonly (readonly Waiting[])[] {
  const behind = new Map<unknown, number>();
  const noteBehind = (waiting: Waiting | undefined, step: 1 | -1): void => {
    if (waiting !== undefined) behind.set(keyOf(waiting), (behind.get(keyOf(waiting)) ?? 0) + step);
  };
  for (const line of lines) for (const waiting of line.slice(1)) noteBehind(waiting, 1);
  const taken: Waiting[][] = [];
  for (;;) {
    const fronts = lines.flatMap((line) => line[0] ?? []);
    const next = fronts.find((waiting) => (behind.get(keyOf(waiting)) ?? 0) === 0) ?? fronts[0];
    if (next === undefined) return taken;
    const key = keyOf(next);
    const tenants = new Set<string | undefined>();
    const some: Waiting[] = [];
    for (const line of lines) {
      const [front] = line;
      if (front === undefined || keyOf(front) !== key) continue;
      const tenant = mergeableOf(front)?.merging.tenant;
      if (tenants.has(tenant)) continue;
      tenants.add(tenant);
      some.push(line.shift()!);
      noteBehind(line[0], -1);
    }
    taken.push(some);
  }
}

function queryOn(client: Pick<Db, 'query'>, asked: Asked): Promise<QueryResult> {
  return (client.query as (...asked: Asked) => Promise<QueryResult>).apply(client, asked);
}

function sendTogether(client: Pick<Db, 'query'>, some: readonly Waiting[]): void {
  const [only] = some;
  if (some.length === 1) {
    const { asked, resolve, reject } = only!;
    queryOn(client, asked).then(resolve, reject);
    return;
  }
  const calls = some.map((waiting) => mergeableOf(waiting)!);
  client.query<QueryResultRow>(joinCalls(calls)).then(
    (result) => {
      const rows = Map.groupBy(result.rows, ({ tenant }) => tenant as string);
      for (const [place, { resolve, reject }] of some.entries()) {
        const { tenant, key } = calls[place]!.merging;
        const own = rows.get(tenant) ?? [];
        if (rows.has(undefined as never)) reject(new Error(`the rows of ${key} have no tenant`));
        else resolve({ ...result, rows: own, rowCount: own.length });
      }
    },
    (error: unknown) => {
      for (const { reject } of some) reject(error);
    },
  );
}
