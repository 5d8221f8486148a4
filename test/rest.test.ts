// The REST interface over real HTTP: the routes of notes, events, signatures and public lists, and every obstacle on the way to one. Answers
// have common parts. The rules for a DPS have their own tests; here one valid and one invalid DPS are enough.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { KEYS_MAX, openBuckets } from '../src/base/http/buckets.ts';
import { countMisses, LOOKS_MAX } from '../src/base/http/misses.ts';
import { PIPELINED_MAX } from '../src/base/http/pipelined.ts';
import { SALAS } from '../src/base/world/lugares.ts';
import type { World } from '../src/base/world/world.ts';
import { createRestDoor, type RestDoorOptions } from '../src/doors/rest/door.ts';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { buildChave } from '../src/fiscal/chave.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { ROTAS_DE_ASSINATURA } from '../src/subjects/assinatura/verificacao.rest.ts';
import { ROTAS_DE_EVENTOS } from '../src/subjects/eventos/rotas.rest.ts';
import { ROTAS_DE_NOTAS } from '../src/subjects/notas/rotas.rest.ts';
import { onEnd } from './support/cleanup.ts';
import { monotonicClock } from './support/clock.ts';
import { type Answer, authorised, emit } from './support/http.ts';
import { ownCounts } from './support/own-counts.ts';
import { pace } from './support/pace.ts';
import { startTestService } from './support/service.ts';
import { toolOr } from './support/tools.ts';
import { until, untilTrue } from './support/until.ts';

const API = '/integracao/api/v1';
/** The limit for expected events on a slow machine; only a failing test takes so long. */
const PATIENCE_MS = 300_000;
const XML = { 'Content-Type': 'application/xml' };
/** A valid key of a note that was never issued. */
const NO_SUCH_KEY = buildChave({
  cMun: '3550308',
  ambGer: '1',
  documento: '11222333000181',
  nNFSe: 999_999,
  anoMes: '2611',
  codigo: '123456789',
});
const OTHER_DIGIT = String((Number(NO_SUCH_KEY.at(-1)) + 1) % 10);
const NO_SUCH_DPS = 'DPS355030821122233300018199999000000000000001';

const service = await startTestService();
const { address, world, store, clock } = service;
await store.municipios.create({ tenant: 'rio-branco', ambiente: 'producao', codigoIbge: '1200401' }, clock.now);

/** This starts with the file, because the service waits a minute for the rest of a request. */
const stoppedBody = sendStoppedBody();

async function sendStoppedBody(): Promise<{ readonly text: string }> {
  const socket = await dial(address);
  const collected = collect(socket);
  const head = `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\n`;
  socket.write(`${head}Content-Length: 9000000\r\n\r\nx`);
  await closing(socket);
  return collected;
}

/** A new note for each test. */
let lastNumber = 0;
async function issued(): Promise<Answer & { readonly idDps: string }> {
  lastNumber += 1;
  const answer = await emit(address, exampleXml({ serie: '1', nDPS: String(lastNumber) }));
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  const idDps = `DPS3550308211222333000181${'00001'}${String(lastNumber).padStart(15, '0')}`;
  return { ...answer, idDps };
}

/** A server for one test on the same database, with other options or another world. */
async function door(options: Partial<RestDoorOptions> = {}, changed: Partial<World> = {}): Promise<string> {
  const opened = await createRestDoor(
    { ...world, ...changed },
    { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: true, buckets: ownCounts(), ...options },
  );
  onEnd(() => opened.close());
  return opened.address;
}

