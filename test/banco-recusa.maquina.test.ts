/**
 * A reachable database that refuses work. Every interface answers so that clients retry, readiness reports it, and nothing answered is
 * lost. The server belongs to this file, and the faults are real. Its disk is full; it becomes read-only; it is demoted; all its
 * connections are taken.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { runTransaction } from '../src/base/pg/open.ts';
import { Client, type ClientConfig } from '../src/base/pg/pg.ts';
import { SANDBOX_SLUG } from '../src/fiscal/ambiente.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { createStore } from '../src/wiring/store.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, dropTrigger, freshDatabase, poolOn } from './support/database.ts';
import { balcao, CANCELAMENTO } from './support/eventos.ts';
import { type Answer, authorised, emit, noteByKey, request } from './support/http.ts';
import { freshDataDir, nfse, readyDataDir } from './support/process.ts';
import { startProxy } from './support/proxy.ts';
import { call, loteXml } from './support/rps.ts';
import { NOON, startTestService, type TestService } from './support/service.ts';
import { startStopwatch, until } from './support/until.ts';

const CONNECTIONS = 24;
const quiet = { info() {}, warn() {}, error: console.error };

let made = 0;
/** A DPS that was never sent. */
function fresh(): string {
  made += 1;
  return exampleXml({ serie: '1', nDPS: String(made) });
}

async function administer<Result>(server: ClientConfig, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client(server);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function assertComeAgain({ status, headers, body }: Answer, mensagem: RegExp): void {
  assert.equal(status, 503, JSON.stringify(body));
  assert.equal(body.codigo_erro, 'E703');
  assert.ok(Number(headers.get('retry-after')) > 0);
  assert.match(body.mensagem, mensagem);
}

function ready({ address }: TestService): Promise<Answer> {
  return request(address, '/health/ready');
}

async function untilReady(service: TestService): Promise<void> {
  await until(async () => ((await ready(service)).status === 200 ? true : undefined), 'the service is ready');
}

/** Sends until the answer has this status. */
async function untilAnswered(service: TestService, status: number): Promise<Answer> {
  return until(async () => {
    const answer = await emit(service.address, fresh());
    assert.ok([201, 503].includes(answer.status), JSON.stringify(answer.body));
    return answer.status === status ? answer : undefined;
  }, `an answer ${status}`);
}

/** Each SQLSTATE, raised by the server itself in the middle of a group. */
async function raising(service: TestService, table: string, code: string, work: () => Promise<void>): Promise<void> {
  await service.pool.query(`create function raised() returns trigger language plpgsql as
    $$ begin raise exception 'segredo do banco' using errcode = '${code}'; end $$;
    create trigger raised before insert on ${table} for each row execute function raised()`);
  try {
    await work();
  } finally {
    await dropTrigger(service.pool, 'raised', table);
  }
}

describe('what the server raises', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ connection: await freshDatabase() });
  });

  for (const [code, mensagem] of [
    ['53100', /sem espaço em disco/],
    ['53300', /não aceita mais conexões/],
    ['53200', /sem recursos livres/],
    ['25006', /só aceita leituras/],
    ['57014', /demorou demais/],
    ['55P03', /ocupa os dados/],
    ['40001', /mesmo momento/],
    ['40P01', /mesmo momento/],
    ['08006', /não responde/],
    ['57P03', /reiniciado/],
  ] as const) {
    test(`${code}: 503 in every door, and a retry is a note`, { timeout: 600_000 }, async () => {
      const xml = fresh();
      const nota = (await emit(service.address, fresh())).body;
      const { register } = balcao(service.address);
      await raising(service, 'notas', code, async () => assertComeAgain(await emit(service.address, xml), mensagem));
      await raising(service, 'eventos', code, async () =>
        assertComeAgain(await register(nota, CANCELAMENTO), mensagem),
      );
      made += 1;
      const lote = () => call(service.address, 'RecepcionarLoteRps', loteXml([{ numero: made }]));
      await raising(service, 'lotes', code, async () => {
        const { status, body } = await lote();
        assert.equal(status, 503, body);
        assert.match(body, mensagem);
        assert.match(body, /faultstring/);
        assert.doesNotMatch(body, /segredo/);
      });
      assert.equal((await emit(service.address, xml)).status, 201);
      assert.equal((await register(nota, CANCELAMENTO)).status, 201);
      assert.equal((await lote()).status, 200);
      await untilReady(service);
    });
  }

  test('what no retry cures stays a failure of ours', async () => {
    for (const code of ['23514', '42P01', 'XX000', 'P0001']) {
      await raising(service, 'notas', code, async () => {
        const { status, body } = await emit(service.address, fresh());
        assert.equal(status, 500, code);
        assert.equal(body.codigo_erro, 'E999');
      });
    }
    assert.equal((await ready(service)).status, 200);
  });

  test('the worker goes on when it can, and calls it no failure', { timeout: 600_000 }, async () => {
    await service.pool.query(`create function raised() returns trigger language plpgsql as
      $$ begin raise exception 'cheio' using errcode = '53100'; end $$;
      create trigger raised before insert on trilha_notas for each row when (new.gatilho = 'anuncio') execute function raised()`);
    service.logged.length = 0;
    const { body } = await emit(service.address, fresh());
    const told = await until(
      async () => service.logged.find(({ message }) => /transmissão de um município/.test(message)),
      'the trouble of the worker',
    );
    assert.match(told.message, /sem espaço em disco/);
    await dropTrigger(service.pool, 'raised', 'trilha_notas');
    await authorised(service.address, body.chave_acesso);
  });
});

