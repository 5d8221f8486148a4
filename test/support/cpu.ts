/** Processor time of this process and of all its ended children. */
import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;
const STAT = '/proc/self/stat';
/** Fields 14 to 17 of proc(5), counted behind the name of the program: utime, stime, cutime, cstime. */
const [FIRST, LAST] = [11, 15];

/** Processor time in milliseconds. A system without /proc gives that of this process alone. */
export function readCpuMs(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
  const text = readFileSync(STAT, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(FIRST, LAST).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
}