async function request(where: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${where}${path}`, init);
  return readable(response.status, response.headers, await response.text());
}

/** The answer to HEAD declares JSON and has none. */
function readable(status: number, headers: Headers, text: string): Answer {
  const isJson = text !== '' && headers.get('content-type')?.startsWith('application/json');
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}

/**
 * All bytes in answer to these, until the other side closes or has sent the expected number of answers. An answer that declares
 * `Connection: close` must be followed by the close.
 */
async function raw(bytes: string, where: string = address, answers = 1): Promise<string> {
  const socket = await dial(where);
  const collected = collect(socket);
  socket.write(bytes);
  await untilTrue(
    () => {
      const heads = wholeAnswersIn(collected.text);
      return socket.destroyed || (heads.length >= answers && !/^connection: close\r?$/im.test(heads.at(-1)!));
    },
    `${answers} answers to ${bytes.slice(0, 300)}`,
  );
  socket.destroy();
  return collected.text;
}

/** The same for bytes in separate packets; all of them are sent, for any answer. */
async function rawPackets(packets: readonly string[], answers: number): Promise<string> {
  // This side reads only after all packets are sent, so it must not close when the other side does.
  const socket = await dial(address, { allowHalfOpen: true, noDelay: true });
  const collected = collect(socket);
  for (const packet of packets) {
    await new Promise((resolve) => socket.write(packet, resolve));
    await pace(5);
  }
  await untilTrue(() => wholeAnswersIn(collected.text).length >= answers || socket.destroyed, `${answers} answers`);
  assert.ok(!socket.errored, String(socket.errored));
  socket.destroy();
  return collected.text;
}

/** The heads of the complete answers. */
function wholeAnswersIn(text: string): readonly string[] {
  const heads: string[] = [];
  for (let rest = Buffer.from(text); ; ) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) return heads;
    const head = rest.toString('utf8', 0, end);
    const whole = end + 4 + Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (rest.length < whole) return heads;
    // 100 Continue is the beginning of an answer.
    if (!/^HTTP\/1\.1 1\d\d /.test(head)) heads.push(head);
    rest = rest.subarray(whole);
  }
}

async function dial(
  where: string,
  options: { readonly allowHalfOpen?: true; readonly noDelay?: true } = {},
): Promise<Socket> {
  const { hostname, port } = new URL(where);
  const socket = connect({ port: Number(port), host: hostname, ...options });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Any end of the connection counts, even a reset. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

function collect(socket: Socket): { text: string } {
  const collected = { text: '' };
  socket.on('data', (chunk) => {
    collected.text += chunk.toString('utf8');
  });
  return collected;
}

/** Head and body of an answer from its raw bytes. */
function parsed(text: string): Answer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(': ', 1)[0]!, line.slice(line.indexOf(': ') + 2)]),
  );
  return readable(Number(statusLine.split(' ')[1]), headers, text.slice(end + 4));
}

/** The envelope is complete, for any error. */
function assertEnvelope(answer: Answer, status: number, codigo: string, campo?: string): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.match(answer.headers.get('x-request-id')!, /^[A-Za-z0-9._-]{1,64}$/);
  const { body } = answer;
  const names = [
    'codigo_erro',
    'mensagem',
    'detalhes',
    'timestamp',
    ...(campo === undefined ? [] : ['campo']),
    'erros',
  ];
  assert.deepEqual(Object.keys(body), names);
  assert.equal(body.codigo_erro, codigo);
  assert.equal(body.campo, campo);
  assert.match(body.mensagem, /^\S.*\.$/s);
  assert.ok(body.detalhes !== '' && body.detalhes !== null);
  assert.match(body.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
  assert.ok(body.erros.length > 0);
  assert.equal(body.erros[0].codigo, body.codigo_erro);
  assert.equal(body.erros[0].mensagem, body.mensagem);
  for (const erro of body.erros) {
    assert.deepEqual(Object.keys(erro).slice(0, 5), ['codigo', 'xpath', 'mensagem', 'origem_moc', 'doc_url']);
    assert.match(erro.doc_url, /^https?:\/\/[^/]+\/.*docs\/erros\/E\d+$/);
    assert.notEqual(erro.origem_moc, '', erro.codigo);
  }
  assert.doesNotMatch(JSON.stringify(body), /undefined|NaN|\[object/);
}

describe('the route table', () => {
  const lists = ROUTES.filter(({ isPublic }) => isPublic);
  const routesTested: Readonly<Record<string, (fields: readonly string[]) => Promise<void>>> = {
    'POST /api/v1/nfse/v101': async (fields) => {
      const answer = await issued();
      assert.deepEqual(Object.keys(answer.body), fields);
      const { chave_acesso, numero_protocolo, xml_nfse } = answer.body;
      assert.deepEqual(answer.body, {
        status: 'OK',
        numero_protocolo,
        chave_acesso,
        chave_acesso_provisoria: true,
        xml_nfse,
        avisos: answer.body.avisos,
      });
      assert.match(xml_nfse, new RegExp(`<infNFSe Id="NFS${chave_acesso}"`));
      assert.equal(answer.headers.get('location'), `${address}${API}/nfse/${chave_acesso}`);
      assert.equal((await fetch(answer.headers.get('location')!)).status, 200);
    },
    'POST /api/v1/nfse/v101/validacao': async (fields) => {
      const answer = await request(address, `${API}/nfse/v101/validacao`, {
        method: 'POST',
        headers: XML,
        body: exampleXml({}),
      });
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), fields);
      // 1000.00 × 2 %
      assert.equal(answer.body.valores.valor_issqn, '20.00');
    },
    'POST /api/v1/assinatura/verificacao': async (fields) => {
      const path = `${API}/assinatura/verificacao`;
      const answer = await request(address, path, { method: 'POST', headers: XML, body: exampleXml({}) });
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), fields);
      assert.deepEqual([answer.body.status, answer.body.valida], ['OK', false]);
      assert.equal(answer.body.erros[0].codigo, 'E901');
      const headers = { 'Content-Type': 'application/json' };
      const json = await request(address, path, { method: 'POST', headers, body: '{}' });
      assert.deepEqual(Object.keys(json.body), fields);
    },
    'POST /api/v1/nfse': async () => {
      const endpoint = { endpoint_correto: `${API}/nfse/v101` };
      const current = await request(address, `${API}/nfse`, { method: 'POST', headers: XML, body: exampleXml({}) });
      assertEnvelope(current, 410, 'E111');
      assert.deepEqual(current.body.detalhes, endpoint);
      assert.deepEqual(
        current.body.erros.map(({ codigo }: { codigo: string }) => codigo),
        ['E111', 'E110'],
      );
      assert.equal(current.body.erros[1].xpath, '/DPS/@versao');
      assert.equal(current.body.erros[1].linha, 2);
      for (const [headers, body] of [
        [XML, exampleXml({ '@versao': '1.00' })],
        [XML, '<nada/>'],
        [XML, '<quebrado'],
        [XML, 'x'.repeat(2 * 1024 * 1024)],
        [{ 'Content-Type': 'application/json' }, '{"a":1}'],
        [{ 'Content-Type': 'isto não é um tipo'.normalize('NFD').replace(/[^ -~]/g, '') }, 'x'],
        [{}, ''],
      ] as const) {
        const answer = await request(address, `${API}/nfse`, { method: 'POST', headers, body });
        assertEnvelope(answer, 410, 'E111');
        assert.deepEqual(answer.body.detalhes, endpoint);
        assert.equal(answer.body.erros.length, 1);
      }
    },
    'GET /api/v1/nfse/:chave_acesso': async (fields) => {
      const { body } = await issued();
      const answer = await authorised(address, body.chave_acesso);
      assert.deepEqual(Object.keys(answer.body), fields);
      assert.equal(answer.body.status, 'OK');
      assert.equal(answer.body.nota.chave_acesso, body.chave_acesso);
      assert.equal(answer.body.nota.data_cancelamento, null);
      assert.equal(answer.body.protocolo.numero_protocolo, body.numero_protocolo);
      assert.equal(answer.headers.get('retry-after'), null);
    },
    'GET /api/v1/nfse/protocolo/:numero_protocolo': (fields) => byProtocolo('nfse/protocolo', fields),
    'GET /api/v1/nfse/v101/protocolo/:numero_protocolo': (fields) => byProtocolo('nfse/v101/protocolo', fields),
    'POST /api/v1/nfse/:chave_acesso/eventos': (fields) =>
      registering(({ chave_acesso }) => `nfse/${chave_acesso}/eventos`, fields),
    'POST /api/v1/nfse/protocolo/:numero_protocolo/eventos': (fields) =>
      registering(({ numero_protocolo }) => `nfse/protocolo/${numero_protocolo}/eventos`, fields),
    'GET /api/v1/nfse/:chave_acesso/eventos': async (fields) => {
      const chave = await manifested();
      const answer = await request(address, `${API}/nfse/${chave}/eventos`);
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), fields);
      assert.deepEqual([answer.body.total, answer.body.status], [2, 'OK']);
      assert.deepEqual(
        answer.body.eventos.map(({ tipo_evento }: { tipo_evento: string }) => tipo_evento),
        ['confirmacao_tomador', 'confirmacao_prestador'],
      );
    },
    'GET /api/v1/nfse/:chave_acesso/eventos/:tipo_evento': async (fields) => {
      const chave = await manifested();
      const answer = await request(address, `${API}/nfse/${chave}/eventos/confirmacao_tomador`);
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), fields);
      const { total, tipo_evento, eventos, status } = answer.body;
      assert.deepEqual([total, tipo_evento, eventos.length, status], [1, 'confirmacao_tomador', 1, 'OK']);
      assert.equal(eventos[0].codigo_tipo_evento, '203202');
    },
    'GET /api/v1/nfse/:chave_acesso/eventos/:tipo_evento/:num_seq_evento': async (fields) => {
      const chave = await manifested();
      const answer = await request(address, `${API}/nfse/${chave}/eventos/confirmacao_tomador/1`);
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), fields);
      assert.equal(answer.body.status, 'OK');
      assert.deepEqual([answer.body.evento.chave_acesso, answer.body.evento.numero_sequencial], [chave, 1]);
    },
    'GET /api/v1/danfse/:chave_acesso': async (fields) => {
      const { body } = await issued();
      await authorised(address, body.chave_acesso);
      const answer = await request(address, `${API}/danfse/${body.chave_acesso}`);
      assert.deepEqual([answer.status, fields], [200, []]);
      assert.equal(answer.headers.get('content-type'), 'application/pdf');
      assert.match(answer.body, /^%PDF-/);
    },
    'GET /danfse/:chave_acesso': async (fields) => {
      const { body } = await issued();
      await authorised(address, body.chave_acesso);
      const [here, there] = [`${API}/danfse/${body.chave_acesso}`, `/integracao/danfse/${body.chave_acesso}`];
      const answer = await request(address, there);
      assert.deepEqual([answer.status, fields], [200, []]);
      assert.equal(answer.headers.get('etag'), (await request(address, here)).headers.get('etag'));
    },
    'GET /api/v1/dps/:id': async (fields) => {
      const { body, idDps } = await issued();
      const answer = await request(address, `${API}/dps/${idDps}`);
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), fields);
      const { chave_acesso, numero_protocolo } = body;
      const { nota, ...rest } = answer.body;
      assert.deepEqual(rest, { status: 'OK', id_dps: idDps, chave_acesso, numero_protocolo });
      assert.equal(nota.chave_acesso, chave_acesso);
      assert.ok(!('data_cancelamento' in nota));
    },
    'HEAD /api/v1/dps/:id': async () => {
      const { idDps } = await issued();
      const found = await request(address, `${API}/dps/${idDps}`, { method: 'HEAD' });
      assert.deepEqual([found.status, found.body], [200, '']);
      const lost = await request(address, `${API}/dps/${NO_SUCH_DPS}`, { method: 'HEAD' });
      assert.equal(lost.status, 404);
    },
    'GET /api/v1/prestadores/:documento/situacao': async (fields) => {
      await issued();
      const answer = await request(address, `${API}/prestadores/11222333000181/situacao`);
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), fields);
      assert.deepEqual([answer.body.status, answer.body.cadastrado], ['OK', true]);
    },
    ...Object.fromEntries(
      lists.map(({ method, path }) => [`${method} ${path}`, (fields: readonly string[]) => listing(path, fields)]),
    ),
  };

  /** The content of each list has its own tests in `catalogos.test.ts`. */
  async function listing(path: string, fields: readonly string[]): Promise<void> {
    const answer = await request(address, `/integracao${path}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.body), fields);
    assert.equal(answer.body.status, 'OK');
  }

  async function byProtocolo(path: string, fields: readonly string[]): Promise<void> {
    const { body } = await issued();
    await authorised(address, body.chave_acesso);
    const answer = await request(address, `${API}/${path}/${body.numero_protocolo}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.body), fields);
    assert.equal(answer.body.status, 'OK');
    assert.equal(answer.body.chave_acesso_provisoria, false);
    assert.equal(answer.body.protocolo.status, 'autorizado');
    assert.ok(!('data_cancelamento' in answer.body.nota));
    assert.equal(answer.headers.get('retry-after'), null);
  }

  async function registering(pathOf: (nota: Answer['body']) => string, fields: readonly string[]): Promise<void> {
    const { body } = await issued();
    const answer = await request(address, `${API}/${pathOf(body)}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ tipo_evento: 'confirmacao_tomador' }),
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.deepEqual(Object.keys(answer.body), fields);
    assert.deepEqual([answer.body.chave_acesso, answer.body.status], [body.chave_acesso, 'OK']);
    const location = answer.headers.get('location');
    assert.equal(location, `${address}${API}/nfse/${body.chave_acesso}/eventos/confirmacao_tomador/1`);
    assert.equal((await fetch(location!)).status, 200);
  }

  /** The key of a note that both its parties confirm, the provider first. */
  async function manifested(): Promise<string> {
    const { body } = await issued();
    for (const tipo_evento of ['confirmacao_prestador', 'confirmacao_tomador']) {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
      const path = `${API}/nfse/${body.chave_acesso}/eventos`;
      const answer = await request(address, path, { ...init, body: JSON.stringify({ tipo_evento }) });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    }
    return body.chave_acesso;
  }

  // Other subjects test their own routes, and `test/openapi.test.ts` checks the fields of each answer.
  const here = [...ROTAS_DE_NOTAS, ...ROTAS_DE_EVENTOS, ...ROTAS_DE_ASSINATURA, ...lists];

  test('every row has its test, and every test its row', () => {
    for (const route of here) assert.ok(ROUTES.includes(route), route.path);
    assert.deepEqual(Object.keys(routesTested).sort(), here.map(({ method, path }) => `${method} ${path}`).sort());
  });
  for (const { method, path, fields } of here) {
    // Optional fields are tested where they occur.
    const always = Object.keys(fields).filter((name) => fields[name]!.optional !== true);
    test(`${method} ${path}`, () => routesTested[`${method} ${path}`]!(always));
  }

  test('HEAD answers what GET does, without the body', async () => {
    const { body } = await issued();
    await authorised(address, body.chave_acesso);
    for (const path of [
      `${API}/nfse/${body.chave_acesso}`,
      `${API}/nfse/protocolo/${body.numero_protocolo}`,
      `${API}/nfse/v101/protocolo/${body.numero_protocolo}`,
      `${API}/danfse/${body.chave_acesso}`,
      `${API}/nfse/${body.chave_acesso}/eventos`,
      `${API}/nfse/${body.chave_acesso}/eventos/cancelamento`,
      `${API}/nfse/${body.chave_acesso}/eventos/cancelamento/1`,
      `${API}/nfse/${NO_SUCH_KEY}`,
      '/',
      '/docs/erros',
      '/docs/erros?q=obra',
      '/docs/erros/E0370',
      '/docs/erros.json',
      '/health/live',
      '/health/ready',
    ]) {
      const got = await request(address, path);
      const head = await request(address, path, { method: 'HEAD' });
      assert.equal(head.status, got.status, path);
      assert.equal(head.body, '', path);
      for (const name of ['content-type', 'content-length', 'cache-control', 'x-nfse-ambiente']) {
        assert.equal(head.headers.get(name), got.headers.get(name), `${path} ${name}`);
      }
    }
  });

  test('until a note is authorised, its queries say when to ask again', async () => {
    const still = await startTestService({ worker: false });
    const { body } = await emit(still.address, exampleXml({ serie: '1', nDPS: '1' }));
    for (const path of [
      `nfse/${body.chave_acesso}`,
      `nfse/protocolo/${body.numero_protocolo}`,
      'dps/DPS355030821122233300018100001000000000000001',
    ]) {
      const answer = await request(still.address, `${API}/${path}`);
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers.get('retry-after'), '1', path);
      assert.equal(answer.body.nota.status, 'rascunho');
    }
  });
});

