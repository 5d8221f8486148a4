/** Whether an address wants messages: the question before the proof, the proof, and the end of an address without one. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { cnpjCheckDigits } from '../../../test/support/cnpj.ts';
import { countCalls } from '../../../test/support/counted-calls.ts';
import { desafioOf } from '../../../test/support/desafio.ts';
import { bindCall, emit, request } from '../../../test/support/http.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startTestService } from '../../../test/support/service.ts';
import { unlessStoodStill } from '../../../test/support/standstill.ts';
import { until } from '../../../test/support/until.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { avisoPoster } from './post.job.ts';
import { AVISO_CONFIRMAR_POR_MINUTO, AVISO_CONFIRMAR_S } from './tempos.ts';

const TENANT = 'integracao';
const API = `/${TENANT}/api/v1`;

const service = await startTestService();
const { address, clock, world } = service;
const looks = countCalls(service.store, 'listDue');

/** The answer to a question. */
type Answer = { readonly status: number; readonly body?: string };
type Answering = (desafio: string, text: string) => Answer;

/** A server at an address. `answering`: undefined hangs. */
async function place(answering: Answering) {
  const seen: {
    readonly isQuestion: boolean;
    readonly type: string;
    readonly bytes: number;
    readonly chave?: string;
  }[] = [];
  let [connections, own] = [0, answering];
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    incoming.on('end', () => {
      const desafio = desafioOf(text);
      const { type, data } = JSON.parse(text);
      const bytes = Buffer.byteLength(incoming.rawHeaders.join('')) + Buffer.byteLength(text);
      seen.push({ isQuestion: desafio !== undefined, type, bytes, chave: data.chave_acesso });
      const { status, body } = own(desafio ?? '', text);
      response.writeHead(status).end(body);
    });
  });
  server.on('connection', () => (connections += 1));
  const port = await ownPort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    ...{ port, seen, url: (path = '/') => `http://127.0.0.1:${port}${path}` },
    answer: (then: Answering) => (own = then),
    connections: () => connections,
    closeConnections: () => server.closeAllConnections(),
    questions: () => seen.filter(({ isQuestion }) => isQuestion).length,
    told: () => seen.filter(({ isQuestion }) => !isQuestion),
  };
}

const yes: Answering = (desafio) => (desafio === '' ? { status: 204 } : { status: 200, body: desafio });

const call = bindCall(address, API);

let raiz = 30_000_000;
/** A party with a document of its own; the sandbox asks for no proof of identity. Its questions come in a minute of their own. */
async function party() {
  clock.now += 61_000;
  raiz += 1;
  const documento = cnpjCheckDigits(String(raiz));
  const { token } = (await call('POST', 'token', undefined, { documento, escopos: ['consultar', 'webhooks'] })).body;
  const register = async (url: string, more: object = {}) => {
    const { status, body } = await call('POST', 'webhooks', token, { url, ...more });
    assert.equal(status, 201, JSON.stringify(body));
    return body.webhook as { readonly id: string; readonly estado: string };
  };
  const look = async (id: string) => (await call('GET', `webhooks/${id}`, token)).body.webhook;
  const untilState = (id: string, estado: string) =>
    until(async () => ((await look(id)).estado === estado ? look(id) : undefined), `${id} is ${estado}`);
  const removeAll = async (): Promise<void> => {
    for (const { id } of (await call('GET', 'webhooks', token)).body.webhooks)
      await call('DELETE', `webhooks/${id}`, token);
  };
  return { documento, token, register, look, untilState, removeAll };
}

let numero = 500;
async function issue(prestador: string): Promise<string> {
  numero += 1;
  const { status, body } = await emit(address, exampleXml({ nDPS: String(numero), 'prest/CNPJ': prestador }));
  assert.equal(status, 201, JSON.stringify(body));
  return body.chave_acesso;
}

/** Due deliveries are sent: at the next look but one, all that the first look found is under way. */
async function untilLookedAt(): Promise<void> {
  for (let look = 0; look < 3; look += 1) {
    const looked = looks(1);
    world.wake(TENANT);
    await looked;
  }
}

