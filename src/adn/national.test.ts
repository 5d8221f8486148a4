/**
 * The client of the ADN against a real HTTPS server that requires a client certificate. The server misbehaves in every way that integrators
 * report. Expected values come from the contract (`POST /adn/DFe`, `GET /municipios/DFe/{NSU}`).
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { chaveOf, entry, HEAD, lote, refusal } from '../../test/support/adn-answers.ts';
import { onEnd } from '../../test/support/cleanup.ts';
import { pace } from '../../test/support/pace.ts';
import { ownPort } from '../../test/support/ports.ts';
import fc from '../../test/support/seed.ts';
import { CLIENT_EXTENSIONS, createAuthority, SERVER_EXTENSIONS } from '../../test/support/tls.ts';
import { until, untilTrue } from '../../test/support/until.ts';
import type { AdnKnowledge, EventoAnswer, EventoToShare, NotaAnswer } from './adn.ts';
import { openBreaker, type Pass } from './breaker.ts';
import { type NationalSettings, nationalAdn } from './national.ts';

const authority = createAuthority('autoridade');
const stranger = createAuthority('estranha');
const server = authority.issue('servidor', SERVER_EXTENSIONS);
const client = authority.issue('municipio', CLIENT_EXTENSIONS);
const foreign = stranger.issue('outro', CLIENT_EXTENSIONS);

type Asked = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The keys of the documents of a lot, in order. */
  readonly chaves: readonly string[];
};
/** `reset` breaks the connection below TLS. */
type Play = (asked: Asked, response: ServerResponse, reset: () => void) => unknown;

const A = chaveOf(1);
const B = chaveOf(2);
const C = chaveOf(3);
const xmlOf = (chave: string): Buffer => Buffer.from(`<NFSe><infNFSe Id="NFS${chave}">ação</infNFSe></NFSe>`);
const documentsOf = (...chaves: readonly string[]) =>
  chaves.map((chave) => ({ chave_acesso: chave, xml: xmlOf(chave) }));
const askedFor = (chave: string, nsu_antes = '0', nsu_agora = nsu_antes) => ({
  chave_acesso: chave,
  nsu_antes,
  nsu_agora,
});

