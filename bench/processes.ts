/** CPU time of the service and of its database, from the kernel's own count. */
import { readdirSync, readFileSync } from 'node:fs';

export type ProcessTimes = { readonly service: number; readonly database: number };

/** Clock ticks a second in /proc; Linux has reported 100 to user space on every platform for decades. */
const TICKS = 100;

/** Seconds of CPU used so far by the service and by all processes of the postmaster under a data folder. */
export function cpuSecondsOf(servicePid: number, dataDir: string): ProcessTimes {
  const postmaster = Number(readFileSync(`${dataDir}/pg/postmaster.pid`, 'utf8').split('\n')[0]);
  const parents = new Map<number, number>();
  const times = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      // The name, in parentheses, may hold spaces; the fields after it do not.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      parents.set(Number(entry), Number(fields[1]));
      // Own time and that of children that have ended: connections come and go.
      times.set(
        Number(entry),
        (Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14])) / TICKS,
      );
    } catch {
      // The process ended between listing and reading.
    }
  }
  let database = times.get(postmaster) ?? 0;
  for (const [pid, parent] of parents) if (parent === postmaster) database += times.get(pid) ?? 0;
  return { service: times.get(servicePid) ?? 0, database };
}

/** Seconds of CPU used so far by one process, all of its threads. */
export function cpuSecondsOfProcess(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
