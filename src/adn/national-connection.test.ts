/** The client of the ADN against a real HTTPS server: connections that cannot be made, the operator and the circuit. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { describe, test } from 'node:test';
import { chaveOf, entry, lote, refusal } from '../../test/support/adn-answers.ts';
import { onEnd } from '../../test/support/cleanup.ts';
import {
  A,
  accepts,
  askedFor,
  B,
  C,
  documentsOf,
  GIVEN_UP,
  HTML,
  json,
  openNational,
  type Play,
  says,
  tells,
  timeInHand,
} from '../../test/support/national.ts';
import { pace } from '../../test/support/pace.ts';
import { ownPort } from '../../test/support/ports.ts';
import { CLIENT_EXTENSIONS, createAuthority } from '../../test/support/tls.ts';
import { until, untilTrue } from '../../test/support/until.ts';
import type { NotaAnswer } from './adn.ts';
import { openBreaker, type Pass } from './breaker.ts';
import type { nationalAdn } from './national.ts';

const { stage, client, authority, server } = openNational();

const stranger = createAuthority('estranha');

const foreign = stranger.issue('outro', CLIENT_EXTENSIONS);

describe('a connection that cannot be made', () => {
  test('nobody listens: unavailable, for sharing and for asking', async () => {
    const { share, find } = await stage(accepts, { url: `https://localhost:${await ownPort()}` });
    for (const answer of [(await share(A))[A], (await find(askedFor(A)))[A]]) {
      assert.equal(answer?.kind, 'unavailable');
      assert.match(tells(answer), /^o ADN recusou a conexão: .*confira o endereço \(--adn\)$/);
    }
  });

  test('no such name: unavailable', async () => {
    const { share } = await stage(accepts, { url: 'https://adn.invalid', limits: { connectMs: 4000 } });
    const answer = (await share(A))[A]!;
    assert.equal(answer.kind, 'unavailable');
  });

  test('a server that says nothing while TLS begins: unavailable within the time to connect', async () => {
    const mute = net.createServer(() => undefined).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    onEnd(() => mute.close());
    const sockets = new Set<net.Socket>();
    mute.on('connection', (socket) => sockets.add(socket));
    const { port } = mute.address() as AddressInfo;
    const { share } = await stage(accepts, {
      url: `https://127.0.0.1:${port}`,
      limits: { connectMs: 300 },
    });
    const answer = (await share(A))[A]!;
    assert.equal(answer.kind, 'unavailable', JSON.stringify(answer));
    assert.match(tells(answer), /não aceitou a conexão no prazo/);
    for (const socket of sockets) socket.destroy();
  });

  test('the server is from an authority that we do not believe: nothing is sent, unavailable', async () => {
    const { port, asked } = await stage(accepts);
    for (const ca of [stranger.ca, undefined]) {
      const { share } = await stage(accepts, {
        url: `https://localhost:${port}`,
        tls: { key: client.key, cert: client.cert, ca },
      });
      const answer = (await share(A))[A]!;
      assert.equal(answer.kind, 'unavailable');
      assert.match(tells(answer), /certificado do servidor do ADN/);
    }
    assert.equal(asked.length, 0);
  });

  test('the server has the name of another: nothing is sent, unavailable', async () => {
    const named = authority.issue('outronome', 'subjectAltName=DNS:adn.example\nextendedKeyUsage=serverAuth');
    const other = https.createServer({ key: named.key, cert: named.cert }, () => assert.fail('it was sent'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    onEnd(() => other.close());
    const { port } = other.address() as AddressInfo;
    for (const host of ['localhost', '127.0.0.1']) {
      const { share } = await stage(accepts, { url: `https://${host}:${port}` });
      const answer = (await share(A))[A]!;
      assert.equal(answer.kind, 'unavailable');
      assert.match(tells(answer), /^o certificado do servidor do ADN é de outro nome; confira o endereço/);
    }
  });

  test('an address by number is checked against the numbers in the certificate', async () => {
    const { port } = await stage(accepts);
    const { share } = await stage(accepts, { url: `https://127.0.0.1:${port}` });
    assert.equal((await share(A))[A]!.kind, 'accepted');
  });

  test('TLS 1.1 is not spoken', async () => {
    const old = https.createServer(
      { key: server.key, cert: server.cert, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' },
      () => assert.fail('it was sent'),
    );
    old.listen(0, '127.0.0.1');
    await once(old, 'listening');
    onEnd(() => old.close());
    const { share } = await stage(accepts, { url: `https://localhost:${(old.address() as AddressInfo).port}` });
    assert.equal((await share(A))[A]!.kind, 'unavailable');
  });

  test('without TLS nothing is sent', async () => {
    const { share } = await stage(accepts, { url: 'http://localhost:1' });
    assert.deepEqual(await share(A), {
      [A]: { kind: 'misconfigured', why: 'o endereço do ADN precisa começar com https://' },
    });
  });

  for (const version of ['-tls1_2', '-tls1_3']) {
    test(`our certificate is from an authority that the server does not believe (${version}): misconfigured`, async () => {
      const refusing = await opensslServer(version, '-verify_return_error', '-CAfile', authority.caFile);
      const { share, find, logged, adn } = await stage(accepts, {
        url: `https://localhost:${refusing}`,
        tls: { key: foreign.key, cert: foreign.cert, ca: authority.ca },
      });
      const answer = (await share(A))[A]!;
      assert.equal(answer.kind, 'misconfigured', JSON.stringify(answer));
      assert.match(tells(answer), /certificado do município/);
      assert.equal(logged.filter(({ level }) => level === 'error').length, 1);
      assert.ok(adn.pauseMs() > 1000);
      assert.equal((await find(askedFor(A)))[A]!.kind, 'unavailable');
    });
  }

  test('a server that hangs up on our certificate without a word: never taken for an answer', async () => {
    const { port, asked } = await stage(accepts);
    const tls = { key: foreign.key, cert: foreign.cert, ca: authority.ca };
    const { share } = await stage(accepts, { url: `https://localhost:${port}`, tls });
    const answer = (await share(A))[A]!;
    assert.ok(answer.kind === 'unknown' || answer.kind === 'unavailable', answer.kind);
    assert.match(tells(answer), /certificado do município/);
    assert.equal(asked.length, 0);
  });

  test('a server that sends no ticket is spoken to after a moment', async () => {
    const port = await opensslServer('-tls1_3', '-CAfile', authority.caFile, '-num_tickets', '0', '-www');
    const { find } = await stage(accepts, { url: `https://localhost:${port}`, limits: { verdictMs: 150 } });
    assert.deepEqual(await find(askedFor(A)), {
      [A]: { kind: 'unavailable', why: 'o ADN respondeu com uma página HTML (HTTP 200)', place: '0' },
    });
  });

  test('key and certificate that do not fit, or are no PEM: misconfigured, and nothing is thrown', async () => {
    for (const tls of [
      { key: foreign.key, cert: client.cert, ca: authority.ca },
      { key: 'lixo', cert: 'lixo', ca: authority.ca },
    ]) {
      const { share } = await stage(accepts, { tls });
      assert.equal((await share(A))[A]!.kind, 'misconfigured');
    }
  });
});

describe('the operator', () => {
  test('is told at once what to mend, is not told in a loop, and the ADN is not hammered meanwhile', async (t) => {
    const clock = timeInHand(t);
    const { share, asked, logged, adn, breaker, scene } = await stage(says(400, refusal('E1262')), {
      limits: { refusedFirstMs: 200, refusedMaxMs: 200 },
    });
    for (let turn = 0; turn < 5; turn += 1) assert.equal((await share(A))[A]!.kind, 'misconfigured');
    assert.equal(asked.length, 1);
    assert.equal(logged.filter(({ level }) => level === 'error').length, 1);
    assert.ok(adn.pauseMs() > 0);
    assert.equal(breaker.pauseMs(), 0, 'the others of this address are not concerned');
    clock.now += 200;
    assert.equal(adn.pauseMs(), 0);
    assert.equal((await share(A))[A]!.kind, 'misconfigured');
    assert.deepEqual([asked.length, logged.filter(({ level }) => level === 'error').length], [2, 2]);
    clock.now += 200;
    scene.play = accepts;
    const many = Array.from({ length: 120 }, (_, place) => chaveOf(place));
    const answers = await share(...many);
    assert.ok(
      Object.values(answers).every(({ kind }) => kind === 'accepted'),
      'the rest waits for the first lot',
    );
    assert.equal(adn.pauseMs(), 0);
  });

  test('sees in the log no text of an answer, no key, no document', async () => {
    const secret = 'Maria da Silva 12345678909';
    const { share, scene, logged, find } = await stage(accepts);
    const plays: readonly Play[] = [
      says(200, `<html>${secret}</html>`, HTML),
      says(400, { Erros: [{ Codigo: secret, Descricao: secret, Complemento: secret, Mensagem: secret }] }),
      says(201, lote({ ...entry(A, null), Erros: [{ Codigo: 'E1262', Descricao: secret }] })),
      says(500, { detail: secret }),
    ];
    for (const play of plays) {
      scene.play = play;
      const answers = [...Object.values(await share(A)), ...Object.values(await find(askedFor(A)))];
      for (const answer of answers) if ('why' in answer) assert.doesNotMatch(answer.why, /Maria|123456/);
    }
    assert.ok(logged.length > 0);
    assert.doesNotMatch(JSON.stringify(logged), /Maria|123456|<NFSe|35503080/);
  });
});

describe('the circuit', () => {
  test('of a municipality opens after five failures in a row, is probed by one lot, and closes by its answer', async (t) => {
    const clock = timeInHand(t);
    const { share, find, asked, scene, adn, breaker, logged } = await stage(says(503, ''), {
      limits: { troubledFirstMs: 300, troubledMaxMs: 2000 },
    });
    const told = () => logged.filter(({ message }) => /não atende este município/.test(message));
    const began = clock.now;
    for (let turn = 0; turn < 5; turn += 1) assert.equal((await share(A))[A]!.kind, 'unknown');
    assert.ok(adn.pauseMs() >= 150 && adn.pauseMs() <= 300);
    for (const answer of [(await share(A))[A], (await find(askedFor(A)))[A]]) {
      assert.equal(answer?.kind, 'unavailable', 'not sent, so certainly not taken');
      assert.equal(tells(answer), 'o ADN respondeu com HTTP 503');
    }
    assert.equal(asked.length, 5);
    assert.ok(breaker.isClosed(), 'the others of this address are not concerned');

    pauseOf(adn, clock);
    const many = Array.from({ length: 200 }, (_, place) => chaveOf(place));
    const failed = await share(...many);
    assert.equal(asked.length, 6, 'one probe');
    const kinds = Object.values(failed).map(({ kind }) => kind);
    assert.deepEqual([kinds.filter((kind) => kind === 'unknown').length, kinds.length], [50, 200]);
    assert.ok(adn.pauseMs() >= 300 && adn.pauseMs() <= 600, 'it grows');

    pauseOf(adn, clock);
    clock.now += 60_000;
    scene.play = accepts;
    const answers = await share(...many);
    assert.ok(Object.values(answers).every(({ kind }) => kind === 'accepted'));
    assert.equal(adn.pauseMs(), 0);
    const [line, ...more] = told();
    assert.deepEqual([line!.about['why'], more], ['o ADN respondeu com HTTP 503', []], 'told when it begins');
    const { about, message } = logged.at(-1)!;
    assert.deepEqual(
      [about['seconds'], message],
      [Math.round((clock.now - began) / 1_000), 'o ADN voltou a atender este município'],
    );
    assert.equal(
      logged.filter((one) => /que sirva/.test(one.message)).length,
      1,
      'one answer after the other says the same',
    );
  });

  test('stays closed for refusals, for missing entries, and for what only one municipality has to mend', async () => {
    for (const play of [
      ({ chaves }, response) => json(response, 400, lote(entry(chaves[0]!, null, 'E1235'))),
      says(400, refusal('E1235')),
      says(201, lote(entry(chaveOf(99), '1'))),
      says(403, ''),
    ] satisfies readonly Play[]) {
      const { share, breaker } = await stage(play, { limits: { refusedFirstMs: 0, refusedMaxMs: 0 } });
      for (let turn = 0; turn < 8; turn += 1) await share(A);
      assert.equal(breaker.isClosed(), true);
    }
  });

  test('of a municipality opens when the ADN says that it is out of order: maintenance, or errors without a name', async (t) => {
    timeInHand(t);
    for (const code of ['E1217', 'E999', 'RNG9999']) {
      const { share, find, adn, breaker } = await stage(says(400, refusal(code)));
      for (let turn = 0; turn < 3; turn += 1) await share(A);
      assert.equal(adn.pauseMs(), 0);
      for (let turn = 0; turn < 2; turn += 1) await find(askedFor(A));
      assert.ok(adn.pauseMs() > 0, code);
      assert.ok(breaker.isClosed(), 'it may be said to this municipality alone');
    }
  });

  test('of the address opens when as many municipalities fare alike, and one that has not tried may look soon', async (t) => {
    const clock = timeInHand(t);
    const breaker = openBreaker({ pauseFirstMs: 200, pauseMaxMs: 60_000, random: () => 0.999 });
    const { port, scene } = await stage(says(400, refusal('E999')));
    const url = `https://localhost:${port}`;
    const several = await Promise.all(Array.from({ length: 6 }, () => stage(accepts, { url, breaker })));
    const fresh = several.pop()!;
    for (const one of several) {
      assert.equal(one.adn.pauseMs(), 0);
      await one.share(A);
    }
    assert.ok(!breaker.isClosed());
    for (const one of [...several, fresh]) assert.ok(one.adn.pauseMs() > 0 && one.adn.pauseMs() <= 1000);
    scene.play = accepts;
    pauseOf(fresh.adn, clock);
    assert.equal((await fresh.share(A))[A]!.kind, 'accepted');
    assert.deepEqual(
      several.map(({ adn }) => adn.pauseMs()),
      [0, 0, 0, 0, 0],
      'its luck is that of all',
    );
  });

  test('of the address is not touched by a certificate that cannot even be used here', async () => {
    const breaker = openBreaker();
    const passes: string[] = [];
    const { share } = await stage(accepts, {
      tls: { key: 'lixo', cert: 'lixo', ca: undefined },
      breaker: { ...breaker, enter: (party) => spied(breaker.enter(party), (end) => passes.push(end)) },
    });
    assert.equal((await share(A))[A]!.kind, 'misconfigured');
    assert.equal(passes[0], 'withdrawn', 'it says nothing of the other side');
  });

  test('is that of the address: what one municipality learned, another need not', async (t) => {
    timeInHand(t);
    const breaker = openBreaker();
    const url = `https://localhost:${await ownPort()}`;
    const one = await stage(accepts, { url, breaker });
    const other = await stage(accepts, { url, breaker });
    for (let turn = 0; turn < 5; turn += 1) await one.share(A);
    assert.ok(other.adn.pauseMs() > 0);
  });
});

/** Lets the pause pass. Another party may have its turn first, so the end of the pause is queried. */
function pauseOf(adn: { pauseMs(): number }, clock: { now: number }): void {
  for (let pause = adn.pauseMs(); pause > 0; pause = adn.pauseMs()) clock.now += pause;
}

