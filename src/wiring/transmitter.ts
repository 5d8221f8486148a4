/** Starts a worker without doors, and what watches it. */
import type { Transmitting } from '../base/terminal/command.ts';
import { Collector } from './collect.ts';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import { openStore } from './open-store.ts';
import { openWorld } from './open-world.ts';
import { startTraces } from './traces.ts';
import { openTransmitterVigia } from './transmitter-vigia.ts';

export type Transmitter = Transmitting & { close(): Promise<void> };

/** A worker without doors: one more process that delivers due work, beside others on the same database. */
export async function startTransmitter(config: Config, log: Logger, signal?: AbortSignal): Promise<Transmitter> {
  const traces = await startTraces(config, log, 'transmissao');
  const opened = await openStore(config, log, { signal, connections: config.connections.transmitting });
  for (const warning of await opened.durabilityWarnings()) log.warn(warning);
  const collector = new Collector('1', 'transmissao');
  const { world, startWorker, close } = openWorld(opened.store, log);
  await startWorker();
  const vigia = config.transmitterPort === 0 ? undefined : await openTransmitterVigia(config, world, collector);
  if (vigia !== undefined && 'problem' in vigia)
    log.warn(`nfse transmitir não é vigiado: ${vigia.problem}. Transmite sem isso`);
  return {
    location: opened.location,
    vigia,
    close: async () => {
      await close();
      if (vigia !== undefined && 'close' in vigia) await vigia.close();
      await opened.close();
      await traces.end();
    },
  };
}
