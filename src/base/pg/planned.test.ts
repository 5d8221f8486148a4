/** Which statements have a name on a connection. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PLANNED, planMonthly } from './planned.ts';

const ask = planMonthly('of_a_month', 'select $1, $2, $3 where mes = $2');
// Other test files of this process prepare every declared statement, and this one names no table.
after(() => (PLANNED as Map<string, unknown>).delete('of_a_month'));

function mesAfter(months: number): number {
  const now = new Date();
  const at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 15));
  return at.getUTCFullYear() * 100 + at.getUTCMonth() + 1;
}

test('the month stands in the text, and the other values keep their order', () => {
  const { text, values } = ask(['a', 202611, 'b']);
  assert.equal(text, 'select $1, 202611, $2 where mes = 202611');
  assert.deepEqual(values, ['a', 'b']);
  assert.throws(() => ask(['a', 'novembro', 'b']), /month/);
});

test('only a month of the last year or one made ahead has a name: whoever makes up keys fills no memory', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-12-31T23:59:59.999Z') });
  for (const months of [-13, -2, 0, 2]) {
    const mes = mesAfter(months);
    assert.equal(ask(['a', mes, 'b']).name, `of_a_month_${mes}`);
  }
  for (const mes of [0, 200001, mesAfter(-14), mesAfter(3), 209912]) assert.equal(ask(['a', mes, 'b']).name, undefined);
});
