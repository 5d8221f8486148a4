/** The dependencies of the flows, composed on a store: the one place where they are chosen. */
import { randomInt } from 'node:crypto';
import { tellTrouble } from '../base/world/store-trouble.ts';
import type { World } from '../base/world/world.ts';
import { programText } from '../published/versao.ts';
import { avisoPoster } from '../subjects/avisos/post.job.ts';
import { Transmissions, trustOf } from './adn-access.ts';
import { painelUrlOf, readOwnConfig } from './config.ts';
import { freeStart } from './free-start.ts';
import type { Logger } from './log.ts';
import type { Store } from './store.ts';
import type { Worker, WorkerOptions } from './worker.ts';

export type OpenWorld = {
  readonly world: World;
  /** Delivers due work in this thread. The jobs are loaded here alone: other threads have no use for them. */
  startWorker(options?: WorkerOptions): Promise<Worker>;
  /** Stops the worker and ends the connections; the store belongs to the caller. */
  close(): Promise<void>;
};

/** `wakeElsewhere`: wakes a worker that runs in another thread. */
export function openWorld(store: Store, log: Logger, wakeElsewhere?: (tenant: string) => void): OpenWorld {
  const unlessWritten = (tenant: string, writing: Promise<void>): void => {
    writing.catch((error: unknown) => tellTrouble(log, error, { tenant }, 'o que se soube do ADN não foi gravado'));
  };
  const transmissions = new Transmissions(log, {
    circuit: (tenant, circuito) => unlessWritten(tenant, store.circuitos.note(tenant, circuito, Date.now())),
    heard: (tenant, falha) => unlessWritten(tenant, store.circuitos.hear(tenant, falha, Date.now())),
  });
  const config = readOwnConfig();
  const { privateAvisos } = config;
  let worker: Worker | undefined;
  let warned: Promise<void> | undefined;
  const world: World = {
    store,
    transmission: transmissions.of,
    trust: trustOf(log),
    now: Date.now,
    randomDigits: (count) => String(randomInt(10 ** count)).padStart(count, '0'),
    log,
    programa: programText(),
    postAviso: avisoPoster({ isPrivateAllowed: privateAvisos }),
    avisosPrivados: privateAvisos,
    painelUrl: painelUrlOf(config),
    wake: (tenant) => (worker === undefined ? wakeElsewhere?.(tenant) : worker.wake(tenant)),
  };
  /** One municipality after the other: nothing waits for it. */
  const warnOfFiles = async (): Promise<void> => {
    try {
      for (const municipio of await store.municipios.list()) await transmissions.warnOfFiles(municipio);
    } catch (error) {
      tellTrouble(log, error, {}, 'não foi possível conferir quem pode ler as chaves dos municípios');
    }
  };
  return {
    world,
    startWorker: async (options = {}) => {
      const { startWorker } = await import('./worker.ts');
      freeStart();
      if (options.isSecond !== true) warned = warnOfFiles();
      worker = startWorker(world, options);
      return worker;
    },
    close: async () => {
      await worker?.stop();
      await warned;
      await transmissions.close();
      await store.movimento.flush();
    },
  };
}