describe('outside a municipality', () => {
  test('health', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      const answer = await request(address, path);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, { status: 'OK' });
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('x-nfse-ambiente'), null);
    }
  });

  test('without the database it is alive and not ready', async () => {
    const where = await door({}, { store: { ...store, ping: () => Promise.reject(new Error('segredo do banco')) } });
    assert.equal((await request(where, '/health/live')).status, 200);
    const answer = await request(where, '/health/ready');
    assertEnvelope(answer, 503, 'E703');
    assert.equal(answer.headers.get('retry-after'), '5');
    assert.doesNotMatch(JSON.stringify(answer.body), /segredo/);
  });

  test('a database that says nothing is not waited for long', async () => {
    const where = await door({}, { store: { ...store, ping: () => new Promise<void>(() => undefined) } });
    // The abort alone ends the wait.
    assertEnvelope(await request(where, '/health/ready', { signal: AbortSignal.timeout(PATIENCE_MS) }), 503, 'E703');
  });

  test('the pages are HTML that brings nothing in', async () => {
    for (const path of ['/', '/docs/erros', '/docs/erros?q=obra', '/docs/erros/E0370']) {
      const answer = await request(address, path);
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      const policy = answer.headers.get('content-security-policy')!;
      assert.match(policy, /^default-src 'none'/);
      assert.doesNotMatch(policy, /unsafe|data:/);
      assert.match(answer.body, /<html/);
    }
    assertEnvelope(await request(address, '/docs/erros/E9999999'), 404, 'E601', 'codigo');
  });

  test('a code in other letters leads to its page', async () => {
    for (const [from, status, to] of [
      ['/docs/erros/e0370', 308, '/docs/erros/E0370'],
      ['/docs/', 308, '/docs'],
    ] as const) {
      const answer = await fetch(address + from, { redirect: 'manual' });
      assert.equal(answer.status, status);
      // The address is resolved as a browser does, at any location of the service.
      assert.equal(new URL(answer.headers.get('location')!, address + from).href, address + to);
      assert.equal((await fetch(address + from)).status, 200);
    }
  });

  test('a code that does not exist is a page to a person and the envelope to a program', async () => {
    const page = await fetch(`${address}/docs/erros/E310`, { headers: { Accept: 'text/html,*/*;q=0.8' } });
    assert.equal(page.status, 404);
    assert.match(page.headers.get('content-type')!, /^text\/html/);
    assert.equal(page.headers.get('vary'), 'Accept');
    assert.match(await page.text(), /href="E0310"/);
    for (const accept of ['*/*', 'application/json']) {
      const answer = await fetch(`${address}/docs/erros/E310`, { headers: { Accept: accept } });
      assert.equal(answer.status, 404);
      assert.equal(((await answer.json()) as { codigo_erro: string }).codigo_erro, 'E601');
    }
  });

  test('the index is searched by what the address asks for, however that is written', async () => {
    const shown = async (query: string): Promise<number> =>
      (await request(address, `/docs/erros${query}`)).body.match(
        /<li data-c="[^"]*" data-b="[^"]*"(?: class="quiet")?><a/g,
      )?.length ?? 0;
    assert.equal(await shown('?q=e0188'), 1);
    assert.equal(await shown('?q=inscri%C3%A7%C3%A3o+municipal'), await shown('?q=INSCRICAO%20MUNICIPAL'));
    for (const all of ['', '?', '?q=', '?q=+', '?outro=1']) assert.ok((await shown(all)) > 100, all);
    assert.equal(await shown('?q=%00%ff%F0zzzz'), 0);
  });

  test('the table of errors for programs, with the address that its reader knows', async () => {
    const answer = await request(address, '/docs/erros.json');
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.match(answer.headers.get('cache-control')!, /^private, max-age=\d+$/);
    const [first] = answer.body;
    assert.equal(first.doc_url, `${address}/docs/erros/${first.codigo}`);
    const fixed = await door({ baseUrl: 'https://nfse.exemplo.gov.br/servico' });
    const other = await request(fixed, '/docs/erros.json');
    assert.equal(other.body[0].doc_url, `https://nfse.exemplo.gov.br/servico/docs/erros/${first.codigo}`);
  });

  test('a page that one has already is not sent again', async () => {
    for (const path of ['/docs/erros', '/docs/erros?q=obra', '/docs/erros/E0370', '/docs/erros.json']) {
      const tag = (await request(address, path)).headers.get('etag')!;
      const opaque = tag.replace('W/', '');
      assert.match(opaque, /^"[\w-]{22}"$/, path);
      for (const held of [opaque, `W/${opaque}`, `"outra", ${opaque}`]) {
        const again = await request(address, path, { headers: { 'If-None-Match': held } });
        assert.deepEqual([again.status, again.body, again.headers.get('etag')], [304, '', tag], path);
        assert.equal(again.headers.get('content-length'), null, path);
      }
      assert.equal((await request(address, path, { headers: { 'If-None-Match': '"outra"' } })).status, 200, path);
    }
  });
});

describe('what is not found', () => {
  test('a municipality', async () => {
    for (const slug of ['nenhures', 'INTEGRACAO', '%00', 'a'.repeat(200), '..%2f', 'x%27--']) {
      const answer = await request(address, `/${slug}/api/v1/nfse/${NO_SUCH_KEY}`);
      assertEnvelope(answer, 404, 'E601', 'municipio');
      assert.equal(answer.headers.get('x-nfse-ambiente'), null);
      assert.match(answer.body.timestamp, /-03:00$/);
    }
    const posted = await request(address, '/nenhures/api/v1/nfse/v101', {
      method: 'POST',
      headers: XML,
      body: '<DPS/>',
    });
    assertEnvelope(posted, 404, 'E601', 'municipio');
  });

  test('a path', async () => {
    for (const path of [
      `${API}`,
      `${API}/`,
      `${API}/nada`,
      `${API}/nfse/v101/x/y/z`,
      '/integracao',
      `${API}/nfse/v101/`,
    ]) {
      const answer = await request(address, path);
      assertEnvelope(answer, 404, 'E601');
      assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao', path);
    }
    assertEnvelope(await request(address, '/outro.ico'), 404, 'E601', 'municipio');
    assertEnvelope(await request(address, '/documentos'), 404, 'E601', 'municipio');
    assertEnvelope(await request(address, `${API}/nada`, { method: 'POST', body: 'x'.repeat(100_000) }), 404, 'E601');
  });

  test('a key, and why', async () => {
    const cases = [
      [NO_SUCH_KEY, /Não há nota com esta chave/],
      [NO_SUCH_KEY.slice(0, 49) + OTHER_DIGIT, /dígito verificador/],
      ['1400', /50 posições; a que veio tem 4/],
      ['x'.repeat(50), /não tem a forma/],
      ['%00', /50 posições/],
    ] as const;
    for (const [key, why] of cases) {
      const answer = await request(address, `${API}/nfse/${key}`);
      assertEnvelope(answer, 404, 'E301', 'chave_acesso');
      assert.match(answer.body.mensagem, why);
      assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
    }
  });

  test('a protocol', async () => {
    for (const numero of ['1', '%00', '..%2F..%2Fetc', 'x'.repeat(500)]) {
      for (const path of ['nfse/protocolo', 'nfse/v101/protocolo']) {
        assertEnvelope(await request(address, `${API}/${path}/${numero}`), 404, 'E601', 'numero_protocolo');
      }
    }
  });

  test('a DPS, and what an identifier looks like', async () => {
    const well = await request(address, `${API}/dps/${NO_SUCH_DPS}`);
    assertEnvelope(well, 404, 'E601', 'id');
    for (const id of ['1', 'DPS1', 'dps355030821122233300018199999000000000000001', '%00']) {
      const answer = await request(address, `${API}/dps/${id}`);
      assertEnvelope(answer, 404, 'E601', 'id');
      assert.match(answer.body.mensagem, /45 posições/);
    }
  });

  test('a note of another municipality', async () => {
    const { body } = await issued();
    assertEnvelope(await request(address, `/rio-branco/api/v1/nfse/${body.chave_acesso}`), 404, 'E301', 'chave_acesso');
  });
});

