/**
 * `Idempotency-Key` (D-19), as an integrator uses it: over HTTP, with many concurrent requests, over two processes.
 * `idempotencia-queda.maquina.test.ts` kills a process in between. Each DPS without a number makes one more note, so only the key prevents
 * duplicates.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import type { KeyedSuccess } from '../src/base/book/idempotencia.ts';
import { Repetition } from '../src/base/delivery/repetition.ts';
import { companyCertificate, pemOf } from '../src/documents/pki.ts';
import { dpsIdInSerie } from '../src/fiscal/chave.ts';
import { HOUR_MS } from '../src/fiscal/moment.ts';
import { exampleJson, exampleXml } from '../src/fiscal/rules/example.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { REPEATED as GUARDA } from '../src/subjects/guarda/guarda.job.ts';
import type { Issuance, IssueResult } from '../src/subjects/notas/issue.rows.ts';
import { createStore } from '../src/wiring/store.ts';
import { onEnd } from './support/cleanup.ts';
import { freshDatabase, freshPool, pidOf, untilAwaited } from './support/database.ts';
import { bancada, CANCELAMENTO, type NotaEmitida, PATHS } from './support/eventos.ts';
import { ask } from './support/http.ts';
import { send, type Told } from './support/keyed.ts';
import { readyKeys } from './support/keys.ts';
import { addPrestador } from './support/municipio.ts';
import { MES } from './support/nota-keys.ts';
import { openssl } from './support/openssl.ts';
import { allLookUp, noneScans, recorded, type Statements } from './support/plans.ts';
import { NOON, startTestService, type TestService } from './support/service.ts';
import {
  companyOf,
  type Party,
  PROVIDER_CNPJ,
  partyOf,
  signedBy,
  testParties,
  yearAround,
} from './support/signatures.ts';
import { rowOf } from './support/stores.ts';
import { until } from './support/until.ts';

const OTHER_CNPJ = '11444777000161';
const CONFIRMACAO = { tipo_evento: 'confirmacao_prestador' };
const BODIES = { xml: exampleXml, json: (patch: Patch = {}) => exampleJson(patch)! } as const;
const KINDS = ['xml', 'json'] as const;

/** The whole answer, except the client and the time. */
function saidBy({ status, headers, text }: Told): unknown {
  const told = ['content-type', 'location', 'x-nfse-ambiente', 'cache-control'].map((name) => headers.get(name));
  return { status, told, text };
}

async function count(service: TestService, table: string, tenant = 'integracao'): Promise<number> {
  const { rows } = await service.pool.query(`select count(*)::int as n from ${table} where tenant = $1`, [tenant]);
  return rows[0].n;
}

const place = (names: (nota: NotaEmitida) => string, nota: NotaEmitida): string => names(nota);

