/**
 * CPU time of the service by thread, and of its database, by the kernel's own count. Wall time means nothing on a
 * machine with other work. Linux counts nanoseconds of each thread; elsewhere `ps` counts whole processes, and the
 * threads cannot be separated.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';

/**
 * `emissor`: the main thread, with the doors. `transmissor`: threads of JavaScript. `auxiliares`: V8 collecting and
 * compiling.
 */
export const PARTS = ['emissor', 'transmissor', 'auxiliares', 'resto', 'banco'] as const;
export type Part = (typeof PARTS)[number];
/** Seconds so far. */
export type CpuTimes = Readonly<Record<Part, number>>;

/**
 * A database: the data folder of the service that embeds it, or the process ids of its servers. Each id is the parent
 * of the server's other processes.
 */
export type Database = string | readonly number[];

/** Processes of a service, and of its database. */
export function processesOf(
  servicePid: number,
  database: Database,
): { readonly servico: readonly number[]; readonly banco: readonly number[] } {
  const postmasters = postmastersOf(database);
  const processes = HAS_THREADS ? readProc() : readPs();
  const pids = [...processes.keys()];
  const of = (owner: 'banco' | 'resto') =>
    pids.filter((pid) => ownerOf(pid, processes, servicePid, postmasters) === owner);
  return { servico: of('resto'), banco: of('banco') };
}

/** Clock ticks per second in /proc; Linux has reported 100 to user space on every platform for decades. */
const TICKS = 100;

/** True when threads are counted apart here; otherwise the whole service is `resto`. */
export const HAS_THREADS = process.platform === 'linux';

/** Processor seconds so far, of a service with all its processes, and of its database. */
export function cpuTimesOf(servicePid: number, database: Database): CpuTimes {
  const postmasters = postmastersOf(database);
  const processes = HAS_THREADS ? readProc() : readPs();
  const times: Record<Part, number> = { emissor: 0, transmissor: 0, auxiliares: 0, resto: 0, banco: 0 };
  for (const [pid, { seconds, reaped }] of processes) {
    const of = ownerOf(pid, processes, servicePid, postmasters);
    if (of === undefined) continue;
    if (of === 'banco' || !HAS_THREADS) times[of] += reaped + (HAS_THREADS ? secondsOfThreads(pid) : seconds);
    else {
      times.resto += reaped;
      for (const { part, seconds } of threadsOf(pid)) times[part] += seconds;
    }
  }
  return times;
}

/** Processor seconds so far, of a process with all its descendants, and of the whole machine. */
export function machineTimes(pid: number): { readonly own: number; readonly all: number } {
  const processes = HAS_THREADS ? readProc() : readPs();
  let own = 0;
  for (const [one, { seconds, reaped }] of processes) {
    if (ownerOf(one, processes, pid, []) !== undefined) own += seconds + reaped;
  }
  const all = cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0) / 1000;
  return { own, all };
}

/** Share of the processors' time between two looks that other programs used. */
export function foreignShare(before: ReturnType<typeof machineTimes>, after: typeof before): number {
  return Math.max(0, 1 - (after.own - before.own) / (after.all - before.all));
}

/** Processor seconds of one process, over all its threads. */
export function cpuSecondsOfProcess(pid: number): number {
  return HAS_THREADS ? secondsOfThreads(pid) : (readPs().get(pid)?.seconds ?? 0);
}

/**
 * `seconds`: of the process itself, when threads are not read. `reaped`: of its ended children, because connections
 * come and go.
 */
type Process = { readonly parent: number; readonly seconds: number; readonly reaped: number };
type Processes = ReadonlyMap<number, Process>;

function postmastersOf(database: Database): readonly number[] {
  return typeof database === 'string' ? [postmasterOf(path.join(database, 'pg'))] : database;
}

/** The process id of the server on these data. It throws when none runs, or when the data are on another machine. */
export function postmasterOf(data: string): number {
  return Number(readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function ownerOf(
  pid: number,
  all: Processes,
  service: number,
  postmasters: readonly number[],
): 'banco' | 'resto' | undefined {
  for (let one = pid; one > 1; one = all.get(one)?.parent ?? 0) {
    if (postmasters.includes(one)) return 'banco';
    if (one === service) return 'resto';
  }
  return undefined;
}

function readProc(): Processes {
  const all = new Map<number, Process>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readIfThere(`/proc/${entry}/stat`) : undefined;
    if (stat !== undefined) all.set(Number(entry), parseStat(stat));
  }
  return all;
}

/** A line of `/proc/PID/stat`. The name, in parentheses, may hold spaces and parentheses; the fields after it do not. */
export function parseStat(stat: string): Process {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map((ticks) => Number(ticks) / TICKS);
  return { parent: Number(fields[1]), seconds: utime! + stime!, reaped: cutime! + cstime! };
}

/** Nanoseconds on a processor are the first field of `schedstat`; the second is the time in the run queue. */
export function parseSchedstat(schedstat: string): number {
  return Number(schedstat.split(' ')[0]) / 1e9;
}

type ThreadTime = { readonly part: Exclude<Part, 'banco'>; readonly seconds: number };

function threadsOf(pid: number): readonly ThreadTime[] {
  return tasksOf(pid).flatMap((thread) => {
    const at = `/proc/${pid}/task/${thread}`;
    const [name, schedstat] = [readIfThere(`${at}/comm`), readIfThere(`${at}/schedstat`)];
    if (name === undefined || schedstat === undefined) return [];
    const part = thread === pid ? 'emissor' : partOf(name.trim());
    return [{ part, seconds: parseSchedstat(schedstat) }];
  });
}

/** Node and V8 name their threads; the kernel keeps fifteen characters of a name. */
export function partOf(name: string): ThreadTime['part'] {
  if (name === 'WorkerThread') return 'transmissor';
  return /V8Worker|^DelayedTaskSche/.test(name) ? 'auxiliares' : 'resto';
}

function secondsOfThreads(pid: number): number {
  return tasksOf(pid).reduce((sum, thread) => {
    const schedstat = readIfThere(`/proc/${pid}/task/${thread}/schedstat`);
    return sum + (schedstat === undefined ? 0 : parseSchedstat(schedstat));
  }, 0);
}

function tasksOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** Undefined: the process or thread ended between listing and reading. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function readPs(): Processes {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,time='], { encoding: 'utf8' }).trim().split('\n');
  return new Map(lines.map(parsePs));
}

/** A line of `ps -o pid=,ppid=,time=`: the time as [[days-]hours:]minutes:seconds[.hundredths]. */
export function parsePs(line: string): [number, Process] {
  const [pid, parent, time = ''] = line.trim().split(/\s+/);
  const [, days = 0, clock = ''] = /^(?:(\d+)-)?(.*)$/.exec(time)!;
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return [Number(pid), { parent: Number(parent), seconds: Number(days) * 86_400 + seconds, reaped: 0 }];
}
