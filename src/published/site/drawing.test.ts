/** The pictures of the state machines: they show the content of the tables, each move once, and nothing beyond the edge. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EVENTO_ESTADOS, EVENTO_MOVES } from '../../fiscal/evento.ts';
import { NOTA_ESTADOS, NOTA_MOVES } from '../../fiscal/nota.ts';
import { drawMachine, drawNotaRoad, EVENTO_MACHINE, NOTA_MACHINE } from './drawing.ts';

function textsOf(svg: string, kind: string): readonly string[] {
  return [...svg.matchAll(new RegExp(`<text class="${kind}"[^>]*>([^<]*)</text>`, 'g'))].map(([, text]) => text!);
}

describe('a machine as a picture', () => {
  for (const [name, drawn, estados, moves] of [
    ['of a note', drawMachine(NOTA_MACHINE), NOTA_ESTADOS, NOTA_MOVES],
    ['of an event', drawMachine(EVENTO_MACHINE), EVENTO_ESTADOS, EVENTO_MOVES],
  ] as const) {
    test(`${name}: every state, every way out, and a line for each that leads elsewhere`, () => {
      const { html } = drawn;
      assert.deepEqual(textsOf(html, 'estado'), ['começo', ...Object.keys(estados)]);
      const loops = moves.filter(({ from, to }) => from === to).length;
      const outs = textsOf(html, 'gatilho');
      assert.equal(outs.length, moves.length);
      assert.equal(outs.filter((text) => text.endsWith('↻')).length, loops);
      assert.equal(html.match(/class="ponto /g)?.length, moves.length - loops);
      const targets = new Set<string>(moves.flatMap(({ from, to }) => (from === to ? [] : [to])));
      assert.equal(html.match(/class="seta /g)?.length, targets.size);
    });

    test(`${name}: no line is past the edge, and two that meet are apart`, () => {
      const { html } = drawn;
      const [, width] = /viewBox="0 0 (\d+) /.exec(html)!;
      const lines = [...html.matchAll(/class="fio [a-z]+" d="M([\d.]+) ([\d.]+)V([\d.]+)"/g)].map(([, ...all]) => {
        const [x = 0, top = 0, bottom = 0] = all.map(Number);
        return { x, top, bottom };
      });
      assert.ok(lines.length > 4);
      for (const one of lines) {
        assert.ok(one.x < Number(width), String(one.x));
        const others = lines.filter((other) => other !== one && other.bottom > one.top && other.top < one.bottom);
        for (const { x } of others) assert.ok(Math.abs(x - one.x) >= 10, `${x} and ${one.x}`);
      }
    });

    test(`${name}: in words, every move once`, () => {
      const items = drawn.html.match(/<li>[\s\S]*?<\/li>/g)!;
      assert.equal(items.length, moves.length);
      for (const [place, { from, on, to }] of moves.entries()) {
        for (const word of [from, on, to])
          if (word !== undefined) assert.ok(items[place]!.includes(`<code>${word}</code>`));
      }
    });
  }

  test('the road of a note passes its states in the order of the machine', () => {
    assert.deepEqual(textsOf(drawNotaRoad().html, 'estado'), ['emitida', 'transmitida', 'autorizada']);
  });
});