describe('an address that nobody asked for messages', () => {
  const SAYS: Readonly<Record<string, Answering>> = {
    'says nothing': () => ({ status: 204 }),
    'takes all that comes': () => ({ status: 200, body: 'ok' }),
    'gives back all that it gets': (_, text) => ({ status: 200, body: text }),
    'gives back all that it gets within more': (_, text) => ({
      status: 200,
      body: JSON.stringify({ data: text, json: JSON.parse(text) }),
    }),
    'has no such page': () => ({ status: 404 }),
    'has the value, and refuses': (desafio) => ({ status: 403, body: desafio }),
    'is broken': () => ({ status: 500 }),
    'says so in a long text': (desafio) => ({ status: 200, body: `${desafio}${' '.repeat(4_000)}` }),
  };
  test('gets a question for each that registers it, and nothing of all that is issued and tried', async (t) => {
    for (const [what, answering] of Object.entries(SAYS)) {
      const victim = await place(answering);
      const one = await party();
      const all: Awaited<ReturnType<typeof one.register>>[] = [];
      for (let at = 0; at < 10; at += 1) all.push(await one.register(victim.url(`/${at}`)));
      assert.deepEqual([...new Set(all.map(({ estado }) => estado))], ['pendente']);
      await until(async () => victim.questions() === 10 || undefined, `${what}: each is asked`);
      await until(
        async () =>
          (await Promise.all(all.map(({ id }) => one.look(id)))).every(({ falhas }) => falhas === 1) || undefined,
        'it is written',
      );
      for (let at = 0; at < 2; at += 1) await issue(one.documento);
      await untilLookedAt();
      assert.deepEqual([victim.questions(), victim.told().length], [10, 0], what);
      const { ultimo_problema, estado } = await one.look(all[0]!.id);
      assert.equal(estado, 'pendente');
      assert.match(ultimo_problema, /não confirmou que quer avisos: respondeu \d+/);
      const bytes = victim.seen.reduce((sum, seen) => sum + seen.bytes, 0);
      t.diagnostic(
        `${what}: 10 cadastros, 2 notas: ${victim.seen.length} POSTs, ${bytes} bytes, ${victim.connections()} conexões`,
      );
      await one.removeAll();
    }
  });

  test('is asked at most so often in a minute, by all who register something there together', async () => {
    const victim = await place(() => ({ status: 404 }));
    const parties = [];
    for (let at = 0; at < 5; at += 1) parties.push(await party());
    clock.now += 61_000;
    for (const { register } of parties) for (let at = 0; at < 10; at += 1) await register(victim.url(`/${at}`));
    await until(async () => victim.questions() >= AVISO_CONFIRMAR_POR_MINUTO || undefined, 'those of a minute');
    await untilLookedAt();
    assert.equal(victim.questions(), AVISO_CONFIRMAR_POR_MINUTO);
    // An address that waits has no failure.
    const failed = (
      await Promise.all(parties.map(async ({ token }) => (await call('GET', 'webhooks', token)).body.webhooks))
    )
      .flat()
      .filter(({ falhas }) => falhas > 0);
    assert.equal(failed.length, AVISO_CONFIRMAR_POR_MINUTO);
    for (const { removeAll } of parties) await removeAll();
  });

  test('is asked after the published times, and then no more until its owner switches it on', async () => {
    const victim = await place(() => ({ status: 204 }));
    const one = await party();
    const { id } = await one.register(victim.url());
    for (const [place, seconds] of AVISO_CONFIRMAR_S.entries()) {
      await until(async () => (await one.look(id)).falhas === place + 1 || undefined, `question ${place + 1}`);
      clock.now += seconds * 1_000 - 1;
      // A note that is issued meanwhile causes no question.
      await issue(one.documento);
      await untilLookedAt();
      assert.equal(victim.questions(), place + 1);
      clock.now += 1;
      world.wake(TENANT);
    }
    const off = await one.untilState(id, 'desligado');
    assert.deepEqual([off.ativo, victim.questions()], [false, AVISO_CONFIRMAR_S.length + 1]);
    assert.match(off.ultimo_problema, /sem o desafio \(data\.desafio\) como corpo; não se pergunta mais.*ligue/);
    clock.now += 86_400_000;
    await issue(one.documento);
    await untilLookedAt();
    assert.equal(victim.questions(), AVISO_CONFIRMAR_S.length + 1);
    victim.answer(yes);
    assert.equal((await call('PATCH', `webhooks/${id}`, one.token, { ativo: true })).body.webhook.estado, 'pendente');
    await one.untilState(id, 'ativo');
    await one.removeAll();
  });
});