describe('methods', () => {
  const wrong: readonly (readonly [string, string, string])[] = [
    ['GET', `${API}/nfse/v101`, 'POST'],
    ['HEAD', `${API}/nfse/v101`, 'POST'],
    ['OPTIONS', `${API}/nfse/v101`, 'POST'],
    ['DELETE', `${API}/nfse`, 'POST'],
    ['PUT', `${API}/nfse/${NO_SUCH_KEY}`, 'GET, HEAD'],
    ['POST', `${API}/nfse/protocolo/1`, 'GET, HEAD'],
    ['GET', `${API}/nfse/protocolo/1/eventos`, 'POST'],
    ['DELETE', `${API}/nfse/${NO_SUCH_KEY}/eventos`, 'GET, HEAD, POST'],
    ['POST', `${API}/nfse/${NO_SUCH_KEY}/eventos/cancelamento`, 'GET, HEAD'],
    ['PUT', `${API}/nfse/${NO_SUCH_KEY}/eventos/cancelamento/1`, 'GET, HEAD'],
    ['PATCH', `${API}/dps/1`, 'GET, HEAD'],
    ['POST', '/health/live', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
  ];
  for (const [method, path, allow] of wrong) {
    test(`405: ${method} ${path}`, async () => {
      const body = method === 'GET' || method === 'HEAD' ? null : 'x';
      const answer = await request(address, path, { method, body });
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get('allow'), allow);
      assert.equal(answer.headers.get('x-nfse-ambiente'), path.startsWith(API) ? 'homologacao' : null);
      if (method !== 'HEAD') assertEnvelope(answer, 405, 'E003');
    });
  }

  test('405: a method that no path has', async () => {
    for (const method of ['PROPFIND', 'TRACE']) {
      const answer = parsed(await raw(`${method} ${API}/nfse HTTP/1.1\r\nHost: x\r\n\r\n`));
      assertEnvelope(answer, 405, 'E003');
      assert.match(answer.headers.get('allow')!, /POST/);
      assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
    }
    const tunnel = parsed(await raw('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n'));
    assertEnvelope(tunnel, 405, 'E003');
    assert.equal(tunnel.headers.get('connection'), 'close');
  });
});

describe('the body and its type', () => {
  const post = (headers: Record<string, string>, body: string): Promise<Answer> =>
    request(address, `${API}/nfse/v101`, { method: 'POST', headers, body });

  test('400 E003: types that are not XML, none, and none that can be read', async () => {
    for (const type of ['text/plain', 'application/octet-stream', 'application/soap+xml', 'x', 'a b c', ';']) {
      const answer = await post({ 'Content-Type': type }, exampleXml({}));
      assertEnvelope(answer, 400, 'E003', 'Content-Type');
      assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
    }
    const xml = await post({ 'Content-Type': 'application/json' }, exampleXml({}));
    assertEnvelope(xml, 400, 'E003', 'Content-Type');
    assert.match(xml.body.mensagem, /application\/xml/);
    const none = `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n<DPS/>`;
    assertEnvelope(parsed(await raw(none)), 400, 'E003', 'Content-Type');
    const empty = `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\n\r\n`;
    assertEnvelope(parsed(await raw(empty)), 400, 'E003', 'Content-Type');
  });

  test('400 E003: compressed, and JSON that calls itself XML', async () => {
    assertEnvelope(await post({ ...XML, 'Content-Encoding': 'gzip' }, 'x'), 400, 'E003', 'Content-Encoding');
    for (const body of ['{"a":1}', '  \n[1]', '\uFEFF{}'])
      assertEnvelope(await post(XML, body), 400, 'E003', 'Content-Type');
  });

  test('both XML types are read, with parameters and in any case', async () => {
    for (const type of ['text/xml', 'application/xml; charset=utf-8', 'Application/XML;charset="UTF-8"']) {
      assertEnvelope(await post({ 'Content-Type': type }, '<DPS'), 422, 'E201');
    }
    assertEnvelope(await post(XML, ''), 422, 'E201');
  });

  test('400 E003: a charset that the body is not of, in XML, in JSON and in an event', async () => {
    const refused = async (place: string, type: string, body: string | Buffer): Promise<string> => {
      const init = { method: 'POST', headers: { 'Content-Type': type }, body: body as string };
      const answer = await request(address, `${API}/${place}`, init);
      assertEnvelope(answer, 400, 'E003', 'Content-Type');
      return answer.body.mensagem;
    };
    const xml = exampleXml();
    const latin = Buffer.from(xml.replace('UTF-8', 'ISO-8859-1'), 'latin1');
    const wide = Buffer.from(`\ufeff${xml.replace('UTF-8', 'UTF-16')}`, 'utf16le');
    const said =
      'O Content-Type diz charset=ISO-8859-1, e o corpo é UTF-8. Envie charset=utf-8, ou Content-Type sem charset.';
    assert.equal(await refused('nfse/v101', 'application/xml; charset=ISO-8859-1', xml), said);
    for (const [charset, body] of [
      ['us-ascii', xml],
      ['utf-16', xml],
      ['klingon', xml],
      ['', xml],
      ['utf-8', latin],
      ['"UTF-8"', latin],
      ['utf-8', wide],
      ['utf-16be', wide],
      ['utf-16', exampleXml({ 'toma/xNome': 'Maria' }).replace(/[^\0-~]/g, '')],
    ] as const) {
      assert.match(await refused('nfse/v101', `text/xml;charset=${charset}`, body), /^O Content-Type diz charset=/);
    }
    for (const place of ['nfse/v101', `nfse/${'3'.repeat(50)}/eventos`]) {
      assert.match(await refused(place, 'application/json; charset=utf-16', '{}'), /e o corpo é UTF-8/);
      assert.match(await refused(place, 'application/json; charset=ISO-8859-1', '{"a":"é"}'), /e o corpo é UTF-8/);
    }
  });

  test('a charset that says the same, or of which nothing depends, is read', async () => {
    const xml = exampleXml();
    const ascii = xml.replace(/[^\0-~]/g, '');
    const latin = Buffer.from(xml.replace('UTF-8', 'ISO-8859-1'), 'latin1');
    const wide = Buffer.from(`\ufeff${xml.replace('UTF-8', 'UTF-16')}`, 'utf16le');
    for (const [charset, body] of [
      ['UTF-8', xml],
      ['utf-8', `\ufeff${xml}`],
      ['utf8', xml.replace(/^<\?xml.*?\?>/, '')],
      ['iso-8859-1', latin],
      ['"latin1"', latin],
      ['utf-16', wide],
      ['UTF-16LE', wide],
      ['us-ascii', ascii],
      ['ISO-8859-1', ascii],
    ] as const) {
      const answer = await post({ 'Content-Type': `application/xml; charset=${charset}` }, body as string);
      assert.equal(answer.status, 201, `${charset} ${JSON.stringify(answer.body)}`);
    }
    const event = await post({ 'Content-Type': 'application/json; charset=ISO-8859-1' }, '{}');
    assert.doesNotMatch(JSON.stringify(event.body), /charset/);
  });

  test('413: announced, and found out while reading; the connection is not lost', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    const announced = await post(XML, large);
    assertEnvelope(announced, 413, 'E003');
    assert.equal(announced.headers.get('x-nfse-ambiente'), 'homologacao');
    const stream = new Blob([large]).stream();
    const init = { method: 'POST', headers: XML, body: stream, duplex: 'half' } as RequestInit;
    assertEnvelope(await request(address, `${API}/nfse/v101`, init), 413, 'E003');
    const exactly = 1024 * 1024;
    assertEnvelope(await post(XML, `<DPS>${' '.repeat(exactly - 5)}`), 422, 'E201');
    assertEnvelope(await post(XML, `<DPS>${' '.repeat(exactly - 4)}`), 413, 'E003');
    const twice = `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(2_000_000)}GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n`;
    assert.match(await raw(twice, address, 2), /HTTP\/1\.1 413 .*HTTP\/1\.1 200 /s);
  });

  test('413 without the whole body says that the connection ends', async () => {
    const head = (more = '') =>
      `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 2000000\r\n${more}\r\n`;
    for (const [what, sent] of [
      ['is silent', `${head()}xxx`],
      ['waits to be asked', head('Expect: 100-continue\r\n')],
    ] as const) {
      const socket = await dial(address);
      const told = collect(socket);
      socket.write(sent);
      await untilTrue(() => /^HTTP\/1\.1 413 /.test(told.text), `who ${what} is refused`);
      assert.match(told.text, /^Connection: close/im, what);
      socket.destroy();
    }
  });

  test("413 reaches Python's standard clients, which read nothing before all is sent", async (t) => {
    const python = toolOr('python3', 'python3');
    if (python === undefined) return t.skip('python3 is not here');
    const program = `
import http.client, sys, urllib.request
from urllib.error import HTTPError
host, port, path = sys.argv[1:4]
headers = {'Content-Type': 'application/json'}
for mebibytes in (2, 20, 100):
    body = b'x' * (mebibytes << 20)
    try:
        urllib.request.urlopen(urllib.request.Request(f'http://{host}:{port}{path}', body, headers), timeout=60)
    except HTTPError as answer:
        print(answer.code, 'E003' in answer.read().decode())
    kept = http.client.HTTPConnection(host, int(port), timeout=60)
    kept.request('POST', path, body, headers)
    answer = kept.getresponse()
    print(answer.status, 'E003' in answer.read().decode())
    kept.request('GET', '/health/live')
    print(kept.getresponse().status)
`;
    const { hostname, port } = new URL(address);
    const run = promisify(execFile)(python, ['-c', program, hostname, port, `${API}/nfse/v101`]);
    const expected = ['413 True', '413 True', '200'];
    assert.deepEqual((await run).stdout.trim().split('\n'), [...expected, ...expected, ...expected]);
  });

  test('who goes on sending what is not wanted is cut off', async () => {
    const socket = await dial(address);
    const collected = collect(socket);
    socket.write(
      `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 99999999999\r\n\r\n`,
    );
    const closed = closing(socket);
    const block = 'x'.repeat(1024 * 1024);
    let sent = 0;
    // The bytes are sent only as fast as they are taken, so that counted bytes have left.
    while (!socket.destroyed && sent < 600) {
      sent += 1;
      if (!socket.write(block)) await Promise.race([closed, once(socket, 'drain').catch(() => undefined)]);
    }
    await closed;
    assert.match(collected.text, /^HTTP\/1\.1 413 /);
    assert.ok(sent < 600);
  });
});

