/**
 * A database on several servers (D-410): the service finds the one that accepts writes. It changes to another one when that server dies,
 * falls silent or is demoted. Two separate PostgreSQL servers, on Linux.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPool } from '../src/base/pg/open.ts';
import type { ClientConfig } from '../src/base/pg/pg.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { migrate } from '../src/wiring/migrate.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf } from './support/database.ts';
import { authorised, emit, noteByKey, request } from './support/http.ts';
import { nfse, startServiceProcess } from './support/process.ts';
import { startProxy } from './support/proxy.ts';
import { openReplicated } from './support/replica.ts';
import { startStopwatch, until } from './support/until.ts';

const skip = process.platform !== 'linux' && 'two servers of its own, on Linux';

/** The URL of a database that any of these servers may have. */
function urlOf(...servers: readonly ClientConfig[]): string {
  const hosts = servers.map(({ host, port }) => `${encodeURIComponent(host!)}:${port}`);
  const url = databaseUrlOf({ ...servers[0], password: 'segredo', host: 'h' });
  return `${url.replace(/@[^/]*/, `@${hosts.join(',')}`)}?target_session_attrs=read-write`;
}

let made = 0;
function fresh(): string {
  made += 1;
  return exampleXml({ serie: '1', nDPS: String(made) });
}

/** Repeats the request until a note is issued, and returns its key. */
async function issue(address: string): Promise<string> {
  return until(async () => {
    const { status, body } = await emit(address, fresh());
    assert.ok([201, 503].includes(status), JSON.stringify(body));
    return status === 201 ? body.chave_acesso : undefined;
  }, 'a note');
}

async function untilRefused(address: string): Promise<string> {
  return until(async () => {
    const { status, body } = await emit(address, fresh());
    return status === 503 ? body.mensagem : undefined;
  }, 'a refusal');
}

describe('several servers', { skip, timeout: 600_000 }, () => {
  test('the one that takes writes is found in any place, by every command, and the next when it dies', async (t) => {
    const { primary, standby } = await openReplicated();
    const DATABASE_URL = urlOf(standby.connection, primary.connection);
    const said = await nfse(['migrar'], { DATABASE_URL });
    assert.equal(said.code, 0, said.err);
    const service = await startServiceProcess({ DATABASE_URL, NFSE_PROCESSOS: '2' });
    const keys = [await issue(service.address), await issue(service.address)];
    await authorised(service.address, keys[0]!);
    await primary.kill();
    assert.match(await untilRefused(service.address), /só aceita leituras|não responde|reiniciado/);
    const unready = await request(service.address, '/health/ready');
    assert.equal(unready.status, 503);
    const none = await nfse(['municipio', 'mostrar', 'integracao'], { DATABASE_URL });
    assert.equal(none.code, 75, none.err);
    assert.match(none.err, /nenhum servidor de DATABASE_URL aceita gravações/);
    for (const { connection } of [primary, standby])
      assert.ok(none.err.includes(`${connection.host}:5432: `), none.err);
    assert.match(none.err, /só aceita leituras: é uma réplica/);
    assert.doesNotMatch(none.err + service.output(), /segredo/);
    await standby.query('select pg_promote()');
    const told = startStopwatch();
    keys.push(await issue(service.address));
    t.diagnostic(`a note ${told()} after the promotion`);
    for (const key of keys) assert.equal((await noteByKey(service.address, key)).status, 200);
    await authorised(service.address, keys.at(-1)!);
    assert.equal(await service.end('SIGTERM'), 0);
  });

  test('one that falls silent is left when another has been promoted, and so is one that is demoted', async (t) => {
    const { primary, standby } = await openReplicated();
    await primary.query(`alter system set synchronous_standby_names = ''`);
    await primary.query('select pg_reload_conf()');
    const proxy = await startProxy(primary.connection);
    const service = await startServiceProcess({ DATABASE_URL: urlOf(proxy.connection, standby.connection) });
    const first = await issue(service.address);
    await until(async () => {
      const rows = await standby.query(`select 1 from notas where chave_acesso = '${first}'`);
      return rows.length > 0 || undefined;
    }, 'the note is on the standby');
    proxy.way = 'swallowed';
    await standby.query('select pg_promote()');
    const told = startStopwatch();
    await issue(service.address);
    t.diagnostic(`a note ${told()} after the silence`);
    assert.equal((await noteByKey(service.address, first)).status, 200);
    // The other server is back, and this one accepts no more writes.
    proxy.way = 'forwarded';
    await standby.query('alter system set default_transaction_read_only = on');
    await standby.query('select pg_reload_conf()');
    await until(async () => {
      await issue(service.address);
      const [row] = await primary.query('select count(*)::int as count from notas');
      return (row!['count'] as number) > 1 || undefined;
    }, 'notes on the first server');
    assert.equal((await request(service.address, '/health/ready')).status, 200);
    assert.equal(await service.end('SIGTERM'), 0);
  });

  test('a schema is made by the one that takes writes', async () => {
    const { primary, standby } = await openReplicated();
    await primary.query('create database nova');
    const connection = {
      servers: [standby, primary].map(({ connection: own }) => serverOf({ ...own, database: 'nova' })),
    };
    const pool = openPool(connection, () => undefined);
    onEnd(() => pool.end());
    assert.ok((await migrate(pool)).length > 0);
  });
});

function serverOf(own: ClientConfig) {
  return { name: `${own.host}:${own.port}`, connectionString: databaseUrlOf(own) };
}
