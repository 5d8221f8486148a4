import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Breaker, type BreakerSettings, openBreaker, type Pass } from './breaker.ts';

/** A breaker whose clock and chance the test holds; three failures open it, pauses from 1 s to 8 s. */
function bench(settings: BreakerSettings = {}) {
  const clock = { now: 0, random: 1 - Number.EPSILON };
  const told: string[] = [];
  const breaker = openBreaker({
    failuresToOpen: 3,
    pauseFirstMs: 1000,
    pauseMaxMs: 8000,
    now: () => clock.now,
    random: () => clock.random,
    onOpen: ({ failures, pauseMs }) => told.push(`open ${failures} ${pauseMs}`),
    onClose: () => told.push('close'),
    ...settings,
  });
  return { clock, told, breaker };
}

function enter(breaker: Breaker): Pass {
  const pass = breaker.enter();
  assert.ok(pass, 'the circuit lets nobody in');
  return pass;
}

function fail(breaker: Breaker, times: number): void {
  for (let time = 0; time < times; time += 1) enter(breaker).failed();
}

describe('a circuit', () => {
  test('opens after so many failures in a row, not before', () => {
    const { breaker, told } = bench();
    fail(breaker, 2);
    enter(breaker).answered();
    fail(breaker, 2);
    assert.deepEqual([breaker.isClosed(), breaker.pauseMs(), told], [true, 0, []]);
    fail(breaker, 1);
    assert.deepEqual([breaker.isClosed(), breaker.pauseMs(), breaker.enter()], [false, 1000, undefined]);
    assert.deepEqual(told, ['open 3 1000']);
  });

  test('lets one probe through after its pause, and closes when that is answered', () => {
    const { breaker, clock, told } = bench();
    fail(breaker, 3);
    clock.now = 999;
    assert.deepEqual([breaker.enter(), breaker.pauseMs()], [undefined, 1]);
    clock.now = 1000;
    assert.equal(breaker.pauseMs(), 0);
    const probe = enter(breaker);
    assert.equal(breaker.enter(), undefined, 'one at a time');
    assert.ok(breaker.pauseMs() > 0);
    assert.equal(breaker.isClosed(), false);
    probe.answered();
    assert.deepEqual([breaker.isClosed(), breaker.pauseMs()], [true, 0]);
    assert.deepEqual(told, ['open 3 1000', 'close']);
    fail(breaker, 2);
    assert.ok(breaker.isClosed(), 'it counts from nought again');
  });

  test('doubles its pause up to a cap as long as probes fail, and begins anew after an answer', () => {
    const { breaker, clock, told } = bench();
    fail(breaker, 3);
    for (let turn = 0; turn < 5; turn += 1) {
      clock.now += breaker.pauseMs();
      enter(breaker).failed();
    }
    assert.deepEqual(
      told.map((one) => Number(one.split(' ')[2])),
      [1000, 2000, 4000, 8000, 8000, 8000],
    );
    clock.now += breaker.pauseMs();
    enter(breaker).answered();
    fail(breaker, 3);
    assert.equal(breaker.pauseMs(), 1000);
  });

  test('has jitter: a pause lasts from half its length to all of it', () => {
    for (const [random, pauseMs] of [
      [0, 500],
      [0.5, 750],
    ] as const) {
      const { breaker, clock } = bench();
      clock.random = random;
      fail(breaker, 3);
      assert.equal(breaker.pauseMs(), pauseMs);
    }
  });

  test('a probe that learned nothing leaves the place to the next', () => {
    const { breaker, clock } = bench();
    fail(breaker, 3);
    clock.now = 1000;
    const probe = enter(breaker);
    probe.withdrawn();
    probe.answered();
    assert.equal(breaker.isClosed(), false, 'its second end says nothing');
    enter(breaker).answered();
    assert.ok(breaker.isClosed());
  });

  test('who set out before it opened does not prolong the pause, and closes it with an answer', () => {
    const { breaker } = bench();
    const early = [enter(breaker), enter(breaker)];
    fail(breaker, 3);
    early[0]!.failed();
    assert.equal(breaker.pauseMs(), 1000);
    early[1]!.answered();
    assert.ok(breaker.isClosed());
  });

  test('whatever happens: at most one probe, pauses within the cap, and never shut for good', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('enter', 'answered', 'failed', 'withdrawn', 'wait'), fc.nat(12_000))),
        (steps) => {
          const { breaker, clock } = bench();
          const early: Pass[] = [];
          let probe: Pass | undefined;
          for (const [step, amount] of steps) {
            if (step === 'wait') clock.now += amount;
            else if (step === 'enter') {
              const wasClosed = breaker.isClosed();
              const pass = breaker.enter();
              if (wasClosed) early.push(pass!);
              else if (pass !== undefined) {
                assert.equal(probe, undefined, 'two probes at once');
                probe = pass;
              }
            } else {
              const pass = amount % 2 === 0 ? (probe ?? early.pop()) : (early.pop() ?? probe);
              if (pass === probe) probe = undefined;
              pass?.[step]();
              if (breaker.isClosed() && probe !== undefined) {
                early.push(probe);
                probe = undefined;
              }
            }
            assert.ok(breaker.pauseMs() >= 0 && breaker.pauseMs() <= 8000);
            if (breaker.isClosed()) assert.ok(breaker.pauseMs() === 0);
          }
          probe?.withdrawn();
          clock.now += 8000;
          enter(breaker).answered();
          assert.ok(breaker.isClosed());
        },
      ),
    );
  });
});
