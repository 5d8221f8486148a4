/** A next version of the program, in its own folder, which runs like the program. */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onEnd } from './cleanup.ts';
import { ROOT } from './process.ts';
import { PROXIMAS } from './proximas.ts';

/** The present program with additional migrations. */
export async function nextVersion(): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'nfse-versao-'));
  onEnd(() => rm(root, { recursive: true, force: true }));
  await cp(path.join(ROOT, 'src'), path.join(root, 'src'), { recursive: true });
  for (const name of ['node_modules', 'packages', 'docs', 'package.json']) {
    await symlink(path.join(ROOT, name), path.join(root, name));
  }
  for (const { nome, sql } of PROXIMAS) await writeFile(path.join(root, 'src/base/pg/migrations', nome), sql);
  return root;
}

export type Migrated = { readonly code: number | NodeJS.Signals | null; readonly told: readonly string[] };

/** Runs `nfse migrar` of a version to its end, or kills it at the output line that makes `isEnough` true. */
export function migrarOf(
  root: string,
  env: NodeJS.ProcessEnv,
  isEnough: (line: string) => boolean = () => false,
): Promise<Migrated> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(root, 'src/main.js'), 'migrar'], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const told: string[] = [];
    let rest = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      told.push(...lines);
      if (lines.some(isEnough)) child.kill('SIGKILL');
    });
    child.once('error', reject);
    child.once('close', (code, by) => resolve({ code: code ?? by, told }));
  });
}
