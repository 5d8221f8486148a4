import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENTO_ESTADOS, EVENTO_MOVES, type EventoMove } from '../fiscal/evento.ts';
import { NOTA_ESTADOS, NOTA_MOVES } from '../fiscal/nota.ts';
import { statesMarkdown } from './states.ts';

const [NOTA = '', EVENTO = ''] = statesMarkdown().split('\n## Evento\n');

test('docs/estados.md draws every move of a nota once and tells every state', () => {
  for (const { from, on, to } of NOTA_MOVES) {
    assert.equal(NOTA.split(`  ${from ?? '[*]'} --> ${to}: ${on}\n`).length, 2, `${from} ${on} ${to}`);
  }
  for (const [estado, { significado }] of Object.entries(NOTA_ESTADOS)) {
    assert.ok(NOTA.includes(`| \`${estado}\` | ${significado} |`), estado);
  }
  assert.doesNotMatch(NOTA, /undefined|\[object/);
});

test('docs/estados.md draws every move of an event once, tells every state, and when to do what', () => {
  for (const { from, on, to, counts } of EVENTO_MOVES as readonly EventoMove[]) {
    assert.equal(EVENTO.split(`  ${from ?? '[*]'} --> ${to}: ${on}\n`).length, 2, `${from} ${on} ${to}`);
    const start = `| ${from ? `\`${from}\`` : ''} | \`${on}\` |`;
    const row = EVENTO.split('\n').find((line) => line.startsWith(start)) ?? '';
    assert.ok(row.includes(`| \`${to}\` |`), `${from} ${on}`);
    assert.equal(row.includes('reprocessamentos_count'), counts === true, `${from} ${on}`);
  }
  for (const [estado, { significado }] of Object.entries(EVENTO_ESTADOS)) {
    assert.ok(EVENTO.includes(`| \`${estado}\` | ${significado} |`), estado);
  }
  for (const last of ['processado', 'rejeitado', 'cancelado', 'dispensado']) {
    assert.ok(EVENTO.includes(`  ${last} --> [*]\n`), last);
  }
  for (const acao of ['aguardar', 'retentar', 'consultar_suporte', 'cancelado_ok']) {
    assert.ok(EVENTO.includes(`| \`${acao}\` |`), acao);
  }
  assert.doesNotMatch(EVENTO, /undefined|\[object/);
});
