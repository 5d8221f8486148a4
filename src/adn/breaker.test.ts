import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../test/support/seed.ts';
import { type Breaker, type BreakerSettings, openBreaker, type Pass } from './breaker.ts';

/** A breaker with a clock and a random source of the test; three failures open it, pauses from 1 s to 8 s. */
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

/** The time for which the others keep a turn free for its party. */
const TURN_MS = 1500;

function enter(breaker: Breaker, party?: object): Pass {
  const pass = breaker.enter(party);
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

  test('says with what it opened, whether it was open already, and how long it was when it closes', () => {
    const said: object[] = [];
    const { breaker, clock } = bench({ onOpen: (about) => said.push(about), onClose: (about) => said.push(about) });
    clock.now = 50_000;
    for (let time = 0; time < 3; time += 1) enter(breaker).failed('nobody is there');
    clock.now = 51_000;
    enter(breaker).failed('still nobody');
    clock.now = 53_500;
    enter(breaker).answered();
    fail(breaker, 3);
    assert.deepEqual(said, [
      { failures: 3, pauseMs: 1000, isAgain: false, why: 'nobody is there' },
      { failures: 4, pauseMs: 2000, isAgain: true, why: 'still nobody' },
      { openMs: 3500 },
      { failures: 3, pauseMs: 1000, isAgain: false, why: undefined },
    ]);
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

  test('one that set out before it opened and ends meanwhile makes no room for a second probe', () => {
    const { breaker, clock } = bench();
    const early = enter(breaker);
    fail(breaker, 3);
    clock.now = 1000;
    enter(breaker);
    early.failed();
    assert.equal(breaker.enter(), undefined);
    assert.equal(breaker.pauseMs(), 250, 'one looks again in a quarter of a second');
  });

  test('by itself: five failures open it, for half a second at first and for thirty at most', () => {
    const clock = { now: 0 };
    const breaker = openBreaker({ now: () => clock.now, random: () => 1 - Number.EPSILON });
    fail(breaker, 4);
    assert.ok(breaker.isClosed());
    fail(breaker, 1);
    const pauses: number[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      pauses.push(breaker.pauseMs());
      clock.now += breaker.pauseMs();
      enter(breaker).failed();
    }
    assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    clock.now += 30_000;
    enter(breaker).answered();
    assert.ok(breaker.isClosed());
  });

  test('whatever happens: at most one probe, pauses within the cap, and never shut for good', () => {
    const ends = ['answered', 'failed', 'suspected', 'withdrawn'] as const;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('enter', 'wait', ...ends), fc.nat(12_000)), { size: '+1' }),
        (steps) => {
          const { breaker, clock } = bench();
          const parties = Array.from({ length: 6 }, () => ({}));
          const early: Pass[] = [];
          let probe: Pass | undefined;
          for (const [step, amount] of steps) {
            const party = parties[amount % parties.length]!;
            if (step === 'wait') clock.now += amount;
            else if (step === 'enter') {
              const wasClosed = breaker.isClosed();
              const isWorthwhile = breaker.pauseMs(party) === 0;
              const pass = breaker.enter(party);
              assert.equal(pass !== undefined, isWorthwhile, 'what it says of a pause is what it does');
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
            const pauseMs = breaker.pauseMs(party);
            assert.ok(pauseMs >= 0 && pauseMs <= 8000 + TURN_MS);
            if (breaker.isClosed()) assert.ok(pauseMs === 0);
          }
          probe?.withdrawn();
          clock.now += 8000 + TURN_MS;
          enter(breaker, parties[steps.length % parties.length]).answered();
          assert.ok(breaker.isClosed());
        },
      ),
    );
  });
});