describe('what is not HTTP', () => {
  const refusedRaw: readonly (readonly [string, string, number])[] = [
    ['no request at all', 'isto não é HTTP\r\n\r\n', 400],
    ['a method that does not exist', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a broken header', 'GET / HTTP/1.1\r\nHost: x\r\nbroken header\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['length and chunks', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['headers too large to be read', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(300_000)}\r\n\r\n`, 431],
  ];
  for (const [name, bytes, status] of refusedRaw) {
    test(`${status}: ${name}`, async () => {
      const answer = parsed(await raw(bytes));
      assertEnvelope(answer, status, 'E003');
      assert.equal(answer.headers.get('connection'), 'close');
    });
  }

  /** Requests to a municipality that are not valid HTTP: a broken header, headers beyond every limit, another version. */
  const unreadable: readonly (readonly [string, string, number])[] = [
    ['a broken header', 'HTTP/1.1\r\nHost: x\r\nbroken header\r\n\r\n', 400],
    ['a version that does not exist', 'HTTP/7.1\r\nHost: x\r\n\r\n', 400],
    ['two lengths', 'HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['beyond what is read', `HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(2_000_000)}\r\n\r\n`, 431],
    ['far too large', `HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(250_000)}\r\n\r\n`, 431],
    ['too large', `HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(33_000)}\r\n\r\n`, 431],
    ['too many that are short', `HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(6_000)}\r\n`, 431],
    ['two Host', 'HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
    ['no Host', 'HTTP/1.1\r\n\r\n', 400],
  ];
  for (const [name, rest, status] of unreadable) {
    test(`${status} says the environment of its municipality: ${name}`, async () => {
      for (const [slug, ambiente] of [
        ['integracao', 'homologacao'],
        ['rio-branco', 'producao'],
        ['desconhecido', null],
      ] as const) {
        const answer = parsed(await raw(`GET /${slug}/api/v1/nfse/${NO_SUCH_KEY} ${rest}`));
        assertEnvelope(answer, status, 'E003');
        assert.equal(answer.headers.get('x-nfse-ambiente'), ambiente, slug);
      }
    });
  }

  /** The same, with an invalid packet that has no request line, or with an absolute target (RFC 9112, 3.2). */
  const inPackets: readonly (readonly [string, readonly string[], number])[] = [
    ['a header that breaks later', ['HTTP/1.1\r\nHost: x\r\n', 'broken header\r\n\r\n'], 400],
    ['a header that grows', ['HTTP/1.1\r\nX: ', ...Array<string>(10).fill('x'.repeat(30_000)), '\r\n\r\n'], 431],
  ];
  for (const [name, [first, ...more], status] of inPackets) {
    test(`${status} says the environment of its municipality, packet by packet: ${name}`, async () => {
      for (const origin of ['', 'http://x', 'HTTPS://x:8443']) {
        for (const before of ['', `GET /rio-branco/api/v1/catalogo/paises HTTP/1.1\r\nHost: x\r\n\r\n`]) {
          const packets = [...(before && [before]), `GET ${origin}${API}/nfse/1 `, first!, ...more];
          const text = await rawPackets(packets, before === '' ? 1 : 2);
          const answer = parsed(text.slice(text.search(/HTTP\/1\.1 4/)));
          assertEnvelope(answer, status, 'E003');
          assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao', `${origin} ${before}`);
        }
      }
    });
  }

  test('a request line in the packet of the request before it is remembered', async () => {
    const before = `GET /rio-branco/api/v1/catalogo/paises HTTP/1.1\r\nHost: x\r\n\r\n`;
    const text = await rawPackets(
      [`${before}GET ${API}/nfse/1 `, 'HTTP/1.1\r\nHost: x\r\n', 'broken header\r\n\r\n'],
      2,
    );
    assert.equal(parsed(text.slice(text.search(/HTTP\/1\.1 4/))).headers.get('x-nfse-ambiente'), 'homologacao');
  });

  test('an absolute target is as good as its path, refused or not', async () => {
    for (const [target, status] of [
      [`${API}/catalogo/paises?codigo=BR`, 200],
      [`${API}/nada`, 404],
      [`${API}/nfse/v101`, 405],
    ] as const) {
      const answer = parsed(await raw(`GET http://x${target} HTTP/1.1\r\nHost: x\r\n\r\n`));
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
    }
  });

  test('who sends on behind what is not HTTP gets the answer', async () => {
    const head = `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nbroken header\r\n\r\n`;
    const answer = parsed(await rawPackets([head, ...Array<string>(40).fill('x'.repeat(65_536))], 1));
    assertEnvelope(answer, 400, 'E003');
  });

  test('headers within the limit are read to the last, however many', async () => {
    const head = `GET ${API}/catalogo/paises?codigo=BR HTTP/1.1\r\nHost: x\r\n`;
    const { headers } = await request(address, `${API}/catalogo/paises?codigo=BR`);
    const last = `If-None-Match: ${headers.get('etag')}\r\n\r\n`;
    assert.equal(parsed(await raw(`${head}${'a: b\r\n'.repeat(2_500)}${last}`)).status, 304);
  });

  test('of two requests in one packet the broken one says its own municipality', async () => {
    const first = `GET /rio-branco/api/v1/catalogo/paises?codigo=BR HTTP/1.1\r\nHost: x\r\n\r\n`;
    const text = await raw(`${first}GET ${API}/nfse/1 HTTP/1.1\r\nHost: x\r\nbroken header\r\n\r\n`, address, 2);
    assert.deepEqual(
      [...text.matchAll(/^x-nfse-ambiente: (.*)\r$/gim)].map(([, ambiente]) => ambiente),
      ['producao', 'homologacao'],
    );
  });

  test('400: no Host, and an address that does not decode', async () => {
    assertEnvelope(parsed(await raw('GET /health/live HTTP/1.1\r\n\r\n')), 400, 'E003');
    const answer = await request(address, `${API}/nfse/%zz`);
    assertEnvelope(answer, 400, 'E003');
    assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
    assertEnvelope(await request(address, '/%zz/api'), 400, 'E003');
  });

  test('414 and 417', async () => {
    const long = await request(address, `${API}/nfse/${'1'.repeat(5_000)}`);
    assertEnvelope(long, 414, 'E003');
    assert.equal(long.headers.get('x-nfse-ambiente'), 'homologacao');
    const wants = parsed(await raw(`GET ${API}/nfse/1 HTTP/1.1\r\nHost: x\r\nExpect: milagre\r\n\r\n`));
    assertEnvelope(wants, 417, 'E003');
    assert.equal(wants.headers.get('x-nfse-ambiente'), 'homologacao');
  });

  test('a body whose chunks break is answered by its own municipality, once', async () => {
    const head = `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const text = await raw(`${head}5\r\n<DPS>\r\nzz\r\n`);
    const answer = parsed(text);
    assertEnvelope(answer, 400, 'E003');
    assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
    assert.equal(answer.headers.get('connection'), 'close');
    assert.equal(text.match(/^HTTP\/1\.1 /gm)!.length, 1);
  });

  test('a connection that breaks before its body is asked for is no different', async () => {
    let asked = 0;
    const late = {
      ...store,
      municipios: {
        ...store.municipios,
        findBySlug: (slug: string) => {
          asked += 1;
          return pace(100).then(() => store.municipios.findBySlug(slug));
        },
      },
    };
    const statuses: unknown[] = [];
    const note = (about: object): void => void statuses.push('status' in about && about.status);
    const where = await door({}, { store: late, log: { info: note, warn: note, error: note } });
    const head = `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = parsed(await raw(`${head}5\r\n<DPS>\r\nzz\r\n`, where));
    assertEnvelope(answer, 400, 'E003');
    assert.equal(answer.headers.get('connection'), 'close');
    const socket = await dial(where);
    const before = asked;
    socket.write(head);
    await untilTrue(() => asked > before, 'the request has come');
    socket.resetAndDestroy();
    await untilTrue(() => statuses.length === 2, 'the end of the request is logged');
    assert.deepEqual(statuses, [400, 499]);
  });

  test('garbage behind a request does not take the place of its answer', async () => {
    const slow = { ...store, notas: { ...store.notas, findByChave: () => pace(150).then(() => undefined) } };
    const where = await door({}, { store: slow });
    const text = await raw(`GET ${API}/nfse/${NO_SUCH_KEY} HTTP/1.1\r\nHost: x\r\n\r\n@@@\r\n\r\n`, where, 2);
    assert.match(text, /^HTTP\/1\.1 404 .*E301.*HTTP\/1\.1 400 .*E003/s);
  });

  test('who leaves in the middle of a body disturbs nobody', async () => {
    let asked = 0;
    const watched = {
      ...store,
      municipios: {
        ...store.municipios,
        findBySlug: (slug: string) => {
          asked += 1;
          return store.municipios.findBySlug(slug);
        },
      },
    };
    const statuses: unknown[] = [];
    const note = (about: object): void => void statuses.push('status' in about && about.status);
    const where = await door({}, { store: watched, log: { info: note, warn: note, error: note } });
    const socket = await dial(where);
    socket.write(
      `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 100\r\n\r\n<DPS`,
    );
    await untilTrue(() => asked > 0, 'the request has come');
    socket.resetAndDestroy();
    await untilTrue(() => statuses.length > 0, 'the end of the request is logged');
    assert.deepEqual(statuses, [499]);
    assert.equal((await request(where, '/health/live')).status, 200);
  });

  test('100-continue: what would be refused is not asked for', async () => {
    const head = `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n`;
    assert.match(await raw(`${head}Content-Type: text/plain\r\n\r\n`), /^HTTP\/1\.1 400 /);
    assert.match(
      await raw(`${head}Content-Type: text/xml\r\n\r\n<DPS/`),
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 422 /,
    );
  });

  test('100-continue: who sends without waiting gets the answer too', async () => {
    const blocks = Array<string>(320).fill('x'.repeat(65_536));
    const head = `POST ${API}/nfse/v101 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: text/xml\r\n`;
    const text = await rawPackets([`${head}Content-Length: ${320 * 65_536}\r\n\r\n`, ...blocks], 1);
    assertEnvelope(parsed(text), 413, 'E003');
  });
});

