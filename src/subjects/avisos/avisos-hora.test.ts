/**
 * An address is away for an hour of the worker's clock. It recovers by the published times alone, and nobody switches it on again. The test
 * sets the clock; the database, the worker and the receiver are real. Another implementation verifies the signatures.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { mock, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { onEnd } from '../../../test/support/cleanup.ts';
import { countCalls } from '../../../test/support/counted-calls.ts';
import { confirmAvisos } from '../../../test/support/desafio.ts';
import { CANCELAMENTO } from '../../../test/support/eventos.ts';
import { ask, emit } from '../../../test/support/http.ts';
import { LIFE } from '../../../test/support/integrador.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const TENANT = 'integracao';
const API = `/${TENANT}/api/v1`;
const HOUR_S = 3_600;
/** Times of docs/site/webhooks.md, in seconds: between attempts of a message, and the most between attempts of a failing address. */
const PUBLISHED_S = [5, 60, 300, 1_800];
const STOPPED_MAX_S = 300;
const NOTES = 120;
const CANCELLED = ['evento.pendente', 'evento.enviado', 'evento.processado', 'nota.cancelada'];

const service = await startTestService();
const { address, clock, world } = service;
const looks = countCalls(service.store, 'listDue');
const began = clock.now;

type Mudanca = { readonly id: string; readonly tipo: string; readonly chave_acesso: string };
/** `atS`: seconds since the test began, by the clock of the worker. */
type Attempt = { readonly id: string; readonly data: Mudanca; readonly atS: number; readonly isTaken: boolean };

