/** What a host may get, whoever registered what leads there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AVISO_CONFIRMAR_POR_MINUTO, AVISO_SIMULTANEOS } from '../flows/aviso-tempos.ts';
import { type Begun, openDestinos, type Veredito } from './destinos.ts';

const T0 = Date.parse('2026-11-29T12:00:00Z');

/** A host, asked by addresses of their own. */
function host() {
  const { begin } = openDestinos();
  const ask = (id: string, atMs = 0, isDesafio = false) => begin('host', { id, agora: T0 + atMs, isDesafio });
  const begun = (id: string, atMs = 0, isDesafio = false): Begun => {
    const vez = ask(id, atMs, isDesafio);
    assert.ok('end' in vez, `${id} at ${atMs} ms: ${JSON.stringify(vez)}`);
    return vez;
  };
  const putOffMs = (id: string, atMs = 0, isDesafio = false): number => {
    const vez = ask(id, atMs, isDesafio);
    assert.ok('adiadoMs' in vez, `${id} at ${atMs} ms has a turn`);
    return vez.adiadoMs;
  };
  return { ask, begun, putOffMs, send: (id: string, atMs: number, v: Veredito) => begun(id, atMs).end(v) };
}

test('so many questions go in a minute, and the others come one by one after them, in no rush', () => {
  const { begun, putOffMs } = host();
  for (let at = 0; at < AVISO_CONFIRMAR_POR_MINUTO; at += 1) begun(`w${at}`, 0, true).end('answered');
  const waits = Array.from({ length: 100 }, (_, at) => putOffMs(`x${at}`, 0, true));
  const eachMs = 60_000 / AVISO_CONFIRMAR_POR_MINUTO;
  assert.deepEqual(
    waits,
    waits.map((_, at) => (at + 1) * eachMs),
  );
  // As each comes back at its moment it has its turn.
  for (const wait of waits) begun('x', wait, true).end('answered');
  // Messages have nothing to do with it.
  begun('other');
});

test('so many messages are under way at once, whoever sends them', () => {
  const { begun, putOffMs } = host();
  const all = Array.from({ length: AVISO_SIMULTANEOS }, (_, at) => begun(`w${at}`));
  assert.ok(putOffMs('one more') > 0);
  all[0]!.end('answered');
  begun('one more');
});

test('a host that fails for several is left alone by all, longer each time, and one message finds out that it is back', () => {
  const { begun, putOffMs, send } = host();
  send('a', 0, 'failed');
  send('a', 1, 'failed');
  send('b', 2, 'failed');
  send('a', 3, 'failed');
  send('c', 4, 'failed');
  assert.equal(putOffMs('d', 4), 5_000);
  for (const [at, pauseMs] of [
    [5_004, 10_000],
    [15_004, 20_000],
    [35_004, 40_000],
  ] as const) {
    const probe = begun('d', at);
    assert.ok(putOffMs('e', at) > 0, 'one at a time');
    probe.end('failed');
    assert.equal(putOffMs('e', at), pauseMs);
  }
  send('d', 75_004, 'answered');
  for (let at = 0; at < AVISO_SIMULTANEOS; at += 1) begun(`f${at}`, 75_005);
});

test('those that fail together are one round, and the pause has an end', () => {
  const { begun, putOffMs, send } = host();
  const together = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => begun(id));
  for (const one of together) one.end('failed');
  assert.equal(putOffMs('g'), 5_000);
  let at = 5_000;
  for (let round = 0; round < 30; round += 1) {
    send('g', at, 'failed');
    at += putOffMs('g', at);
  }
  assert.equal(putOffMs('g', at - 1), 1);
  send('g', at, 'failed');
  assert.equal(putOffMs('g', at), 300_000);
});

test('an address alone, and questions, stop nobody else; neither does one that fails among those that succeed', () => {
  const { begun, send } = host();
  for (let at = 0; at < 20; at += 1) send('a', at, 'failed');
  for (const id of ['p', 'q', 'r', 's']) begun(id, 21, true).end('failed');
  begun('b', 22).end('answered');
  for (const id of ['a', 'b', 'ok', 'c', 'ok', 'd', 'e']) send(id, 23, id === 'ok' ? 'answered' : 'failed');
  begun('f', 24);
});

test('a clock that is set back stops nothing for good', () => {
  const { begun, send } = host();
  for (const id of ['a', 'b', 'c']) send(id, 86_400_000, 'failed');
  begun('d', 86_400_000 + 5_000).end('answered');
  begun('e', 0, true).end('answered');
});
