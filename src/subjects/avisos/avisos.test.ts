/** Webhook messages to real receivers, whose signatures another implementation verifies, and to receivers that fail. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { onEnd } from '../../../test/support/cleanup.ts';
import { cnpjCheckDigits } from '../../../test/support/cnpj.ts';
import { confirmAvisos } from '../../../test/support/desafio.ts';
import { bindCall, emit } from '../../../test/support/http.ts';
import { LIFE } from '../../../test/support/integrador.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { isPublicAddress } from './enderecos.ts';
import { avisoPoster } from './post.job.ts';
import { AVISO_GUARDA_DIAS, AVISO_TENTATIVAS_S } from './tempos.ts';

const OUTRO = '88888888000191';
const TENANT = 'integracao';
const API = `/${TENANT}/api/v1`;

const service = await startTestService();
const { address, pool, clock } = service;

type Received = { readonly headers: IncomingHttpHeaders; readonly text: string; readonly at: number };

/** A receiver that keeps its messages. `answer`: status for the n-th message, from 0; undefined: it never answers. */
async function receiver(
  answer: (place: number, text: string) => number | undefined | Promise<number> = () => 204,
  at?: number,
) {
  const received: Received[] = [];
  let count = 0;
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk) => (text += chunk));
    incoming.on('end', async () => {
      if (confirmAvisos(text, response)) return;
      const answering = answer(count, text);
      count += 1;
      const status = await answering;
      if (status === undefined) return;
      if (status < 300) received.push({ headers: incoming.headers, text, at: Date.now() });
      response.writeHead(status, status === 302 ? { Location: 'http://127.0.0.1:1/' } : {}).end();
    });
  });
  // A receiver that went away comes back at its port.
  const port = at ?? (await ownPort());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onEnd(stop);
  return { url: `http://127.0.0.1:${port}/avisos`, port, received, stop, tried: () => count };
}

const call = bindCall(address, API);

async function tokenOf(documento: string, escopos: readonly string[] = ['consultar', 'webhooks']): Promise<string> {
  const { status, body } = await call('POST', 'token', undefined, { documento, escopos });
  assert.equal(status, 201, JSON.stringify(body));
  return body.token;
}

