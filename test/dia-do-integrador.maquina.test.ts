/**
 * A day of an integrator: several of its programs issue a thousand notes, one follows the changes by a cursor, and one receives messages.
 * The service and its database are killed, the receiver is offline for a while, and a note is cancelled.
 *
 * Nothing is issued twice. The cursor program misses nothing and gets no change twice. The receiver gets all changes in order. The changes
 * that it missed while offline were available to the cursor program. The integrator enables its address again after its return, as the
 * retries may take five minutes. An hour offline, with recovery by the retries alone, is `avisos-hora.test.ts`.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { test } from 'node:test';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { CANCELAMENTO } from './support/eventos.ts';
import { follow, LIFE, type Mudanca, openReceiver, type Told, withToken } from './support/integrador.ts';
import { pace } from './support/pace.ts';
import { ownPort } from './support/ports.ts';
import { readyDataDir, type ServiceProcess, startServiceProcess } from './support/process.ts';
import { killPostgres } from './support/quedas-processos.ts';
import { until, untilTrue } from './support/until.ts';

const PRESTADOR = '11222333000181';
const NOTAS = 1_000;
const CLIENTS = 6;
/** The pause between two notes of a client, so that the day is long enough for all failures. */
const PAUSE_MS = 60;
/** One answer in so many notes is not read, and one more request is repeated although it was answered. */
const LOST_EVERY = 25;
const ANSWER_MAX_MS = 60_000;
const STARTS_MAX = 10;
/** Additional changes of the cancelled note; the last two happen at the same moment, in either order. */
const CANCELLED = ['evento.pendente', 'evento.enviado', 'evento.processado', 'nota.cancelada'];

/** The whole service under one address, which stays the same. */
async function openService() {
  const dataDir = await readyDataDir();
  const env = { NFSE_DATA_DIR: dataDir, NFSE_AVISOS_PRIVADOS: '1', NFSE_LOG_LEVEL: 'error' };
  const own = { ...env, PORT: String(await ownPort()) };
  let running: ServiceProcess = await startServiceProcess(own);
  // The integrator has its own sandbox.
  const made = await fetch(`${running.address}/integracao/api/v1/ambientes`, { method: 'POST' });
  assert.equal(made.status, 201);
  const { municipio } = ((await made.json()) as { ambiente: { municipio: string } }).ambiente;
  const kill = async (): Promise<void> => {
    await running.end('SIGKILL');
    for (let starts = 1; ; starts += 1) {
      try {
        running = await startServiceProcess(own);
        return;
      } catch (error) {
        if (starts === STARTS_MAX) throw error;
      }
    }
  };
  const killDatabase = (): Promise<void> => killPostgres(path.join(dataDir, 'pg'));
  return { municipio, api: `${running.address}/${municipio}/api/v1`, kill, killDatabase };
}

/** One answer; undefined: there was none, or none yet. */
async function ask(url: string, init: RequestInit = {}): Promise<Told | undefined> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    const text = await response.text();
    // A service that is killed, or whose database is, answers one of these, or nothing.
    if ([409, 429, 503].includes(response.status)) return undefined;
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

async function insist(url: string, init: RequestInit = {}): Promise<Told> {
  return until(() => ask(url, init), `an answer of ${url}`);
}

/** Issues all notes with several concurrent programs, each request repeated until it is answered; `issued`: the keys, by number. */
function issueAll(api: string) {
  const issued = new Map<number, string>();
  const problems: string[] = [];
  const issue = async (numero: number): Promise<void> => {
    const headers = { 'Content-Type': 'application/xml', 'Idempotency-Key': randomUUID() };
    const init = { method: 'POST', headers, body: exampleXml({ nDPS: String(numero) }) };
    const url = `${api}/nfse/v101`;
    if (numero % LOST_EVERY === 0) {
      // The connection breaks during the answer.
      await fetch(url, { ...init, signal: AbortSignal.timeout(numero % 20) }).catch(() => undefined);
    }
    for (let times = numero % LOST_EVERY === 1 ? 2 : 1; times > 0; times -= 1) {
      const { status, body } = await insist(url, init);
      if (status !== 201) problems.push(`${numero}: ${status} ${JSON.stringify(body)}`);
      const before = issued.get(numero);
      if (before !== undefined && before !== body.chave_acesso) problems.push(`${numero} has two keys`);
      issued.set(numero, body.chave_acesso);
    }
  };
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < NOTAS) {
      next += 1;
      await issue(next);
      await pace(PAUSE_MS);
    }
  };
  const ended = Promise.all(Array.from({ length: CLIENTS }, client));
  return { issued, problems, ended };
}

/** Cancels a note once, for any number of repeated requests. */
async function cancel(api: string, chave: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
  const init = { method: 'POST', headers, body: JSON.stringify(CANCELAMENTO) };
  const { status, body } = await insist(`${api}/nfse/${chave}/eventos`, init);
  assert.equal(status, 201, JSON.stringify(body));
}

const idsOf = (all: readonly { readonly data: Mudanca }[]): ReadonlySet<string> =>
  new Set(all.map(({ data }) => data.id));

