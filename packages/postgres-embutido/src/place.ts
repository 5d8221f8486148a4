/**
 * The place of the embedded PostgreSQL and the account that runs it: PostgreSQL refuses to run as root, so another user
 * replaces root. Entering a folder is tried with the account itself: mode bits ignore ACLs, mounts and containers.
 */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** A logger like that of pino. */
export type Logger = {
  info(obj: object, msg: string): void;
  warn(obj: object, msg: string): void;
  error(obj: object, msg: string): void;
};

export type RunAs = { readonly uid: number; readonly gid: number; readonly name: string };

export type Place = {
  /** The name of the database and its user, and of the files beside the data and among temporary files. */
  readonly name: string;
  /** The folder that the configuration names, absolute and without symbolic links. */
  readonly dataDir: string;
  /** `<dataDir>/pg`: the cluster itself, or a symbolic link to it. */
  readonly entry: string;
  /** The folder that holds the cluster and, when needed, a copy of the binaries. */
  readonly home: string;
  /** The cluster. */
  readonly location: string;
  /** The account of the server when this process is root; otherwise undefined, and the server has the same account. */
  readonly runAs: RunAs | undefined;
  /** True: the server leaves its log, segment by segment, in {@link logFolderOf}; undefined: the value of its last start. */
  readonly archives?: boolean | undefined;
  /** See `EmbeddedOptions`. */
  readonly staging?: string | undefined;
};

/** A failure that a separate PostgreSQL would avoid; `openEmbedded` adds the advice. */
export class Unusable extends Error {}

/** The server exists but did not answer in time: it may answer later. */
export class NotReady extends Unusable {}

const SYSTEM_HOMES = '/var/lib';

/** The accounts in order of preference: the Debian and Red Hat packages create the first, every Unix has the second. */
const ACCOUNTS = ['postgres', 'nobody'] as const;

/** The limit fits sun_path of Linux (108 bytes) and of macOS (104), both with the final zero. */
const SOCKET_PATH_MAX_BYTES = 100;

/** The port is only part of the socket's name; the folder is private, so it never changes. */
export const SOCKET_PORT = 5432;
const SOCKET_NAME = `.s.PGSQL.${SOCKET_PORT}`;
const BACK_LINK = 'cluster';

/** Creating a cluster takes half a second on a laptop and may take a minute on a memory card. */
const RUN_TIMEOUT_MS = 300_000;
const OUTPUT_MAX_CHARS = 8_000;

/** Creating a cluster or copying the binaries takes far less time. */
const LEFTOVER_AGE_MS = 15 * 60_000;

