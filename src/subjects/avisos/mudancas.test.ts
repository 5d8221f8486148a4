/**
 * Changes in one permanent order. Transactions overlap, are rolled back and die; several processes give places at once, and a reader
 * follows by a cursor. The same by HTTP, with a token.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { countCalls } from '../../../test/support/counted-calls.ts';
import { emit, request } from '../../../test/support/http.ts';
import { pace } from '../../../test/support/pace.ts';
import { startTestService } from '../../../test/support/service.ts';
import { unlessStoodStill } from '../../../test/support/standstill.ts';
import { until } from '../../../test/support/until.ts';
import { insertTrail } from '../../base/book/claims.ts';
import type { Mudou } from '../../base/book/mudancas-novas.ts';
import { orderMudancas } from '../../base/book/order-mudancas.ts';
import { openPool } from '../../base/pg/open.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { type Lugar, mudancaStore } from './mudancas.rows.ts';

const PRESTADOR = '11222333000181';
const OUTRO = '88888888000191';
const TENANT = 'integracao';
const API = `/${TENANT}/api/v1`;

const service = await startTestService();
const { address, store, pool, clock } = service;

async function tokenOf(documento: string): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await request(address, `${API}/token`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ documento }),
  });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.token;
}

function get(path: string, token: string | undefined, headers: Readonly<Record<string, string>> = {}) {
  const own = token === undefined ? headers : { ...headers, Authorization: `Bearer ${token}` };
  return request(address, `${API}/${path}`, { headers: own });
}

test('what changes', async (t) => {
  await t.test('is told to the parties of a note, each change once, and to nobody else', async () => {
    const issued = await emit(address, exampleXml());
    assert.equal(issued.status, 201, JSON.stringify(issued.body));
    const own = await tokenOf(PRESTADOR);
    const told: { id: string; tipo: string; chave_acesso: string; papeis: string[] }[] = [];
    let cursor = '';
    await until(async () => {
      const { status, body } = await get(`mudancas?desde=${cursor}&espera=5`, own);
      assert.equal(status, 200, JSON.stringify(body));
      cursor = body.cursor;
      told.push(...body.mudancas);
      return told.some(({ tipo }) => tipo === 'nota.autorizada') || undefined;
    }, 'the note is authorised');
    assert.deepEqual(
      told.map(({ tipo }) => tipo),
      ['nota.emitida', 'nota.transmitida', 'nota.autorizada'],
    );
    for (const one of told) {
      assert.equal(one.chave_acesso, issued.body.chave_acesso);
      assert.deepEqual(one.papeis, ['prestador']);
    }
    assert.equal(new Set(told.map(({ id }) => id)).size, 3);
    const after = (await get(`mudancas?desde=${cursor}`, own)).body;
    assert.deepEqual([after.mudancas, after.mais], [[], false]);
    // A reader that starts from the beginning gets the same changes in the same order.
    const again = (await get('mudancas?limite=2', own)).body;
    assert.deepEqual(again.mudancas, told.slice(0, 2));
    assert.equal(again.mais, true);
    const rest = (await get(`mudancas?desde=${again.cursor}`, own)).body;
    assert.deepEqual(rest.mudancas, told.slice(2));
    const taker = await tokenOf(OUTRO);
    assert.deepEqual((await get('mudancas', taker)).body.mudancas, []);
    for (const refused of [await get(`mudancas?documento=${PRESTADOR}`, taker), await get('mudancas', undefined)]) {
      assert.equal(refused.status, 401, JSON.stringify(refused.body));
    }
  });

  await t.test('is a line each where lines are asked for, with the place behind them', async () => {
    const own = await tokenOf(PRESTADOR);
    const whole = (await get('mudancas', own)).body;
    const answer = await get('mudancas', own, { Accept: 'application/x-ndjson' });
    assert.equal(answer.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
    assert.equal(answer.headers.get('x-cursor'), whole.cursor);
    assert.deepEqual(
      (answer.body as string)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
      whole.mudancas,
    );
  });

  await t.test('wakes who waits for it, and ends his waiting without it', async () => {
    const own = await tokenOf(PRESTADOR);
    const { cursor } = (await get('mudancas?desde=agora', own)).body;
    // The longest waiting may end while the machine stands still.
    const looked = countCalls(store.mudancas, 'listChanged')(2);
    const waiting = until(async () => {
      const { body } = await get(`mudancas?desde=${cursor}&espera=50`, own);
      return body.mudancas.length > 0 ? body : undefined;
    }, 'the note is told');
    await looked;
    const issued = await emit(address, exampleXml({ nDPS: '77' }));
    assert.equal(issued.status, 201, JSON.stringify(issued.body));
    const { mudancas } = await waiting;
    assert.equal(mudancas[0].chave_acesso, issued.body.chave_acesso);
    const none = await get('mudancas?desde=agora&espera=1', await tokenOf(OUTRO));
    assert.deepEqual(none.body.mudancas, []);
  });

  await t.test('is refused with the reason where the place is none', async () => {
    const own = await tokenOf(PRESTADOR);
    for (const [query, campo] of [
      ['desde=ontem', 'desde'],
      ['desde=m999999-0', 'desde'],
      ['espera=90', 'espera'],
      ['limite=0', 'limite'],
      ['desde=agora&desde=agora', 'desde'],
      ['cursor=m1-0', 'cursor'],
    ] as const) {
      const { status, body } = await get(`mudancas?${query}`, own);
      assert.deepEqual([status, body.campo], [400, campo], JSON.stringify(body));
    }
  });

  await t.test('a note that is not decided is answered when it is', async () => {
    const issued = await emit(address, exampleXml({ nDPS: '78' }));
    const asked = `nfse/${issued.body.chave_acesso}`;
    await unlessStoodStill(async () => {
      const { status, body } = await get(`${asked}?espera=50`, undefined);
      assert.deepEqual([status, body.nota.status], [200, 'autorizada']);
    });
    const { headers } = await get(asked, undefined);
    const tag = headers.get('etag')!;
    const same = await get(asked, undefined, { 'If-None-Match': tag });
    assert.deepEqual([same.status, same.body, same.headers.get('etag')], [304, '', tag]);
    assert.equal((await get(`${asked}?espera=x`, undefined)).status, 400);
  });

  await t.test('long ago is forgotten, and who comes from there is told so', async () => {
    const own = await tokenOf(PRESTADOR);
    await until(async () => {
      const { rows } = await pool.query('select 1 from fila union all select 1 from mudancas_novas limit 1');
      return rows.length === 0 || undefined;
    }, 'nothing goes on any more');
    const first = (await get('mudancas?limite=1', own)).body;
    assert.equal(await store.mudancas.forget(TENANT, clock.now + 1), false);
    const gone = await get(`mudancas?desde=${first.cursor}`, own);
    assert.deepEqual([gone.status, gone.body.campo], [400, 'desde'], JSON.stringify(gone.body));
    const { status, body } = await get('mudancas', own);
    assert.deepEqual([status, body.mudancas], [200, []]);
  });
});

test('moves of one note keep their order whatever the clocks say, and those of others have theirs', () => {
  const at = (id: string, movimento: number, em: number): Mudou => ({
    tipo: 'nota.x',
    item: 'nota',
    id,
    mes: 202611,
    movimento,
    em,
    para: 'x',
  });
  const sorted = orderMudancas([at('1', 2, 10), at('2', 1, 20), at('1', 1, 30), at('1', 3, 25)]);
  assert.deepEqual(
    sorted.map(({ id, movimento }) => `${id}.${movimento}`),
    ['2.1', '1.1', '1.2', '1.3'],
  );
});

test('of one moment a note lets its event go before it moves, and is cancelled after it', () => {
  const at = (item: Mudou['item'], id: string, movimento: number, para: string, em = 10): Mudou => ({
    ...{ tipo: `${item}.${para}`, item, id, mes: 202611, movimento, em, para },
  });
  const right = [
    at('nota', '1', 2, 'autorizada'),
    at('evento', '7', 2, 'processado'),
    at('nota', '1', 3, 'cancelada'),
    at('nota', '2', 1, 'emitida', 11),
  ];
  for (const mixed of [right, right.toReversed(), [right[2]!, right[0]!, right[3]!, right[1]!]]) {
    assert.deepEqual(orderMudancas(mixed), right);
  }
  // A clock that went back can make two moments equal; the moves of a note keep their order all the same.
  const back = [at('nota', '1', 1, 'cancelada', 20), at('nota', '1', 2, 'emitida', 5)];
  assert.deepEqual(orderMudancas(back.toReversed()), back);
});

/** Enough to show a gap between two commits, if the database answers within milliseconds. */
const [WRITERS, ROUNDS] = [8, 25];

