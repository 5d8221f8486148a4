/** The limits of a host, for any owners of the addresses that lead to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Begun, openDestinos, type Veredito } from './destinos.job.ts';
import { AVISO_CONFIRMAR_DE_UM, AVISO_CONFIRMAR_POR_MINUTO, AVISO_SIMULTANEOS } from './tempos.ts';

const T0 = Date.parse('2026-11-29T12:00:00Z');

/** A host, reached by several addresses. */
function host() {
  const { begin } = openDestinos();
  /** Each address has an owner of its own; `a/1` and `a/2` have the same owner. */
  const ask = (id: string, atMs = 0, isDesafio = false) =>
    begin('host', { id, dono: id.split('/')[0]!, agora: T0 + atMs, isDesafio });
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
  // Each question that comes back at its moment has its turn.
  for (const [at, wait] of waits.entries()) begun(`x${at}`, wait, true).end('answered');
  // The limit of questions does not limit messages.
  begun('other');
});

test('an owner that has its addresses asked without end makes nobody else wait', () => {
  const { begun, putOffMs, ask } = host();
  for (let at = 0; at < AVISO_CONFIRMAR_DE_UM; at += 1) begun(`a/${at}`, 0, true).end('failed');
  for (let at = 0; at < 1_000; at += 1) assert.ok(putOffMs(`a/${at % 10}`, 0, true) <= 60_000 / AVISO_CONFIRMAR_DE_UM);
  begun('b', 0, true).end('answered');
  // One hour, twenty times a second.
  let asked = 0;
  for (let ms = 50; ms < 3_600_000; ms += 50) {
    const vez = ask(`a/${(ms / 50) % 10}`, ms, true);
    if ('end' in vez) {
      asked += 1;
      vez.end('failed');
    }
    if (ms % 60_000 === 0) begun(`c${ms}`, ms, true).end('answered');
  }
  assert.ok(asked <= 60 * AVISO_CONFIRMAR_DE_UM, `${asked} questions in an hour`);
});

test('addresses of one owner that fail stop nobody else', () => {
  const { begun, send } = host();
  for (let at = 0; at < 20; at += 1) send(`a/${at}`, at, 'failed');
  begun('b', 21);
});

test('so many messages are under way at once, whoever sends them', () => {
  const { begun, putOffMs } = host();
  const all = Array.from({ length: AVISO_SIMULTANEOS }, (_, at) => begun(`w${at}`));
  assert.ok(putOffMs('one more') > 0);
  all[0]!.end('answered');
  begun('one more');
});

test('one owner has half of the places at most while another waits, several a part each, and all of them alone', () => {
  const { begun, putOffMs } = host();
  const all = Array.from({ length: AVISO_SIMULTANEOS }, (_, at) => begun(`a/${at}`));
  for (let at = 0; at < AVISO_SIMULTANEOS / 2; at += 1) {
    assert.ok(putOffMs('b') <= 2_000);
    all[at]!.end('answered');
    assert.ok(putOffMs('a') > 0, 'what ended is kept for the other');
    begun('b', 1_000);
  }
  // Turns then alternate between both owners.
  assert.ok(putOffMs('b') > 0);
  all.at(-1)!.end('answered');
  putOffMs('b', 1_000);
  begun('a', 1_000);
});

test('an owner that waits for a place is not kept by the many addresses of another one', () => {
  const { begun, putOffMs } = host();
  for (let at = 0; at < AVISO_SIMULTANEOS; at += 1) begun(`a/${at}`);
  for (let at = 0; at < 100; at += 1) putOffMs(`a/x${at}`);
  assert.equal(putOffMs('b'), 2_000);
});

test('of many owners that are slow each has its turn, and one that comes later waits no longer than for some of them', () => {
  const { ask } = host();
  const SLOW_MS = 15_000;
  const evil = Array.from({ length: 40 }, (_, at) => `e${at}`);
  const ends: { at: number; end: () => void }[] = [];
  const backAt = new Map([...evil.map((id) => [id, 0] as const), ['honest', 20_000]]);
  let honestAt: number | undefined;
  for (let ms = 0; ms < 120_000 && honestAt === undefined; ms += 100) {
    for (const one of ends.filter(({ at }) => at === ms)) one.end();
    for (const [id, back] of backAt) {
      if (back > ms) continue;
      const vez = ask(`${id}/1`, ms);
      if ('adiadoMs' in vez) backAt.set(id, ms + vez.adiadoMs);
      else if (id === 'honest') honestAt = ms;
      else ends.push({ at: ms + SLOW_MS, end: () => vez.end('answered') });
    }
  }
  assert.ok(honestAt !== undefined && honestAt <= 20_000 + 3 * SLOW_MS + 5_000, `at ${honestAt} ms`);
});

test('an owner with two addresses that comes back at each of its moments keeps its place in the line', () => {
  const { begun, putOffMs } = host();
  const [one] = Array.from({ length: AVISO_SIMULTANEOS }, (_, at) => begun(`e${at}`));
  putOffMs('a/2');
  let at = putOffMs('a/1');
  let other = putOffMs('b');
  while (at < 20_000) {
    at += putOffMs('a/1', at);
    while (other < at) other += putOffMs('b', other);
  }
  one!.end('answered');
  assert.ok(putOffMs('b', at) > 0, 'the place is of the first');
  begun('a/1', at);
});

