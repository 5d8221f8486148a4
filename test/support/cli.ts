/** The commands of an operator without a process of their own: this process calls the program's table of commands. */

import type { Db } from '../../src/base/pg/open.ts';
import { type CliWorld, runCli } from '../../src/doors/cli/cli.ts';
import { locateCertificados, readConfig, serviceUrlOf } from '../../src/wiring/config.ts';
import { createLog } from '../../src/wiring/log.ts';
import { openStore } from '../../src/wiring/open-store.ts';
import { describeSettings, readSettingsFile, takeSettings } from '../../src/wiring/settings.ts';
import { createStore } from '../../src/wiring/store.ts';
import { ownData, type Said } from './process.ts';

type Registry = CliWorld['registry'];

/**
 * The same command table in this process, for the many cases of one command; paths are those of this process. A test omits the pool if the
 * command must not use the database.
 */
export async function nfseHere(
  args: readonly string[],
  pool?: Db,
  isTerminal = false,
  serviceUrl = 'http://127.0.0.1:8080',
  now: () => number = Date.now,
): Promise<Said> {
  // A command remembers nothing from the one before.
  const registry: Registry = async (work) => {
    if (pool === undefined) throw new Error('this test has no database');
    return work({ store: createStore(pool), now, baseUrl: 'https://nfse.exemplo.gov.br', avisosPrivados: true });
  };
  return runHere(args, { registry, isTerminal, serviceUrl: () => serviceUrl });
}

/**
 * The same with the settings of this environment, and of a file that `--config` names. The database is opened and closed for each command,
 * as in the program.
 */
export function nfseBeside(args: readonly string[], given: NodeJS.ProcessEnv): Promise<Said> {
  const env = { ...ownData(given), ...given };
  let file: string | undefined;
  const readSettled = (): ReturnType<typeof readConfig> => {
    takeSettings(readSettingsFile(file), env);
    return readConfig(env, false);
  };
  const registry: Registry = async (work) => {
    const config = readSettled();
    const opened = await openStore(config, createLog('silent').log, { isPatient: true });
    try {
      const certificados = locateCertificados(config);
      return await work({ store: opened.store, now: Date.now, baseUrl: config.baseUrl, certificados });
    } finally {
      await opened.close();
    }
  };
  return runHere(args, {
    registry,
    isTerminal: false,
    serviceUrl: () => serviceUrlOf(readSettled()),
    useSettings: (named) => {
      file = named;
    },
    settings: async () => describeSettings(readSettingsFile(file), env, false),
  });
}

/** The same as `run` of `scripts/stage.ts`: returns the output, or throws an error with it. */
export async function runBeside(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { code, out, err } = await nfseBeside(args, env);
  if (code !== 0) throw new Error(`nfse ${args.join(' ')} ended with ${code}:\n${out}${err}`);
  return out;
}

async function runHere(args: readonly string[], own: Partial<CliWorld> & Pick<CliWorld, 'isTerminal'>): Promise<Said> {
  let [out, err] = ['', ''];
  const world: Partial<CliWorld> = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    columns: own.isTerminal ? 80 : undefined,
    vigia: () => undefined,
    painelUrl: () => 'http://localhost:8081',
    ...own,
  };
  // Commands that start a server or a service are not possible here.
  const code = await runCli(args, world as CliWorld).catch((error: Error) => {
    err += `Não foi possível continuar: ${error.message}\n`;
    return 1;
  });
  return { code, out, err };
}
