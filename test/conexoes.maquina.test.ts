/** The number of connections that the service opens, and its behaviour with fewer than it asks for (D-247). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openMigrationPool } from '../src/base/pg/migration-steps.ts';
import { openPool } from '../src/base/pg/open.ts';
import type { ClientConfig } from '../src/base/pg/pg.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { readConfig } from '../src/wiring/config.ts';
import { createLog } from '../src/wiring/log.ts';
import { openStore } from '../src/wiring/open-store.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, freshDatabase, poolOn } from './support/database.ts';
import { authorised, emit } from './support/http.ts';
import { startServiceProcess } from './support/process.ts';
import { unlessStoodStill } from './support/standstill.ts';

const NOTES = 60;
const LIMIT = 3;

async function issueMany(address: string): Promise<readonly string[]> {
  const answers = await Promise.all(
    Array.from({ length: NOTES }, (_, place) => emit(address, exampleXml({ serie: '1', nDPS: String(place + 1) }))),
  );
  return answers.map(({ status, body }) => {
    assert.equal(status, 201, JSON.stringify(body));
    return body.chave_acesso as string;
  });
}

/** A role that owns nothing and may do everything; `limit`: its connection limit. */
async function roleWith(limit: number): Promise<ClientConfig> {
  const database = await freshDatabase();
  const pool = await poolOn(database);
  const user = `u_${database.database}`;
  await pool.query(`create role ${user} login connection limit ${limit}; grant ${database.user} to ${user}`);
  await pool.query(`grant all on schema public to ${user}; grant all on all tables in schema public to ${user}`);
  onEnd(() => pool.query(`drop owned by ${user}; drop role ${user}`));
  return { ...database, user };
}

test('two processes that are granted three connections together wait for one another', {
  timeout: 600_000,
}, async () => {
  const connection = await roleWith(LIMIT);
  const service = await startServiceProcess({ DATABASE_URL: databaseUrlOf(connection), NFSE_PROCESSOS: '2' });
  const keys = await issueMany(service.address);
  for (const key of keys) await authorised(service.address, key);
  assert.equal(await service.end('SIGTERM'), 0);
});

// A service that was not answered for long drops its connections, and the server notices that only after a while.
test('no more are opened than the settings say', { timeout: 600_000 }, () => unlessStoodStill(openNoMore));

async function openNoMore(): Promise<void> {
  const connection = await roleWith(50);
  const watching = await poolOn({ ...connection, user: (await freshDatabase()).user });
  const service = await startServiceProcess({
    DATABASE_URL: databaseUrlOf(connection),
    NFSE_CONEXOES: '2',
    NFSE_CONEXOES_TRANSMISSAO: '1',
  });
  let highest = 0;
  let isEnded = false;
  const look = async (): Promise<void> => {
    while (!isEnded) {
      const text = 'select count(*)::int as count from pg_stat_activity where usename = $1';
      const { rows } = await watching.query<{ count: number }>(text, [connection.user]);
      highest = Math.max(highest, rows[0]!.count);
    }
  };
  const looking = look();
  const keys = await issueMany(service.address);
  for (const key of keys) await authorised(service.address, key);
  isEnded = true;
  await looking;
  assert.equal(await service.end('SIGTERM'), 0);
  // The health check adds one: its query has its own connection.
  assert.ok(highest === 3 || highest === 4, `${highest} connections`);
}

describe('options in DATABASE_URL', () => {
  const OPTIONS = `?options=${encodeURIComponent('-c work_mem=7MB -c enable_seqscan=on -c TimeZone=Asia/Tokyo')}`;
  const configOf = async (more: NodeJS.ProcessEnv = {}) =>
    readConfig({ DATABASE_URL: databaseUrlOf(await freshDatabase()) + OPTIONS, ...more }, false);
  const { log } = createLog('silent');

  test('are heeded beside ours, which hold where both say something', async () => {
    const opened = await openStore(await configOf(), log);
    onEnd(() => opened.close());
    const serving = openPool(opened.connection, () => undefined);
    const migrating = openMigrationPool(serving);
    const text = `select current_setting('work_mem') as memory, current_setting('TimeZone') as zone,
      current_setting('enable_seqscan') as scans, current_setting('statement_timeout') as limit`;
    for (const [pool, scans, limit] of [
      [serving, 'off', '30s'],
      [migrating, 'on', '0'],
    ] as const) {
      onEnd(() => pool.end());
      assert.deepEqual((await pool.query(text)).rows, [{ memory: '7MB', zone: 'UTC', scans, limit }]);
    }
  });

  test('do not go through a pooler, which is told', async () => {
    await assert.rejects(openStore(await configOf({ NFSE_PGBOUNCER: '1' }), log), /options= em DATABASE_URL não passa/);
  });
});
