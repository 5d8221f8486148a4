/**
 * Brings the schema to the version of the program while older processes continue to serve. One process works at a time, in steps with brief
 * locks (D-268). Each step is recorded, so that the next process continues after an interrupted one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openMigrationClient, openMigrationPool, takeStep, withoutLimits } from './migration-steps.ts';
import type { Bench, Tell } from './migration-watch.ts';
import { atOnce, type Migration, shippedMigrations } from './migrations.ts';
import type { Db } from './open.ts';
import type { ClientBase as Client, PoolClient } from './pg.ts';
import { isPooled, needSession, refuseUndeclared, settleRole } from './pooled.ts';
import { serverOf } from './watch.ts';

/** Oldest tested version of PostgreSQL, in the server's own numbering. */
const VERSION_MIN = 150_000;
/** Interval at which a process looks for the end of another one's migration, and interval of its messages. */
const TURN_EVERY_MS = 250;
const TURN_TELL_MS = 10_000;

/** The schema of the database has a version that this program does not know. */
export class NewerSchemaError extends Error {
  constructor(names: readonly string[]) {
    super(
      `o banco de dados está numa versão mais nova do que este programa (tem ${names.join(', ')}, que ele não conhece). Instale a versão mais nova do programa; para voltar a esta, restaure a cópia do banco feita antes da atualização (docs/site/operacao.md, «Voltar atrás»).`,
    );
  }
}

/** Migration that every database of a program before the first release has. */
const OF_BEFORE = '001-notas.sql';

/** The database is from before the first release, with a schema that cannot be migrated. */
export class UnreleasedSchemaError extends Error {
  /** `place`: name of the database for the operator; `wayOut`: a sentence on how to begin another. */
  constructor(place: string, wayOut: string) {
    super(
      `${place} foi feito por um programa de antes da versão 0.1.0, a primeira publicada, e não se converte: o que há nele só esse programa lê. ${wayOut}`,
    );
  }
}

/**
 * Applies the missing migrations and returns their names. Processes that start together wait for each other. `tell` gets lines for the
 * operator. Throws {@link NewerSchemaError}, {@link UnreleasedSchemaError}, and the reason of `signal`. `all`: the migrations, for a test
 * that brings its own.
 */
export async function applyMigrations(
  pool: Db,
  tell: Tell = () => undefined,
  signal?: AbortSignal,
  all?: readonly Migration[],
): Promise<readonly string[]> {
  if (isPooled(pool)) await settleRole(pool);
  else await refuseUndeclared(pool);
  await checkVersion(pool);
  const migrations = all ?? (await shippedMigrations());
  const isCurrent = (await missingOf(pool, migrations)).length === 0;
  return isCurrent ? [] : applyMissing(pool, migrations, tell, signal);
}

/** Brings an older schema to this program's version; a current one stays untouched. Throws as {@link applyMigrations} does. */
export async function updateSchema(pool: Db): Promise<void> {
  if ((await missingOf(pool, await shippedMigrations())).length > 0) await applyMigrations(pool);
}

/** Migrations in the database that are unknown to this program, because a newer one has applied them meanwhile. */
export async function newerMigrations(pool: Db): Promise<readonly string[]> {
  const known = new Set((await shippedMigrations()).map(({ nome }) => nome));
  return (await listApplied(pool)).filter((name) => !known.has(name));
}

async function missingOf(db: Pick<Db, 'query'>, all: readonly Migration[]): Promise<readonly Migration[]> {
  const done = new Set(await listApplied(db));
  if (done.has(OF_BEFORE)) throw await unreleasedOf(db);
  const known = new Set(all.map(({ nome }) => nome));
  const strangers = [...done].filter((name) => !known.has(name));
  if (strangers.length > 0) throw new NewerSchemaError(strangers);
  return all.filter(({ nome }) => !done.has(nome));
}

