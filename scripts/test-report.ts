/**
 * What a run of the tests says: a line for each file as it ends, each failure in full, and at the end the dearest files, the failures that
 * come and go, and what was skipped and why. The last line counts.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { run } from 'node:test';
import { inspect } from 'node:util';
import { readCpuMs } from '../test/support/cpu.ts';

/** An event of Node's test runner. */
export type TestEvent = ReturnType<typeof run> extends AsyncIterable<infer Event> ? Event : never;
type Completed = Extract<TestEvent, { type: 'test:complete' }>['data'] & {
  readonly testId: number;
  readonly entryFile?: string;
};
type Named = { readonly name: string; readonly parentId: number };
type FileRun = {
  readonly begun: number;
  wallMs: number;
  tests: number;
  failed: number;
  output: string;
  readonly names: Map<number, Named>;
};

const DEAREST = 10;
/** Skipped tests that are named for each reason. */
const NAMED_MAX = 3;
/** Of what a failed file printed, the end. */
const OUTPUT_MAX = 20_000;
const COST_FILE = path.join(tmpdir(), `nfse-custos-${process.pid}.jsonl`);

export class Report {
  readonly #root: string;
  readonly #isTalkative: boolean;
  readonly #begun = performance.now();
  readonly #walls = new Map<string, number>();
  /** How often each test failed. */
  readonly #failures = new Map<string, number>();
  readonly #skipped = new Map<string, string[]>();
  readonly #count = { passed: 0, failed: 0, skipped: 0 };
  #files = new Map<string, FileRun>();

  /** `isTalkative`: with all that files print and say, as a developer wants of the few that were asked for. */
  constructor({ root, isTalkative }: { readonly root: string; readonly isTalkative: boolean }) {
    this.#root = root;
    this.#isTalkative = isTalkative;
    // Each test file notes there what it cost (`test/support/end.ts`).
    process.env.NFSE_TEST_CUSTOS = COST_FILE;
  }

  beginRun(): void {
    this.#files = new Map();
  }

