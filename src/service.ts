/**
 * The whole service put together and taken apart in order: database, store, worker, doors. `main.ts` decides which
 * command needs what; this file decides nothing about any of them.
 */
import { randomInt } from 'node:crypto';
import path from 'node:path';
import type { Config } from './config.ts';
import { createRestDoor } from './doors/rest/door.ts';
import { SANDBOX_SLUG } from './fiscal/ambiente.ts';
import { startWorker, type Worker } from './flows/worker.ts';
import type { World } from './flows/world.ts';
import type { Logger } from './log.ts';
import { openEmbedded } from './store/embedded/embedded.ts';
import { migrate, openPool } from './store/open.ts';
import type { PoolConfig } from './store/pg.ts';
import { createStore, type Store } from './store/store.ts';
import { openTransmissions, trustOf } from './transmission.ts';

export type OpenStore = {
  readonly store: Store;
  /** Where the data lies, for the operator; no password. */
  readonly location: string;
  /** Migrations applied just now. */
  readonly applied: readonly string[];
  close(): Promise<void>;
};

/** The embedded server or the one of DATABASE_URL, its schema brought up to date. */
export async function openStore(config: Config, log: Logger): Promise<OpenStore> {
  const server =
    config.databaseUrl === undefined ? await openEmbedded({ dataDir: path.resolve(config.dataDir), log }) : undefined;
  const connection: PoolConfig = server?.connection ?? { connectionString: config.databaseUrl };
  const pool = openPool(connection, (error) => log.warn({ err: error }, 'an idle database connection was lost'));
  const closeAll = async (): Promise<void> => {
    await pool.end();
    await server?.stop();
  };
  try {
    const applied = await migrate(pool);
    const store = createStore(pool);
    return { store, location: server?.location ?? locationOf(config.databaseUrl!), applied, close: closeAll };
  } catch (error) {
    await closeAll().catch(() => undefined);
    throw error;
  }
}

function locationOf(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

export type Service = { readonly address: string; readonly location: string; close(): Promise<void> };

/** The store, the world on it and a worker that delivers; how to take them down, last opened first. */
type Engine = { readonly world: World; readonly location: string; close(): Promise<void> };

async function startEngine(config: Config, log: Logger): Promise<Engine> {
  const opened = await openStore(config, log);
  const { store, location } = opened;
  const transmissions = openTransmissions(log);
  let worker: Worker | undefined;
  const close = async (): Promise<void> => {
    // The worker uses the connections and the store; the store is the last to go.
    await worker?.stop();
    await transmissions.close();
    await opened.close();
  };
  try {
    const world: World = {
      store,
      transmission: transmissions.of,
      trust: trustOf(log),
      now: Date.now,
      randomDigits: (count) => String(randomInt(10 ** count)).padStart(count, '0'),
      log,
      wake: (tenant) => worker?.wake(tenant),
    };
    await store.createMunicipio({ tenant: SANDBOX_SLUG, ambiente: 'homologacao', codigoIbge: undefined }, world.now());
    worker = startWorker(world);
    return { world, location, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts everything; resolves when the door answers. */
export async function startService(config: Config, log: Logger): Promise<Service> {
  const engine = await startEngine(config, log);
  try {
    const { host, port, baseUrl, trustProxy } = config;
    const accessLog = log.isLevelEnabled('info');
    const door = await createRestDoor(engine.world, { host, port, baseUrl, trustProxy, accessLog });
    return {
      address: door.address,
      location: engine.location,
      close: async () => {
        // The door first, so that nothing new comes in.
        await door.close();
        await engine.close();
      },
    };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** A worker without doors: one more process that delivers what is due, beside others on the same database. */
export async function startTransmitter(config: Config, log: Logger): Promise<Omit<Service, 'address'>> {
  const { location, close } = await startEngine(config, log);
  return { location, close };
}
