/** Statements of several tenants as one write and return the same as those of each tenant. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import fc from '../../../test/support/seed.ts';
import { readsOf } from './merge.ts';
import { asArrays, insertRows, planMergeable } from './mergeable.ts';
import { type Db, type Pipelined, runPipeline } from './open.ts';
import type { PoolClient } from './pg.ts';
import { shareTransactions, type Work } from './together.ts';

type Linha = { readonly chave: number; readonly texto: string };
const COLUMNS = [
  ['chave int', ({ chave }: Linha) => chave],
  ['texto text', ({ texto }: Linha) => texto],
] as const;

const AS_JSON = insertRows<Linha>(
  'teste_json',
  'linhas',
  COLUMNS,
  'on conflict do nothing returning linhas.tenant, chave, texto',
);
const AS_ARRAYS = planMergeable<Linha>(
  'teste_arrays',
  asArrays(COLUMNS),
  ({ rows, tenant }) => `insert into linhas (tenant, chave, texto) select m.tenant, x.chave, x.texto
  from municipios m cross join ${rows} where m.tenant = ${tenant} order by m.tenant, x.chave
  on conflict do nothing returning tenant, chave, texto`,
);
const COUNT = planMergeable<never>(
  'teste_contar',
  asArrays([]),
  ({ rows, tenant, other }) => `select c.* from ${rows} cross join lateral (
    select l.tenant, count(*)::int as linhas, max(l.xid) as xid from linhas l where l.tenant = ${tenant} and l.chave = any (${other}::int[]) group by 1) c`,
  (others) => [[...new Set(others.flat(2))]],
);
const WITHOUT_TENANT = insertRows<Linha>('teste_sem', 'linhas', COLUMNS, 'returning chave');

const TENANTS = ['a', 'b', 'c-1', 'd', 'e-2'];

async function freshTables(): Promise<Db> {
  const pool = await freshPool();
  await pool.query(
    'create table linhas (tenant text, chave int, texto text, xid xid8 default pg_current_xact_id(), primary key (tenant, chave))',
  );
  await pool.query(
    `insert into municipios (tenant, ambiente, criado_em) select unnest($1::text[]), 'homologacao', now()`,
    [TENANTS],
  );
  return pool;
}

type Step = { readonly form: 'json' | 'arrays' | 'count' | 'plain'; readonly linhas: readonly Linha[] };
type Told = readonly unknown[];

const statementOf = (tenant: string, { form, linhas }: Step) => {
  if (form === 'json') return AS_JSON(tenant, linhas);
  if (form === 'arrays') return AS_ARRAYS(tenant, linhas);
  if (form === 'count') return COUNT(tenant, [], [1, 2, 3]);
  return { text: 'select tenant, chave, texto from linhas where tenant = $1 order by chave', values: [tenant] };
};

/** Asks the steps of a tenant; those of one turn are not awaited one by one. */
function asking(tenant: string, turns: readonly (readonly Step[])[], told: Told[]): Work<void> {
  return async (client: PoolClient): Promise<Pipelined<void>> => {
    told.length = 0;
    for (const steps of turns) {
      const results = await Promise.all(steps.map((step) => client.query(statementOf(tenant, step))));
      told.push(
        ...results.map(({ rows, rowCount }) => [
          rowCount,
          rows.map(({ tenant: of, chave, texto, linhas }) => [of, chave, texto, linhas].join(' ')).toSorted(),
        ]),
      );
    }
    return { result: undefined, writes: [] };
  };
}

