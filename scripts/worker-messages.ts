/** Messages between the test runner and its workers (`test-worker.ts`). Files are absolute paths. */
import { IS_LONG_RUN } from '../test/support/long-runs.ts';

export type WorkerOrder = { readonly file: string; readonly seed: number | undefined };

/** `path`: the joined names of a test; empty for the file itself or its process. */
export type WorkerMessage = { readonly file: string } & (
  | { readonly kind: 'passed' }
  | { readonly kind: 'skipped'; readonly path: string; readonly why: string }
  | { readonly kind: 'failure'; readonly path: string; readonly failure: string }
  | { readonly kind: 'notice'; readonly message: string }
  | { readonly kind: 'end'; readonly cpuMs: number }
);

/** Longest time of one test and of one file, in milliseconds. Long runs take hours and have no such limit. */
export const TEST_MAX_MS = IS_LONG_RUN ? undefined : 600_000;
export const FILE_MAX_MS = IS_LONG_RUN ? undefined : 900_000;