describe('a repetition', () => {
  for (const kind of KINDS) {
    test(`of an issuance in ${kind} is answered byte for byte as the first, and issues nothing`, async () => {
      const service = await startTestService({ worker: false });
      const key = 'a-chave-do-meu-sistema';
      const first = await send(service.address, BODIES[kind](), { key });
      assert.equal(first.status, 201, first.text);
      assert.equal(first.headers.get('x-nfse-repetida'), null);
      const second = await send(service.address, BODIES[kind](), { key });
      assert.equal(second.isRepeated, true);
      assert.deepEqual(saidBy(second), saidBy(first));
      // The first answer is returned for any present state of the note.
      await bancada(service.world).notas();
      service.clock.now += HOUR_MS;
      assert.deepEqual(saidBy(await send(service.address, BODIES[kind](), { key })), saidBy(first));
      assert.equal(await count(service, 'notas'), 1);
    });
  }

  test('keeps the remarks of the first answer', async () => {
    const { address, clock } = await startTestService({ worker: false });
    // The identifier is not the one of this series and number, which gives a remark (D-16).
    const xml = exampleXml({ '@Id': `DPS3550308211222333000181${'0'.repeat(19)}1`, serie: '7', nDPS: '9' });
    const first = await send(address, xml, { key: 'k' });
    assert.deepEqual(
      first.body.avisos.map(({ codigo }: { codigo: string }) => codigo),
      ['E0004'],
    );
    clock.now += HOUR_MS;
    const second = await send(address, xml, { key: 'k' });
    assert.equal(second.isRepeated, true);
    assert.deepEqual(saidBy(second), saidBy(first));
  });

  for (const [by, names] of Object.entries(PATHS)) {
    test(`of an event by its ${by} is answered as the first, also after it was processed`, async () => {
      const service = await startTestService({ worker: false });
      const { body: nota } = await send(service.address, exampleXml());
      const to = place(names, nota);
      const evento = JSON.stringify(CANCELAMENTO);
      const first = await send(service.address, evento, { key: 'e', to });
      assert.equal(first.status, 201, first.text);
      assert.deepEqual([first.isRepeated, first.body.status_evento], [false, 'pendente']);
      assert.deepEqual(saidBy(await send(service.address, evento, { key: 'e', to })), saidBy(first));
      const worker = bancada(service.world);
      await worker.eventos();
      await worker.notas();
      service.clock.now += HOUR_MS;
      await worker.eventos();
      const body = JSON.parse((await ask(first.headers.get('location')!)).text);
      assert.equal(body.evento.status_evento, 'processado');
      const last = await send(service.address, evento, { key: 'e', to });
      assert.equal(last.isRepeated, true);
      assert.deepEqual(saidBy(last), saidBy(first));
      // The request without the key is a new one, and the note is cancelled.
      assert.equal((await send(service.address, evento, { to })).body.codigo_erro, 'E302');
      assert.equal(await count(service, 'eventos'), 1);
    });
  }

  test('of a refusal of the document is that refusal, with its moment', async () => {
    const service = await startTestService({ worker: false });
    const wrong = exampleXml({ 'valores/vServPrest/vServ': '-1.00', 'toma/CPF': '52998224726' });
    const first = await send(service.address, wrong, { key: 'r' });
    assert.equal(first.status, 422, first.text);
    assert.equal(first.isRepeated, false);
    service.clock.now += 5 * HOUR_MS;
    const second = await send(service.address, wrong, { key: 'r' });
    assert.equal(second.isRepeated, true);
    assert.deepEqual(saidBy(second), saidBy(first));
    // The corrected document is another request.
    const mended = await send(service.address, exampleXml(), { key: 'r' });
    assert.deepEqual([mended.status, mended.body.codigo_erro], [422, 'E003']);
    assert.equal(await count(service, 'notas'), 0);
  });

  test('of a duplicate is the same E0014, and of an event that was ruled out the same refusal', async () => {
    const { address, clock } = await startTestService({ worker: false });
    const xml = exampleXml({ serie: '1', nDPS: '1' });
    const { body: nota } = await send(address, xml);
    const duplicate = await send(address, xml, { key: 'd' });
    assert.deepEqual([duplicate.status, duplicate.body.codigo_erro], [422, 'E0014']);
    const to = PATHS.chave(nota);
    const evento = JSON.stringify(CANCELAMENTO);
    assert.equal((await send(address, evento, { key: 'c1', to })).status, 201);
    const open = await send(address, evento, { key: 'c2', to });
    assert.equal(open.status, 422);
    clock.now += HOUR_MS;
    for (const [first, again] of [
      [duplicate, await send(address, xml, { key: 'd' })],
      [open, await send(address, evento, { key: 'c2', to })],
    ] as const) {
      assert.equal(again.isRepeated, true);
      assert.deepEqual(saidBy(again), saidBy(first));
    }
  });

  test('of a refusal that the registry may mend, or that came before anything was read, is asked anew', async () => {
    const { address, clock } = await startTestService({ worker: false });
    const unnamed = exampleXml({ 'prest/xNome': '' });
    const cases: [string, string][] = [
      [unnamed, 'E101'],
      ['<DPS', 'E201'],
      ['{"', 'E003'],
    ];
    for (const [body, codigo] of cases) {
      const first = await send(address, body, { key: 'nova' });
      assert.equal(first.body.codigo_erro, codigo);
      clock.now += HOUR_MS;
      const second = await send(address, body, { key: 'nova' });
      assert.equal(second.isRepeated, false);
      assert.equal(second.body.codigo_erro, codigo);
      assert.notEqual(second.body.timestamp, first.body.timestamp);
    }
    assert.equal((await send(address, exampleXml(), { key: 'nova' })).status, 201, 'nor have they used the key up');
  });
});

