/** Log entries about failures: repeated ones do not fill the disk, and a bug of ours is never suppressed. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { StoreUnavailable } from '../pg/unavailable.ts';
import { tellTrouble } from './store-trouble.ts';

type Line = { readonly level: string; readonly about: Record<string, unknown>; readonly message: string };

function bench(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: Line[] = [];
  const to = (level: string) => (about: object, message: string) =>
    void lines.push({ level, about: about as Record<string, unknown>, message });
  const log = { info: to('info'), warn: to('warn'), error: to('error') };
  return { log, lines, pass: (ms: number) => t.mock.timers.tick(ms) };
}

const gone = (): Error => new StoreUnavailable('gone', 'the database answers nothing', { code: 'ECONNREFUSED' });
const locked = (): Error => Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
const GONE = 'O banco de dados não responde. Por isso uma requisição falhou';
const LOCKED = 'Outra gravação ocupa os dados de que esta precisa. Por isso uma requisição falhou';

describe('a trouble that a repetition cures', () => {
  test('is told at once without a stack and without English, and then how often it came', (t) => {
    const { log, lines, pass } = bench(t);
    for (let time = 0; time < 300; time += 1) {
      tellTrouble(log, gone(), { request: `r${time}` }, 'uma requisição falhou');
      pass(30);
    }
    assert.deepEqual(lines, [
      { level: 'warn', about: { request: 'r0', code: 'ECONNREFUSED' }, message: GONE },
      { level: 'warn', about: { times: 166 }, message: GONE },
    ]);
    pass(5_000);
    assert.deepEqual(lines.at(-1)!.about, { times: 133 });
    pass(60_000);
    assert.equal(lines.length, 3, 'nothing came, nothing is told');
    tellTrouble(log, gone(), { request: 'later' }, 'uma requisição falhou');
    assert.deepEqual(lines.at(-1)!.about, { request: 'later', code: 'ECONNREFUSED' });
  });

  test('is told apart from another', (t) => {
    const { log, lines } = bench(t);
    for (const error of [gone(), locked(), gone(), locked()]) tellTrouble(log, error, {}, 'uma requisição falhou');
    assert.deepEqual(
      lines.map(({ message }) => message),
      [GONE, LOCKED],
    );
  });
});

test('a mistake of ours is told each time, whole', (t) => {
  const { log, lines } = bench(t);
  const error = new TypeError('x is not a function');
  for (let time = 0; time < 3; time += 1) tellTrouble(log, error, { route: '/' }, 'uma requisição falhou');
  assert.deepEqual(
    lines,
    Array.from({ length: 3 }, () => ({
      level: 'error',
      about: { err: error, route: '/' },
      message: 'uma requisição falhou',
    })),
  );
});