describe('an address that wants messages', () => {
  const WAYS: Readonly<Record<string, Answering>> = {
    'as the body': yes,
    'with the end of a line': (desafio) => ({ status: 201, body: `${desafio}\r\n` }),
    'as JSON': (desafio) => ({ status: 200, body: JSON.stringify(desafio) }),
    'in an object': (desafio) => ({ status: 200, body: JSON.stringify({ desafio }) }),
  };
  test('says so in any of these ways, and gets what changed since it was registered', async () => {
    for (const [what, answering] of Object.entries(WAYS)) {
      const here = await place(() => ({ status: 503 }));
      const one = await party();
      const { id } = await one.register(here.url());
      await until(async () => (await one.look(id)).falhas === 1 || undefined, 'it was not ready');
      const chave = await issue(one.documento);
      here.answer((desafio, text) => (desafio === '' ? { status: 204 } : answering(desafio, text)));
      // A trial causes a question at once.
      await call('POST', `webhooks/${id}/ensaio`, one.token);
      await until(async () => here.told().length === 4 || undefined, `${what}: all of it comes`);
      assert.equal(here.questions(), 2);
      assert.deepEqual(
        here
          .told()
          .map(({ type }) => type)
          .toSorted(),
        ['ensaio', 'nota.autorizada', 'nota.emitida', 'nota.transmitida'],
      );
      assert.equal(here.told().filter(({ chave: of }) => of === chave).length, 3);
      const { estado, falhas } = await one.look(id);
      assert.deepEqual([estado, falhas], ['ativo', 0]);
      await one.removeAll();
    }
  });

  test('proves it anew when it is another, or had said that it wants none', async () => {
    const [here, there] = [await place(yes), await place(() => ({ status: 204 }))];
    const one = await party();
    const { id } = await one.register(here.url());
    await one.untilState(id, 'ativo');
    const same = await call('PATCH', `webhooks/${id}`, one.token, { url: here.url(), descricao: 'ERP' });
    assert.equal(same.body.webhook.estado, 'ativo');
    assert.equal(
      (await call('PATCH', `webhooks/${id}`, one.token, { url: there.url() })).body.webhook.estado,
      'pendente',
    );
    await until(async () => (await one.look(id)).falhas === 1 || undefined, 'it was asked');
    await issue(one.documento);
    await untilLookedAt();
    assert.deepEqual([there.questions(), there.told().length], [1, 0]);
    await call('PATCH', `webhooks/${id}`, one.token, { url: here.url() });
    await until(async () => here.told().length === 3 || undefined, 'what waited comes to the one that wants it');
    here.answer((desafio) => (desafio === '' ? { status: 410 } : { status: 204 }));
    await issue(one.documento);
    await one.untilState(id, 'desligado');
    await call('PATCH', `webhooks/${id}`, one.token, { ativo: true });
    const asked = await until(
      async () => ((await one.look(id)).falhas === 1 ? one.look(id) : undefined),
      'it is asked',
    );
    assert.equal(asked.estado, 'pendente');
    await one.removeAll();
  });
});