/** The kept text of an answer has a test of its own. */
function withoutText<Answer extends NotaAnswer | EventoAnswer>({ resposta: _resposta, ...answer }: Answer) {
  return answer as unknown as Answer;
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

/** Gives the same answer to every request. */
const says =
  (status: number, body: unknown, headers?: Record<string, string>): Play =>
  (_asked, response) =>
    json(response, status, body, headers);

const HTML = { 'Content-Type': 'text/html' };

const accepts = ({ chaves }: Asked, response: ServerResponse): void =>
  json(response, 201, lote(...chaves.map((chave, place) => entry(chave, String(place + 1)))));

/** Limits for tests that end by themselves: a machine under load may be very slow. */
const PATIENT = {
  connectMs: 60_000,
  verdictMs: 60_000,
  headersMs: 60_000,
  bodyMs: 60_000,
  requestMs: 120_000,
  shareMs: 120_000,
  findMs: 120_000,
  requestMinMs: 20,
};
/** Limits for a silent ADN. Both count from the moment at which a request has left: earlier steps may take their time. */
const IMPATIENT = { headersMs: 300, bodyMs: 300 };
/** The time after which a waiting test is given up. */
const GIVEN_UP = { timeout: 600_000 };

// Each address of a name is tried only for a moment; a slow machine learns of its connection later.
net.setDefaultAutoSelectFamilyAttemptTimeout(60_000);

/** The clock of the client stands still until the test moves it; the real time of a request is not affected. */
function timeInHand(context: TestContext): { now: number } {
  const clock = { now: 1_000_000 };
  context.mock.method(performance, 'now', () => clock.now);
  return clock;
}

/** One ADN on a port of its own, and a client that knows it. */
async function stage(play: Play, settings: Partial<NationalSettings> = {}, at = 0) {
  const asked: Asked[] = [];
  const scene = { play };
  const sockets: net.Socket[] = [];
  const adnServer = https.createServer(
    { key: server.key, cert: server.cert, ca: authority.ca, requestCert: true, rejectUnauthorized: true },
    async (request, response) => {
      const body = await bodyOf(request);
      if (body === undefined) return;
      const one: Asked = {
        method: request.method!,
        url: request.url!,
        headers: request.headers,
        body,
        chaves: body === '' ? [] : chavesOf(body),
      };
      asked.push(one);
      await scene.play(one, response, () => sockets.at(-1)!.resetAndDestroy());
    },
  );
  adnServer.on('connection', (socket) => sockets.push(socket));
  adnServer.listen(at, '127.0.0.1');
  await once(adnServer, 'listening');
  const { port } = adnServer.address() as AddressInfo;
  const logged: { level: string; about: Record<string, unknown>; message: string }[] = [];
  const log = (level: string) => (about: object, message: string) =>
    void logged.push({ level, about: about as Record<string, unknown>, message });
  const breaker = openBreaker();
  const adn = nationalAdn({
    url: `https://localhost:${port}`,
    tls: { key: client.key, cert: client.cert, ca: authority.ca },
    breaker,
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    ...settings,
    limits: { ...PATIENT, ...settings.limits },
  });
  const close = async (): Promise<void> => {
    await adn.close();
    adnServer.closeAllConnections();
    adnServer.close();
  };
  onEnd(close);
  const share = async (...chaves: readonly string[]): Promise<Record<string, NotaAnswer>> => {
    const answers = await adn.share('alfa', documentsOf(...chaves));
    assert.deepEqual([...answers.keys()].toSorted(), [...new Set(chaves)].toSorted(), 'one answer for each key');
    return Object.fromEntries([...answers].map(([chave, answer]) => [chave, withoutText(answer)]));
  };
  const shareEventos = async (...eventos: readonly EventoToShare[]): Promise<(EventoAnswer | undefined)[]> => {
    const answers = await adn.shareEventos('alfa', eventos);
    assert.equal(answers.size, new Set(eventos.map(({ id }) => id)).size, 'one answer for each Id');
    return eventos.map(({ id }) => answers.get(id) && withoutText(answers.get(id)!));
  };
  const findEventos = async (...eventos: readonly EventoToShare[]): Promise<(AdnKnowledge | undefined)[]> => {
    const answers = await adn.findEventos('alfa', eventos);
    assert.equal(answers.size, eventos.length, 'one answer for each Id');
    return eventos.map(({ id }) => answers.get(id));
  };
  const find = async (...notas: readonly ReturnType<typeof askedFor>[]): Promise<Record<string, AdnKnowledge>> => {
    const answers = await adn.find('alfa', notas);
    assert.equal(answers.size, notas.length, 'one answer for each key');
    return Object.fromEntries(answers);
  };
  return { adn, breaker, asked, logged, scene, share, find, shareEventos, findEventos, port, adnServer, close };
}

/** Undefined if the sender went away before the end. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function chavesOf(body: string): string[] {
  const { LoteXmlGZipB64 } = JSON.parse(body) as { LoteXmlGZipB64: string[] };
  return LoteXmlGZipB64.map((text) => {
    const xml = gunzipSync(Buffer.from(text, 'base64')).toString('utf8');
    return /Id="(?:NFS|EVT)(\w{50})/.exec(xml)![1]!;
  });
}

/** The answer to the only document of a lot. */
async function answerTo(play: Play, settings: Partial<NationalSettings> = {}): Promise<NotaAnswer> {
  const { share, close } = await stage(play, settings);
  const answers = await share(A);
  await close();
  return answers[A]!;
}

const tells = (answer: NotaAnswer | AdnKnowledge | undefined): string =>
  answer !== undefined && 'why' in answer ? answer.why : '';

describe('what is sent', () => {
  test('is the contract: names, gzip in Base64, order, JSON, over a connection that shows our certificate', async () => {
    const { asked, share, adnServer } = await stage(accepts);
    let name: string | undefined;
    adnServer.on('secureConnection', (socket) => {
      name = String(socket.getPeerCertificate().subject.CN);
    });
    assert.deepEqual(await share(B, A, C), {
      [B]: { kind: 'accepted', nsu: '1' },
      [A]: { kind: 'accepted', nsu: '2' },
      [C]: { kind: 'accepted', nsu: '3' },
    });
    const [one] = asked;
    assert.deepEqual([asked.length, one!.method, one!.url, one!.chaves], [1, 'POST', '/adn/DFe', [B, A, C]]);
    assert.equal(one!.headers['content-type'], 'application/json');
    assert.deepEqual(Object.keys(JSON.parse(one!.body)), ['LoteXmlGZipB64']);
    const [text] = JSON.parse(one!.body).LoteXmlGZipB64;
    assert.match(text, /^[A-Za-z0-9+/]+={0,2}$/);
    assert.deepEqual(gunzipSync(Buffer.from(text, 'base64')), xmlOf(B), 'byte by byte');
    assert.equal(name, 'municipio');
  });

  test('is gzip of stored blocks where the municipality chose no compression, and lots stay below the limit', async () => {
    const { asked, adn } = await stage(accepts, { isStored: true });
    const large = Array.from({ length: 50 }, (_, place) => {
      const chave = chaveOf(place);
      return {
        chave_acesso: chave,
        xml: Buffer.from(`<NFSe><infNFSe Id="NFS${chave}">${'a'.repeat(30_000)}</infNFSe></NFSe>`),
      };
    });
    const answers = await adn.share('alfa', large);
    assert.ok([...answers.values()].every(({ kind }) => kind === 'accepted'));
    assert.ok(asked.length > 1);
    for (const { body } of asked) assert.ok(body.length < 1_000_000, `${body.length}`);
    const texts: readonly string[] = asked.flatMap(({ body }) => JSON.parse(body).LoteXmlGZipB64);
    const sent = texts.map((text) => Buffer.from(text, 'base64'));
    for (const packed of sent) assert.ok(packed.includes('a'.repeat(1_000)));
    const read = (packed: Buffer): string => execFileSync('gzip', ['-dc'], { input: packed }).toString();
    assert.deepEqual(sent.map(read).toSorted(), large.map(({ xml }) => xml.toString()).toSorted());
  });

  test('keeps to the path of an address that has one', async () => {
    const { asked, share } = await stage(accepts);
    const { adn } = await stage(accepts, { url: `https://localhost:${(await portOf(asked, share)).port}/base/` });
    await adn.share('alfa', documentsOf(A));
    assert.equal(asked.at(-1)!.url, '/base/adn/DFe');

    async function portOf(seen: readonly Asked[], ask: typeof share) {
      await ask(A);
      return { port: Number(seen[0]!.headers.host!.split(':')[1]) };
    }
  });

  test('goes in lots of at most fifty, several at once, each in order', GIVEN_UP, async () => {
    let now = 0;
    let most = 0;
    const several = Promise.withResolvers<void>();
    const { asked, share } = await stage(async (one, response) => {
      now += 1;
      most = Math.max(most, now);
      if (now === 4) several.resolve();
      await several.promise;
      // A request beyond the limit would arrive in this time.
      await pace(40);
      now -= 1;
      accepts(one, response);
    });
    const chaves = Array.from({ length: 320 }, (_, place) => chaveOf(place));
    const answers = await share(...chaves);
    assert.ok(Object.values(answers).every(({ kind }) => kind === 'accepted'));
    assert.deepEqual(
      asked.map((one) => one.chaves.length).toSorted((one, other) => other - one),
      [50, 50, 50, 50, 50, 50, 20],
    );
    assert.deepEqual(asked.flatMap((one) => one.chaves).toSorted(), chaves.toSorted());
    for (const one of asked) assert.deepEqual(one.chaves, one.chaves.toSorted());
    assert.equal(most, 4);
  });

  test('keeps a body below one megabyte, and sends what is larger alone', async () => {
    const { asked, adn } = await stage(accepts);
    const noise = (bytes: number): string => {
      let text = '';
      // Random text, so that gzip cannot shrink it.
      while (text.length < bytes) text += Math.random().toString(36).slice(2);
      return text;
    };
    const large = (chave: string, bytes: number) => ({
      chave_acesso: chave,
      xml: Buffer.from(`<NFSe><infNFSe Id="NFS${chave}">${noise(bytes)}</infNFSe></NFSe>`),
    });
    const documents = [large(A, 600_000), large(B, 600_000), large(C, 2_000_000), ...documentsOf(chaveOf(4))];
    const answers = await adn.share('alfa', documents);
    assert.ok([...answers.values()].every(({ kind }) => kind === 'accepted'));
    assert.equal(asked.flatMap((one) => one.chaves).length, 4);
    for (const one of asked) assert.ok(one.body.length < 1_000_000 || one.chaves.length === 1, `${one.body.length}`);
    assert.ok(asked.length >= 3);
  });

  test('a key that comes twice goes once, and a note without its document does not go', async () => {
    const { asked, adn, share } = await stage(accepts);
    assert.deepEqual(await share(A, A), { [A]: { kind: 'accepted', nsu: '1' } });
    assert.deepEqual(asked[0]!.chaves, [A]);
    const answers = await adn.share('alfa', [{ chave_acesso: B, xml: undefined }]);
    assert.equal(answers.get(B)?.kind, 'unavailable');
    assert.equal(asked.length, 1);
  });

  test('nothing at all sends nothing', async () => {
    const { asked, adn } = await stage(accepts);
    assert.deepEqual([...(await adn.share('alfa', [])), ...(await adn.find('alfa', []))], []);
    assert.equal(asked.length, 0);
  });
});

describe('a lot that is refused as a whole', () => {
  const bad = new Set([chaveOf(17), chaveOf(40)]);
  const packing: Play = (one, response) =>
    one.chaves.some((chave) => bad.has(chave)) ? json(response, 400, refusal('E1229')) : accepts(one, response);
  const fifty = Array.from({ length: 50 }, (_, place) => chaveOf(place));

  test('is sent again in parts, until the guilty ones are found and the others are in', async () => {
    const { share, asked } = await stage(packing);
    const answers = await share(...fifty);
    for (const chave of fifty) assert.equal(answers[chave]!.kind, bad.has(chave) ? 'refused' : 'accepted', chave);
    assert.ok(asked.length < 30, `${asked.length} requests`);
    const taken = asked.filter(({ chaves }) => !chaves.some((chave) => bad.has(chave))).flatMap(({ chaves }) => chaves);
    assert.deepEqual(
      taken,
      fifty.filter((chave) => !bad.has(chave)),
      'in order, each once',
    );
  });

  test('for its size (413, E1219) likewise', async () => {
    for (const tooMany of [
      (response: ServerResponse) => json(response, 413, '<html>Too large</html>', HTML),
      (response: ServerResponse) => json(response, 400, refusal('E1219')),
    ]) {
      const { share, asked } = await stage((one, response) =>
        one.chaves.length > 20 ? tooMany(response) : accepts(one, response),
      );
      const answers = await share(...fifty);
      assert.ok(Object.values(answers).every(({ kind }) => kind === 'accepted'));
      assert.equal(asked.length, 7, 'fifty, twice 25, four of about a dozen');
    }
    assert.equal((await answerTo(says(413, ''))).kind, 'unavailable');
    assert.equal((await answerTo(says(400, refusal('E1219')))).kind, 'unknown');
  });

  test('because something of it is there already (E1268) likewise, each told for itself', async () => {
    const { share } = await stage((one, response) =>
      one.chaves.includes(B) ? json(response, 400, refusal('E1268')) : accepts(one, response),
    );
    const answers = await share(A, B, C);
    assert.deepEqual(answers[B], { kind: 'accepted', nsu: undefined });
    assert.deepEqual([answers[A]!.kind, answers[C]!.kind], ['accepted', 'accepted']);
  });

  test('with the certificate to blame it is not sent again', async () => {
    const { share, asked } = await stage(says(400, refusal('E1262')));
    const answers = await share(...fifty);
    assert.ok(Object.values(answers).every(({ kind }) => kind === 'misconfigured'));
    assert.equal(asked.length, 1);
  });

  test('for maintenance, or with a code that nobody knows: unknown for all', async () => {
    for (const code of ['E1217', 'E999', 'RNG9999', 'E8001', 'X']) {
      const { share, asked } = await stage(says(400, refusal(code)));
      const answers = await share(...fifty);
      assert.ok(Object.values(answers).every(({ kind }) => kind === 'unknown'));
      assert.equal(asked.length, 1);
    }
  });

  test('ends in time: what could not be sent again was certainly not taken', async (t) => {
    const clock = timeInHand(t);
    const { share, asked } = await stage(
      (_asked, response) => {
        clock.now += 60_000;
        json(response, 400, refusal('E1229'));
      },
      { limits: { shareMs: 300_000, requestMinMs: 100_000 } },
    );
    const answers = await share(...fifty);
    assert.equal(asked.length, 4, 'with 300, 240, 180 and 120 seconds left; 60 are not enough');
    assert.ok(Object.values(answers).every(({ kind }) => kind === 'unavailable' || kind === 'refused'));
  });
});

test('who answers 404 is told to be another address, perhaps', async () => {
  const { share } = await stage(says(404, {}));
  const answer = (await share(A))[A] as { readonly kind: string; readonly why: string };
  assert.equal(answer.kind, 'unknown');
  assert.match(answer.why, /\(HTTP 404\); se isso persiste, confira o endereço \(--adn\)$/);
});

describe('an answer that proves nothing', () => {
  const OK = lote(entry(A, '1'));
  const plays: Record<string, Play> = {
    'an HTML page': says(200, '<html>Acesso bloqueado</html>', HTML),
    'half of the JSON': says(201, JSON.stringify(OK).slice(0, -30)),
    '204': (_asked, response) => response.writeHead(204).end(),
    'JSON without a type': (_asked, response) => response.writeHead(201).end(JSON.stringify(OK)),
    'no body': (_asked, response) => response.writeHead(201, { 'Content-Type': 'application/json' }).end(),
    'a compressed answer that is broken': says(201, 'nada', { 'Content-Encoding': 'gzip' }),
    'a coding that nobody knows': says(201, OK, { 'Content-Encoding': 'toString' }),
    'a body shorter than it says': (_asked, response, reset) => {
      json(response, 201, OK, { 'Content-Length': '5000' });
      void pace(20).then(reset);
    },
    'a reset in the middle of a chunked body': (_asked, response, reset) => {
      response.writeHead(201, { 'Content-Type': 'application/json' });
      response.write(JSON.stringify(OK).slice(0, 40));
      void pace(20).then(reset);
    },
    'a reset instead of an answer': (_asked, _response, reset) => reset(),
    'a hang-up instead of an answer': (_asked, response) => response.socket?.end(),
    'what is no HTTP': (_asked, response) => response.socket?.end('SSH-2.0-OpenSSH\r\n'),
    'two lengths': (_asked, response) =>
      response.socket?.end(
        `HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 90\r\n\r\n{}`,
      ),
    'an upgrade': (_asked, response) => {
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    },
    silence: () => undefined,
    'a header that does not end': (_asked, response) => {
      response.socket?.write('HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n');
    },
    'headers without end': (_asked, response) => {
      response.socket?.write(`HTTP/1.1 201 Created\r\nX: ${'x'.repeat(200_000)}\r\n`);
    },
  };
  for (const status of [300, 302, 307, 308, 402, 407, 408, 418, 500, 501, 502, 503, 504, 599]) {
    // The entry looks valid; the status says that something failed.
    plays[`${status} with a body that looks well`] = says(status, OK, { Location: '/adn/DFe' });
  }

  const SILENT = new Set(['silence', 'a header that does not end', 'a body shorter than it says', 'an upgrade']);

  for (const [name, play] of Object.entries(plays)) {
    test(`${name}: unknown`, GIVEN_UP, async () => {
      let requests = 0;
      const arrived = Promise.withResolvers<void>();
      const { share, close } = await stage(
        (asked, response, reset) => {
          requests += 1;
          arrived.resolve();
          return play(asked, response, reset);
        },
        SILENT.has(name) ? { limits: IMPATIENT } : {},
      );
      const answer = (await share(A))[A]!;
      // The client may give up before the server is asked.
      await arrived.promise;
      await close();
      assert.equal(answer.kind, 'unknown', JSON.stringify(answer));
      assert.ok(tells(answer).length > 10 && tells(answer).length < 200, tells(answer));
      assert.doesNotMatch(tells(answer), /Acesso|regra|\d{44}|undefined|<|localhost/, 'nothing of the answer');
      assert.equal(requests, 1, 'never sent again by itself');
    });
  }

  test('a body without end is cut at the cap', GIVEN_UP, async () => {
    const cut = Promise.withResolvers<void>();
    const answer = await answerTo(
      (_asked, response) => {
        response.writeHead(201, { 'Content-Type': 'application/json' });
        const flood = (): void => {
          while (response.write(' '.repeat(65_536)));
        };
        response.on('drain', flood);
        response.on('close', cut.resolve);
        flood();
      },
      { limits: { answerMaxBytes: 1_000_000 } },
    );
    assert.deepEqual(answer, { kind: 'unknown', why: 'a resposta do ADN passa do tamanho aceito' });
    await cut.promise;
  });

  test('a small body that swells is cut at the cap', async () => {
    for (const [coding, body] of [
      ['gzip', gzipSync(Buffer.alloc(9_000_000, ' '))],
      ['br', brotliCompressSync(Buffer.alloc(9_000_000, ' '))],
    ] as const) {
      const answer = await answerTo(says(201, body, { 'Content-Encoding': coding }));
      assert.deepEqual(answer, { kind: 'unknown', why: 'a resposta do ADN passa do tamanho aceito' });
    }
  });

  test('a body that drips is cut at the time of a request', GIVEN_UP, async () => {
    const { share, scene } = await stage(accepts, { limits: { requestMs: 1000 } });
    // An existing connection takes nothing of the time of the next request.
    while ((await share(A))[A]!.kind !== 'accepted');
    scene.play = (_asked, response) => {
      response.writeHead(201, { 'Content-Type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    };
    assert.deepEqual((await share(A))[A], { kind: 'unknown', why: 'o ADN não respondeu no prazo' });
  });

  test('an answer compressed as it should be is read', async () => {
    const answer = await answerTo(says(201, gzipSync(JSON.stringify(OK)), { 'Content-Encoding': 'gzip' }));
    assert.deepEqual(answer, { kind: 'accepted', nsu: '1' });
  });

  test('a redirection is not followed', async () => {
    const elsewhere = await stage(accepts);
    const { share } = await stage(says(307, '', { Location: `https://localhost:${elsewhere.port}/adn/DFe` }));
    assert.equal((await share(A))[A]!.kind, 'unknown');
    assert.equal(elsewhere.asked.length, 0);
  });

  test('statuses that say that the request was not looked into: unavailable', async () => {
    for (const status of [405, 411, 414, 415, 417, 421, 429, 431]) {
      const answer = await answerTo(says(status, '<html>'));
      assert.equal(answer.kind, 'unavailable', `${status}`);
    }
  });

  test('a note whose lots came to nothing three times travels alone', async () => {
    const poison = A;
    const { share, asked } = await stage((one, response) =>
      one.chaves.includes(poison) ? json(response, 500, '') : accepts(one, response),
    );
    for (let turn = 0; turn < 3; turn += 1) {
      const answers = await share(A, B, C);
      assert.ok(Object.values(answers).every(({ kind }) => kind === 'unknown'));
    }
    const answers = await share(A, B, C);
    assert.deepEqual([answers[A]!.kind, answers[B]!.kind, answers[C]!.kind], ['unknown', 'accepted', 'accepted']);
    assert.deepEqual(
      asked.slice(3).map(({ chaves }) => chaves.length),
      [1, 1, 1],
    );
    const later = await share(B, C);
    assert.ok(Object.values(later).every(({ kind }) => kind === 'accepted'));
    assert.deepEqual(asked.at(-1)!.chaves, [B, C], 'who was cleared travels with the others again');
  });

  test('whatever bytes come: one answer for each key, none of them accepted, and nothing is thrown', async () => {
    const scene = { bytes: new Uint8Array(), status: 201, type: 'application/json', raw: false };
    const { share } = await stage(
      (_asked, response) => {
        if (scene.raw) return response.socket?.end(scene.bytes);
        response.writeHead(scene.status, { 'Content-Type': scene.type }).end(scene.bytes);
      },
      { limits: { refusedFirstMs: 0, refusedMaxMs: 0, troubledFirstMs: 0, troubledMaxMs: 0 } },
    );
    const jsonText = fc.oneof(
      fc.json(),
      // Bodies close to the contract, with small deviations.
      fc
        .record(
          {
            Lote: fc.oneof(
              fc.jsonValue(),
              fc.array(
                fc.record(
                  {
                    ChaveAcesso: fc.oneof(fc.constantFrom(A, B, null, ''), fc.jsonValue()),
                    NsuRecepcao: fc.oneof(fc.constantFrom('', null, 0, '0', '-3', ' ', '1e3', '٣'), fc.object()),
                    Erros: fc.oneof(fc.constantFrom([], null), fc.jsonValue()),
                  },
                  { requiredKeys: [] },
                ),
                { maxLength: 4 },
              ),
            ),
            Erros: fc.jsonValue(),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value)),
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      jsonText.map((text) => new Uint8Array(Buffer.from(text))),
    );
    await fc.assert(
      fc.asyncProperty(
        bytes,
        fc.constantFrom(200, 201, 400, 404, 403, 500, 302),
        fc.constantFrom('application/json', 'text/html', 'application/problem+json'),
        fc.boolean(),
        async (body, status, type, raw) => {
          Object.assign(scene, { bytes: body, status, type, raw: raw && body.length % 3 === 0 });
          const answers = await share(A, B);
          for (const answer of Object.values(answers)) {
            assert.notEqual(answer.kind, 'accepted');
            assert.ok(answer.kind !== 'refused' || answer.erros.length > 0);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

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
    assert.deepEqual([line!.about.why, more], ['o ADN respondeu com HTTP 503', []], 'told when it begins');
    const { about, message } = logged.at(-1)!;
    assert.deepEqual(
      [about.seconds, message],
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
      assert.match(String(line!.about.why), /confira (o certificado do município|se ele é aceito)/);
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

describe('asking', () => {
  type Kept = { readonly nsu: number; readonly chave: string; readonly tipo?: string; readonly arquivo?: string };
  const arquivos = new Map<string, string>();
  const arquivoOf = (chave: string): string =>
    arquivos.getOrInsertComputed(chave, () => gzipSync(xmlOf(chave)).toString('base64'));
  const shown = ({ nsu, chave, tipo = 'NFSE', arquivo = arquivoOf(chave) }: Kept) => ({
    NSU: nsu,
    ChaveAcesso: chave,
    TipoDocumento: tipo,
    TipoEvento: tipo === 'EVENTO' ? 'CANCELAMENTO' : null,
    ArquivoXml: arquivo,
    DataHoraGeracao: '2026-10-05T10:15:31.12',
  });
  const page = (...documents: readonly Kept[]) => ({
    StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS',
    LoteDFe: documents.map(shown),
    Alertas: [],
    Erros: [],
    ...HEAD,
  });
  const NOTHING = { StatusProcessamento: 'NENHUM_DOCUMENTO_LOCALIZADO', LoteDFe: [], Alertas: [], Erros: [], ...HEAD };

  /** An ADN that holds documents; `inclusive` as the OpenAPI text has it, otherwise as the manual has it. */
  const holds =
    (kept: readonly Kept[], { size = 50, inclusive = false, status = 200 } = {}) =>
    ({ url }: Asked, response: ServerResponse): void => {
      if (url.includes('/Eventos')) {
        json(response, 404, NOTHING);
        return;
      }
      const from = Number(/^\/municipios\/DFe\/(\d+)\?tipoNSU=RECEPCAO&lote=true$/.exec(url)![1]);
      const rest = kept.filter(({ nsu }) => (inclusive ? nsu >= from : nsu > from)).slice(0, size);
      json(response, rest.length > 0 ? status : 404, rest.length > 0 ? page(...rest) : NOTHING);
    };
  const many = Array.from({ length: 120 }, (_, place): Kept => ({ nsu: place + 1, chave: chaveOf(place + 1) }));

  test('known with number and document, absent', async () => {
    const { find, asked } = await stage(holds(many.slice(0, 3)));
    assert.deepEqual(await find(askedFor(B), askedFor(chaveOf(999))), {
      [B]: { kind: 'known', nsu: '2', xml: xmlOf(B) },
      [chaveOf(999)]: { kind: 'absent', place: '3' },
    });
    assert.equal(asked[0]!.method, 'GET');
    assert.equal(asked[0]!.body, '');
  });

  test('begins at the lowest number that was known before, and stops when all are found', async () => {
    const { find, asked } = await stage(holds(many, { size: 10 }));
    const answers = await find(askedFor(chaveOf(55), '51'), askedFor(chaveOf(41), '37'));
    assert.ok(Object.values(answers).every(({ kind }) => kind === 'known'));
    assert.deepEqual(
      asked.map(({ url }) => /DFe\/(\d+)/.exec(url)![1]),
      // The numbers between the two were known before either was announced.
      ['37', '51'],
    );
  });

  test('takes pages of any size, from servers that count from a number or after it', async () => {
    for (const inclusive of [false, true]) {
      for (const size of [1, 2, 7, 50, 100, 1000]) {
        const { find, asked, close } = await stage(holds(many.slice(0, 60), { size, inclusive }));
        const answers = await find(askedFor(chaveOf(60), '2'), askedFor(chaveOf(999), '30'));
        assert.equal(answers[chaveOf(60)]!.kind, 'known', `${size} ${inclusive}`);
        assert.equal(answers[chaveOf(999)]!.kind, 'absent', `${size} ${inclusive}`);
        assert.ok(asked.length <= 130);
        await close();
      }
    }
  });

  test('reads the body first and the status second; either spelling; numbers as text', async () => {
    const { find, scene } = await stage(holds(many, { status: 400 }));
    assert.equal((await find(askedFor(A)))[A]!.kind, 'known');
    scene.play = says(200, {
      statusProcessamento: 'DOCUMENTOS_LOCALIZADOS',
      loteDFe: [{ nsu: '8', chaveAcesso: A, tipoDocumento: 'NFSe', arquivoXml: arquivoOf(A) }],
    });
    assert.deepEqual(await find(askedFor(A)), { [A]: { kind: 'known', nsu: '8', xml: xmlOf(A) } });
  });

  test('the end of the list is told in several ways', async () => {
    for (const end of [
      NOTHING,
      { StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS', LoteDFe: [] },
      { LoteDFe: [] },
      { ...NOTHING, LoteDFe: null },
      ...['E2070', 'E2020', 'E2220'].map((code) => ({ StatusProcessamento: 'REJEICAO', ...refusal(code) })),
    ]) {
      const { find } = await stage(says(404, end));
      assert.deepEqual(await find(askedFor(A)), { [A]: { kind: 'absent', place: '0' } }, JSON.stringify(end));
    }
  });

  test('an event bears the key of its note and is not the note', async () => {
    const { find } = await stage(
      holds([
        { nsu: 1, chave: A, tipo: 'EVENTO' },
        { nsu: 2, chave: B, tipo: 'EVENTO' },
        { nsu: 3, chave: B },
      ]),
    );
    const answers = await find(askedFor(A), askedFor(B));
    assert.equal(answers[A]!.kind, 'absent');
    assert.ok(answers[B]!.kind === 'known' && answers[B]!.nsu === '3');
  });

  test('a document encoded twice is read; one that cannot be read is known all the same', async () => {
    const twice = Buffer.from(arquivoOf(A)).toString('base64');
    const bomb = gzipSync(Buffer.alloc(9_000_000)).toString('base64');
    for (const [arquivo, xml] of [
      [twice, xmlOf(A)],
      [bomb, undefined],
      [Buffer.from(twice).toString('base64'), undefined],
      ['', undefined],
      ['não é base64', undefined],
      [arquivoOf(A).slice(0, -12), undefined],
    ] as const) {
      const { find, close } = await stage(holds([{ nsu: 1, chave: A, arquivo }]));
      assert.deepEqual(await find(askedFor(A)), { [A]: { kind: 'known', nsu: '1', xml } });
      await close();
    }
  });

  test('documents without a number do not hold it up when others have one', async () => {
    const { find, scene } = await stage(({ url }, response) =>
      url.includes('DFe/0?')
        ? json(response, 200, { LoteDFe: [{ ...shown({ nsu: 1, chave: A }), NSU: null }, shown({ nsu: 2, chave: B })] })
        : json(response, 404, NOTHING),
    );
    const answers = await find(askedFor(A), askedFor(B), askedFor(C));
    assert.deepEqual(
      [answers[A], answers[C]],
      [
        { kind: 'known', nsu: undefined, xml: xmlOf(A) },
        { kind: 'absent', place: '2' },
      ],
    );
    scene.play = says(200, { LoteDFe: [{ ...shown({ nsu: 1, chave: B }), NSU: null }] });
    assert.equal((await find(askedFor(A)))[A]!.kind, 'unavailable', 'nowhere to go on from');
  });

  const unclear: Readonly<Record<string, Play>> = {
    'an HTML page': says(200, '<html>', HTML),
    'an HTML page with 404': says(404, '<html>', HTML),
    'an empty object': says(200, {}),
    'a refusal without a reason': says(400, { StatusProcessamento: 'REJEICAO' }),
    'a refusal': says(400, { StatusProcessamento: 'REJEICAO', ...refusal('E2003') }),
    'an error without a name': says(404, { ...NOTHING, ...refusal('E999') }),
    'a list that is none': says(200, { LoteDFe: 'x' }),
    'a list of texts': says(200, { LoteDFe: ['x'] }),
    'an empty list with 500': says(500, NOTHING),
    'a redirection': says(302, NOTHING, { Location: '/' }),
    '403': says(403, ''),
    silence: () => undefined,
    'a reset': (_asked, _response, reset) => reset(),
    'the same page for ever': says(200, page({ nsu: 1, chave: B })),
  };
  for (const [name, play] of Object.entries(unclear)) {
    test(`${name}: unavailable, never absent`, async () => {
      const { find, asked, close } = await stage(play, {
        limits: { pagesMax: 20, ...(name === 'silence' ? IMPATIENT : {}) },
      });
      const answer = (await find(askedFor(A)))[A]!;
      await close();
      assert.equal(answer.kind, 'unavailable');
      assert.ok(tells(answer).length > 10, tells(answer));
      assert.ok(asked.length <= 20);
    });
  }

  test('what was found before the trouble is known', async () => {
    const { find } = await stage((one, response) =>
      one.url.includes('DFe/0?') ? holds(many, { size: 2 })(one, response) : json(response, 500, ''),
    );
    const answers = await find(askedFor(B), askedFor(chaveOf(50)));
    assert.deepEqual([answers[B]!.kind, answers[chaveOf(50)]!.kind], ['known', 'unavailable']);
  });

  test('a list longer than a round goes on where the last round ended', async () => {
    const { find, asked } = await stage(holds(many, { size: 10 }), { limits: { pagesMax: 5 } });
    const wanted = chaveOf(118);
    const first = (await find(askedFor(wanted)))[wanted]!;
    assert.ok(first.kind === 'unavailable' && first.goesOn && first.place === '50');
    // A different caller may continue the search.
    const second = (await find(askedFor(wanted, first.place)))[wanted]!;
    assert.ok(second.kind === 'unavailable' && second.goesOn && second.place === '100');
    assert.deepEqual(await find(askedFor(wanted, second.place)), {
      [wanted]: { kind: 'known', nsu: '118', xml: xmlOf(wanted) },
    });
    assert.equal(asked.length, 12, '120 documents, ten a page, each page once');
  });

  test('what failed tells up to where it had come, and is no reason to go on at once', async () => {
    const { find } = await stage((one, response) =>
      one.url.includes('DFe/23?') ? json(response, 500, '') : holds(many, { size: 10 })(one, response),
    );
    const answer = (await find(askedFor(chaveOf(70), '3')))[chaveOf(70)]!;
    assert.ok(answer.kind === 'unavailable' && answer.goesOn === undefined);
    assert.equal(answer.place, '23');
    const [held, other] = [chaveOf(14), chaveOf(71)];
    const answers = await find(askedFor(held, '12'), askedFor(other, '60'));
    assert.equal(answers[held]!.kind, 'known');
    assert.equal(answers[other]!.kind, 'known', 'between the two nothing is read');
  });

  describe('where the list has grown long', () => {
    const long = Array.from({ length: 5_000 }, (_, place): Kept => ({ nsu: place + 1, chave: chaveOf(place + 1) }));
    const gone = [chaveOf(90_001), chaveOf(90_002)];
    const plays =
      (byKey: Play): Play =>
      (one, response, reset) =>
        one.url.includes('/Eventos') ? byKey(one, response, reset) : holds(long, { size: 50 })(one, response);
    const ofKeys = (asked: readonly Asked[]): number => asked.filter(({ url }) => url.includes('/Eventos')).length;

    test('a few notes are asked about by key, and E2060 says that one is not there', async () => {
      const { find, asked } = await stage(plays(says(404, { ...NOTHING, ...refusal('E2060') })));
      assert.deepEqual(await find(...gone.map((chave) => askedFor(chave, '7', '5000'))), {
        [gone[0]!]: { kind: 'absent', place: '5000' },
        [gone[1]!]: { kind: 'absent', place: '5000' },
      });
      assert.equal(asked.length, 3, 'a page, and a question for each');
    });

    test('nothing else that is said of a key decides: the list is read', async () => {
      for (const byKey of [
        NOTHING,
        { ...NOTHING, ...refusal('E2220') },
        { ...NOTHING, ...refusal('E2061') },
        page({ nsu: 4_000, chave: gone[0]!, tipo: 'EVENTO' }),
      ]) {
        const { find, asked, close } = await stage(plays(says(404, byKey)));
        const wanted = chaveOf(4_990);
        const answers = await find(askedFor(gone[0]!, '7', '5000'), askedFor(wanted, '7', '5000'));
        assert.equal(answers[wanted]!.kind, 'known');
        assert.deepEqual(answers[gone[0]!], { kind: 'absent', place: '5000' });
        assert.equal(ofKeys(asked), 2, 'each once');
        await close();
      }
    });

    test('where that is not answered the list is read, and many notes are not asked about one by one', async () => {
      const { find, asked } = await stage(plays(says(500, '')));
      assert.equal((await find(askedFor(gone[0]!, '7', '5000')))[gone[0]!]!.kind, 'absent');
      const before = ofKeys(asked);
      const crowd = Array.from({ length: 200 }, (_, place) => askedFor(chaveOf(91_000 + place), '7', '5000'));
      const answers = Object.values(await find(...crowd));
      assert.ok(answers.every((answer) => answer.kind === 'absent' && answer.place === '5000'));
      assert.equal(ofKeys(asked), before, 'a hundred pages are fewer than two hundred questions');
    });
  });

  test('ends in time', async (t) => {
    const clock = timeInHand(t);
    const { find, asked } = await stage(
      (one, response) => {
        clock.now += 60_000;
        holds(many, { size: 1 })(one, response);
      },
      { limits: { findMs: 300_000, requestMinMs: 100_000 } },
    );
    assert.equal((await find(askedFor(chaveOf(999))))[chaveOf(999)]!.kind, 'unavailable');
    assert.equal(asked.length, 4, 'with 300, 240, 180 and 120 seconds left; 60 are not enough');
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

/** The event of a type and a sequence on a note. */
function eventoOf(chave: string, codigo = '101101', sequencia = 1): EventoToShare {
  const id = `EVT${chave}${codigo}${String(sequencia).padStart(3, '0')}`;
  const xml = Buffer.from(`<?xml version="1.0"?><evento><infEvento Id="${id}">ação</infEvento></evento>`);
  const evento = { codigo, numero_sequencial: sequencia, autor: '11222333000181', campos: {} };
  return { id, chave_acesso: chave, xml, evento, naNota: [] };
}

const idsIn = ({ body }: Asked): string[] =>
  (JSON.parse(body) as { LoteXmlGZipB64: string[] }).LoteXmlGZipB64.map(
    (text) => /Id="(EVT\w{59})"/.exec(gunzipSync(Buffer.from(text, 'base64')).toString('utf8'))![1]!,
  );

const kindsOf = (answers: readonly (EventoAnswer | AdnKnowledge | undefined)[]): unknown =>
  answers.map((answer) => answer?.kind);

/** The answer to its only event. */
async function eventoAnswerTo(play: Play, settings: Partial<NationalSettings> = {}): Promise<EventoAnswer> {
  const { shareEventos, close } = await stage(play, settings);
  const [answer] = await shareEventos(eventoOf(A));
  await close();
  return answer!;
}

describe('sharing events', () => {
  test('is sharing documents: the same address, the same packing, in order', async () => {
    const { asked, shareEventos } = await stage(accepts);
    assert.deepEqual(await shareEventos(eventoOf(B), eventoOf(A), eventoOf(C)), [
      { kind: 'accepted', nsu: '1' },
      { kind: 'accepted', nsu: '2' },
      { kind: 'accepted', nsu: '3' },
    ]);
    assert.deepEqual([asked.length, asked[0]!.method, asked[0]!.url], [1, 'POST', '/adn/DFe']);
    assert.deepEqual(idsIn(asked[0]!), [eventoOf(B).id, eventoOf(A).id, eventoOf(C).id]);
    const [text] = JSON.parse(asked[0]!.body).LoteXmlGZipB64;
    assert.deepEqual(gunzipSync(Buffer.from(text, 'base64')), eventoOf(B).xml, 'byte by byte');
  });

  test('two events of one note never travel in one lot: their answers could not be told apart', async () => {
    const { asked, shareEventos } = await stage((one, response) =>
      // The order is promised nowhere, so it differs here.
      json(response, 201, lote(...one.chaves.toReversed().map((chave) => entry(chave, '7')))),
    );
    const [first, second, third] = [eventoOf(A, '101103'), eventoOf(A, '105104'), eventoOf(A, '305102')];
    const answers = await shareEventos(first, eventoOf(B), second, eventoOf(C), third, eventoOf(B, '305102'));
    assert.ok(answers.every((answer) => answer?.kind === 'accepted'));
    assert.deepEqual(asked.map(idsIn), [
      [first.id, eventoOf(B).id, eventoOf(C).id],
      [second.id, eventoOf(B, '305102').id],
      [third.id],
    ]);
  });

  test('a refusal decides, and the next event of the note goes', async () => {
    const { asked, shareEventos } = await stage((_asked, response) =>
      json(response, 201, lote(asked.length === 1 ? entry(A, null, 'E0840') : entry(A, '9'))),
    );
    const answers = await shareEventos(eventoOf(A), eventoOf(A, '305102'));
    assert.deepEqual(kindsOf(answers), ['refused', 'accepted']);
    assert.equal(asked.length, 2);
  });

  for (const [what, play] of [
    ['an answer without it', says(201, lote(entry(B, '1')))],
    ['an HTML page', says(200, '<html>', HTML)],
    ['too many requests', says(429, {})],
  ] as const) {
    test(`while one is undecided (${what}), those after it are not sent, and those of other notes are not held up`, async () => {
      const { asked, shareEventos } = await stage((one, response, reset) =>
        one.chaves.includes(A) ? play(one, response, reset) : accepts(one, response),
      );
      const [, second] = await shareEventos(eventoOf(A), eventoOf(A, '305102'));
      assert.deepEqual(second, {
        kind: 'unavailable',
        why: 'um evento anterior da mesma nota ainda não foi decidido',
      });
      assert.equal(asked.length, 1);
      assert.deepEqual(kindsOf(await shareEventos(eventoOf(B), eventoOf(B, '305102'))), ['accepted', 'accepted']);
    });
  }

  test('a note that is not known is not known to its later events either, without asking', async () => {
    const { asked, shareEventos } = await stage(says(201, lote(entry(A, null, 'E1831'))));
    const answers = await shareEventos(eventoOf(A), eventoOf(A, '305102'));
    assert.deepEqual(kindsOf(answers), ['note_unknown', 'note_unknown']);
    assert.equal(asked.length, 1);
  });

  const BY_ANSWER: readonly (readonly [EventoAnswer['kind'], string, Play])[] = [
    ['unknown', 'silence', () => undefined],
    ['unknown', 'a reset', (_asked, _response, reset) => reset()],
    ['unknown', '500', says(500, {})],
    ['unknown', '503 with a body', says(503, refusal('E0840'))],
    ['unknown', 'HTML', says(200, '<html>', HTML)],
    ['unknown', 'half a body', says(201, '{"Lote":[{"Chave')],
    ['unknown', 'no number', says(201, lote(entry(A, null)))],
    ['unknown', 'a contradiction', says(201, lote(entry(A, '1'), entry(A, null, 'E0840')))],
    ['unknown', 'no entry', says(201, lote(entry(B, '1')))],
    ['unavailable', '429', says(429, {})],
    ['unavailable', '413', says(413, {})],
    ['misconfigured', '403', says(403, {})],
    ['misconfigured', 'E1203 for the lot', says(403, refusal('E1203'))],
    ['refused', 'a refusal of the lot of one', says(400, refusal('E1235'))],
    ['note_unknown', 'E1831 beside the list', says(400, refusal('E1831'))],
    ['accepted', 'an entry without a key', says(201, lote(entry(null, '4')))],
  ];
  for (const [kind, what, play] of BY_ANSWER) {
    test(`${what}: ${kind}`, async () => {
      const answer = await eventoAnswerTo(play, what === 'silence' ? { limits: IMPATIENT } : {});
      assert.equal(answer.kind, kind);
      assert.doesNotMatch('why' in answer ? answer.why : '', /nota\b/, 'an event is spoken of');
    });
  }

  test('a lot refused as a whole is halved until the guilty one stands alone', async () => {
    const { asked, shareEventos } = await stage((one, response) => {
      if (one.chaves.includes(B)) json(response, 400, refusal('E1235'));
      else accepts(one, response);
    });
    const answers = await shareEventos(eventoOf(A), eventoOf(B), eventoOf(C), eventoOf(chaveOf(4)));
    assert.deepEqual(kindsOf(answers), ['accepted', 'refused', 'accepted', 'accepted']);
    assert.ok(asked.length > 2);
  });

  test('one that comes twice goes once, one without its document does not go, and none sends nothing', async () => {
    const { asked, shareEventos } = await stage(accepts);
    assert.deepEqual(kindsOf(await shareEventos(eventoOf(A), eventoOf(A))), ['accepted', 'accepted']);
    assert.equal(idsIn(asked[0]!).length, 1);
    const [answer] = await shareEventos({ ...eventoOf(B), xml: undefined });
    assert.deepEqual(answer, { kind: 'unavailable', why: 'o evento não tem documento assinado' });
    assert.deepEqual(await shareEventos(), []);
    assert.equal(asked.length, 1);
  });

  test('goes in lots of at most fifty, several at once', async () => {
    const { asked, shareEventos } = await stage(accepts);
    const eventos = Array.from({ length: 120 }, (_, place) => eventoOf(chaveOf(place)));
    assert.ok((await shareEventos(...eventos)).every((answer) => answer?.kind === 'accepted'));
    assert.deepEqual(
      asked
        .map(idsIn)
        .map(({ length }) => length)
        .toSorted(),
      [20, 50, 50],
    );
  });

  test('notes and events share one circuit: a certificate refused for the ones is not tried for the others', async () => {
    const { asked, adn, share, shareEventos, findEventos } = await stage(says(403, {}));
    assert.equal((await share(A))[A]!.kind, 'misconfigured');
    assert.deepEqual(kindsOf(await shareEventos(eventoOf(A))), ['misconfigured']);
    assert.deepEqual(kindsOf(await findEventos(eventoOf(A))), ['unavailable']);
    assert.equal(asked.length, 1);
    assert.ok(adn.pauseMs() > 0);
  });

  test('a round that is over sends no more, and says so', async (t) => {
    const clock = timeInHand(t);
    const { shareEventos } = await stage(
      (one, response) => {
        clock.now += 60_000;
        accepts(one, response);
      },
      { limits: { shareMs: 200_000, requestMinMs: 50_000 } },
    );
    const eventos = Array.from({ length: 10 }, (_, place) => eventoOf(A, '305102', place + 1));
    const kinds = (await shareEventos(...eventos)).map((answer) => answer!.kind);
    // The three have 200, 140 and 80 seconds left; 20 are not enough.
    assert.deepEqual(kinds, [...Array(3).fill('accepted'), ...Array(7).fill('unavailable')]);
  });

  test('nothing of an event goes to the log', async () => {
    const { logged, shareEventos } = await stage(says(500, {}));
    await shareEventos(eventoOf(A));
    const text = JSON.stringify(logged);
    assert.match(text, /não se sabe se o ADN recebeu alguns eventos/);
    assert.doesNotMatch(text, /3550308|EVT|ação/);
  });
});

/** An event in the form of the answer to a query. */
const heldEvento = ({ chave_acesso, xml }: EventoToShare, more: object = {}) => ({
  NSU: 7,
  ChaveAcesso: chave_acesso,
  TipoDocumento: 'EVENTO',
  TipoEvento: 'CANCELAMENTO',
  ArquivoXml: gzipSync(xml!).toString('base64'),
  DataHoraGeracao: '2026-10-05T10:15:31.12-03:00',
  ...more,
});
const held = (...entries: readonly object[]) => ({
  StatusProcessamento: entries.length === 0 ? 'NENHUM_DOCUMENTO_LOCALIZADO' : 'DOCUMENTOS_LOCALIZADOS',
  LoteDFe: entries,
  Alertas: [],
  Erros: [],
  ...HEAD,
});

describe('asking about events', () => {
  test('asks once a note, and finds each by the Id inside of its document', async () => {
    const [one, two] = [eventoOf(A, '101103'), eventoOf(A, '105104')];
    const { asked, findEventos } = await stage((request, response) =>
      json(response, 200, request.url.includes(A) ? held(heldEvento(two), heldEvento(one, { NSU: null })) : held()),
    );
    const answers = await findEventos(one, two, eventoOf(A, '305102'), eventoOf(B));
    assert.deepEqual(answers, [
      { kind: 'known', nsu: undefined, xml: one.xml },
      { kind: 'known', nsu: '7', xml: two.xml },
      { kind: 'absent' },
      { kind: 'absent' },
    ]);
    assert.deepEqual(asked.map(({ method, url }) => `${method} ${url}`).toSorted(), [
      `GET /municipios/NFSe/${A}/Eventos`,
      `GET /municipios/NFSe/${B}/Eventos`,
    ]);
  });

  test('another sequence, another type, a note: none of them is the event', async () => {
    const others = [eventoOf(A, '101101', 2), eventoOf(A, '101103')].map((other) => heldEvento(other));
    const note = { ...heldEvento(eventoOf(A)), TipoDocumento: 'NFSE' };
    const { findEventos } = await stage(says(200, held(...others, note)));
    assert.deepEqual(await findEventos(eventoOf(A)), [{ kind: 'absent' }]);
  });

  test('names in either spelling, a document encoded twice, a prefix, one that cannot be read', async () => {
    const own = eventoOf(A);
    const prefixed = Buffer.from(`<n:evento xmlns:n="u"><n:infEvento  Id='${own.id}'/></n:evento>`);
    const camel = (value: object): object =>
      Object.fromEntries(Object.entries(value).map(([name, inner]) => [name[0]!.toLowerCase() + name.slice(1), inner]));
    const twice = Buffer.from(gzipSync(own.xml!).toString('base64')).toString('base64');
    for (const [body, kind] of [
      [held(camel(heldEvento(own))), 'known'],
      [{ loteDFe: [heldEvento(own)] }, 'known'],
      [held(heldEvento(own, { ArquivoXml: twice })), 'known'],
      [held(heldEvento(own, { ArquivoXml: gzipSync(prefixed).toString('base64') })), 'known'],
      [held(heldEvento(own, { ArquivoXml: 'AAAA' })), 'absent'],
      [held(heldEvento(own, { ArquivoXml: null }), heldEvento(own)), 'known'],
    ] as const) {
      const { findEventos, close } = await stage(says(200, body));
      assert.deepEqual(kindsOf(await findEventos(own)), [kind], JSON.stringify(body));
      await close();
    }
  });

  const NONE: readonly (readonly [AdnKnowledge['kind'], string, number, unknown])[] = [
    ['absent', 'an empty list', 404, held()],
    ['absent', 'a note that is not there (E2060)', 404, { ...held(), ...refusal('E2060') }],
    ['absent', 'a note of another municipality (E2061)', 400, { ...held(), ...refusal('E2061') }],
    ['unavailable', 'HTML', 404, '<html>'],
    ['unavailable', 'an empty object', 200, {}],
    ['unavailable', '500 with an empty list', 500, held()],
    ['unavailable', 'trouble without a name', 400, { ...held(), ...refusal('E999') }],
    ['unavailable', 'the certificate', 400, { ...held(), ...refusal('E2001') }],
    ['unavailable', '403', 403, ''],
    ['unavailable', '429', 429, ''],
  ];
  for (const [kind, what, status, body] of NONE) {
    test(`${what}: ${kind}`, async () => {
      const type = body === '<html>' ? HTML : undefined;
      const { findEventos } = await stage(says(status, body, type));
      assert.deepEqual(kindsOf(await findEventos(eventoOf(A), eventoOf(A, '305102'))), [kind, kind]);
    });
  }

  test('a round that is over asks about no more', async (t) => {
    const clock = timeInHand(t);
    const { asked, findEventos } = await stage(
      (_asked, response) => {
        clock.now += 60_000;
        json(response, 200, held());
      },
      { limits: { findMs: 300_000, requestMinMs: 100_000 } },
    );
    const answers = await findEventos(...Array.from({ length: 20 }, (_, place) => eventoOf(chaveOf(place))));
    // Four start at once. No time is left for another after the fourth answer, and three may have started meanwhile.
    assert.ok(asked.length >= 4 && asked.length <= 7, `${asked.length} asked`);
    assert.equal(answers.filter((answer) => answer?.kind === 'absent').length, asked.length);
    assert.ok(answers.every((answer) => answer?.kind === 'absent' || answer?.kind === 'unavailable'));
  });

  test('a note that gives no answer holds up no other', async () => {
    const { findEventos } = await stage(
      (request, response) => {
        if (!request.url.includes(A)) json(response, 200, held(heldEvento(eventoOf(B))));
      },
      { limits: { headersMs: 1500 } },
    );
    assert.deepEqual(kindsOf(await findEventos(eventoOf(A), eventoOf(B))), ['unavailable', 'known']);
  });
});
