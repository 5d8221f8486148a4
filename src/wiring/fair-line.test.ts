import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFairLine } from './fair-line.ts';

test('each name has its turn, in the order in which they came', () => {
  const line = openFairLine<string>(9);
  for (const one of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) assert.equal(line.add(one[0]!, one), undefined);
  assert.deepEqual(
    Array.from({ length: 7 }, () => line.next()),
    ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined],
  );
  assert.equal(line.size, 0);
});

test('one name may have all places, and gives them back to who has fewer, the newest first', () => {
  const line = openFairLine<string>(4);
  for (const one of ['a1', 'a2', 'a3', 'a4']) assert.equal(line.add('a', one), undefined);
  assert.equal(line.add('a', 'a5'), 'a5');
  assert.equal(line.add('b', 'b1'), 'a4');
  assert.equal(line.add('b', 'b2'), 'a3');
  assert.equal(line.add('b', 'b3'), 'b3', 'as many as the other');
  assert.equal(line.add('a', 'a6'), 'a6');
  assert.equal(line.add('c', 'c1'), 'a2');
  assert.equal(line.add('d', 'd1'), 'b2');
  assert.equal(line.add('e', 'e1'), 'e1', 'each has one');
  assert.equal(line.size, 4);
  assert.deepEqual(line.empty(), ['a1', 'b1', 'c1', 'd1']);
  assert.equal(line.next(), undefined);
});
