/** Another commit of this repository in a separate folder, ready to run. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT, type Tree } from '../scripts/stage.ts';

const execute = promisify(execFile);

/** The short name of the commit, with a mark for uncommitted changes. */
export async function nameOwnTree(): Promise<string> {
  const name = await git('rev-parse', '--short', 'HEAD');
  return (await hasChanges()) ? `${name} com mudanças` : name;
}

/** Whether this tree has changes in no commit. */
export async function hasChanges(): Promise<boolean> {
  return (await git('status', '--porcelain')) !== '';
}

/** The full name of a commit. Throws in Portuguese. */
export async function nameOfCommit(ref: string): Promise<string> {
  try {
    return await git('rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`);
  } catch {
    throw new Error(`--comparar ${ref}: esse commit não existe neste repositório; use um hash, um ramo ou HEAD~20.`);
  }
}

export async function git(...args: readonly string[]): Promise<string> {
  return (await execute('git', args, { cwd: ROOT })).stdout.trim();
}

/** Writes the tree of a commit into a folder. Our own dependencies serve when its lock file names the same ones. */
export async function checkOut(ref: string, root: string): Promise<Tree> {
  const commit = await nameOfCommit(ref);
  await mkdir(root, { recursive: true });
  const archive = `${root}.tar`;
  await git('archive', '--output', archive, commit);
  await execute('tar', ['-x', '-f', archive, '-C', root]);
  const modules = path.join(root, 'node_modules');
  if ((await runtimeOf(ROOT)) === (await runtimeOf(root))) await symlink(path.join(ROOT, 'node_modules'), modules);
  else {
    console.error('As dependências do outro commit são outras: npm ci…');
    await install(root);
  }
  return { root, node: nodeOf(root) };
}

/** The runtime packages of the lock file; development tools may differ. */
async function runtimeOf(root: string): Promise<string> {
  const { packages } = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  return JSON.stringify(Object.entries(packages).filter(([name, { dev }]) => name !== '' && dev !== true));
}

/** Installs the packages of a lock file in its folder. */
export async function install(root: string): Promise<void> {
  await execute('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: root, maxBuffer: 2 ** 26 });
}

/** The Node of the other tree, chosen by its own program. */
function nodeOf(root: string): string {
  const { findNode } = createRequire(path.join(root, 'package.json'))('./bin/find-node.js') as {
    findNode(): string | undefined;
  };
  return findNode() ?? process.execPath;
}
