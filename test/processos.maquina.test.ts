/** The service as several processes: one port, one count, one orderly end, even if one of them dies. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { describe, test } from 'node:test';
import tls from 'node:tls';
import { openBuckets, type Wanted } from '../src/base/http/buckets.ts';
import { copyBuckets, takeCounted } from '../src/base/http/shared-buckets.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { onEnd } from './support/cleanup.ts';
import { nfseBeside } from './support/cli.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { request } from './support/http.ts';
import { pace } from './support/pace.ts';
import { ownPort } from './support/ports.ts';
import { ifThere, nfse } from './support/process.ts';
import { answeringOf, below, end, ISSUE, open, SERVE, send, type Town, watcherOf, XML } from './support/processos.ts';
import { unlessStoodStill } from './support/standstill.ts';
import { said, start } from './support/started.ts';
import { createAuthority, SERVER_EXTENSIONS } from './support/tls.ts';
import { until, untilTrue } from './support/until.ts';

const dps = (number: number): string => exampleXml({ serie: '1', nDPS: String(number) });

/** The pause between two requests of a client, far below any timeout: a constant stream of requests matters. */
const LINE_PAUSE_MS = 20;

/** Clients with persistent connections that issue one note after another; `again`: a broken request is repeated until it is answered. */
function issueOn(address: string, again: boolean) {
  const agent = new http.Agent({ keepAlive: true });
  const [answers, broken]: [number[], string[]] = [[], []];
  let isOver = false;
  let number = 1_000;
  const line = async (): Promise<void> => {
    while (!isOver) {
      number += 1;
      const body = dps(number);
      for (let isSent = false; !isSent; ) {
        try {
          answers.push((await send(`${address}${ISSUE}`, { ...XML, agent }, body)).status);
          isSent = true;
        } catch (error) {
          broken.push(String(error));
          isSent = !again;
        }
        await pace(LINE_PAUSE_MS);
      }
    }
  };
  const lines = Promise.all(Array.from({ length: 12 }, line));
  const stop = async (): Promise<number> => {
    isOver = true;
    await lines;
    agent.destroy();
    return number - 1_000;
  };
  return { answers, broken, stop };
}

async function countNotas({ pool }: Town): Promise<{ readonly notas: number; readonly documentos: number }> {
  const text = `select count(*)::int as notas, count(distinct id_dps)::int as documentos from notas where tenant = 'integracao'`;
  return (await pool.query<{ notas: number; documentos: number }>(text)).rows[0]!;
}

describe('SIGHUP', () => {
  // A connection that was idle for too long is closed while a request is on its way.
  test('under load puts a new process in the place of each, without a request that fails', () =>
    unlessStoodStill(exchange));

  async function exchange(): Promise<void> {
    const town = await open({ NFSE_LOG_LEVEL: 'info' });
    const { service, address } = town;
    const before = answeringOf(service);
    assert.equal(before.length, 2);
    const load = issueOn(address, false);
    await untilTrue(() => load.answers.length > 50, 'the load runs');
    service.child.kill('SIGHUP');
    await said(service, /processos trocados/);
    const during = load.answers.length;
    await untilTrue(() => load.answers.length > during + 50, 'the load goes on');
    const sent = await load.stop();
    assert.deepEqual(load.broken, []);
    assert.deepEqual([...new Set(load.answers)], [201]);
    assert.deepEqual(await countNotas(town), { notas: sent, documentos: sent });
    const after = answeringOf(service);
    assert.equal(after.length, 2);
    assert.ok(!after.some((pid) => before.includes(pid)), 'all are new');
    assert.doesNotMatch(service.output(), /"status":503/);
    await end(town);
  }

  test('brings a renewed certificate, and leaves what is there where a new process cannot start', async () => {
    const authority = createAuthority('Autoridade');
    const [first, second] = ['first', 'second'].map((name) => authority.issue(name, SERVER_EXTENSIONS));
    const town = await open({ NFSE_TLS_CERTIFICADO: first!.certFile, NFSE_TLS_CHAVE: first!.keyFile });
    const shown = async (): Promise<string> => {
      const { port } = new URL(town.address);
      const socket = tls.connect({ host: '127.0.0.1', port: Number(port), ca: authority.ca });
      await once(socket, 'secureConnect');
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return String(subject.CN);
    };
    assert.equal(await shown(), 'first');
    const before = answeringOf(town.service);
    const own = readFileSync(first!.certFile, 'utf8');
    writeFileSync(first!.certFile, 'nothing');
    town.service.child.kill('SIGHUP');
    await said(town.service, /um processo novo não pôde iniciar; os de antes seguem atendendo/);
    assert.match(town.service.output(), /não são um certificado em PEM/);
    assert.equal(await shown(), 'first');
    assert.deepEqual(answeringOf(town.service), before);
    writeFileSync(first!.certFile, own);
    copyFileSync(second!.certFile, first!.certFile);
    copyFileSync(second!.keyFile, first!.keyFile);
    town.service.child.kill('SIGHUP');
    await until(
      async () => ((await shown()) === 'second' && (await shown()) === 'second') || undefined,
      'both are new',
    );
    await end(town);
  });

  test('with one process says what it would need, and changes nothing', async () => {
    const town = await open({ NFSE_PROCESSOS: '1' });
    assert.deepEqual(answeringOf(town.service), []);
    town.service.child.kill('SIGHUP');
    await said(town.service, /SIGHUP não faz nada com um só processo/);
    assert.equal((await request(town.address, '/health/ready')).status, 200);
    await end(town);
  });
});

