/**
 * Migrations on a real PostgreSQL with rows, those of next versions after today's. Every way ends in the same schema, and an aborted
 * migration continues. A migration waits for a lock without blocking others, and a program detects that it is too old.
 */
import assert from 'node:assert/strict';
import { rename, rm } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureMeses } from '../src/base/book/meses.ts';
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { NewerSchemaError, newerMigrations } from '../src/base/pg/migrate.ts';
import { migrationOf, shippedMigrations } from '../src/base/pg/migrations.ts';
import { type Db, openPool } from '../src/base/pg/open.ts';
import { Client } from '../src/base/pg/pg.ts';
import { migrate } from '../src/wiring/migrate.ts';
import { type FullDatabase, fullDatabase, MESES, session } from './support/banco-cheio.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, emptyDatabase } from './support/database.ts';
import { schemaOf } from './support/esquema.ts';
import { nfse, readyDataDir } from './support/process.ts';
import { PROXIMAS, withProximas } from './support/proximas.ts';
import { startProxy } from './support/proxy.ts';
import { LONG } from './support/seed.ts';
import { until, untilTrue } from './support/until.ts';

const ALL = withProximas();
/** A month without a partition. */
const LATER = 203001;

const migrateOn = async (pool: Db, tell?: (text: string) => void, signal?: AbortSignal): Promise<readonly string[]> =>
  migrate(pool, tell, signal, await ALL);

/** Prevents a step in batches from storing the position that it has reached in a month. */
const holdPlace = (holder: Client, mes: number): Promise<unknown> =>
  holder.query(
    `begin; insert into migracoes_andamento (tenant, nome, passo, mes, ate) values ('alfa', '901-coluna.sql', 1, ${mes}, -1)`,
  );

const count = async (client: Pick<Client, 'query'>, text: string): Promise<number> =>
  (await client.query<{ count: number }>(`select count(*)::int as count from ${text}`)).rows[0]!.count;

let next: ReturnType<typeof schemaOf> | undefined;

/** The schema of the next version in a new database. */
function schemaNext(): ReturnType<typeof schemaOf> {
  next ??= emptyDatabase().then(async (connection) => {
    const pool = openPool(connection, () => undefined);
    onEnd(() => pool.end());
    await migrateOn(pool);
    return schemaOf(pool);
  });
  return next;
}

