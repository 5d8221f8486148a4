/** Readiness while callers use every connection of the pool. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { monotonicClock } from '../../../test/support/clock.ts';
import { freshDatabase, poolOn, testServers } from '../../../test/support/database.ts';
import { until } from '../../../test/support/until.ts';
import { type Db, openPool, runTransaction } from './open.ts';
import { Client } from './pg.ts';
import { checkWriting } from './readiness.ts';
import { unavailabilityOf } from './unavailable.ts';

/** A pool of two connections, both in use; `release` frees them. `alter`: changes the database for new connections. */
async function busyPool() {
  const connection = await freshDatabase();
  const pool = await poolOn({ ...connection, max: 2 } as typeof connection, false);
  const held = [await pool.connect(), await pool.connect()];
  const alter = async (how: string): Promise<void> => {
    const other = new Client((await testServers())[0]);
    await other.connect();
    await other.query(`alter database ${connection.database} ${how}`);
    await other.end();
  };
  let isHeld = true;
  const release = (): void => {
    if (isHeld) for (const client of held) client.release();
    isHeld = false;
  };
  onEnd(release);
  return { pool, alter, release };
}

const kindOf = (pool: Db): Promise<string | undefined> => checkWriting(pool).then(() => undefined, unavailabilityOf);

describe('a pool whose connections are all in use', () => {
  test('is ready: the question has a connection of its own', async () => {
    const { pool, release } = await busyPool();
    const waiting = pool.connect();
    assert.equal(await kindOf(pool), undefined);
    assert.deepEqual([pool.totalCount, pool.idleCount, pool.waitingCount], [2, 0, 1]);
    release();
    (await waiting).release();
  });

  test('is not ready if the database takes no writes', async () => {
    const { pool, alter } = await busyPool();
    await alter('set default_transaction_read_only = on');
    assert.equal(await kindOf(pool), 'read_only');
  });

  test('is ready for a second after a commit, even if the server grants no further connection', async (t) => {
    const { pool, alter, release } = await busyPool();
    release();
    const { passMs } = monotonicClock(t);
    await runTransaction(pool, (client) => client.query('select 1'));
    const held = [await pool.connect(), await pool.connect()];
    await alter('allow_connections false');
    assert.equal(await kindOf(pool), undefined);
    passMs(1_000);
    await assert.rejects(checkWriting(pool));
    await alter('allow_connections true');
    assert.equal(await kindOf(pool), undefined);
    for (const client of held) client.release();
  });

  test('is waited for if it holds all that the server grants', async () => {
    const connection = await freshDatabase();
    const admin = await poolOn(connection);
    // Only ordinary roles have a limit.
    const role = `r_${connection.database}`;
    await admin.query(`create role ${role} login password 'r' connection limit 1`);
    onEnd(() => admin.query(`drop role ${role}`));
    const pool = openPool({ ...connection, user: role, password: 'r', max: 1 }, assert.fail);
    onEnd(() => pool.end());
    const held = await pool.connect();
    const asked = kindOf(pool);
    await until(async () => pool.waitingCount === 1, 'the question in the line of the pool');
    held.release();
    assert.equal(await asked, undefined);
  });
});
