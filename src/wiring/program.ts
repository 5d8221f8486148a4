/**
 * The one program: reads what was asked, and wires what that command needs. It decides nothing else. What a command has no
 * use for is not loaded: a service is more to load than all the commands.
 */
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { runCli } from '../doors/cli/cli.ts';
import { storeTroubleOf } from '../flows/store-trouble.ts';
import { unavailabilityOf } from '../store/unavailable.ts';
import { type Config, readConfig, serviceUrlOf } from './config.ts';
import { createLog } from './log.ts';

/** What programs say that may be called again (EX_TEMPFAIL of sysexits.h). */
const TRY_AGAIN = 75;

const isTerminal = process.stdout.isTTY === true;

const tell = (text: string): boolean => process.stderr.write(`${text}\n`);

try {
  process.exitCode = await runCli(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    isTerminal,
    serviceUrl: () => serviceUrlOf(readConfig(process.env, isTerminal)),
    serve: async (waitForEnd, asked) => {
      const config = readConfig(process.env, isTerminal);
      const { log, flush } = createLog(config.logLevel);
      try {
        const { startService } = await import('./service.ts');
        const service = await startService(config, log, asked);
        // Who pressed Ctrl-C balances no load.
        const signal = await waitForEnd({ ...service, drainMs: config.drainMs });
        await service.close(signal === 'SIGTERM' ? config.drainMs : 0);
      } finally {
        flush();
      }
    },
    transmit: async (waitForEnd, asked) => {
      const config = readConfig(process.env, isTerminal);
      await needData(config);
      const { log, flush } = createLog(config.logLevel);
      try {
        const { startTransmitter } = await import('./service.ts');
        const transmitter = await startTransmitter(config, log, asked);
        await waitForEnd(transmitter);
        await transmitter.close();
      } finally {
        flush();
      }
    },
    migrate: async () => {
      const config = readConfig(process.env, isTerminal);
      const { log, flush } = createLog(config.logLevel);
      try {
        const { openStore } = await import('./open-store.ts');
        const opened = await openStore(config, log, { isPatient: true, tell });
        for (const told of await opened.durabilityWarnings()) tell(`Aviso: ${told}`);
        await opened.close();
        return { applied: opened.applied, location: opened.location };
      } finally {
        flush();
      }
    },
    registry: async (work, isBeginning = false) => {
      const config = readConfig(process.env, isTerminal);
      if (!isBeginning) await needData(config);
      // What the operator asked for is told on the terminal; how the database was reached is told when it goes wrong.
      const { log, flush } = createLog(process.env.NFSE_LOG_LEVEL ? config.logLevel : 'warn');
      try {
        const { openStore } = await import('./open-store.ts');
        const opened = await openStore(config, log, { isPatient: true, tell });
        try {
          return await work({ store: opened.store, now: Date.now, baseUrl: config.baseUrl });
        } finally {
          await opened.close();
        }
      } finally {
        flush();
      }
    },
    simulador: {
      ajuda: async () => {
        const { AJUDA_DE_CONTROLE, AJUDA_DE_FALTAS } = await import('../simulador/simulador.ts');
        return { controle: AJUDA_DE_CONTROLE, faltas: AJUDA_DE_FALTAS };
      },
      start: async (asked, waitForEnd) => {
        const { log, flush } = createLog(readConfig(process.env, isTerminal).logLevel);
        try {
          const { startSimulador } = await import('../simulador/simulador.ts');
          const simulador = await startSimulador(asked, log);
          await waitForEnd(simulador);
          await simulador.close();
        } finally {
          flush();
        }
      },
    },
  });
} catch (error) {
  process.stderr.write(`Não foi possível continuar: ${told(error)}\n`);
  process.exitCode = storeTroubleOf(error) === undefined || isDenied(error) ? 1 : TRY_AGAIN;
}

/** As a command is told it, it was asked with the wrong address: the same again is refused again. */
function isDenied(error: unknown): boolean {
  return unavailabilityOf(error) === 'denied';
}

/** An empty database made in a mistyped folder would look like the loss of every note. */
async function needData({ databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== undefined) return;
  const folder = path.resolve(dataDir);
  const found = await lstat(path.join(folder, 'pg')).catch((error: NodeJS.ErrnoException) => error.code);
  // Whatever else is wrong with the folder is told by who opens it.
  if (found !== 'ENOENT') return;
  throw new Error(
    `não há dados deste serviço em ${folder}. Se estão em outra pasta, indique-a em NFSE_DATA_DIR (sem ela vale ./data, da pasta em que se dá o comando). Se ainda não há dados, comece por npm start ou nfse municipio criar.`,
  );
}

/** What a repetition cures, and that it does. */
function storeTold(error: unknown): string | undefined {
  const trouble = storeTroubleOf(error);
  if (trouble === undefined) return undefined;
  const { mensagem } = trouble;
  return `${mensagem.charAt(0).toLowerCase()}${mensagem.slice(1)} Tente de novo em ${trouble.esperaS} s.`;
}

/** What an operator can do something about, in Portuguese; anything else as it is. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const where = `${address ?? ''}${port === undefined ? '' : `:${port}`}`;
  switch (code) {
    case 'EADDRINUSE':
      return `o endereço ${where} já está em uso. Encerre o outro programa, ou escolha outra porta com PORT.`;
    case 'EADDRNOTAVAIL':
      return `o endereço ${where} não é desta máquina. Confira NFSE_HOST.`;
    case 'EACCES':
      return `falta permissão (${error.message}). Portas abaixo de 1024 pedem root; escolha outra com PORT.`;
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
      return `o banco de dados não responde em ${where || 'DATABASE_URL'}. Confira se está no ar e o endereço.`;
    case '28P01':
    case '28000':
      return 'o banco de dados recusou o usuário ou a senha de DATABASE_URL.';
    case '3D000':
      return 'o banco de dados de DATABASE_URL não existe. Crie-o antes.';
    default:
      return storeTold(error) ?? error.message;
  }
}
