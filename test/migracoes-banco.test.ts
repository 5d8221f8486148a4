/**
 * Migrations on a real PostgreSQL with rows in it: that every way ends in the same schema, that what was broken off goes on, that whoever
 * holds a lock is waited for and nobody waits behind, and that a program knows when it is too old.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { migrate, NewerSchemaError, newerMigrations } from '../src/store/migrate.ts';
import { migrationNames } from '../src/store/migrations.ts';
import { openPool } from '../src/store/open.ts';
import type { Client } from '../src/store/pg.ts';
import { BEFORE, databaseOf, LAST_BEFORE, NOW, oldSql, session } from './support/banco-de-antes.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, freshPool } from './support/database.ts';
import { schemaOf } from './support/esquema.ts';
import { nfse } from './support/process.ts';
import { startProxy } from './support/proxy.ts';
import { LONG } from './support/seed.ts';
import { until, untilTrue } from './support/until.ts';

const count = async (client: Client, text: string): Promise<number> =>
  (await client.query<{ count: number }>(`select count(*)::int as count from ${text}`)).rows[0]!.count;

let today: ReturnType<typeof schemaOf> | undefined;

/** The schema of a database that was made now. */
function schemaToday(): ReturnType<typeof schemaOf> {
  today ??= freshPool().then(schemaOf);
  return today;
}

describe('every way ends in the same schema', () => {
  for (const last of [
    '021-simulacoes.sql',
    '040-lotes.sql',
    '050-substitutas.sql',
    '064-lotes-refeitos.sql',
    LAST_BEFORE,
  ]) {
    test(`from a database of ${last}`, async () => {
      const { pool, client } = await databaseOf(last);
      await migrate(pool);
      assert.deepEqual(await schemaOf(pool), await schemaToday());
      assert.equal(await count(client, 'migracoes_andamento'), 0, 'nothing is left under way');
      assert.equal(await count(client, 'notas where movimentos = 3'), 300);
      assert.equal(await count(client, 'trilha_notas where movimento in (1, 2, 3)'), 900);
      // E0840 is between the parties, E1234 is not: one each of twenty notes. Rows that came after 062 say it themselves.
      if (last < '062')
        assert.equal(await count(client, `eventos where entre_partes and codigo_retorno = 'E0840'`), 15);
      if (last < '062') assert.equal(await count(client, 'eventos where not entre_partes'), 15);
    });
  }

  test('a fixture of before is a file of today, said in other words', async () => {
    const names = readdirSync(BEFORE);
    assert.ok(names.length > 0);
    for (const nome of names) {
      assert.ok((await migrationNames()).includes(nome), nome);
      assert.notEqual(oldSql(nome), readFileSync(new URL(nome, NOW), 'utf8'), nome);
    }
  });
});

test('two processes take turns on a database with rows, and each migration is applied once', async () => {
  const { pool, connection, client } = await databaseOf('064-lotes-refeitos.sql');
  const other = openPool(connection, () => undefined);
  onEnd(() => other.end());
  const missing = (await migrationNames()).filter((nome) => nome > '064-lotes-refeitos.sql');
  const applied = await Promise.all([migrate(pool), migrate(other)]);
  assert.deepEqual(applied.flat().toSorted(), missing);
  assert.deepEqual(await migrate(other), [], 'and never again');
  assert.equal(await count(client, 'migracoes'), (await migrationNames()).length);
});

test('a note whose table somebody holds is waited for, and nobody waits behind', async () => {
  const { pool, connection, client } = await databaseOf('064-lotes-refeitos.sql');
  const holder = await session(connection);
  await holder.query(`set application_name = 'relatorio'; begin; select 1 from notas limit 1`);
  const { rows } = await holder.query<{ who: string }>(
    `select format('relatorio, usuário %s, pid %s, idle in transaction há', current_user, pg_backend_pid()) as who`,
  );
  const told: string[] = [];
  const migrated = migrate(pool, (text) => told.push(text));
  await untilTrue(() => told.some((text) => /nova tentativa em seguida/.test(text)), 'the lock is given up');
  const line = told.find((text) => /nova tentativa em seguida/.test(text))!;
  assert.ok(line.includes(`a tabela notas está em uso, espera por ${rows[0]!.who} `), line);
  // The one who holds it is still there, and so would be whoever stood behind a lock that is waited for without end.
  await client.query(`update notas set tentativas = 1 where tenant = 'alfa' and id = 1`);
  assert.equal(await count(client, `migracoes where nome like '074%'`), 0);
  await holder.query('commit');
  assert.ok((await migrated).includes('074-notas-retidas.sql'));
});

test('a row that somebody holds is waited for, and who does is said', async () => {
  const { pool, connection } = await databaseOf('040-lotes.sql');
  const [first, holder] = [await session(connection), await session(connection)];
  await first.query('begin; select 1 from notas limit 1');
  const told: string[] = [];
  const migrated = migrate(pool, (text) => told.push(text));
  await untilTrue(() => told.some((text) => /a tabela notas está em uso/.test(text)), 'the table of places is there');
  // Where the places of the batches will be remembered.
  await holder.query(`begin; insert into migracoes_andamento (tenant, nome, passo, ate)
    select 'alfa', '050-substitutas.sql', passo, -1 from generate_series(0, 9) as passo`);
  await first.query('commit');
  const isTold = (): boolean => told.some((text) => /uma linha está em uso, espera por sem nome, usuário /.test(text));
  await untilTrue(isTold, 'the holder of the row');
  await holder.query('rollback');
  await migrated;
});

