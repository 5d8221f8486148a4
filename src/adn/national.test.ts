/**
 * The client of the ADN against a real HTTPS server that requires a client certificate. The server misbehaves in every way that integrators
 * report. Expected values come from the contract (`POST /adn/DFe`, `GET /municipios/DFe/{NSU}`). Here: sending, and its answers.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { chaveOf, entry, lote, refusal } from '../../test/support/adn-answers.ts';
import {
  A,
  type Asked,
  accepts,
  B,
  C,
  documentsOf,
  GIVEN_UP,
  HTML,
  IMPATIENT,
  json,
  openNational,
  type Play,
  says,
  tells,
  timeInHand,
  xmlOf,
} from '../../test/support/national.ts';
import { pace } from '../../test/support/pace.ts';
import fc from '../../test/support/seed.ts';
import type { NotaAnswer } from './adn.ts';
import type { NationalSettings } from './national.ts';

const { stage } = openNational();

/** The answer to the only document of a lot. */
async function answerTo(play: Play, settings: Partial<NationalSettings> = {}): Promise<NotaAnswer> {
  const { share, close } = await stage(play, settings);
  const answers = await share(A);
  await close();
  return answers[A]!;
}

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
