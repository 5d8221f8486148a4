/** The one program: reads what was asked, and wires what that command needs. It decides nothing else. */
import { ConfigError, readConfig } from './config.ts';
import { runCli } from './doors/cli/cli.ts';
import { createLog } from './log.ts';
import { openStore, startService } from './service.ts';

const isTerminal = process.stdout.isTTY === true;

try {
  process.exitCode = await runCli(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    isTerminal,
    serve: async (waitForEnd) => {
      const config = readConfig(process.env, isTerminal);
      const { log, flush } = createLog(config.logLevel);
      try {
        const service = await startService(config, log);
        await waitForEnd(service);
        await service.close();
      } finally {
        flush();
      }
    },
    migrate: async () => {
      const config = readConfig(process.env, isTerminal);
      const { log, flush } = createLog(config.logLevel);
      try {
        const opened = await openStore(config, log);
        await opened.close();
        return { applied: opened.applied, location: opened.location };
      } finally {
        flush();
      }
    },
  });
} catch (error) {
  const message = error instanceof ConfigError ? error.message : `${error instanceof Error ? error.message : error}`;
  process.stderr.write(`Não foi possível continuar: ${message}\n`);
  process.exitCode = 1;
}
