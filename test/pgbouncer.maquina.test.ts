/**
 * The service behind a real PgBouncer (D-295), in both of its modes. Everything works as without one, and no setting stays behind in a
 * session of the server. Unsupported configurations are refused with a message.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { type Db, openPool, runPipeline } from '../src/base/pg/open.ts';
import type { ClientConfig } from '../src/base/pg/pg.ts';
import { SESSION } from '../src/base/pg/session.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { migrate } from '../src/wiring/migrate.ts';
import { createStore } from '../src/wiring/store.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, emptyDatabase, freshDatabase, poolOn } from './support/database.ts';
import { balcao, CANCELAMENTO } from './support/eventos.ts';
import { authorised, emit, noteByKey, request } from './support/http.ts';
import { freshFolder } from './support/openssl.ts';
import { keepsNames, noPgBouncer, startPgBouncer } from './support/pgbouncer.ts';
import { nfse, startServiceProcess } from './support/process.ts';
import { until } from './support/until.ts';

const skip = noPgBouncer || (process.platform !== 'linux' && 'on Linux');
const API = '/integracao/api/v1';

function pooled(connection: ClientConfig, max?: number): Db {
  const pool = openPool({ ...connection, isPooled: true, ...(max === undefined ? {} : { max }) }, () => undefined);
  onEnd(() => pool.end());
  return pool;
}

function fresh(place: number): string {
  return exampleXml({ serie: '1', nDPS: String(place) });
}

const SETTINGS_OF_SESSION = `select pg_backend_pid() as pid, json_object_agg(name, current_setting(name)) as settings
  from unnest('{${Object.keys(SESSION).join(',')}}'::text[]) as x (name)`;
/** The settings as the server shows them. */
const SHOWN = { ...SESSION, DateStyle: 'ISO, MDY', statement_timeout: '30s' };

type SessionSettings = { readonly pid: number; readonly settings: object };

/**
 * Four concurrent sessions, each with its settings. A late query on a slow machine may get a session that is free again; then all four are
 * repeated.
 */
async function askFourSessions(pool: Db): Promise<readonly SessionSettings[]> {
  const askOne = () =>
    runPipeline(pool, async (client) => {
      await client.query('select pg_sleep(0.2)');
      return { result: (await client.query<SessionSettings>(SETTINGS_OF_SESSION)).rows, writes: [] };
    });
  return until(async () => {
    const all = (await Promise.all([askOne(), askOne(), askOne(), askOne()])).flat();
    return new Set(all.map(({ pid }) => pid)).size === 4 ? all : undefined;
  }, 'four sessions at once');
}

const PRESTADORES = `documento,razao_social,inscricao_municipal,autorizado,simples_inicio,simples_fim
11222333000181,Nome,,sim,2026-01-01,
11444777000161,Outro,7,sim,,
`;

