/** One step of a migration on tables that are full and in use: how it waits, what it tells meanwhile, how it is remembered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Passo } from './migrations.ts';
import { withoutComments } from './migrations.ts';
import { type Db, sessionWith } from './open.ts';
import type { ClientBase as Client, PoolClient, QueryResult } from './pg.ts';
import { openWatchedPool } from './watch.ts';

/** Gets a line for the operator. */
export type Tell = (text: string) => void;

export type Bench = {
  /** For looking on; the steps run elsewhere. */
  readonly pool: Db;
  readonly client: Client;
  readonly tell: Tell;
  /** Ends the pauses. */
  readonly signal: AbortSignal | undefined;
};

type Step = { readonly nome: string; readonly place: number; readonly isLast: boolean };

/**
 * Who comes after a waiting lock waits too: so the wait is short. It is longer than the second (deadlock_timeout) after which the server
 * ends a vacuum in the way.
 */
const LOCK_TIMEOUT_MS = 2_000;
/** Of who waits for a lock: whom for. Twice within the wait. */
const LOOK_EVERY_MS = 900;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 8_000;
/** A lock that was not to be had, and a deadlock. */
const WORTH_WAITING = new Set(['55P03', '40P01']);

/** Rows that one transaction of a step in batches changes: who waits for one of them waits a fraction of a second. */
const BATCH_ROWS = 1_000;
const TELL_EVERY_MS = 5_000;

/**
 * Connections without the time-out of the service, since a statement may take an hour here, and without its plans, which are made for
 * single rows.
 */
export function openMigrationPool(pool: Db): Db {
  const { host, port, user, password, database, connectionString, ssl } = pool.options;
  const given = { host, port, user, password, database, connectionString, ssl };
  const own = openWatchedPool(
    {
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      max: 2,
      application_name: 'nfse-migrar',
      options: sessionWith({ statement_timeout: '0', lock_timeout: '0', idle_session_timeout: '0' }),
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    },
    'endless',
  );
  // A connection that is lost between two statements must not end the process: the next statement says so.
  own.on('error', () => undefined);
  own.on('connect', (client) => void client.on('error', () => undefined));
  return own;
}

/** One of them; of a limit for transactions, which versions before 17 do not know, it knows nothing either. */
export async function openMigrationClient(own: Db): Promise<PoolClient> {
  const client = await own.connect();
  await client.query(
    `select set_config(name, '0', false) from pg_settings where name in ('transaction_timeout', 'idle_in_transaction_session_timeout')`,
  );
  return client;
}

/** Does one step and remembers it. Throws what the database says; what was done of the step before is kept. */
export async function takeStep(bench: Bench, step: Step & { readonly passo: Passo }): Promise<void> {
  const { passo } = step;
  if (passo.kind === 'brief') return runBrief(bench, step, passo.sql);
  if (passo.kind === 'concurrent') await runConcurrent(bench, passo);
  else await runBatches(bench, step, passo);
  await runPatiently(bench, () => remember(bench.client, step));
}

async function runBrief(bench: Bench, step: Step, sql: string): Promise<void> {
  const { client } = bench;
  const table = /\bvalidate constraint\b/i.test(sql) ? /\balter table (\w+)/i.exec(sql)?.[1] : undefined;
  if (table !== undefined) bench.tell(`confere ${table} (${await sizeOf(bench, table)}), sem parar ninguém`);
  await runWatched(bench, () =>
    runPatiently(bench, async () => {
      await remember(client, step);
      await client.query(sql);
    }),
  );
}

/** What stays of a creation that was broken off is an index that nobody may use: it is taken away, and made anew. */
async function runConcurrent(bench: Bench, passo: Passo & { readonly kind: 'concurrent' }): Promise<void> {
  const { client, tell } = bench;
  const { index } = passo;
  if (index === undefined) return void (await runWatched(bench, () => client.query(passo.sql)));
  const table = / on (\w+)/i.exec(withoutComments(passo.sql))![1]!;
  // The server goes on making an index whose asker was killed: until it is done, nobody knows what will be left.
  await runWatched(bench, () => client.query(`begin; lock table ${table} in share update exclusive mode; commit`));
  const isValid = await validityOf(client, index);
  if (isValid === true) return;
  const removal = `drop index concurrently if exists ${index}`;
  if (isValid === false) {
    tell(`o índice ${index} ficou pela metade; é retirado e refeito`);
    await runWatched(bench, () => client.query(removal));
  }
  tell(`índice ${index} em ${table} (${await sizeOf(bench, table)}), sem parar ninguém`);
  try {
    await runWatched(bench, () => client.query(passo.sql));
  } catch (error) {
    // It would hinder writers all the same, an index of unique keys above all.
    await client.query(removal).catch(() => undefined);
    throw error;
  }
}

/** Undefined: there is no such index. */
async function validityOf(client: Client, index: string): Promise<boolean | undefined> {
  const { rows } = await client.query<{ indisvalid: boolean }>(
    'select indisvalid from pg_index where indexrelid = to_regclass($1)',
    [index],
  );
  return rows[0]?.indisvalid;
}