describe('what the operator has given the role', () => {
  for (const settings of [
    [`set datestyle = 'German'`, `set timezone = 'Asia/Tokyo'`, `set intervalstyle = 'iso_8601'`],
    [`set bytea_output = 'escape'`, 'set extra_float_digits = -5', 'set standard_conforming_strings = off'],
    [`set default_transaction_isolation = 'serializable'`],
    [
      `set statement_timeout = '50ms'`,
      `set lock_timeout = '1ms'`,
      `set idle_in_transaction_session_timeout = '50ms'`,
      `set idle_session_timeout = '300ms'`,
    ],
    ['connection limit 1'],
    ['connection limit 3'],
  ]) {
    test(`${settings.join(', ')}: it is issued and transmitted all the same`, { timeout: 600_000 }, async () => {
      const database = await freshDatabase();
      const user = `u_${database.database}`;
      await administer(database, async (client) => {
        await client.query(`create role ${user} login; grant ${database.user} to ${user}`);
        for (const one of settings) await client.query(`alter role ${user} ${one}`);
        await client.query(
          `grant all on schema public to ${user}; grant all on all tables in schema public to ${user}`,
        );
      });
      onEnd(() => administer(database, (client) => client.query(`drop owned by ${user}; drop role ${user}`)));
      const other = await startTestService({ connection: { ...database, user } });
      // A starved server may count as silent; every other error is a fault.
      const issue = (): Promise<Answer> =>
        until(async () => {
          const answer = await emit(other.address, fresh());
          return answer.status === 503 && /não responde/.test(answer.body.mensagem) ? undefined : answer;
        }, 'a server that is heard');
      const answers = await Promise.all(Array.from({ length: 30 }, issue));
      for (let place = 0; place < 10; place += 1) answers.push(await issue());
      assert.deepEqual(
        answers.filter(({ status }) => status !== 201).map(({ body }) => body),
        [],
      );
      assert.equal((await ready(other)).status, 200);
      await authorised(other.address, answers.at(-1)!.body.chave_acesso);
      if (!settings.includes('connection limit 3')) return;
      await administer(database, (client) => client.query(`alter role ${user} connection limit 4`));
      await until(async () => {
        const asked = Array.from({ length: 4 }, () =>
          other.pool.query('select pg_backend_pid() as pid, pg_sleep(0.1)'),
        );
        const sessions = new Set((await Promise.all(asked)).map(({ rows }) => rows[0].pid));
        return sessions.size === 4 ? true : undefined;
      }, 'all the connections that it may have by now');
    });
  }
});

