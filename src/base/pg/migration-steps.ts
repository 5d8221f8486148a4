/**
 * Runs one step of a migration on full tables in use, and records it. A table that is kept by month is processed month by month, so that no
 * transaction waits for all months. This matters most for the creation of the next month.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ignoreLoss, ignoring } from '../traces/ignoring.ts';
import { type Bench, describeRest, runPatiently, runWatched, TELL_EVERY_MS } from './migration-watch.ts';
import type { Passo } from './migrations.ts';
import type { Db } from './open.ts';
import type { ClientBase as Client, PoolClient } from './pg.ts';
import type { Connection } from './servers.ts';
import { optionsOf } from './session.ts';
import { openWatchedPool } from './watch.ts';

type Of<Kind> = Extract<Passo, { readonly kind: Kind }>;

type Step = { readonly nome: string; readonly place: number; readonly isLast: boolean };

/** Rows that one transaction of a step in batches changes. Another transaction waits for one of them a fraction of a second. */
const BATCH_ROWS = 1_000;

/**
 * Connections without the time-out of the service, since a statement may take an hour here. The planner settings for single rows are left
 * out as well.
 */
export function openMigrationPool(pool: Db): Db {
  const { host, port, user, password, database, connectionString, ssl, servers, isPooled, ownOptions } =
    pool.options as Connection;
  const given = { host, port, user, password, database, connectionString, ssl, servers, isPooled, ownOptions };
  const own = openWatchedPool(
    {
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      max: 2,
      application_name: 'nfse-migrar',
      options: isPooled
        ? undefined
        : optionsOf({ statement_timeout: '0', lock_timeout: '0', idle_session_timeout: '0' }, { ownOptions }),
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    },
    'endless',
  );
  own.on('error', ignoreLoss);
  own.on('connect', (client) => void client.on('error', ignoreLoss));
  return own;
}

/** A statement that removes the limits of a session or of the transaction. It also works on versions before 17, which lack one of them. */
export function withoutLimits(of: 'session' | 'transaction'): string {
  return `select set_config(name, '0', ${of === 'transaction'}) from pg_settings
    where name in ('transaction_timeout', 'idle_in_transaction_session_timeout', 'statement_timeout')`;
}

/** A single connection without limits. */
export async function openMigrationClient(own: Db): Promise<PoolClient> {
  const client = await own.connect();
  await client.query(withoutLimits('session'));
  return client;
}

/** Does one step and records it. Throws the error of the database; earlier steps are kept. */
export async function takeStep(bench: Bench, step: Step & { readonly passo: Passo }): Promise<void> {
  const { passo } = step;
  switch (passo.kind) {
    case 'brief':
      return runBrief(bench, step, passo.statements);
    case 'validation':
      return runValidation(bench, step, passo);
    case 'index':
      await runIndex(bench, passo);
      break;
    case 'removal':
      await runRemoval(bench, passo.index);
      break;
    case 'batches':
      await runBatches(bench, step, passo);
  }
  await runPatiently(bench, () => remember(bench.client, step));
}

async function runBrief(bench: Bench, step: Step, statements: readonly string[]): Promise<void> {
  const { client } = bench;
  await runWatched(bench, () =>
    runPatiently(bench, async () => {
      await remember(client, step);
      for (const sql of statements) await client.query(sql);
    }),
  );
}

/** The server skips a month that is validated already, and the whole table once all months are. */
async function runValidation(bench: Bench, step: Step, passo: Of<'validation'>): Promise<void> {
  const { client, tell } = bench;
  const { table, constraint } = passo;
  const months = await monthsOf(client, table);
  for (const one of months ?? [table]) {
    tell(`confere ${one} (${await sizeOf(client, one)}), sem parar ninguém`);
    if (months === undefined) break;
    const sql = `alter table ${one} validate constraint ${constraint}`;
    await runWatched(bench, () => runPatiently(bench, () => client.query(sql)));
  }
  await runBrief(bench, step, [passo.sql]);
}

/**
 * Creates an index, which cannot be built concurrently on a table that is kept by month. The parent index becomes valid when each month has
 * its own. A month that is created meanwhile gets one automatically.
 */
