/**
 * A separate thread answers requests with large bodies, one after another, with the same answers as the main thread. Processor time and
 * queue length are limited. The other threads learn of the rows that this thread stores.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { OnStored } from '../src/base/book/recent.ts';
import { ASIDE_BYTES, type Aside } from '../src/base/http/aside.ts';
import { SALAS } from '../src/base/world/lugares.ts';
import { createRestDoor } from '../src/doors/rest/door.ts';
import { BYTES_POR_DOCUMENTO } from '../src/fiscal/ambiente.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import type { Collector } from '../src/wiring/collect.ts';
import { AsideThread } from '../src/wiring/large-bodies.ts';
import { createLog, type Logger } from '../src/wiring/log.ts';
import { onEnd } from './support/cleanup.ts';
import { dropTrigger, freshDatabase } from './support/database.ts';
import { longestDps } from './support/dear-requests.ts';
import { authorised, emit, request } from './support/http.ts';
import { ABRASF, call, consultaXml, envelope, escaped, first, loteXml, post } from './support/rps.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until, untilTrue } from './support/until.ts';

const VALIDACAO = '/integracao/api/v1/nfse/v101/validacao';
const WAITING_MAX = SALAS.corpos_grandes.homologacao;
const LONGEST = longestDps('2');
const numbered = (nDPS: string): string =>
  LONGEST.replaceAll('000000000000001', nDPS.padStart(15, '0')).replace('<nDPS>1<', `<nDPS>${nDPS}<`);
const xml = (body: string): RequestInit => ({ method: 'POST', headers: { 'Content-Type': 'application/xml' }, body });

/** A gate before the thread. `gather` holds that many requests back, and passes them together once all have come. */
function gateTo(aside: Aside): Aside & { gather(count: number): void } {
  const waiting: (() => void)[] = [];
  let left = 0;
  return {
    gather: (count) => {
      left = count;
    },
    answer: (async (call, sender) => {
      if (left > 0) {
        const opened = new Promise<void>((resolve) => waiting.push(resolve));
        left -= 1;
        if (left === 0) for (const open of waiting.splice(0)) open();
        await opened;
      }
      return aside.answer(call, sender);
    }) as Aside['answer'],
  };
}

