/** Runs test files, each in a process of its own, once or several times, and reports. */
import path from 'node:path';
import { run } from 'node:test';
import { Report } from './test-report.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
/** For one test; a machine that stands still for minutes breaks none off. */
const TIMEOUT_MS = 900_000;

export type RunOptions = {
  readonly times: number;
  /** Files that run at the same time. */
  readonly atOnce: number;
  /** Of a drawn order; undefined: the order of the files. */
  readonly seed: number | undefined;
  /** With all that the files print. */
  readonly isTalkative: boolean;
};

export async function runTests(
  files: readonly string[],
  { times, atOnce, seed, isTalkative }: RunOptions,
): Promise<Report> {
  const report = new Report({ root: ROOT, isTalkative });
  for (let time = 1; time <= times; time += 1) {
    if (times > 1) console.log(`\n${time}ª vez de ${times}`);
    report.beginRun();
    const events = run({
      files: files.map((file) => path.resolve(ROOT, file)),
      concurrency: atOnce,
      timeout: TIMEOUT_MS,
      execArgv: ['--import', path.join(ROOT, 'test/support/end.ts')],
      ...(seed === undefined ? {} : { randomSeed: seed }),
    });
    for await (const event of events) report.take(event);
  }
  return report;
}