/** Finds the cluster of a data folder, or decides where it will be created. */
export async function findPlace(name: string, dataDir: string, log: Logger): Promise<Place> {
  const data = await openDataDir(dataDir);
  const entry = join(data, 'pg');
  const found = await followEntry(entry);
  if (found !== undefined) {
    return { name, dataDir: data, entry, home: dirname(found), location: found, runAs: await accountOf(found, data) };
  }
  const own = { name, dataDir: data, entry, home: data, location: entry };
  if (!isRoot()) return { ...own, runAs: undefined };

  const runAs = await unprivilegedAccount(data);
  if (await canEnter(data, runAs)) return { ...own, runAs };

  const home = await openSystemHome(name, data, runAs);
  const system: Place = { ...own, home, location: join(home, 'pg'), runAs };
  log.info(
    { dataDir: data, location: system.location, usuario: runAs.name },
    `o usuário ${runAs.name}, que executa o PostgreSQL, não entra em ${data}: os dados ficam em ${system.location}`,
  );
  return system;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The folder is tried as the server's account, because only the kernel knows every obstacle. */
export async function canEnter(folder: string, runAs: RunAs | undefined): Promise<boolean> {
  if (process.platform === 'win32') return true;
  return (await run('/bin/sh', ['-c', 'cd "$0"', folder], runAs)).ok;
}

/** Gives a file or folder to the server's account, never the target of a link; a process without root gives nothing. */
export async function giveTo(path: string, runAs: RunAs | undefined): Promise<void> {
  if (runAs) await lchown(path, runAs.uid, runAs.gid);
}

/** Gives a folder with all its content. The folder comes last: its owner shows until then that the work is unfinished. */
export async function giveAllTo(folder: string, { uid, gid }: Pick<RunAs, 'uid' | 'gid'>): Promise<void> {
  for (const found of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await lchown(join(found.parentPath, found.name), uid, gid);
  }
  await lchown(folder, uid, gid);
}

/**
 * Settings for the allocator of glibc, in bytes. Its default returns the memory of each large statement to the system
 * and fetches it again (measured: a tenth of the database's time under load).
 */
const ALLOCATOR = {
  MALLOC_TRIM_THRESHOLD_: '67108864',
  MALLOC_MMAP_THRESHOLD_: '67108864',
  MALLOC_TOP_PAD_: '1048576',
};

/** The environment of a child process: its account, a folder it can surely enter, and no misleading variable. */
export function childOptions(runAs: RunAs | undefined) {
  const inherited =
    process.platform === 'win32'
      ? ['SystemRoot', 'SystemDrive', 'ComSpec', 'PATH', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE', 'APPDATA']
      : ['PATH', 'LD_LIBRARY_PATH'];
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC', ...ALLOCATOR };
  for (const name of inherited) if (process.env[name] !== undefined) env[name] = process.env[name];
  // spawn takes signed 32 bits; the nobody of macOS is -2 in /etc/passwd and 4294967294 elsewhere.
  const account = runAs ? { uid: runAs.uid | 0, gid: runAs.gid | 0 } : {};
  return { env, cwd: process.platform === 'win32' ? tmpdir() : '/', windowsHide: true, ...account };
}

/** Runs a program to its end. A program that cannot be started is a failure like any other. */
export async function run(
  file: string,
  args: readonly string[],
  runAs: RunAs | undefined,
  input = '',
): Promise<{ readonly ok: boolean; readonly output: string }> {
  let output = '';
  try {
    // Some failures are thrown here and others become an event; both are the same to the caller.
    const child = spawn(file, args, { ...childOptions(runAs), stdio: 'pipe', timeout: RUN_TIMEOUT_MS });
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_MAX_CHARS);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    // A program may end without reading its input; its exit code decides.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const code = await new Promise<number | null>((done, fail) => {
      child.once('error', fail);
      child.once('close', done);
    });
    return { ok: code === 0, output: output.trim() };
  } catch (cause) {
    if (codeOf(cause) !== 'EPERM' || !runAs) return { ok: false, output: String(cause) };
    throw new Unusable(
      `Rodando como root, mas sem permissão para trocar para o usuário ${runAs.name} (falta CAP_SETUID/CAP_SETGID?); ` +
        `o PostgreSQL não roda como root. Rode o serviço como um usuário comum.`,
      { cause },
    );
  }
}

/**
 * The folder of the socket: the cluster itself, or a short private folder when that path is too long for a socket. A
 * link beside the data records the short folder, so that pools find the server after a restart. The folder links back
 * to its cluster: a copy of the data must not take the folder of the original.
 */
export async function openSocketDir(place: Place): Promise<string> {
  if (fitsSocket(place.location)) return place.location;
  const record = namedFileOf(place, 'socket');
  const recorded = await readlink(record).catch(() => undefined);
  if (recorded !== undefined && ((await isOurs(recorded, place)) || (await remake(recorded, place)))) return recorded;

  const fresh = await makeShortDir(place);
  const next = `${record}.${process.pid}`;
  await rm(next, { force: true });
  await symlink(fresh, next);
  await rename(next, record);
  return fresh;
}

