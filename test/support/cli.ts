/** Commands as an operator gives them: the program in a process of its own, or its table of commands in this one. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { type CliWorld, runCli, type Terminal } from '../../src/doors/cli/cli.ts';
import type { Db } from '../../src/store/open.ts';
import type { ClientConfig } from '../../src/store/pg.ts';
import { createStore } from '../../src/store/store.ts';
import { readConfig, serviceUrlOf } from '../../src/wiring/config.ts';
import { createLog } from '../../src/wiring/log.ts';
import { openStore } from '../../src/wiring/open-store.ts';
import { ROOT } from './process.ts';

export type Said = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs one command to its end. Nothing of it is a terminal. */
export function nfse(args: readonly string[], env: NodeJS.ProcessEnv, cwd = ROOT): Promise<Said> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(ROOT, 'src/main.ts'), ...args], {
      cwd,
      env: { ...process.env, ...env },
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

/** The address of a database for `DATABASE_URL`; a socket is named by its folder. */
export function databaseUrlOf({ host, port, user, password, database }: ClientConfig): string {
  const secret = typeof password === 'string' ? `:${encodeURIComponent(password)}` : '';
  return `postgres://${user}${secret}@${encodeURIComponent(host!)}:${port}/${database}`;
}

type Registry = CliWorld['registry'];

/**
 * The same command table without a process, for the many cases of one command; paths are those of this process. Without
 * a pool: for what must not touch the database.
 */
export async function nfseHere(
  args: readonly string[],
  pool?: Db,
  isTerminal = false,
  serviceUrl = 'http://127.0.0.1:8080',
  now: () => number = Date.now,
): Promise<Said> {
  // Nothing is remembered from one command to the next.
  const registry: Registry = async (work) => {
    if (pool === undefined) throw new Error('this test has no database');
    return work({ store: createStore(pool), now, baseUrl: 'https://nfse.exemplo.gov.br' });
  };
  return runHere(args, registry, isTerminal, serviceUrl);
}

/** The same on the database that this environment names, opened and closed as the program does for each command. */
export function nfseBeside(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Said> {
  const config = readConfig(env, false);
  const registry: Registry = async (work) => {
    const opened = await openStore(config, createLog('silent').log, { isPatient: true });
    try {
      return await work({ store: opened.store, now: Date.now, baseUrl: config.baseUrl });
    } finally {
      await opened.close();
    }
  };
  return runHere(args, registry, false, serviceUrlOf(config));
}

async function runHere(
  args: readonly string[],
  registry: Registry,
  isTerminal: boolean,
  serviceUrl: string,
): Promise<Said> {
  let [out, err] = ['', ''];
  const world: Terminal & Pick<CliWorld, 'registry'> = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    isTerminal,
    serviceUrl: () => serviceUrl,
    registry,
  };
  // What starts a server or a service has no place here.
  const code = await runCli(args, world as CliWorld).catch((error: Error) => {
    err += `Não foi possível continuar: ${error.message}\n`;
    return 1;
  });
  return { code, out, err };
}
