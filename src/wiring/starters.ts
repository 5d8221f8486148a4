/**
 * A program started by another name (`bin/nfse`, npm, npx with its shell) does not outlive it: under a supervisor without cgroups it would hold
 * the port for ever, unknown to anybody (D-801).
 */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 500;

/** Ends this process as Ctrl-C does, once one of those is gone through which it was started. */
export function endWithStarters(isByNpm: boolean): void {
  const end = (): void => void process.kill(process.pid, 'SIGINT');
  // To `bin/nfse`, by the channel that it opened.
  process.once('disconnect', end);
  process.channel?.unref();
  // It may be gone before anybody here could listen.
  if (process.connected === false) end();
  if (!isByNpm) return;
  const starters = startersOf();
  const watch = setInterval(() => {
    if (isParent(process.ppid, starters)) return;
    clearInterval(watch);
    end();
  }, LOOK_EVERY_MS);
  watch.unref();
}

/** The parent, its parent, and so on, up to the npm that was started by hand or by a supervisor. */
function startersOf(): readonly number[] {
  const found = [process.ppid];
  for (;;) {
    const pid = found.at(-1)!;
    // Programs started by npm have its variables; npm itself has not, unless another npm started it.
    const parent = readOf(pid, 'environ')?.includes('\0npm_command=') ? parentOf(pid) : undefined;
    if (parent === undefined || parent <= 1) return found;
    found.push(parent);
  }
}

function isParent(parent: number, [first, ...others]: readonly number[]): boolean {
  if (parent !== first) return false;
  const next = others.length === 0 ? undefined : parentOf(first);
  return next === undefined || isParent(next, others);
}

/** Undefined where the system does not say. */
function parentOf(pid: number): number | undefined {
  const said = /^PPid:\s+(\d+)/m.exec(readOf(pid, 'status') ?? '');
  return said === null ? undefined : Number(said[1]);
}

function readOf(pid: number, file: 'environ' | 'status'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return undefined;
  }
}
