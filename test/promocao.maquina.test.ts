/**
 * A real failover: the primary dies with -9, and the synchronous replica is promoted and takes over its address. Notes answered with 201
 * stand, clients meanwhile are told to retry, and issuing resumes by itself. NFSE_TEST_LONGO=1, on Linux.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { databaseUrlOf } from './support/database.ts';
import { emit, noteByKey, request } from './support/http.ts';
import { type Sent, startLoad } from './support/load.ts';
import { pace } from './support/pace.ts';
import { startServiceProcess } from './support/process.ts';
import { startProxy } from './support/proxy.ts';
import { openReplicated } from './support/replica.ts';
import { LONG } from './support/seed.ts';
import { until, untilTrue } from './support/until.ts';

const skip = !(LONG && process.platform === 'linux') && 'two servers of its own: NFSE_TEST_LONGO=1, on Linux';

for (const death of ['killed with -9', 'cut off from the network'] as const) {
  test(`a primary that is ${death}, and a synchronous replica that is promoted`, {
    timeout: 600_000,
    skip,
  }, async (t) => {
    const { primary, standby } = await openReplicated();
    const proxy = await startProxy(primary.connection);
    const service = await startServiceProcess({ DATABASE_URL: databaseUrlOf(proxy.connection) });
    const load = startLoad(service.address);
    await untilTrue(() => load.sent.length > 100, 'the load runs');

    const died = performance.now();
    if (death === 'killed with -9') await primary.kill();
    else proxy.way = 'swallowed';
    const unready = await until(async () => {
      const answer = await request(service.address, '/health/ready');
      return answer.status === 503 ? answer : undefined;
    }, 'ready says so');
    assert.ok(Number(unready.headers.get('retry-after')) > 0);
    await untilTrue(() => load.sent.some(({ answer, began }) => began > died && answer.status === 503), 'a 503');
    const told = performance.now();
    await pace(10_000);

    // The replica has the address; the primary that was cut off dies, so there are never two.
    await primary.kill();
    proxy.moveTo(standby.connection);
    proxy.way = 'forwarded';
    await standby.query('select pg_promote()');
    const promoted = performance.now();
    await untilTrue(() => load.sent.some(({ answer, ended }) => ended > promoted && answer.status === 201), 'a note');
    const back = performance.now();
    await until(
      async () => ((await request(service.address, '/health/ready')).status === 200 ? true : undefined),
      'the service is ready',
    );
    await load.stop();

    const statuses = Map.groupBy(load.sent, ({ answer }) => answer.status);
    const longest = Math.max(...load.sent.map(({ began, ended }) => ended - began));
    const counts = [...statuses].map(([status, { length }]) => `${length} × ${status}`).join(', ');
    t.diagnostic(
      `${counts}; the longest waited ${Math.round(longest)} ms; told ${Math.round(told - died)} ms after the death, back ${Math.round(back - promoted)} ms after the promotion`,
    );
    assert.deepEqual([...statuses.keys()].toSorted(), [201, 503]);
    for (const { number, answer } of load.sent) {
      if (answer.status !== 201) continue;
      const kept = await noteByKey(service.address, answer.body.chave_acesso);
      assert.equal(kept.status, 200, `note ${number} was answered, and is not there`);
    }
    // A client without an answer repeats its request. It gets a new note, or the one that was stored without an answer.
    const keys = new Set<string>();
    const ask = async ({ number, answer }: Sent): Promise<void> => {
      const again =
        answer.status === 201 ? answer : await emit(service.address, exampleXml({ serie: '1', nDPS: String(number) }));
      if (again.status === 422) assert.equal(again.body.erros[0].mesmo_conteudo, true);
      else assert.equal(again.status, 201, JSON.stringify(again.body));
      keys.add(again.status === 201 ? again.body.chave_acesso : again.body.erros[0].chave_acesso);
    };
    await Promise.all(load.sent.map(ask));
    assert.equal(keys.size, load.sent.length);
    const [row] = await standby.query('select count(*)::int as count, max(numero_dps)::int as highest from notas');
    assert.deepEqual(row, { count: load.sent.length, highest: load.sent.length });
    assert.equal(await service.end('SIGTERM'), 0);
    assert.ok(longest < 5_000, `answered after ${longest} ms`);
  });
}

test('a synchronous replica that dies: who was not answered is told that it may be stored, and so it is', {
  timeout: 600_000,
  skip,
}, async (t) => {
  const { primary, standby } = await openReplicated();
  const service = await startServiceProcess({ DATABASE_URL: databaseUrlOf(primary.connection) });
  const issue = (number: number) => emit(service.address, exampleXml({ serie: '1', nDPS: String(number) }));
  assert.equal((await issue(1)).status, 201);
  await standby.kill();
  const began = performance.now();
  const sent = issue(2);
  await until(
    async () => ((await request(service.address, '/health/ready')).status === 503 ? true : undefined),
    'ready says so',
  );
  t.diagnostic(`ready says so after ${Math.round(performance.now() - began)} ms`);
  const { status, body } = await sent;
  t.diagnostic(`answered after ${Math.round(performance.now() - began)} ms`);
  assert.equal(status, 503);
  assert.match(body.mensagem, /pode ter sido gravado/);
  await primary.query(`alter system set synchronous_standby_names = ''`);
  await primary.query('select pg_reload_conf()');
  const again = await until(async () => {
    const answer = await issue(2);
    return answer.status === 503 ? undefined : answer;
  }, 'an answer');
  assert.equal(again.status, 422);
  assert.equal(again.body.erros[0].mesmo_conteudo, true);
  assert.equal((await issue(3)).status, 201);
});
