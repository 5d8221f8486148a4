/**
 * Where Node keeps what it compiled of our files: among the packages, for the account that owns them. What root wrote there that account
 * could not delete, and the next `npm ci` would fail.
 */
// @ts-check
import { statSync } from 'node:fs';
import path from 'node:path';

const PACKAGES = path.join(import.meta.dirname, '../../node_modules');

/**
 * Undefined: this account keeps nothing.
 *
 * @returns {string | undefined}
 */
export function compileCacheFolder(packages = PACKAGES) {
  const owner = statSync(packages, { throwIfNoEntry: false })?.uid;
  // Windows has no such number: there a folder is its user's.
  const isOurs = process.getuid === undefined || owner === process.getuid();
  return isOurs ? path.join(packages, '.cache/nfse') : undefined;
}
