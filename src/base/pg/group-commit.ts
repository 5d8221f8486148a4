/**
 * Group commit: jobs that arrive during a commit go into the next one together, and each is answered after its commit. One batch a key is
 * under way at a time: two of one tenant would only wait for each other's locks.
 */

import { observe } from '../measures/counters.ts';
import { StoreUnavailable } from './unavailable.ts';

/** A job that no batch has taken by then is refused: nothing of it is stored, and its sender may come again. */
export const QUEUED_MAX_MS = 20_000;

export type Commits<Job, Result> = {
  (key: string, job: Job): Promise<Result>;
  /** How long the batch has been under way that began first, in milliseconds. */
  longest(): number;
};

/**
 * Runs jobs of one key in batches of at most `max`; results in the order of the jobs. `failsAll`: a failure that the waiting jobs would
 * meet as well. `gather`: a batch waits for this before it begins, and takes what came meanwhile; undefined: it begins at once.
 */
export function groupCommit<Job, Result>(
  run: (key: string, jobs: readonly Job[]) => Promise<readonly Result[]>,
  max: number,
  failsAll: (error: unknown, key: string) => boolean = () => false,
  gather: () => Promise<unknown> | undefined = () => undefined,
): Commits<Job, Result> {
  /** `at`: since when, on the clock of `performance.now`. */
  type Waiting = { at: number; job: Job; resolve: (result: Result) => void; reject: (error: unknown) => void };
  const queues = new Map<string, Waiting[]>();
  /** When the batches began that are under way, oldest first. */
  const begun = new Map<string, number>();

  /** The oldest stand first. */
  function refuseLate(queue: Waiting[]): void {
    const since = performance.now() - QUEUED_MAX_MS;
    const isLate = ({ at }: Waiting): boolean => at < since;
    for (const { reject } of queue.splice(0, queue.findLastIndex(isLate) + 1)) {
      reject(new StoreUnavailable('queued', 'the batches before it took too long'));
    }
  }

  async function drain(key: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const gathering = gather();
      // Awaited only where there is something: a batch begins in the turn in which it may.
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
      // One turn later, so that what is read from the sockets in this turn shares the first commit too.
      setImmediate(() => void drain(key, fresh));
    });
  const longest = (): number => {
    const [oldest] = begun.values();
    return oldest === undefined ? 0 : performance.now() - oldest;
  };
  return Object.assign(commit, { longest });
}

/** A way to run a batch, with how many there are in each and how long it takes counted. */
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
