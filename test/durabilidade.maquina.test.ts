/** A server that does not wait for its disk: the service's operator is told what a crash loses, and what to change. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { durabilityWarnings } from '../src/base/pg/durability.ts';
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { openPool } from '../src/base/pg/open.ts';
import type { ClientConfig } from '../src/base/pg/pg.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { nfse, readyDataDir, startServiceProcess } from './support/process.ts';
import { untilTrue } from './support/until.ts';

const quiet = { info() {}, warn() {}, error: console.error };
const ALL = ['fsync', 'full_page_writes', 'synchronous_commit'];

async function changedAnd(connection: ClientConfig, change?: string): Promise<readonly string[]> {
  const pool = openPool(connection, () => undefined);
  try {
    if (change === undefined) return await durabilityWarnings(pool);
    await pool.query(change);
  } finally {
    await pool.end();
  }
  return changedAnd(connection);
}

const offIn = (text: string): readonly string[] =>
  [...text.matchAll(/o PostgreSQL está com (\w+) desligado:/g)].map(([, name]) => name!);

describe('a server that does not wait for its disk', () => {
  test('is told of where the service starts, and where the schema is brought up to date', async () => {
    // The server that the tests share has all three turned off.
    const DATABASE_URL = databaseUrlOf(await freshDatabase());
    const service = await startServiceProcess({ DATABASE_URL });
    await untilTrue(() => offIn(service.output()).length === ALL.length, 'the warnings in the log');
    assert.deepEqual(offIn(service.output()).toSorted(), ALL);
    assert.match(service.output(), /alter system set fsync = on; select pg_reload_conf\(\);/);
    const { err } = await nfse(['migrar'], { DATABASE_URL });
    assert.deepEqual(offIn(err).toSorted(), ALL);
  });

  test('is told by each setting, and by where it was turned off', async () => {
    const server = await openEmbedded({ dataDir: await readyDataDir(), log: quiet });
    onEnd(() => server.stop());
    const { connection } = server;
    assert.deepEqual(await changedAnd(connection), []);
    const [told, ...more] = await changedAnd(
      connection,
      `do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`,
    );
    assert.match(told!, /^o PostgreSQL está com synchronous_commit desligado: .*alter database … reset/);
    assert.deepEqual(more, []);
    const asked = (value: string): ClientConfig => ({
      connectionString: `${databaseUrlOf(connection)}?options=-c%20synchronous_commit%3D${value}`,
    });
    assert.match((await changedAnd(asked('off'))).join(), /retire synchronous_commit das opções de DATABASE_URL/);
    // A commit that waits for the local disk alone loses nothing in a crash of this server.
    assert.deepEqual(await changedAnd(asked('local')), []);
  });
});
