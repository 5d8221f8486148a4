/** Statements of one turn in a transaction: answers, failures, and what is sent after them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import fc from '../../../test/support/seed.ts';
import { ABORTED, connectionOf, shareSync } from './by-turns.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import { planOnce } from './planned.ts';

const NAMED = planOnce('soma_de_prova', 'select $1::int + 1 as valor');

/** Kinds of statements: with parameters, under a name, without parameters, refused by the server, and refused by the client. */
const KINDS = {
  valor: (client: PoolClient, valor: number) => client.query('select $1::int as valor', [valor]),
  nomeado: (client: PoolClient, valor: number) => client.query(NAMED([valor - 1])),
  simples: (client: PoolClient, valor: number) => client.query(`select ${valor} as valor`),
  recusado: (client: PoolClient, valor: number) => client.query('select 1 / ($1::int - $1::int) as valor', [valor]),
  ilegivel: (client: PoolClient) =>
    client.query('select $1::int as valor', [{ toPostgres: () => assert.fail('ilegível') }]),
} as const satisfies Readonly<Record<string, (client: PoolClient, valor: number) => Promise<{ rows: unknown[] }>>>;
type Kind = keyof typeof KINDS;

async function useClient<Result>(pool: Db, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

describe('statements of one turn in a transaction', () => {
  test('are each answered as if they were sent alone, and a failure takes along all that the server skips', async () => {
    const pool = await freshPool();
    const kinds = fc.array(fc.constantFrom(...(Object.keys(KINDS) as Kind[])), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.array(kinds, { minLength: 1, maxLength: 3 }), async (turns) => {
        await useClient(pool, async (client) => {
          await client.query('begin');
          shareSync(client, true);
          let hasFailed = false;
          for (const turn of turns) {
            const ended = await Promise.allSettled(turn.map((kind, place) => KINDS[kind](client, place)));
            for (const [place, one] of ended.entries()) {
              const kind = turn[place]!;
              if (kind === 'ilegivel') {
                assert.ok(one.status === 'rejected');
                assert.match(String(one.reason), /ilegível/);
              } else if (hasFailed) {
                assert.ok(one.status === 'rejected');
                assert.equal(one.reason.code, ABORTED);
              } else if (kind === 'recusado') {
                assert.ok(one.status === 'rejected');
                assert.equal(one.reason.code, '22012');
                hasFailed = true;
              } else {
                assert.ok(one.status === 'fulfilled');
                assert.deepEqual(one.value.rows, [{ valor: place }]);
              }
            }
          }
          shareSync(client, false);
          assert.equal((await client.query('rollback')).command, 'ROLLBACK');
          assert.deepEqual((await client.query('select $1::int as valor', [7])).rows, [{ valor: 7 }]);
        });
      }),
      { numRuns: 100 },
    );
  });

  test('ask the server for one answer, and outside of a transaction for one each', async () => {
    const pool = await freshPool();
    await useClient(pool, async (client) => {
      const connection = connectionOf(client);
      const { stream } = connection;
      let syncs = 0;
      const write = stream.write.bind(stream);
      stream.write = ((bytes: Buffer, ...more: []) => {
        if (bytes.length === 5 && bytes[0] === 'S'.charCodeAt(0)) syncs += 1;
        return write(bytes, ...more);
      }) as typeof stream.write;
      const three = () => Promise.all([1, 2, 3].map((valor) => KINDS.valor(client, valor)));
      await three();
      assert.equal(syncs, 3);
      await client.query('begin');
      shareSync(client, true);
      syncs = 0;
      await three();
      assert.equal(syncs, 1);
      shareSync(client, false);
      await client.query('rollback');
    });
  });
});