async function runIndex(bench: Bench, passo: Of<'index'>): Promise<void> {
  const { client } = bench;
  const { index, table, sql } = passo;
  const months = await monthsOf(client, table);
  if (months === undefined) return makeIndex(bench, passo);
  const withHead = (how: string): string => sql.replace(/ concurrently \w+ on \w+/i, ` ${how}`);
  await runPatiently(bench, () => client.query(withHead(`if not exists ${index} on only ${table}`)));
  for (const month of months) {
    const there = await indexOfMonth(client, index, month);
    const own = there ?? `${index}${month.slice(month.lastIndexOf('_'))}`;
    if (there === undefined) {
      await makeIndex(bench, { sql: withHead(`concurrently ${own} on ${month}`), index: own, table: month });
    }
    // Attaching an index that is attached already makes the server check again whether all are.
    await runPatiently(bench, () => client.query(`alter index ${index} attach partition ${own}`));
  }
  if ((await validityOf(client, index)) === true) return;
  throw new Error(`os meses de ${table} mudaram enquanto o índice ${index} era feito; rode de novo, ela continua`);
}

/** An interrupted creation leaves an invalid index, which is dropped and built again. */
async function makeIndex(bench: Bench, { sql, index, table }: Omit<Of<'index'>, 'kind'>): Promise<void> {
  const { client, tell } = bench;
  // The server continues the build of a killed client. The result is certain only after its end.
  await runWatched(bench, () => client.query(`begin; lock table ${table} in share update exclusive mode; commit`));
  const isValid = await validityOf(client, index);
  if (isValid === true) return;
  const removal = `drop index concurrently if exists ${index}`;
  if (isValid === false) {
    tell(`o índice ${index} ficou pela metade; é retirado e refeito`);
    await runWatched(bench, () => client.query(removal));
  }
  tell(`índice ${index} em ${table} (${await sizeOf(client, table)}), sem parar ninguém`);
  try {
    await runWatched(bench, () => client.query(sql));
  } catch (error) {
    // An invalid index still slows writers, and a unique one may block them.
    await client.query(removal).catch(ignoring('the next attempt finds the invalid index and drops it'));
    throw error;
  }
}

/** Drops an index. The index of a monthly table goes with those of its months, at once and under a brief lock. */
async function runRemoval(bench: Bench, index: string): Promise<void> {
  const { client } = bench;
  const text = `select relkind = 'I' as "isMonthly" from pg_class where oid = to_regclass($1)`;
  const { rows } = await client.query<{ isMonthly: boolean }>(text, [index]);
  const remove = (how: string) => client.query(`drop index ${how} if exists ${index}`);
  await runWatched(bench, () =>
    rows[0]?.isMonthly === true ? runPatiently(bench, () => remove('')) : remove('concurrently'),
  );
}

/** Undefined: there is no such index. */
async function validityOf(client: Client, index: string): Promise<boolean | undefined> {
  const { rows } = await client.query<{ indisvalid: boolean }>(
    'select indisvalid from pg_index where indexrelid = to_regclass($1)',
    [index],
  );
  return rows[0]?.indisvalid;
}

/** The months of a table, as tables; undefined if it is not kept by month. */
async function monthsOf(client: Client, table: string): Promise<readonly string[] | undefined> {
  const { rows } = await client.query<{ months: readonly string[] }>(
    `select array(select inhrelid::regclass::text from pg_inherits where inhparent = c.oid and not inhdetachpending order by 1) as months
     from pg_class c where c.oid = to_regclass($1) and c.relkind = 'p'`,
    [table],
  );
  return rows[0]?.months;
}

/** The index of a month that belongs to an index of its table. */
async function indexOfMonth(client: Client, index: string, month: string): Promise<string | undefined> {
  const { rows } = await client.query<{ own: string }>(
    `select indexrelid::regclass::text as own from pg_index join pg_inherits on inhrelid = indexrelid
     where inhparent = to_regclass($1) and indrelid = to_regclass($2)`,
    [index, month],
  );
  return rows[0]?.own;
}