test('nothing is missed and nothing told twice, though transactions overlap, roll back and are killed', async () => {
  const tenant = 'sobreposta';
  await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, clock.now);
  const mes = 202611;
  const chave = (id: number): string => `${'0'.repeat(36)}2611${String(id).padStart(10, '0')}`;
  const ids = Array.from({ length: WRITERS }, (_, place) => 1_000 + place);
  for (const id of ids) {
    await pool.query(
      `insert into notas (tenant, mes, id, chave_acesso, numero_protocolo, id_dps, estado, numero_dps, serie_dps, numero_dps_nacional,
        data_emissao, data_competencia, prestador_cpf_cnpj, prestador_razao_social, valor_servico)
      values ($1, $2, $3, $4, $5, $4, 'emitida', 1, '1', '1', now(), now(), $6, 'x', 1)`,
      [tenant, mes, id, chave(id), `${mes}${id}`, PRESTADOR],
    );
  }
  const others = openPool({ ...pool.options, max: WRITERS }, () => undefined);
  const committed = new Set<string>();
  const uncertain = new Set<string>();
  let [isOver, isPlaced] = [false, false];

  /** Each writer has one note, whose moves follow one another in transactions that stay open for a while. */
  const write = async (id: number): Promise<void> => {
    let movimento = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const client = await others.connect();
      let lost: Error | undefined;
      const key = `nota-${id}-${movimento + 1}`;
      try {
        await client.query('begin');
        await client.query('select 1 from notas where tenant = $1 and mes = $2 and id = $3 for update', [
          tenant,
          mes,
          id,
        ]);
        const ref = { id: String(id), mes };
        // The clocks of the writers disagree by seconds.
        const em = clock.now + randomInt(-5_000, 5_000);
        const move = {
          ...ref,
          movimento: movimento + 1,
          em,
          de: `e${movimento}`,
          gatilho: 'x',
          para: `e${movimento + 1}`,
          dito: undefined,
        };
        await insertTrail(client, tenant, 'nota', [move]);
        await pace(randomInt(0, 40));
        const fate = randomInt(0, 10);
        if (fate === 0) await client.query('rollback');
        else if (fate === 1) {
          const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
          await pool.query('select pg_terminate_backend($1::int)', [rows[0]!.pid]);
          await client.query('commit');
        } else {
          await client.query('commit');
          committed.add(key);
          movimento += 1;
        }
      } catch (error) {
        lost = error as Error;
        // The session was killed before the commit; the outcome is unknown.
        uncertain.add(key);
      } finally {
        client.release(lost ?? false);
      }
    }
  };

  const place = async (): Promise<void> => {
    const own = mudancaStore(others);
    while (!isOver) {
      await own.append(tenant, clock.now).catch(() => undefined);
      await pace(randomInt(0, 10));
    }
  };

  const told: string[] = [];
  const read = async (): Promise<void> => {
    let from: Lugar = { bloco: 1, lidas: 0 };
    for (let isLast = false; ; ) {
      const { mudancas, ate } = await store.mudancas.list(tenant, PRESTADOR, from, randomInt(1, 20));
      told.push(...mudancas.map(({ id, movimento }) => `nota-${id}-${movimento}`));
      if (ate === undefined && isLast) return;
      // This pass reads everything only if all changes were placed before it began.
      isLast = ate === undefined && isPlaced;
      from = ate ?? from;
      await pace(1);
    }
  };

  const reading = read();
  const placing = [place(), place(), place()];
  await Promise.all(ids.map(write));
  isOver = true;
  await Promise.all(placing);
  // The worker of the service may be placing the last ones.
  await until(async () => {
    await store.mudancas.append(tenant, clock.now);
    const { rows } = await pool.query('select 1 from mudancas_novas where tenant = $1 limit 1', [tenant]);
    return rows.length === 0 || undefined;
  }, 'every change has its place');
  isPlaced = true;
  await reading;
  const rest = await store.mudancas.list(tenant, PRESTADOR, { bloco: 1, lidas: 0 }, 10_000);
  const all = rest.mudancas.map(({ id, movimento }) => `nota-${id}-${movimento}`);
  assert.ok(committed.size > WRITERS * 5, `${committed.size} were committed`);
  assert.ok(uncertain.size > 0, 'none was killed');
  assert.deepEqual(new Set(all), committed);
  assert.equal(all.length, committed.size, 'one was told twice');
  assert.deepEqual(told, all.slice(0, told.length), 'who follows is told another order than who comes later');
  assert.equal(told.length, all.length);
  for (const id of ids) {
    const own = all.filter((key) => key.startsWith(`nota-${id}-`));
    assert.deepEqual(
      own,
      own.map((_, at) => `nota-${id}-${at + 1}`),
    );
  }
  await others.end();
});