/** Ends the sessions of a migration, as a kill of its process does. */
async function killMigration({ client }: FullDatabase): Promise<void> {
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'nfse-migrar'`);
}

describe('every way ends in the same schema', () => {
  for (const last of [undefined, ...PROXIMAS.map(({ nome }) => nome)]) {
    test(`from a database of ${last ?? 'today'}`, async () => {
      const { pool, client } = await fullDatabase(300, last === undefined ? [] : await withProximas(last));
      assert.deepEqual(
        await migrateOn(pool),
        PROXIMAS.map(({ nome }) => nome).filter((nome) => last === undefined || nome > last),
      );
      assert.deepEqual(await schemaOf(pool), await schemaNext());
      assert.equal(await count(client, 'migracoes_andamento'), 0, 'nothing is left under way');
      assert.equal(await count(client, 'notas where proxima = id'), 300);
      assert.equal(await count(client, `eventos where proxima = 'de ' || nota`), 30);
      await ensureMeses(pool, [LATER]);
      assert.deepEqual(await schemaOf(pool), await schemaNext(), 'a month that is made later is as the others');
    });
  }

  test('which has what the migrations ask for, in each month', async () => {
    const lines = await schemaNext();
    const lineOf = (start: string) => lines.filter((line) => line.startsWith(start));
    assert.match(lineOf('notas.proxima ').join(), /^notas.proxima bigint not null default 0/);
    assert.match(lineOf('notas_MES.proxima ').join(), /^notas_MES.proxima bigint not null default 0/);
    assert.match(lineOf('documentos_MES.proxima ').join(), / storage e /);
    const unique =
      /^CREATE UNIQUE INDEX ON public.notas_MES .*\(tenant, mes, proxima, id\) valid t ready t part of notas_proxima$/;
    assert.equal(lines.filter((line) => unique.test(line)).length, 1);
    assert.deepEqual(
      lines.filter((line) => / valid f/.test(line)),
      [],
    );
  });
});

test('two processes take turns on a database with rows, and each migration is applied once', async () => {
  const { pool, connection, client } = await fullDatabase();
  const other = openPool(connection, () => undefined);
  onEnd(() => other.end());
  const applied = await Promise.all([migrateOn(pool), migrateOn(other)]);
  assert.deepEqual(
    applied.flat().toSorted(),
    PROXIMAS.map(({ nome }) => nome),
  );
  assert.deepEqual(await migrateOn(other), [], 'and never again');
  assert.equal(await count(client, 'migracoes'), (await ALL).length);
});

test('a note whose table somebody holds is waited for, and nobody waits behind', async () => {
  const { pool, connection, client } = await fullDatabase();
  const holder = await session(connection);
  await holder.query(`set application_name = 'relatorio'; begin; select 1 from notas limit 1`);
  const { rows } = await holder.query<{ who: string }>(
    `select format('relatorio, usuário %s, pid %s, idle in transaction há', current_user, pg_backend_pid()) as who`,
  );
  const told: string[] = [];
  const migrated = migrateOn(pool, (text) => told.push(text));
  await untilTrue(() => told.some((text) => /nova tentativa em seguida/.test(text)), 'the lock is given up');
  const line = told.find((text) => /nova tentativa em seguida/.test(text))!;
  assert.ok(line.includes(`a tabela notas está em uso, espera por ${rows[0]!.who} `), line);
  // The lock's holder is still there. A wait for the lock without limit would also block every later session.
  await client.query(`update notas set movimentos = 4 where tenant = 'alfa' and mes = $1 and id = 1`, [MESES[0]]);
  assert.equal(await count(client, `migracoes where nome = '901-coluna.sql'`), 0);
  await holder.query('commit');
  assert.ok((await migrated).includes('901-coluna.sql'));
});

test('a row that somebody holds is waited for, and who does is said', async () => {
  const { pool, connection } = await fullDatabase();
  const holder = await session(connection);
  await holdPlace(holder, MESES[1]);
  const told: string[] = [];
  const migrated = migrateOn(pool, (text) => told.push(text));
  const isTold = (): boolean => told.some((text) => /uma linha está em uso, espera por sem nome, usuário /.test(text));
  await untilTrue(isTold, 'the holder of the row');
  await holder.query('rollback');
  await migrated;
});

test('who is asked to end does so where it is, and the next one goes on', async () => {
  const { pool, connection, client } = await fullDatabase();
  const holder = await session(connection);
  await holder.query('begin; select 1 from notas limit 1');
  const asked = new AbortController();
  const why = new Error('it is time to go');
  const told: string[] = [];
  const migrated = migrateOn(pool, (text) => told.push(text), asked.signal);
  await untilTrue(() => told.some((text) => /a tabela notas está em uso/.test(text)), 'a lock is waited for');
  asked.abort(why);
  await assert.rejects(migrated, (error) => error === why);
  await assert.rejects(migrateOn(pool, undefined, asked.signal), (error) => error === why);
  // The statement that waited for the lock ends by itself, though the lock is never obtained.
  const active = `pg_stat_activity where application_name = 'nfse-migrar' and state = 'active'`;
  await until(async () => (await count(client, active)) === 0 || undefined, 'its session ends');
  await holder.query('commit');
  await migrateOn(pool);
  assert.deepEqual(await schemaOf(pool), await schemaNext());
});

test('a server that falls silent in the midst of it is given up, as late as one may be that is only slow', {
  skip: !LONG && 'takes half a minute: NFSE_TEST_LONGO=1',
}, async () => {
  const { connection, client } = await fullDatabase();
  const proxy = await startProxy(connection);
  const pool = openPool(proxy.connection, () => undefined);
  onEnd(() => pool.end());
  const holder = await session(connection);
  await holder.query('begin; select 1 from notas limit 1');
  const told: string[] = [];
  const migrated = migrateOn(pool, (text) => told.push(text));
  await untilTrue(() => told.length > 1, 'a lock is waited for');
  proxy.way = 'swallowed';
  await pause(6_000);
  proxy.way = 'forwarded';
  await pause(6_000);
  proxy.way = 'swallowed';
  await assert.rejects(migrated, { kind: 'gone' });
  await holder.query('commit');
  // The next process does not know of the silence.
  const next = openPool(connection, () => undefined);
  onEnd(() => next.end());
  await migrateOn(next);
  assert.equal(await count(client, 'migracoes'), (await ALL).length);
});

describe('an index on a table in use', () => {
  /** Undefined: there is no such index. */
  const validityOf = async (client: Client, index: string): Promise<boolean | undefined> => {
    const text = 'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)';
    return (await client.query<{ valid: boolean }>(text, [index])).rows[0]?.valid;
  };
  const untilThere = (client: Client, index: string) =>
    until(async () => ((await validityOf(client, index)) === undefined ? undefined : true), `${index} is being made`);
  /** A session that reads: the concurrent creation of an index must wait for it. */
  const startReader = async ({ connection }: FullDatabase): Promise<Client> => {
    const reader = await session(connection);
    await reader.query('begin isolation level repeatable read; select 1 from municipios');
    return reader;
  };

  for (const [of, before, index] of [
    ['a table that is one', '901-coluna.sql', 'eventos_proxima'],
    ['a month', '902-indice.sql', `notas_proxima_${MESES[0]}`],
  ] as const) {
    test(`of ${of}, broken off, is taken away and made anew`, async () => {
      const database = await fullDatabase(300, await withProximas(before));
      const { pool, client } = database;
      const reader = await startReader(database);
      const broken = migrateOn(pool).catch((error: Error) => error);
      await untilThere(client, index);
      await killMigration(database);
      assert.ok((await broken) instanceof Error);
      assert.equal(await validityOf(client, index), false, 'it is left, and nobody may use it');
      await reader.query('commit');
      const told: string[] = [];
      await migrateOn(pool, (text) => told.push(text));
      assert.equal(await validityOf(client, index), true);
      assert.ok(
        told.some((text) => text.includes(`${index} ficou pela metade`)),
        told.join('\n'),
      );
      assert.deepEqual(await schemaOf(pool), await schemaNext());
    });
  }

  test('of all months keeps nobody from writing, and from making a month, which brings it along', async () => {
    const database = await fullDatabase(300, await withProximas('902-indice.sql'));
    const { pool, client } = database;
    const reader = await startReader(database);
    const migrated = migrateOn(pool);
    await untilThere(client, `notas_proxima_${MESES[0]}`);
    await client.query(`update notas set movimentos = 4 where tenant = 'alfa' and mes = $1 and id = 1`, [MESES[0]]);
    await ensureMeses(pool, [LATER]);
    await reader.query('commit');
    await migrated;
    assert.equal(await validityOf(client, 'notas_proxima'), true);
    assert.deepEqual(await schemaOf(pool), await schemaNext());
  });

  test('of all months goes on with the month at which it was killed', async () => {
    const database = await fullDatabase(300, await withProximas('902-indice.sql'));
    const { pool, client, connection } = database;
    const holder = await session(connection);
    // The index of the second month is blocked, so the first month has its own by then.
    await holder.query(`begin; lock table notas_${MESES[1]} in share update exclusive mode`);
    const told: string[] = [];
    const broken = migrateOn(pool, (text) => told.push(text)).catch((error: Error) => error);
    const isHeld = `pg_stat_activity where application_name = 'nfse-migrar' and wait_event_type = 'Lock' and datname = current_database()`;
    await until(async () => (await count(client, isHeld)) > 0 || undefined, 'the second month is waited for');
    assert.equal(await validityOf(client, 'notas_proxima'), false, 'nobody may use it yet');
    await killMigration(database);
    assert.ok((await broken) instanceof Error);
    await holder.query('commit');
    const oid = `select oid from pg_class where relname = 'notas_proxima_${MESES[0]}'`;
    const before = (await client.query(oid)).rows;
    told.length = 0;
    await migrateOn(pool, (text) => told.push(text));
    assert.deepEqual((await client.query(oid)).rows, before, 'the index that was made is the one that is there');
    assert.ok(!told.some((text) => text.includes(`em notas_${MESES[0]}`) && text.includes('índice notas_proxima')));
    assert.deepEqual(await schemaOf(pool), await schemaNext());
  });
});

test('a constraint is looked through month by month: who makes a month does not wait for all of them', async () => {
  const { pool, connection, client } = await fullDatabase();
  const added = [
    ...(await shippedMigrations()),
    migrationOf('901-regra.sql', 'alter table notas add constraint notas_regra check (id > 0) not valid'),
  ];
  await migrate(pool, undefined, undefined, added);
  const holder = await session(connection);
  await holder.query(`begin; lock table notas_${MESES[1]} in share update exclusive mode`);
  const checked = migrationOf('902-conferida.sql', 'alter table notas validate constraint notas_regra');
  const migrated = migrate(pool, undefined, undefined, [...added, checked]);
  /** The locks on the whole table, other than access share, of the session that waits for the second month. */
  const held = `select coalesce(string_agg(h.mode, ', '), '') as modes from pg_locks w
    left join pg_locks h on h.pid = w.pid and h.granted and h.relation = 'notas'::regclass and h.mode <> 'AccessShareLock'
    where not w.granted and w.relation = 'notas_${MESES[1]}'::regclass group by w.pid`;
  const modes = await until(
    async () => (await client.query<{ modes: string }>(held)).rows[0]?.modes,
    'it is waited for',
  );
  assert.equal(modes, '');
  await ensureMeses(pool, [LATER]);
  await holder.query('commit');
  await migrated;
  assert.equal(await count(client, 'pg_constraint where not convalidated'), 0);
  assert.equal(await count(client, `pg_constraint where conname = 'notas_regra'`), 1 + (await count(client, 'meses')));
});

describe('rows', () => {
  test('are filled from the place that was reached, whoever was killed', async () => {
    const database = await fullDatabase(5_000);
    const { pool, client, connection } = database;
    const holder = await session(connection);
    await holdPlace(holder, MESES[2]);
    const broken = migrateOn(pool).catch((error: Error) => error);
    const reached = `migracoes_andamento where nome = '901-coluna.sql' and tenant = 'alfa'`;
    const isReached = async () =>
      (await count(client, `${reached} and mes = ${MESES[1]} and ate = 3333`)) > 0 || undefined;
    await until(isReached, 'two of three months are filled');
    await killMigration(database);
    assert.ok((await broken) instanceof Error);
    await holder.query('rollback');
    assert.equal(await count(client, 'notas where proxima = id'), 3_333);
    /**
     * Filled rows are not filled again. Earlier rows that lost their value stay so, and the next step's check refuses them until the value
     * is restored.
     */
    const lose = (value: string) =>
      client.query(`update notas set proxima = ${value} where tenant = 'alfa' and id in (1, 3333)`);
    await lose('null');
    await assert.rejects(migrateOn(pool), { code: '23514' });
    await lose('id');
    const told: string[] = [];
    await migrateOn(pool, (text) => told.push(text));
    assert.match(told[0] ?? '', /^\[4\/\d+\] 901-coluna.sql: confere notas_/);
    assert.deepEqual(await schemaOf(pool), await schemaNext());
    assert.equal(await count(client, 'notas where proxima = id'), 5_000);
  });

  test('of all months are each read for one batch, not for all that come after it', async () => {
    const rows = 12_000;
    const { pool, client } = await fullDatabase(rows);
    const read = `select sum(idx_tup_fetch + seq_tup_read)::int as count from pg_stat_user_tables where relname ~ '^notas_\\d{6}$'`;
    const countRead = async (): Promise<number> => (await client.query<{ count: number }>(read)).rows[0]!.count;
    await client.query('select pg_stat_force_next_flush()');
    const before = await countRead();
    await migrate(pool, undefined, undefined, await withProximas('901-coluna.sql'));
    // The statistics of a session reach the server when the session ends.
    const after = await until(async () => {
      const now = await countRead();
      return now - before >= 2 * rows ? now : undefined;
    }, 'the server counts what was read');
    // Each row is read for the end of a batch, for its change, and once by the check. One more read for each of a month's four batches
    // would be 30,000 rows.
    assert.ok(after - before <= 4 * rows, `${after - before} rows read of ${rows}`);
  });
});

test('a program that is older than the database says so and ends; one that is running hears of it', async () => {
  const { pool, connection, client } = await fullDatabase(1);
  await migrate(pool);
  assert.deepEqual(await newerMigrations(pool), []);
  await client.query(`insert into migracoes values ('999-de-amanha.sql', now())`);
  assert.deepEqual(await newerMigrations(pool), ['999-de-amanha.sql']);
  await assert.rejects(migrate(pool), NewerSchemaError);
  for (const command of ['migrar', 'serve']) {
    const { code, err } = await nfse([command], { DATABASE_URL: databaseUrlOf(connection), PORT: '0' });
    assert.equal(code, 1, err);
    assert.match(err, /versão mais nova do que este programa \(tem 999-de-amanha\.sql/);
    assert.match(err, /restaure a cópia/);
  }
});

describe('a database of a program of before the first release', () => {
  /** The list that such a program left, with the names of its own files. */
  const LIST = `create table migracoes (nome text primary key, aplicada_em timestamptz not null);
    insert into migracoes values ('001-notas.sql', now()), ('002-estatisticas.sql', now())`;

  test('is refused by name, and is left as it is', async () => {
    const connection = await emptyDatabase();
    const client = await session(connection);
    await client.query(LIST);
    const before = await schemaOf(client);
    for (const command of ['migrar', 'serve']) {
      const { code, err } = await nfse([command], { DATABASE_URL: databaseUrlOf(connection), PORT: '0' });
      assert.equal(code, 1, err);
      assert.ok(
        err.includes(`O banco de dados «${connection.database}» foi feito por um programa de antes da versão 0.1.0`),
        err,
      );
      assert.match(err, /não se converte.*Crie outro, vazio.*DATABASE_URL/s);
      assert.doesNotMatch(err, /versão mais nova/);
    }
    assert.deepEqual(await schemaOf(client), before);
  });

  test('that is embedded is refused by its folder, which is moved away', async () => {
    const dataDir = await readyDataDir();
    const server = await openEmbedded({ dataDir, log: { info() {}, warn() {}, error() {} } });
    const client = new Client(server.connection);
    await client.connect();
    await client.query(`drop schema public cascade; create schema public; ${LIST}`);
    await client.end();
    await server.stop();
    const { code, err } = await nfse(['migrar'], { NFSE_DATA_DIR: dataDir });
    assert.equal(code, 1, err);
    assert.ok(
      err.includes(`O banco de dados embutido na pasta ${dataDir} foi feito por um programa de antes da versão 0.1.0`),
      err,
    );
    assert.ok(err.includes(`mv ${dataDir} ${dataDir}-antes`), err);
    await rename(dataDir, `${dataDir}-antes`);
    onEnd(() => rm(`${dataDir}-antes`, { recursive: true, force: true }));
    const again = await nfse(['migrar'], { NFSE_DATA_DIR: dataDir });
    assert.equal(again.code, 0, again.err);
  });
});
