/** Transactions of several municipalities as one: sharing, and the failure of one among the others. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import fc from '../../../test/support/seed.ts';
import type { Db, Pipelined } from './open.ts';
import type { PoolClient } from './pg.ts';
import { shareTransactions, type Work } from './together.ts';

async function freshTable(): Promise<Db> {
  const pool = await freshPool();
  await pool.query('create table gravados (tenant text, passo int, xid text, primary key (tenant, passo))');
  return pool;
}

const INSERT = 'insert into gravados values ($1, $2, pg_current_xact_id()::text) returning xid';

/** Writes the steps of a tenant, each after the answer to the one before. The last one travels with the commit. */
function writing(tenant: string, steps: readonly number[]): Work<string> {
  return async (client: PoolClient): Promise<Pipelined<string>> => {
    const write = async (passo: number): Promise<string> =>
      (await client.query<{ xid: string }>(INSERT, [tenant, passo])).rows[0]!.xid;
    for (const passo of steps.slice(0, -1)) await write(passo);
    const last = write(steps.at(-1)!);
    return { result: last, writes: [last] };
  };
}

async function read(pool: Db): Promise<readonly string[]> {
  const text = `select tenant || ' ' || passo as linha from gravados order by 1`;
  return (await pool.query<{ linha: string }>(text)).rows.map(({ linha }) => linha);
}

describe('transactions of several municipalities', () => {
  test('of one turn are one, and each caller gets its own result', async () => {
    const pool = await freshTable();
    const { run } = shareTransactions(pool);
    const xids = await Promise.all(['b', 'a', 'c'].map((tenant) => run(tenant, writing(tenant, [1, 2]))));
    assert.equal(new Set(xids).size, 1);
    assert.deepEqual(await read(pool), ['a 1', 'a 2', 'b 1', 'b 2', 'c 1', 'c 2']);
  });

  test('that come while one is under way are the next one', async () => {
    const pool = await freshTable();
    const { run, ready } = shareTransactions(pool);
    assert.equal(ready(), undefined, 'nothing is under way');
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = run('a', async (client) => {
      begun.resolve();
      await goOn.promise;
      return writing('a', [1])(client);
    });
    await begun.promise;
    const others = ['b', 'c'].map((tenant) => run(tenant, writing(tenant, [1])));
    assert.notEqual(ready(), undefined);
    goOn.resolve();
    const [own, b, c] = await Promise.all([first, ...others]);
    assert.equal(b, c);
    assert.notEqual(own, b);
  });

  test('wait for their spacing, and one that comes after it does not', async () => {
    const pool = await freshTable();
    const { run, ready } = shareTransactions(pool, 600_000);
    await run('a', writing('a', [1]));
    assert.notEqual(ready(), undefined);
    const spaced = shareTransactions(pool, 1);
    await spaced.run('b', writing('b', [1]));
    await spaced.ready();
    assert.equal(spaced.ready(), undefined);
  });

  test('a locked row is waited for by its own caller alone', async () => {
    const pool = await freshTable();
    const { run } = shareTransactions(pool);
    const other = await pool.connect();
    try {
      await other.query('begin');
      await other.query(INSERT, ['b', 1]);
      let isDone = false;
      const held = run('b', writing('b', [1]), { lockMs: 0 }).finally(() => {
        isDone = true;
      });
      const xids = await Promise.all(['a', 'c'].map((tenant) => run(tenant, writing(tenant, [1, 2]))));
      assert.equal(xids[0], xids[1]);
      assert.equal(isDone, false);
      // Works that come later are not delayed either.
      await run('d', writing('d', [1]));
      assert.equal(isDone, false);
      await other.query('rollback');
      await held;
    } finally {
      other.release();
    }
    assert.deepEqual(await read(pool), ['a 1', 'a 2', 'b 1', 'c 1', 'c 2', 'd 1']);
  });

  test('that the server refuses or the program breaks fail alone, whatever their order', async () => {
    const pool = await freshTable();
    const { run } = shareTransactions(pool);
    const kinds = fc.array(fc.constantFrom('good', 'refused', 'broken', 'late'), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(kinds, fc.integer({ min: 1, max: 3 }), async (members, steps) => {
        await pool.query('truncate gravados');
        const all = Array.from({ length: steps }, (_, place) => place);
        const works = members.map((kind, place): Promise<unknown> => {
          const tenant = `m${place}`;
          if (kind === 'good') return run(tenant, writing(tenant, all));
          // The same row twice is refused, at once or with the commit.
          if (kind === 'refused') return run(tenant, writing(tenant, [0, 0, ...all]));
          if (kind === 'late') return run(tenant, writing(tenant, [...all, 0]));
          return run(tenant, async (client) => {
            await client.query(INSERT, [tenant, 0]);
            throw new Error('broken');
          });
        });
        const ended = await Promise.allSettled(works);
        assert.deepEqual(
          ended.map(({ status }) => status),
          members.map((kind) => (kind === 'good' ? 'fulfilled' : 'rejected')),
        );
        const expected = members.flatMap((kind, place) =>
          kind === 'good' ? all.map((step) => `m${place} ${step}`) : [],
        );
        assert.deepEqual(await read(pool), expected.sort());
      }),
      { numRuns: 40 },
    );
  });

  test('of a server that is gone fail together', async () => {
    const pool = await freshTable();
    const { run } = shareTransactions(pool);
    const ended = await Promise.allSettled(
      ['a', 'b'].map((tenant) =>
        run(tenant, async (client) => {
          if (tenant === 'b') await client.query('select pg_terminate_backend(pg_backend_pid())');
          return writing(tenant, [1])(client);
        }),
      ),
    );
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.deepEqual(await read(pool), []);
  });
});