async function unreleasedOf(db: Pick<Db, 'query'>): Promise<UnreleasedSchemaError> {
  const { rows } = await db.query<{ name: string }>('select current_database() as name');
  return new UnreleasedSchemaError(
    `O banco de dados «${rows[0]!.name}»`,
    'Crie outro, vazio (createdb nfse2), e ponha o nome dele em DATABASE_URL.',
  );
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
  all: readonly Migration[],
  tell: Tell,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  signal?.throwIfAborted();
  const own = openMigrationPool(pool);
  const { leave } = serverOf(own)!;
  signal?.addEventListener('abort', leave);
  let turn: PoolClient | undefined;
  try {
    turn = await own.connect();
    await createLists(turn);
    await takeTurn(turn, tell, signal);
    // Another process may have done a part of it or all while this one waited.
    const missing = await missingOf(turn, all);
    if (missing.length === all.length) await applyAtOnce(turn, missing);
    else if (missing.length > 0) {
      // A step may take an hour outside of a transaction.
      needSession(pool);
      await applyInSteps({ pool, tell, signal }, own, turn, missing);
    }
    await turn.query('commit');
    return missing.map(({ nome }) => nome);
  } catch (error) {
    signal?.throwIfAborted();
    throw (await unsuitableOf(own, error)) ?? error;
  } finally {
    signal?.removeEventListener('abort', leave);
    // The turn ends with the transaction, and so with the connection, even if the process is killed.
    turn?.release(true);
    await own.end();
  }
}

/** A remedy for a database that does not accept the schema; undefined: the cause is another one. */
async function unsuitableOf(own: Db, error: unknown): Promise<Error | undefined> {
  const { code, message } = error as { readonly code?: string; readonly message: string };
  if (code !== FORBIDDEN && code !== ALREADY_THERE) return undefined;
  const { rows } = await own.query<{ user: string; name: string }>(
    'select current_user as user, current_database() as name',
  );
  const [{ user, name }] = rows as [{ user: string; name: string }];
  const why =
    code === FORBIDDEN
      ? `o usuário ${user} não pode fazer as tabelas no banco «${name}» (${message}). Dê-lhe o banco: alter database ${name} owner to ${user}.`
      : `o banco «${name}» tem tabelas de outro programa (${message}). Indique um vazio: createdb -O ${user} nfse2.`;
  return new Error(why, { cause: error });
}

const FORBIDDEN = '42501';
const ALREADY_THERE = '42P07';

/**
 * Lets one process migrate at a time, by a lock that an open transaction holds. The lock works behind a pooler too, and does not survive a
 * crash. Requests never use this table. A waiting process polls: a session in the lock queue has a snapshot, for which a concurrent index
 * build waits.
 */
async function takeTurn(turn: Client, tell: Tell, signal: AbortSignal | undefined): Promise<void> {
  for (let waits = 0; ; waits += 1) {
    try {
      await turn.query(`begin; ${withoutLimits('transaction')}`);
      await turn.query('lock table migracoes_andamento in share update exclusive mode nowait');
      return;
    } catch (error) {
      await turn.query('rollback');
      if ((error as { code?: string }).code !== '55P03') throw error;
      if (waits % (TURN_TELL_MS / TURN_EVERY_MS) === 4) tell('espera por outro processo, que está atualizando o banco');
      await sleep(TURN_EVERY_MS, undefined, { signal });
    }
  }
}

/** The database is still unused, so that one transaction applies everything. */
async function applyAtOnce(turn: Client, all: readonly Migration[]): Promise<void> {
  for (const text of atOnce(all)) await turn.query(text);
  const names = all.map(({ nome }) => nome);
  await turn.query('insert into migracoes (nome, aplicada_em) select unnest($1::text[]), now()', [names]);
}

async function applyInSteps(
  bench: Omit<Bench, 'client'>,
  own: Db,
  turn: Client,
  missing: readonly Migration[],
): Promise<void> {
  let isTurnLost = false;
  turn.on('error', () => {
    isTurnLost = true;
  });
  const steps = missing.flatMap(({ nome, passos }) =>
    passos.map((passo, place) => ({ nome, passo, place, isLast: place === passos.length - 1 })),
  );
  const client = await openMigrationClient(own);
  try {
    // The transaction that holds the turn is not used. Its snapshot on a node of Citus would block a concurrent index build.
    const { rows } = await client.query<{ nome: string; passo: number }>(
      `select nome, passo from migracoes_andamento where tenant = ''`,
    );
    const done = new Set(rows.map(({ nome, passo }) => `${nome} ${passo}`));
    const isLeft = steps.filter(({ nome, place }) => !done.has(`${nome} ${place}`));
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
 * Creates the tables of applied migrations. An unfinished migration has a row for each step, with an empty tenant. A step in batches has a
 * row for each tenant and month with the place that it has reached. One of two simultaneous processes may still fail here.
 */
async function createLists(client: Client): Promise<void> {
  const lists = [
    'create table if not exists migracoes (nome text primary key, aplicada_em timestamptz not null)',
    `create table if not exists migracoes_andamento (tenant text not null, nome text not null, passo integer not null,
      mes integer not null default 0, ate bigint, primary key (tenant, nome, passo, mes))`,
  ];
  for (const create of lists) await client.query(create).catch(() => client.query(create));
}
