/** Commands of the program as an operator starts them, with their complete output. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onEnd } from './cleanup.ts';
import { ownData, ROOT } from './process.ts';
import { until } from './until.ts';

export type Started = {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<unknown>;
};

/** An operator's command line; none of its processes outlives the test. */
export function start(command: readonly string[], env: NodeJS.ProcessEnv): Started {
  const [program, ...args] = command;
  const quiet = {
    ...process.env,
    NFSE_LOG_LEVEL: 'warn',
    NFSE_PROCESSOS: '1',
    npm_config_update_notifier: 'false',
    ...ownData(env),
    ...env,
  };
  // The process group is the command's own, so any processes that it leaves behind can be ended.
  const child = spawn(program!, args, { cwd: ROOT, env: quiet, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  child.stdout!.on('data', (chunk) => (output += chunk));
  child.stderr!.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  onEnd(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // All of its processes have ended.
    }
  });
  return { child, output: () => output, ended };
}

/** Waits for an output that matches. */
export async function said(started: Started, what: RegExp): Promise<RegExpExecArray> {
  return until(async () => {
    assert.equal(started.child.exitCode, null, started.output());
    return what.exec(started.output()) ?? undefined;
  }, String(what));
}

export const SERVING = /Serviço no ar em (\S+)[\s\S]*Ctrl-C encerra/;
