/** Group commit without a database: sharing a batch, waiting, and failing. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../test/support/seed.ts';
import { takeSnapshot } from '../measures/counters.ts';
import { groupCommit, measureGroups, QUEUED_MAX_MS } from './group-commit.ts';
import { StoreUnavailable } from './unavailable.ts';

type Batch = { readonly key: string; readonly jobs: readonly number[]; finish(): void; fail(error: Error): void };

/** Waits for many turns of the event loop, more than any batch needs to begin or to end. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Commits that stay open until the test ends them. */
function heldCommits(max = 100): {
  issue: (key: string, job: number) => Promise<string>;
  batches: Batch[];
  begun: (count: number) => Promise<void>;
} {
  const batches: Batch[] = [];
  const issue = groupCommit<number, string>(
    (key, jobs) =>
      new Promise((resolve, reject) => {
        const finish = (): void => resolve(jobs.map((job) => `${key}${job}`));
        batches.push({ key, jobs, finish, fail: reject });
      }),
    max,
  );
  const begun = async (count: number): Promise<void> => {
    await turns();
    assert.equal(batches.length, count, `batches: ${JSON.stringify(batches)}`);
  };
  return { issue, batches, begun };
}

describe('a batch', () => {
  test('takes no job that has waited for too long behind others, which is told so', async (t) => {
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const { issue, batches, begun } = heldCommits(2);
    const first = issue('a', 1);
    await begun(1);
    const late = [2, 3, 4].map((job) => issue('a', job).catch((error: Error) => error));
    now = 1;
    const inTime = issue('a', 5);
    now = QUEUED_MAX_MS + 1;
    batches[0]!.finish();
    assert.equal(await first, 'a1');
    for (const answer of await Promise.all(late)) {
      assert.ok(answer instanceof StoreUnavailable && answer.kind === 'queued', String(answer));
    }
    await begun(2);
    assert.deepEqual(batches[1]!.jobs, [5]);
    batches[1]!.finish();
    assert.equal(await inTime, 'a5');
  });

  test('waits for more jobs where it is told to, and takes all that came meanwhile', async () => {
    const sizes: number[] = [];
    const gathering = Promise.withResolvers<void>();
    const waits = [gathering.promise];
    const issue = groupCommit<number, number>(
      async (_, jobs) => {
        sizes.push(jobs.length);
        return jobs;
      },
      100,
      undefined,
      () => waits.shift(),
    );
    const first = issue('a', 1);
    await turns();
    const second = issue('a', 2);
    await turns();
    assert.deepEqual(sizes, []);
    gathering.resolve();
    assert.deepEqual(await Promise.all([first, second]), [1, 2]);
    assert.equal(await issue('a', 3), 3);
    assert.deepEqual(sizes, [2, 1]);
  });

  test('is what came in one turn; each caller gets its own result', async () => {
    const { issue, batches, begun } = heldCommits();
    const answers = [issue('a', 1), issue('a', 2), issue('a', 3)];
    await begun(1);
    assert.deepEqual(batches[0]!.jobs, [1, 2, 3]);
    batches[0]!.finish();
    assert.deepEqual(await Promise.all(answers), ['a1', 'a2', 'a3']);
  });

  test('answers nobody before its commit is done', async () => {
    const { issue, batches, begun } = heldCommits();
    let answered = false;
    const answer = issue('a', 1).then(() => {
      answered = true;
    });
    await begun(1);
    assert.equal(answered, false);
    batches[0]!.finish();
    await answer;
  });

  test('takes with it what came while the one before was under way, in order', async () => {
    const { issue, batches, begun } = heldCommits();
    const first = issue('a', 1);
    await begun(1);
    const others = [issue('a', 2), issue('a', 3)];
    await begun(1);
    others.push(issue('a', 4));
    batches[0]!.finish();
    assert.equal(await first, 'a1');
    await begun(2);
    assert.deepEqual(batches[1]!.jobs, [2, 3, 4]);
    batches[1]!.finish();
    assert.deepEqual(await Promise.all(others), ['a2', 'a3', 'a4']);
  });

  test('is never larger than its limit; the rest follows', async () => {
    const { issue, batches, begun } = heldCommits(2);
    const answers = [1, 2, 3, 4, 5].map((job) => issue('a', job));
    for (const count of [1, 2, 3]) {
      await begun(count);
      batches[count - 1]!.finish();
    }
    assert.deepEqual(await Promise.all(answers), ['a1', 'a2', 'a3', 'a4', 'a5']);
    assert.deepEqual(
      batches.map(({ jobs }) => jobs),
      [[1, 2], [3, 4], [5]],
    );
  });

  test('that fails, fails for its own callers alone', async () => {
    const { issue, batches, begun } = heldCommits();
    const lost = [issue('a', 1), issue('a', 2)];
    const refused = Promise.all(lost.map((answer) => assert.rejects(answer, /the disk is full/)));
    await begun(1);
    const next = issue('a', 3);
    batches[0]!.fail(new Error('the disk is full'));
    await refused;
    await begun(2);
    batches[1]!.finish();
    assert.equal(await next, 'a3');
  });
});