test('a thousand notes while everything dies: once each, and each change told', {
  timeout: 900_000,
  skip: process.platform !== 'linux' && 'the embedded server is found as Linux tells it',
}, async (t) => {
  const service = await openService();
  const { api, municipio } = service;
  const pedido = JSON.stringify({ documento: PRESTADOR, escopos: ['consultar', 'webhooks'] });
  const json = { 'Content-Type': 'application/json' };
  const { token } = (await insist(`${api}/token`, { method: 'POST', headers: json, body: pedido })).body;
  const receiver = await openReceiver();
  const body = JSON.stringify({ url: receiver.url });
  const made = await insist(`${api}/webhooks`, { method: 'POST', headers: withToken(token), body });
  receiver.know(made.body.segredo);
  const follower = follow((query) => ask(`${api}/mudancas?${query}`, { headers: withToken(token) }));
  const issuing = issueAll(api);
  const { issued } = issuing;

  await untilTrue(() => issued.size >= 0.15 * NOTAS && receiver.received.length > 50, 'the day has begun');
  await service.kill();
  await untilTrue(() => issued.size >= 0.3 * NOTAS, 'notes are issued after the service was killed');
  await receiver.leave();
  const before = receiver.received.length;
  await untilTrue(() => issued.size >= 0.5 * NOTAS, 'notes are issued while nobody is told');
  await service.killDatabase();
  await untilTrue(() => issued.size >= 0.8 * NOTAS, 'notes are issued after the database was killed');
  const cancelled = follower.told.find(({ tipo }) => tipo === 'nota.autorizada')!.chave_acesso;
  await cancel(api, cancelled);
  const ofCancelled = () => follower.told.filter(({ chave_acesso }) => chave_acesso === cancelled);
  await untilTrue(() => ofCancelled().length === LIFE.length + CANCELLED.length, 'who follows is told the event');
  assert.equal(receiver.received.length, before, 'who is away was told something');
  // A query finds all changes that the receiver missed.
  const known = idsOf(receiver.received);
  const missing = () => follower.told.filter(({ id }) => !known.has(id)).map(({ id }) => id);
  await untilTrue(() => missing().length > 300, 'who follows is told what the other one misses');
  const missed = missing();
  await receiver.comeBack();
  const again = JSON.stringify({ ativo: true });
  const one = `${api}/webhooks/${made.body.webhook.id}`;
  assert.equal((await insist(one, { method: 'PATCH', headers: withToken(token), body: again })).status, 200);
  await issuing.ended;

  const whole = NOTAS * LIFE.length + CANCELLED.length;
  await untilTrue(() => follower.told.length >= whole, 'who follows was told all');
  await until(async () => idsOf(receiver.received).size >= whole || undefined, 'who is told was told all');
  await follower.stop();
  t.diagnostic(`${follower.unanswered()} perguntas sem resposta, ${receiver.received.length - whole} avisos repetidos`);

  assert.deepEqual([...issuing.problems, ...follower.problems, ...receiver.problems], []);
  assert.equal(new Set(issued.values()).size, NOTAS);
  const listed = (await insist(`${api}/notas?contar=sim`, { headers: withToken(token) })).body;
  assert.deepEqual(listed.contagem, { total: NOTAS, total_exato: true });
  assert.equal(follower.told.length, whole);
  assert.equal(new Set(follower.told.map(({ id }) => id)).size, whole);
  const inOrder = Map.groupBy(follower.told, ({ chave_acesso }) => chave_acesso);
  assert.deepEqual(new Set(inOrder.keys()), new Set(issued.values()));
  const first = new Map<string, Mudanca>();
  const names = new Map<string, Set<string>>();
  for (const { id, data } of receiver.received) {
    if (!first.has(data.id)) first.set(data.id, data);
    names.set(data.id, (names.get(data.id) ?? new Set()).add(id));
  }
  const received = Map.groupBy(first.values(), ({ chave_acesso }) => chave_acesso);
  const idsOfCancelled = (of: typeof received) => of.get(cancelled)!.map(({ id }) => id);
  assert.deepEqual(idsOfCancelled(received), idsOfCancelled(inOrder));
  for (const chave of issued.values()) {
    for (const each of [inOrder, received]) {
      const tipos = each.get(chave)!.map(({ tipo }) => tipo);
      if (chave === cancelled) tipos.push(...tipos.splice(-2).toSorted());
      assert.deepEqual(tipos, chave === cancelled ? [...LIFE, ...CANCELLED] : LIFE, chave);
    }
  }
  for (const [id, of] of names) assert.deepEqual([...of], [`${municipio}.${id}`]);
  for (const { id, tipo } of ofCancelled())
    assert.ok(LIFE.includes(tipo) || missed.includes(id), `${id} was not missed`);
  for (const id of missed) assert.ok(first.has(id), `${id} never came`);
  // A second pass from the beginning gives the same changes, in the same order.
  const all: Mudanca[] = [];
  for (let cursor = '', isMore = true; isMore; ) {
    const page = (await insist(`${api}/mudancas?desde=${cursor}&limite=700`, { headers: withToken(token) })).body;
    all.push(...page.mudancas);
    cursor = page.cursor;
    isMore = page.mais;
  }
  assert.deepEqual(
    all.map(({ id }) => id),
    follower.told.map(({ id }) => id),
  );
});
