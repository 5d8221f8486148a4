/**
 * A process that runs test files, one after the other as `run-files.ts` names them, and says how each test and each file ended. What they
 * load is loaded once; what one of them opened is closed before the next (`test/support/cleanup.ts`).
 */

import { after, run } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { closeAll } from '../test/support/cleanup.ts';
import { readCpuMs } from '../test/support/cpu.ts';
import { TEST_MAX_MS, type WorkerMessage, type WorkerOrder } from './worker-messages.ts';

/** For what a file left open, on a machine that may stand still for a minute. */
const END_MAX_MS = 180_000;

type TestEvent = ReturnType<typeof run> extends AsyncIterable<infer Event> ? Event : never;
type Completed = Extract<TestEvent, { type: 'test:complete' }>['data'];
type Named = { readonly testId: number; readonly name: string; readonly parentId: number };

/** As each file finds them, whatever the one before did to them. */
const FOLDER = process.cwd();
const ENVIRONMENT = { ...process.env };

let cpuMsBefore = 0;
let giveUp: NodeJS.Timeout | undefined;

function tell(message: WorkerMessage): void {
  process.send!(message);
}

/** Failures of a file, each told once: a hook that fails is told by each test behind it, and by what it belongs to. */
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
    // A test whose parts failed: each of them is told.
    if (failureType(error) !== 'subtestsFailed') this.#tell(path, show(error));
  }

  /** Of a suite, or of the file itself where the path is empty. */
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
    // A file without tests is told as if it were one.
    if (type === 'test:complete' && data.name !== file) {
      const path = pathOf(names, (data as unknown as Named).testId);
      const { error, type: kind } = data.details;
      if (kind !== 'suite') tellTest(file, path, data, failures);
      else if (error !== undefined) failures.tellAround(path, error);
    }
    // A hook of the file itself ends after its tests and has no end of its own.
    if (type === 'test:fail' && data.name === file) failures.tellAround('', data.details.error);
    if (type === 'test:diagnostic') {
      if (data.file === undefined) notices.push(data.message);
      else tell({ kind: 'notice', file, message: data.message });
    }
    // Node's own judgement of the run: a failure that was told in no other way is told.
    if (type === 'test:summary' && !data.success && !failures.any)
      failures.tellAround('', new Error(notices.join('\n')));
  }
  // Of a file that could not be loaded Node says nothing; loading it again throws the same.
  await import(pathToFileURL(file).href).catch((error) => failures.tellAround('', error));
  // What the file throws as it goes is still its own.
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

/** Closes what the file opened; what it still leaves open keeps it from its end, and is told. */
async function endFile(): Promise<void> {
  giveUp = setTimeout(() => {
    console.error(`The tests have ended, and left open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, END_MAX_MS).unref();
  await closeAll();
  process.chdir(FOLDER);
  for (const name of Object.keys(process.env)) if (!(name in ENVIRONMENT)) delete process.env[name];
  Object.assign(process.env, ENVIRONMENT);
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
