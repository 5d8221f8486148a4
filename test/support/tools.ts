/** Programs that are not ours and that a test compares with: found, installed where that is possible, or done without. */
import { spawnSync } from 'node:child_process';

const INSTALL_WITHIN_MS = 120_000;

const found = new Map<string, string | undefined>();

/**
 * The path of a program, or undefined with the reason printed, and the test skips what needs it. `debianPackage`: what, or several,
 * to install where that is possible.
 */
export function toolOr(name: string, debianPackage: string): string | undefined {
  if (found.has(name)) return found.get(name);
  let place = whereIs(name);
  if (place === undefined && installed(debianPackage)) place = whereIs(name);
  if (place === undefined) console.warn(`${name} is not here (Debian package ${debianPackage}): done without it`);
  found.set(name, place);
  return place;
}

/** Whether Debian's packages could be installed: as root, or as somebody whom sudo asks no password, as in continuous integration. */
export function installed(debianPackage: string): boolean {
  if (whereIs('apt-get') === undefined) return false;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return false;
  const aptGet = (...args: readonly string[]): boolean => {
    const [command, ...rest] = [...(isRoot ? [] : ['sudo', '-n', '-E']), 'apt-get', ...args];
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    return spawnSync(command!, rest, { env, stdio: 'ignore', timeout: INSTALL_WITHIN_MS }).status === 0;
  };
  const install = (): boolean => aptGet('install', '-y', '-qq', '--no-install-recommends', ...debianPackage.split(' '));
  // A fresh container has no list of what there is.
  return install() || (aptGet('update', '-qq') && install());
}

function whereIs(name: string): string | undefined {
  const { stdout, status } = spawnSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