test('an owner that is late by a slow batch has its place in the line, and keeps no place of the host from others', () => {
  const { begun, putOffMs } = host();
  const all = Array.from({ length: AVISO_SIMULTANEOS }, (_, at) => begun(`e${at}`));
  const back = putOffMs('a');
  const late = back + 30_000;
  putOffMs('b', late - 2_000);
  all[0]!.end('answered');
  begun('b', late);
  putOffMs('c', late - 2_000);
  putOffMs('a', late);
  all[1]!.end('answered');
  assert.ok(putOffMs('c', late + 1_000) > 0, 'the place is of the first');
  begun('a', late + 1_000);
});

test('an owner that does not come back for longer loses its place in the line', () => {
  const { begun, putOffMs } = host();
  const all = Array.from({ length: AVISO_SIMULTANEOS }, (_, at) => begun(`e${at}`));
  const late = putOffMs('a') + 60_000;
  putOffMs('b', late - 2_000);
  putOffMs('a', late);
  all[0]!.end('answered');
  assert.ok(putOffMs('a', late + 1_000) > 0);
  begun('b', late + 1_000);
});

test('a burst of two hundred owners is over soon at a host that answers quickly', () => {
  const { ask } = host();
  const backAt = new Map(Array.from({ length: 200 }, (_, at) => [`o${at}`, 0]));
  let underway: Begun[] = [];
  let ms = 0;
  for (; backAt.size > 0; ms += 100) {
    for (const one of underway) one.end('answered');
    underway = [];
    for (const [id, back] of backAt) {
      if (back > ms) continue;
      const vez = ask(id, ms);
      if ('adiadoMs' in vez) backAt.set(id, ms + vez.adiadoMs);
      else {
        underway.push(vez);
        backAt.delete(id);
      }
    }
  }
  assert.ok(ms < 100_000, `the last at ${ms} ms`);
});

test('the part of an owner is not made smaller by others that come back later', () => {
  const { begun, putOffMs } = host();
  const all = Array.from({ length: AVISO_SIMULTANEOS }, (_, at) => begun(`e${at}`));
  for (let at = 0; at < 8; at += 1) assert.ok(putOffMs(`o${at}`) >= (at + 1) * 1_000);
  for (const one of all) one.end('answered');
  // Two of them come back within a second.
  for (let at = 0; at < 6; at += 1) begun('a', 1_000);
  assert.ok(putOffMs('a', 1_000) > 0);
  begun('o0', 1_000);
  begun('o1', 2_000);
});

test('others that fail stop nobody whose own messages are taken; one that fails besides is stopped as well', () => {
  const { begun, putOffMs, send } = host();
  send('well', 0, 'answered');
  for (const id of ['a', 'b', 'c']) send(id, 1, 'failed');
  assert.equal(putOffMs('new', 1), 5_000);
  const one = begun('well', 2);
  assert.ok(putOffMs('well', 2) <= 2_000, 'one at a time');
  one.end('failed');
  assert.ok(putOffMs('well', 3) > 4_000);
});

test('five owners that fail on purpose cost the others of the host no more than the first seconds', () => {
  const { ask } = host();
  let [taken, asked] = [0, 0];
  for (let ms = 0; ms < 600_000; ms += 100) {
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      const vez = ask(id, ms);
      if ('end' in vez) vez.end('failed');
    }
    for (const id of ['p', 'q', 'r']) {
      if (ms % 1_000 !== 0) continue;
      asked += 1;
      const vez = ask(id, ms);
      if ('end' in vez) taken += 1;
      if ('end' in vez) vez.end('answered');
    }
  }
  assert.ok(taken > 0.9 * asked, `${taken} of ${asked}`);
});

test('a turn that is taken back has spent nothing', () => {
  const { begun } = host();
  for (let at = 0; at < 100; at += 1) begun('a', 0, true).takeBack(1_000);
  for (let at = 0; at < AVISO_SIMULTANEOS; at += 1) begun(`m${at}`);
});

test('a turn that is taken back gives the place in the line back, until the moment that was told', () => {
  const { begun, putOffMs } = host();
  const all = Array.from({ length: AVISO_SIMULTANEOS }, (_, at) => begun(`e${at}`));
  putOffMs('a');
  putOffMs('b');
  all[0]!.end('answered');
  // A network address delays the message for ten seconds.
  begun('a', 1_000).takeBack(10_000);
  assert.ok(putOffMs('b', 10_500) > 0, 'the place is of the first');
  begun('a', 11_000);
});

test('a host that fails for several is left alone by all, longer each time, and one message finds out that it is back', () => {
  const { begun, putOffMs, send } = host();
  send('a', 0, 'failed');
  send('a', 1, 'failed');
  send('b', 2, 'failed');
  send('a', 3, 'failed');
  send('c', 4, 'failed');
  assert.equal(putOffMs('d5004', 4), 5_000);
  for (const [at, pauseMs] of [
    [5_004, 10_000],
    [15_004, 20_000],
    [35_004, 40_000],
  ] as const) {
    const probe = begun(`d${at}`, at);
    assert.ok(putOffMs(`d${at + pauseMs}`, at) > 0, 'one at a time');
    probe.end('failed');
    assert.equal(putOffMs(`d${at + pauseMs}`, at), pauseMs);
  }
  send('d75004', 75_004, 'answered');
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
