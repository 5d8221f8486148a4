/**
 * What a piece of work costs, so that a limit on it holds on any machine: in time of the processor, which waiting for others does not
 * lengthen; the least of a few runs, which neither the compiler nor the collector of memory lengthens; and beside what something
 * ordinary costs on the same machine.
 */
import assert from 'node:assert/strict';

const RUNS_MAX = 4;

/** Milliseconds of the processor that one run takes. */
function cpuMsOf(work: () => unknown): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

/** What the cheapest of a few runs costs. */
export function leastCpuMsOf(work: () => unknown): number {
  return Math.min(...Array.from({ length: RUNS_MAX }, () => cpuMsOf(work)));
}

/**
 * One of a few runs stays below; a run that does is the last. `onSlowMachineMs`: the limit where ordinary work is dear as well, which is
 * measured only once all runs took longer.
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
