/**
 * Which program this is: the version of `package.json`, and the commit. The archive of the service brings its commit there, as `gitHead`, which
 * is npm's name for it; a checkout asks git; elsewhere nobody knows it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { projectText } from './project-text.ts';

type Version = { readonly name: string; readonly version: string; readonly commit: string | undefined };

const GIT_TIMEOUT_MS = 2_000;
/** Enough to tell a commit from all others. */
const COMMIT_LENGTH = 12;

let found: Version | undefined;

/** The same for as long as the process lives: its files may be replaced, and what it runs is what it loaded. */
export function versionOf(): Version {
  found ??= readVersion();
  return found;
}

/** As `nfse --version` says it. */
export function versionText(): string {
  const { name, version, commit } = versionOf();
  return commit === undefined ? `${name} ${version}` : `${name} ${version} (commit ${commit})`;
}

/** As it is kept with what the program judges: `0.1.0 4f2c9a7b3e1d`. */
export function programText(): string {
  const { version, commit } = versionOf();
  return commit === undefined ? version : `${version} ${commit.slice(0, COMMIT_LENGTH)}`;
}

function readVersion(): Version {
  const { name, version, gitHead } = JSON.parse(projectText('package.json')) as Record<string, string>;
  return { name: name!, version: version!, commit: gitHead ?? commitOfCheckout() };
}

/** Only of a repository of ours: whoever unpacked the project inside of another one would be told a commit that is not his. */
function commitOfCheckout(): string | undefined {
  const repository = fileURLToPath(new URL('../../.git', import.meta.url));
  if (!existsSync(repository)) return undefined;
  const args = [`--git-dir=${repository}`, 'rev-parse', `--short=${COMMIT_LENGTH}`, 'HEAD'];
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', timeout: GIT_TIMEOUT_MS });
  return status === 0 ? stdout.trim() : undefined;
}
