/** Look-ups of one turn form one statement a tenant. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { batchLookups } from './batch-lookups.ts';

type Load = { readonly tenant: string; readonly keys: readonly string[] };

/** Finds every key that does not begin with `no`. */
function recorded(failing: (load: Load) => boolean = () => false): {
  load: (tenant: string, key: string) => Promise<string | undefined>;
  loads: Load[];
} {
  const loads: Load[] = [];
  const load = batchLookups<string>(async (tenant, keys) => {
    const one = { tenant, keys };
    loads.push(one);
    await new Promise((resolve) => setImmediate(resolve));
    if (failing(one)) throw new Error('the database is away');
    return new Map(keys.filter((key) => !key.startsWith('no')).map((key) => [key, `${tenant}:${key}`]));
  });
  return { load, loads };
}

describe('what is asked in one turn', () => {
  test('is loaded at once, each key once, and everybody gets the own answer', async () => {
    const { load, loads } = recorded();
    const answers = await Promise.all([load('a', 'x'), load('a', 'y'), load('a', 'x'), load('a', 'nobody')]);
    assert.deepEqual(answers, ['a:x', 'a:y', 'a:x', undefined]);
    assert.deepEqual(loads, [{ tenant: 'a', keys: ['x', 'y', 'nobody'] }]);
  });

  test('of two tenants is loaded apart', async () => {
    const { load, loads } = recorded();
    assert.deepEqual(await Promise.all([load('a', 'x'), load('b', 'x')]), ['a:x', 'b:x']);
    assert.deepEqual(
      loads.toSorted((one, other) => one.tenant.localeCompare(other.tenant)),
      [
        { tenant: 'a', keys: ['x'] },
        { tenant: 'b', keys: ['x'] },
      ],
    );
  });

  test('fails together, and no one else does', async () => {
    const { load } = recorded(({ tenant, keys }) => tenant === 'a' && keys.includes('bad'));
    const answers = await Promise.allSettled([load('a', 'bad'), load('a', 'x'), load('b', 'x')]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    );
    assert.equal(await load('a', 'x'), 'a:x', 'a failure is not remembered');
  });
});

describe('what is asked later', () => {
  test('is loaded anew: nothing is remembered', async () => {
    const { load, loads } = recorded();
    await load('a', 'x');
    await load('a', 'x');
    assert.equal(loads.length, 2);
  });

  test('while a load is under way does not join it: it may have been written since', async () => {
    const { load, loads } = recorded();
    const first = load('a', 'x');
    while (loads.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = load('a', 'y');
    assert.deepEqual(await Promise.all([first, second]), ['a:x', 'a:y']);
    assert.deepEqual(
      loads.map(({ keys }) => keys),
      [['x'], ['y']],
    );
  });
});