describe('a failure that those who wait would meet too', () => {
  test('is theirs as well, and who comes after it begins anew', async () => {
    const run = Promise.withResolvers<readonly number[]>();
    let batches = 0;
    const issue = groupCommit<number, number>(
      (_key, jobs) => {
        batches += 1;
        return batches === 1 ? run.promise : Promise.resolve(jobs);
      },
      1,
      (error, key) => key === 'a' && /held/.test(String(error)),
    );
    const all = [1, 2, 3].map((job) => assert.rejects(issue('a', job), /held/));
    await turns();
    assert.equal(batches, 1);
    run.reject(new Error('held'));
    await Promise.all(all);
    assert.equal(batches, 1, 'those who waited were not tried');
    assert.equal(await issue('a', 4), 4);
  });

  test('is not, where it is of another kind or another key', async () => {
    let batches = 0;
    const issue = groupCommit<number, number>(
      (_key, jobs) => {
        batches += 1;
        if (jobs[0] === 1) throw new Error('held');
        return Promise.resolve(jobs);
      },
      1,
      (_error, key) => key === 'a',
    );
    const first = assert.rejects(issue('b', 1), /held/);
    assert.equal(await issue('b', 2), 2);
    await first;
    assert.equal(batches, 2);
  });
});

test('how long a batch is under way is told of the one that began first', async (context) => {
  let now = 1_000;
  context.mock.method(performance, 'now', () => now);
  const runs = new Map([1, 2].map((job) => [job, Promise.withResolvers<readonly number[]>()]));
  const issue = groupCommit<number, number>((_key, [job]) => runs.get(job!)!.promise, 1);
  assert.equal(issue.longest(), 0);
  const a = issue('a', 1);
  await turns();
  now += 500;
  const b = issue('b', 2);
  await turns();
  now += 250;
  assert.equal(issue.longest(), 750);
  runs.get(1)!.resolve([1]);
  await a;
  await turns();
  assert.equal(issue.longest(), 250);
  runs.get(2)!.resolve([2]);
  await b;
  await turns();
  assert.equal(issue.longest(), 0);
});

describe('keys', () => {
  test('do not wait for each other', async () => {
    const { issue, batches, begun } = heldCommits();
    const a = issue('a', 1);
    const b = issue('b', 1);
    await begun(2);
    batches.find(({ key }) => key === 'b')!.finish();
    assert.equal(await b, 'b1');
    batches.find(({ key }) => key === 'a')!.finish();
    assert.equal(await a, 'a1');
  });

  test('do not fail for each other', async () => {
    const { issue, batches, begun } = heldCommits();
    const a = assert.rejects(issue('a', 1), /no/);
    const b = issue('b', 1);
    await begun(2);
    batches.find(({ key }) => key === 'a')!.fail(new Error('no'));
    batches.find(({ key }) => key === 'b')!.finish();
    await a;
    assert.equal(await b, 'b1');
  });

  test('that rested begin anew', async () => {
    const { issue, batches, begun } = heldCommits();
    for (const count of [1, 2, 3]) {
      const answer = issue('a', count);
      await begun(count);
      batches[count - 1]!.finish();
      assert.equal(await answer, `a${count}`);
    }
  });
});

test('work that throws before it is under way is a failure like any other', async () => {
  let calls = 0;
  const issue = groupCommit<number, number>((_key, jobs) => {
    calls += 1;
    if (calls === 1) throw new Error('at once');
    return Promise.resolve(jobs);
  }, 10);
  await assert.rejects(issue('a', 1), /at once/);
  assert.equal(await issue('a', 2), 2);
});

test('whenever jobs come, each is done once, in order, in batches that do not overlap', async () => {
  const arrival = fc.record({ key: fc.constantFrom('a', 'b'), turns: fc.nat(3), fails: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(arrival, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), async (arrivals, max) => {
      const done: Record<string, number[]> = { a: [], b: [] };
      const underWay = new Set<string>();
      const issue = groupCommit<{ place: number; fails: boolean }, number>(async (key, jobs) => {
        assert.ok(!underWay.has(key), 'one batch of a key at a time');
        assert.ok(jobs.length >= 1 && jobs.length <= max);
        underWay.add(key);
        await new Promise((resolve) => setImmediate(resolve));
        underWay.delete(key);
        done[key]!.push(...jobs.map(({ place }) => place));
        if (jobs[0]!.fails) throw new Error('failed');
        return jobs.map(({ place }) => place);
      }, max);
      const answers: Promise<unknown>[] = [];
      for (const [place, { key, turns, fails }] of arrivals.entries()) {
        for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        answers.push(
          issue(key, { place, fails }).then(
            (result) => assert.equal(result, place),
            (error: Error) => assert.equal(error.message, 'failed'),
          ),
        );
      }
      await Promise.all(answers);
      for (const key of ['a', 'b']) {
        const wanted = arrivals.flatMap((one, place) => (one.key === key ? [place] : []));
        assert.deepEqual(done[key], wanted);
      }
    }),
  );
});

test('how many are in a batch, and its seconds, are counted, also of one that fails', async (context) => {
  const summed = async (name: string): Promise<number> => {
    const values = (await takeSnapshot('p', 'p')).find((one) => one.name === name)?.values ?? [];
    return values
      .filter((one) => 'metricName' in one && one.metricName === `${name}_sum`)
      .reduce((sum, { value }) => sum + value, 0);
  };
  // Other test files of this process count as well.
  const documents = await summed('nfse_gravacao_grupo_documentos');
  const seconds = await summed('nfse_gravacao_duracao_seconds');
  let now = 5_000;
  context.mock.method(performance, 'now', () => now);
  const run = measureGroups<number, number>('nota', async (_, jobs) => {
    now += jobs.length * 500;
    if (jobs.length === 1) throw new Error('the disk is full');
    return jobs;
  });
  assert.deepEqual(await run('a', [1, 2, 3]), [1, 2, 3]);
  await assert.rejects(run('a', [1]), /the disk is full/);
  assert.equal((await summed('nfse_gravacao_grupo_documentos')) - documents, 4);
  // The sum includes measures of other files, and loses digits of precision.
  assert.ok(Math.abs((await summed('nfse_gravacao_duracao_seconds')) - seconds - 2) < 1e-9);
});
