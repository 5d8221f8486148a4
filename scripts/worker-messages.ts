/** What the runner of the tests and its workers (`test-worker.ts`) say to each other; files are absolute paths. */

export type WorkerOrder = { readonly file: string; readonly seed: number | undefined };

/** Of a test its names joined; of the file itself, or of its process, an empty path. */
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
/** Ends no test and no file on a machine that only stands still for minutes. */
export const TEST_MAX_MS = isLong ? undefined : 600_000;
export const FILE_MAX_MS = isLong ? undefined : 900_000;
