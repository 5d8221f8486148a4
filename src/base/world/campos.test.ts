/** Answers to a short body with unknown fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneOf, readCampos } from './campos.ts';

test('the fields that there are stand beside the first unknown one alone, and each unknown one is told', () => {
  const names = Array.from({ length: 20 }, (_, at) => `um_campo_de_nome_longo_${at}`);
  const campos = Object.fromEntries(names.map((name) => [name, oneOf(['x'])]));
  const strange = [...'abcdefghij'];
  const read = readCampos(Buffer.from(JSON.stringify(Object.fromEntries(strange.map((name) => [name, 1])))), campos);
  assert.ok('faults' in read);
  assert.deepEqual(
    read.faults.map(({ codigo, campo }) => [codigo, campo]),
    strange.map((name) => ['E003', name]),
  );
  const [first, ...others] = read.faults;
  assert.equal(first.esperado, names.join(', '));
  for (const { esperado, mensagem, campo } of others) {
    assert.deepEqual([esperado, mensagem], [undefined, `O corpo não tem o campo "${campo}".`]);
  }
});
