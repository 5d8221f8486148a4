/**
 * Attacks on the webhook sender. Receivers hang, trickle, send without end or lead inside. Name servers never answer, and hundreds of
 * addresses delay the others.
 */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { countCalls } from '../../../test/support/counted-calls.ts';
import { confirmAvisos } from '../../../test/support/desafio.ts';
import { emit, request } from '../../../test/support/http.ts';
import { startTestService } from '../../../test/support/service.ts';
import { countTimeAwake, unlessStoodStill } from '../../../test/support/standstill.ts';
import { until } from '../../../test/support/until.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { avisoPoster } from './post.job.ts';
import { AVISO_RESPOSTA_S } from './tempos.ts';

/** Sends one message, as to an address that has proved that it wants messages. */
const posting = (options: Parameters<typeof avisoPoster>[0]) => {
  const post = avisoPoster(options);
  return (url: string, headers: Readonly<Record<string, string>> = {}) =>
    post({ id: url, dono: url, url, headers, corpo: '{}', agora: Date.now(), isEnsaio: false, isDesafio: false });
};

const PRESTADOR = '11222333000181';
const API = '/integracao/api/v1';

/** A server that treats each connection as `onConnection` says. */
async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Writes a text again and again until the other side is gone. */
function pour(socket: Socket, text: string): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', more);
  more();
}

describe('a receiver', () => {
  const post = posting({ isPrivateAllowed: true });
  const LONG = 'a'.repeat(1024);
  const RECEIVERS: Readonly<Record<string, readonly [(socket: Socket) => void, RegExp | number]>> = {
    'never answers': [() => undefined, /sem resposta/],
    'answers byte by byte': [
      (socket) => {
        const timer = setInterval(() => socket.write('H'), 500);
        socket.on('close', () => clearInterval(timer));
      },
      /falhou|sem resposta/,
    ],
    'sends headers without end': [
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        pour(socket, `X-Longo: ${LONG}\r\n`);
      },
      /falhou/,
    ],
    'sends interim answers without end': [
      (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
      /provisórios/,
    ],
    'sends a body without end': [
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        pour(socket, `400\r\n${LONG}\r\n`);
      },
      200,
    ],
    'closes half-way': [(socket) => void socket.once('data', () => socket.end('HTTP/1.1 2')), /falhou|cortada/],
    'is no web server': [(socket) => socket.end('220 smtp.exemplo ESMTP\r\n'), /falhou/],
    'answers with a status that is none': [(socket) => socket.end('HTTP/1.1 99999 X\r\n\r\n'), /falhou/],
  };
  for (const [what, [behave, expected]] of Object.entries(RECEIVERS)) {
    test(`that ${what} costs its own message alone, for ${AVISO_RESPOSTA_S} seconds`, {
      concurrency: true,
    }, async () => {
      const port = await listen(behave);
      await unlessStoodStill(async () => {
        const awake = countTimeAwake();
        const before = process.memoryUsage().rss;
        const answer = await post(`http://127.0.0.1:${port}/`, { 'X-Id': 'a' });
        assert.ok(awake() < (AVISO_RESPOSTA_S + 2) * 1_000);
        assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024);
        if (typeof expected === 'number') assert.deepEqual(answer, { status: expected });
        else assert.match('problema' in answer ? answer.problema : JSON.stringify(answer), expected);
      });
    });
  }

  test('at any address whatever is answered, and never throws', async () => {
    const strict = posting({ isPrivateAllowed: false, servers: ['127.0.0.1:1'] });
    for (const url of [
      ...['https://0x7f.1/', 'https://0177.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://127.0.0.1./'],
      ...['https://[::1]/', 'https://[::]/', 'https://[::ffff:7f00:1]/', 'https://[::127.0.0.1]/', 'https://0/'],
      ...['https://[64:ff9b::7f00:1]/', 'https://[fe80::1]/', 'https://[fd00::1]/', 'https://169.254.169.254/latest'],
      ...['https://①②⑦.⓪.⓪.①/', 'https://localhost/', 'https://a.localhost/', 'https://localhost./', 'http://8.8.8.8/'],
      ...['https://100.100.100.200/', 'https://192.168.0.1:22/', 'https://[2002:7f00:1::]/'],
    ]) {
      const answer = await strict(url);
      assert.match('problema' in answer ? answer.problema : '', /não é (público|https)/, url);
    }
    for (const url of [
      `https://${'a.'.repeat(120)}com/`,
      `https://${'a'.repeat(1_900)}.com/`,
      'https://x_y.exemplo/',
    ]) {
      assert.ok('problema' in (await strict(url)), url);
    }
    assert.ok('problema' in (await post('http://127.0.0.1:0/')));
    assert.ok('problema' in (await post('http://127.0.0.1:1/', { 'X-Id': 'a\r\nX-Outro: b' })));
  });
});

type Zone = Readonly<Record<string, { readonly a?: readonly string[]; readonly aaaa?: readonly Buffer[] } | 'mute'>>;