test('a password that is changed while the service runs', { timeout: 600_000 }, async () => {
  const server = await openEmbedded({ dataDir: await freshDataDir(), log: quiet, transport: 'tcp' });
  onEnd(() => server.stop());
  const own = { ...server.connection, user: 'emissor', password: 'primeira' };
  const set = (password: string) =>
    administer(server.connection, async (client) => {
      await client.query(`alter role emissor password '${password}'`);
      await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'emissor'`);
    });
  await administer(server.connection, (client) =>
    client.query(`create role emissor login password 'primeira'; grant all on schema public to emissor`),
  );
  const other = await startTestService({ connection: own });
  await untilAnswered(other, 201);
  await set('segunda');
  assertComeAgain(await untilAnswered(other, 503), /não deixa este serviço entrar|está sendo reiniciado|não responde/);
  assertComeAgain(await ready(other), /não deixa este serviço entrar/);
  assertComeAgain(await emit(other.address, fresh()), /não deixa este serviço entrar/);
  await set('primeira');
  await untilReady(other);
  await untilAnswered(other, 201);
});

test('a password in the file that PostgreSQL’s own clients read', { timeout: 600_000 }, async () => {
  const server = await openEmbedded({ dataDir: await freshDataDir(), log: quiet, transport: 'tcp' });
  onEnd(() => server.stop());
  const { password, ...without } = server.connection;
  const PGPASSFILE = path.join(await freshDataDir(), 'pgpass');
  const write = (line: string) => writeFileSync(PGPASSFILE, `${line}\n`, { mode: 0o600 });
  const migrar = () =>
    until(async () => {
      const done = await nfse(['migrar'], { DATABASE_URL: databaseUrlOf(without), PGPASSFILE });
      return /não responde/.test(done.err) ? undefined : done;
    }, 'a server that is heard');
  write(`*:*:*:${without.user}:${password}`);
  assert.partialDeepStrictEqual(await migrar(), { code: 0, err: '' });
  write(`*:*:*:${without.user}:outra`);
  assert.match((await migrar()).err, /recusou o usuário ou a senha de DATABASE_URL/);
  write('outro.exemplo:*:*:*:outra');
  assert.match(
    (await migrar()).err,
    /o banco de dados pede senha, e DATABASE_URL não traz nenhuma\. Ponha-a no arquivo/,
  );
});

describe('a server of its own', { timeout: 600_000 }, () => {
  let connection: ClientConfig;
  let location: string;
  let service: TestService;
  before(async () => {
    const dataDir = await readyDataDir();
    appendFileSync(path.join(dataDir, 'pg', 'postgresql.auto.conf'), `max_connections = ${CONNECTIONS}\nfsync = off\n`);
    const server = await openEmbedded({ dataDir, log: quiet });
    onEnd(() => server.stop());
    ({ connection, location } = server);
    service = await startTestService({ connection });
    assert.equal((await emit(service.address, fresh())).status, 201);
  });

  /** Opens connections until the server accepts no more. */
  async function takeAll(): Promise<Client[]> {
    const taken: Client[] = [];
    for (;;) {
      const client = new Client(connection);
      client.on('error', () => undefined);
      try {
        await client.connect();
        taken.push(client);
      } catch (error) {
        assert.equal((error as { code?: string }).code, '53300');
        return taken;
      }
    }
  }

  const setWrites = (areTaken: boolean): Promise<void> =>
    administer(connection, async (client) => {
      await client.query('set default_transaction_read_only = off');
      await client.query(`alter system set default_transaction_read_only = ${areTaken ? 'off' : 'on'}`);
      await client.query('select pg_reload_conf()');
    });

  test('told to take no writes', async (t) => {
    t.after(() => setWrites(true));
    const { body } = await emit(service.address, fresh());
    await authorised(service.address, body.chave_acesso);
    await setWrites(false);
    assertComeAgain(await untilAnswered(service, 503), /só aceita leituras/);
    assertComeAgain(await ready(service), /só aceita leituras/);
    assert.equal((await noteByKey(service.address, body.chave_acesso)).status, 200, 'what is read is read on');
    const env = { DATABASE_URL: databaseUrlOf(connection), NFSE_DATA_DIR: path.join(tmpdir(), 'never') };
    const said = await nfse(['municipio', 'criar', 'leituras', '--ibge', '3550308', '--ambiente', 'homologacao'], env);
    assert.equal(said.code, 75, said.err);
    assert.match(said.err, /só aceita leituras agora. Tente de novo em 5 s/);
    await setWrites(true);
    await untilReady(service);
    await untilAnswered(service, 201);
  });

  test('another takes its place and its address, and it is left as it is: connected, and without writes', async (t) => {
    t.after(() => setWrites(true));
    const heir = await freshDatabase();
    await administer(connection, (client) => client.query(`create database ${heir.database}`));
    const proxy = await startProxy({ ...connection, database: heir.database });
    const moved = await startTestService({ connection: proxy.connection, worker: false });
    assert.equal((await emit(moved.address, fresh())).status, 201);
    await setWrites(false);
    assertComeAgain(await untilAnswered(moved, 503), /só aceita leituras/);
    proxy.moveTo(heir);
    await createStore(await poolOn(heir)).municipios.create(
      { tenant: SANDBOX_SLUG, ambiente: 'homologacao', codigoIbge: undefined },
      NOON,
    );
    // The probe of a load balancer is the only request meanwhile.
    await untilReady(moved);
    await untilAnswered(moved, 201);
  });

  test('all its connections are taken', async (t) => {
    const guests = await takeAll();
    const [first] = guests;
    const taken = startStopwatch();
    const troubled = await until(async () => {
      // The service's remaining connections are ended, and other clients take their places.
      await first!.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'nfse'`);
      guests.push(...(await takeAll()));
      const answer = await emit(service.address, fresh());
      assert.ok([201, 503].includes(answer.status), JSON.stringify(answer.body));
      return answer.status === 503 && /conexões/.test(answer.body.mensagem) ? answer : undefined;
    }, 'a service without connections');
    assertComeAgain(troubled, /não aceita mais conexões/);
    const takenAfter = taken();
    const asked = startStopwatch();
    assertComeAgain(await ready(service), /não aceita mais conexões/);
    t.diagnostic(`taken within ${takenAfter}, ready says so after ${asked()}`);
    const env = { DATABASE_URL: databaseUrlOf(connection), NFSE_DATA_DIR: path.join(tmpdir(), 'never') };
    const said = await nfse(['municipio', 'mostrar', 'integracao'], env);
    assert.equal(said.code, 75, said.err);
    assert.match(said.err, /não aceita mais conexões. Tente de novo/);
    await Promise.all(guests.map((guest) => guest.end()));
    await untilReady(service);
    await untilAnswered(service, 201);
  });

  test('demoted: it replays the log of another, and is promoted again', async () => {
    const { body } = await emit(service.address, fresh());
    writeFileSync(path.join(location, 'standby.signal'), '');
    const { uid, gid } = statSync(location);
    chownSync(path.join(location, 'standby.signal'), uid, gid);
    const [pid] = readFileSync(path.join(location, 'postmaster.pid'), 'utf8').split('\n');
    // A supervisor restarts the server in its new role.
    process.kill(Number(pid), 'SIGINT');
    const readOnly = await until(async () => {
      const answer = await emit(service.address, fresh());
      assert.ok([201, 503].includes(answer.status), JSON.stringify(answer.body));
      return answer.status === 503 && /só aceita leituras/.test(answer.body.mensagem) ? answer : undefined;
    }, 'a server that takes no writes');
    assertComeAgain(readOnly, /só aceita leituras/);
    assertComeAgain(await ready(service), /só aceita leituras/);
    assert.equal((await noteByKey(service.address, body.chave_acesso)).status, 200);
    await administer(connection, (client) => client.query('select pg_promote()'));
    await untilReady(service);
    await untilAnswered(service, 201);
    // The claims of the worker do not block until their end: the clock stands still here.
    await authorised(service.address, body.chave_acesso);
    const after = await emit(service.address, fresh());
    await authorised(service.address, after.body.chave_acesso);
  });

  test('its disk is full', async (t) => {
    const disk = mkdtempSync(path.join(tmpdir(), 'nfse-disco-'));
    onEnd(() => rmSync(disk, { recursive: true, force: true }));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      t.skip('a disk of its own is mounted by root alone; 53100 is raised above');
      return;
    }
    onEnd(() => execFileSync('umount', ['-l', disk]));
    const { uid, gid } = statSync(location);
    chownSync(disk, uid, gid);
    await administer(connection, async (client) => {
      await client.query(`create tablespace pequeno location '${disk}'`);
      await client.query(
        `create database pequena template ${connection.database} tablespace pequeno strategy file_copy`,
      );
    }).catch(async (error: { code?: string }) => {
      // The service is connected to the database that would be copied.
      assert.equal(error.code, '55006');
      await administer(connection, (client) => client.query('create database pequena tablespace pequeno'));
    });
    const small = await startTestService({ connection: { ...connection, database: 'pequena' } });
    assert.equal((await emit(small.address, fresh())).status, 201);
    const filler = path.join(disk, 'cheio');
    // The file takes all free space, and the rest of a page besides.
    execFileSync('sh', ['-c', `dd if=/dev/zero of=${filler} bs=4k 2>/dev/null || true`]);
    const kept: string[] = [];
    const refused = await until(async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => emit(small.address, fresh())));
      kept.push(...answers.flatMap(({ status, body }) => (status === 201 ? [body.chave_acesso] : [])));
      const others = answers.filter(({ status }) => status !== 201);
      for (const answer of others) assertComeAgain(answer, /sem espaço em disco/);
      return others.length > 0 ? others.length : undefined;
    }, 'a disk without room');
    // A commit that needs no space succeeds, and says nothing of the disk.
    await runTransaction(small.pool, (client) => client.query('select 1'));
    const asked = startStopwatch();
    assertComeAgain(await ready(small), /sem espaço em disco/);
    t.diagnostic(`${refused} refused, ready says so after ${asked()}`);
    rmSync(filler);
    await untilReady(small);
    await untilAnswered(small, 201);
    for (const chave of kept) assert.equal((await noteByKey(small.address, chave)).status, 200);
  });
});