test('messages go on the connection of the one before, also where the other side has closed it', () =>
  unlessStoodStill(async () => {
    const here = await place(yes);
    const post = avisoPoster({ isPrivateAllowed: true });
    const send = async (): Promise<void> => {
      const pedido = {
        id: 'wh_1',
        dono: 'integracao 11222333000181',
        url: here.url(),
        headers: {},
        corpo: '{"type":"ensaio","data":{}}',
        agora: clock.now,
      };
      assert.deepEqual(await post({ ...pedido, isEnsaio: true, isDesafio: false }), { status: 204 });
    };
    for (let count = 0; count < 20; count += 1) await send();
    assert.equal(here.connections(), 1);
    here.closeConnections();
    await send();
    assert.equal(here.connections(), 2);
  }));

describe('a host that fails', () => {
  test('is left alone by all whose addresses are there, and one message finds out that it is back', async () => {
    const here = await place(yes);
    const parties = [];
    for (let at = 0; at < 6; at += 1) {
      const one = await party();
      const { id } = await one.register(here.url(`/${at}`), { tipos: ['nota.autorizada'] });
      await one.untilState(id, 'ativo');
      parties.push(one);
    }
    here.answer(() => ({ status: 503 }));
    const [first, second, third, ...others] = parties;
    for (const one of [first!, second!, third!]) {
      const before = here.told().length;
      await issue(one.documento);
      await until(async () => here.told().length === before + 1 || undefined, 'it was tried');
    }
    const tried = here.told().length;
    for (const one of others) await issue(one.documento);
    await untilLookedAt();
    assert.equal(here.told().length, tried, 'nobody tries it again now');
    here.answer(yes);
    await until(async () => {
      clock.now += 5_000;
      world.wake(TENANT);
      return here.told().length >= tried + 6 || undefined;
    }, 'all of it comes');
    for (const one of parties) await one.removeAll();
  });
});

describe('an address that could never be told', () => {
  test('is refused when it is registered, and when it is changed, with the reason', async () => {
    const strict = await startTestService({ privateAvisos: false });
    const ask = (method: string, path: string, token: string | undefined, body: object) =>
      request(strict.address, `${API}/${path}`, {
        method,
        headers: { ...(token && { Authorization: `Bearer ${token}` }), 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    const { token } = (await ask('POST', 'token', undefined, { documento: '11222333000181', escopos: ['webhooks'] }))
      .body;
    const { id } = (await ask('POST', 'webhooks', token, { url: 'https://erp.exemplo.com.br/' })).body.webhook;
    for (const url of [
      ...[
        'http://erp.exemplo.com.br/',
        'https://127.0.0.1/',
        'https://10.0.0.1/',
        'https://2130706433/',
        'https://0x7f.1/',
      ],
      ...['https://[::1]/', 'https://[::ffff:8.8.8.8]/', 'https://[::ffff:0:8.8.8.8]/', 'https://[64:ff9b::808:808]/'],
      ...[
        'https://[64:ff9b:1::1]/',
        'https://[2002:808:808::1]/',
        'https://[2001:0:808:808::1]/',
        'https://[fd00::1]/',
      ],
      ...['https://[4000::1]/', 'https://[1::1]/', 'https://[fe80::1]/', 'https://[3fff::1]/', 'https://localhost/'],
      ...['https://erp/', 'https://erp.local/', 'https://erp.internal./', 'https://a.home.arpa/', 'https://x.test/'],
      ...['https://erp.exemplo.com.br:0/', `https://${'a'.repeat(64)}.com.br/`, 'https://169.254.169.254/latest'],
    ]) {
      for (const [method, path] of [
        ['POST', 'webhooks'],
        ['PATCH', `webhooks/${id}`],
      ] as const) {
        const { status, body } = await ask(method, path, token, { url });
        assert.deepEqual(
          [status, body.codigo_erro, body.campo],
          [400, 'E0002', 'url'],
          `${method} ${url}: ${JSON.stringify(body)}`,
        );
        assert.match(body.mensagem, /nunca seria avisado: .*(não é público|não é https|porta 0)/, url);
      }
    }
    for (const url of ['https://8.8.8.8/', 'https://[2804:14c::1]:8443/nfse', 'https://erp.exemplo.com.br./x']) {
      assert.equal((await ask('PATCH', `webhooks/${id}`, token, { url })).status, 200, url);
    }
  });
});