/** A receiver. `answer`: its status for a message; undefined: nothing listens at its address. */
async function openReceiver(answer: (data: Mudanca) => number = () => 204) {
  const attempts: Attempt[] = [];
  const problems: string[] = [];
  let verifier: Webhook | undefined;
  const listen = (port: number, statusOf: typeof answer) => {
    const server = createServer((incoming, response) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      incoming.on('end', () => {
        if (confirmAvisos(text, response)) return;
        try {
          const { data } = verify(verifier!, text, incoming.headers);
          const status = statusOf(data);
          const id = incoming.headers['webhook-id'] as string;
          attempts.push({ id, data, atS: (clock.now - began) / 1_000, isTaken: status < 300 });
          response.writeHead(status).end();
        } catch (error) {
          problems.push(`${error}: ${text}`);
          response.writeHead(400).end();
        }
      });
    });
    return new Promise<typeof server>((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
  };
  // The receiver comes back at the same port.
  const port = await ownPort();
  let server = await listen(port, answer);
  const leave = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onEnd(leave);
  return {
    ...{ url: `http://127.0.0.1:${port}/nfse`, attempts, problems, leave },
    know: (segredo: string) => (verifier = new Webhook(segredo)),
    /** The program behind its proxy is away: every message is answered 503. */
    openDoor: async () => {
      server = await listen(port, () => 503);
    },
    comeBack: async () => {
      server = await listen(port, answer);
    },
  };
}

async function call(method: string, path: string, token?: string, body?: object) {
  const headers = { ...(token && { Authorization: `Bearer ${token}` }), 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const { status, text } = await ask(`${address}${API}/${path}`, { method, headers, ...sent });
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
  return JSON.parse(text);
}

async function openParty(documento: string, url: string, know: (segredo: string) => unknown) {
  const { token } = await call('POST', 'token', undefined, { documento, escopos: ['consultar', 'webhooks'] });
  const { webhook, segredo } = await call('POST', 'webhooks', token, { url });
  know(segredo);
  const look = async () => {
    const { webhook: now, pendentes, mortas } = await call('GET', `webhooks/${webhook.id}`, token);
    return { ...now, pendentes, mortas };
  };
  return { token: token as string, path: `webhooks/${webhook.id}`, look };
}

/** All pending deliveries of an address. */
async function entregasOf(path: string, token: string) {
  const all = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await call('GET', `${path}/entregas?estado=pendente&limite=100${after}`, token);
    all.push(...page.entregas);
    cursor = page.cursor;
  }
  const ids = all.map(({ id }) => Number(id));
  assert.deepEqual(
    ids,
    [...new Set(ids)].toSorted((one, other) => other - one),
    'each once, the newest first',
  );
  return all;
}

let numero = 0;
async function issue(prestador = PRESTADOR): Promise<string> {
  numero += 1;
  const { status, body } = await emit(address, exampleXml({ nDPS: String(numero), 'prest/CNPJ': prestador }));
  assert.equal(status, 201, JSON.stringify(body));
  return body.chave_acesso;
}

/** The verifier gets the time of the service's clock. */
function verify(verifier: Webhook, text: string, headers: IncomingHttpHeaders) {
  const own = mock.method(Date, 'now', () => clock.now);
  try {
    return verifier.verify(text, headers as Record<string, string>) as { readonly data: Mudanca };
  } finally {
    own.mock.restore();
  }
}

/** Due deliveries are sent: at the next look but one, all that the first look found is under way. */
async function untilLookedAt(): Promise<void> {
  for (let look = 0; look < 3; look += 1) {
    const looked = looks(1);
    world.wake(TENANT);
    await looked;
  }
}

function pass(seconds: number): void {
  clock.now += seconds * 1_000;
  world.wake(TENANT);
}

/** Reads the changes by a cursor. */
function follow(token: string) {
  const told: Mudanca[] = [];
  let cursor = '';
  const read = async (): Promise<void> => {
    for (let isMore = true; isMore; ) {
      const { mudancas, mais, cursor: next } = await call('GET', `mudancas?desde=${cursor}&limite=100`, token);
      told.push(...mudancas);
      [cursor, isMore] = [next, mais];
    }
  };
  const untilTold = (chave: string, tipo: string) =>
    until(async () => {
      await read();
      return told.some((one) => one.chave_acesso === chave && one.tipo === tipo) || undefined;
    }, `${tipo} of ${chave} is told`);
  return { told, read, untilTold };
}

const PRESTADOR = '11222333000181';
/** Provider of the second test alone: its changes are mixed with no others. */
const OUTRO = '12121212000106';

test(`an address that is away for an hour gets all of it by the retries alone`, { timeout: 600_000 }, async (t) => {
  const receiver = await openReceiver();
  const { token, path, look } = await openParty(PRESTADOR, receiver.url, receiver.know);
  const follower = follow(token);
  const first = await issue();
  await until(async () => receiver.attempts.length === LIFE.length || undefined, 'it is told while it is there');
  await receiver.leave();

  // One note, while the address is not yet known to be away: its first message is repeated at the published times.
  const wasAwayS = (clock.now - began) / 1_000;
  const chaves = [first, await issue()];
  const failed = (count: number) =>
    until(async () => ((await look()).falhas >= count ? true : undefined), `${count} failures`);
  const triedS = [0];
  await failed(1);
  const tryAfter = async (seconds: number): Promise<void> => {
    const { falhas } = await look();
    pass(seconds - 1);
    await untilLookedAt();
    assert.equal((await look()).falhas, falhas, `nothing is tried within ${seconds} s of the last attempt`);
    pass(1);
    await failed(falhas + 1);
    triedS.push(triedS.at(-1)! + seconds);
  };
  for (const seconds of PUBLISHED_S.slice(0, 2)) await tryAfter(seconds);

  // The address is then tried less and less often, while notes are issued.
  for (let probe = 0; triedS.at(-1)! + STOPPED_MAX_S < HOUR_S; probe += 1) {
    const isLate = triedS.at(-1)! > HOUR_S / 2;
    if (isLate && receiver.attempts.length === LIFE.length) await receiver.openDoor();
    const count = Math.min(10, NOTES - chaves.length);
    const more = await Promise.all(Array.from({ length: Math.max(0, count) }, () => issue()));
    chaves.push(...more);
    for (const one of more) await follower.untilTold(one, 'nota.autorizada');
    if (probe === 5) await call('POST', `nfse/${chaves[20]}/eventos`, undefined, CANCELAMENTO);
    await tryAfter(Math.min(STOPPED_MAX_S, 5 * 2 ** probe));
  }
  assert.equal(chaves.length, NOTES);
  const cancelled = chaves[20]!;
  await follower.untilTold(cancelled, 'nota.cancelada');
  assert.ok(receiver.attempts.every(({ isTaken, data }) => isTaken === (data.chave_acesso === first)));
  // The changes that it misses can be read by HTTP.
  const missed = follower.told.filter(({ chave_acesso }) => chave_acesso !== first);
  assert.equal(missed.length, (NOTES - 1) * LIFE.length + CANCELLED.length);
  // The log of each delivery has the attempts at their moments.
  const loggedS = (await entregasOf(path, token))
    .flatMap(({ registro }: { registro: readonly { em: string }[] }) => registro)
    .map(({ em }: { em: string }) => (Date.parse(em) - began) / 1_000 - wasAwayS)
    .toSorted((one: number, other: number) => one - other);
  assert.deepEqual(loggedS, triedS);

  // The receiver comes back without any call to the service.
  await receiver.leave();
  pass(HOUR_S - triedS.at(-1)!);
  await receiver.comeBack();
  if ((await look()).falhas > 0) pass(STOPPED_MAX_S - (HOUR_S - triedS.at(-1)!));
  const whole = NOTES * LIFE.length + CANCELLED.length;
  const taken = () => receiver.attempts.filter(({ isTaken }) => isTaken);
  await until(async () => new Set(taken().map(({ id }) => id)).size === whole || undefined, 'all of it came');
  // A delivery is recorded after the receiver has answered.
  await until(async () => (await look()).pendentes === 0 || undefined, 'all of it is written down as delivered');
  t.diagnostic(`tentativas aos ${triedS.join(', ')} s; ${taken().length} avisos aceitos`);
  assert.deepEqual(receiver.problems, []);
  assert.equal(taken().length, whole, 'none came twice');
  await follower.read();
  assert.equal(follower.told.length, whole);
  for (const chave of chaves) {
    const ofNote = ({ chave_acesso }: Mudanca) => chave_acesso === chave;
    const told = follower.told.filter(ofNote).map(({ id }) => id);
    const got = taken().filter(({ data }) => ofNote(data));
    assert.deepEqual(
      got.map(({ data }) => data.id),
      told,
      `${chave} in order`,
    );
    const tipos = got.map(({ data }) => data.tipo);
    // The last two changes of an event have the same moment.
    const wanted = chave === cancelled ? [...LIFE, ...CANCELLED].toSorted() : LIFE;
    assert.deepEqual(chave === cancelled ? tipos.toSorted() : tipos, wanted);
  }
  for (const { id, data } of receiver.attempts) assert.equal(id, `${TENANT}.${data.id}`, 'one id in all attempts');
  assert.ok(
    receiver.attempts.some(({ isTaken }) => !isTaken),
    'some attempts were seen and not taken',
  );
  const after = await look();
  assert.deepEqual([after.falhas, after.mortas, after.ativo], [0, 0, true]);
  await call('DELETE', path, token);
});

test('a message that alone is not taken is tried after the published times, and keeps no other waiting', {
  timeout: 600_000,
}, async () => {
  let [refused, isMended] = ['', false];
  const receiver = await openReceiver(({ chave_acesso }) => {
    refused ||= chave_acesso;
    return chave_acesso === refused && !isMended ? 500 : 204;
  });
  const { token, path, look } = await openParty(OUTRO, receiver.url, receiver.know);
  const of = (chave: string) => receiver.attempts.filter(({ data }) => data.chave_acesso === chave);
  const untilOf = (chave: string, count: number) =>
    until(async () => of(chave).length === count || undefined, `${count} attempts of ${chave}`);
  const isLogged = (falhas: number) =>
    until(async () => (await look()).falhas === falhas || undefined, `${falhas} failures`);
  const poison = await issue(OUTRO);
  await untilOf(poison, 1);
  for (const [place, seconds] of PUBLISHED_S.entries()) {
    await isLogged(1);
    const other = await issue(OUTRO);
    await untilOf(other, LIFE.length);
    await isLogged(0);
    pass(seconds - 1);
    await untilLookedAt();
    assert.equal(of(poison).length, place + 1, `not tried within ${seconds} s`);
    pass(1);
    await untilOf(poison, place + 2);
  }
  const [{ id, data, atS }] = of(poison) as [Attempt];
  const gaps = of(poison).map((one, place) => one.atS - (of(poison)[place - 1]?.atS ?? atS));
  assert.deepEqual(gaps, [0, ...PUBLISHED_S]);
  for (const one of of(poison)) assert.deepEqual([one.id, one.data], [id, data], 'the same in each attempt');

  // The failing address counts as away, although no other address is served in between. Later notes arrive all the same.
  for (let falhas = 1; falhas < 3; falhas += 1) {
    await isLogged(falhas);
    pass(7_200 * 5);
  }
  await isLogged(3);
  const later = await issue(OUTRO);
  await until(async () => (await look()).pendentes === 2 * LIFE.length || undefined, 'all of both waits');
  pass(STOPPED_MAX_S);
  await untilOf(later, LIFE.length);
  assert.ok(of(later).every(({ isTaken }) => isTaken));
  isMended = true;
  pass(86_400);
  await until(async () => of(poison).filter(({ isTaken }) => isTaken).length === LIFE.length || undefined, 'it came');
  const tipos = of(poison)
    .filter(({ isTaken }) => isTaken)
    .map((one) => one.data.tipo);
  assert.deepEqual([tipos, receiver.problems], [LIFE, []]);
  const { mortas, pendentes } = await until(async () => {
    const now = await look();
    return now.pendentes === 0 ? now : undefined;
  }, 'nothing waits');
  assert.deepEqual([mortas, pendentes], [0, 0]);
  await call('DELETE', path, token);
});
