/**
 * The version of this program: that of `package.json`, and the commit. The archive of the service holds its commit there as `gitHead`,
 * npm's name for it; a checkout asks git; elsewhere the commit is unknown.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { projectText } from './project-text.ts';

type Version = { readonly name: string; readonly version: string; readonly commit: string | undefined };

const GIT_TIMEOUT_MS = 2_000;
/** Characters that distinguish a commit from all others. */
const COMMIT_LENGTH = 12;

let found: Version | undefined;

/** The version is read once per process: its files may be replaced while the loaded code stays. */
export function versionOf(): Version {
  found ??= readVersion();
  return found;
}

/** The output of `nfse --version`. */
export function versionText(): string {
  const { name, version, commit } = versionOf();
  return commit === undefined ? `${name} ${version}` : `${name} ${version} (commit ${commit})`;
}

/** The version as Semantic Versioning writes it, with the commit as its build: `0.1.0+4f2c9a7b3e1d`. */
export function programVersion(): string {
  const { version, commit } = versionOf();
  return commit === undefined ? version : `${version}+${commit.slice(0, COMMIT_LENGTH)}`;
}

/** The version stored with the program's judgements: `0.1.0 4f2c9a7b3e1d`. */
export function programText(): string {
  const { version, commit } = versionOf();
  return commit === undefined ? version : `${version} ${commit.slice(0, COMMIT_LENGTH)}`;
}

function readVersion(): Version {
  const { name, version, gitHead } = JSON.parse(projectText('package.json')) as Record<string, string>;
  return { name: name!, version: version!, commit: gitHead ?? commitOfCheckout() };
}

/** The commit of our own repository alone: a project unpacked inside another repository would get a foreign commit. */
function commitOfCheckout(): string | undefined {
  const repository = fileURLToPath(new URL('../../.git', import.meta.url));
  if (!existsSync(repository)) return undefined;
  const args = [`--git-dir=${repository}`, 'rev-parse', `--short=${COMMIT_LENGTH}`, 'HEAD'];
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', timeout: GIT_TIMEOUT_MS });
  return status === 0 ? stdout.trim() : undefined;
}
