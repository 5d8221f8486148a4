/**
 * Group commit: jobs that arrive during a commit go into the next one together, and each is answered after its commit. One batch a key runs
 * at a time, since two of one tenant would only wait for each other's locks.
 */

import { observe } from '../measures/counters.ts';
import { StoreUnavailable } from './unavailable.ts';

/** A job that waits longer for a batch is refused: nothing of it is stored, and its sender may repeat it. */
export const QUEUED_MAX_MS = 20_000;

export type Commits<Job, Result> = {
  (key: string, job: Job): Promise<Result>;
  /** Duration of the oldest running batch, in milliseconds. */
  longest(): number;
};

/**
 * Runs jobs of one key in batches of at most `max`; results have the order of the jobs. `failsAll`: a failure that the waiting jobs would
 * meet as well. `gather`: a batch waits for this before it begins, and includes the jobs that came meanwhile. Undefined: it begins at once.
 */
export function groupCommit<Job, Result>(
  run: (key: string, jobs: readonly Job[]) => Promise<readonly Result[]>,
  max: number,
  failsAll: (error: unknown, key: string) => boolean = () => false,
  gather: (key: string) => Promise<unknown> | undefined = () => undefined,
): Commits<Job, Result> {
  /** `at`: beginning of the wait, on the clock of `performance.now`. */
  type Waiting = { at: number; job: Job; resolve: (result: Result) => void; reject: (error: unknown) => void };
  const queues = new Map<string, Waiting[]>();
  /** Beginnings of the running batches, oldest first. */
  const begun = new Map<string, number>();

  /** Refuses late jobs; the oldest are at the front. */
  function refuseLate(queue: Waiting[]): void {
    const since = performance.now() - QUEUED_MAX_MS;
    const isLate = ({ at }: Waiting): boolean => at < since;
    for (const { reject } of queue.splice(0, queue.findLastIndex(isLate) + 1)) {
      reject(new StoreUnavailable('queued', 'the batches before it took too long'));
    }
  }

  async function drain(key: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const gathering = gather(key);
      // The wait happens only if necessary, so that a batch otherwise begins in the same turn.
      if (gathering !== undefined) await gathering;
      refuseLate(queue);
      const batch = queue.splice(0, max);
      if (batch.length === 0) break;
      begun.set(key, performance.now());
      try {
        const results = await run(
          key,
          batch.map(({ job }) => job),
        );
        batch.forEach(({ resolve }, place) => {
          resolve(results[place]!);
        });
      } catch (error) {
        if (failsAll(error, key)) batch.push(...queue.splice(0));
        for (const { reject } of batch) reject(error);
      }
      begun.delete(key);
    }
    queues.delete(key);
  }

  const commit = (key: string, job: Job): Promise<Result> =>
    new Promise((resolve, reject) => {
      const queue = queues.get(key);
      if (queue !== undefined) {
        queue.push({ at: performance.now(), job, resolve, reject });
        return;
      }
      const fresh: Waiting[] = [{ at: performance.now(), job, resolve, reject }];
      queues.set(key, fresh);
      // The start is one turn later, so that requests read from the sockets in this turn share the first commit.
      setImmediate(() => void drain(key, fresh));
    });
  const longest = (): number => {
    const [oldest] = begun.values();
    return oldest === undefined ? 0 : performance.now() - oldest;
  };
  return Object.assign(commit, { longest });
}

/** A batch runner that records the size and the duration of each batch. */
export function measureGroups<Job, Result>(
  documento: 'nota' | 'evento',
  run: (key: string, jobs: readonly Job[]) => Promise<readonly Result[]>,
): typeof run {
  return async (key, jobs) => {
    const began = performance.now();
    try {
      return await run(key, jobs);
    } finally {
      observe('nfse_gravacao_grupo_documentos', { documento }, jobs.length);
      observe('nfse_gravacao_duracao_seconds', { documento }, (performance.now() - began) / 1_000);
    }
  };
}
