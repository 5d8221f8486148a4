/**
 * The folder of Node's compile cache for our files: among the packages, for the account that owns them. That account could not delete
 * files that root wrote there, and the next `npm ci` would fail.
 */
// @ts-check
import { statSync } from 'node:fs';
import path from 'node:path';

const PACKAGES = path.join(import.meta.dirname, '../../node_modules');

/**
 * The folder; undefined: this account does not own the packages and keeps no cache.
 *
 * @returns {string | undefined}
 */
export function compileCacheFolder(packages = PACKAGES) {
  const owner = statSync(packages, { throwIfNoEntry: false })?.uid;
  // Windows has no user id: a folder there belongs to its user.
  const isOurs = process.getuid === undefined || owner === process.getuid();
  return isOurs ? path.join(packages, '.cache/nfse') : undefined;
}
