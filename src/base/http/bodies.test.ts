import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBodies } from './bodies.ts';

test('where the bytes of all are too many, the oldest of the network that has most gives way', () => {
  const bodies = openBodies(100);
  const ended: string[] = [];
  const begin = (address: string, name: string) => bodies.begin(address, () => ended.push(name));
  const [first, second, other] = [
    begin('192.0.2.1', 'first'),
    begin('192.0.2.1', 'second'),
    begin('192.0.2.2', 'other'),
  ];
  first.grow(20);
  second.grow(30);
  other.grow(45);
  assert.deepEqual(ended, []);
  other.grow(10);
  assert.deepEqual(ended, ['other'], 'whose own network has most');
  const alone = begin('2001:db8::1', 'alone');
  alone.grow(60);
  assert.deepEqual(ended, ['other', 'alone']);
  begin('192.0.2.3', 'third').grow(40);
  second.grow(20);
  assert.deepEqual(ended, ['other', 'alone', 'first']);
});

test('what has come whole, or was ended, takes nothing any more', () => {
  const bodies = openBodies(100);
  const ended: string[] = [];
  const begin = (address: string, name: string) => bodies.begin(address, () => ended.push(name));
  const whole = begin('192.0.2.1', 'whole');
  whole.grow(90);
  whole.leave();
  whole.leave();
  const slow = begin('192.0.2.1', 'slow');
  slow.grow(90);
  assert.deepEqual(ended, []);
  begin('192.0.2.2', 'new').grow(20);
  slow.grow(1_000);
  assert.deepEqual(ended, ['slow']);
  begin('192.0.2.3', 'last').grow(80);
  assert.deepEqual(ended, ['slow']);
});
