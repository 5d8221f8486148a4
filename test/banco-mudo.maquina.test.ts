/** A database that dies silently: no request waits for ever, nothing is lost or doubled, and every answer is true. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { freshDatabase, poolOn } from './support/database.ts';
import { type Answer, emit, request } from './support/http.ts';
import { pace } from './support/pace.ts';
import { readyDataDir, serverProcesses, startServiceProcess } from './support/process.ts';
import { startProxy } from './support/proxy.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

const API = '/integracao/api/v1';
const isLong = process.env['NFSE_TEST_LONGO'] !== undefined;

async function serviceBehindProxy() {
  const proxy = await startProxy(await freshDatabase());
  const service = await startTestService({ connection: proxy.connection, isPatient: false });
  return { proxy, service };
}

function dps(number: number): string {
  return exampleXml({ serie: '1', nDPS: String(number) });
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, place) => place + 1);
}

function assertComeAgain({ status, headers, body }: Answer, mensagem: RegExp): void {
  assert.equal(status, 503, JSON.stringify(body));
  assert.equal(body.codigo_erro, 'E703');
  assert.ok(Number(headers.get('retry-after')) > 0);
  assert.match(body.mensagem, mensagem);
}

/** The key of a DPS's note. The client repeats its request until there is a definite answer. */
async function keyOf({ address }: Pick<TestService, 'address'>, number: number): Promise<string> {
  return until(async () => {
    const { status, body } = await emit(address, dps(number));
    if (status === 503) return undefined;
    if (status === 201) return body.chave_acesso;
    assert.equal(status, 422, JSON.stringify(body));
    assert.equal(body.codigo_erro, 'E0014');
    assert.equal(body.erros[0].mesmo_conteudo, true);
    return body.erros[0].chave_acesso;
  }, `the note of DPS ${number}`);
}

/** There are as many notes as DPS, and no gap in their numbers. */
async function assertAllOnce({ pool }: TestService, count: number): Promise<void> {
  const { rows } = await pool.query<{ numero: string }>('select numero_dps as numero from notas order by numero_dps');
  assert.deepEqual(
    rows.map(({ numero }) => Number(numero)),
    upTo(count),
  );
}

async function untilReady({ address }: TestService): Promise<void> {
  await until(
    async () => ((await request(address, '/health/ready')).status === 200 ? true : undefined),
    'the service is ready',
  );
}

