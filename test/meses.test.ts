/** The monthly partitions of tables that grow with every note: their creator, the time, and the message without permission. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ensureMeses, ensureMesesAhead, MENSAIS, MesesForbidden } from '../src/base/book/meses.ts';
import { Repetition } from '../src/base/delivery/repetition.ts';
import { type Db, openPool } from '../src/base/pg/open.ts';
import { Client, type ClientConfig } from '../src/base/pg/pg.ts';
import type { World } from '../src/base/world/world.ts';
import { migrate } from '../src/wiring/migrate.ts';
import { createStore } from '../src/wiring/store.ts';
import { REPEATED } from '../src/wiring/upkeep.ts';
import { fillNotas } from './support/cheio.ts';
import { onEnd } from './support/cleanup.ts';
import { monotonicClock } from './support/clock.ts';
import { databaseUrlOf, emptyDatabase, freshDatabase, poolOn } from './support/database.ts';
import { nfse } from './support/process.ts';

const NOW = Date.UTC(2030, 11, 5, 12);

/** The months of each table, by its partitions. */
async function mesesOf(pool: Db): Promise<Readonly<Record<string, readonly number[]>>> {
  const { rows } = await pool.query<{ table: string; meses: readonly number[] }>(
    `select inhparent::regclass::text as table, array_agg(mes order by mes) as meses
     from pg_inherits join pg_class c on c.oid = inhparent and relkind = 'p', cast(right(inhrelid::regclass::text, 6) as integer) mes group by 1`,
  );
  return Object.fromEntries(rows.map(({ table, meses }) => [table, meses]));
}

/** The months from now on, by the clock of the machine. */
function comingMeses(): readonly number[] {
  const now = new Date();
  return [0, 1, 2].map((ahead) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead));
    return month.getUTCFullYear() * 100 + month.getUTCMonth() + 1;
  });
}

/** A pool of a role that can read and write all tables, and create none. */
async function poolOfGuest(connection: ClientConfig, owner: Db): Promise<{ pool: Db; guest: ClientConfig }> {
  const role = `r_${connection.database}`;
  await owner.query(`create role ${role} login password '${connection.password ?? role}'`);
  await owner.query(`grant select, insert, update, delete on all tables in schema public to ${role}`);
  onEnd(() => owner.query(`drop owned by ${role}; drop role ${role}`));
  const guest = { ...connection, user: role };
  const pool = openPool(guest, () => undefined);
  onEnd(() => pool.end());
  return { pool, guest };
}

type Told = { readonly level: 'info' | 'warn' | 'error'; readonly message: string };

/** The worker's task that makes months, on a pool at a moment, and its log. */
function upkeepOf(pool: Db, now: number): { readonly upkeep: Repetition; readonly told: readonly Told[] } {
  const told: Told[] = [];
  const tell = (level: Told['level']) => (_about: object, message: string) => void told.push({ level, message });
  const log = { info: tell('info'), warn: tell('warn'), error: tell('error') };
  const world = { store: createStore(pool), now: () => now, log } as unknown as World;
  const makesMeses = REPEATED.filter(({ trabalho }) => trabalho === 'meses');
  return { upkeep: new Repetition(world, makesMeses), told };
}

describe('the months', () => {
  test('of now and of two more come with the schema, in every table that is kept by month', async () => {
    // This test applies the schema: the one that tests copy is as old as the run.
    const before = comingMeses();
    const meses = await mesesOf(await poolOn(await emptyDatabase()));
    const coming = [before, comingMeses()];
    assert.deepEqual(Object.keys(meses).toSorted(), MENSAIS.map(({ tabela }) => tabela).toSorted());
    for (const [table, has] of Object.entries(meses)) {
      assert.ok(
        coming.some((one) => isDeepStrictEqual(has, one)),
        `${table}: ${has}`,
      );
    }
  });

  test('that come are made by the worker, over the turn of a year, once a day', async (t) => {
    const pool = await poolOn(await freshDatabase());
    const { upkeep, told } = upkeepOf(pool, NOW);
    await upkeep.work();
    const { notas } = await mesesOf(pool);
    assert.deepEqual(notas?.slice(-3), [203012, 203101, 203102]);
    assert.deepEqual(told, []);
    const asked = t.mock.method(pool, 'query');
    await upkeep.work();
    assert.equal(asked.mock.callCount(), 0);
  });

  test('are made once, by whoever comes first', async () => {
    const connection = await freshDatabase();
    const pools = await Promise.all([1, 2, 3].map(() => poolOn(connection)));
    await Promise.all(pools.map((pool) => ensureMesesAhead(pool, NOW)));
    assert.deepEqual((await mesesOf(pools[0]!))['notas']?.slice(-3), [203012, 203101, 203102]);
  });
});