async function runBatches(bench: Bench, step: Step, passo: Passo & { readonly kind: 'batches' }): Promise<void> {
  const { client, tell } = bench;
  const { rows } = await client.query<{ tenant: string }>('select tenant from municipios order by tenant');
  const estimated = await rowsOf(bench, passo.table);
  tell(`preenche ${passo.table} (${await sizeOf(bench, passo.table)}), em lotes de ${BATCH_ROWS}`);
  const began = performance.now();
  let told = began;
  let done = 0;
  for (const { tenant } of rows) {
    for (;;) {
      const start = performance.now();
      const count = await runPatiently(bench, () => runBatch(client, step, passo, tenant));
      if (count === 0) break;
      done += count;
      const now = performance.now();
      if (now - told > TELL_EVERY_MS) {
        tell(
          `${done} de cerca de ${Math.max(done, estimated)} linhas${describeRest((now - began) / 1000, done / estimated)}`,
        );
        told = now;
      }
      // The machine is the service's: at most half of the time is ours.
      await sleep(now - start);
    }
  }
}

/** The next rows of a tenant after the place that was reached; resolves with how many there were. */
async function runBatch(
  client: Client,
  { nome, place }: Step,
  { sql, table, key }: Passo & { readonly kind: 'batches' },
  tenant: string,
): Promise<number> {
  const { rows } = await client.query<{ after: string; until: string | null; count: number }>(
    `with reached as (select coalesce(max(ate), -1) as ate from migracoes_andamento where tenant = $1 and nome = $2 and passo = $3)
     select r.ate as after, x.until, x.count from reached r cross join lateral (
       select max(k) as until, count(*)::int as count from (
         select ${key} as k from ${table} where tenant = $1 and ${key} > r.ate order by ${key} limit ${BATCH_ROWS}) one) x`,
    [tenant, nome, place],
  );
  const { after, until, count } = rows[0]!;
  if (until === null) return 0;
  await client.query(sql, [tenant, after, until]);
  await client.query(
    `insert into migracoes_andamento (tenant, nome, passo, ate) values ($1, $2, $3, $4)
     on conflict (tenant, nome, passo) do update set ate = excluded.ate`,
    [tenant, nome, place, until],
  );
  return count;
}

/** A step that is done; with the last one the migration is, and nothing of it need be remembered but its name. */
async function remember(client: Client, { nome, place, isLast }: Step): Promise<void> {
  if (!isLast) {
    await client.query(`insert into migracoes_andamento (tenant, nome, passo) values ('', $1, $2)`, [nome, place]);
    return;
  }
  await client.query('delete from migracoes_andamento where nome = $1', [nome]);
  await client.query('insert into migracoes (nome, aplicada_em) values ($1, now())', [nome]);
}

async function inTransaction<Result>(client: Client, work: (pid: number) => Promise<Result>): Promise<Result> {
  // What the session was opened with may not come through a pooler.
  const begun: unknown = await client.query(
    `begin; set local statement_timeout = 0; set local lock_timeout = ${LOCK_TIMEOUT_MS}; select pg_backend_pid() as pid`,
  );
  try {
    const result = await work((begun as readonly QueryResult<{ pid: number }>[]).at(-1)!.rows[0]!.pid);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Does the work in a transaction, again and again while what it needs is locked, with pauses in which those whom it held up go on. */
async function runPatiently<Result>(
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
        const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS);
        return await work().finally(() => clearInterval(timer));
      });
    } catch (error) {
      if (!WORTH_WAITING.has((error as { code?: string }).code ?? '')) throw error;
      tell(`${seen ?? 'a tabela está em uso'}; nova tentativa em seguida`);
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }
}

/** Whom $1 waits for. Of sessions of others a role may see less. */
const BLOCKERS = `(select string_agg(case when b.pid = 0 then 'uma transação preparada (pg_prepared_xacts)' else
    concat_ws(', ', coalesce(nullif(a.application_name, ''), 'sem nome'), 'usuário ' || a.usename, 'pid ' || b.pid,
      a.state || ' há ' || round(extract(epoch from now() - a.xact_start)) || ' s') end, '; ')
  from unnest(pg_blocking_pids($1)) as b (pid) left join pg_stat_activity a on a.pid = b.pid)`;

/** What this session waits for at this moment, and for whom; undefined: for no lock. */
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

/** Tells, while `work` takes time, how far it is and whom it waits for. */
async function runWatched<Result>({ pool, client, tell }: Bench, work: () => Promise<Result>): Promise<Result> {
  const pid = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
  const began = performance.now();
  let isAsking = false;
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    stateOf(pool, pid, (performance.now() - began) / 1000)
      .then(tell, () => undefined)
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

/** The phases of an index made concurrently, with the part of the whole that each takes, and where in it the server is. */
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

/** How long it will take yet, from how long a part of it took; nothing where that says nothing. */
function describeRest(seconds: number, part: number): string {
  if (!(part > 0.01 && part <= 1)) return '';
  const rest = (seconds * (1 - part)) / part;
  return rest < 90 ? `, faltam cerca de ${Math.round(rest)} s` : `, faltam cerca de ${Math.round(rest / 60)} min`;
}

async function sizeOf({ client }: Bench, table: string): Promise<string> {
  const { rows } = await client.query<{ size: string }>(
    'select pg_size_pretty(pg_table_size(to_regclass($1))) as size',
    [table],
  );
  return rows[0]!.size;
}

/** As the last statistics have it. */
async function rowsOf({ client }: Bench, table: string): Promise<number> {
  const text = 'select reltuples::float as count from pg_class where oid = to_regclass($1)';
  return (await client.query<{ count: number }>(text, [table])).rows[0]?.count ?? 0;
}