describe('a circuit that several share', () => {
  const [bad, worse, worst, good, other] = Array.from({ length: 5 }, () => ({})) as [
    object,
    object,
    object,
    object,
    object,
  ];

  test('one party alone never opens it by what may be its own fault, however often', () => {
    const { breaker, told } = bench();
    for (let turn = 0; turn < 50; turn += 1) {
      enter(breaker, bad).suspected();
      enter(breaker, worse).suspected();
      assert.equal(breaker.pauseMs(good), 0);
    }
    assert.deepEqual([breaker.isClosed(), told], [true, []]);
    fail(breaker, 3);
    assert.ok(!breaker.isClosed(), 'what nobody can be blamed for counts as ever');
  });

  test('as many parties as failures open it, unless somebody had an answer in between', () => {
    const { breaker, told } = bench();
    enter(breaker, bad).suspected();
    enter(breaker, worse).suspected();
    enter(breaker, good).answered();
    enter(breaker, worst).suspected();
    enter(breaker, bad).suspected();
    assert.ok(breaker.isClosed());
    enter(breaker, worse).suspected();
    assert.deepEqual([breaker.isClosed(), told], [false, ['open 3 1000']]);
    assert.equal(breaker.enter(bad), undefined);
  });

  test('a probe that may have failed by its own fault leaves the next to somebody else, and the pause as it is', () => {
    const { breaker, clock, told } = bench();
    fail(breaker, 3);
    for (const party of [bad, good]) assert.ok(breaker.pauseMs(party) >= 1000);
    clock.now = 60_000;
    enter(breaker, bad).suspected();
    assert.equal(breaker.enter(bad), undefined, 'its turn is over');
    assert.ok(breaker.pauseMs(bad) > 0);
    assert.equal(breaker.pauseMs(good), 0, 'at once');
    enter(breaker, good).answered();
    assert.deepEqual([breaker.isClosed(), told], [true, ['open 3 1000', 'close']]);
  });

  test('whose turn it is and does not come is waited for a moment only', () => {
    const { breaker, clock } = bench();
    fail(breaker, 3);
    assert.ok(breaker.pauseMs(good) > 0, 'it asks first, and never again');
    assert.ok(breaker.pauseMs(bad) > 0);
    clock.now = 1000 + TURN_MS - 1;
    assert.equal(breaker.enter(bad), undefined);
    clock.now = 1000 + TURN_MS;
    enter(breaker, bad).suspected();
    assert.equal(breaker.pauseMs(bad), 0, 'nobody else waits');
    enter(breaker, bad).answered();
  });

  test('opened by suspicions alone, it lets in soon who is not suspected, however long the pause has grown', () => {
    const { breaker, clock } = bench();
    const suspects = [bad, worse, worst];
    for (const party of suspects) enter(breaker, party).suspected();
    for (let turn = 0; turn < 20; turn += 1) {
      clock.now += TURN_MS;
      for (const party of suspects) if (breaker.pauseMs(party) === 0) breaker.enter(party)?.suspected();
    }
    for (let turn = 0; breaker.pauseMs(bad) < 2000; turn += 1) {
      assert.ok(turn < 100);
      clock.now += 100;
      for (const party of suspects) breaker.enter(party)?.suspected();
    }
    const pauseMs = breaker.pauseMs(good);
    assert.ok(pauseMs <= 1000, `${pauseMs}`);
    clock.now += pauseMs;
    assert.ok(breaker.pauseMs(bad) > 0);
    const second = enter(breaker, good);
    assert.equal(breaker.enter(other), undefined, 'one at a time');
    second.answered();
    assert.ok(breaker.isClosed());
  });

  test('the second in the queue is told to look when the turn of the first may have ended', () => {
    const { breaker, clock } = bench();
    clock.now = 10_000;
    fail(breaker, 3);
    assert.deepEqual([breaker.pauseMs(bad), breaker.pauseMs(good)], [1000, 1250]);
    clock.now = 11_000;
    assert.deepEqual([breaker.pauseMs(bad), breaker.pauseMs(good)], [0, 250]);
    clock.now = 11_000 + TURN_MS - 100;
    assert.equal(breaker.pauseMs(good), 100, 'or when it is over');
  });

  test('suspicions of those who set out before it opened do not open it again', () => {
    const { breaker, clock, told } = bench();
    const early = [bad, worse, worst].map((party) => enter(breaker, party));
    fail(breaker, 3);
    for (const pass of early) pass.suspected();
    clock.now = 1000;
    enter(breaker, good).failed();
    assert.deepEqual(told, ['open 3 1000', 'open 4 2000']);
    const later = bench();
    const late = [bad, worse, worst].map((party) => enter(later.breaker, party));
    fail(later.breaker, 3);
    later.clock.now = 1000;
    enter(later.breaker, good).failed();
    for (const pass of late) pass.suspected();
    assert.deepEqual(later.told, ['open 3 1000', 'open 4 2000']);
  });

  test('opened again by suspicions alone, it keeps who is not suspected out for the first pause, and no longer', () => {
    const { breaker, clock, told } = bench();
    const suspects = [bad, worse, worst];
    for (const party of suspects) enter(breaker, party).suspected();
    for (const party of suspects) {
      clock.now += 5_000;
      enter(breaker, party).suspected();
    }
    assert.deepEqual(told, ['open 3 1000', 'open 3 2000']);
    assert.equal(breaker.pauseMs(good), 1000);
    clock.now += 999;
    assert.equal(breaker.enter(good), undefined);
    clock.now += 1;
    assert.equal(breaker.enter(bad), undefined, 'the turns of the suspects come later');
    enter(breaker, good).answered();
  });

  test('a probe out of turn leaves those before it in their places', () => {
    const { breaker, clock } = bench();
    for (const party of [bad, worse, worst]) enter(breaker, party).suspected();
    for (const party of [bad, worse]) assert.ok(breaker.pauseMs(party) > 0);
    clock.now = 1000;
    enter(breaker, good).withdrawn();
    assert.equal(breaker.enter(worse), undefined, 'bad asked first');
    assert.equal(breaker.pauseMs(bad), 0);
  });

  test('opened because nobody could be reached, it lets nobody in before its time', () => {
    const { breaker, clock } = bench();
    fail(breaker, 3);
    clock.now = 999;
    for (const party of [good, bad]) assert.equal(breaker.enter(party), undefined);
  });

  test('whoever keeps asking has his turn, and closes it when he is answered', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.constantFrom('failed', 'suspected'), { minLength: 1 }),
        fc.integer({ min: 10, max: 1000 }),
        (others, fates, stepMs) => {
          const { breaker, clock } = bench();
          // The party that will be answered is always the last to ask.
          const parties = [...Array.from({ length: others }, () => ({})), good];
          fail(breaker, 3);
          const turns: object[] = [];
          for (let step = 0; !breaker.isClosed(); step += 1) {
            assert.ok(step < 20_000, 'never its turn');
            clock.now += stepMs;
            for (const party of parties) {
              const pass = breaker.enter(party);
              if (pass === undefined) continue;
              turns.push(party);
              if (party === good) pass.answered();
              else pass[fates[turns.length % fates.length]!]();
            }
          }
          // Each party has one turn. A probe out of turn follows each time that suspicions open the circuit, which takes three of them.
          assert.ok(turns.length <= 1.5 * parties.length + 1, `${turns.length} turns of ${parties.length}`);
        },
      ),
      { examples: [[8, ['suspected', 'suspected', 'failed', 'suspected'], 10]] },
    );
  });
});
