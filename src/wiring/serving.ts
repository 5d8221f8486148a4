/**
 * The parts that answer requests in one process, besides its door: the world of the flows, the thread that transmits, and the one for large
 * bodies.
 */

import type { Announce } from '../base/book/claim-notas.ts';
import type { OnStored } from '../base/book/recent.ts';
import { ASIDE_CPU_MAX_MS } from '../base/http/aside.ts';
import { CLOSE_MAX_MS } from '../base/http/end-in-order.ts';
import type { Connection } from '../base/pg/servers.ts';
import type { World } from '../base/world/world.ts';
import type { RestDoorOptions } from '../doors/rest/door.ts';
import type { Collector } from './collect.ts';
import type { Config } from './config.ts';
import type { Connections } from './connections.ts';
import { AsideThread } from './large-bodies.ts';
import type { Logger } from './log.ts';
import { openWorld } from './open-world.ts';
import type { Store } from './store.ts';
import { startTransmitterThread, type Transmitter } from './worker-keeper.ts';
import type { WorkerSettings } from './worker-thread.ts';

/**
 * The delay after the drain until requests with large bodies are refused. It is short enough for the current one to be answered before the
 * cut.
 */
export const TURN_AWAY_MS = CLOSE_MAX_MS - 3 * ASIDE_CPU_MAX_MS;

export type Serving = {
  readonly world: World;
  readonly aside: AsideThread;
  /** Resolves when all has ended; called after the door is closed, and before the store is. */
  close(): Promise<void>;
};

/** `told`: for the store, which is opened first. `collector`: collects the counters of the threads. */
export function createServing(
  log: Logger,
  collector: Collector,
): {
  readonly told: { readonly onStored: OnStored; readonly announce: Announce };
  begin(store: Store, settings: WorkerSettings & { readonly connections: Connections }): Serving;
} {
  let transmitter: Transmitter | undefined;
  const onStored: OnStored = (...stored) => transmitter?.onStored(...stored);
  const announce: Announce = (...asked) => transmitter?.announce(...asked);
  return {
    told: { onStored, announce },
    begin: (store, { connections, ...settings }) => {
      const { world, close } = openWorld(store, log, (tenant) => transmitter?.wake(tenant));
      const { logLevel } = settings;
      const connectionFor = (max: number): Connection => ({ ...settings.connection, max });
      const asideSettings = { connection: connectionFor(connections.aside), logLevel };
      const aside = new AsideThread(asideSettings, log, { onStored, wake: world.wake, collector });
      const workerSettings = { ...settings, connection: connectionFor(connections.transmitting) };
      const started = startTransmitterThread(workerSettings, log, collector);
      transmitter = started;
      return {
        world,
        aside,
        close: async () => {
          await aside.stop();
          await started.stop();
          await close();
        },
      };
    },
  };
}

/** The options of a door, by the settings of the service. */
export function doorOptionsOf(
  { baseUrl, securityContact, trustProxy, certificateHeader }: Config,
  log: Logger,
  tls: RestDoorOptions['tls'],
  aside: AsideThread,
): RestDoorOptions {
  const accessLog = log.isLevelEnabled('info');
  return { baseUrl, securityContact, trustProxy, tls, certificateHeader, accessLog, aside };
}
