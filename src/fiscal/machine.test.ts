/** Questions to a machine, on a small one written by hand. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finalStates, type Move, moveFrom, movesTo, requireMove, statesBefore } from './machine.ts';

/** A letter: written, sent from the desk or from the drawer, returned to the desk, lost or read. */
const WRITTEN = { from: undefined, on: 'write', to: 'desk', due: 'now' };
const PUT_AWAY = { from: 'desk', on: 'put_away', to: 'drawer', due: 'poll' };
const SENT = { from: 'desk', on: 'send', to: 'post', due: 'lease' };
const SENT_LATE = { from: 'drawer', on: 'send', to: 'post', due: 'lease' };
const RETURNED = { from: 'post', on: 'return', to: 'desk', due: 'backoff' };
const READ = { from: 'post', on: 'read', to: 'reader', due: 'never' };
const LOST = { from: 'post', on: 'lose', to: 'nowhere', due: 'never' };
const MOVES = [WRITTEN, PUT_AWAY, SENT, SENT_LATE, RETURNED, READ, LOST] as readonly Move[];

describe('a machine says', () => {
  test('where a trigger leads from a state, and that it leads nowhere from another', () => {
    assert.equal(moveFrom(MOVES, 'drawer', 'send'), SENT_LATE);
    assert.equal(moveFrom(MOVES, undefined, 'write'), WRITTEN);
    assert.equal(moveFrom(MOVES, 'drawer', 'read'), undefined);
    assert.equal(requireMove(MOVES, 'post', 'read'), READ);
    assert.throws(() => requireMove(MOVES, 'drawer', 'read'), /no move read from drawer/);
  });

  test('in which states a trigger finds a row; a birth finds none', () => {
    assert.deepEqual(statesBefore(MOVES, 'send'), ['desk', 'drawer']);
    assert.deepEqual(statesBefore(MOVES, 'write'), []);
  });

  test('where a trigger leads from wherever it finds a row', () => {
    assert.deepEqual(movesTo(MOVES, 'send'), { on: 'send', to: 'post', due: 'lease', from: ['desk', 'drawer'] });
    assert.throws(() => movesTo(MOVES, 'burn'), /no move burn/);
  });

  test('from which states no move leads', () => {
    assert.deepEqual(finalStates(MOVES), ['reader', 'nowhere']);
  });
});