describe('two municipalities at one address', () => {
  /** Behaves like the worker: sends when it makes sense, and sleeps otherwise. */
  const runs = (adn: ReturnType<typeof nationalAdn>) => {
    const answers: NotaAnswer[] = [];
    const pauses: number[] = [];
    let isOver = false;
    const running = (async () => {
      while (!isOver) {
        const pauseMs = adn.pauseMs();
        if (pauseMs > 0) pauses.push(pauseMs);
        if (pauseMs === 0) answers.push(...(await adn.share('x', documentsOf(A, B, C))).values());
        await pace(Math.max(10, pauseMs));
      }
    })();
    const stop = async (): Promise<void> => {
      isOver = true;
      await running;
    };
    onEnd(stop);
    return { answers, pauses, stop };
  };
  /** Two clients with a certificate each, over one circuit; the maximum number of simultaneous probes. */
  const pair = async (port: number) => {
    const circuit = openBreaker({ pauseFirstMs: 100, pauseMaxMs: 400 });
    const probes = { now: 0, most: 0, all: 0 };
    const breaker = {
      ...circuit,
      enter: (party?: object) => {
        const isProbe = !circuit.isClosed();
        const pass = circuit.enter(party);
        if (pass === undefined || !isProbe) return pass;
        probes.all += 1;
        probes.now += 1;
        probes.most = Math.max(probes.most, probes.now);
        return spied(pass, () => (probes.now -= 1));
      },
    };
    const limits = { troubledFirstMs: 100, troubledMaxMs: 800 };
    const url = `https://localhost:${port}`;
    const ours = { key: client.key, cert: client.cert, ca: authority.ca };
    const good = await stage(accepts, { url, breaker, limits, tls: ours });
    const bad = await stage(accepts, { url, breaker, limits, tls: { ...ours, key: foreign.key, cert: foreign.cert } });
    return { circuit, probes, good, bad };
  };
  const isAccepted = (answer: NotaAnswer | undefined): boolean => answer?.kind === 'accepted';

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    test(`a certificate that is refused pauses its own municipality alone, until it is accepted (${version})`, async () => {
      const { adnServer, port } = await stage(accepts);
      const believing = (...ca: readonly string[]): void =>
        adnServer.setSecureContext({
          key: server.key,
          cert: server.cert,
          ca: [...ca],
          minVersion: version,
          maxVersion: version,
        });
      believing(authority.ca);
      const { circuit, good, bad } = await pair(port);

      // No other party sends: its failures are all that the circuit of the address learns.
      const one = runs(bad.adn);
      const told = () => bad.logged.filter(({ message }) => /não atende este município/.test(message));
      await untilTrue(() => one.pauses.length >= 3, 'it pauses');
      assert.ok(circuit.isClosed());
      assert.equal(good.adn.pauseMs(), 0);

      const other = runs(good.adn);
      await untilTrue(() => one.pauses.length >= 5 && other.answers.length >= 60, 'the other sends');
      assert.ok(other.answers.every(isAccepted), 'the whole time');
      assert.deepEqual(other.pauses, []);
      assert.ok(!one.answers.some(isAccepted));
      const [line, ...more] = told();
      assert.match(String(line!.about['why']), /confira (o certificado do município|se ele é aceito)/);
      assert.deepEqual(more, [], 'told when it begins');
      assert.ok(one.pauses[0]! <= 100 && Math.max(...one.pauses) > 200, `${one.pauses}`);

      believing(authority.ca, stranger.ca);
      await untilTrue(() => isAccepted(one.answers.at(-1)), 'it recovers');
      await Promise.all([one.stop(), other.stop()]);
      assert.equal(bad.adn.pauseMs(), 0);
      assert.ok(bad.logged.some(({ message }) => message === 'o ADN voltou a atender este município'));
      assert.ok(other.answers.every(isAccepted));
      assert.deepEqual(good.logged, []);
    });
  }

  test('a server that is gone pauses both, with one probe at a time, and both recover', async () => {
    const first = await stage(accepts, {}, await ownPort());
    first.adnServer.setSecureContext({ key: server.key, cert: server.cert, ca: [authority.ca, stranger.ca] });
    const { circuit, probes, good, bad } = await pair(first.port);
    const both = [runs(good.adn), runs(bad.adn)];
    await untilTrue(() => both.every(({ answers }) => isAccepted(answers.at(-1))), 'both send');
    await first.close();
    await untilTrue(() => both.every(({ pauses }) => pauses.length >= 5) && probes.all >= 4, 'both pause');
    assert.ok(!circuit.isClosed());
    assert.equal(probes.most, 1);
    first.adnServer.listen(first.port, '127.0.0.1');
    await once(first.adnServer, 'listening');
    const before = both.map(({ answers }) => answers.length);
    await untilTrue(
      () => both.every(({ answers }, place) => answers.slice(before[place]).some(isAccepted)),
      'both recover',
    );
    await Promise.all(both.map(({ stop }) => stop()));
    assert.ok(circuit.isClosed());
    assert.equal(probes.most, 1);
    assert.ok([...good.logged, ...bad.logged].every(({ message }) => !/certificado/.test(message)));
    first.adnServer.closeAllConnections();
    first.adnServer.close();
  });
});

