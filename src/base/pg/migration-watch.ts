/** Work on full tables in use: waiting for locks, and messages meanwhile. `migration-steps.ts` defines the steps themselves. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ignoring } from '../traces/ignoring.ts';
import type { Db } from './open.ts';
import type { ClientBase as Client, QueryResult } from './pg.ts';

/** Receives a line for the operator. */
export type Tell = (text: string) => void;

export type Bench = {
  /** Pool for observation; the steps run elsewhere. */
  readonly pool: Db;
  readonly client: Client;
  readonly tell: Tell;
  /** Aborts the pauses. */
  readonly signal: AbortSignal | undefined;
};

/**
 * Limit of the wait for a lock; it is short, because a waiting lock request blocks every later one. It is longer than one second
 * (deadlock_timeout), after which the server cancels a blocking vacuum.
 */
const LOCK_TIMEOUT_MS = 2_000;
/** Interval of the query for the blocking sessions, twice within the wait. */
const LOOK_EVERY_MS = 900;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 8_000;
/** Codes of a lock time-out and of a deadlock. */
const WORTH_WAITING = new Set(['55P03', '40P01']);

export const TELL_EVERY_MS = 5_000;

const unseen = ignoring('a look at other sessions only explains the wait, and is repeated');

async function inTransaction<Result>(client: Client, work: (pid: number) => Promise<Result>): Promise<Result> {
  // Settings of the session may not pass a pooler, so that they are set here.
  const begun: unknown = await client.query(
    `begin; set local statement_timeout = 0; set local lock_timeout = ${LOCK_TIMEOUT_MS}; select pg_backend_pid() as pid`,
  );
  try {
    const result = await work((begun as readonly QueryResult<{ pid: number }>[]).at(-1)!.rows[0]!.pid);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(ignoring('the failure before is thrown, and a lost connection rolls back'));
    throw error;
  }
}

/** Runs the work in a transaction, and repeats it while a lock is missing. Blocked sessions continue in the pauses. */
export async function runPatiently<Result>(
  { pool, client, tell, signal }: Bench,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let pause = RETRY_FIRST_MS; ; pause = Math.min(RETRY_MAX_MS, pause * 2)) {
    let seen: string | undefined;
    try {
      return await inTransaction(client, async (pid) => {
        const look = async (): Promise<void> => {
          seen = (await lockOf(pool, pid)) ?? seen;
        };
        const timer = setInterval(() => void look().catch(unseen), LOOK_EVERY_MS);
        return await work().finally(() => clearInterval(timer));
      });
    } catch (error) {
      if (!WORTH_WAITING.has((error as { code?: string }).code ?? '')) throw error;
      tell(`${seen ?? 'a tabela está em uso'}; nova tentativa em seguida`);
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }
}

/** Sessions that block $1. A role may see less of the sessions of others. */
const BLOCKERS = `(select string_agg(case when b.pid = 0 then 'uma transação preparada (pg_prepared_xacts)' else
    concat_ws(', ', coalesce(nullif(a.application_name, ''), 'sem nome'), 'usuário ' || a.usename, 'pid ' || b.pid,
      a.state || ' há ' || round(extract(epoch from now() - a.xact_start)) || ' s') end, '; ')
  from unnest(pg_blocking_pids($1)) as b (pid) left join pg_stat_activity a on a.pid = b.pid)`;

/** The lock and the blocking sessions that this session waits for at this moment; undefined: none. */
async function lockOf(pool: Db, pid: number): Promise<string | undefined> {
  const { rows } = await pool.query<{ table: string | null; blockers: string | null }>(
    `select (select relation::regclass::text from pg_locks where pid = $1 and not granted and locktype = 'relation') as table,
       ${BLOCKERS} as blockers
     from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`,
    [pid],
  );
  const [one] = rows;
  if (one === undefined || one.blockers === null) return undefined;
  return `${one.table === null ? 'uma linha' : `a tabela ${one.table}`} está em uso, espera por ${one.blockers}`;
}

/** Reports the progress of long `work` and the sessions that block it. */
export async function runWatched<Result>({ pool, client, tell }: Bench, work: () => Promise<Result>): Promise<Result> {
  const pid = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
  const began = performance.now();
  let isAsking = false;
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    stateOf(pool, pid, (performance.now() - began) / 1000)
      .then(tell, unseen)
      .finally(() => {
        isAsking = false;
      });
  }, TELL_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Phases of a concurrent index build, with the share of each in the whole, and the progress within the phase. */
const PHASES: readonly (readonly [name: string, share: number])[] = [
  ['initializing', 0],
  ['waiting for writers before build', 0],
  ['building index', 0.6],
  ['waiting for writers before validation', 0],
  ['index validation: scanning index', 0.1],
  ['index validation: sorting tuples', 0],
  ['index validation: scanning table', 0.3],
  ['waiting for old snapshots', 0],
];

type Watched = { readonly phase: string | null; readonly part: number | null; readonly blockers: string | null };

async function stateOf(pool: Db, pid: number, seconds: number): Promise<string> {
  const { rows } = await pool.query<Watched>(
    `select p.phase, greatest(p.blocks_done::float / nullif(p.blocks_total, 0), p.tuples_done::float / nullif(p.tuples_total, 0)) as part,
       ${BLOCKERS} as blockers
     from (select $1::int as pid) x left join pg_stat_progress_create_index p on p.pid = x.pid`,
    [pid],
  );
  const { phase, part, blockers } = rows[0]!;
  const waits = blockers === null ? '' : `, espera por ${blockers}`;
  const place = PHASES.findIndex(([name]) => phase?.startsWith(name));
  if (place < 0) return `há ${Math.round(seconds)} s${waits}`;
  const before = PHASES.slice(0, place).reduce((sum, [, share]) => sum + share, 0);
  const whole = before + PHASES[place]![1] * (part ?? 0);
  return `${Math.round(whole * 100)}% em ${Math.round(seconds)} s${describeRest(seconds, whole)}${waits}`;
}

/** Estimated remaining time from the time of a part; empty if the part is too small. */
export function describeRest(seconds: number, part: number): string {
  if (!(part > 0.01 && part <= 1)) return '';
  const rest = (seconds * (1 - part)) / part;
  return rest < 90 ? `, faltam cerca de ${Math.round(rest)} s` : `, faltam cerca de ${Math.round(rest / 60)} min`;
}
