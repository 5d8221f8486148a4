/**
 * Group commit: what arrives while a commit is under way waits for the next one, and goes into it together. Each
 * caller is answered only after the commit that holds its work.
 *
 * One batch a key is under way at a time, because two batches of one tenant would only wait for each other's locks.
 */

/** Runs jobs of one key in batches of at most `max`; results in the order of the jobs. */
export function groupCommit<Job, Result>(
  run: (key: string, jobs: readonly Job[]) => Promise<readonly Result[]>,
  max: number,
): (key: string, job: Job) => Promise<Result> {
  type Waiting = { job: Job; resolve: (result: Result) => void; reject: (error: unknown) => void };
  const queues = new Map<string, Waiting[]>();

  async function drain(key: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, max);
      try {
        const results = await run(
          key,
          batch.map(({ job }) => job),
        );
        batch.forEach(({ resolve }, place) => {
          resolve(results[place]!);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    queues.delete(key);
  }

  return (key, job) =>
    new Promise((resolve, reject) => {
      const queue = queues.get(key);
      if (queue !== undefined) {
        queue.push({ job, resolve, reject });
        return;
      }
      const fresh: Waiting[] = [{ job, resolve, reject }];
      queues.set(key, fresh);
      // One turn later, so that what is read from the sockets in this turn shares the first commit too.
      setImmediate(() => void drain(key, fresh));
    });
}
