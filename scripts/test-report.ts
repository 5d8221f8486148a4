/**
 * The report of a test run. Each file gets a line when it ends, and each failure is printed in full. The last part lists the most expensive
 * files, the skipped tests with their reasons, and the failures again. A log without its beginning names them too. The last line has the
 * totals.
 */
import path from 'node:path';
import { readCpuMs } from '../test/support/cpu.ts';
import type { WorkerMessage } from './worker-messages.ts';

type FileRun = { readonly begun: number; tests: number; failed: number; cpuMs: number | undefined; output: string };

const DEAREST = 10;
/** Skipped tests named for each reason. */
const NAMED_MAX = 3;
/** Only the end of a failed file's output is shown. */
const OUTPUT_MAX = 20_000;
/** The beginning of a failure, with its message and first lines of the stack, is repeated in the last part. */
const REPEATED_MAX = 2_000;

export class Report {
  readonly #root: string;
  readonly #isTalkative: boolean;
  readonly #begun = performance.now();
  /** Processor time and duration of each file, summed over its runs. */
  readonly #costs = new Map<string, { cpuMs: number; wallMs: number }>();
  /** How often each test failed, and the words of its first failure. */
  readonly #failures = new Map<string, { times: number; readonly words: string }>();
  readonly #skipped = new Map<string, string[]>();
  readonly #count = { passed: 0, failed: 0, skipped: 0 };
  readonly #files = new Map<string, FileRun>();

  /** `isTalkative`: shows all output of the files, as a developer of a few files wants. */
  constructor({ root, isTalkative }: { readonly root: string; readonly isTalkative: boolean }) {
    this.#root = root;
    this.#isTalkative = isTalkative;
  }

  beginFile(file: string): void {
    this.#files.set(file, { begun: performance.now(), tests: 0, failed: 0, cpuMs: undefined, output: '' });
  }

  takeOutput(file: string, text: string): void {
    if (this.#isTalkative) process.stdout.write(text);
    const fileRun = this.#files.get(file);
    if (fileRun !== undefined) fileRun.output = (fileRun.output + text).slice(-OUTPUT_MAX);
  }

  take(message: WorkerMessage): void {
    const fileRun = this.#files.get(message.file);
    if (fileRun === undefined) throw new Error(`${message.file} says something before it began`);
    if (message.kind === 'end') fileRun.cpuMs = message.cpuMs;
    else if (message.kind === 'notice') {
      if (this.#isTalkative) console.log(`  ℹ ${message.message}`);
    } else {
      fileRun.tests += 1;
      this.#count[message.kind === 'failure' ? 'failed' : message.kind] += 1;
      const name = this.#nameOf(message.file);
      if (message.kind === 'skipped') {
        this.#skipped.set(message.why, [...(this.#skipped.get(message.why) ?? []), `${name} › ${message.path}`]);
      } else if (message.kind === 'failure') {
        fileRun.failed += 1;
        const test = message.path === '' ? name : `${name} › ${message.path}`;
        const failures = this.#failures.get(test) ?? { times: 0, words: message.failure };
        failures.times += 1;
        this.#failures.set(test, failures);
        tellFailure(test, message.failure);
      }
    }
  }

  endFile(file: string): void {
    const { begun, tests, failed, cpuMs, output } = this.#files.get(file)!;
    const name = this.#nameOf(file);
    const wallMs = performance.now() - begun;
    const cost = this.#costs.get(file) ?? { cpuMs: 0, wallMs: 0 };
    this.#costs.set(file, { cpuMs: cost.cpuMs + (cpuMs ?? 0), wallMs: cost.wallMs + wallMs });
    if (failed > 0 && !this.#isTalkative && output !== '') console.log(`  ${name} escreveu:\n${output}`);
    const cpu = cpuMs === undefined ? '' : `${seconds(cpuMs)} s de CPU, `;
    console.log(`${failed > 0 ? '✖' : '✔'} ${name}  ${tests} (${cpu}${seconds(wallMs)} s)`);
  }

  hasFailed(): boolean {
    return this.#count.failed > 0 || this.#count.passed === 0;
  }

  /** Ends the report after the servers of the run have ended, so that their processor time is known. */
  tell({ times, seed }: { readonly times: number; readonly seed: number | undefined }): void {
    const dearest = [...this.#costs].sort((one, other) => other[1].cpuMs - one[1].cpuMs).slice(0, DEAREST);
    console.log(`\nOs mais caros${times > 1 ? ', somadas as vezes' : ''}:`);
    for (const [file, { cpuMs, wallMs }] of dearest) {
      console.log(`  ${seconds(cpuMs)} s de CPU, ${seconds(wallMs)} s  ${this.#nameOf(file)}`);
    }
    if (this.#skipped.size > 0) console.log('\nDeixados de lado:');
    for (const [why, tests] of this.#skipped) console.log(`  ${tests.length}, ${why}: ${nameSome(tests)}`);
    if (this.#failures.size > 0) console.log('\nFalharam:');
    for (const [test, failure] of this.#failures) {
      const often = times > 1 ? `  (${failure.times} de ${times} vezes)` : '';
      tellFailure(test + often, failure.words.slice(0, REPEATED_MAX));
    }
    const ofFiles = [...this.#costs.values()].reduce((sum, { cpuMs }) => sum + cpuMs, 0);
    const all = readCpuMs();
    console.log(
      `\n${seconds(performance.now() - this.#begun)} s, ${seconds(all)} s de CPU (${seconds(all - ofFiles)} s do banco e de quem roda)` +
        (seed === undefined ? '' : `, em ordem sorteada: --semente ${seed}`),
    );
    const { passed, failed, skipped } = this.#count;
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }

  #nameOf(file: string): string {
    return path.relative(this.#root, file);
  }
}

function tellFailure(test: string, words: string): void {
  console.log(`✖ ${test}\n${words.replace(/^/gm, '    ')}`);
}

function nameSome(tests: readonly string[]): string {
  const more = tests.length - NAMED_MAX;
  return tests.slice(0, NAMED_MAX).join('; ') + (more > 0 ? `; e mais ${more}` : '');
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1).replace('.', ',');
}