describe('the end', () => {
  test('lets running requests finish, and sends nothing afterwards', GIVEN_UP, async () => {
    const [arrived, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { share, adn, asked } = await stage(async (one, response) => {
      arrived.resolve();
      await answered.promise;
      accepts(one, response);
    });
    const running = share(A);
    await arrived.promise;
    const closing = adn.close();
    answered.resolve();
    assert.equal((await running)[A]!.kind, 'accepted');
    await closing;
    assert.deepEqual(await share(B), { [B]: { kind: 'unavailable', why: 'o serviço está encerrando' } });
    assert.equal(asked.length, 1);
    await adn.close();
  });
});

/** A pass that reports which of its ends was called. */
function spied(pass: Pass | undefined, tell: (end: keyof Pass) => void): Pass | undefined {
  if (pass === undefined) return undefined;
  let isOver = false;
  const spy = (end: keyof Pass) => () => {
    if (!isOver) tell(end);
    isOver = true;
    pass[end]();
  };
  return {
    answered: spy('answered'),
    failed: spy('failed'),
    suspected: spy('suspected'),
    withdrawn: spy('withdrawn'),
  };
}

/** Another implementation of TLS, which refuses a certificate by an alert, as servers on the internet do. */
async function opensslServer(...args: readonly string[]): Promise<number> {
  const port = await ownPort();
  const own = ['-cert', server.certFile, '-key', server.keyFile, '-accept', `127.0.0.1:${port}`, '-Verify', '1'];
  const child = spawn('openssl', ['s_server', ...own, '-quiet', ...args], { stdio: 'ignore' });
  onEnd(() => child.kill());
  return until(async () => {
    assert.equal(child.exitCode, null, 'openssl s_server did not start');
    const socket = net.connect(port, '127.0.0.1');
    const isUp = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    return isUp ? port : undefined;
  }, 'openssl s_server');
}