async function register(token: string, url: string, more: object = {}) {
  const { status, body } = await call('POST', 'webhooks', token, { url, ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.webhook.id as string, segredo: body.segredo as string };
}

function untilActive(token: string, id: string): Promise<unknown> {
  return until(async () => {
    const { estado, ultimo_problema } = (await call('GET', `webhooks/${id}`, token)).body.webhook;
    assert.equal(ultimo_problema, null);
    return estado === 'ativo' || undefined;
  }, 'it has said that it wants messages');
}

/** The verifier gets the time of the service's clock. */
function byTheClock(t: TestContext): void {
  t.mock.method(Date, 'now', () => clock.now);
}

let raiz = 20_000_000;
/** A provider for one test: messages about another test's notes may still be sent when it ends. */
function newPrestador(): string {
  raiz += 1;
  return cnpjCheckDigits(String(raiz));
}

let numero = 100;
async function issue(prestador: string): Promise<string> {
  numero += 1;
  const { status, body } = await emit(address, exampleXml({ nDPS: String(numero), 'prest/CNPJ': prestador }));
  assert.equal(status, 201, JSON.stringify(body));
  return body.chave_acesso;
}

const typesOf = (received: readonly Received[], chave: string): readonly string[] =>
  received
    .map(({ text }) => JSON.parse(text))
    .filter(({ data }) => data.chave_acesso === chave)
    .map(({ type }) => type);

describe('an address', () => {
  test('is told every change of a note in its order, under a signature that others verify', async (t) => {
    byTheClock(t);
    const prestador = newPrestador();
    const token = await tokenOf(prestador);
    const here = await receiver();
    const { segredo, id } = await register(token, here.url);
    const chave = await issue(prestador);
    await until(async () => (typesOf(here.received, chave).length === 3 ? true : undefined), 'three messages');
    assert.deepEqual(typesOf(here.received, chave), LIFE);
    const verifier = new Webhook(segredo);
    for (const { headers, text } of here.received) {
      const told = verifier.verify(text, headers as Record<string, string>) as { type: string; data: { id: string } };
      assert.equal(headers['webhook-id'], `${TENANT}.${told.data.id}`);
      assert.throws(() => verifier.verify(`${text} `, headers as Record<string, string>));
    }
    // The messages equal the changes that HTTP answers.
    const last = JSON.parse(here.received.at(-1)!.text);
    const { mudancas } = (await call('GET', 'mudancas?limite=10000', token)).body;
    assert.deepEqual(
      mudancas.find((one: { id: string }) => one.id === last.data.id),
      last.data,
    );
    await until(async () => {
      const { entregas } = (await call('GET', `webhooks/${id}/entregas?estado=entregue`, token)).body;
      return entregas.length === 3 || undefined;
    }, 'the log has them');
    assert.equal((await call('DELETE', `webhooks/${id}`, token)).status, 200);
  });

  test('has both secrets for a day when one takes the place of the other', async (t) => {
    byTheClock(t);
    const token = await tokenOf(newPrestador());
    const here = await receiver();
    const { segredo, id } = await register(token, here.url, { tipos: ['nota.cancelada'] });
    const changed = await call('POST', `webhooks/${id}/segredo`, token);
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    assert.notEqual(changed.body.segredo, segredo);
    assert.equal((await call('POST', `webhooks/${id}/ensaio`, token)).status, 200);
    await until(async () => here.received[0], 'the trial');
    const [{ text, headers }] = here.received as [Received];
    for (const each of [segredo, changed.body.segredo]) {
      assert.equal(
        (new Webhook(each).verify(text, headers as Record<string, string>) as { type: string }).type,
        'ensaio',
      );
    }
    await call('DELETE', `webhooks/${id}`, token);
  });

  test('is told what it asks for, and the note of somebody else is none of its', async () => {
    const prestador = newPrestador();
    const token = await tokenOf(prestador);
    const other = await tokenOf(OUTRO);
    const [here, there] = [await receiver(), await receiver()];
    const own = await register(token, here.url, { tipos: ['nota.autorizada'] });
    const alien = await register(other, there.url);
    const chave = await issue(prestador);
    await until(async () => here.received[0], 'the one message');
    assert.deepEqual(typesOf(here.received, chave), ['nota.autorizada']);
    assert.equal(there.received.length, 0);
    // Neither party sees or changes the other's address, and a token without this scope cannot either.
    const asking = await tokenOf(prestador, ['consultar']);
    for (const [method, path, body] of [
      ['GET', `webhooks/${own.id}`],
      ['PATCH', `webhooks/${own.id}`, { ativo: false }],
      ['DELETE', `webhooks/${own.id}`],
      ['POST', `webhooks/${own.id}/segredo`],
      ['POST', `webhooks/${own.id}/ensaio`],
      ['GET', `webhooks/${own.id}/entregas`],
      ['POST', `webhooks/${own.id}/reenvio`],
    ] as const) {
      assert.equal((await call(method, path, other, body)).status, 404, `${method} ${path}`);
      assert.equal((await call(method, path, asking, body)).status, 401, `${method} ${path}`);
      assert.equal((await call(method, path, undefined, body)).status, 401, `${method} ${path}`);
    }
    assert.equal((await call('GET', `webhooks?documento=${prestador}`, other)).status, 401);
    for (const [id, whose] of [
      [own.id, token],
      [alien.id, other],
    ] as const)
      await call('DELETE', `webhooks/${id}`, whose);
  });

  test('that fails gets all of it when it is back, in order, and keeps nobody waiting meanwhile', async () => {
    const prestador = newPrestador();
    const token = await tokenOf(prestador);
    const [well, down] = [await receiver(), await receiver()];
    const one = await register(token, well.url);
    const two = await register(token, down.url);
    await untilActive(token, two.id);
    await down.stop();
    const chaves = [await issue(prestador), await issue(prestador), await issue(prestador)];
    await until(async () => (well.received.length === 9 ? true : undefined), 'who is well has all');
    const failing = await until(async () => {
      const { webhook } = (await call('GET', `webhooks/${two.id}`, token)).body;
      return webhook.falhas >= 3 ? webhook : undefined;
    }, 'it is known to fail');
    assert.match(failing.ultimo_problema, /recusada/);
    const back = await receiver(() => 200, down.port);
    clock.now += 3_600_000;
    service.world.wake(TENANT);
    await until(async () => (back.received.length === 9 ? true : undefined), 'all of it came');
    for (const chave of chaves) assert.deepEqual(typesOf(back.received, chave), LIFE);
    assert.equal((await call('GET', `webhooks/${two.id}`, token)).body.webhook.falhas, 0);
    for (const { id } of [one, two]) await call('DELETE', `webhooks/${id}`, token);
  });

  test('that is switched on again is told at once what waited for a later attempt', async () => {
    const prestador = newPrestador();
    const token = await tokenOf(prestador);
    const down = await receiver();
    const { id } = await register(token, down.url);
    await untilActive(token, id);
    await down.stop();
    const chave = await issue(prestador);
    await until(async () => {
      const { webhook } = (await call('GET', `webhooks/${id}`, token)).body;
      return webhook.falhas > 0 || undefined;
    }, 'it is known to fail');
    await until(async () => {
      const { entregas } = (await call('GET', `webhooks/${id}/entregas`, token)).body;
      return entregas.length === 3 || undefined;
    }, 'all of it waits');
    const back = await receiver(() => 200, down.port);
    // The clock stands still, so no attempt comes by itself.
    assert.equal((await call('PATCH', `webhooks/${id}`, token, { ativo: true })).status, 200);
    await until(async () => (back.received.length === 3 ? true : undefined), 'all of it came');
    assert.deepEqual(typesOf(back.received, chave), LIFE);
    await call('DELETE', `webhooks/${id}`, token);
  });

  for (const answer of [500, 410]) {
    test(`that is switched on while a batch is under way, and answers it ${answer}, is told all at once, each once`, async () => {
      const prestador = newPrestador();
      const token = await tokenOf(prestador);
      const [isAsked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
      let isBack = false;
      const here = await receiver(() => {
        if (isBack) return 200;
        isAsked.resolve();
        return release.promise;
      });
      const { id } = await register(token, here.url);
      await untilActive(token, id);
      // The address has failed for long: it is tried with one message at a time, hours apart.
      await pool.query('update webhooks set falhas = 12 where id = $1', [id]);
      const chave = await issue(prestador);
      await isAsked.promise;
      await until(async () => {
        const { entregas } = (await call('GET', `webhooks/${id}/entregas`, token)).body;
        return entregas.length === 3 || undefined;
      }, 'all of it waits');
      assert.equal((await call('PATCH', `webhooks/${id}`, token, { ativo: true })).status, 200);
      isBack = true;
      release.resolve(answer);
      // The clock stands still, so no attempt comes by itself.
      await until(async () => (here.received.length === 3 ? true : undefined), 'all of it came');
      assert.deepEqual(typesOf(here.received, chave), LIFE);
      const { webhook } = await until(async () => {
        const { body } = await call('GET', `webhooks/${id}`, token);
        return body.pendentes === 0 ? body : undefined;
      }, 'nothing waits');
      assert.deepEqual([webhook.ativo, webhook.falhas], [true, 0]);
      assert.equal(here.tried(), 4);
      await call('DELETE', `webhooks/${id}`, token);
    });
  }

  test('that refuses one note alone is told the others, and that one after the published times', async () => {
    const prestador = newPrestador();
    const token = await tokenOf(prestador);
    let [poison, isMended] = ['', false];
    const here = await receiver((_place, text) => {
      // The first note that arrives is refused; it may arrive before its issuer knows its key.
      poison ||= JSON.parse(text).data.chave_acesso;
      return text.includes(poison) && !isMended ? 500 : 200;
    });
    const { id } = await register(token, here.url, { tipos: ['nota.autorizada'] });
    const refused = await issue(prestador);
    await until(async () => (here.tried() > 0 ? true : undefined), 'it was tried');
    assert.equal(poison, refused);
    const other = await issue(prestador);
    await until(async () => here.received[0], 'the other came');
    assert.deepEqual(typesOf(here.received, other), ['nota.autorizada']);
    // The answer for the other note is stored after the message arrived.
    const entrega = await until(async () => {
      const { entregas } = (await call('GET', `webhooks/${id}/entregas?estado=pendente`, token)).body;
      return entregas.length === 1 && entregas[0].tentativas > 0 ? entregas[0] : undefined;
    }, 'the one waits alone');
    assert.equal(entrega.tentativas, 1);
    assert.equal(Date.parse(entrega.proxima_tentativa) - clock.now, AVISO_TENTATIVAS_S[0]! * 1000);
    assert.deepEqual([entrega.registro[0].status, entrega.registro[0].problema], [500, null]);
    // The delivery is given up after three days, and sent again on request.
    clock.now += AVISO_GUARDA_DIAS.tentar * DAY_MS + 1_000;
    service.world.wake(TENANT);
    await until(async () => {
      const { mortas } = (await call('GET', `webhooks/${id}`, token)).body;
      return mortas === 1 || undefined;
    }, 'it is given up');
    isMended = true;
    assert.equal((await call('POST', `webhooks/${id}/reenvio`, token)).body.reenviadas, 1);
    await until(async () => (here.received.length === 2 ? true : undefined), 'it came in the end');
    await call('DELETE', `webhooks/${id}`, token);
  });

  test('that is gone is told nothing any more, and one that leads elsewhere is not followed', async () => {
    const prestador = newPrestador();
    const token = await tokenOf(prestador);
    const [gone, moved] = [await receiver(() => 410), await receiver(() => 302)];
    const one = await register(token, gone.url, { tipos: ['nota.emitida'] });
    const two = await register(token, moved.url, { tipos: ['nota.emitida'] });
    await issue(prestador);
    await until(async () => {
      const { webhook } = (await call('GET', `webhooks/${one.id}`, token)).body;
      return webhook.ativo === false || undefined;
    }, 'it is switched off');
    const left = (await call('GET', `webhooks/${one.id}/entregas`, token)).body.entregas;
    assert.deepEqual(
      left.map(({ estado }: { estado: string }) => estado),
      ['morta'],
      'nothing waits for it, and what did may be sent again',
    );
    for (const [before, expected] of [
      [clock.now - DAY_MS, 1],
      [clock.now + DAY_MS, 0],
    ] as const) {
      await service.store.entregas.forgetOff(TENANT, before);
      const { rows } = await pool.query('select 1 from entregas where webhook = $1', [one.id]);
      assert.equal(rows.length, expected);
    }
    const problem = await until(
      async () => (await call('GET', `webhooks/${two.id}`, token)).body.webhook.ultimo_problema ?? undefined,
      'it is told why',
    );
    assert.match(problem, /302.*endereço final/);
    for (const { id } of [one, two]) await call('DELETE', `webhooks/${id}`, token);
  });

  test('is refused with the reason where it is none', async () => {
    const token = await tokenOf(newPrestador());
    for (const [body, campo] of [
      [{}, 'url'],
      [{ url: 'ftp://erp.exemplo.com.br' }, 'url'],
      [{ url: 'https://ana:senha@erp.exemplo.com.br' }, 'url'],
      [{ url: 7 }, 'url'],
      [{ url: 'https://erp.exemplo.com.br', tipos: ['nota.paga'] }, 'tipos'],
      [{ url: 'https://erp.exemplo.com.br', ativo: true }, 'ativo'],
    ] as const) {
      const { status, body: answer } = await call('POST', 'webhooks', token, body);
      assert.deepEqual([status, answer.campo], [400, campo], JSON.stringify(answer));
    }
    for (let count = 0; count < 10; count += 1) await register(token, `https://erp${count}.exemplo.com.br/`);
    assert.equal((await call('POST', 'webhooks', token, { url: 'https://mais.exemplo.com.br/' })).status, 422);
    assert.equal((await call('GET', 'webhooks', token)).body.webhooks.length, 10);
    await pool.query('delete from webhooks where tenant = $1', [TENANT]);
  });
});

describe('an address inside', () => {
  test('is known as such, however it is written', () => {
    for (const inside of [
      ...[
        '127.0.0.1',
        '10.1.2.3',
        '172.20.0.1',
        '192.168.1.1',
        '169.254.169.254',
        '100.64.0.1',
        '0.0.0.0',
        '224.0.0.1',
      ],
      ...['255.255.255.255', '::1', '::', '::ffff:10.0.0.1', '::ffff:7f00:1', 'fe80::1', 'fe80::1%eth0', 'fd00::1'],
      ...['64:ff9b::a00:1', '2002:7f00:1::', 'ff02::1', '2001:db8::1', 'localhost', ''],
    ]) {
      assert.equal(isPublicAddress(inside), false, inside);
    }
    for (const outside of ['8.8.8.8', '200.160.2.3', '2001:12ff::1', '2804:14c::1', '172.32.0.1', '100.128.0.1']) {
      assert.equal(isPublicAddress(outside), true, outside);
    }
  });

  test('is sent nothing, whether it is named by number or by a name that leads there', async () => {
    const here = await receiver();
    const post = avisoPoster({ isPrivateAllowed: false });
    for (const url of [
      here.url,
      here.url.replace('http:', 'https:'),
      here.url.replace('http://127.0.0.1', 'https://localhost'),
      here.url.replace('http://127.0.0.1', 'https://2130706433'),
      here.url.replace('http://127.0.0.1', 'https://[::ffff:127.0.0.1]'),
    ]) {
      const answer = await post({
        id: 'wh_1',
        dono: 'integracao 11222333000181',
        url,
        headers: {},
        corpo: '{}',
        agora: clock.now,
        isEnsaio: false,
        isDesafio: false,
      });
      assert.ok(
        'problema' in answer && /não é (público|https)/.test(answer.problema),
        `${url} ${JSON.stringify(answer)}`,
      );
    }
    assert.equal(here.tried(), 0);
  });
});