test('who is asked to end does so where it is, and the next one goes on', async () => {
  const { pool, connection, client } = await databaseOf('064-lotes-refeitos.sql');
  const holder = await session(connection);
  await holder.query('begin; select 1 from notas limit 1');
  const asked = new AbortController();
  const why = new Error('it is time to go');
  const told: string[] = [];
  const migrated = migrate(pool, (text) => told.push(text), asked.signal);
  await untilTrue(() => told.some((text) => /a tabela notas está em uso/.test(text)), 'a lock is waited for');
  asked.abort(why);
  await assert.rejects(migrated, (error) => error === why);
  await assert.rejects(migrate(pool, undefined, asked.signal), (error) => error === why);
  assert.equal(await count(client, `pg_stat_activity where application_name = 'nfse-migrar' and state = 'active'`), 0);
  await holder.query('commit');
  await migrate(pool);
  assert.deepEqual(await schemaOf(pool), await schemaToday());
});

test('a server that falls silent in the midst of it is given up, as late as one may be that is only slow', {
  skip: !LONG && 'takes half a minute: NFSE_TEST_LONGO=1',
}, async () => {
  const { connection, client } = await databaseOf('064-lotes-refeitos.sql');
  const proxy = await startProxy(connection);
  const pool = openPool(proxy.connection, () => undefined);
  onEnd(() => pool.end());
  const holder = await session(connection);
  await holder.query('begin; select 1 from notas limit 1');
  const told: string[] = [];
  const migrated = migrate(pool, (text) => told.push(text));
  await untilTrue(() => told.length > 1, 'a lock is waited for');
  proxy.way = 'swallowed';
  await pause(6_000);
  proxy.way = 'forwarded';
  await pause(6_000);
  proxy.way = 'swallowed';
  await assert.rejects(migrated, { kind: 'gone' });
  await holder.query('commit');
  // The next process knows nothing of the silence.
  const next = openPool(connection, () => undefined);
  onEnd(() => next.end());
  await migrate(next);
  assert.equal(await count(client, 'migracoes'), (await migrationNames()).length);
});

test('an index that was broken off is taken away and made anew', async () => {
  const { pool, connection, client } = await databaseOf('050-substitutas.sql');
  const reader = await session(connection);
  await reader.query('begin isolation level repeatable read; select 1 from municipios');
  const maker = await session(connection);
  const { rows } = await maker.query<{ pid: number }>('select pg_backend_pid() as pid');
  const made = maker
    .query('create index concurrently notas_substitui on notas (tenant, substitui)')
    .catch((error) => error);
  const isValid = async (): Promise<boolean | undefined> =>
    (
      await client.query<{ indisvalid: boolean }>(
        `select indisvalid from pg_index where indexrelid = to_regclass('notas_substitui')`,
      )
    ).rows[0]?.indisvalid;
  await until(isValid, 'the index is being made');
  await client.query('select pg_cancel_backend($1)', [rows[0]!.pid]);
  assert.equal((await made).code, '57014');
  await reader.query('commit');
  assert.equal(await isValid(), false, 'it is left, and nobody may use it');
  const told: string[] = [];
  await migrate(pool, (text) => told.push(text));
  assert.equal(await isValid(), true);
  assert.ok(told.some((text) => /notas_substitui ficou pela metade/.test(text)));
  assert.deepEqual(await schemaOf(pool), await schemaToday());
});

test('rows are filled from the place that was reached, whoever was killed', async () => {
  const { pool, client } = await databaseOf('040-lotes.sql', 5_000);
  const told: string[] = [];
  /** The session that fills ends in the midst of it, as it does when its process is killed. */
  const migrated = migrate(pool, (text) => told.push(text)).catch((error: Error) => error);
  const reached = `migracoes_andamento where nome = '050-substitutas.sql' and tenant = 'alfa' and ate >= 2000`;
  const isReached = async (): Promise<boolean> =>
    (await client.query(`select to_regclass('migracoes_andamento') is not null as is`)).rows[0].is &&
    (await count(client, reached)) > 0;
  await until(async () => (await isReached()) || undefined, 'two thousand rows are filled');
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'nfse-migrar'`);
  assert.ok((await migrated) instanceof Error);
  const place = (await client.query<{ ate: string }>(`select ate from ${reached}`)).rows[0]!.ate;
  assert.ok(Number(place) < 5_000, `reached ${place}`);
  /**
   * What was filled is not filled again: rows before the place that lose their value keep it lost, so the check of the next step
   * refuses them, until they are given it back.
   */
  await client.query(`alter table notas disable trigger movimentos_largos`);
  await client.query(`update notas set movimentos_largo = null where tenant = 'alfa' and id = 1`);
  await assert.rejects(migrate(pool), { code: '23514' });
  await client.query(`update notas set movimentos_largo = 3 where tenant = 'alfa' and id = 1`);
  told.length = 0;
  await migrate(pool, (text) => told.push(text));
  assert.match(told[0] ?? '', /^\[8\//);
  assert.deepEqual(await schemaOf(pool), await schemaToday());
  assert.equal(await count(client, 'notas where movimentos = 3'), 5_000);
});

test('a program that is older than the database says so and ends; one that is running hears of it', async () => {
  const { pool, connection, client } = await databaseOf(LAST_BEFORE, 1);
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
