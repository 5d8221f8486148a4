/**
 * Starts the parts of the service in one process and stops them in order: database, store, worker, doors. Several processes are in
 * `processes.ts`. The parts of each command are chosen in `program.ts`.
 */

import { tryPlace } from '../base/http/listen.ts';
import { createRestDoor } from '../doors/rest/door.ts';
import { beginOnce } from './begin.ts';
import { Collector } from './collect.ts';
import type { Config } from './config.ts';
import { shareConnections } from './connections.ts';
import { freeStart } from './free-start.ts';
import type { Logger } from './log.ts';
import { openStore } from './open-store.ts';
import { readTls } from './own-tls.ts';
import { type PainelTold, startPainel } from './painel-keeper.ts';
import { createServing, doorOptionsOf, TURN_AWAY_MS } from './serving.ts';
import { startTraces } from './traces.ts';

export type Service = {
  readonly address: string;
  readonly location: string;
  readonly painel: PainelTold;
  /** Rejects if the service cannot continue; absent: it ends with its process. */
  readonly failed?: Promise<never>;
  /** Replaces the answering processes by new ones, one by one. */
  restart(): void;
  /** `drainMs`: the time in which new connections are still served, while `ready` already reports the end. */
  close(drainMs?: number): Promise<void>;
};

/** Starts everything; resolves when the door answers. `signal` aborts an update of the database that is under way, and is thrown. */
export async function startService(config: Config, log: Logger, signal?: AbortSignal): Promise<Service> {
  const tls = await readTls(config);
  await tryPlace(config);
  const traces = await startTraces(config, log, 'requisicoes');
  const collector = new Collector('1', 'requisicoes');
  const { told, begin } = createServing(log, collector);
  const opened = await openStore(config, log, { ...told, signal });
  const { store, connection, location } = opened;
  const closers = [opened.close];
  const close = async (): Promise<void> => {
    for (const one of closers) await one();
    await traces.end();
  };
  try {
    await beginOnce(opened, config, log);
    if (config.copias !== undefined) {
      const { startCopias } = await import('./copias-keeper.ts');
      closers.push(startCopias(config.copias, opened, log).stop);
    }
    const connections = shareConnections(config, 1);
    const serving = begin(store, { connection, connections, logLevel: config.logLevel });
    closers.unshift(serving.close);
    const { world, aside } = serving;
    const { host, port, socket } = config;
    freeStart();
    const door = await createRestDoor(world, { ...doorOptionsOf(config, log, tls, aside), host, port, socket });
    const painel = await startPainel(config, connection, log, { wake: world.wake, collector });
    return {
      address: door.address,
      location,
      painel: painel.told,
      restart: () => log.warn({}, ONE_PROCESS),
      close: async (drainMs = 0) => {
        // The door ends first, so that nothing new comes in; the store, which all of them use, ends last.
        const hurry = setTimeout(aside.turnAway, drainMs + TURN_AWAY_MS);
        await Promise.all([painel.stop(), door.close(drainMs)]);
        clearTimeout(hurry);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const ONE_PROCESS =
  'SIGHUP não faz nada com um só processo: para trocar sem parar os que atendem, suba o serviço com NFSE_PROCESSOS=2';
