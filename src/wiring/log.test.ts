/** The log says nothing personal, not even when the database quotes the row that it refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshPool } from '../../test/support/database.ts';
import { safeError } from './log.ts';

test('an error of the database is told by its names, never by the values that it quotes', async () => {
  const pool = await freshPool();
  await pool.query('create table pessoas (cpf text primary key check (length(cpf) = 11), nascimento date)');
  const refused = [
    ["insert into pessoas values ('52998224725 Maria', null)", '23514'],
    ["insert into pessoas values ('52998224725', 'Maria Exemplo')", '22007'],
  ] as const;
  for (const [sql, code] of refused) {
    const error = await pool.query(sql).then(
      () => assert.fail('it should be refused'),
      (failure) => failure,
    );
    assert.match(JSON.stringify({ ...error, message: error.message }), /Maria/, 'the error itself does quote');
    const told = JSON.stringify(safeError(error));
    assert.doesNotMatch(told, /Maria|52998224725/);
    assert.match(told, new RegExp(code));
  }
});

test('an error of ours is told whole', () => {
  const told = safeError(new RangeError('no such move')) as { type: string; message: string; stack: string };
  assert.equal(told.type, 'RangeError');
  assert.equal(told.message, 'no such move');
  assert.match(told.stack, /log\.test\.ts/);
});