  /** Takes the events that come at once; those that wait for their turn in the order of files say the same. */
  take({ type, data }: TestEvent): void {
    const about = data as { readonly entryFile?: string; readonly file?: string };
    const file = about.entryFile ?? about.file;
    if (file === undefined) {
      // Node's own judgement of the run: a failure that was told in no other way is counted.
      if (type === 'test:summary' && !data.success && this.#count.failed === 0) this.#count.failed = 1;
      return;
    }
    if (type === 'test:enqueue' && about.entryFile !== undefined) {
      const { testId, parentId, name } = data as Named & { readonly testId: number };
      this.#fileRun(file).names.set(testId, { name, parentId });
    }
    if (type === 'test:dequeue' && about.entryFile === undefined) this.#fileRun(file);
    if (type === 'test:stdout' || type === 'test:stderr') {
      this.#fileRun(file).output = (this.#fileRun(file).output + data.message).slice(-OUTPUT_MAX);
      if (this.#isTalkative) process.stdout.write(data.message);
    }
    if (type === 'test:diagnostic' && about.entryFile !== undefined && this.#isTalkative) {
      console.log(`  ℹ ${data.message}`);
    }
    // A hook of the file itself, as its last `after`, ends after its tests and has no end of its own.
    if (type === 'test:fail' && about.entryFile === data.name) {
      this.#fail(this.#fileRun(file), this.#nameOf(file), data.details.error);
    }
    if (type === 'test:complete') {
      if (about.entryFile === undefined) this.#endFile(file, data as Completed);
      else if (data.details.type !== 'suite') this.#endTest(file, data as Completed);
    }
  }

  hasFailed(): boolean {
    return this.#count.failed > 0 || this.#count.passed === 0;
  }

  /** The end of it all, once the servers of the run have ended, so that their processor time is known. */
  tell({ times, seed }: { readonly times: number; readonly seed: number | undefined }): void {
    const costs = readCosts();
    const dearest = [...costs].sort((one, other) => other[1] - one[1]).slice(0, DEAREST);
    console.log(`\nOs mais caros${times > 1 ? ', somadas as vezes' : ''}:`);
    for (const [file, cpuMs] of dearest) {
      console.log(`  ${seconds(cpuMs)} s de CPU, ${seconds(this.#walls.get(file) ?? 0)} s  ${this.#nameOf(file)}`);
    }
    const flaky = [...this.#failures].filter(([, failed]) => times > 1 && failed < times);
    if (flaky.length > 0) console.log('\nFalharam em algumas vezes, e passaram nas outras:');
    for (const [test, failed] of flaky) console.log(`  ${failed} de ${times}  ${test}`);
    if (this.#skipped.size > 0) console.log('\nDeixados de lado:');
    for (const [why, tests] of this.#skipped) console.log(`  ${tests.length}, ${why}: ${nameSome(tests)}`);
    const ofFiles = [...costs.values()].reduce((sum, cpuMs) => sum + cpuMs, 0);
    const all = readCpuMs();
    console.log(
      `\n${seconds(performance.now() - this.#begun)} s, ${seconds(all)} s de CPU (${seconds(all - ofFiles)} s do banco e de quem roda)` +
        (seed === undefined ? '' : `, em ordem sorteada: --semente ${seed}`),
    );
    const { passed, failed, skipped } = this.#count;
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    rmSync(COST_FILE, { force: true });
  }

  #fileRun(file: string): FileRun {
    let fileRun = this.#files.get(file);
    if (fileRun === undefined) {
      fileRun = { begun: performance.now(), wallMs: 0, tests: 0, failed: 0, output: '', names: new Map() };
      this.#files.set(file, fileRun);
    }
    return fileRun;
  }

  #endTest(file: string, { testId, details, skip }: Completed): void {
    const fileRun = this.#fileRun(file);
    const test = `${this.#nameOf(file)} › ${pathOf(fileRun.names, testId)}`;
    fileRun.tests += 1;
    if (skip !== undefined && skip !== false) {
      this.#count.skipped += 1;
      const why = skip === true || skip === '' ? 'sem razão dita' : skip;
      this.#skipped.set(why, [...(this.#skipped.get(why) ?? []), test]);
    } else if (details.error === undefined) this.#count.passed += 1;
    // A test whose parts failed: each of them is told.
    else if (failureType(details.error) !== 'subtestsFailed') this.#fail(fileRun, test, details.error);
  }

  #endFile(file: string, { details }: Completed): void {
    const fileRun = this.#fileRun(file);
    const name = this.#nameOf(file);
    fileRun.wallMs = performance.now() - fileRun.begun;
    this.#walls.set(file, (this.#walls.get(file) ?? 0) + fileRun.wallMs);
    // A file may fail outside of its tests, as its process does that does not end.
    if (details.error !== undefined && (fileRun.failed === 0 || failureType(details.error) !== 'subtestsFailed')) {
      this.#fail(fileRun, name, details.error);
    }
    if (fileRun.failed > 0 && !this.#isTalkative && fileRun.output !== '') {
      console.log(`  ${name} escreveu:\n${fileRun.output}`);
    }
    const cpuMs = readCosts().get(file);
    const cost = cpuMs === undefined ? '' : `${seconds(cpuMs)} s de CPU, `;
    console.log(`${fileRun.failed > 0 ? '✖' : '✔'} ${name}  ${fileRun.tests} (${cost}${seconds(fileRun.wallMs)} s)`);
  }

  #fail(fileRun: FileRun, test: string, error: Error): void {
    fileRun.failed += 1;
    this.#count.failed += 1;
    this.#failures.set(test, (this.#failures.get(test) ?? 0) + 1);
    console.log(`✖ ${test}\n${inspect(error.cause ?? error, { depth: 6 }).replace(/^/gm, '    ')}`);
  }

  #nameOf(file: string): string {
    return path.relative(this.#root, file);
  }
}

function failureType(error: Error): unknown {
  return (error as { readonly failureType?: unknown }).failureType;
}

/** The names of a test and of all around it. */
function pathOf(names: ReadonlyMap<number, Named>, testId: number): string {
  const named = names.get(testId);
  if (named === undefined) return '';
  const around = pathOf(names, named.parentId);
  return around === '' ? named.name : `${around} › ${named.name}`;
}

/** CPU of each file in ms, the runs of one added up. */
function readCosts(): ReadonlyMap<string, number> {
  const costs = new Map<string, number>();
  if (!existsSync(COST_FILE)) return costs;
  for (const line of readFileSync(COST_FILE, 'utf8').trim().split('\n')) {
    const { file, cpuMs }: { file: string; cpuMs: number } = JSON.parse(line);
    costs.set(file, (costs.get(file) ?? 0) + cpuMs);
  }
  return costs;
}

function nameSome(tests: readonly string[]): string {
  const more = tests.length - NAMED_MAX;
  return tests.slice(0, NAMED_MAX).join('; ') + (more > 0 ? `; e mais ${more}` : '');
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1).replace('.', ',');
}
