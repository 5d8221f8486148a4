/**
 * A program started by a wrapper (`bin/nfse`, npm, npx with its shell) does not outlive it. It would otherwise, under a supervisor without
 * cgroups, hold the port for ever, unnoticed (D-261).
 */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 500;

/** Ends this process like Ctrl-C, once one of its starters is gone. */
export function endWithStarters(isByNpm: boolean): void {
  const end = (): void => void process.kill(process.pid, 'SIGINT');
  // The end of `bin/nfse` closes the channel that it opened.
  process.once('disconnect', end);
  process.channel?.unref();
  // The starter may be gone before the listener was attached.
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
    // Programs started by npm have its variables; npm itself has none, unless another npm started it.
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

/** Undefined if the system does not tell. */
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