describe('a key', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ worker: false });
  });

  test('that was used with another body is refused with 422 E003 and the name of the header', async () => {
    const notes = await count(service, 'notas');
    assert.equal((await send(service.address, exampleXml(), { key: 'outro-corpo' })).status, 201);
    for (const body of [exampleXml({ 'toma/xNome': 'Maria Outra' }), exampleJson()!]) {
      const answer = await send(service.address, body, { key: 'outro-corpo' });
      assert.deepEqual([answer.status, answer.body.codigo_erro], [422, 'E003']);
      assert.equal(answer.body.campo, 'Idempotency-Key');
      assert.match(
        answer.body.mensagem,
        /já foi usada em nome do mesmo CNPJ ou CPF, com outro corpo\. .*use uma chave nova/,
      );
      assert.equal(answer.isRepeated, false);
      assert.equal(answer.headers.get('retry-after'), null);
    }
    assert.equal(await count(service, 'notas'), notes + 1);
  });

  test('that was used at another address is refused with 422, issuance or event, by key or by protocol', async () => {
    const events = await count(service, 'eventos');
    const { body: nota } = await send(service.address, exampleXml(), { key: 'outro-endereço' });
    const { body: other } = await send(service.address, exampleXml());
    const evento = JSON.stringify(CONFIRMACAO);
    const used = await send(service.address, evento, { key: 'outro-endereço', to: PATHS.chave(nota) });
    assert.deepEqual([used.status, used.body.codigo_erro, used.body.campo], [422, 'E003', 'Idempotency-Key']);
    assert.match(used.body.mensagem, /em outro endereço/);
    assert.equal((await send(service.address, evento, { key: 'evento', to: PATHS.chave(nota) })).status, 201);
    for (const to of [PATHS.protocolo(nota), PATHS.chave(other)]) {
      const answer = await send(service.address, evento, { key: 'evento', to });
      assert.deepEqual([answer.status, answer.body.codigo_erro], [422, 'E003'], to);
    }
    const issuance = await send(service.address, exampleXml(), { key: 'evento' });
    assert.deepEqual([issuance.status, issuance.body.codigo_erro], [422, 'E003']);
    assert.equal(await count(service, 'eventos'), events + 1);
  });

  test('is of one municipality and of one provider', async () => {
    await service.store.municipios.create({ tenant: 'vizinho', ambiente: 'homologacao', codigoIbge: undefined }, NOON);
    const patch = { 'prest/CNPJ': OTHER_CNPJ };
    const answers = [
      await send(service.address, exampleXml(), { key: '1' }),
      await send(service.address, exampleXml(), { key: '1', tenant: 'vizinho' }),
      await send(service.address, exampleXml(patch), { key: '1' }),
    ];
    for (const { status, isRepeated, text } of answers) assert.deepEqual([status, isRepeated], [201, false], text);
    assert.equal(new Set(answers.map(({ body }) => body.chave_acesso)).size, 3);
  });

  test('is of who asks: what the taker of a note uses is neither found nor used up for its provider', async () => {
    const { body: nota } = await send(service.address, exampleXml());
    const evento = JSON.stringify({ tipo_evento: 'confirmacao_tomador' });
    const key = 'pedido-1';
    const registered = await send(service.address, evento, { key, to: PATHS.chave(nota) });
    assert.equal(registered.status, 201, registered.text);
    const issued = await send(service.address, exampleXml(), { key });
    assert.deepEqual([issued.status, issued.isRepeated], [201, false], issued.text);
    const again = await send(service.address, evento, { key, to: PATHS.chave(nota) });
    assert.deepEqual([again.isRepeated, saidBy(again)], [true, saidBy(registered)]);
  });

  test('has from 1 to 255 characters, and none of control', async () => {
    const { body: nota } = await send(service.address, exampleXml());
    const asSent = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
    const places: [string, string][] = [
      [exampleXml(), 'nfse/v101'],
      [exampleJson()!, 'nfse/v101'],
      [JSON.stringify(CONFIRMACAO), PATHS.chave(nota)],
      [JSON.stringify(CONFIRMACAO), PATHS.protocolo(nota)],
    ];
    for (const [body, to] of places) {
      for (const [key, problem] of [
        ['', /está vazio/],
        ['x'.repeat(256), /tem 256 caracteres/],
        [asSent('é'.repeat(256)), /tem 256 caracteres/],
        ['a\tb', /caractere de controle/],
        [asSent('a\u0085b'), /caractere de controle/],
      ] as const) {
        const answer = await send(service.address, body, { key, to });
        assert.deepEqual([answer.status, answer.body.codigo_erro], [400, 'E003'], to);
        assert.equal(answer.body.campo, 'Idempotency-Key');
        assert.match(answer.body.mensagem, problem);
      }
    }
    for (const key of ['x'.repeat(255), asSent('é'.repeat(255)), '"8e03978e-40d5-43dd-bc93-6894a57f9324"', '\xff ,']) {
      const first = await send(service.address, exampleXml(), { key });
      assert.equal(first.status, 201, first.text);
      assert.deepEqual(saidBy(await send(service.address, exampleXml(), { key })), saidBy(first));
    }
  });

  test('means nothing where nothing is stored', async () => {
    for (const key of ['ensaio', 'x'.repeat(300)]) {
      const answer = await send(service.address, exampleXml(), { key, to: 'nfse/v101/validacao' });
      assert.deepEqual([answer.status, answer.isRepeated], [200, false]);
    }
  });

  test('is kept 72 hours, and is free after them', async () => {
    const key = 'tres-dias';
    const began = service.clock.now;
    const evento = JSON.stringify(CONFIRMACAO);
    const first = await send(service.address, exampleXml(), { key });
    const to = PATHS.chave(first.body);
    const event = await send(service.address, evento, { key: `e-${key}`, to });
    assert.equal(event.status, 201, event.text);
    try {
      // The clock may also be two hours ahead.
      for (const hours of [72, 72 + 2]) {
        service.clock.now = began + hours * HOUR_MS;
        while (await service.store.idempotencia.forget(service.clock.now));
        assert.deepEqual(saidBy(await send(service.address, exampleXml(), { key })), saidBy(first));
        assert.deepEqual(saidBy(await send(service.address, evento, { key: `e-${key}`, to })), saidBy(event));
      }
      service.clock.now = began + 76 * HOUR_MS;
      const later = await send(service.address, exampleXml(), { key });
      assert.deepEqual([later.status, later.isRepeated], [201, false]);
      assert.notEqual(later.body.chave_acesso, first.body.chave_acesso);
      const again = await send(service.address, evento, { key: `e-${key}`, to });
      assert.deepEqual([again.isRepeated, again.body.numero_sequencial], [false, 2], again.text);
      // The key returns the new answer from then on.
      assert.deepEqual(saidBy(await send(service.address, exampleXml(), { key })), saidBy(later));
    } finally {
      service.clock.now = began;
    }
  });

  test('is not written down anywhere as it came', async () => {
    const key = 'segredo-de-alguem';
    await send(service.address, exampleXml(), { key });
    const { rows } = await service.pool.query('select * from idempotencia');
    assert.ok(rows.length > 0);
    assert.doesNotMatch(JSON.stringify([rows, service.logged]), /segredo-de-alguem/);
  });
});