describe('behind a PgBouncer', { skip, timeout: 600_000 }, () => {
  // Session mode needs as many server sessions as connections, since each client keeps its own. A few are enough in transaction mode.
  for (const [pool_mode, default_pool_size] of [
    ['transaction', 4],
    ['session', 40],
  ] as const) {
    test(`of ${pool_mode}s: schema, commands, notes, events, repetition, import`, async () => {
      const database = await emptyDatabase();
      const { connection } = await startPgBouncer(database, { pool_mode, default_pool_size });
      const env = { DATABASE_URL: databaseUrlOf(connection), NFSE_PGBOUNCER: '1' };
      const done = async (...args: readonly string[]): Promise<string> => {
        const { code, out, err } = await nfse(args, env);
        assert.equal(code, 0, err);
        return out;
      };
      assert.match(await done('migrar'), /001-municipios\.sql/);
      // The first session that the pooler has left, if any, has the same settings as all.
      const [{ settings: ofFirst }] = (await pooled(connection).query(SETTINGS_OF_SESSION)).rows;
      assert.deepEqual(ofFirst, SHOWN);
      assert.match(await done('migrar'), /já está em dia/);
      await done('municipio', 'criar', 'alfa', '--ibge', '3550308');
      const csv = path.join(freshFolder(), 'prestadores.csv');
      writeFileSync(csv, PRESTADORES);
      const imported = await done('prestador', 'importar', csv, '--municipio', 'alfa');
      assert.match(imported, /novos 2, alterados 0/);
      const service = await startServiceProcess({ ...env, NFSE_PROCESSOS: '2' });
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, place) => emit(service.address, fresh(place + 1))),
      );
      for (const { status, body } of answers) assert.equal(status, 201, JSON.stringify(body));
      for (const { body } of answers) await authorised(service.address, body.chave_acesso);
      const init = {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml', 'Idempotency-Key': 'uma-vez' },
        body: fresh(61),
      };
      const [once, again] = [
        await request(service.address, `${API}/nfse/v101`, init),
        await request(service.address, `${API}/nfse/v101`, init),
      ];
      assert.deepEqual([once.status, again.status], [201, 201]);
      assert.equal(once.body.chave_acesso, again.body.chave_acesso);
      const { registered, evento } = balcao(service.address);
      await registered(answers[0]!.body, CANCELAMENTO);
      await until(
        async () =>
          (await evento(answers[0]!.body, CANCELAMENTO.tipo_evento)).status_evento === 'processado' ? true : undefined,
        'the cancellation is processed',
      );
      assert.equal((await noteByKey(service.address, answers[0]!.body.chave_acesso)).status, 200);
      assert.equal((await request(service.address, '/health/ready')).status, 200);
      const pool = pooled(connection);
      const sessions = await askFourSessions(pool);
      for (const { settings } of sessions) assert.deepEqual(settings, SHOWN);
      const left = await pool.query(`select relname from pg_class where relpersistence = 't' and relkind = 'r'`);
      assert.deepEqual(left.rows, [], 'no table of a session is left');
      assert.equal(await service.end('SIGTERM'), 0);
    });
  }

  test('what the role was given before is not met, in sessions that were there as well', async () => {
    const database = await freshDatabase();
    const direct = await poolOn(database);
    const user = `u_${database.database}`;
    await direct.query(`create role ${user} login; grant ${database.user} to ${user}`);
    await direct.query(`grant all on schema public to ${user}; grant all on all tables in schema public to ${user}`);
    onEnd(() => direct.query(`drop owned by ${user}; drop role ${user}`));
    for (const one of [
      `datestyle = 'German'`,
      `timezone = 'Asia/Tokyo'`,
      `statement_timeout = '5s'`,
      `standard_conforming_strings = off`,
    ])
      await direct.query(`alter role ${user} set ${one}`);
    const { connection } = await startPgBouncer(
      { ...database, user },
      { pool_mode: 'transaction', default_pool_size: 4 },
    );
    const pool = pooled(connection);
    await Promise.all(Array.from({ length: 4 }, () => pool.query('select pg_sleep(0.2)')));
    await migrate(pool);
    const sessions = await askFourSessions(pool);
    for (const { settings } of sessions) assert.deepEqual(settings, SHOWN);
    await migrate(pool);
    const after = await askFourSessions(pool);
    const pidsOf = (all: readonly SessionSettings[]): number[] => all.map(({ pid }) => pid).toSorted();
    assert.deepEqual(pidsOf(after), pidsOf(sessions), 'what has the settings is left alone');
    await createStore(pool).municipios.create({ tenant: 'alfa', ambiente: 'homologacao', codigoIbge: undefined }, 0);
  });

  test('statements have names where they are kept, and none where they are not', async () => {
    const { connection } = await startPgBouncer(await freshDatabase(), {
      pool_mode: 'transaction',
      default_pool_size: 3,
      ...(keepsNames() ? { max_prepared_statements: 100 } : {}),
    });
    const pool = pooled(connection);
    await migrate(pool);
    const { notas } = createStore(pool);
    for (let turn = 0; turn < 20; turn += 1)
      await Promise.all(Array.from({ length: 12 }, (_, place) => notas.findId('alfa', `C${place}`)));
    const { rows } = await pool.query<{ name: string }>(
      `select name from pg_prepared_statements where statement like '%from notas%'`,
    );
    if (keepsNames()) assert.match(rows.map(({ name }) => name).join(), /PGBOUNCER_/);
    else assert.deepEqual(rows, []);
  });

  test('fewer connections than the pool would open are waited for', async () => {
    const { connection } = await startPgBouncer(await freshDatabase(), {
      pool_mode: 'transaction',
      max_client_conn: 3,
    });
    const pool = pooled(connection);
    const answers = await Promise.all(Array.from({ length: 40 }, () => pool.query('select pg_sleep(0.01)')));
    assert.equal(answers.length, 40);
    assert.ok(pool.totalCount <= 3);
  });

  test('one that nobody spoke of is refused, whether or not it takes what a connection brings', async () => {
    const database = await freshDatabase();
    for (const settings of [{}, { ignore_startup_parameters: 'options,statement_timeout' }]) {
      const { connection } = await startPgBouncer(database, { pool_mode: 'transaction', ...settings });
      const { code, err } = await nfse(['migrar'], { DATABASE_URL: databaseUrlOf(connection) });
      assert.equal(code, 1, err);
      assert.match(err, /leva a um PgBouncer.*Ponha NFSE_PGBOUNCER=1/);
    }
    const { code, err } = await nfse(['migrar'], { DATABASE_URL: databaseUrlOf(database), NFSE_PGBOUNCER: '1' });
    assert.equal(code, 0, err);
  });

  test('a schema with something in it is not brought forward through it', async () => {
    const database = await freshDatabase();
    const { connection } = await startPgBouncer(database, { pool_mode: 'transaction' });
    const direct = await poolOn(database);
    await direct.query('delete from migracoes where nome = (select max(nome) from migracoes)');
    const { code, err } = await nfse(['migrar'], { DATABASE_URL: databaseUrlOf(connection), NFSE_PGBOUNCER: '1' });
    assert.equal(code, 1, err);
    assert.match(err, /não passa por um PgBouncer: dê o comando \(nfse migrar, .*\) sem NFSE_PGBOUNCER/);
  });

  test('who asks while it is away is told to come again, and issuing goes on when it is back', async () => {
    const bouncer = await startPgBouncer(await freshDatabase(), { pool_mode: 'transaction' });
    const service = await startServiceProcess({ DATABASE_URL: databaseUrlOf(bouncer.connection), NFSE_PGBOUNCER: '1' });
    assert.equal((await emit(service.address, fresh(1))).status, 201);
    await bouncer.kill();
    const away = await emit(service.address, fresh(2));
    assert.equal(away.status, 503, JSON.stringify(away.body));
    await bouncer.start();
    await until(async () => ((await emit(service.address, fresh(2))).status === 503 ? undefined : true), 'a note');
    await until(
      async () => ((await request(service.address, '/health/ready')).status === 200 ? true : undefined),
      'the service is ready',
    );
    assert.equal(await service.end('SIGTERM'), 0);
  });
});
