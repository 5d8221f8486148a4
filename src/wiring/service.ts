/**
 * Puts the service together and takes it apart in order: database, store, worker, doors. Which command needs what, `program.ts` decides.
 */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { exposedFiles } from '../documents/key-files.ts';
import { ASIDE_CPU_MAX_MS } from '../doors/rest/aside.ts';
import { createRestDoor } from '../doors/rest/door.ts';
import { CLOSE_MAX_MS } from '../doors/rest/end-in-order.ts';
import type { TlsKeys } from '../doors/rest/http.ts';
import { SANDBOX_SLUG } from '../fiscal/ambiente.ts';
import { SEM_BASE_URL } from '../flows/municipios.ts';
import type { Announce } from '../store/claim-notas.ts';
import type { OnStored } from '../store/recent.ts';
import type { Store } from '../store/store.ts';
import { type Config, ConfigError } from './config.ts';
import { AsideThread } from './large-bodies.ts';
import type { Logger } from './log.ts';
import { openStore } from './open-store.ts';
import { openWorld } from './open-world.ts';
import { startTransmitterThread, type Transmitter } from './worker-keeper.ts';

/** Requests with large bodies are turned away so long after the drain that one under way still has its answer before the cut. */
const TURN_AWAY_MS = CLOSE_MAX_MS - 3 * ASIDE_CPU_MAX_MS;

export type Service = {
  readonly address: string;
  readonly location: string;
  /** `drainMs`: how long new connections are still served, while `ready` says that it is time to go elsewhere. */
  close(drainMs?: number): Promise<void>;
};

/** Starts everything; resolves when the door answers. `signal` ends an update of the database that is under way, and is thrown. */
export async function startService(config: Config, log: Logger, signal?: AbortSignal): Promise<Service> {
  const tls = config.tls && (await readTls(config.tls));
  for (const warning of await exposedFiles(config.tls === undefined ? [] : [config.tls.chave])) log.warn(warning);
  let transmitter: Transmitter | undefined;
  const onStored: OnStored = (...stored) => transmitter?.onStored(...stored);
  const announce: Announce = (...asked) => transmitter?.announce(...asked);
  const opened = await openStore(config, log, { onStored, announce, signal });
  const { store, connection, location } = opened;
  const { world, close: closeWorld } = openWorld(store, log, () => transmitter?.wake());
  const closers = [closeWorld, opened.close];
  const close = async (): Promise<void> => {
    for (const one of closers) await one();
  };
  try {
    await store.municipios.create(
      { tenant: SANDBOX_SLUG, ambiente: 'homologacao', codigoIbge: undefined },
      world.now(),
    );
    transmitter = startTransmitterThread({ connection, logLevel: config.logLevel }, log);
    closers.unshift(transmitter.stop);
    const { host, port, baseUrl, trustProxy, certificateHeader } = config;
    if (baseUrl === undefined) await warnOfAddress(store, log);
    for (const warning of await opened.durabilityWarnings()) log.warn(warning);
    const accessLog = log.isLevelEnabled('info');
    const aside = new AsideThread({ connection, logLevel: config.logLevel }, log, { onStored, wake: world.wake });
    closers.unshift(aside.stop);
    const options = { host, port, baseUrl, trustProxy, tls, certificateHeader, accessLog, aside };
    const door = await createRestDoor(world, options);
    return {
      address: door.address,
      location,
      close: async (drainMs = 0) => {
        // The door first, so that nothing new comes in; the store, which all of them use, last.
        const hurry = setTimeout(aside.turnAway, drainMs + TURN_AWAY_MS);
        await door.close(drainMs);
        clearTimeout(hurry);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function warnOfAddress(store: Store, log: Logger): Promise<void> {
  const municipios = (await store.municipios.list()).filter(({ ambiente }) => ambiente === 'producao');
  if (municipios.length > 0) log.warn({ municipios: municipios.map(({ tenant }) => tenant) }, SEM_BASE_URL);
}

/** Certificate and key of the service's own TLS, checked before anything is opened with them. */
async function readTls({ certificado, chave }: NonNullable<Config['tls']>): Promise<TlsKeys> {
  const [cert, key] = await Promise.all([
    contentOf('NFSE_TLS_CERTIFICADO', certificado),
    contentOf('NFSE_TLS_CHAVE', chave),
  ]);
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new ConfigError(
      `NFSE_TLS_CERTIFICADO e NFSE_TLS_CHAVE não são um certificado em PEM (com as autoridades abaixo dele) e a chave privada dele, sem senha: ${certificado}, ${chave}.`,
    );
  }
  return { cert, key };
}

async function contentOf(name: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `${name}: o arquivo ${file} ${code === 'ENOENT' ? 'não existe' : `não pôde ser lido (${code})`}.`,
    );
  }
}

/** A worker without doors: one more process that delivers what is due, beside others on the same database. */
export async function startTransmitter(
  config: Config,
  log: Logger,
  signal?: AbortSignal,
): Promise<Omit<Service, 'address'>> {
  const opened = await openStore(config, log, { signal });
  for (const warning of await opened.durabilityWarnings()) log.warn(warning);
  const { startWorker, close } = openWorld(opened.store, log);
  startWorker();
  return {
    location: opened.location,
    close: async () => {
      await close();
      await opened.close();
    },
  };
}
