/**
 * The one program: reads the command, and composes its dependencies. Files that a command does not use are not loaded: a service takes
 * longer to load than all commands together.
 */
import { readFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { describeUnknown } from '../base/terminal/settings-file.ts';
import { runCli } from '../doors/cli/cli.ts';
import { type Config, locateCertificados, painelUrlOf, readConfig, serviceUrlOf, vigiaUrlOf } from './config.ts';
import type { Logger } from './log.ts';
import type { Service } from './service.ts';
import { describeSettings, exposedSettings, readSettingsFile, takeSettings } from './settings.ts';
import { endWithStarters } from './starters.ts';

const isTerminal = process.stdout.isTTY === true;
/** The program then does not wait for remaining work, such as requests to a silent collector. */
let endsAtOnce = false;

/** The settings file that the command names. */
let settingsFile: string | undefined;

const tell = (text: string): boolean => process.stderr.write(`${text}\n`);

// The reader of the output may be gone, as with `head`: the rest of the output is dropped, and the command continues to its end.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

endWithStarters(process.env['npm_command'] !== undefined);

try {
  process.exitCode = await runCli(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    isTerminal,
    // npm sets this variable for the programs that it starts.
    calledAs: process.env['npm_command'] === undefined ? 'nfse' : 'npm run -s nfse --',
    columns: isTerminal ? process.stdout.columns : undefined,
    useSettings: (file) => {
      settingsFile = file;
    },
    settings: () => describeSettings(readSettingsFile(settingsFile), process.env, isTerminal),
    serviceUrl: () => serviceUrlOf(readWithFile()),
    painelUrl: () => painelUrlOf(readWithFile()),
    vigia: (quem) => {
      const config = readWithFile();
      const url = vigiaUrlOf(config, quem);
      return url === undefined
        ? undefined
        : { url, certificado: config.tls && readFileSync(config.tls.certificado, 'latin1') };
    },
    serve: (waitForEnd, asked) =>
      withConfig(async (config, log) => {
        endsAtOnce = config.traces !== undefined;
        const service = await startServing(config, log, asked);
        const { failed, restart, address, location, painel } = service;
        const ended = waitForEnd({ address, location, painel, restart, drainMs: config.drainMs });
        try {
          // Ctrl-C comes from a terminal, where no load balancer waits.
          const signal = await (failed === undefined ? ended : Promise.race([ended, failed]));
          await service.close(signal === 'SIGTERM' ? config.drainMs : 0);
        } catch (error) {
          await service.close();
          throw error;
        }
      }),
    transmit: (waitForEnd, asked) =>
      withConfig(async (config, log) => {
        endsAtOnce = config.traces !== undefined;
        await warnOfSettings(log);
        await needData(config);
        const { startTransmitter } = await import('./transmitter.ts');
        const transmitter = await startTransmitter(config, log, asked);
        await waitForEnd(transmitter);
        await transmitter.close();
      }),
    migrate: () =>
      withConfig(async (config, log) => {
        const { openStore } = await import('./open-store.ts');
        const opened = await openStore(config, log, { isPatient: true, tell });
        for (const warning of await opened.durabilityWarnings()) tell(`Aviso: ${warning}`);
        await opened.close();
        return { applied: opened.applied, location: opened.location };
      }),
    registry: (work, isBeginning = false) =>
      withConfig(
        async (config, log) => {
          if (!isBeginning) await needData(config);
          const { openStore } = await import('./open-store.ts');
          const opened = await openStore(config, log, { isPatient: true, tell });
          try {
            const { baseUrl, privateAvisos: avisosPrivados } = config;
            const certificados = locateCertificados(config);
            return await work({ store: opened.store, now: Date.now, baseUrl, avisosPrivados, certificados });
          } catch (error) {
            throw await opened.explain(error);
          } finally {
            await opened.close();
          }
        },
        // The terminal shows the result of the command; the connection to the database is logged only if it fails.
        'warn',
      ),
    copias: (work) =>
      withConfig(async (config, log) => {
        const { openCopias } = await import('./copias.ts');
        const { holdOwnChaves } = await import('./auditoria-chave.ts');
        // A command that only reads copies continues without the key: their author is unknown then.
        await holdOwnChaves(config).catch((error: Error) => log.warn(error.message));
        return work(openCopias(config, log, tell, () => needData(config)));
      }, 'warn'),
    databases: (de, para, work) =>
      withConfig(
        async (config, log) => {
          if (de === undefined) await needData(config);
          const { openStore } = await import('./open-store.ts');
          const open = (databaseUrl: Config['databaseUrl'], given: string | undefined) =>
            openStore({ ...config, databaseUrl }, log, { isPatient: true, tell }).catch((error: Error) => {
              throw Object.assign(error, { given });
            });
          const source = await open(de ?? config.databaseUrl, de && '--de');
          try {
            const target = await open(para, '--para');
            const [one, other] = [source, target].map(({ store }) => ({ store, now: Date.now }));
            return await work(one!, other!).finally(target.close);
          } finally {
            await source.close();
          }
        },
        // The connections of the command itself are ended with all others, which needs no log entry.
        'error',
      ),
    diagnose: async (arquivo) => {
      // The program does not wait for a database that was given up.
      endsAtOnce = true;
      return (await import('./diagnose.ts')).diagnose(process.env, arquivo, () => readSettingsFile(settingsFile));
    },
    simulador: {
      ajuda: async () => {
        const { AJUDA_DE_CONTROLE, AJUDA_DE_FALTAS } = await import('../simulador/simulador.ts');
        return { controle: AJUDA_DE_CONTROLE, faltas: AJUDA_DE_FALTAS };
      },
      start: (asked, waitForEnd) =>
        withConfig(async (_config, log) => {
          const { startSimulador } = await import('../simulador/simulador.ts');
          const simulador = await startSimulador(asked, log);
          await waitForEnd(simulador);
          await simulador.close();
        }),
    },
  });
} catch (error) {
  const { describeError, chooseExitCode } = await import('./describe-error.ts');
  process.stderr.write(`Não foi possível continuar: ${describeError(error)}\n`);
  process.exitCode = chooseExitCode(error);
}
if (endsAtOnce) process.exit();