test('the keeping deletes what is past its time, of every tenant, and nothing else', async () => {
  // A worker of the service keeps once an hour, and may have done so before the clock is moved.
  const service = await startTestService({ worker: false });
  await service.store.municipios.create({ tenant: 'vizinho', ambiente: 'homologacao', codigoIbge: undefined }, NOON);
  for (const tenant of ['integracao', 'vizinho']) {
    assert.equal((await send(service.address, exampleXml(), { key: 'velha', tenant })).status, 201);
  }
  assert.equal((await send(service.address, exampleXml({ 'toma/CPF': '1' }), { key: 'recusada' })).status, 422);
  service.clock.now += 76 * HOUR_MS;
  assert.equal((await send(service.address, exampleXml(), { key: 'nova' })).status, 201);
  const left = async (): Promise<number> =>
    (await count(service, 'idempotencia')) + (await count(service, 'idempotencia', 'vizinho'));
  const keeping = new Repetition(service.world, GUARDA);
  await until(async () => {
    await keeping.work();
    return (await left()) === 1 || undefined;
  }, 'one answer is left');
  assert.equal((await send(service.address, exampleXml(), { key: 'nova' })).isRepeated, true);
  assert.equal(await count(service, 'notas'), 2, 'the notes stay');
});

/** The two processes have two addresses here; behind a proxy they have one. */
function anywhere(text: string): string {
  return text.replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://aqui');
}

/** One answer is the original; every other one repeats it, says that it is still under way, or waited too long for its row. */
function assertOnce(answers: readonly Told[]): Told {
  const originals = answers.filter(({ status, isRepeated }) => status === 201 && !isRepeated);
  assert.equal(originals.length, 1, answers.map(({ status, isRepeated }) => `${status} ${isRepeated}`).join(', '));
  for (const answer of answers) {
    if (answer.status === 409) {
      assert.equal(answer.body.codigo_erro, 'E703');
      assert.equal(answer.body.campo, 'Idempotency-Key');
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    } else if (answer.status === 503) {
      // A slow machine holds the row of the first one for longer than a lock is waited for.
      assert.match(answer.body.mensagem, /Outra gravação ocupa os dados de que esta precisa/);
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    } else {
      assert.deepEqual([answer.status, anywhere(answer.text)], [201, anywhere(originals[0]!.text)]);
    }
  }
  return originals[0]!;
}

