/** Third-party programs that a test compares with: found, installed if possible, or left out. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FETCH_WITHIN_MS = 120_000;
const INSTALL_WITHIN_MS = 600_000;
const LOOK_AGAIN_MS = 200;
/** The time is longer than one installation takes: an older holder of the lock has died. */
const TURN_MAX_MS = FETCH_WITHIN_MS * 2 + INSTALL_WITHIN_MS;

const found = new Map<string, string | undefined>();

/**
 * The path of a program. Undefined: the reason is printed, and the test skips the parts that need it. `debianPackage`: one or several
 * packages to install if possible. `fits`: whether the installed program will do, since a name says nothing of its version.
 *
 * The call may block for minutes, so do not use it inside of a test with a time-out.
 */
export function toolOr(name: string, debianPackage: string, fits?: (place: string) => boolean): string | undefined {
  if (found.has(name)) return found.get(name);
  // A program that another test file is installing may be incomplete.
  inTurn(() => undefined);
  let place = whereIs(name);
  if (place === undefined && installed(debianPackage)) place = whereIs(name);
  if (place === undefined) console.warn(`${name} is not here (Debian package ${debianPackage}): done without it`);
  else if (fits?.(place) === false) {
    console.warn(`${name} is here, and not as it is needed (${place}): done without it`);
    place = undefined;
  }
  found.set(name, place);
  return place;
}

/** Whether Debian's packages could be installed: as root, or with a sudo that asks for no password, as in continuous integration. */
export function installed(debianPackage: string): boolean {
  if (whereIs('apt-get') === undefined) return false;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return false;
  const aptGet = (timeout: number, ...args: readonly string[]): boolean => {
    const [command, ...rest] = [...(isRoot ? [] : ['sudo', '-n', '-E']), 'apt-get', '-qq', ...PATIENCE, ...args];
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    return spawnSync(command!, rest, { env, stdio: 'ignore', timeout }).status === 0;
  };
  const packages = debianPackage.split(' ');
  // The installation has two steps: a download may be aborted at any time, an unpacking may not.
  const fetched = (): boolean =>
    aptGet(FETCH_WITHIN_MS, 'install', '-y', '--no-install-recommends', '--download-only', ...packages);
  const install = (): boolean =>
    fetched() && aptGet(INSTALL_WITHIN_MS, 'install', '-y', '--no-install-recommends', ...packages);
  return inTurn(() => {
    const given = packages.map((one) => path.join(placeOfRun(), `nfse-sem-${one}`));
    if (given.some((file) => existsSync(file))) return false;
    // A fresh container has no package list.
    if (install() || (aptGet(FETCH_WITHIN_MS, 'update') && install())) return true;
    // The other test files of this run skip the same attempt.
    if (process.env['NFSE_TEST_CLUSTER'] !== undefined) for (const file of given) writeFileSync(file, '');
    return false;
  });
}

/** A machine without network reports it soon, and another installation is waited for. */
const PATIENCE = ['-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=15', '-o', 'DPkg::Lock::Timeout=120'];

/** A folder of this test run. */
function placeOfRun(): string {
  return path.dirname(process.env['NFSE_TEST_CLUSTER'] ?? import.meta.filename);
}

/** Serialises the test files of a run. A file that runs alone does not wait. */
function inTurn<Value>(work: () => Value): Value {
  if (process.env['NFSE_TEST_CLUSTER'] === undefined) return work();
  const turn = path.join(placeOfRun(), 'nfse-instala');
  for (const end = Date.now() + TURN_MAX_MS; Date.now() < end && !isMade(turn); ) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_AGAIN_MS);
  }
  try {
    return work();
  } finally {
    if (existsSync(turn)) rmdirSync(turn);
  }
}

function isMade(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EEXIST';
  }
}

function whereIs(name: string): string | undefined {
  const { stdout, status } = spawnSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