const LINHA = fc.record({ chave: fc.integer({ min: 0, max: 5 }), texto: fc.string({ unit: 'grapheme' }) });
const LINHAS = fc.uniqueArray(LINHA, { maxLength: 4, selector: ({ chave }) => chave });
const STEP = fc.record({
  form: fc.constantFrom('json', 'arrays', 'count', 'plain'),
  linhas: LINHAS,
}) as fc.Arbitrary<Step>;
const TURNS = fc.array(fc.array(STEP, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
const WORKS = fc.array(fc.record({ tenant: fc.constantFrom(...TENANTS), turns: TURNS }), {
  minLength: 1,
  maxLength: 6,
});

async function readAll(pool: Db): Promise<readonly string[]> {
  const { rows } = await pool.query<{ linha: string }>(
    `select concat_ws(' ', tenant, chave, texto) as linha from linhas order by tenant, chave`,
  );
  return rows.map(({ linha }) => linha);
}

describe('statements of several tenants', () => {
  test('write and return what those of each tenant would, one after the other', async () => {
    const [apart, together] = await Promise.all([freshTables(), freshTables()]);
    await fc.assert(
      fc.asyncProperty(WORKS, async (works) => {
        // Two works of one tenant would see each other’s rows in an order that nothing promises.
        const own = [...new Map(works.map((work) => [work.tenant, work])).values()];
        const clean = own.map(({ tenant, turns }) => ({
          tenant,
          turns: turns.map((steps) =>
            steps.map((step) => ({
              ...step,
              linhas: step.linhas.map((linha) => ({ ...linha, texto: linha.texto.replaceAll('\0', '') })),
            })),
          ),
        }));
        await Promise.all([apart, together].map((pool) => pool.query('truncate linhas')));
        const ofEach: Told[] = [];
        for (const { tenant, turns } of clean) {
          const told: Told[] = [];
          await runPipeline(apart, asking(tenant, turns, told));
          ofEach.push(told);
        }
        const { run } = shareTransactions(together);
        const ofAll = clean.map((): Told[] => []);
        await Promise.all(clean.map(({ tenant, turns }, place) => run(tenant, asking(tenant, turns, ofAll[place]!))));
        assert.deepEqual(ofAll, ofEach);
        assert.deepEqual(await readAll(together), await readAll(apart));
      }),
      { numRuns: 150 },
    );
  });

  test('are one for all tenants, though not all works ask the same', async () => {
    const pool = await freshTables();
    const { run } = shareTransactions(pool);
    const sent: string[] = [];
    pool.on('acquire', (client) => {
      const { query } = client;
      client.query = ((...asked: Parameters<typeof query>) => {
        const [config] = asked as unknown as [string | { readonly text: string }];
        sent.push(typeof config === 'string' ? config : config.text);
        return query.apply(client, asked);
      }) as typeof query;
    });
    const linha = { chave: 1, texto: 'x' };
    const all = ['json', 'arrays', 'count'] as const;
    await Promise.all(
      TENANTS.map((tenant, place) => {
        const steps = all.slice(place % 3).map((form) => ({ form, linhas: [linha] }));
        return run(tenant, asking(tenant, [steps], []));
      }),
    );
    assert.deepEqual(
      ['insert into linhas', 'select c.*'].map((head) => sent.filter((text) => text.startsWith(head)).length),
      [2, 1],
      sent.join('\n'),
    );
  });

  test('whose rows cannot be told apart fail, and each work still gets its own', async () => {
    const pool = await freshTables();
    const { run } = shareTransactions(pool);
    const rows = await Promise.all(
      ['a', 'b'].map((tenant, chave) =>
        run(tenant, async (client) => {
          const { rows } = await client.query(WITHOUT_TENANT(tenant, [{ chave, texto: tenant }]));
          return { result: rows, writes: [] };
        }),
      ),
    );
    assert.deepEqual(rows, [[{ chave: 0 }], [{ chave: 1 }]]);
  });

  test('that one tenant makes fail do not fail the others', async () => {
    const pool = await freshTables();
    await pool.query(`insert into linhas values ('b', 1, 'held')`);
    const { run } = shareTransactions(pool);
    const insert = (tenant: string): Promise<void> =>
      run(tenant, async (client) => {
        const strict = client.query(STRICT(tenant, [{ chave: 1, texto: tenant }]));
        return { result: undefined, writes: [strict] };
      });
    const ended = await Promise.allSettled(['a', 'b', 'd'].map(insert));
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(await readAll(pool), ['a 1 a', 'b 1 held', 'd 1 d']);
  });

  test('look-ups of one turn are one, and each gets its own rows', async (t) => {
    const pool = await freshTables();
    await pool.query(`insert into linhas values ('a', 1, 'x'), ('a', 2, 'y'), ('c-1', 3, 'z')`);
    const asked = t.mock.method(pool, 'query');
    const found = await Promise.all(
      [...TENANTS, 'a'].map((tenant) => readsOf(pool).query<{ linhas: number }>(COUNT(tenant, [], [1, 2, 3]))),
    );
    assert.deepEqual(
      found.map(({ rows }) => rows.map(({ linhas }) => linhas)),
      [[2], [], [1], [], [], [2]],
    );
    // The second of one tenant goes apart.
    assert.equal(asked.mock.callCount(), 2);
  });
});

const STRICT = insertRows<Linha>('teste_estrito', 'linhas', COLUMNS);
