/** Programs that are not ours and that a test compares with: found, installed where that is possible, or done without. */
import { spawnSync } from 'node:child_process';

const INSTALL_WITHIN_MS = 120_000;

const found = new Map<string, string | undefined>();

/**
 * The path of a program, or undefined with the reason printed, and the test skips what needs it. `debianPackage`: what, or several,
 * to install when the machine is a Debian and we are root, as in a container of continuous integration.
 */
export function toolOr(name: string, debianPackage: string): string | undefined {
  if (found.has(name)) return found.get(name);
  let place = whereIs(name);
  if (place === undefined && process.getuid?.() === 0 && whereIs('apt-get') !== undefined) {
    spawnSync('apt-get', ['install', '-y', '-qq', ...debianPackage.split(' ')], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: 'ignore',
      timeout: INSTALL_WITHIN_MS,
    });
    place = whereIs(name);
  }
  if (place === undefined) console.warn(`${name} is not here (Debian package ${debianPackage}): done without it`);
  found.set(name, place);
  return place;
}

function whereIs(name: string): string | undefined {
  const { stdout, status } = spawnSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