/** Removes the short folder of a server that has ended; its record stays, and the next start makes it again. */
export async function closeSocketDir(place: Place): Promise<void> {
  if (fitsSocket(place.location)) return;
  const recorded = await readlink(namedFileOf(place, 'socket')).catch(() => undefined);
  if (recorded === undefined || !(await isOurs(recorded, place))) return;
  await rm(join(recorded, BACK_LINK), { force: true });
  // The folder of a server that another process is starting is not empty, and stays.
  await rmdir(recorded).catch(() => {});
}

export function fitsSocket(folder: string): boolean {
  return Buffer.byteLength(join(folder, SOCKET_NAME)) <= SOCKET_PATH_MAX_BYTES;
}

/** A file of this package in the cluster: its settings, its password, or the link that records a short folder. */
export function namedFileOf({ location, name }: Place, kind: 'conf' | 'password' | 'socket'): string {
  return join(location, `${name}.${kind}`);
}

/** The folder beside the cluster where its server leaves each complete segment of the log. Backups take them from there. */
export function logFolderOf(location: string): string {
  return join(dirname(location), 'wal-pronto');
}

export function socketLockOf(folder: string): string {
  return join(folder, `${SOCKET_NAME}.lock`);
}

async function openDataDir(dataDir: string): Promise<string> {
  const wanted = resolve(dataDir);
  try {
    const first = await mkdir(wanted, { recursive: true });
    if (first !== undefined) await giveToNeighbour(first, wanted);
    return await realpath(wanted);
  } catch (cause) {
    throw new Unusable(
      `Não foi possível criar ou abrir o diretório de dados ${wanted} (${codeOf(cause)}). ` +
        `Confira o caminho e as permissões, ou escolha outro diretório de dados.`,
      { cause },
    );
  }
}

/**
 * Files that root makes among those of another account belong to that account, which must be able to delete them
 * (D-262).
 */
async function giveToNeighbour(first: string, last: string): Promise<void> {
  if (!isRoot()) return;
  const { uid, gid } = await stat(dirname(first));
  for (let made = last; made.length >= first.length; made = dirname(made)) await lchown(made, uid, gid);
}

/** The cluster behind `<dataDir>/pg`; undefined when nothing is there yet. */
async function followEntry(entry: string): Promise<string | undefined> {
  const found = await lstat(entry).catch(absent);
  if (!found) return undefined;
  try {
    return await realpath(entry);
  } catch (cause) {
    if (codeOf(cause) === 'EACCES') throw ownedByAnother(entry, 'outro usuário');
    // A new, empty database here would look like the loss of all data.
    const target = await readlink(entry).catch(() => '?');
    throw new Error(
      `${entry} aponta para ${target}, que não existe mais: é lá que estavam os dados. ` +
        `Restaure esse diretório ou, para começar com um banco vazio, apague o link ${entry}.`,
      { cause },
    );
  }
}

/** The account that runs an existing cluster is its owner. Only root may act for another account. */
async function accountOf(location: string, data: string): Promise<RunAs | undefined> {
  const { uid, gid } = await stat(location);
  if (isRoot() && uid === 0) return unprivilegedAccount(data);
  if (process.getuid === undefined || uid === process.getuid()) return undefined;
  const owner = (await accounts()).find((account) => account.uid === uid);
  if (isRoot()) return owner ?? { uid, gid, name: `uid ${uid}` };
  throw ownedByAnother(location, owner ? `o usuário ${owner.name}` : `o uid ${uid}`);
}

function ownedByAnother(path: string, owner: string): Error {
  return new Unusable(
    `Os dados em ${path} pertencem a outra conta (${owner}): rode este comando com essa conta ou como root (sudo).`,
  );
}

/**
 * The owner of the data folder, because it must be able to delete the content; an unprivileged system account when that
 * owner is root.
 */
