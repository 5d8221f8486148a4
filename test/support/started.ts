/** Commands of the program as who operates it starts them, with all that they print. */
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

/** A command line of an operator; nothing of it outlives the test. */
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
  // A group of its own, by which whatever it left behind is ended.
  const child = spawn(program!, args, { cwd: ROOT, env: quiet, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  child.stdout!.on('data', (chunk) => (output += chunk));
  child.stderr!.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  onEnd(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  });
  return { child, output: () => output, ended };
}

/** Waits until it has said something. */
export async function said(started: Started, what: RegExp): Promise<RegExpExecArray> {
  return until(async () => {
    assert.equal(started.child.exitCode, null, started.output());
    return what.exec(started.output()) ?? undefined;
  }, String(what));
}

export const SERVING = /Serviço no ar em (\S+)[\s\S]*Ctrl-C encerra/;
