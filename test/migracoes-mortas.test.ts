/**
 * `nfse migrar` is killed with -9 at every word that it says to the database, and given again, until one ends by itself: however often it
 * is killed it goes on where it was, and ends in the schema and the rows of one that nobody disturbed. NFSE_TEST_LONGO=1.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import type { Client, ClientConfig } from '../src/store/pg.ts';
import { databaseOf, session } from './support/banco-de-antes.ts';
import { databaseUrlOf, emptyDatabase, freshPool } from './support/database.ts';
import { schemaOf } from './support/esquema.ts';
import { ROOT } from './support/process.ts';
import { startProxy } from './support/proxy.ts';
import { LONG } from './support/seed.ts';

const options = { skip: !LONG && 'some hundred processes: NFSE_TEST_LONGO=1', timeout: 3_600_000 };

/** Which words count: all, or those of the connection that takes the steps. */
type Words = 'all' | 'of the steps';

/** A command that can be killed as soon as it has said so many words, the last of which arrives. */
async function killable(
  connection: ClientConfig,
  words: Words,
): Promise<(killAt: number) => Promise<{ readonly code: number | NodeJS.Signals | null; readonly said: string }>> {
  let run = { killAt: 0, count: 0, migrating: [] as Socket[], kill: (): unknown => undefined };
  const proxy = await startProxy(connection, (bytes, socket) => {
    if (bytes.includes('nfse-migrar\0')) run.migrating.push(socket);
    // Of the two the first keeps the turn.
    else if (words === 'all' || run.migrating[1] === socket) {
      run.count += 1;
      if (run.count === run.killAt) run.kill();
    }
  });
  const env = { ...process.env, DATABASE_URL: databaseUrlOf(proxy.connection) };
  return (killAt) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [path.join(ROOT, 'src/main.ts'), 'migrar'], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      run = { killAt, count: 0, migrating: [], kill: () => child.kill('SIGKILL') };
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
      child.once('error', reject);
      child.once('close', (code, by) => resolve({ code: code ?? by, said }));
    });
}

/** What is done so far; one that was killed may still be at the last thing that it was told. */
async function progressOf(client: Client): Promise<string> {
  await client.query('select 1');
  for (;;) {
    const { rows } = await client.query<{ busy: number }>(
      `select count(*)::int as busy from pg_stat_activity where datname = current_database() and application_name = 'nfse-migrar'`,
    );
    if (rows[0]!.busy === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { rows } = await client.query<{ progress: string }>(
    `select concat((select count(*) from migracoes), ' ', (select string_agg(format('%s %s %s', nome, passo, ate), ',' order by nome, passo, tenant)
       from migracoes_andamento)) as progress`,
  );
  return rows[0]!.progress;
}

async function rowsOf(client: Client): Promise<unknown> {
  const { rows } = await client.query(`select
    (select count(*)::int from notas where movimentos = 3) as notas,
    (select count(*)::int from trilha_notas where movimento in (1, 2, 3)) as trilha,
    (select count(*)::int from eventos where entre_partes) as partes,
    (select count(*)::int from eventos where not entre_partes) as outros,
    (select count(*)::int from aliquotas_ibs_cbs) as aliquotas,
    (select count(*)::int from migracoes) as migracoes, (select count(*)::int from migracoes_andamento) as andamento`);
  return rows[0];
}

test('every word of every step, on a database with rows', options, async (t) => {
  const { connection, client } = await databaseOf('021-simulacoes.sql', 2_500);
  const undisturbed = await databaseOf('021-simulacoes.sql', 2_500);
  assert.equal((await (await killable(undisturbed.connection, 'all'))(0)).code, 0);
  const migrar = await killable(connection, 'of the steps');
  let kills = 0;
  let places = 0;
  let before = '';
  for (let killAt = 1; ; killAt += 1) {
    const { code, said } = await migrar(killAt);
    if (code === 0) break;
    assert.equal(code, 'SIGKILL', said);
    kills += 1;
    const after = await progressOf(client);
    if (after === before) continue;
    // Each place is tried from its first word on.
    before = after;
    places += 1;
    killAt = 0;
  }
  t.diagnostic(`killed ${kills} times, at ${places} places`);
  assert.ok(places > 40, `${places} places`);
  assert.deepEqual(await schemaOf(client), await schemaOf(await freshPool()));
  assert.deepEqual(await rowsOf(client), await rowsOf(undisturbed.client));
});

test('every word on an empty database', options, async (t) => {
  const connection = await emptyDatabase();
  const client = await session(connection);
  const migrar = await killable(connection, 'all');
  let kills = 0;
  for (;;) {
    const { code, said } = await migrar(kills + 1);
    if (code === 0) break;
    assert.equal(code, 'SIGKILL', said);
    kills += 1;
  }
  t.diagnostic(`killed ${kills} times`);
  assert.ok(kills > 5);
  const pool = await freshPool();
  assert.deepEqual(await schemaOf(client), await schemaOf(pool));
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from aliquotas_ibs_cbs');
  assert.equal(((await rowsOf(client)) as { aliquotas: number }).aliquotas, rows[0]!.count);
});
