/** Two archives: that of this tree, and that of the next version, which is this tree with one more migration. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OWN } from '../../scripts/pacote-servico.ts';
import { ROOT } from '../support/pacote-servico.ts';
import { runToEnd } from './maquina.ts';

export const NEXT = '0.1.1';
export const MIGRATION = '999-da-proxima.sql';

/** The inputs of an archive, and its build scripts. */
const TREE = [...OWN, 'scripts'];

export async function makeArchives(folder: string): Promise<{ readonly first: string; readonly next: string }> {
  const [first, next, tree] = ['primeira', 'seguinte', 'arvore'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  await build(ROOT, first);
  await mkdir(tree);
  for (const name of TREE)
    await cp(path.join(ROOT, name), path.join(tree, name), { recursive: true, force: true }).catch(ignoreAbsent);
  for (const name of ['package-lock.json', 'tsconfig.json']) await cp(path.join(ROOT, name), path.join(tree, name));
  const manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  await writeFile(path.join(tree, 'package.json'), JSON.stringify({ ...manifest, version: NEXT }));
  await writeFile(
    path.join(tree, 'src/base/pg/migrations', MIGRATION),
    'create table da_proxima (tenant text primary key);\n',
  );
  // npm treats a package behind a link as foreign.
  await copyPackages(path.join(ROOT, 'node_modules'), tree);
  await build(tree, next);
  return { first, next };
}

/** Copies the packages as hard links, if both folders are on the same disk. */
async function copyPackages(packages: string, tree: string): Promise<void> {
  if ((await runToEnd('cp', ['-al', packages, tree])).code === 0) return;
  await rm(path.join(tree, 'node_modules'), { recursive: true, force: true });
  await cp(packages, path.join(tree, 'node_modules'), { recursive: true, verbatimSymlinks: true });
}

async function build(root: string, to: string): Promise<void> {
  const { code, err } = await runToEnd(process.execPath, [path.join(root, 'scripts/pacote-servico.ts'), to]);
  if (code !== 0) throw new Error(`the archive of ${root}: ${err}`);
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
