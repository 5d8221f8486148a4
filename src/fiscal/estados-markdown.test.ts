import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estadosMarkdown } from './estados-markdown.ts';
import { NOTA_ESTADOS, NOTA_MOVES } from './nota.ts';

test('docs/estados.md draws every move once and tells every state', () => {
  const text = estadosMarkdown();
  for (const { from, on, to } of NOTA_MOVES) {
    assert.equal(text.split(`  ${from ?? '[*]'} --> ${to}: ${on}\n`).length, 2, `${from} ${on} ${to}`);
  }
  for (const [estado, { significado }] of Object.entries(NOTA_ESTADOS)) {
    assert.ok(text.includes(`| \`${estado}\` | ${significado} |`), estado);
  }
  assert.doesNotMatch(text, /undefined|\[object/);
});
