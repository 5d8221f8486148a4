/** The table of kinds of change, and the lists that come from it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENTO_ESTADOS } from './evento.ts';
import { LETRAS, MUDANCAS, TIPOS_MUDANCA, type TipoDescrito } from './mudanca.ts';
import { NOTA_ESTADOS } from './nota.ts';

const ROWS: readonly TipoDescrito[] = MUDANCAS;

test('each state of a nota and of an evento is a kind of change, with its meaning', () => {
  const states = ROWS.filter(({ estado }) => estado !== null);
  assert.deepEqual(
    states.map(({ tipo, significado }) => [tipo, significado]),
    [
      ...Object.entries(NOTA_ESTADOS).map(([estado, { significado }]) => [`nota.${estado}`, significado]),
      ...Object.entries(EVENTO_ESTADOS).map(([estado, { significado }]) => [`evento.${estado}`, significado]),
    ],
  );
  for (const { tipo, item, codigo, estado } of states) {
    assert.deepEqual([tipo, codigo], [`${item}.${estado}`, LETRAS[item]]);
  }
});

test('a kind that is no state has a name and a code of its own, longer than a letter', () => {
  const others = ROWS.filter(({ estado }) => estado === null);
  for (const { tipo, item, codigo } of others) assert.match(codigo, new RegExp(`^${LETRAS[item]}[a-z]+$`), tipo);
  assert.equal(new Set(others.map(({ codigo }) => codigo)).size, others.length);
  assert.equal(new Set(TIPOS_MUDANCA).size, TIPOS_MUDANCA.length);
  for (const tipo of TIPOS_MUDANCA) assert.match(tipo, /^[a-z]+\.[a-z_]+$/);
});