describe('kill -9', () => {
  test('of one that answers, under load: another is in its place, and every note is issued once', () =>
    unlessStoodStill(replaceDead));

  async function replaceDead(): Promise<void> {
    const town = await open({});
    const { service, address } = town;
    const load = issueOn(address, true);
    await untilTrue(() => load.answers.length > 50, 'the load runs');
    const [victim] = answeringOf(service);
    process.kill(victim!, 'SIGKILL');
    await said(service, /um processo que atende morreu; outro é iniciado/);
    await untilTrue(() => answeringOf(service).length === 2 && !answeringOf(service).includes(victim!), 'a new one');
    const during = load.answers.length;
    await untilTrue(() => load.answers.length > during + 50, 'the load goes on');
    const sent = await load.stop();
    assert.ok(load.broken.length <= 12, 'no more than was under way');
    // A repeated request is told that its note exists, if the note was issued without an answer.
    assert.deepEqual(
      [...new Set(load.answers)].filter((status) => status !== 201 && status !== 422),
      [],
    );
    assert.ok(load.answers.filter((status) => status === 422).length <= load.broken.length);
    assert.deepEqual(await countNotas(town), { notas: sent, documentos: sent });
    await end(town);
  }

  test('of the one that watches ends all, and the next start serves at the same place', async () => {
    const connection = await freshDatabase();
    const PORT = String(await ownPort());
    const first = await open({ PORT }, connection);
    const answering = answeringOf(first.service);
    process.kill(watcherOf(first.service), 'SIGKILL');
    await untilTrue(() => answering.every((pid) => below(pid).length === 0 && !isThere(pid)), 'all have ended');
    const second = await open({ PORT }, connection);
    assert.equal(second.address, first.address);
    assert.equal((await request(second.address, '/health/ready')).status, 200);
    await end(second);
  });

  test('of each as soon as it is there ends the service, with the reason', async () => {
    const env = { DATABASE_URL: databaseUrlOf(await freshDatabase()), PORT: '0', NFSE_PROCESSOS: '2' };
    const service = start(SERVE, env);
    const killing = setInterval(() => {
      if (service.child.exitCode !== null) return;
      for (const pid of answeringOf(service)) ifThere(() => process.kill(pid, 'SIGKILL'));
    }, 20);
    assert.equal(await service.ended, 1, service.output());
    clearInterval(killing);
    assert.match(service.output(), /Não foi possível continuar: o processo \d+ morreu \(SIGKILL\)\n$/);
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('across the processes', () => {
  test('a limit is one: of sixty requests at once on connections of their own as many pass as it says', async () => {
    const connection = await freshDatabase();
    const town = await open({}, connection);
    const env = { DATABASE_URL: databaseUrlOf(connection) };
    const changed = await nfseBeside(['municipio', 'alterar', 'integracao', '--limite-endereco', '20'], env);
    assert.equal(changed.code, 0, changed.err);
    // A process caches the settings of a municipality for two seconds.
    await until(async () => {
      const { headers } = await request(town.address, ISSUE, { ...XML, body: '<x/>' });
      return headers.get('ratelimit-policy')?.includes('"endereco";q=20;') || undefined;
    }, 'the limit is known');
    // Only time ensures that the other process has reloaded them too.
    await pace(2_500);
    await request(town.address, ISSUE, { ...XML, body: '<x/>' });
    const began = performance.now();
    const left = Number(
      /"endereco";r=(\d+)/.exec(
        (await request(town.address, ISSUE, { ...XML, body: '<x/>' })).headers.get('ratelimit')!,
      )![1],
    );
    assert.ok(left > 5, `${left}`);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, place) =>
        send(`${town.address}${ISSUE}`, { ...XML, agent: false }, dps(place + 1)),
      ),
    );
    const counts = Map.groupBy(answers, ({ status }) => status);
    assert.deepEqual([...counts.keys()].toSorted(), [201, 429]);
    // The remaining allowance is in whole requests; a minute adds twenty more.
    const passed = counts.get(201)!.length;
    const seconds = (performance.now() - began) / 1_000;
    assert.ok(passed >= left && passed <= left + 1 + seconds / 3, `${passed} of ${left} in ${seconds} s`);
    await end(town);
  });

  test('misses are one: sixty are told, the others are refused', () => unlessStoodStill(countMisses));

  async function countMisses(): Promise<void> {
    const town = await open({});
    const began = performance.now();
    const unknown = `/integracao/api/v1/nfse/${'3'.repeat(50)}`;
    const answers = await Promise.all(
      Array.from({ length: 90 }, () => send(`${town.address}${unknown}`, { agent: false })),
    );
    const told = answers.filter(({ status }) => status === 404).length;
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].toSorted(), [404, 429]);
    // One more is allowed each second.
    const seconds = (performance.now() - began) / 1_000;
    assert.ok(told >= 60 && told <= 61 + seconds, `${told} in ${seconds} s`);
    await end(town);
  }

  test('a key of a repetition is one: requests that meet in both make one note', async () => {
    const town = await open({});
    const headers = { ...XML.headers, 'Idempotency-Key': 'uma chave' };
    const ask = () => send(`${town.address}${ISSUE}`, { ...XML, headers, agent: false }, dps(1));
    const answers = await Promise.all(Array.from({ length: 16 }, ask));
    const made = answers.filter(({ status }) => status === 201);
    assert.ok(made.length > 0);
    assert.deepEqual(
      answers.filter(({ status }) => status !== 201 && status !== 409),
      [],
    );
    const keys = new Set([...made, await ask()].map(({ text }) => JSON.parse(text).chave_acesso));
    assert.equal(keys.size, 1);
    assert.deepEqual(await countNotas(town), { notas: 1, documentos: 1 });
    await end(town);
  });

  // Connections that are idle for too long are closed.
  test('connections are shared evenly, those that were kept', () => unlessStoodStill(shareConnections));

  async function shareConnections(): Promise<void> {
    const town = await open({ NFSE_LOG_LEVEL: 'info' });
    const agents = Array.from({ length: 20 }, () => new http.Agent({ keepAlive: true }));
    for (const agent of agents) await send(`${town.address}/health/live`, { agent });
    const counts = answeringOf(town.service).map((pid) => countConnections(pid, Number(new URL(town.address).port)));
    assert.deepEqual(counts, [10, 10]);
    for (const agent of agents) agent.destroy();
    await end(town);
  }

  test('who sends half a request is told in time', async () => {
    const town = await open({});
    const { port } = new URL(town.address);
    const socket = net.connect({ host: '127.0.0.1', port: Number(port) });
    let half = '';
    socket.setEncoding('utf8').on('data', (chunk) => (half += chunk));
    socket.write('GET / HTTP/1.1\r\nHo');
    await once(socket, 'end');
    assert.match(half, /^HTTP\/1\.1 408 /);
    await end(town);
  });
});

