/** Names of constraints, as PostgreSQL reports them, and as messages of Citus 13.2 contain them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { constraintOf } from './constraint.ts';

const errorOf = (code: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { code, ...more });

describe('the constraint of an error', () => {
  test('is what PostgreSQL says it is, whatever the number behind it', () => {
    const message = 'duplicate key value violates unique constraint "notas_202611"';
    assert.equal(constraintOf(errorOf('23505', message, { constraint: 'notas_202611' })), 'notas_202611');
    assert.equal(constraintOf(errorOf('23502', 'null value', { constraint: undefined })), undefined);
  });

  test('is read off a message of Citus, without the number of the shard', () => {
    for (const [code, message, name] of [
      ['23505', 'duplicate key value violates unique constraint "eventos_ordem_102022"', 'eventos_ordem'],
      [
        '23503',
        'insert or update on table "notas_202611_102018" violates foreign key constraint "notas_tenant_fkey_102014"',
        'notas_tenant_fkey',
      ],
      [
        '23503',
        'update or delete on table "m_102010" violates foreign key constraint "a_m_102014" on table "a_102014"',
        'a_m',
      ],
      ['23514', 'new row for relation "m_102008" violates check constraint "m_n_check"', 'm_n_check'],
      // Messages of a server whose language is Portuguese or French.
      ['23505', 'duplicar valor da chave viola a restrição de unicidade "eventos_ordem_1102022"', 'eventos_ordem'],
      ['23505', 'la valeur d’une clé dupliquée rompt la contrainte unique «\u00a0e_x_102022\u00a0»', 'e_x'],
    ] as const) {
      assert.equal(constraintOf(errorOf(code, message)), name, message);
    }
  });

  test('is none where there is none', () => {
    for (const other of [
      errorOf('23502', 'null value in column "id" of relation "e_102022" violates not-null constraint'),
      errorOf('42P01', 'relation "notas" does not exist'),
      errorOf('23505', 'a message that names nothing'),
      'duplicate key value violates unique constraint "eventos_ordem"',
      undefined,
    ]) {
      assert.equal(constraintOf(other), undefined);
    }
  });
});
