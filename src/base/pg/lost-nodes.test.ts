import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LostNodes } from './lost-nodes.ts';

test('while a server is lost a municipality is looked at as often, however many sandboxes there are', () => {
  const municipalities = Array.from({ length: 30 }, (_, place) => `m${place}`);
  for (const sandboxes of [0, 16, 2_000]) {
    const nodes = new LostNodes({} as never, async () => undefined);
    nodes.know(Array.from({ length: sandboxes }, (_, place) => `ensaio-${place}`));
    nodes.know(municipalities);
    const seen = new Set([...nodes.nextOfOthers(20), ...nodes.nextOfOthers(20)]);
    assert.deepEqual(
      municipalities.filter((tenant) => !seen.has(tenant)),
      [],
    );
    assert.equal([...seen].filter((tenant) => tenant.startsWith('ensaio-')).length, Math.min(40, sandboxes));
  }
});