/** Runs work while another session locks the rows of a statement; `holder`: that session. */
async function whileLocked<Result>(
  { pool }: TestService,
  statement: string,
  work: (holder: number) => Promise<Result>,
): Promise<Result> {
  const holder = await pool.connect();
  try {
    await holder.query('begin');
    await holder.query(statement);
    return await work(await pidOf(holder));
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

describe('many at once', () => {
  for (const kind of KINDS) {
    test(`a hundred of one issuance in ${kind} are one note`, async () => {
      const service = await startTestService();
      const sending = Array.from({ length: 100 }, () => send(service.address, BODIES[kind](), { key: 'uma-so' }));
      const original = assertOnce(await Promise.all(sending));
      const again = await send(service.address, BODIES[kind](), { key: 'uma-so' });
      assert.deepEqual([again.isRepeated, again.text], [true, original.text]);
      assert.equal(await count(service, 'notas'), 1);
    });
  }

  test('a hundred of one event are one event', async () => {
    const service = await startTestService();
    const { body: nota } = await send(service.address, exampleXml());
    const to = PATHS.chave(nota);
    const evento = JSON.stringify(CONFIRMACAO);
    const original = assertOnce(
      await Promise.all(Array.from({ length: 100 }, () => send(service.address, evento, { key: 'um-so', to }))),
    );
    const again = await send(service.address, evento, { key: 'um-so', to });
    assert.deepEqual([again.isRepeated, again.text], [true, original.text]);
    assert.equal(await count(service, 'eventos'), 1);
  });

  test('twenty keys of ten requests each, over two processes, among others without a key: numbered without a gap', async () => {
    const connection = await freshDatabase();
    const one = await startTestService({ worker: false, connection });
    const other = await startTestService({ worker: false, connection });
    const addresses = [one.address, other.address];
    const [keys, times, others] = [20, 10, 60];
    const byKey = Array.from({ length: keys }, () => [] as Promise<Told>[]);
    const free: Promise<Told>[] = [];
    // A slow machine may hold a lock for more than two seconds: the client comes again, as it is told.
    const sendOn = async (...request: Parameters<typeof send>): Promise<Told> => {
      for (;;) {
        const told = await send(...request);
        if (told.status !== 503) return told;
      }
    };
    for (let turn = 0; turn < times; turn += 1) {
      for (let key = 0; key < keys; key += 1) {
        const body = exampleXml(key % 2 === 0 ? {} : { serie: '5', nDPS: String(key) });
        byKey[key]!.push(sendOn(addresses[turn % 2]!, body, { key: `k${key}` }));
      }
      for (let place = 0; place < others / times; place += 1) free.push(sendOn(addresses[place % 2]!, exampleXml()));
    }
    for (const answers of byKey) assertOnce(await Promise.all(answers));
    for (const { status, text } of await Promise.all(free)) assert.equal(status, 201, text);
    const { rows } = await one.pool.query(
      'select count(*)::int as n, max(numero_dps)::int as last from notas where tenant = $1',
      ['integracao'],
    );
    assert.deepEqual(rows, [{ n: keys + others, last: keys + others }]);
  });

  test('the first one still under way: 409 in its process, and another process waits for its answer', {
    timeout: 120_000,
  }, async () => {
    const connection = await freshDatabase();
    const one = await startTestService({ worker: false, connection });
    const other = await startTestService({ worker: false, connection });
    const { body: nota } = await send(one.address, exampleXml());
    const evento = JSON.stringify(CONFIRMACAO);
    for (const [body, to, lock] of [
      [exampleXml(), undefined, `select 1 from numeracao where tenant = 'integracao' for update`],
      [evento, PATHS.chave(nota), `select 1 from notas where tenant = 'integracao' for update`],
    ] as const) {
      const [key, sending] = [`k ${to}`, to === undefined ? {} : { to }];
      const { pair, elsewhere, bystander } = await whileLocked(one, lock, async (holder) => {
        const pair = [1, 2].map(() => send(one.address, body, { key, ...sending }));
        const busy = await Promise.race(pair);
        assert.deepEqual([busy.status, busy.body.codigo_erro, busy.body.campo], [409, 'E703', 'Idempotency-Key']);
        assert.match(busy.headers.get('retry-after')!, /^[1-9]\d*$/);
        const misused = await send(one.address, body.replace(/^\{/, '{ ').replace('Maria', 'Outra'), {
          key,
          ...sending,
        });
        assert.deepEqual([misused.status, misused.body.codigo_erro], [422, 'E003'], 'known at once');
        // The blocked request holds its key: every later request comes after it.
        const [first] = await untilAwaited(one.pool, holder);
        const elsewhere = send(other.address, body, { key, ...sending });
        // The other request is in the same commit, and has nothing to do with this one.
        const bystander = send(other.address, exampleXml({ 'prest/CNPJ': OTHER_CNPJ }));
        const early = await Promise.race([elsewhere, untilAwaited(other.pool, first!).then(() => 'waits')]);
        assert.equal(early, 'waits');
        return { pair, elsewhere, bystander };
      });
      const original = assertOnce(await Promise.all(pair));
      const told = await elsewhere;
      assert.deepEqual([told.status, told.isRepeated, told.text], [201, true, original.text]);
      assert.equal((await bystander).status, 201);
    }
    assert.equal(await count(one, 'notas'), 4);
    assert.equal(await count(one, 'eventos'), 1);
  });
});

test('in production nothing is told under a key to who cannot sign for its provider', async () => {
  const service = await startTestService({ worker: false });
  const { root, provider, namesake } = await testParties(NOON);
  const keys = await readyKeys();
  const stranger = partyOf(keys, companyCertificate(root, companyOf(OTHER_CNPJ), keys.publicKey, yearAround(NOON)));
  const ancoras = mkdtempSync(path.join(tmpdir(), 'nfse-idempotencia-'));
  onEnd(() => rmSync(ancoras, { recursive: true, force: true }));
  writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
  const tenant = 'cidade';
  const confianca = { ancoras, revogados: undefined };
  await service.store.municipios.create({ tenant, ambiente: 'producao', codigoIbge: '3550308', confianca }, NOON);
  await addPrestador(service.pool, tenant, PROVIDER_CNPJ);
  const xml = exampleXml({ tpAmb: '1', serie: '1', nDPS: '1' });
  const signed = signedBy(xml, provider);
  const issue = (body: string, key: string): Promise<Told> => send(service.address, body, { tenant, key });
  const first = await issue(signed, 'usada');
  assert.equal(first.status, 201, first.text);
  const second = await issue(signed, 'usada');
  assert.equal(second.isRepeated, true);
  assert.deepEqual(saidBy(second), saidBy(first));

  // A guessed key reveals no more than an unknown one, and is not used up.
  for (const body of [xml, signedBy(xml, stranger), signed.replace('Maria Exemplo', 'Maria Exemplar'), '<DPS/>']) {
    const [used, free] = [await issue(body, 'usada'), await issue(body, 'livre')];
    assert.notEqual(used.status, 201);
    assert.equal(used.headers.get('x-nfse-repetida'), null);
    assert.deepEqual(saidBy(used), saidBy(free));
  }
  const evento = JSON.stringify(CONFIRMACAO);
  const [used, free] = await Promise.all(
    ['usada', 'livre'].map((key) => send(service.address, evento, { tenant, key, to: PATHS.chave(first.body) })),
  );
  assert.equal(used!.status, 401, used!.text);
  assert.deepEqual(saidBy(used!), saidBy(free!));
  const other = signedBy(exampleXml({ tpAmb: '1', serie: '1', nDPS: '2' }), provider);
  assert.equal((await issue(other, 'livre')).status, 201);
  assert.equal((await issue(other, 'usada')).body.codigo_erro, 'E003', 'to the provider itself it is told');
  assert.equal(await count(service, 'notas', tenant), 2);

  // The body decides, not the signer among those who may sign: a JSON body has its signature in a header.
  const cms = (body: string, { pem, keyPem }: Party): string => {
    const place = (name: string, content: string): string => {
      writeFileSync(path.join(ancoras, name), content);
      return path.join(ancoras, name);
    };
    const files = ['-in', place('corpo', body), '-signer', place('assina', pem), '-inkey', place('chave', keyPem)];
    return openssl('cms', '-sign', '-binary', ...files, '-md', 'sha256', '-outform', 'DER').toString('base64');
  };
  const json = exampleJson({ tpAmb: '1', serie: '1', nDPS: '3' })!;
  const sendJson = (by: Party): Promise<Told> =>
    send(service.address, json, { tenant, key: 'json', more: { 'X-DPS-Assinatura': cms(json, by) } });
  const [own, theirs, foreign] = [await sendJson(provider), await sendJson(namesake), await sendJson(stranger)];
  assert.deepEqual([own.status, own.isRepeated], [201, false], own.text);
  assert.equal(theirs.isRepeated, true);
  assert.deepEqual(saidBy(theirs), saidBy(own));
  assert.deepEqual([foreign.status, foreign.body.codigo_erro], [401, 'E9007']);

  const confirm = (by: Party): Promise<Told> =>
    send(service.address, evento, {
      tenant,
      key: 'evento',
      to: PATHS.chave(own.body),
      more: { 'X-Evento-Assinatura': cms(evento, by) },
    });
  const [registered, repeated, refused] = [await confirm(provider), await confirm(namesake), await confirm(stranger)];
  assert.deepEqual([registered.status, registered.isRepeated], [201, false], registered.text);
  assert.equal(repeated.isRepeated, true);
  assert.deepEqual(saidBy(repeated), saidBy(registered));
  assert.deepEqual([refused.status, refused.body.codigo_erro], [401, 'E9007']);
});

// The store alone.

/** `nome`: of the DPS; `key`: undefined in nearly all requests. */
const issuance = (nome: string | undefined, key: string | undefined, more: object | 'fails' = {}): Issuance => ({
  prestador: PROVIDER_CNPJ,
  mes: MES,
  dps: nome === undefined ? { serie: 'own ' } : { id: nome },
  novoPrestador: undefined,
  key: key === undefined ? undefined : keyed(key),
  complete: ({ nDPS }) => {
    if (more === 'fails') throw new Error('this note could not be made');
    return rowOf(nome ?? dpsIdInSerie('own ', nDPS!), more);
  },
});

function keyed(key: string): KeyedSuccess {
  const impressao = Buffer.alloc(32, key);
  return { impressao, rota: '/r', corpo: Buffer.alloc(32), criado_em: NOON, avisos: [] };
}

const outcome = (result: IssueResult): string => Object.keys(result)[0]!;

describe('in the store', () => {
  const open = async () => {
    const pool = await freshPool();
    const store = createStore(pool);
    await store.municipios.create({ tenant: 'alfa', ambiente: 'homologacao', codigoIbge: undefined }, NOON);
    const numbers = async (): Promise<readonly number[]> =>
      (await pool.query('select numero_dps::int as n from notas order by 1')).rows.map(({ n }) => n);
    return { pool, store, numbers };
  };

  test('who comes without a key asks the database for nothing more', async () => {
    const { pool } = await open();
    const statements: Statements = new Map();
    const store = createStore(recorded(pool, statements));
    const both = [issuance('a', undefined), issuance(undefined, undefined)];
    for (const result of await Promise.all(both.map((job) => store.notas.issue('alfa', job))))
      assert.ok('nota' in result);
    assert.equal(statements.size > 0, true);
    assert.deepEqual(
      [...statements.keys()].filter((text) => /idempotencia/.test(text)),
      [],
    );
  });

  test('a key that somebody has takes no number, and nobody of its group along; numbers stay without a gap', async () => {
    const { store, numbers } = await open();
    assert.ok('nota' in (await store.notas.issue('alfa', issuance('a', 'K'))));
    const jobs = [
      issuance('b', undefined),
      issuance('c', 'K'),
      issuance(undefined, 'K'),
      issuance(undefined, 'L'),
      issuance(undefined, 'L'),
      issuance('a', 'M'),
      issuance('d', 'N', 'fails'),
      issuance('e', 'O'),
    ];
    const results = await Promise.all(jobs.map((job) => store.notas.issue('alfa', job)));
    assert.deepEqual(results.map(outcome), [
      'nota',
      'isRepeated',
      'isRepeated',
      'nota',
      'isRepeated',
      'duplicateOf',
      'error',
      'nota',
    ]);
    assert.deepEqual(await numbers(), [1, 2, 3, 4]);
    // A request that stored nothing releases its key.
    for (const key of ['M', 'N']) {
      assert.equal(await store.idempotencia.findAnswer('alfa', keyed(key).impressao, NOON), undefined);
      assert.ok('nota' in (await store.notas.issue('alfa', issuance(undefined, key))));
    }
    const kept = await store.idempotencia.findAnswer('alfa', keyed('O').impressao, NOON);
    assert.ok(kept !== undefined && 'nota' in kept && 'nota' in results[7]!);
    assert.equal(kept.nota.chave_acesso, results[7]!.nota.chave_acesso);
    assert.equal(kept.nota.nfse, results[7]!.nota.nfse);
  });

  test('a row that the database refuses has its key back, and the others of the group have theirs with their notes', async () => {
    const { store, numbers } = await open();
    const results = await Promise.all([
      store.notas.issue('alfa', issuance('a', 'A')),
      store.notas.issue('alfa', issuance('b', 'B', { valor_servico: '9'.repeat(30) })),
      store.notas.issue('alfa', issuance('c', 'C')),
    ]);
    assert.deepEqual(results.map(outcome), ['nota', 'error', 'nota']);
    assert.equal(await store.idempotencia.findAnswer('alfa', keyed('B').impressao, NOON), undefined);
    for (const key of ['A', 'C']) assert.ok(await store.idempotencia.findAnswer('alfa', keyed(key).impressao, NOON));
    assert.deepEqual(await numbers(), [1, 2]);
  });

  test('a refusal never takes the place of an answer, and an endless one is not kept', async () => {
    const { store } = await open();
    await store.notas.issue('alfa', issuance('a', 'A'));
    const fault = { codigo: 'E0001', xpath: '/DPS', mensagem: 'Não.' };
    const { avisos: _none, ...request } = keyed('A');
    assert.equal(await store.idempotencia.keepRefusal('alfa', { ...request, status: 422, faults: [fault] }), false);
    const other = { ...request, impressao: keyed('B').impressao };
    const endless = { ...fault, mensagem: 'x'.repeat(100_000) };
    assert.equal(await store.idempotencia.keepRefusal('alfa', { ...other, status: 422, faults: [endless] }), true);
    assert.equal(await store.idempotencia.findAnswer('alfa', other.impressao, NOON), undefined);
    // The text of a fault is returned unchanged.
    const strange = { ...fault, mensagem: 'a\u0000b \ud800 "\\u0000"', detalhes: { z: 1, a: ['é'] } };
    assert.equal(await store.idempotencia.keepRefusal('alfa', { ...other, status: 422, faults: [strange] }), true);
    const kept = await store.idempotencia.findAnswer('alfa', other.impressao, NOON);
    assert.ok(kept !== undefined && 'faults' in kept);
    assert.equal(JSON.stringify(kept.faults), JSON.stringify([strange]));
  });

  test('a municipality that has only refused can still be taken away', async () => {
    const { store, pool } = await open();
    const { avisos: _none, ...request } = keyed('A');
    const fault = { codigo: 'E0001', xpath: '/DPS', mensagem: 'Não.' };
    await store.idempotencia.keepRefusal('alfa', { ...request, status: 422, faults: [fault] });
    assert.equal(await store.municipios.delete('alfa'), true);
    assert.equal((await pool.query('select 1 from idempotencia')).rowCount, 0);
  });

  test('every statement about keys looks its rows up by whole keys, on empty tables and on full ones', async () => {
    const { pool } = await open();
    const statements: Statements = new Map();
    const store = createStore(recorded(pool, statements));
    await store.notas.issue('alfa', issuance('a', 'A'));
    await store.notas.issue('alfa', issuance('a', 'B'));
    await store.idempotencia.findAnswer('alfa', keyed('A').impressao, NOON);
    await store.idempotencia.forget(NOON + 76 * HOUR_MS);
    for (const text of statements.keys()) if (!/idempotencia/.test(text)) statements.delete(text);
    assert.equal(statements.size, 5);
    await noneScans(pool, statements, ['alfa', 'beta']);
    await pool.query(`insert into municipios (tenant, ambiente, criado_em) select 'm' || n, 'homologacao', now()
      from generate_series(1, 3) n`);
    await pool.query(`insert into idempotencia (tenant, impressao, rota, corpo, status, nota, mes, avisos, criado_em)
      select 'm' || n % 3 + 1, sha256(n::text::bytea), '/r', sha256(n::text::bytea), 201, n, ${MES}, '[]', now()
      from generate_series(1, 20000) n`);
    await pool.query('analyze');
    for (const tenant of ['m1', 'gama']) {
      await noneScans(pool, statements, ['alfa', tenant]);
      await allLookUp(pool, statements, ['alfa', tenant], /^municipios/);
    }
  });
});
