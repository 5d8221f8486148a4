/** The program as its users start it: the service and its commands, each a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { copyCluster } from '../setup.ts';
import { onEnd } from './cleanup.ts';
import { testServers } from './database.ts';
import { onPatienceEnd } from './until.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');
/** The limit allows for a slow machine; a service that cannot start reports it at once. */
const READY_WITHIN_MS = 120_000;

export type ServiceProcess = {
  readonly address: string;
  readonly pid: number;
  /** Everything that was printed so far. */
  output(): string;
  /** Sends a signal and waits for the end; resolves with the exit code, or the signal. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
};

/** The data folder of services and commands of this process that use a given database: it holds the key of the audit chain. */
export const ownData = ({ DATABASE_URL }: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  DATABASE_URL === undefined ? {} : { NFSE_DATA_DIR: path.join(tmpdir(), `nfse-dados-de-${process.pid}`) };

/** A data folder for one test, removed when the file ends. */
export async function freshDataDir(): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'nfse-dados-'));
  // The database server's account must be able to enter if the test runs as root.
  await chmod(dataDir, 0o755);
  onEnd(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** A stopped data folder with a database that has only the schema: a copy is faster than a new one. */
export async function readyDataDir(): Promise<string> {
  await testServers();
  const dataDir = await freshDataDir();
  await copyCluster(process.env['NFSE_TEST_CLUSTER']!, path.join(dataDir, 'pg'));
  return dataDir;
}

/** A process that has ended meanwhile cannot be signalled; the error is ignored. */
export function ifThere(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The server processes of a data folder: the one in its pid file, and its children. */
export function serverProcesses(dataDir: string): readonly number[] {
  const [pid] = readFileSync(path.join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return [Number(pid), ...children.map(Number)].filter((one) => one > 0);
}

/**
 * Starts the service with this environment on a free port and waits until it reports its address. `root`: the folder of another version.
 */
export async function startServiceProcess(
  env: NodeJS.ProcessEnv,
  root = ROOT,
  options: readonly string[] = [],
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [path.join(root, 'src/main.js'), 'serve', ...options], {
    cwd: root,
    env: {
      ...process.env,
      PORT: '0',
      NFSE_LOG_LEVEL: 'warn',
      NFSE_ESPERA_AO_ENCERRAR: '0',
      NFSE_PROCESSOS: '1',
      ...ownData(env),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onEnd(() => endOf(child, 'SIGINT'));
  let output = '';
  const address = await new Promise<string>((resolve, reject) => {
    const callOff = onPatienceEnd(READY_WITHIN_MS, () => reject(new Error(`not ready in time:\n${output}`)));
    const collect = (chunk: Buffer): void => {
      output += chunk;
      const match = /Ctrl-C encerra/.test(output) && /Serviço no ar em (\S+)/.exec(output);
      if (match) {
        callOff();
        resolve(match[1]!);
      }
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('exit', (code) => {
      callOff();
      reject(new Error(`ended with ${code} before it was ready:\n${output}`));
    });
  });
  return { address, pid: child.pid!, output: () => output, end: (signal) => endOf(child, signal) };
}

function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode ?? child.signalCode);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('exit', (code, by) => resolve(code ?? by)),
  );
  child.kill(signal);
  return ended;
}

export type Said = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs one command to its end, without a terminal. */
export function nfse(args: readonly string[], env: NodeJS.ProcessEnv, cwd = ROOT): Promise<Said> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(ROOT, 'src/main.js'), ...args], {
      cwd,
      env: { ...process.env, ...ownData(env), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
}
