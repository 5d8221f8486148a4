/** Tables of the terminal: as wide as necessary, and no wider than the terminal. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tableLines } from './text.ts';

const KEY = '3'.repeat(50);
const ROWS = [
  ['chave', 'nome', 'situação'],
  [KEY, 'Padaria e Confeitaria São João Limitada', 'autorizado'],
  [KEY, 'Oficina Jorge', 'bloqueado'],
];

describe('a table', () => {
  test('of nobody who looks is whole', () => {
    const lines = tableLines(ROWS);
    assert.equal(lines[1], `${KEY}  Padaria e Confeitaria São João Limitada  autorizado`);
    assert.equal(lines[2], `${KEY}  Oficina Jorge                            bloqueado`);
  });

  test('fits a terminal by its prose, and leaves whole what is copied', () => {
    const lines = tableLines(ROWS, 80);
    for (const line of lines) assert.ok([...line].length <= 80, line);
    assert.match(lines[1]!, new RegExp(`^${KEY}  .*…  autorizado$`));
  });

  test('that has nothing to cut, or no room at all, is shown as it is', () => {
    assert.deepEqual(tableLines([[KEY]], 20), [KEY]);
    assert.ok(tableLines(ROWS, 1)[1]!.startsWith(KEY));
    assert.deepEqual(tableLines([], 80), []);
  });
});
