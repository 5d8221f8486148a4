/** The messages of one turn of the event loop go to another thread as one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { gatherTurn } from './wake.ts';

test('messages of one turn are sent together, in their order, and those of the next turn after them', async () => {
  const sent: (readonly number[])[] = [];
  const tell = gatherTurn<number>((messages) => sent.push(messages));
  tell(1);
  await Promise.resolve();
  tell(2);
  assert.deepEqual(sent, [], 'nothing goes before the turn is over');
  await turn();
  assert.deepEqual(sent, [[1, 2]]);
  tell(3);
  await turn();
  assert.deepEqual(sent, [[1, 2], [3]]);
});
