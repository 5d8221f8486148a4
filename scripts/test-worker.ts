/**
 * A process that runs the test files that `run-files.ts` names, one after the other. It reports how each test and each file ended. Modules
 * are loaded once for all files. Resources of a file are closed before the next begins (`test/support/cleanup.ts`).
 */
import { after, run } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { closeAll } from '../test/support/cleanup.ts';
import { readCpuMs } from '../test/support/cpu.ts';
import { TEST_MAX_MS, type WorkerMessage, type WorkerOrder } from './worker-messages.ts';

/** Time for a file to close its resources, on a machine that may stall for a minute. */
const END_MAX_MS = 180_000;

type TestEvent = ReturnType<typeof run> extends AsyncIterable<infer Event> ? Event : never;
type Completed = Extract<TestEvent, { type: 'test:complete' }>['data'];
type Named = { readonly testId: number; readonly name: string; readonly parentId: number };

/** The folder and environment that each file begins with. */
const FOLDER = process.cwd();
const ENVIRONMENT = { ...process.env };

let cpuMsBefore = 0;
let giveUp: NodeJS.Timeout | undefined;

function tell(message: WorkerMessage): void {
  process.send!(message);
}

/** Failures of a file. Node reports a failed hook for each test and again for its suite; the suite then stays silent. */
class Failures {
  readonly #file: string;
  readonly #told = new Set<string>();

  constructor(file: string) {
    this.#file = file;
  }

  get any(): boolean {
    return this.#told.size > 0;
  }

  tellTest(path: string, error: Error): void {
    // Subtests report their own failures.
    if (failureType(error) !== 'subtestsFailed') this.#tell(path, show(error));
  }

  /** Reports the failure of a suite, or of the file itself where the path is empty. */
  tellAround(path: string, error: Error): void {
    if (!this.#told.has(show(error))) this.tellTest(path, error);
  }

  #tell(path: string, failure: string): void {
    this.#told.add(failure);
    tell({ kind: 'failure', file: this.#file, path, failure });
  }
}

async function runFile({ file, seed }: WorkerOrder): Promise<void> {
  const names = new Map<number, Named>();
  const failures = new Failures(file);
  const notices: string[] = [];
  const events = run({
    files: [file],
    isolation: 'none',
    setup: () => after(endFile),
    ...(TEST_MAX_MS === undefined ? {} : { timeout: TEST_MAX_MS }),
    ...(seed === undefined ? {} : { randomSeed: seed }),
  });
  for await (const { type, data } of events) {
    if (type === 'test:enqueue') names.set((data as unknown as Named).testId, data as unknown as Named);
    // Node reports a file without tests as if it were a test.
    if (type === 'test:complete' && data.name !== file) {
      const path = pathOf(names, (data as unknown as Named).testId);
      const { error, type: kind } = data.details;
      if (kind !== 'suite') tellTest(file, path, data, failures);
      else if (error !== undefined) failures.tellAround(path, error);
    }
    // Node reports a failed hook of the file, or `endFile`, under the name of the file or of this one.
    if (type === 'test:fail' && [file, import.meta.filename].includes(data.name))
      failures.tellAround('', data.details.error);
    if (type === 'test:diagnostic') {
      if (data.file === undefined) notices.push(data.message);
      else tell({ kind: 'notice', file, message: data.message });
    }
    // Node's summary also counts errors thrown after a test has ended.
    if (type === 'test:summary' && !data.success && !failures.any)
      failures.tellAround('', new Error(notices.join('\n')));
  }
  // Node reports no error of a file that cannot be loaded. A second import throws that error again.
  await import(pathToFileURL(file).href).catch((error) => failures.tellAround('', error));
  // Errors that the file has scheduled are thrown before it ends.
  await nextTurn();
  await nextTurn();
}

function tellTest(file: string, path: string, { details, skip }: Completed, failures: Failures): void {
  if (skip !== undefined && skip !== false) {
    tell({ kind: 'skipped', file, path, why: skip === true || skip === '' ? 'sem razão dita' : skip });
  } else if (details.error === undefined) tell({ kind: 'passed', file });
  else failures.tellTest(path, details.error);
}

function failureType(error: Error): unknown {
  return (error as { readonly failureType?: unknown }).failureType;
}

function show(error: Error): string {
  return inspect(error.cause ?? error, { depth: 6 });
}

/** The names of a test and of all around it. */
function pathOf(names: ReadonlyMap<number, Named>, testId: number): string {
  const named = names.get(testId);
  if (named === undefined) return '';
  const around = pathOf(names, named.parentId);
  return around === '' ? named.name : `${around} › ${named.name}`;
}

/** Closes the resources of the file. Resources that stay open keep the file from ending, and end the process with their names (D-480). */
async function endFile(): Promise<void> {
  giveUp = setTimeout(() => {
    console.error(`The tests have ended, and left open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, END_MAX_MS).unref();
  try {
    await closeAll();
  } finally {
    process.chdir(FOLDER);
    for (const name of Object.keys(process.env)) if (!(name in ENVIRONMENT)) delete process.env[name];
    Object.assign(process.env, ENVIRONMENT);
  }
}

process.on('message', async (order: WorkerOrder | 'end') => {
  if (order === 'end') return process.disconnect?.();
  // Node ends a run when nothing is open any more.
  process.channel!.unref();
  await runFile(order);
  process.channel!.ref();
  clearTimeout(giveUp);
  const cpuMs = readCpuMs();
  tell({ kind: 'end', file: order.file, cpuMs: cpuMs - cpuMsBefore });
  cpuMsBefore = cpuMs;
});
