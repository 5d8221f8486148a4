/** The form of an answer by `Accept` and `Accept-Encoding`. Expected: RFC 9110, 12.5.1 and 12.5.3. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { preferType, takesGzip, takesType } from './negotiation.ts';

const [JSON_TYPE, CSV, PROBLEM] = ['application/json', 'text/csv', 'application/problem+json'] as const;

test('the type with the highest quality is preferred, and one with q=0 is never given', () => {
  for (const [accept, expected] of [
    [undefined, JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['', JSON_TYPE],
    [CSV, CSV],
    ['text/*', CSV],
    [`${CSV};q=0, */*`, JSON_TYPE],
    [`${CSV};q=0`, JSON_TYPE],
    [`${CSV};q=0.5, application/json;q=0.4`, CSV],
    [`${CSV};q=0.4, application/json;q=0.5`, JSON_TYPE],
    [`application/json;q=0, */*;q=0.1`, CSV],
    ['TEXT/CSV', CSV],
    ['application/xml', JSON_TYPE],
    ['no type at all', JSON_TYPE],
  ] as const)
    assert.equal(
      preferType({ ...(accept === undefined ? {} : { accept }) }, [JSON_TYPE, CSV]),
      expected,
      String(accept),
    );
  assert.equal(preferType({ accept: 'application/*' }, [JSON_TYPE, PROBLEM]), JSON_TYPE);
  assert.equal(preferType({ accept: `${PROBLEM}, application/json` }, [JSON_TYPE, PROBLEM]), PROBLEM);
});

test('a type is taken unless it is left out or refused', () => {
  assert.equal(takesType({}, CSV), true);
  assert.equal(takesType({ accept: 'text/*' }, CSV), true);
  assert.equal(takesType({ accept: `${CSV};q=0, */*` }, CSV), false);
  assert.equal(takesType({ accept: 'application/json' }, CSV), false);
});

test('a body is compressed for those that take gzip as gladly as the plain one', () => {
  for (const [coding, expected] of [
    ['gzip, deflate, br', true],
    ['*', true],
    ['gzip;q=0', false],
    ['gzip; q=0.000, identity', false],
    ['gzip;q=0.5, identity', false],
    ['identity', false],
    ['br', false],
    ['', false],
  ] as const)
    assert.equal(takesGzip({ 'accept-encoding': coding }), expected, coding);
  assert.equal(takesGzip({}), false);
});