// The tests mostly wait, each with its own database; where times are asserted, they run one after another.
describe('a database that is not heard', { concurrency: !isLong }, () => {
  describe('bytes that nobody forwards', () => {
    test('who waits is told to come again, ready says so, and issuing goes on when they are forwarded', {
      timeout: 600_000,
    }, async (t) => {
      const { proxy, service } = await serviceBehindProxy();
      await keyOf(service, 1);
      proxy.way = 'swallowed';
      const began = performance.now();
      const answers = await Promise.all([2, 3, 4, 5, 6].map((number) => emit(service.address, dps(number))));
      const waited = performance.now() - began;
      for (const answer of answers) assertComeAgain(answer, /não responde/);
      assertComeAgain(await request(service.address, '/health/ready'), /não responde/);
      assert.equal((await request(service.address, '/health/live')).status, 200);
      if (isLong) await pace(50_000 - waited);
      proxy.way = 'forwarded';
      const back = performance.now();
      await keyOf(service, 2);
      const away = performance.now() - back;
      await untilReady(service);
      for (const number of [3, 4, 5, 6]) await keyOf(service, number);
      await assertAllOnce(service, 6);
      t.diagnostic(`answered after ${Math.round(waited)} ms, back after ${Math.round(away)} ms`);
      if (!isLong) return;
      assert.ok(waited < 5_000, `answered after ${waited} ms`);
      assert.ok(away < 2_000, `back after ${away} ms`);
    });

    test('a note whose commit was not heard of may stand: the answer says so, and the same sent again finds it', {
      timeout: 600_000,
    }, async () => {
      const { proxy, service } = await serviceBehindProxy();
      await keyOf(service, 1);
      proxy.way = 'answers swallowed from commit on';
      const key = { 'Content-Type': 'application/xml', 'Idempotency-Key': 'uma-vez' };
      const keyed = () => request(service.address, `${API}/nfse/v101`, { method: 'POST', headers: key, body: dps(3) });
      const sent = Promise.all([emit(service.address, dps(2)), keyed()]);
      // The server answers other sessions: the only visible symptom is the group that has been under way for too long.
      const unready = await until(async () => {
        const answer = await request(service.address, '/health/ready');
        return answer.status === 200 ? undefined : answer;
      }, 'ready says that a group is under way for too long');
      assertComeAgain(unready, /demorou demais/);
      const answers = await sent;
      for (const answer of answers) assertComeAgain(answer, /pode ter sido gravado.*Idempotency-Key/);
      proxy.way = 'forwarded';
      await untilReady(service);
      const { status, body } = await emit(service.address, dps(2));
      assert.equal(status, 422);
      assert.equal(body.erros[0].mesmo_conteudo, true);
      const again = await keyed();
      assert.equal(again.status, 201, JSON.stringify(again.body));
      assert.equal(again.headers.get('x-nfse-repetida'), 'true');
      await assertAllOnce(service, 3);
    });
  });

  test('connections that are closed on the other side alone are given up, and others take their place', {
    timeout: 600_000,
  }, async (t) => {
    const { proxy, service } = await serviceBehindProxy();
    for (const number of upTo(3)) await keyOf(service, number);
    proxy.closeHalf();
    const began = performance.now();
    const answers = await Promise.all([4, 5, 6, 7].map((number) => emit(service.address, dps(number))));
    const waited = performance.now() - began;
    for (const answer of answers) if (answer.status !== 201) assertComeAgain(answer, /não responde/);
    for (const number of [4, 5, 6, 7]) await keyOf(service, number);
    await untilReady(service);
    await assertAllOnce(service, 7);
    t.diagnostic(`answered ${answers.map(({ status }) => status)} after ${Math.round(waited)} ms`);
    if (isLong) assert.ok(waited < 10_000, `answered after ${waited} ms`);
  });

  test('a statement that is long on a server that answers is waited for', { timeout: 600_000 }, async () => {
    const { service } = await serviceBehindProxy();
    // The query outlasts the time to a suspicion, but not the time after which the session is ended.
    const { rows } = await service.pool.query<{ ended: boolean }>('select pg_sleep(5) is not null as ended');
    assert.equal(rows[0]?.ended, true);
  });

  test('a server that is far, or is heard late, is not taken for one that is gone', { timeout: 600_000 }, async () => {
    const proxy = await startProxy(await freshDatabase());
    // No worker runs, as in a command: the answers to its looks would also count as signs of life.
    const pool = await poolOn(proxy.connection);
    proxy.way = 'late';
    const { rows } = await pool.query<{ ended: boolean }>('select pg_sleep(5) is not null as ended');
    assert.equal(rows[0]?.ended, true);
  });

  test('a server that stands still is told of at once, and nothing is lost when it goes on', {
    timeout: 600_000,
    skip: process.platform !== 'linux' && 'the processes of the server are found as Linux tells them',
  }, async (t) => {
    const dataDir = await readyDataDir();
    const { address, end } = await startServiceProcess({ NFSE_DATA_DIR: dataDir });
    const sent = new Map<number, Promise<Answer>>();
    const issue = (number: number): Promise<Answer> => {
      const answer = emit(address, dps(number));
      sent.set(number, answer);
      return answer;
    };
    assert.equal((await issue(1)).status, 201);
    const stopped = serverProcesses(dataDir);
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    const began = performance.now();
    let longest = 0;
    let isTold = false;
    let number = 1;
    try {
      // Clients send ten requests a second, without knowledge of the failure, until one is told, on any machine.
      while (!isTold || performance.now() - began < (isLong ? 30_000 : 6_000)) {
        number += 1;
        const from = performance.now();
        void issue(number).then(({ status }) => {
          isTold ||= status === 503;
          longest = Math.max(longest, performance.now() - from);
        });
        await pace(100);
      }
    } finally {
      // A process that started meanwhile was not stopped.
      for (const pid of stopped) process.kill(pid, 'SIGCONT');
    }
    const went = performance.now();
    const service = { address };
    await keyOf(service, 1_000_000);
    const away = performance.now() - went;
    const statuses = Map.groupBy(await Promise.all(sent.values()), ({ status }) => status);
    t.diagnostic(`${[...statuses].map(([status, { length }]) => `${length} × ${status}`).join(', ')}`);
    t.diagnostic(`longest wait ${Math.round(longest)} ms, back after ${Math.round(away)} ms`);
    for (const answer of statuses.get(503) ?? []) assertComeAgain(answer, /não responde/);
    assert.ok(statuses.has(503));
    const keys = await Promise.all([...sent.keys()].map((one) => keyOf(service, one)));
    assert.equal(new Set(keys).size, sent.size);
    for (const [one, answer] of sent) {
      const { status, body } = await answer;
      if (status === 201) assert.equal(body.chave_acesso, keys[one - 1], 'what was answered stands');
    }
    assert.equal(await end('SIGINT'), 0);
    if (!isLong) return;
    assert.ok(longest < 5_000, `answered after ${longest} ms`);
    assert.ok(away < 2_000, `back after ${away} ms`);
  });
});