async function unprivilegedAccount(data: string): Promise<RunAs> {
  const known = (await accounts()).filter((account) => account.uid !== 0);
  const { uid } = await stat(data);
  const wanted = [
    known.find((one) => one.uid === uid),
    ...ACCOUNTS.map((name) => known.find((one) => one.name === name)),
  ];
  const found = wanted.find((account) => account !== undefined);
  if (found !== undefined) return found;
  throw new Unusable(
    `O PostgreSQL não roda como root e não há usuário ${ACCOUNTS.join(' nem ')} em /etc/passwd para executá-lo. ` +
      `Crie um (useradd --system postgres) ou rode o serviço como um usuário comum.`,
  );
}

async function accounts(): Promise<readonly RunAs[]> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return passwd
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => /^-?\d+$/.test(fields[2] ?? '') && /^-?\d+$/.test(fields[3] ?? ''))
    .map((fields) => ({ name: fields[0]!, uid: Number(fields[2]) >>> 0, gid: Number(fields[3]) >>> 0 }));
}

/** A system folder for data whose own folder the server's account cannot enter; never a temporary one. */
async function openSystemHome(name: string, data: string, runAs: RunAs): Promise<string> {
  const homes = join(SYSTEM_HOMES, name);
  const home = join(homes, createHash('sha256').update(data).digest('hex').slice(0, 16));
  let reason = `o usuário ${runAs.name} não consegue entrar em ${home}`;
  try {
    for (const folder of [homes, home]) {
      // The umask of root may be 077, and another account must enter this folder.
      if ((await mkdir(folder, { recursive: true })) !== undefined) await chmod(folder, 0o755);
    }
    if (await canEnter(home, runAs)) return home;
  } catch (cause) {
    reason = `não foi possível criar ${home} (${codeOf(cause)})`;
  }
  throw new Unusable(
    `O usuário ${runAs.name}, que executa o PostgreSQL no lugar do root, não entra em ${data}, e ${reason}. ` +
      `Escolha um diretório de dados acessível a esse usuário, ou rode o serviço como um usuário comum.`,
  );
}

async function isOurs(folder: string, place: Place): Promise<boolean> {
  const found = await lstat(folder).catch(absent);
  const owner = place.runAs?.uid ?? process.getuid?.();
  const isPrivate = found?.isDirectory() === true && found.uid === owner && (found.mode & 0o077) === 0;
  return isPrivate && (await readlink(join(folder, BACK_LINK)).catch(() => undefined)) === place.location;
}

/** A cleaner of temporary files or a reboot may have removed the folder; mkdir fails if another program took its name. */
async function remake(folder: string, place: Place): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    await symlink(place.location, join(folder, BACK_LINK));
    await giveTo(folder, place.runAs);
    return true;
  } catch {
    return false;
  }
}

async function makeShortDir(place: Place): Promise<string> {
  for (const root of [tmpdir(), '/tmp', '/var/tmp']) {
    const prefix = join(root, `${place.name}-`);
    if (!fitsSocket(`${prefix}XXXXXX`)) continue;
    const folder = await mkdtemp(prefix).catch(() => undefined);
    if (folder === undefined) continue;
    await symlink(place.location, join(folder, BACK_LINK));
    await giveTo(folder, place.runAs);
    if (await canEnter(folder, place.runAs)) return folder;
    await rm(folder, { recursive: true, force: true });
  }
  throw new Unusable(
    `O caminho ${place.location} é longo demais para um socket Unix (${SOCKET_PATH_MAX_BYTES} bytes) e não há diretório ` +
      `temporário curto em que criá-lo. Use um diretório de dados de caminho mais curto.`,
  );
}

/**
 * Removes unfinished work of ended processes. A recent one may still be in progress, so only old ones are removed, and
 * a failure is ignored.
 */
export async function sweepLeftovers(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const path = join(folder, name);
    const found = await lstat(path).catch(absent);
    if (!found || Date.now() - found.mtimeMs < LEFTOVER_AGE_MS) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

export function codeOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : String(message ?? error);
}

/** Turns a missing file into undefined, for look-ups where absence is an answer; any other failure is thrown. */
export function absent(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
  throw error;
}
