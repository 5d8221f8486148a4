/** `nfse banco …`: its output and refusals on plain PostgreSQL; the distribution, status and moves on a Citus (NFSE_TEST_CITUS). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { advanceNumbers } from '../src/base/book/numeracao.ts';
import { findPlaces, nameNo, readTabelas } from '../src/base/pg/distributed.ts';
import { type Db, openPool, runTransaction } from '../src/base/pg/open.ts';
import type { ClientConfig } from '../src/base/pg/pg.ts';
import { unavailabilityOf } from '../src/base/pg/unavailable.ts';
import { createMunicipio } from '../src/base/world/municipios.ts';
import { distribute, NODE_SETTINGS, setOnAllNodes } from '../src/subjects/citus/distribuicao.rows.ts';
import { migrate } from '../src/wiring/migrate.ts';
import { createStore } from '../src/wiring/store.ts';
import { fullDatabase, MESES } from './support/banco-cheio.ts';
import { onEach } from './support/citus.ts';
import { onEnd } from './support/cleanup.ts';
import { nfseHere } from './support/cli.ts';
import { freshDatabase, freshPool, poolOn, testServers } from './support/database.ts';
import { PROXIMAS, withProximas } from './support/proximas.ts';
import { until } from './support/until.ts';

const IBGE = ['3550308', '3304557', '5300108', '2927408', '4106902', '1302603'];
const skip = process.env['NFSE_TEST_CITUS'] === undefined ? 'pede um Citus (NFSE_TEST_CITUS)' : false;

async function openTowns(pool: Db): Promise<readonly string[]> {
  const store = createStore(pool);
  const slugs = IBGE.map((codigo) => `m${codigo}`);
  for (const [place, slug] of slugs.entries()) {
    const asked = { written: { codigoIbge: IBGE[place]! }, without: [] };
    assert.ok(
      !(
        'problems' in (await createMunicipio({ store, now: Date.now }, slug, asked, { quem: 'teste', via: 'comando' }))
      ),
    );
  }
  return slugs;
}

async function done(pool: Db, ...args: readonly string[]): Promise<string> {
  const { code, out, err } = await nfseHere(['banco', ...args], pool);
  assert.deepEqual([code, err], [0, ''], args.join(' '));
  return out;
}

async function refused(pool: Db, args: readonly string[], says: RegExp, as = 1): Promise<void> {
  const { code, err } = await nfseHere(['banco', ...args], pool);
  assert.equal(code, as, err);
  assert.match(err, says);
}

describe('on plain PostgreSQL', { skip: skip === false && 'o servidor é um Citus' }, () => {
  test('mostrar says the version, the role, every table and every municipality', async () => {
    const pool = await freshPool();
    const towns = await openTowns(pool);
    const shown = await done(pool, 'mostrar');
    assert.match(shown, /^ {2}PostgreSQL {2}1[5-9]/m);
    assert.match(shown, /^ {2}Citus +não; um servidor só$/m);
    assert.match(shown, /^ {2}papel +principal$/m);
    assert.match(shown, /^ {2}réplicas +nenhuma ligada a este servidor$/m);
    const { rows } = await pool.query<{ tablename: string }>(
      `select tablename from pg_tables where schemaname = 'public' and tablename !~ '\\d$'`,
    );
    assert.ok(rows.length > 20);
    for (const { tablename } of rows) assert.match(shown, new RegExp(`^ {2}${tablename} +\\d`, 'm'));
    for (const slug of towns) assert.match(shown, new RegExp(`^ {2}${slug} +[\\d,]+ kB$`, 'm'));
    assert.doesNotMatch(shown, /undefined|NaN|null/);
  });

  test('the share of a municipality is that of its rows', async () => {
    const pool = await freshPool();
    await pool.query(
      `insert into municipios (tenant, ambiente, criado_em) values ('a', 'homologacao', now()), ('b', 'homologacao', now())`,
    );
    await pool.query(`insert into sequencias (tenant, nome, proximo)
      select case when i % 10 = 0 then 'b' else 'a' end, 's' || i, 1 from generate_series(1, 20000) i`);
    const { municipios } = JSON.parse(await done(pool, 'mostrar', '--json'));
    const [a, b] = municipios as readonly { tenant: string; bytes: number }[];
    assert.deepEqual([a!.tenant, b!.tenant], ['a', 'b']);
    assert.ok(Math.abs(a!.bytes / b!.bytes - 9) < 1, JSON.stringify(municipios));
  });

  test('distribuir and mover say what is missing', async () => {
    const pool = await freshPool();
    const [slug] = await openTowns(pool);
    await refused(pool, ['distribuir'], /^Nenhum nó é conhecido\. .*--nos host:porta/);
    await refused(pool, ['distribuir', '--nos', 'um;dois'], /^--nos traz um;dois, que não é host:porta\.$/m);
    await refused(pool, ['distribuir', '--nos', 'um:70000'], /^--nos traz um:70000/);
    await refused(pool, ['distribuir', '--fragmentos', '0'], /^--fragmentos 0 não é um número de 1 a 1024\.$/m);
    await refused(
      pool,
      ['distribuir', '--nos', '127.0.0.1:1'],
      /este servidor não tem o Citus: .*shared_preload_libraries/,
    );
    await refused(pool, ['mover', slug!], /^Falta --para HOST:PORTA/, 2);
    await refused(
      pool,
      ['mover', slug!, '--para', 'um:2'],
      /um:2 não é um nó deste banco: o banco não está distribuído\.$/m,
    );
    await refused(pool, ['mover', 'nenhum', '--para', 'um:2'], /^Não há município nenhum\.$/m);
  });

  test('distribuir --ensaio names every table, with tenants apart from the others', async () => {
    const shown = await done(await freshPool(), 'distribuir', '--ensaio', '--nos', 'um,dois:6000', '--fragmentos', '8');
    assert.match(shown, /^Nada foi mudado/);
    assert.match(shown, /entra o nó um:5432,.*\n.*entra o nó dois:6000,/);
    assert.match(shown, /tabelas são distribuídas, em 8 fragmentos; 0 já estão/);
    assert.match(shown, /^ {4}notas +por município/m);
    assert.match(shown, /^ {4}migracoes +inteira em cada nó/m);
  });
});

test('tables come after those that their foreign keys name', async () => {
  const nomes = (await readTabelas(await freshPool())).map(({ nome }) => nome);
  const { rows } = await (await freshPool()).query<{ de: string; para: string }>(
    `select distinct c.relname as de, r.relname as para from pg_constraint f
       join pg_class c on c.oid = f.conrelid join pg_class r on r.oid = f.confrelid
     where f.contype = 'f' and f.conparentid = 0 and not c.relispartition and c.relnamespace = 'public'::regnamespace`,
  );
  assert.ok(rows.length > 10);
  for (const { de, para } of rows) assert.ok(nomes.indexOf(para) < nomes.indexOf(de), `${para} before ${de}`);
});

describe('on a Citus', { skip }, () => {
  /** A database of the coordinator with the schema, and the names of its nodes. */
  async function openWhole(): Promise<{ pool: Db; connection: ClientConfig; nos: readonly string[] }> {
    const [coordinator, ...nodes] = await testServers();
    const name = `t_banco_${randomBytes(6).toString('hex')}`;
    await onEach([coordinator], `create database ${name}`);
    onEnd(() => onEach([coordinator, ...nodes], `drop database if exists ${name} with (force)`));
    const connection = { ...coordinator, database: name };
    const pool = openPool(connection, () => undefined, true);
    onEnd(() => pool.end());
    await migrate(pool);
    return { pool, connection, nos: nodes.map(({ host, port }) => `${host}:${port}`) };
  }

  test('distribuir takes the rows along, does nothing twice, and goes on where it was killed', async () => {
    const { pool, nos } = await openWhole();
    const towns = await openTowns(pool);
    const wanted = ['--nos', nos.join(), '--fragmentos', '8'];
    const plan = await done(pool, 'distribuir', '--ensaio', ...wanted);
    assert.match(plan, /tabelas são distribuídas, em 8 fragmentos; 0 já estão/);
    // The run ends after the first four tables.
    const isEnough = new Error('killed');
    const tell = (line: string): void => {
      if (line.startsWith('[4/')) throw isEnough;
    };
    const named = nos.map((no) => ({ host: no.split(':')[0]!, porta: Number(no.split(':')[1]) }));
    await assert.rejects(distribute(pool, { nos: named, fragmentos: 8, tell }), isEnough);
    assert.equal((await readTabelas(pool)).filter(({ distribuida }) => distribuida).length, 4);
    assert.match(await done(pool, 'distribuir', ...wanted), /^Distribuído\. /m);
    assert.match(await done(pool, 'distribuir'), /^O banco já está distribuído: \d+ tabelas\.$/m);
    const { rows } = await pool.query<{ tenant: string }>(
      `select tenant from municipios where tenant <> 'integracao' order by tenant`,
    );
    assert.deepEqual(
      rows.map(({ tenant }) => tenant),
      towns.toSorted(),
    );
    const tabelas = await readTabelas(pool);
    assert.deepEqual(
      tabelas.filter(({ falta, lugar, bytes }) => falta || (lugar !== 'coordenador' && bytes > 0)),
      [],
    );
    const { rows: shards } = await pool.query<{ count: number }>(
      `select count(distinct shardid)::int as count from citus_shards where table_name = 'municipios'::regclass group by table_name`,
    );
    assert.equal(shards[0]!.count, 8);
  });

  test('every node has the settings of the database, and plans as this server does', async () => {
    const pool = await freshPool();
    await setOnAllNodes(pool);
    const { rows } = await pool.query<{ success: boolean; result: string }>(
      `select success, result from run_command_on_all_nodes($$select json_object_agg(split_part(c, '=', 1), split_part(c, '=', 2))
         from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) c
         where d.datname = current_database() and s.setrole = 0$$)`,
    );
    assert.ok(rows.length >= 3);
    for (const { success, result } of rows) {
      assert.ok(success, result);
      assert.deepEqual(JSON.parse(result), NODE_SETTINGS);
    }
    // The worker makes the plan, in a session that Citus opened.
    const plan = await pool.query<{ 'QUERY PLAN': string }>(
      `explain select 1 from notas n join documentos d on d.tenant = $1 and d.nota = n.id where n.tenant = $1`.replaceAll(
        '$1',
        `'m'`,
      ),
    );
    const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.match(text, /Task Count: 1\n/);
    assert.doesNotMatch(text, /Seq Scan|Hash Join|Merge Join/);
  });

  test('a table that a migration makes afterwards is distributed with the next start', async () => {
    const connection = await freshDatabase();
    const pool = await poolOn(connection);
    await pool.query('create table nova (tenant text, id bigint, primary key (tenant, id))');
    await pool.query('create table lista (codigo text primary key)');
    await migrate(pool);
    const found = (await readTabelas(pool)).filter(({ nome }) => ['nova', 'lista'].includes(nome));
    assert.deepEqual(found.map(({ nome, lugar, distribuida }) => [nome, lugar, distribuida]).toSorted(), [
      ['lista', 'referencia', true],
      ['nova', 'tenant', true],
    ]);
  });

  test('migrations of next versions run on it, through months with rows, and what they make is on every shard', async () => {
    const { pool } = await fullDatabase(300);
    // The last migration sets a column's storage, which Citus refuses for a distributed table.
    const some = PROXIMAS.slice(0, -1).map(({ nome }) => nome);
    assert.deepEqual(await migrate(pool, undefined, undefined, await withProximas(some.at(-1))), some);
    const { rows } = await pool.query<{ filled: number }>(
      `select (count(*) filter (where proxima = id))::int as filled from notas where tenant = 'alfa'`,
    );
    assert.equal(rows[0]!.filled, 300);
    const { rows: shards } = await pool.query<{ success: boolean; result: string }>(
      `select success, result from run_command_on_shards('notas', $$select count(*) from pg_partition_tree('%s') t
         join pg_index i on i.indrelid = t.relid where i.indisvalid and pg_get_indexdef(i.indexrelid) like '%%(tenant, mes, proxima, id)'$$)`,
    );
    assert.ok(shards.length > 0);
    // The table itself and each of its months.
    for (const { success, result } of shards) assert.ok(success && Number(result) > MESES.length, result);
    assert.deepEqual(
      (await readTabelas(pool)).filter(({ falta }) => falta),
      [],
    );
  });

  test('mover gives a municipality a shard of its own on the node that is named, and another one back', async () => {
    const { pool, nos } = await openWhole();
    const towns = await openTowns(pool);
    await done(pool, 'distribuir', '--nos', nos.join(), '--fragmentos', '2');
    for (const no of [nos[1]!, nos[0]!]) {
      const { code, out, err } = await nfseHere(['banco', 'mover', towns[0]!, '--para', no], pool);
      assert.deepEqual([code, err], [0, ''], out);
      const { municipios } = JSON.parse(await done(pool, 'mostrar', '--json'));
      const place = municipios.find(({ tenant }: { tenant: string }) => tenant === towns[0]).fragmento;
      assert.deepEqual(place, { no, isolado: true });
    }
    assert.match(await done(pool, 'mover', towns[0]!, '--para', nos[0]!), /já estava em/);
    await refused(pool, ['mover', towns[0]!, '--para', '127.0.0.1:1'], /não é um nó deste banco: os nós são/);
    await until(
      async () => (await createStore(pool).municipios.list()).length === towns.length || undefined,
      'all are there',
    );
  });

  test('a node that comes later has the tables that are whole on each, and takes municipalities', async () => {
    const { pool, nos } = await openWhole();
    const [slug] = await openTowns(pool);
    await done(pool, 'distribuir', '--nos', nos[0]!, '--fragmentos', '2');
    await done(pool, 'distribuir', '--nos', nos[1]!);
    assert.match(await done(pool, 'mover', slug!, '--para', nos[1]!), new RegExp(`está em ${nos[1]}`));
  });

  test('mover loses nothing of what is written meanwhile, and leaves the neighbours where they were', async () => {
    const { pool, nos } = await openWhole();
    const towns = await openTowns(pool);
    await done(pool, 'distribuir', '--nos', nos.join(), '--fragmentos', '1');
    const placeOf = async () =>
      Object.fromEntries((await findPlaces(pool, towns)).map((place) => [place.tenant, nameNo(place)]));
    const before = await placeOf();
    const away = nos.find((no) => no !== before[towns[0]!])!;
    const written = new Map(towns.map((tenant) => [tenant, 0]));
    const failures: unknown[] = [];
    let isMoved = false;
    const write = async (tenant: string): Promise<void> => {
      while (!isMoved) {
        try {
          await runTransaction(pool, (client) => advanceNumbers(client, tenant, new Map([['11222333000181', 1n]])));
          written.set(tenant, written.get(tenant)! + 1);
        } catch (error) {
          if (unavailabilityOf(error) === undefined) failures.push(error);
        }
      }
    };
    const writers = Promise.all(towns.map(write));
    await done(pool, 'mover', towns[0]!, '--para', away).finally(() => {
      isMoved = true;
    });
    await writers;
    assert.deepEqual(failures, []);
    const { rows } = await pool.query<{ tenant: string; ultimo: number }>(
      'select tenant, ultimo::int as ultimo from numeracao',
    );
    assert.deepEqual(new Map(rows.map(({ tenant, ultimo }) => [tenant, ultimo])), written);
    assert.deepEqual(await placeOf(), { ...before, [towns[0]!]: away });
  });
});