/** The code for one process, or for several, is loaded only there. */
async function startServing(config: Config, log: Logger, asked: AbortSignal): Promise<Service> {
  await warnOfSettings(log);
  if (config.processes === 1) return (await import('./service.ts')).startService(config, log, asked);
  return (await import('./processes.ts')).startProcesses(config, log, asked);
}

/** Told before anything is opened, because a mistyped name may have changed where the data lies. */
async function warnOfSettings(log: Logger): Promise<void> {
  const exposed = await exposedSettings(readSettingsFile(settingsFile));
  for (const warning of [...exposed, ...describeUnknown(process.env)]) log.warn(warning);
}

/** The settings of the environment, with the settings file beneath it: read when a command first needs a setting. */
function readWithFile(): Config {
  takeSettings(readSettingsFile(settingsFile), process.env);
  return readConfig(process.env, isTerminal);
}

/** Runs with the settings of the environment and a log, which is flushed at the end. `usual`: the default level. */
async function withConfig<Result>(
  run: (config: Config, log: Logger) => Promise<Result>,
  usual?: string,
): Promise<Result> {
  const config = readWithFile();
  const { createLog } = await import('./log.ts');
  const { log, flush } = createLog(process.env['NFSE_LOG_LEVEL'] ? config.logLevel : (usual ?? config.logLevel));
  try {
    return await run(config, log);
  } finally {
    flush();
  }
}

/** An empty database in a mistyped folder would look like the loss of every note. */
async function needData({ databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== undefined) return;
  const folder = path.resolve(dataDir);
  const found = await lstat(path.join(folder, 'pg')).catch((error: NodeJS.ErrnoException) => error.code);
  // Any other problem of the folder is reported when it is opened.
  if (found !== 'ENOENT') return;
  throw new Error(
    `não há dados deste serviço em ${folder}. Se estão em outra pasta, indique-a em NFSE_DATA_DIR (sem ela vale ./data, da pasta em que se dá o comando). Se ainda não há dados, comece por nfse serve (na pasta do projeto, npm start) ou nfse municipio criar.`,
  );
}
