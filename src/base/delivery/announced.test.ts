import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SECOND_MS } from '../../fiscal/moment.ts';
import type { AnnouncedClaim } from '../book/claim-notas.ts';
import { AnnouncedClaims, Leaves } from './announced.ts';

const NOW = Date.parse('2026-11-21T12:00:00-03:00');

/** A claim of so many notas. */
function claimOf(token: string, notas: number, at = NOW): AnnouncedClaim {
  const each = Array.from({ length: notas }, (_, place) => ({
    id: `${token}${place}`,
    mes: 202611,
    chave_acesso: `chave-${token}${place}`,
    id_dps: `DPS${token}${place}`,
    data_emissao: new Date(NOW),
  }));
  return { token, at, nsu: '7', notas: each };
}

/** Claims, and the calls of `onLeave`. */
function queue() {
  const told: (readonly [tenant: string | undefined, notas: number])[] = [];
  return { told, claims: new AnnouncedClaims((...leave) => void told.push(leave)) };
}

const tokens = (claims: readonly AnnouncedClaim[]): readonly string[] => claims.map(({ token }) => token);

describe('claims that wait for a lane', () => {
  test('are taken by tenant, whole and in their order, as many notas as a batch has', () => {
    const { claims } = queue();
    for (const [token, notas] of Object.entries({ a: 150, b: 60, c: 1 })) claims.put('alfa', claimOf(token, notas));
    claims.put('beta', claimOf('d', 1));
    assert.deepEqual(claims.tenants(), ['alfa', 'beta']);
    assert.deepEqual(tokens(claims.take('alfa', NOW).fresh), ['a', 'b']);
    assert.deepEqual(tokens(claims.take('alfa', NOW).fresh), ['c']);
    assert.deepEqual(claims.tenants(), ['beta']);
    assert.deepEqual(claims.take('alfa', NOW), { fresh: [], stale: [] });
  });

  for (const [why, claim] of [
    ['waited for more than three seconds', claimOf('old', 1, NOW - 3 * SECOND_MS - 1)],
    ['are of a clock that was set back since', claimOf('old', 1, NOW + 3 * SECOND_MS + 1)],
    ['nobody knows to be committed', claimOf('old', 0)],
  ] as const) {
    test(`are given back where they ${why}`, () => {
      const { claims } = queue();
      claims.put('alfa', claim);
      claims.put('alfa', claimOf('young', 1, NOW - 3 * SECOND_MS));
      const { fresh, stale } = claims.take('alfa', NOW);
      assert.deepEqual(tokens(fresh), ['young']);
      assert.deepEqual(stale, ['old']);
    });
  }

  test('are all given back at the end', () => {
    const { claims } = queue();
    claims.put('alfa', claimOf('a', 1));
    claims.put('beta', claimOf('b', 1));
    claims.put('alfa', claimOf('c', 1));
    assert.deepEqual(claims.takeAll(), [
      ['alfa', ['a', 'c']],
      ['beta', ['b']],
    ]);
    assert.deepEqual(claims.tenants(), []);
  });

  test('say when a tenant has a full batch', () => {
    const { claims } = queue();
    assert.deepEqual(
      [claims.put('alfa', claimOf('a', 199)), claims.put('beta', claimOf('b', 1)), claims.put('alfa', claimOf('c', 1))],
      [false, false, true],
    );
  });

  test('leave room for as many notas as two batches have', () => {
    const { claims, told } = queue();
    claims.giveLeave('alfa', true);
    claims.put('alfa', claimOf('a', 150));
    claims.giveLeave('alfa', true);
    claims.put('alfa', claimOf('b', 300));
    claims.giveLeave('alfa', true);
    claims.giveLeave('beta', false);
    assert.deepEqual(told, [
      ['alfa', 400],
      ['alfa', 250],
      ['alfa', 0],
      ['beta', 0],
    ]);
  });
});

describe('leave to announce', () => {
  test('is for so many notas of one tenant, each group under a token of its own and for a whole lease', () => {
    const leaves = new Leaves();
    leaves.give('alfa', 3);
    const before = Date.now();
    const [one, other] = [leaves.announce('alfa', 2), leaves.announce('alfa', 1)];
    assert.ok(one !== undefined && other !== undefined);
    assert.notEqual(one.token, other.token);
    assert.ok(one.at >= before && one.at <= Date.now());
    assert.equal(one.until - one.at, 60 * SECOND_MS);
    assert.equal(leaves.announce('alfa', 1), undefined, 'all of it was used');
    assert.equal(leaves.announce('beta', 1), undefined, 'that of another tenant');
  });

  test('is not used in part, and is taken back with what was given before', () => {
    const leaves = new Leaves();
    leaves.give('alfa', 3);
    assert.equal(leaves.announce('alfa', 4), undefined);
    leaves.give('alfa', 0);
    assert.equal(leaves.announce('alfa', 1), undefined);
    leaves.give('alfa', 1);
    leaves.clear();
    assert.equal(leaves.announce('alfa', 1), undefined, 'the worker is gone');
  });

  test('ends by itself after two seconds', (t) => {
    const leaves = new Leaves();
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    leaves.give('alfa', 2);
    now = 2 * SECOND_MS;
    assert.notEqual(leaves.announce('alfa', 1), undefined);
    now += 1;
    assert.equal(leaves.announce('alfa', 1), undefined);
  });

  test('of all tenants is each one’s own, and a tenant whose batch went badly has none until one goes well', (t) => {
    const leaves = new Leaves();
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    leaves.give(undefined, 2);
    leaves.give('gama', 0);
    assert.notEqual(leaves.announce('alfa', 2), undefined);
    assert.equal(leaves.announce('alfa', 1), undefined, 'all of it was used');
    assert.notEqual(leaves.announce('beta', 1), undefined);
    assert.equal(leaves.announce('gama', 1), undefined);
    now = 10 * SECOND_MS;
    assert.equal(leaves.announce('delta', 1), undefined, 'it ends like that of one tenant');
    leaves.give(undefined, 2);
    assert.notEqual(leaves.announce('alfa', 1), undefined, 'it was given anew');
    assert.equal(leaves.announce('gama', 1), undefined, 'what went badly did not go well since');
    leaves.give('gama', 1);
    assert.notEqual(leaves.announce('gama', 1), undefined);
    leaves.clear();
    assert.equal(leaves.announce('beta', 1), undefined, 'the worker is gone');
  });
});