describe('the envelope', () => {
  test('all faults of a step, each with its place, its origin and its page', async () => {
    const answer = await emit(address, exampleXml({ 'serv/cServ/cNBS': null, 'toma/CPF': '123', dCompet: null }));
    assert.equal(answer.status, 422);
    assertEnvelope(answer, 422, answer.body.codigo_erro);
    const { erros } = answer.body;
    assert.equal(erros.length, 3, JSON.stringify(erros));
    assert.match(
      answer.body.detalhes,
      /^São 3 erros; todos estão na lista erros\. Este é o primeiro na ordem do leiaute\.$/,
    );
    const told = new Set<string>();
    for (const erro of erros) {
      assert.match(erro.xpath, /^\/DPS\/infDPS\//);
      assert.ok(erro.linha > 0 && erro.coluna > 0);
      assert.equal(erro.doc_url, `${address}/docs/erros/${erro.codigo}`);
      // Examples that are equal appear once.
      assert.equal(erro.exemplo_ref, told.has(erro.codigo) ? undefined : `${erro.doc_url}#exemplos`);
      told.add(erro.codigo);
      assert.equal((await fetch(erro.doc_url)).status, 200);
    }
  });

  test('the duplicate carries the note that exists', async () => {
    const first = await issued();
    const again = await emit(address, exampleXml({ serie: '1', nDPS: String(lastNumber) }));
    assertEnvelope(again, 422, 'E0014');
    const [erro] = again.body.erros;
    assert.equal(erro.chave_acesso, first.body.chave_acesso);
    assert.equal(erro.numero_protocolo, first.body.numero_protocolo);
    assert.equal(erro.mesmo_conteudo, true);
    assert.match(again.body.mensagem, new RegExp(first.body.chave_acesso));
  });

  test('its time is that of the municipality', async () => {
    clock.now = Date.parse('2026-11-21T12:00:00-03:00');
    const sandbox = await request(address, `${API}/nfse/${NO_SUCH_KEY}`);
    assert.equal(sandbox.body.timestamp, '2026-11-21T12:00:00-03:00');
    const acre = await request(address, `/rio-branco/api/v1/nfse/${NO_SUCH_KEY}`);
    assert.equal(acre.body.timestamp, '2026-11-21T10:00:00-05:00');
  });

  test('the address in it is the one that the caller used, or none of its making', async () => {
    const docUrl = async (where: string, headers: string): Promise<string> => {
      const text = await raw(`GET ${API}/nfse/1 HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`, where);
      return parsed(text).body.erros[0].doc_url;
    };
    assert.equal(
      await docUrl(address, 'Host: nfse.exemplo.gov.br:8443'),
      'http://nfse.exemplo.gov.br:8443/docs/erros/E301',
    );
    assert.equal(await docUrl(address, 'Host: [::1]:80'), 'http://[::1]:80/docs/erros/E301');
    for (const host of ['a/b', 'a@b', '<script>', 'a b', 'x'.repeat(300), '', 'a:b:c', 'exemplo.org?x']) {
      assert.equal(await docUrl(address, `Host: ${host}`), `${address}/docs/erros/E301`, host);
    }
    const forwarded = 'Host: dentro\r\nX-Forwarded-Host: fora.gov.br\r\nX-Forwarded-Proto: https';
    assert.equal(await docUrl(address, forwarded), 'http://dentro/docs/erros/E301');
    assert.equal(await docUrl(await door({ trustProxy: true }), forwarded), 'https://fora.gov.br/docs/erros/E301');
    const fixed = await door({ baseUrl: 'https://nfse.exemplo.gov.br/servico' });
    assert.equal(await docUrl(fixed, forwarded), 'https://nfse.exemplo.gov.br/servico/docs/erros/E301');
  });
});

describe('when something fails', () => {
  const failing = (error: Error): Partial<World> => ({
    store: { ...store, notas: { ...store.notas, findByChave: () => Promise.reject(error) } },
  });

  test('500 E999: the log has all of it, the caller the request id', async () => {
    const secret = new Error('select senha from tabela_interna');
    const before = service.logged.length;
    const where = await door({}, failing(secret));
    const headers = { 'X-Request-Id': 'meu-pedido.1' };
    const answer = await request(where, `${API}/nfse/${NO_SUCH_KEY}`, { headers });
    assertEnvelope(answer, 500, 'E999');
    assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
    const id = answer.headers.get('x-request-id')!;
    assert.ok(answer.body.detalhes.includes(id) && !JSON.stringify(answer.body).includes('meu-pedido'));
    assert.doesNotMatch(JSON.stringify(answer.body), /senha|tabela|at .*\.ts/);
    const entry = service.logged.slice(before).find(({ message }) => message === 'uma requisição falhou');
    const { err, request: logged } = entry!.about as { err: Error; request: string };
    assert.deepEqual([err, logged], [secret, id]);
  });

  test('503 E703: when it is the database that is gone; the municipality is still known', async () => {
    const gone = (): Promise<never> => Promise.reject(new Error('connection refused'));
    const changed = { ...store, municipios: { ...store.municipios }, notas: { ...store.notas } };
    const where = await door({}, { store: changed });
    assert.equal((await request(where, `${API}/nfse/${NO_SUCH_KEY}`)).status, 404);
    changed.ping = changed.municipios.findBySlug = changed.notas.findByChave = gone;
    for (const path of [`${API}/nfse/${NO_SUCH_KEY}`, `${API}/nada`]) {
      const answer = await request(where, path);
      assertEnvelope(answer, 503, 'E703');
      assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
      assert.equal(answer.headers.get('retry-after'), '5');
    }
  });

  test('503 E703: too many at once; of rehearsals alone, which take no place of production', async () => {
    let open = (): void => undefined;
    const gate = new Promise<undefined>((resolve) => {
      open = () => resolve(undefined);
    });
    let underWay = 0;
    const findByChave: typeof store.notas.findByChave = (tenant, chave) => {
      if (tenant === 'rio-branco') return store.notas.findByChave(tenant, chave);
      underWay += 1;
      return gate;
    };
    const where = await door({ accessLog: false }, { store: { ...store, notas: { ...store.notas, findByChave } } });
    // Each request has its own connection, since those of one connection are handled in turn.
    const many = Array.from({ length: SALAS.pedidos.homologacao }, () => request(where, `${API}/nfse/${NO_SUCH_KEY}`));
    await untilTrue(() => underWay === SALAS.pedidos.homologacao, 'all places of rehearsals are taken');
    const answer = await request(where, `${API}/nfse/${NO_SUCH_KEY}`);
    assertEnvelope(answer, 503, 'E703');
    assert.equal(answer.headers.get('retry-after'), '1');
    assert.equal((await request(where, '/health/live')).status, 200);
    assertEnvelope(await request(where, `/rio-branco/api/v1/nfse/${NO_SUCH_KEY}`), 404, 'E301', 'chave_acesso');
    open();
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    // Concurrent failed requests are limited to the allowance of a minute too.
    assert.deepEqual([...new Set(statuses)].sort(), [404, 429]);
  });
});

describe('production', () => {
  test('says so, and issues nothing unsigned', async () => {
    const answer = await request(address, '/rio-branco/api/v1/nfse/v101', {
      method: 'POST',
      headers: XML,
      body: exampleXml({}),
    });
    assertEnvelope(answer, 422, 'E901');
    assert.equal(answer.headers.get('x-nfse-ambiente'), 'producao');
  });

  test('the query by DPS wants a party of the note; whether there is one, anybody may ask', async () => {
    const path = '/rio-branco/api/v1/dps/DPS355030821122233300018100001000000000000001';
    const answer = await request(address, path);
    assertEnvelope(answer, 401, 'E9007');
    assert.match(answer.body.mensagem, /certificado/);
    assert.equal((await request(address, path, { method: 'HEAD' })).status, 404);
  });
});

describe('the request id', () => {
  /** The log record of a request, by the id of its answer. */
  async function logOf(where: string, headers: Record<string, string>): Promise<Record<string, unknown>> {
    const answer = await request(where, '/docs/erros?q=1', { headers });
    const id = answer.headers.get('x-request-id')!;
    assert.match(id, /^[0-9a-f-]{36}$/);
    const found = service.logged.find(({ about }) => (about as { request?: string }).request === id);
    return found!.about as Record<string, unknown>;
  }

  test('is ours; the one that was sent stands beside it in the log, when it is fit to', async () => {
    for (const sent of ['a', 'A-1_b.c', 'x'.repeat(64)]) {
      const { client_request, client } = await logOf(address, { 'X-Request-Id': sent });
      assert.deepEqual([client_request, client], [sent, '127.0.0.1']);
    }
    for (const sent of ['', 'a b', 'x'.repeat(65), '<script>', 'a,b', '{"tenant":"outro"}']) {
      assert.equal((await logOf(address, { 'X-Request-Id': sent }))['client_request'], undefined);
    }
  });

  test('stands in the log with what came of the request, and with nothing that is of anybody', async () => {
    const told = async (init: RequestInit, path = '/integracao/api/v1/nfse/v101'): Promise<unknown> => {
      const answer = await request(address, path, { method: 'POST', headers: XML, ...init });
      const id = answer.headers.get('x-request-id');
      const line = await until(
        async () => service.logged.find(({ about }) => (about as { request?: string }).request === id),
        'the line is written',
      );
      const { status, erro, nota, evento, ...rest } = line.about as Record<string, unknown>;
      assert.deepEqual(Object.keys(rest).sort(), [
        ...['client', 'client_request', 'method', 'ms', 'request', 'route', 'tenant'],
      ]);
      if (answer.status === 201 && !path.includes('eventos')) chave = answer.body.chave_acesso;
      return [status, erro, nota, evento];
    };
    let chave = '';
    const serie = '4716';
    const issued = (await told({ body: exampleXml({ serie, nDPS: '1' }) })) as readonly unknown[];
    // The access key has the number of the note after the provider's document.
    assert.deepEqual(issued, [201, undefined, String(Number(chave.slice(23, 36))), undefined]);
    assert.deepEqual(await told({ body: exampleXml({ serie, nDPS: '1' }) }), [422, 'E0014', undefined, undefined]);
    assert.deepEqual(await told({ body: '<' }), [422, 'E201', undefined, undefined]);
    assert.deepEqual(await told({ method: 'GET' }, '/integracao/api/v1/nfse/1'), [404, 'E301', undefined, undefined]);
  });

  test('of a probe no line is written but for who debugs', async () => {
    const lines: [string, string][] = [];
    const at = (level: string) => (about: object, message: string) =>
      void (message === 'request' && lines.push([level, (about as { route: string }).route]));
    const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
    const where = await door({}, { log });
    for (const path of ['/health/ready', '/health/live', '/docs/erros']) await request(where, path);
    await untilTrue(() => lines.length >= 3, 'all are written');
    assert.deepEqual(lines, [
      ['debug', '/health/ready'],
      ['debug', '/health/live'],
      ['info', '/docs/erros'],
    ]);
  });

  test('and the address of the client are told of every request, by the word of the trusted proxy alone', async () => {
    const forwarded = { 'X-Forwarded-For': '192.0.2.1, 198.51.100.7' };
    assert.equal((await logOf(address, forwarded))['client'], '127.0.0.1');
    const trusting = await door({ trustProxy: true });
    assert.equal((await logOf(trusting, forwarded))['client'], '198.51.100.7');
    for (const [word, client] of [
      ['::ffff:192.0.2.9', '192.0.2.9'],
      [`fe80::1%${'a'.repeat(2_000)}`, 'fe80::1'],
      ['2001:db8::1', '2001:db8::1'],
      ['nobody', '127.0.0.1'],
      ['192.0.2.1:443', '192.0.2.1'],
      ['[2001:db8::1]:443', '2001:db8::1'],
      ['192.0.2.1:https', '127.0.0.1'],
      ['192.0.2.1.9:443', '127.0.0.1'],
    ] as const) {
      assert.equal((await logOf(trusting, { 'X-Forwarded-For': word }))['client'], client);
    }
    // Requests without a route, and bytes that are not HTTP, are logged too.
    const before = service.logged.length;
    await request(address, '/nada');
    await raw('NADA\r\n\r\n');
    const requests = () => service.logged.slice(before).filter(({ message }) => message === 'request');
    // A log line is written once the answer is sent.
    await untilTrue(() => requests().length >= 2, 'both are logged');
    assert.deepEqual(
      requests().map(({ about }) => [(about as { client: string }).client, (about as { status: number }).status]),
      [
        ['127.0.0.1', 404],
        ['127.0.0.1', 400],
      ],
    );
  });
});

/** Sends so many requests on one connection, without waiting, and waits for the last answer. */
async function pipelined(where: string, path: string, client: string, times: number): Promise<void> {
  const { hostname, port } = new URL(where);
  const socket = connect(Number(port), hostname);
  const one = `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nX-Forwarded-For: ${client}\r\n`;
  socket.write(`${one}\r\n`.repeat(times - 1));
  socket.write(`${one}Connection: close\r\n\r\n`);
  const answers = await text(socket);
  assert.equal(answers.match(/HTTP\/1\.1 (404|429) /g)?.length, times);
}

describe('requests one behind the other on one connection (D-289)', () => {
  const ask = (words: string, headers = ''): string =>
    `GET /docs/erros?q=${words} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
  const opened = async (where: string): Promise<Socket> => {
    const { hostname, port } = new URL(where);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return socket;
  };
  const answersIn = (text: string): number => text.match(/^HTTP\/1\.1 /gm)?.length ?? 0;

  test('keep nobody else waiting until all of them are answered, and are answered in their order', async () => {
    const asked: unknown[] = [];
    const note = (about: Record<string, unknown>): void => {
      // Another client sends its request as soon as the first of them was answered.
      if (asked.push(about['client_request']) === 1) one.write(ask('e', 'X-Request-Id: another\r\n'));
    };
    const where = await door({}, { log: { info: note, warn: note, error: note } });
    const [many, one] = [await opened(where), await opened(where)];
    const told = text(many);
    many.write(ask('e').repeat(60) + ask('e', 'Connection: close\r\nX-Request-Id: last\r\n'));
    await once(one, 'data');
    one.destroy();
    assert.equal(answersIn(await told), 61);
    assert.equal(asked.filter((id) => id !== 'another').at(-1), 'last');
    assert.ok(asked.indexOf('another') < asked.indexOf('last'), 'all were answered first');
  });

  test('are kept up to a number; what is beyond is left to be sent again', async () => {
    const socket = await opened(await door());
    let told = '';
    socket
      .setEncoding('latin1')
      .on('data', (chunk: string) => (told += chunk))
      .on('error', () => undefined);
    socket.write(ask('e').repeat(PIPELINED_MAX * 3));
    await once(socket, 'close');
    const answers = answersIn(told);
    assert.ok(answers >= 1 && answers <= PIPELINED_MAX + 1, String(answers));
    assert.equal(told.match(/^Connection: close/gim)?.length, 1);
  });
});

describe('misses (D-40)', () => {
  const miss = (where: string, client: string, path = `nfse/${NO_SUCH_KEY}`): Promise<Answer> =>
    request(where, `${API}/${path}`, { headers: { 'X-Forwarded-For': client } });

  test('429 after a minute’s worth, for keys and protocols alike; nobody loses what exists', async (t) => {
    const where = await door({ trustProxy: true });
    const clock = monotonicClock(t);
    const { body } = await issued();
    const found = (client: string): Promise<Answer> => miss(where, client, `nfse/${body.chave_acesso}`);
    for (let count = 0; count < 60; count += 1) {
      const path = count % 2 === 0 ? `nfse/${NO_SUCH_KEY}` : 'nfse/protocolo/1';
      assert.equal((await miss(where, 'forjado, 192.0.2.1', path)).status, 404, `miss ${count}`);
    }
    const answer = await miss(where, '192.0.2.1');
    assertEnvelope(answer, 429, 'E703');
    assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
    // The limit is sixty a minute: the next one is allowed in a second.
    assert.equal(answer.headers.get('retry-after'), '1');
    for (const client of ['192.0.2.1', '192.0.2.2']) assert.equal((await found(client)).status, 200, client);
    clock.passMs(999);
    assert.equal((await miss(where, '192.0.2.1')).status, 429);
    clock.passMs(1);
    assert.equal((await miss(where, '192.0.2.1')).status, 404);
    assert.equal((await miss(where, '192.0.2.1')).status, 429);
  });

  test('an address that misses ten times a second takes nothing from anybody, behind the same address or another', async (t) => {
    const where = await door({ trustProxy: true });
    const clock = monotonicClock(t);
    const { body, idDps } = await issued();
    const own = [
      `nfse/${body.chave_acesso}`,
      `nfse/protocolo/${body.numero_protocolo}`,
      `nfse/${body.chave_acesso}/eventos`,
      `dps/${idDps}`,
    ];
    const told = new Map<number, number>();
    for (let count = 0; count < 300; count += 1) {
      const { status } = await miss(where, '192.0.2.1');
      told.set(status, (told.get(status) ?? 0) + 1);
      clock.passMs(100);
      if (count % 10 !== 0) continue;
      const path = own[(count / 10) % own.length]!;
      for (const client of ['192.0.2.1', '192.0.2.9'])
        assert.equal((await miss(where, client, path)).status, 200, path);
    }
    // Sixty are allowed at once, and one more each second of the half minute.
    assert.deepEqual([...told.keys()].toSorted(), [404, 429]);
    assert.ok(told.get(404)! >= 89 && told.get(404)! <= 90, `${told.get(404)} were told`);
  });

  test('an event of a note that exists is registered beside them; of one that does not, it is a miss', async (t) => {
    const where = await door({ trustProxy: true });
    monotonicClock(t);
    const { body } = await issued();
    const client = '192.0.2.1';
    const event = (chave: string): Promise<Answer> =>
      request(where, `${API}/nfse/${chave}/eventos`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': client },
        body: '{"tipo_evento":"rejeicao_tomador","codigo_motivo_rejeicao":"3"}',
      });
    for (let count = 0; count < 60; count += 1) assert.equal((await miss(where, client)).status, 404);
    assertEnvelope(await event(NO_SUCH_KEY), 429, 'E703');
    assert.equal((await event(body.chave_acesso)).status, 201);
  });

  test('X-Forwarded-For is believed only when it was said so', async (t) => {
    const where = await door();
    monotonicClock(t);
    for (let count = 0; count < 60; count += 1) assert.equal((await miss(where, `192.0.2.${count}`)).status, 404);
    assert.equal((await miss(where, '192.0.2.60')).status, 429);
  });

  test('who finds what it asks for is never slowed down, and asking for a DPS costs little', async (t) => {
    const where = await door();
    monotonicClock(t);
    const { body } = await issued();
    for (let count = 0; count < 100; count += 1) {
      assert.equal((await request(where, `${API}/nfse/${body.chave_acesso}`)).status, 200);
      const head = await request(where, `${API}/dps/${NO_SUCH_DPS}`, { method: 'HEAD' });
      assert.equal(head.status, 404);
    }
  });

  const ownMisses = (now: () => number) =>
    countMisses(now, { misses: openBuckets(now, KEYS_MAX.misses), looks: openBuckets(now, KEYS_MAX.looks) });

  test('the bucket: refills, forgets, and knows networks', async () => {
    let now = 0;
    const misses = ownMisses(() => now);
    const missed = async (client: string, times = 1): Promise<number | undefined> =>
      (await Promise.all(Array.from({ length: times }, () => misses.count(client, 1)))).at(-1)?.waitS;
    assert.equal(await missed('192.0.2.1', 60), undefined);
    assert.equal(await missed('192.0.2.1'), 1);
    assert.equal(await missed('::ffff:192.0.2.1'), 1);
    assert.equal(await missed('192.0.2.2'), undefined);
    // Failed requests that were refused do not count.
    assert.equal(await missed('192.0.2.1', 1_000), 1);
    now += 1_000;
    assert.equal(await missed('192.0.2.1'), undefined);
    assert.equal(await missed('2001:db8::1', 60), undefined);
    for (const same of ['2001:db8::2', '2001:db8:0:0:ffff::', '2001:db8:0:0:1:2:3:4'])
      assert.equal(await missed(same), 1, same);
    assert.equal(await missed('2001:db8:0:1::1'), undefined);
    // A /48 has the allowance of sixteen networks.
    for (let network = 2; network < 17; network += 1)
      assert.equal(await missed(`2001:db8:0:${network}::1`, 59), undefined);
    assert.equal(await missed('2001:db8:0:ffff::1', 14), undefined);
    assert.equal(await missed('2001:db8:0:eeee::1'), 1);
    assert.equal(await missed('2001:db8:1::1'), undefined);
    assert.equal(await missed('::ffff:c000:201', 2), 1);
    for (let count = 0; count < 10_000; count += 1)
      await missed(`10.${count >> 16}.${(count >> 8) & 255}.${count & 255}`);
    assert.equal(await missed('2001:db8::2'), undefined);
  });

  test('who misses beyond all measure is looked up for in turn, until a while has passed', async () => {
    let now = 0;
    const misses = ownMisses(() => now);
    const client = '192.0.2.1';
    for (let count = 0; count < 60 + LOOKS_MAX - 1; count += 1) await misses.count(client, 1);
    assert.equal(misses.turnOf(client), 0);
    await misses.count(client, 1);
    // The limit is a hundred a second, and a backlog of ten seconds.
    const turns = Array.from({ length: 1_001 }, () => misses.turnOf(client));
    assert.deepEqual(turns, [...Array.from({ length: 1_000 }, (_, place) => (place + 1) * 10), undefined]);
    assert.equal(misses.turnOf('192.0.2.2'), 0);
    now += 10;
    assert.deepEqual([misses.turnOf(client), misses.turnOf(client)], [10_000, undefined]);
    now += 10_000;
    assert.equal(misses.turnOf(client), 0);
  });

  test('and then what exists is answered all the same, and an event registered', async (t) => {
    // The database is not queried six thousand times for a missing note.
    const findByChave: typeof store.notas.findByChave = async (tenant, chave) =>
      chave === NO_SUCH_KEY ? undefined : store.notas.findByChave(tenant, chave);
    const where = await door({ trustProxy: true }, { store: { ...store, notas: { ...store.notas, findByChave } } });
    monotonicClock(t);
    const { body } = await issued();
    const client = '192.0.2.1';
    // The number of concurrent requests stays below the limit for all clients.
    for (let asked = 0; asked < 60 + LOOKS_MAX; asked += 101) {
      await pipelined(where, `${API}/nfse/${NO_SUCH_KEY}`, client, Math.min(101, 60 + LOOKS_MAX - asked));
    }
    assert.equal((await miss(where, client)).status, 429);
    assert.equal((await miss(where, client, `nfse/${body.chave_acesso}`)).status, 200);
    assert.equal((await miss(where, '192.0.2.2', `nfse/${body.chave_acesso}`)).status, 200);
    const event = await request(where, `${API}/nfse/${body.chave_acesso}/eventos`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': client },
      body: '{"tipo_evento":"rejeicao_tomador","codigo_motivo_rejeicao":"3"}',
    });
    assert.equal(event.status, 201, JSON.stringify(event.body));
  });
});

describe('the access log', () => {
  test('one line a request, with the pattern and never the path', async () => {
    const lines: { about: Record<string, unknown>; message: string }[] = [];
    const note = (about: object, message: string): void => void lines.push({ about: { ...about }, message });
    const log = { info: note, warn: note, error: note };
    const where = await door({}, { log });
    const { body } = await emit(where, exampleXml({ serie: '2', nDPS: '1' }));
    await request(where, `${API}/nfse/${body.chave_acesso}?x=${body.chave_acesso}`);
    await request(where, `${API}/nada/${body.chave_acesso}`);
    await raw('lixo\r\n\r\n', where);
    const told = lines.map(({ about }) => [about['method'], about['route'], about['status'], about['tenant']]);
    assert.deepEqual(told, [
      ['POST', '/:municipio/api/v1/nfse/v101', 201, 'integracao'],
      ['GET', '/:municipio/api/v1/nfse/:chave_acesso', 200, 'integracao'],
      ['GET', undefined, 404, 'integracao'],
      ['', undefined, 400, undefined],
    ]);
    assert.doesNotMatch(JSON.stringify(lines), new RegExp(`${body.chave_acesso}|${body.numero_protocolo}|11222333`));
    for (const { about } of lines) assert.ok(typeof about['ms'] === 'number' && typeof about['request'] === 'string');
  });

  test('can be switched off', async () => {
    const lines: string[] = [];
    const note = (_about: object, message: string): void => void lines.push(message);
    const where = await door({ accessLog: false }, { log: { info: note, warn: note, error: note } });
    await request(where, `${API}/nfse/1`);
    assert.deepEqual(lines, []);
  });
});

describe('closing', () => {
  test('what is under way finishes, nothing new comes in, and readiness says so', async () => {
    let isAsked = false;
    let answerIt = (): void => undefined;
    const answered = new Promise<undefined>((resolve) => {
      answerIt = () => resolve(undefined);
    });
    const findByChave = (): Promise<undefined> => {
      isAsked = true;
      return answered;
    };
    const slow = { ...store, notas: { ...store.notas, findByChave } };
    const opened = await createRestDoor(
      { ...world, store: slow },
      { host: 'localhost', port: 0, trustProxy: false, accessLog: false },
    );
    const [idle, busy, asking] = [await dial(opened.address), await dial(opened.address), await dial(opened.address)];
    const [answer, readiness] = [collect(busy), collect(asking)];
    await new Promise((resolve) => asking.write('GET /health/ready HTTP/1.1\r\nHost: x\r\n', resolve));
    busy.write(`GET ${API}/nfse/${NO_SUCH_KEY} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await untilTrue(() => isAsked, 'the request is under way');
    // The bytes sent before are read by the time that other requests are answered.
    for (let times = 0; times < 3; times += 1) await request(opened.address, '/health/live');
    const gone = Promise.all([idle, busy, asking].map(closing));
    const closed = opened.close();
    asking.write('\r\n');
    await untilTrue(() => wholeAnswersIn(readiness.text).length === 1, 'readiness is answered');
    answerIt();
    await Promise.all([gone, closed]);
    assertEnvelope(parsed(answer.text), 404, 'E301', 'chave_acesso');
    assert.equal(parsed(answer.text).headers.get('connection'), 'close');
    assertEnvelope(parsed(readiness.text), 503, 'E703');
    await assert.rejects(fetch(`${opened.address}/health/live`));
  });
});

describe('what takes a minute', () => {
  test('an unwanted body that stops coming ends with its connection', async () => {
    const { text } = await stoppedBody;
    assert.match(text, /^HTTP\/1\.1 413 /);
  });
});
