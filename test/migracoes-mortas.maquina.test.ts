/**
 * `nfse migrar` is killed with -9 at every message to the database, and restarted, until one run ends by itself. It continues after each
 * kill, and ends in the schema and rows of an undisturbed run. NFSE_TEST_LONGO=1.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import type { Client, ClientConfig } from '../src/base/pg/pg.ts';
import { fullDatabase, MESES, session } from './support/banco-cheio.ts';
import { databaseUrlOf, emptyDatabase, freshPool } from './support/database.ts';
import { schemaOf } from './support/esquema.ts';
import { ROOT } from './support/process.ts';
import { withProximas } from './support/proximas.ts';
import { startProxy } from './support/proxy.ts';
import { LONG } from './support/seed.ts';
import { until } from './support/until.ts';
import { nextVersion } from './support/versoes.ts';

const options = { skip: !LONG && 'some hundred processes: NFSE_TEST_LONGO=1', timeout: 3_600_000 };

/** Two batches, the second one short, in each of two months. */
const ROWS = 2_200;

/** Receives the messages of a process; true: the process is killed, but its last message arrives. */
type Hear = (bytes: Buffer, said: { readonly count: number; readonly isOfTheSteps: boolean }) => boolean;

type Ended = { readonly code: number | NodeJS.Signals | null; readonly said: string };

/** `migrar` of a program, which is killed as soon as `hear` says so. */
async function killable(root: string, connection: ClientConfig): Promise<(hear: Hear) => Promise<Ended>> {
  let run = { hear: (() => false) as Hear, count: 0, migrating: [] as Socket[], kill: (): unknown => undefined };
  const proxy = await startProxy(connection, (bytes, socket) => {
    if (bytes.includes('nfse-migrar\0')) run.migrating.push(socket);
    run.count += 1;
    // The first of the two migrating sessions holds the lock of the turn; the second runs the steps.
    if (run.hear(bytes, { count: run.count, isOfTheSteps: run.migrating[1] === socket })) run.kill();
  });
  const env = { ...process.env, DATABASE_URL: databaseUrlOf(proxy.connection) };
  return (hear) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [path.join(root, 'src/main.js'), 'migrar'], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      run = { hear, count: 0, migrating: [], kill: () => child.kill('SIGKILL') };
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
      child.once('error', reject);
      child.once('close', (code, by) => resolve({ code: code ?? by, said }));
    });
}

/**
 * True once for each message of the steps. A message is identified by all since its transaction began, with its values, so commits differ
 * from each other. A restarted process repeats messages to find its position; those were tried at their first occurrence.
 */
function atEachNewWord(): () => Hear {
  const tried = new Set<string>();
  return () => {
    let word = createHash('sha256');
    let isKilled = false;
    return (bytes, { isOfTheSteps }) => {
      if (!isOfTheSteps || isKilled) return false;
      if (bytes.includes('begin;')) word = createHash('sha256');
      const name = word.update(bytes).copy().digest('hex');
      if (bytes.includes('commit\0')) word = createHash('sha256');
      isKilled = !tried.has(name);
      tried.add(name);
      return isKilled;
    };
  };
}

/** The progress so far; the server may still be busy with the last statement of a killed process. */
async function progressOf(client: Client): Promise<string> {
  await client.query('select 1');
  await until(async () => {
    const { rows } = await client.query<{ busy: number }>(
      `select count(*)::int as busy from pg_stat_activity where datname = current_database() and application_name = 'nfse-migrar'`,
    );
    return rows[0]!.busy === 0 || undefined;
  }, 'the server is done with what it was told');
  const { rows } = await client.query<{ progress: string }>(
    `select concat((select count(*) from migracoes), ' ', (select string_agg(format('%s %s %s %s', nome, passo, mes, ate), ',' order by nome, passo, tenant, mes)
       from migracoes_andamento)) as progress`,
  );
  return rows[0]!.progress;
}

/** The rows that the migrations of the next version have filled. */
async function rowsOf(client: Client): Promise<unknown> {
  const { rows } = await client.query(`select
    (select count(*)::int from notas where proxima = id) as notas,
    (select count(*)::int from eventos where proxima = 'de ' || nota) as eventos,
    (select count(*)::int from proximas) as proximas,
    (select count(*)::int from migracoes) as migracoes, (select count(*)::int from migracoes_andamento) as andamento`);
  return rows[0];
}

test('every word of every step, on a database with rows', options, async (t) => {
  const root = await nextVersion();
  const { connection, client } = await fullDatabase(ROWS, [], MESES.slice(-2));
  const undisturbed = await fullDatabase(ROWS, [], MESES.slice(-2));
  assert.equal((await (await killable(root, undisturbed.connection))(() => false)).code, 0);
  const migrar = await killable(root, connection);
  const hear = atEachNewWord();
  const places = new Set<string>();
  let kills = 0;
  for (; ; kills += 1) {
    const { code, said } = await migrar(hear());
    if (code === 0) break;
    assert.equal(code, 'SIGKILL', said);
    places.add(await progressOf(client));
  }
  t.diagnostic(`killed ${kills} times, at ${places.size} places`);
  assert.ok(places.size > 20, `${places.size} places`);
  assert.deepEqual(await schemaOf(client), await schemaOf(undisturbed.client));
  const all = { notas: ROWS, eventos: ROWS / 10, proximas: 1, migracoes: (await withProximas()).length, andamento: 0 };
  assert.deepEqual(await rowsOf(undisturbed.client), all);
  assert.deepEqual(await rowsOf(client), all);
});

test('every word on an empty database', options, async (t) => {
  const connection = await emptyDatabase();
  const client = await session(connection);
  const migrar = await killable(ROOT, connection);
  let kills = 0;
  for (;;) {
    const { code, said } = await migrar((_bytes, { count }) => count === kills + 1);
    if (code === 0) break;
    assert.equal(code, 'SIGKILL', said);
    kills += 1;
  }
  t.diagnostic(`killed ${kills} times`);
  assert.ok(kills > 5);
  const pool = await freshPool();
  assert.deepEqual(await schemaOf(client), await schemaOf(pool));
  for (const table of ['migracoes', 'aliquotas_ibs_cbs', 'meses']) {
    const text = `select count(*)::int as count from ${table}`;
    assert.deepEqual((await client.query(text)).rows, (await pool.query(text)).rows, table);
  }
});
