/**
 * Brings the schema to the version of the program while older processes go on serving: one process at a time, in steps that lock briefly.
 * Each step is remembered, so that the next process goes on where one was killed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { importShipped } from './aliquotas.ts';
import { type Bench, openMigrationClient, openMigrationPool, type Tell, takeStep } from './migration-steps.ts';
import { atOnce, type Migration, migrationNames, readMigration } from './migrations.ts';
import type { Db } from './open.ts';
import type { ClientBase as Client, PoolClient } from './pg.ts';
import { serverOf } from './watch.ts';

/** PostgreSQL that the service is tested with, as the server numbers itself. */
const VERSION_MIN = 150_000;
/** How often whoever waits for another process's migration looks, and says so. */
const TURN_EVERY_MS = 250;
const TURN_TELL_MS = 10_000;

/** The database has been brought to a version that this program does not know. */
export class NewerSchemaError extends Error {
  constructor(names: readonly string[]) {
    super(
      `o banco de dados está numa versão mais nova do que este programa (tem ${names.join(', ')}, que ele não conhece). Instale a versão mais nova do programa; para voltar a esta, restaure a cópia do banco feita antes da atualização (docs/site/operacao.md, «Voltar atrás»).`,
    );
  }
}

/**
 * Applies the missing migrations, imports the rates that the program ships where there are none, and returns the names applied. Processes
 * that start at once wait for each other. `tell` gets lines for the operator. Throws {@link NewerSchemaError}, and the reason of `signal`.
 */
export async function migrate(
  pool: Db,
  tell: Tell = () => undefined,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  await checkVersion(pool);
  const names = await migrationNames();
  const isCurrent = (await missingOf(pool, names)).length === 0;
  const applied = isCurrent ? [] : await applyMissing(pool, names, tell, signal);
  await importShipped(pool, Date.now());
  return applied;
}

/** Migrations in the database that this program does not know: a newer one has brought it forward meanwhile. */
export async function newerMigrations(pool: Db): Promise<readonly string[]> {
  const known = new Set(await migrationNames());
  return (await listApplied(pool)).filter((name) => !known.has(name));
}

async function missingOf(db: Pick<Db, 'query'>, names: readonly string[]): Promise<readonly string[]> {
  const done = new Set(await listApplied(db));
  const strangers = [...done].filter((name) => !names.includes(name));
  if (strangers.length > 0) throw new NewerSchemaError(strangers);
  return names.filter((name) => !done.has(name));
}

const NO_TABLE = '42P01';

async function listApplied(db: Pick<Db, 'query'>): Promise<readonly string[]> {
  try {
    const { rows } = await db.query<{ nome: string }>('select nome from migracoes order by nome');
    return rows.map(({ nome }) => nome);
  } catch (error) {
    if ((error as { code?: string }).code === NO_TABLE) return [];
    throw error;
  }
}

async function applyMissing(
  pool: Db,
  names: readonly string[],
  tell: Tell,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  signal?.throwIfAborted();
  const own = openMigrationPool(pool);
  const { leave } = serverOf(own)!;
  signal?.addEventListener('abort', leave);
  let turn: PoolClient | undefined;
  try {
    turn = await openMigrationClient(own);
    await createLists(turn);
    await takeTurn(turn, tell, signal);
    // Another process may have done some or all of it while this one waited.
    const missing = await Promise.all((await missingOf(turn, names)).map(readMigration));
    if (missing.length === names.length) await applyAtOnce(turn, missing);
    else if (missing.length > 0) await applyInSteps({ pool, tell, signal }, own, turn, missing);
    await turn.query('commit');
    return missing.map(({ nome }) => nome);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', leave);
    // The turn ends with the transaction, and so with the connection, however the process ends.
    turn?.release(true);
    await own.end();
  }
}

/**
 * One process at a time, by a lock that an open transaction holds: behind a pooler too, and no crash outlives it. Requests touch no such
 * table. A process that waits asks again and again: a session in a queue has a snapshot, which an index made concurrently waits for.
 */
async function takeTurn(turn: Client, tell: Tell, signal: AbortSignal | undefined): Promise<void> {
  for (let waits = 0; ; waits += 1) {
    try {
      await turn.query(`begin; set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0;
        lock table migracoes_andamento in share update exclusive mode nowait`);
      return;
    } catch (error) {
      await turn.query('rollback');
      if ((error as { code?: string }).code !== '55P03') throw error;
      if (waits % (TURN_TELL_MS / TURN_EVERY_MS) === 4) tell('espera por outro processo, que está atualizando o banco');
      await sleep(TURN_EVERY_MS, undefined, { signal });
    }
  }
}

/** Nobody has used the database yet: one transaction, one answer. */
async function applyAtOnce(turn: Client, all: readonly Migration[]): Promise<void> {
  await turn.query(atOnce(all));
  const names = all.map(({ nome }) => nome);
  await turn.query('insert into migracoes (nome, aplicada_em) select unnest($1::text[]), now()', [names]);
}

async function applyInSteps(
  bench: Omit<Bench, 'client'>,
  own: Db,
  turn: Client,
  missing: readonly Migration[],
): Promise<void> {
  const { rows } = await turn.query<{ nome: string; passo: number }>(
    `select nome, passo from migracoes_andamento where tenant = ''`,
  );
  const done = new Set(rows.map(({ nome, passo }) => `${nome} ${passo}`));
  const steps = missing.flatMap(({ nome, passos }) =>
    passos.map((passo, place) => ({ nome, passo, place, isLast: place === passos.length - 1 })),
  );
  const isLeft = steps.filter(({ nome, place }) => !done.has(`${nome} ${place}`));
  let isTurnLost = false;
  turn.on('error', () => {
    isTurnLost = true;
  });
  const client = await openMigrationClient(own);
  try {
    for (const [count, step] of isLeft.entries()) {
      if (isTurnLost)
        throw new Error('a conexão que guarda a vez desta atualização se perdeu; rode de novo, ela continua');
      const name = `[${steps.length - isLeft.length + count + 1}/${steps.length}] ${step.nome}`;
      await takeStep({ ...bench, client, tell: (text) => bench.tell(`${name}: ${text}`) }, step);
    }
  } finally {
    client.release(true);
  }
}

async function checkVersion(pool: Db): Promise<void> {
  const { rows } = await pool.query<{ number: number; name: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as name`,
  );
  if (rows[0]!.number >= VERSION_MIN) return;
  throw new Error(`o PostgreSQL é da versão ${rows[0]!.name}; o serviço precisa da 15 ou de uma mais nova.`);
}

/**
 * The lists of what is applied. A migration under way has a row for each step (tenant empty), and for each tenant the place that a step in
 * batches has reached. Of two processes at once one may fail all the same.
 */
async function createLists(client: Client): Promise<void> {
  const create = `
    create table if not exists migracoes (nome text primary key, aplicada_em timestamptz not null);
    create table if not exists migracoes_andamento (tenant text not null, nome text not null, passo integer not null,
      ate bigint, primary key (tenant, nome, passo))`;
  try {
    await client.query(create);
  } catch {
    await client.query(create);
  }
}
