/** Repeated work: its turns, its pauses, and the clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { World } from '../world/world.ts';
import { type Repeated, Repetition } from './repetition.ts';

const MINUTE_MS = 60_000;

/** A clock that only work and the test move. */
function openStage(t: import('node:test').TestContext) {
  let passed = 1_000_000;
  let set = 0;
  t.mock.method(performance, 'now', () => passed);
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  return {
    world: { log, now: () => passed + set } as unknown as World,
    pass: (ms: number): void => {
      passed += ms;
    },
    setClock: (ms: number): void => {
      set += ms;
    },
  };
}

test('works with more left take turns, and rest as long as they work', async (t) => {
  const { world, pass } = openStage(t);
  const done: string[] = [];
  const long = (trabalho: string): Repeated => ({
    trabalho,
    everyMs: MINUTE_MS,
    trouble: '',
    work: async () => {
      done.push(trabalho);
      pass(1_000);
      return true;
    },
  });
  const repetition = new Repetition(world, [long('one'), long('other')]);
  await repetition.work();
  assert.deepEqual(done.splice(0), ['one', 'other'], 'both begin');
  // Each second of rest is a round: half of the time is theirs.
  for (let second = 0; second < 8; second += 1) {
    pass(1_000);
    await repetition.work();
  }
  assert.deepEqual(done, ['one', 'other', 'one', 'other', 'one', 'other', 'one', 'other']);
});

test('a clock that is set makes due what follows it, and nothing else', async (t) => {
  const { world, pass, setClock } = openStage(t);
  const done: string[] = [];
  const brief = (trabalho: string, isOfClock?: true): Repeated => ({
    ...{ trabalho, everyMs: MINUTE_MS, trouble: '', ...(isOfClock && { isOfClock }) },
    work: async () => {
      done.push(trabalho);
      return false;
    },
  });
  const repetition = new Repetition(world, [brief('of the clock', true), brief('daily')]);
  const round = async (): Promise<readonly string[]> => {
    await repetition.followClock();
    await repetition.work();
    return done.splice(0);
  };
  assert.deepEqual(await round(), ['of the clock', 'daily'], 'at the start');
  assert.deepEqual(await round(), []);
  setClock(-3_600_000);
  assert.deepEqual(await round(), ['of the clock']);
  pass(MINUTE_MS);
  assert.deepEqual(await round(), ['of the clock', 'daily']);
});

test('a failed work is tried again within ten minutes, and the others go on', async (t) => {
  const { world, pass } = openStage(t);
  let tries = 0;
  const failing: Repeated = {
    ...{ trabalho: 'fails', everyMs: 24 * 60 * MINUTE_MS, trouble: 'it failed' },
    work: async () => {
      tries += 1;
      throw new Error('no room on the disk');
    },
  };
  let others = 0;
  const other: Repeated = {
    ...{ trabalho: 'works', everyMs: MINUTE_MS, trouble: '' },
    work: async () => {
      others += 1;
      return false;
    },
  };
  const repetition = new Repetition(world, [failing, other]);
  await repetition.work();
  pass(9 * MINUTE_MS);
  await repetition.work();
  assert.deepEqual([tries, others], [1, 2]);
  pass(MINUTE_MS);
  await repetition.work();
  assert.deepEqual([tries, others], [2, 3]);
});
