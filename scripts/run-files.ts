/**
 * Runs test files, once or several times, and reports. Some workers (`test-worker.ts`) run at once, each one file after another. A file of
 * the second circle has a worker to itself (`hasOwnProcess`).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import path from 'node:path';
import { chanceOf } from '../test/support/simulation-chance.ts';
import { onPatienceEnd } from '../test/support/until.ts';
import { hasOwnProcess } from './choose-tests.ts';
import { Report } from './test-report.ts';
import { FILE_MAX_MS, type WorkerMessage, type WorkerOrder } from './worker-messages.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const WORKER = path.join(ROOT, 'scripts/test-worker.ts');

export type RunOptions = {
  readonly times: number;
  /** Files that run at the same time. */
  readonly atOnce: number;
  /** A number that fixes a random order; undefined: the largest files run first. */
  readonly seed: number | undefined;
  /** True: everything that the files print is shown. */
  readonly isTalkative: boolean;
};

export async function runTests(files: readonly string[], options: RunOptions): Promise<Report> {
  const report = new Report({ root: ROOT, isTalkative: options.isTalkative });
  for (let time = 1; time <= options.times; time += 1) {
    if (options.times > 1) console.log(`\n${time}ª vez de ${options.times}`);
    const left = orderOf(files, options.seed).values();
    await Promise.all(Array.from({ length: options.atOnce }, () => runLane(left, options.seed, report)));
  }
  return report;
}

/** Takes one file after another until none is left. */
async function runLane(left: Iterator<string>, seed: number | undefined, report: Report): Promise<void> {
  let shared: Worker | undefined;
  for (let next = left.next(); next.done !== true; next = left.next()) {
    const file = path.resolve(ROOT, next.value);
    if (hasOwnProcess(next.value)) {
      const own = new Worker(report);
      await own.runFile({ file, seed });
      await own.end();
      continue;
    }
    if (shared?.hasEnded !== false) shared = new Worker(report);
    await shared.runFile({ file, seed });
  }
  await shared?.end();
}

class Worker {
  readonly #report: Report;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  /** The file that runs, or the last one that did. */
  #file = '';
  #onFileEnd: (() => void) | undefined;
  #isEnding = false;
  hasEnded = false;

  constructor(report: Report) {
    this.#report = report;
    this.#child = fork(WORKER, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => report.takeOutput(this.#file, text));
    }
    this.#child.on('message', (message: WorkerMessage) => {
      report.take(message);
      if (message.kind === 'end') this.#onFileEnd?.();
    });
    this.#closed = once(this.#child, 'close').then(([code, signal]) => this.#takeClose(signal ?? code));
  }

  async runFile(order: WorkerOrder): Promise<void> {
    this.#file = order.file;
    this.#report.beginFile(order.file);
    const ended = new Promise<void>((resolve) => (this.#onFileEnd = resolve));
    this.#child.send(order);
    const callOff =
      FILE_MAX_MS === undefined ? undefined : onPatienceEnd(FILE_MAX_MS, () => this.#child.kill('SIGKILL'));
    await ended;
    callOff?.();
    this.#onFileEnd = undefined;
    this.#report.endFile(order.file);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    if (!this.hasEnded) this.#child.send('end');
    await this.#closed;
  }

  #takeClose(how: unknown): void {
    this.hasEnded = true;
    // A worker that has reported failures ends with 1, as in Node.
    if (!this.#isEnding) {
      this.#report.take({ kind: 'failure', file: this.#file, path: '', failure: `its process ended: ${how}` });
    }
    this.#onFileEnd?.();
  }
}

/** The largest files begin first, because most of them take longest: no single file delays the end. */
function orderOf(files: readonly string[], seed: number | undefined): readonly string[] {
  if (seed !== undefined) return chanceOf(seed).shuffled(files);
  const sizes = new Map(files.map((file) => [file, statSync(path.resolve(ROOT, file)).size]));
  return [...files].sort((one, other) => sizes.get(other)! - sizes.get(one)!);
}
