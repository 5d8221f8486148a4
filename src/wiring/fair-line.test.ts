import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFairLine } from './fair-line.ts';

const real = (places: number) => openFairLine<string>({ producao: places, homologacao: 4 });

test('each name has its turn, in the order in which they came', () => {
  const line = real(9);
  for (const one of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) assert.equal(line.add('producao', [one[0]!], one), undefined);
  assert.deepEqual(
    Array.from({ length: 7 }, () => line.next()),
    ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined],
  );
  assert.equal(line.size, 0);
});

test('one name may have all places, and gives them back to who has fewer, the newest first', () => {
  const line = real(4);
  const add = (name: string, one: string) => line.add('producao', [name], one);
  for (const one of ['a1', 'a2', 'a3', 'a4']) assert.equal(add('a', one), undefined);
  assert.equal(add('a', 'a5'), 'a5');
  assert.equal(add('b', 'b1'), 'a4');
  assert.equal(add('b', 'b2'), 'a3');
  assert.equal(add('b', 'b3'), 'b3', 'as many as the other');
  assert.equal(add('a', 'a6'), 'a6');
  assert.equal(add('c', 'c1'), 'a2');
  assert.equal(add('d', 'd1'), 'b2');
  assert.equal(add('e', 'e1'), 'e1', 'each has one');
  assert.equal(line.size, 4);
  assert.deepEqual(line.empty(), ['a1', 'b1', 'c1', 'd1']);
  assert.equal(line.next(), undefined);
});

test('among the entries of one name the second ones have turns, and the one with most gives way', () => {
  const line = real(4);
  const add = (names: string, one: string) => line.add('producao', [...names], one);
  for (const one of ['1', '2', '3']) assert.equal(add('ax', `ax${one}`), undefined);
  assert.equal(add('bx', 'bx1'), undefined);
  assert.equal(add('ay', 'ay1'), 'ax3', 'the municipality keeps what it has, and its networks share it');
  assert.equal(add('ay', 'ay2'), 'ay2', 'as many as the other network would have');
  assert.equal(add('by', 'by1'), 'ax2', 'the municipality that has most gives, and of it the network that has');
  assert.equal(add('by', 'by2'), 'by2', 'as many as the other municipality');
  assert.deepEqual(line.empty(), ['ax1', 'bx1', 'ay1', 'by1']);
});

test('a sender to many municipalities has one turn, and gives its places to others', () => {
  const line = real(4);
  for (const tenant of ['a', 'b', 'c', 'd'])
    assert.equal(line.add('producao', ['flood', tenant], `flood ${tenant}`), undefined);
  assert.match(line.add('producao', ['other', 'a'], 'other a') ?? '', /^flood/);
  assert.match(line.add('producao', ['third', 'e'], 'third e') ?? '', /^flood/);
  const turns = Array.from({ length: 4 }, () => line.next()?.split(' ')[0]);
  assert.deepEqual(turns, ['flood', 'other', 'third', 'flood']);
});

test('production waits for one rehearsal at most, however many there are, and keeps its places', () => {
  for (const rehearsals of [1, 16, 400]) {
    const line = real(2);
    const refused = Array.from({ length: rehearsals }, (_, place) =>
      line.add('homologacao', [`e${place}`], `e${place}`),
    );
    assert.equal(refused.filter((one) => one !== undefined).length, Math.max(0, rehearsals - 4));
    assert.equal(line.add('producao', ['a'], 'a1'), undefined);
    assert.equal(line.add('producao', ['a'], 'a2'), undefined);
    assert.equal(line.add('producao', ['a'], 'a3'), 'a3', 'no place of a rehearsal is taken either');
    const order = Array.from({ length: line.size }, () => line.next()!);
    assert.ok(order.indexOf('a1') <= 1 && order.indexOf('a2') <= 3, `${rehearsals}: ${order}`);
    assert.equal(line.size, 0);
  }
});
