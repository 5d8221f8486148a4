/**
 * The server process of a cluster: PostgreSQL's lock file, the check that its process really serves this cluster, and
 * the turn to start one.
 *
 * PostgreSQL knows a server by its process number alone. The number may belong to another program after a reboot or in
 * a container. The working folder exposes such a program. Two machines or containers on one data folder are beyond the
 * reach of this check.
 */

import { createHash } from 'node:crypto';
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { absent, codeOf, type Logger, type Place, run, socketLockOf } from './place.ts';

export type Lock = {
  readonly pid: number;
  readonly port: number;
  readonly socketDir: string;
  /** `starting`, `ready`, `stopping` … */
  readonly status: string;
};

/** The lines are those of PostgreSQL's miscadmin.h, LOCK_FILE_LINE_*. */
export async function readLock(location: string): Promise<Lock | undefined> {
  const text = await readFile(lockPath(location), 'utf8').catch(absent);
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  if (!(pid > 0)) return undefined;
  return { pid, port: Number(lines[3] ?? 0), socketDir: lines[4] ?? '', status: (lines[7] ?? '').trim() };
}

/**
 * True when a process is alive and serves this cluster. Linux compares its working folder; other systems compare its
 * name, and Windows only its existence.
 */
export async function serves(pid: number, location: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === 'win32') return true;
  if (process.platform !== 'linux') {
    const { ok, output } = await run('/bin/ps', ['-ww', '-p', String(pid), '-o', 'command='], undefined);
    return ok && /(^|\/)postgres( |$)/.test(output);
  }
  const real = await realpath(location).catch(() => location);
  // A zombie has no folder any more; a process that cannot be read could be the server.
  return (await folderOf(pid).catch((error) => (codeOf(error) === 'ENOENT' ? undefined : real))) === real;
}

/**
 * Removes a lock that names another living program, or a zombie, which PostgreSQL would respect for ever. The caller
 * must hold the turn. The lock stays while any orphan backend of a dead server works in the folder.
 */
export async function removeForeignLock(location: string, socketDir: string | undefined, log: Logger): Promise<void> {
  if (process.platform !== 'linux') return;
  const lock = await readLock(location);
  if (!lock || !isAlive(lock.pid) || (await anyoneWorksIn(location))) return;
  log.warn(
    { pid: lock.pid, location },
    `o processo ${lock.pid}, citado em postmaster.pid, não serve este banco: trava descartada`,
  );
  await rm(lockPath(location), { force: true });
  if (socketDir === undefined) return;
  const socketLock = socketLockOf(socketDir);
  const holder = await readFile(socketLock, 'utf8').catch(absent);
  if (holder !== undefined && Number.parseInt(holder, 10) === lock.pid) await rm(socketLock, { force: true });
}

/**
 * Takes the turn to create and start the server of a cluster; undefined when another process has it. The kernel ends
 * the turn with its process. Only Linux has such sockets; elsewhere the rename of a new cluster and PostgreSQL's lock
 * decide.
 */
export async function takeTurn({
  name,
  location,
}: Pick<Place, 'name' | 'location'>): Promise<(() => void) | undefined> {
  if (process.platform !== 'linux') return () => {};
  const digest = createHash('sha256').update(location).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  return new Promise((done) => {
    // Every process gets the turn when such sockets are forbidden, as on other systems.
    server.once('error', (error) => done(codeOf(error) === 'EADDRINUSE' ? undefined : () => {}));
    server.listen({ path: `\0${name}-${digest}`, exclusive: true }, () => {
      server.unref();
      done(() => server.close());
    });
  });
}

function lockPath(location: string): string {
  return join(location, 'postmaster.pid');
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

async function folderOf(pid: number | string): Promise<string> {
  return readlink(`/proc/${pid}/cwd`);
}

async function anyoneWorksIn(location: string): Promise<boolean> {
  const real = await realpath(location);
  for (const pid of await readdir('/proc')) {
    if (/^\d+$/.test(pid) && (await folderOf(pid).catch(() => '')) === real) return true;
  }
  return false;
}
