/** A command of the program that is killed at a chosen point. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ownData, ROOT } from './process.ts';

/** The exit code; null if the command was killed, as soon as `when` returned true. */
export async function nfseKilled(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  when: () => boolean | Promise<boolean>,
): Promise<number | null> {
  const child = spawn(process.execPath, [path.join(ROOT, 'src/main.js'), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...ownData(env), ...env },
    stdio: 'ignore',
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  while (child.exitCode === null && !(await when())) await setTimeout(2);
  child.kill('SIGKILL');
  return ended;
}