describe('a body above 32 KiB', () => {
  let service: TestService;
  let connection: Awaited<ReturnType<typeof freshDatabase>>;
  /** The server of the tests that do not configure the thread: a new thread costs half a second. */
  let shared: string;
  let gate: ReturnType<typeof gateTo>;
  const stored: string[] = [];

  /** A server that answers such bodies in a thread; its trusted proxy lets a test use any client address. */
  async function doorWith(cpuMaxMs?: () => number, between = (aside: Aside): Aside => aside): Promise<string> {
    const log = createLog('silent').log as Logger;
    const onStored: OnStored = (tenant, documents) => stored.push(...documents.map(() => tenant));
    const told = { onStored, wake: service.world.wake };
    const aside = new AsideThread(
      { connection, logLevel: 'silent' },
      log,
      cpuMaxMs === undefined ? told : { ...told, cpuMaxMs },
    );
    const options = { host: '127.0.0.1', port: 0, trustProxy: true, accessLog: false, aside: between(aside) } as const;
    const door = await createRestDoor(service.world, options);
    onEnd(async () => {
      await door.close();
      await aside.stop();
    });
    return door.address;
  }

  before(async () => {
    connection = await freshDatabase();
    const clock = {
      get now() {
        return Date.now();
      },
    };
    service = await startTestService({ connection, clock });
    shared = await doorWith(undefined, (aside) => {
      gate = gateTo(aside);
      return gate;
    });
  });

  test('who waits for the thread is told so when it is time to end, and who is being answered is answered', async () => {
    const log = createLog('silent').log as Logger;
    const told = { onStored: () => undefined, wake: service.world.wake };
    const aside = new AsideThread({ connection, logLevel: 'silent' }, log, told);
    const gate = gateTo(aside);
    const options = { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false, aside: gate } as const;
    const door = await createRestDoor(service.world, options);
    const ask = async (): Promise<number> => (await request(door.address, VALIDACAO, xml(LONGEST))).status;
    // One request starts the thread.
    assert.equal(await ask(), 200);
    gate.gather(6);
    const statuses: number[] = [];
    const sent = Array.from({ length: 6 }, async () => {
      statuses.push(await ask());
      aside.turnAway();
    });
    await Promise.race(sent);
    const closed = door.close();
    await Promise.all(sent);
    assert.equal(statuses[0], 200);
    assert.ok(statuses.includes(503), String(statuses));
    assert.ok(statuses.every((status) => status === 200 || status === 503));
    await closed;
    await aside.stop();
  });

  test('ends the thread once no other comes, and the next one gets another', async () => {
    const log = createLog('silent').log as Logger;
    const threads = { begun: 0, ended: 0 };
    const add = (): (() => void) => {
      threads.begun += 1;
      return () => {
        threads.ended += 1;
      };
    };
    const collector = { processo: '1', add } as unknown as Collector;
    const told = { onStored: () => undefined, wake: service.world.wake, collector, idleMs: 1 };
    const aside = new AsideThread({ connection, logLevel: 'silent' }, log, told);
    const options = { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false, aside } as const;
    const door = await createRestDoor(service.world, options);
    onEnd(async () => {
      await door.close();
      await aside.stop();
    });
    for (const number of [1, 2]) {
      assert.equal((await request(door.address, VALIDACAO, xml(LONGEST))).status, 200);
      await untilTrue(() => threads.ended === number, 'the thread has ended');
      assert.equal(threads.begun, number);
    }
  });

  test('is answered as where it comes in, and what it issues is transmitted', async () => {
    assert.ok(Buffer.byteLength(LONGEST) > ASIDE_BYTES);
    const address = shared;
    stored.length = 0;
    const { status, body } = await emit(address, LONGEST);
    assert.equal(status, 201, JSON.stringify(body).slice(0, 500));
    assert.deepEqual(stored, ['integracao']);
    assert.equal((await authorised(address, body.chave_acesso)).status, 200);
    const wrong = LONGEST.replaceAll('<tpDedRed>2<', '<tpDedRed>x<');
    const [aside, here] = await Promise.all(
      [address, service.address].map((where) => request(where, VALIDACAO, xml(wrong))),
    );
    const told = ({ status: answered, body: { erros } }: Awaited<ReturnType<typeof request>>) => ({ answered, erros });
    const withoutAddress = (text: string): string => text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '');
    assert.equal(withoutAddress(JSON.stringify(told(aside!))), withoutAddress(JSON.stringify(told(here!))));
    assert.ok(aside!.body.erros.length > 10);
  });

  test('that takes too much of the processor is ended with a refusal, stores nothing, and the next is answered', async () => {
    // This test has its own municipality: in the other one, the worker issues the lots of other tests.
    const tenant = 'apertado';
    await service.store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, Date.now());
    const count = () => service.pool.query('select count(*)::int as notas from notas where tenant = $1', [tenant]);
    const before = await count();
    const address = await doorWith(() => 1);
    const emitted = (body: string) => request(address, `/${tenant}/api/v1/nfse/v101`, xml(body));
    const refused = await emitted(LONGEST);
    assert.equal(refused.status, 413, JSON.stringify(refused.body));
    assert.equal(refused.body.erros[0].codigo, 'E003');
    assert.match(refused.body.erros[0].mensagem, /de processador e foi encerrado: .*divida um lote/);
    const lot = await post(address, envelope(`<a>${'x'.repeat(900_000)}${'<b/>'.repeat(30_000)}</a>`), { tenant });
    assert.ok([413, 500].includes(lot.status), lot.body);
    assert.deepEqual((await count()).rows, before.rows, 'a note was stored');
    assert.equal((await emitted(exampleXml())).status, 201);
  });

  test('is not ended while a commit is under way, which would deny a note that stands', async () => {
    let [budget, looks] = [Number.POSITIVE_INFINITY, 0];
    const address = await doorWith(() => {
      if (budget === 0) looks += 1;
      return budget;
    });
    await service.pool.query(`
      create function dorme() returns trigger language plpgsql as 'begin perform pg_sleep(2); return new; end';
      create trigger dorme before insert on notas for each row
        when (new.tomador_razao_social = 'Marta Exemplo') execute function dorme();`);
    try {
      // The worker may be issuing the lots of other tests, whose taker has another name.
      const answer = emit(address, LONGEST.replace('Maria Exemplo', 'Marta Exemplo'));
      await until(async () => {
        const asleep = "select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
        return (await service.pool.query(asleep)).rowCount === 1 || undefined;
      }, 'a note on its way into the store');
      budget = 0;
      await untilTrue(() => looks > 0, 'a look at what the request took');
      const { status, body } = await answer;
      assert.equal(status, 201, JSON.stringify(body));
      assert.equal((await authorised(address, body.chave_acesso)).status, 200);
    } finally {
      await dropTrigger(service.pool, 'dorme', 'notas');
    }
  });

  test('waits with a few others, and is refused with a time to come back beyond', async () => {
    const ask = () => request(shared, VALIDACAO, xml(LONGEST));
    assert.equal((await ask()).status, 200);
    const count = 1 + WAITING_MAX + 5;
    gate.gather(count);
    const answers = await Promise.all(Array.from({ length: count }, ask));
    const crowded = answers.filter(({ status }) => status === 503);
    assert.equal(crowded.length, 5);
    assert.equal(answers.filter(({ status }) => status === 200).length, 1 + WAITING_MAX);
    for (const { body, headers } of crowded) {
      assert.equal(body.erros[0].codigo, 'E703');
      assert.match(headers.get('retry-after') ?? '', /^\d+$/);
    }
  });

  test('waits its turn: who sends one is answered next, however many another has sent, and gets a place of his', async () => {
    const address = shared;
    assert.equal((await request(address, VALIDACAO, xml(LONGEST))).status, 200);
    const ended: { from: string; status: number }[] = [];
    const ask = async (from: string): Promise<void> => {
      const init = xml(LONGEST);
      const headers = { ...init.headers, 'X-Forwarded-For': from };
      const { status } = await request(address, VALIDACAO, { ...init, headers });
      ended.push({ from, status });
    };
    const count = 1 + WAITING_MAX + 20;
    gate.gather(count);
    const crowd = Array.from({ length: count }, (_, place) => ask(`2001:db8:9:${place}::1`));
    await untilTrue(() => ended.length > 0, 'all places are taken');
    await Promise.all([ask('192.0.2.1'), ask('192.0.2.2')]);
    const answered = ended.filter(({ status }) => status === 200);
    assert.ok(answered.filter(({ from }) => !from.startsWith('192')).length < 8, JSON.stringify(ended));
    assert.equal(answered.filter(({ from }) => from.startsWith('192')).length, 2);
    await Promise.all(crowd);
    assert.deepEqual(new Set(ended.map(({ status }) => status)), new Set([200, 503]));
  });

  test('of production waits for one of a rehearsal at most, from however many networks they come', async () => {
    const [tenant, count] = ['corpos', 1 + WAITING_MAX + 20];
    await service.store.municipios.create({ tenant, ambiente: 'producao', codigoIbge: '1100015' }, Date.now());
    assert.equal((await request(shared, VALIDACAO, xml(LONGEST))).status, 200);
    const ended: string[] = [];
    const ask = async (path: string, from: string): Promise<number> => {
      const init = xml(LONGEST);
      const { status } = await request(shared, path, {
        ...init,
        headers: { ...init.headers, 'X-Forwarded-For': from },
      });
      ended.push(`${path === VALIDACAO ? 'ensaio' : 'producao'} ${status}`);
      return status;
    };
    gate.gather(count);
    const crowd = Array.from({ length: count }, (_, place) => ask(VALIDACAO, `2001:db8:${place}::1`));
    await untilTrue(() => ended.includes('ensaio 503'), 'all places of rehearsals are taken');
    const before = ended.filter((one) => one === 'ensaio 200').length;
    assert.notEqual(await ask(`/${tenant}/api/v1/nfse/v101/validacao`, '192.0.2.1'), 503);
    // The present request and the next, and some that ended while this request was on its way.
    const passed = ended.filter((one) => one === 'ensaio 200').length - before;
    assert.ok(passed < 8, ended.join(', '));
    await Promise.all(crowd);
  });

  test('is counted with the short ones: for its address before it is read, and for its provider', async () => {
    const address = shared;
    const count = Math.ceil(Buffer.byteLength(LONGEST) / BYTES_POR_DOCUMENTO);
    const limits = { limiteEndereco: 0, limitePrestador: count + 1 };
    const settings = { ambiente: 'homologacao', codigoIbge: undefined } as const;
    await service.store.municipios.create({ tenant: 'contado', ...settings, ...limits }, Date.now());
    const emitted = (body: string) => request(address, '/contado/api/v1/nfse/v101', xml(body));
    const began = Date.now();
    const long = await emitted(numbered('201'));
    const tookS = Math.ceil((Date.now() - began) / 1_000);
    assert.equal(long.status, 201, JSON.stringify(long.body).slice(0, 300));
    const [, seconds] = /^"prestador";r=1;t=(\d+)$/.exec(long.headers.get('ratelimit') ?? '') ?? [];
    // The remaining time shrank meanwhile, at most by the duration of the request.
    const whole = Math.ceil((86_400 * count) / (count + 1));
    assert.ok(Number(seconds) <= whole && Number(seconds) >= whole - tookS, `${seconds} of ${whole} s`);
    assert.equal((await emitted(exampleXml({ nDPS: '202' }))).status, 201);
    assert.equal((await emitted(exampleXml({ nDPS: '203' }))).status, 429, 'a short one after a long one');
    assert.equal((await emitted(numbered('204'))).status, 429, 'a long one after short ones');

    const bounded = { limiteEndereco: 20 };
    await service.store.municipios.create({ tenant: 'lotes', ...settings, ...bounded }, Date.now());
    const list = Array.from({ length: 18 }, (_, place) => ({ numero: place + 1, emissao: '2026-11-20T10:00:00' }));
    const padded = loteXml(list).replace('</LoteRps>', `</LoteRps><!--${'x'.repeat(ASIDE_BYTES)}-->`);
    const lot = await call(address, 'RecepcionarLoteRps', padded, 'lotes');
    assert.ok(first(lot.documento, 'Protocolo') !== undefined, lot.body.slice(0, 500));
    const again = await call(address, 'RecepcionarLoteRps', loteXml(list, { numero: '2' }), 'lotes');
    assert.equal(again.status, 429);
  });

  test('of which the thread fails is answered E999, and the log has what failed', async () => {
    const address = shared;
    service.logged.length = 0;
    // The table is read for each note: a table that the thread caches would hide the failure.
    await service.pool.query('alter table numeracao rename to numeracao_fora');
    try {
      const { status, body } = await emit(address, LONGEST);
      assert.equal(status, 500);
      assert.equal(body.erros[0].codigo, 'E999');
      // A worker that takes lots of other tests may log the same error.
      const errors = service.logged.flatMap(({ about }) =>
        'err' in about ? [about.err as Error & { code?: string }] : [],
      );
      const [err] = errors.filter(({ code }) => code === '42P01');
      assert.match(err?.stack ?? '', /aside|issue\.rows/);
    } finally {
      await service.pool.query('alter table numeracao_fora rename to numeracao');
    }
  });

  test('is a lot of the legacy port, and no question', async () => {
    const address = shared;
    const list = Array.from({ length: 120 }, (_, place) => ({ numero: place + 1, emissao: '2026-11-20T10:00:00' }));
    const { documento, body } = await call(address, 'RecepcionarLoteRps', loteXml(list));
    assert.ok(first(documento, 'Protocolo') !== undefined, body.slice(0, 500));
    const padded = consultaXml(`<NumeroNfse>${' '.repeat(ASIDE_BYTES)}1</NumeroNfse>`);
    const inside = `<n:ConsultarNfse xmlns:n="${ABRASF}"><parameters>${escaped(padded)}</parameters></n:ConsultarNfse>`;
    // A search without results has the normal answer; only an answer of many pages requires a short query.
    assert.equal((await post(address, envelope(inside))).status, 200);
  });
});