describe('where the role of the service may make nothing', () => {
  test('it is told weeks before, each day, with what to do', async () => {
    const connection = await freshDatabase();
    const owner = await poolOn(connection);
    const { pool } = await poolOfGuest(connection, owner);
    await ensureMesesAhead(owner, NOW);
    const now = upkeepOf(pool, NOW);
    await now.upkeep.work();
    assert.deepEqual(now.told, [], 'nothing is missing');
    const later = upkeepOf(pool, Date.UTC(2031, 0, 1));
    await later.upkeep.work();
    assert.equal(later.told.length, 1);
    assert.equal(later.told[0]?.level, 'warn');
    // The partition is made two months before its first note.
    assert.match(
      later.told[0]?.message ?? '',
      /^as tabelas de 2031-03 não foram criadas.*Dê nfse migrar com o usuário/,
    );
    await assert.rejects(ensureMesesAhead(pool, Date.UTC(2031, 0, 1)), MesesForbidden);
    // The failed attempt leaves nothing behind.
    assert.equal((await mesesOf(owner))['notas']?.at(-1), 203102);
    await ensureMesesAhead(owner, Date.UTC(2031, 0, 1));
    const made = upkeepOf(pool, Date.UTC(2031, 0, 1));
    await made.upkeep.work();
    assert.deepEqual(made.told, []);
  });

  test('the service starts all the same, and says it; migrar by the owner makes them', async () => {
    const connection = await freshDatabase();
    const owner = await poolOn(connection);
    const last = comingMeses().at(-1)!;
    const { guest } = await poolOfGuest(connection, owner);
    for (const table of Object.keys(await mesesOf(owner))) await owner.query(`drop table ${table}_${last}`);
    await owner.query('delete from meses where mes = $1', [last]);
    const told: string[] = [];
    const pool = openPool(guest, () => undefined);
    onEnd(() => pool.end());
    assert.deepEqual(await migrate(pool, (text) => told.push(text)), []);
    assert.match(told.join(), /^as tabelas de \d{4}-\d{2} não foram criadas/);
    const { code, err } = await nfse(['migrar'], { DATABASE_URL: databaseUrlOf(connection) });
    assert.equal(code, 0, err);
    assert.equal((await mesesOf(owner))['notas']?.at(-1), last);
  });

  test('notes of the months that are there are written and read by it', async () => {
    const connection = await freshDatabase();
    const owner = await poolOn(connection);
    const { pool } = await poolOfGuest(connection, owner);
    const [mes] = comingMeses();
    await pool.query(`insert into municipios (tenant, ambiente, criado_em) values ('alfa', 'homologacao', now())`);
    const move = `insert into trilha_notas (tenant, mes, nota, movimento, em, gatilho, para)
      values ('alfa', $1, 1, 1, now(), 'emissao', 'emitida')`;
    await pool.query(move, [mes]);
    const { rows } = await pool.query('select nota from trilha_notas where tenant = $1 and mes = $2', ['alfa', mes]);
    assert.deepEqual(rows, [{ nota: '1' }]);
  });
});

const skip =
  process.env['NFSE_TEST_CITUS'] !== undefined && 'the coordinator does not see how large the tables of nodes are';

test('plans are made anew when a new month grows, however large those before are', { skip }, async (t) => {
  const clock = monotonicClock(t);
  const sent = t.mock.method(Client.prototype, 'query');
  const countRenewals = (): number =>
    sent.mock.calls.filter((call) => String(call.arguments[0]) === 'discard plans').length;
  const pool = await poolOn(await freshDatabase());
  /** Waits until the pool has checked the size of its tables. */
  const passLook = async (): Promise<void> => {
    clock.passMs(2_000);
    await pool.query('select 1');
    do await setImmediate();
    while (pool.idleCount < pool.totalCount);
    await pool.query('select 1');
  };
  const made = `insert into municipios (tenant, ambiente, criado_em) select x, 'homologacao', now() from unnest('{alfa,beta}'::text[]) x`;
  await pool.query(made);
  await fillNotas(pool, 'alfa', 5_000, [202609]);
  await ensureMeses(pool, [202610]);
  await passLook();
  await passLook();
  const before = countRenewals();
  assert.ok(before > 0, 'all have grown from nothing');
  await passLook();
  assert.equal(countRenewals(), before, 'nothing grows');
  await fillNotas(pool, 'beta', 50, [202610]);
  await passLook();
  assert.equal(countRenewals(), before + 1);
});
