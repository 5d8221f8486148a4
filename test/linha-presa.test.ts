/** One locked row: a client that needs it is told to retry, and no other client is affected. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client } from '../src/base/pg/pg.ts';
import { notaMove } from '../src/fiscal/nota.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { shortenWaits } from '../src/wiring/upkeep.ts';
import { onEnd } from './support/cleanup.ts';
import { freshDatabase } from './support/database.ts';
import { balcao, CANCELAMENTO } from './support/eventos.ts';
import { type Answer, emit } from './support/http.ts';
import { pace } from './support/pace.ts';
import { call, first, loteXml, PRESTADOR, porProtocolo } from './support/rps.ts';
import { startTestService } from './support/service.ts';
import { until } from './support/until.ts';

const isLong = process.env['NFSE_TEST_LONGO'] !== undefined;
const PROVIDERS = [
  '11222333000181',
  '12ABC34501DE35',
  '11444777000161',
  '00000000000191',
  '33000167000101',
  '60746948000112',
];
const [HELD] = PROVIDERS as [string];
const OF_ITS_SEQUENCE = 'select 1 from numeracao where tenant = $1 and prestador = $2 for update';
const OF_A_NOTE = 'select 1 from notas where tenant = $1 and chave_acesso = $2 for update';
const OF_WHAT_WAITS = `select 1 from fila f join notas n on n.tenant = $1 and n.mes = f.mes and n.id = f.id
  where f.tenant = $1 and f.tipo = 'nota' and n.chave_acesso = $2 for update of f`;

/** A service, and another session that locks a row until it is told to release it. */
async function held(options: { worker?: boolean } = {}) {
  const connection = await freshDatabase();
  const service = await startTestService({ connection, ...options });
  const other = new Client(connection);
  await other.connect();
  onEnd(() => other.end());
  return {
    service,
    hold: async (text: string, key: string): Promise<void> => {
      await other.query('begin');
      const { rowCount } = await other.query(text, ['integracao', key]);
      assert.equal(rowCount, 1);
    },
    letGo: () => other.query('rollback'),
  };
}

let made = 0;
function dpsOf(prestador: string): string {
  made += 1;
  return exampleXml({ 'prest/CNPJ': prestador, serie: '1', nDPS: String(made) });
}

function assertComeAgain({ status, headers, body }: Answer): void {
  assert.equal(status, 503, JSON.stringify(body));
  assert.equal(body.codigo_erro, 'E703');
  assert.equal(headers.get('retry-after'), '2');
  assert.match(body.mensagem, /ocupa os dados/);
}

test('the sequence of a provider: the others of the municipality go on', { timeout: 600_000 }, async (t) => {
  const { service, hold, letGo } = await held();
  for (const prestador of PROVIDERS) assert.equal((await emit(service.address, dpsOf(prestador))).status, 201);
  await hold(OF_ITS_SEQUENCE, HELD);
  const began = performance.now();
  const waits: { readonly prestador: string; readonly ms: number; readonly answer: Answer }[] = [];
  const send = async (prestador: string): Promise<void> => {
    const from = performance.now();
    const answer = await emit(service.address, dpsOf(prestador));
    waits.push({ prestador, ms: performance.now() - from, answer });
  };
  do {
    await Promise.all(PROVIDERS.map(send));
    await pace(100);
  } while (waits.length < 5 * PROVIDERS.length || (isLong && performance.now() - began < 40_000));
  // The service does not wait again for a provider whose row it found locked.
  const longest = (some: typeof waits): number => Math.round(Math.max(...some.map(({ ms }) => ms)));
  const others = waits.filter(({ prestador }) => prestador !== HELD);
  const [firstOthers, laterOthers] = [others.slice(0, 5), others.slice(5)];
  t.diagnostic(
    `${waits.length} sent; the others waited ${longest(firstOthers)} ms at first, then ${longest(laterOthers)} ms; the held one ${longest(waits.filter(({ prestador }) => prestador === HELD))} ms`,
  );
  for (const { prestador, answer } of waits) {
    if (prestador === HELD) assertComeAgain(answer);
    else assert.equal(answer.status, 201, JSON.stringify(answer.body));
  }
  const refused = waits.filter(({ prestador }) => prestador === HELD).length;
  const told = service.logged.filter(({ message }) => /uma requisição falhou/.test(message));
  assert.ok(told.length > 0 && told.length < refused, `${told.length} lines of ${refused} refusals`);
  for (const { about, message } of told) {
    assert.match(message, /^Outra gravação ocupa os dados/);
    assert.ok(!('err' in about), JSON.stringify(about));
  }
  await letGo();
  await until(async () => {
    const answer = await emit(service.address, dpsOf(HELD));
    if (answer.status === 201) return true;
    assertComeAgain(answer);
    return undefined;
  }, 'a note of who was held');
  const { rows } = await service.pool.query<{ gaps: string }>(
    'select max(numero_dps) - count(*) as gaps from notas group by prestador_cpf_cnpj',
  );
  for (const { gaps } of rows) assert.equal(gaps, '0');
  if (isLong) assert.ok(longest(laterOthers) < 1_000);
});

