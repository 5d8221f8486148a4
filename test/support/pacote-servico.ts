/** The archive of the service, built as the publisher builds it, and unpacked as the operator unpacks it. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The root is computed here, because a further import of test modules would make this script a test. */
export const ROOT = path.resolve(import.meta.dirname, '../..');

export const { version: VERSION } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};

export function nameOf(version: string): string {
  return `nfse-servico-${version}-linux-${process.arch}`;
}

/** The reason why the archive cannot be built here; undefined if it can. */
export const noArchive =
  process.platform === 'linux' && spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU')
    ? undefined
    : 'pede Linux e o tar do GNU';

/** `umask`: that of the account that builds; another builder has another mask and another folder. */
export function buildPacote(to: string, umask = '022', env: NodeJS.ProcessEnv = {}, root = ROOT): void {
  const command = `umask ${umask} && exec "$0" "$1/scripts/pacote-servico.ts" "$2"`;
  mustRun('sh', ['-c', command, process.execPath, root, to], { ...process.env, ...env });
}

export function unpack(archive: string, to: string): void {
  mustRun('tar', ['-xzf', archive, '-C', to]);
}

export function mustRun(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr } = runHere(program, args, env);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

export function runHere(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd?: string,
): SpawnSyncReturns<string> {
  return spawnSync(program, args, { encoding: 'utf8', env, maxBuffer: 256 * 1024 * 1024, ...(cwd && { cwd }) });
}
