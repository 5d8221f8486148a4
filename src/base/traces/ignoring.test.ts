/** Errors that are ignored by name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ignoring } from './ignoring.ts';

test('an ignored error is no answer', async () => {
  const found = await Promise.reject<string>(new Error('gone')).catch(ignoring('nothing is left to end'));
  assert.equal(found, undefined);
});
