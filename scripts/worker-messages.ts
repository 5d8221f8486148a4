/** Messages between the test runner and its workers (`test-worker.ts`). Files are absolute paths. */

export type WorkerOrder = { readonly file: string; readonly seed: number | undefined };

/** `path`: the joined names of a test; empty for the file itself or its process. */
export type WorkerMessage = { readonly file: string } & (
  | { readonly kind: 'passed' }
  | { readonly kind: 'skipped'; readonly path: string; readonly why: string }
  | { readonly kind: 'failure'; readonly path: string; readonly failure: string }
  | { readonly kind: 'notice'; readonly message: string }
  | { readonly kind: 'end'; readonly cpuMs: number }
);

const { NFSE_TEST_LONGO, NFSE_TEST_QUEDAS, NFSE_TEST_ALTA } = process.env;
/** A long run takes hours, and its tests give up by themselves. */
const isLong = (NFSE_TEST_LONGO ?? NFSE_TEST_QUEDAS ?? NFSE_TEST_ALTA) !== undefined;
/** Limits for one test and one file, beyond any standstill of the machine. */
export const TEST_MAX_MS = isLong ? undefined : 600_000;
export const FILE_MAX_MS = isLong ? undefined : 900_000;