/** Established connections of a process to a port of its machine. */
function countConnections(pid: number, port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const inodes = new Set(rows.filter((row) => row[1]?.endsWith(`:${hex}`) && row[3] === '01').map((row) => row[9]));
  return socketsOf(pid).filter((inode) => inodes.has(inode)).length;
}

/** The open sockets of a process, by number. */
function socketsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? [];
    } catch {
      return [];
    }
  });
}

describe('a start that cannot be', () => {
  test('says why once, and ends as with one process', async () => {
    const other = net.createServer().listen(0, '127.0.0.1');
    onEnd(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as net.AddressInfo;
    const DATABASE_URL = databaseUrlOf(await freshDatabase());
    const outcomes = [
      { env: { PORT: String(port), DATABASE_URL }, code: 1, why: /o endereço 127\.0\.0\.1:\d+ já está em uso\./ },
      {
        env: { PORT: '0', DATABASE_URL: 'postgres://u:s@127.0.0.1:1/b' },
        code: 75,
        why: /o banco de dados não responde em 127\.0\.0\.1:1\./,
      },
      {
        env: { PORT: '0', DATABASE_URL, NFSE_TLS_CERTIFICADO: '/nada', NFSE_TLS_CHAVE: '/nada' },
        code: 1,
        why: /NFSE_TLS_CERTIFICADO: o arquivo \/nada não existe/,
      },
    ];
    for (const { env, code, why } of outcomes) {
      const [one, two] = await Promise.all(
        ['1', '2'].map((NFSE_PROCESSOS) => nfse(['serve'], { ...env, NFSE_PROCESSOS, NFSE_LOG_LEVEL: 'error' })),
      );
      assert.match(one!.err, why);
      assert.deepEqual(two, one);
      assert.equal(one!.code, code);
    }
  });
});

describe('the count that processes share', () => {
  const measure = { size: 10_000, refillMs: 1_000_000 };
  const wanted = (cost: number): readonly Wanted[] => [{ key: 'a', measure, cost }];

  /** Two copies of one count, each of which receives the other's takes. */
  function twoCopies() {
    const counted = openBuckets(() => 0, 10);
    const own = [openBuckets(() => 0, 10), openBuckets(() => 0, 10)] as const;
    let asked = 0;
    const [one, other] = own.map((mine, place) => {
      const tell = (spent: readonly Wanted[]): void => {
        for (const each of spent) own[1 - place]!.spend(each);
      };
      return copyBuckets(mine, {
        ask: async (list) => {
          asked += 1;
          const taken = takeCounted(counted, list);
          if (taken.short === undefined) tell(list);
          return taken;
        },
        report: (spent) => {
          for (const each of spent) counted.spend(each);
          tell(spent);
          return undefined;
        },
      });
    });
    return { one: one!, other: other!, counted, asked: () => asked };
  }

  test('is not asked while much is left, and hears of all; near the end each take is asked', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { one, other, counted, asked } = twoCopies();
    for (let count = 0; count < 4_000; count += 1) assert.equal(await one.take(wanted(1)), undefined);
    for (let count = 0; count < 4_000; count += 1) assert.equal(await other.take(wanted(1)), undefined);
    assert.equal(asked(), 0);
    assert.equal(counted.left('a', measure), 10_000);
    t.mock.timers.tick(100);
    assert.equal(counted.left('a', measure), 2_000);
    assert.deepEqual([one.left('a', measure), other.left('a', measure)], [2_000, 2_000]);
    const both = [one, other];
    let taken = 0;
    for (let count = 0; count < 3_000; count += 1) {
      if ((await both[count % 2]!.take(wanted(1))) === undefined) taken += 1;
      if (count % 100 === 0) t.mock.timers.tick(100);
    }
    assert.equal(taken, 2_000);
    assert.ok(asked() >= 900 && asked() <= 1_100, `${asked()}`);
    assert.deepEqual(await one.take(wanted(5)), { place: 0, waitMs: 500 });
  });

  test('takes all or nothing, in whichever process it is asked for', async () => {
    const { one, other, counted } = twoCopies();
    const small = { size: 1, refillMs: 1_000 };
    const pair: readonly Wanted[] = [
      { key: 'b', measure, cost: 1 },
      { key: 'c', measure: small, cost: 1 },
    ];
    assert.equal(await one.take(pair), undefined);
    assert.deepEqual(await other.take(pair), { place: 1, waitMs: 1_000 });
    assert.equal(counted.left('b', measure), 9_999);
  });
});