async function runBatches(bench: Bench, step: Step, passo: Of<'batches'>): Promise<void> {
  const { client, tell } = bench;
  const estimated = await rowsOf(client, passo.table);
  tell(`preenche ${passo.table} (${await sizeOf(client, passo.table)}), em lotes de ${BATCH_ROWS}`);
  const began = performance.now();
  let told = began;
  let done = 0;
  for (const reach of await reachesOf(client, passo)) {
    for (;;) {
      const start = performance.now();
      const count = await runPatiently(bench, () => runBatch(client, step, passo, reach));
      if (count === 0) break;
      done += count;
      const now = performance.now();
      if (now - told > TELL_EVERY_MS) {
        tell(
          `${done} de cerca de ${Math.max(done, estimated)} linhas${describeRest((now - began) / 1000, done / estimated)}`,
        );
        told = now;
      }
      // The service needs the machine, so the migration takes half of the time at most.
      await sleep(now - start);
    }
  }
}

/** A range of rows in the order of an index. `mes`: 0 if the table is not kept by month. */
type Reach = { readonly tenant: string; readonly mes: number };

async function reachesOf(client: Client, { isMonthly }: Of<'batches'>): Promise<readonly Reach[]> {
  const meses = isMonthly ? 'select mes from meses' : 'select 0 as mes';
  const text = `select tenant, mes from municipios, (${meses}) x order by tenant, mes`;
  return (await client.query<Reach>(text)).rows;
}

/** Processes the next rows after the place reached, and returns their number. */
async function runBatch(
  client: Client,
  { nome, place }: Step,
  { sql, table, isMonthly, key }: Of<'batches'>,
  { tenant, mes }: Reach,
): Promise<number> {
  const { rows } = await client.query<{ after: string; until: string | null; count: number }>(
    `with reached as (select coalesce(max(ate), -1) as ate from migracoes_andamento
       where tenant = $1 and nome = $2 and passo = $3 and mes = $4)
     select r.ate as after, x.until, x.count from reached r cross join lateral (
       select max(k) as until, count(*)::int as count from (
         select ${key} as k from ${table} where tenant = $1 ${isMonthly ? 'and mes = $4' : ''} and ${key} > r.ate
         order by ${key} limit ${BATCH_ROWS}) one) x`,
    [tenant, nome, place, mes],
  );
  const { after, until, count } = rows[0]!;
  if (until === null) return 0;
  await client.query(sql, [tenant, after, until, ...(isMonthly ? [mes] : [])]);
  await client.query(
    `insert into migracoes_andamento (tenant, nome, passo, mes, ate) values ($1, $2, $3, $4, $5)
     on conflict (tenant, nome, passo, mes) do update set ate = excluded.ate`,
    [tenant, nome, place, mes, until],
  );
  return count;
}

/** Records a finished step. The last step ends the migration, of which only the name is kept. */
async function remember(client: Client, { nome, place, isLast }: Step): Promise<void> {
  if (!isLast) {
    await client.query(`insert into migracoes_andamento (tenant, nome, passo) values ('', $1, $2)`, [nome, place]);
    return;
  }
  await client.query('delete from migracoes_andamento where nome = $1', [nome]);
  await client.query('insert into migracoes (nome, aplicada_em) values ($1, now())', [nome]);
}

/** A table and its months. */
const WHOLE = `select to_regclass($1)::oid as oid union select relid from pg_partition_tree(to_regclass($1))`;

async function sizeOf(client: Client, table: string): Promise<string> {
  const text = `select pg_size_pretty(sum(pg_table_size(oid))) as size from (${WHOLE}) x`;
  return (await client.query<{ size: string }>(text, [table])).rows[0]!.size;
}

/** Estimate from the last statistics. */
async function rowsOf(client: Client, table: string): Promise<number> {
  const text = `select sum(reltuples) filter (where relkind = 'r')::float as count from (${WHOLE}) x join pg_class using (oid)`;
  return (await client.query<{ count: number | null }>(text, [table])).rows[0]!.count ?? 0;
}
