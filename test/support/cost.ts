/**
 * Measures the cost of work so that a limit holds on any machine. Processor time is not lengthened by waiting for other processes. The
 * minimum of a few runs is not lengthened by the compiler or the garbage collector. The cost of an ordinary task on the same machine is the
 * reference.
 */
import assert from 'node:assert/strict';

const RUNS_MAX = 4;

/** Processor milliseconds of one run. */
function cpuMsOf(work: () => unknown): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

/** The cost of the cheapest of a few runs. */
export function leastCpuMsOf(work: () => unknown): number {
  return Math.min(...Array.from({ length: RUNS_MAX }, () => cpuMsOf(work)));
}

/**
 * Asserts that one of a few runs costs less than the limit; the first such run ends the loop. `onSlowMachineMs`: the limit where the
 * reference task is slow as well. The reference is measured only if all runs exceeded the first limit.
 */
export function assertCostsLess(
  work: () => unknown,
  maxMs: number,
  what: string,
  onSlowMachineMs: () => number = () => maxMs,
): void {
  const costs: number[] = [];
  while (costs.length < RUNS_MAX) {
    costs.push(cpuMsOf(work));
    if (costs.at(-1)! < maxMs) return;
  }
  const slowMs = Math.max(maxMs, onSlowMachineMs());
  if (Math.min(...costs) < slowMs) return;
  assert.fail(`${what}: each run takes more than ${slowMs.toFixed(0)} ms of the processor: ${costs.join(', ')}`);
}