test('the sequence of a lot’s provider: lots of others are processed, and its own when it is let go', {
  timeout: 600_000,
}, async () => {
  const { service, hold, letGo } = await held();
  const { address } = service;
  for (const prestador of [PRESTADOR, PROVIDERS[2]!]) assert.equal((await emit(address, dpsOf(prestador))).status, 201);
  await hold(OF_ITS_SEQUENCE, PRESTADOR);
  const send = async (numero: number, cnpj: string): Promise<string> => {
    const { documento, body } = await call(
      address,
      'RecepcionarLoteRps',
      loteXml([{ numero }], { numero: String(numero), cnpj }),
    );
    return first(documento, 'Protocolo') ?? assert.fail(body);
  };
  const situacaoOf = async (protocolo: string, cnpj: string): Promise<string | undefined> => {
    const asked = porProtocolo('ConsultarSituacaoLoteRpsEnvio', protocolo, cnpj);
    return first((await call(address, 'ConsultarSituacaoLoteRps', asked)).documento, 'Situacao');
  };
  const own = await Promise.all([901, 902, 903].map((numero) => send(numero, PRESTADOR)));
  const other = await send(904, PROVIDERS[2]!);
  await until(async () => ((await situacaoOf(other, PROVIDERS[2]!)) === '4' ? true : undefined), 'the lot of another');
  assert.deepEqual(await Promise.all(own.map((protocolo) => situacaoOf(protocolo, PRESTADOR))), ['2', '2', '2']);
  await letGo();
  await until(async () => {
    // A postponed lot is due by the clock of the test.
    service.clock.now += 1_000;
    const all = await Promise.all(own.map((protocolo) => situacaoOf(protocolo, PRESTADOR)));
    return all.every((situacao) => situacao === '4') ? true : undefined;
  }, 'its own lots');
});

describe('a note', () => {
  test('its events and cancellations come again; those of other notes are registered', {
    timeout: 600_000,
  }, async () => {
    const { service, hold, letGo } = await held({ worker: false });
    const { register, issue } = balcao(service.address);
    const [one, another] = [await issue(), await issue()];
    await hold(OF_A_NOTE, one.chave_acesso);
    // The requests do not wait in a line, each for as long as the first did.
    const mine = Promise.all([1, 2, 3, 4].map(() => register(one, CANCELAMENTO)));
    assert.equal((await register(another, CANCELAMENTO)).status, 201);
    for (const answer of await mine) assertComeAgain(answer);
    await letGo();
    assert.equal((await register(one, CANCELAMENTO)).status, 201);
  });

  test('a clock that was set back: the others are due at once, and the worker does not stand for this one', {
    timeout: 600_000,
  }, async () => {
    const { service, hold, letGo } = await held({ worker: false });
    const { world, clock } = service;
    clock.now += 2 * 3_600_000;
    const [one] = [await emit(service.address, dpsOf(HELD)), await emit(service.address, dpsOf(HELD))];
    clock.now -= 2 * 3_600_000;
    await hold(OF_WHAT_WAITS, one.body.chave_acesso);
    assert.equal(await shortenWaits(world), 1);
    await letGo();
    assert.equal(await shortenWaits(world), 1);
  });

  test('the others are announced, and this one when it is let go, as a first attempt', {
    timeout: 600_000,
  }, async () => {
    const { service, hold, letGo } = await held({ worker: false });
    const { store, clock, pool } = service;
    const keys: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      keys.push((await emit(service.address, dpsOf(HELD))).body.chave_acesso);
    }
    const claim = async () => store.notas.claim('integracao', clock.now, clock.now + 60_000, 100);
    await hold(OF_A_NOTE, keys[2]!);
    const { token, notas } = await claim();
    assert.deepEqual(
      notas.map(({ chave_acesso }) => chave_acesso),
      keys.filter((_key, place) => place !== 2),
    );
    assert.deepEqual((await claim()).notas, [], 'whoever looks again meanwhile does not wait either');
    const announced = await store.notas.claimAnunciadas('integracao', token, clock.now, clock.now + 60_000, 100);
    assert.deepEqual(announced, []);
    await letGo();
    const again = await claim();
    assert.deepEqual(
      again.notas.map(({ chave_acesso, found, tentativas }) => ({ chave_acesso, found, tentativas })),
      [{ chave_acesso: keys[2], found: 'emitida', tentativas: 1 }],
    );
    const { rows } = await pool.query("select from fila where tipo = 'nota' and claims is null");
    assert.equal(rows.length, 0);
  });

  test('what became of the others is written, and of this one when it is let go', { timeout: 600_000 }, async () => {
    const { service, hold, letGo } = await held({ worker: false });
    const { store, clock } = service;
    const keys: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      keys.push((await emit(service.address, dpsOf(HELD))).body.chave_acesso);
    }
    const settle = async (): Promise<number> => {
      const { token, notas } = await store.notas.claim('integracao', clock.now, clock.now + 60_000, 100);
      if (notas.length === keys.length) await hold(OF_A_NOTE, keys[2]!);
      const move = notaMove('transmitida', 'autorizacao')!;
      const outcomes = notas.map(({ id, mes }) => ({ id, mes, move, mensagem_retorno: undefined, dueAt: undefined }));
      return store.notas.settle('integracao', token, clock.now, outcomes);
    };
    const estados = async (): Promise<readonly (string | undefined)[]> =>
      Promise.all(keys.map(async (chave) => (await store.notas.findByChave('integracao', chave))?.estado));
    assert.equal(await settle(), 5);
    assert.deepEqual(
      await estados(),
      keys.map((_key, place) => (place === 2 ? 'transmitida' : 'autorizada')),
    );
    await letGo();
    clock.now += 60_000;
    assert.equal(await settle(), 1);
    assert.deepEqual(
      await estados(),
      keys.map(() => 'autorizada'),
    );
  });
});