/** A name server that knows these names, and does not answer for those that are mute. */
async function nameServer(zone: Zone): Promise<{ readonly at: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = message[at]!; length > 0; length = message[at]!) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const type = message.readUInt16BE(at + 1);
    asked.push(`${name} ${type}`);
    const known = Object.entries(zone).find(([suffix]) => name === suffix || name.endsWith(`.${suffix}`))?.[1];
    if (known === 'mute') return;
    const a = (known?.a ?? []).map((one) => Buffer.from(one.split('.').map(Number)));
    const found = type === 1 ? a : type === 28 ? (known?.aaaa ?? []) : [];
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    const answers = found.map((one) =>
      Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, one.length]), one]),
    );
    socket.send(Buffer.concat([head, message.subarray(12, at + 5), ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onEnd(() => socket.close());
  return { at: `127.0.0.1:${socket.address().port}`, asked };
}

describe('a name', () => {
  test('that leads inside by any of its addresses is sent nothing, and is resolved once', async () => {
    const loopback = Buffer.alloc(16);
    loopback[15] = 1;
    const mapped = Buffer.from('00000000000000000000ffff7f000001', 'hex');
    const dns = await nameServer({
      'um.exemplo': { a: ['127.0.0.1'] },
      'varios.exemplo': { a: ['8.8.8.8', '10.0.0.1'] },
      'seis.exemplo': { aaaa: [loopback] },
      'misto.exemplo': { a: ['8.8.8.8'], aaaa: [mapped] },
      'nenhum.exemplo': {},
    });
    const post = posting({ isPrivateAllowed: false, servers: [dns.at] });
    for (const name of ['um', 'varios', 'seis', 'misto']) {
      // A query whose answer is late is repeated.
      await unlessStoodStill(async () => {
        dns.asked.length = 0;
        const answer = await post(`https://${name}.exemplo/`);
        assert.match('problema' in answer ? answer.problema : '', /não é público/, name);
        assert.deepEqual(dns.asked.toSorted(), [`${name}.exemplo 1`, `${name}.exemplo 28`]);
      });
    }
    for (const name of ['nenhum.exemplo', 'alheio.exemplo2']) {
      const answer = await post(`https://${name}/`);
      assert.match('problema' in answer ? answer.problema : '', /não existe/, name);
    }
  });

  test('whose server never answers keeps nobody else from resolving his', async () => {
    const dns = await nameServer({ 'mudo.exemplo': 'mute' });
    const post = posting({ isPrivateAllowed: false, servers: [dns.at] });
    await unlessStoodStill(async () => {
      dns.asked.length = 0;
      let given = 0;
      const ask = async (_: unknown, at: number) => {
        const answer = await post(`https://x${at}.mudo.exemplo/`);
        given += 1;
        return answer;
      };
      const all = Promise.all(Array.from({ length: 300 }, ask));
      await until(async () => dns.asked.length >= 300 || undefined, 'all ask');
      const awake = countTimeAwake();
      await lookup('localhost');
      assert.equal(given, 0, 'it is found before any of them is given up');
      for (const answer of await all) assert.ok('problema' in answer);
      assert.ok(awake() < (AVISO_RESPOSTA_S + 2) * 1_000);
    });
  });
});

describe('addresses that hang', () => {
  test('by the hundred, of many documents, keep one that is well waiting for no more than seconds', () =>
    unlessStoodStill(keepNobodyWaiting));

  async function keepNobodyWaiting(): Promise<void> {
    const { address, pool, store } = await startTestService();
    const looks = countCalls(store, 'listDue');
    const call = (method: string, path: string, token?: string, body?: object) =>
      request(address, `${API}/${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const register = async (documento: string, url: string) => {
      const { token } = (await call('POST', 'token', undefined, { documento, escopos: ['webhooks'] })).body;
      const { body } = await call('POST', 'webhooks', token, { url });
      await call('POST', `webhooks/${body.webhook.id}/ensaio`, token);
      return { token, id: body.webhook.id as string };
    };
    let told = 0;
    const well = createHttpServer((incoming, response) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      incoming.on('end', () => {
        if (confirmAvisos(text, response)) return;
        told += 1;
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => well.listen(0, '127.0.0.1', resolve));
    onEnd(() => well.close());
    const { port } = well.address() as AddressInfo;
    await register(PRESTADOR, `http://127.0.0.1:${port}/`);
    await until(async () => told === 1 || undefined, 'the trial');
    const tellOfNote = async (nDPS: string, all: number): Promise<number> => {
      const awake = countTimeAwake();
      assert.equal((await emit(address, exampleXml({ nDPS }))).status, 201);
      await until(async () => told === all || undefined, 'who is well has all of it');
      return awake();
    };
    const usualMs = await tellOfNote('6', 4);
    let reached = 0;
    const hanging = await listen(() => {
      reached += 1;
    });
    // Rows like the addresses of a hundred documents with ten each, without a request for each.
    await pool.query(`insert into webhooks (tenant, id, documento, url, tipos, segredo, criado_em, proxima)
      select 'integracao', 'wh_' || i, lpad(i::text, 14, '0'), 'http://127.0.0.1:${hanging}/', '{}', '\\x00', now(), '2026-01-01'
      from generate_series(1, 1000) i`);
    await pool.query(`insert into entregas (tenant, webhook, ordem, nota, estado, due_at, criada_em)
      select 'integracao', 'wh_' || i, -i - j, -i - j, 'pendente', '2026-01-01', '2026-11-21' from generate_series(1, 1000) i, generate_series(1, 4) j`);
    let full = 0;
    await until(async () => {
      const before = full;
      full = reached;
      await looks(2);
      return (full > 0 && full === before && full === reached) || undefined;
    }, 'every place is taken');
    const waitedMs = await tellOfNote('7', 7);
    // No place became free meanwhile: a slow machine took the time, and not the hanging addresses.
    const isOfMachine = reached === full;
    const limitMs = Math.max(5_000, 4 * usualMs);
    const measured = `${waitedMs} ms of ${limitMs}, ${reached - full} of the others meanwhile`;
    assert.ok(waitedMs < limitMs || isOfMachine, measured);
  }
});
