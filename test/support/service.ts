/** The running service, on a database for one test and a free port, with a clock that the test controls. */
import { randomInt } from 'node:crypto';
import { localAdn } from '../../src/adn/local.ts';
import type { openPool } from '../../src/base/pg/open.ts';
import type { ClientConfig } from '../../src/base/pg/pg.ts';
import type { World } from '../../src/base/world/world.ts';
import { createRestDoor } from '../../src/doors/rest/door.ts';
import { SANDBOX_SLUG } from '../../src/fiscal/ambiente.ts';
import { avisoPoster } from '../../src/subjects/avisos/post.job.ts';
import { trustOf } from '../../src/wiring/adn-access.ts';
import { createStore, type Store } from '../../src/wiring/store.ts';
import { startWorker } from '../../src/wiring/worker.ts';
import { onEnd } from './cleanup.ts';
import { freshPool, poolOn } from './database.ts';

/** 21/11/2026 12:00:00 in Brasília. */
export const NOON = Date.parse('2026-11-21T12:00:00-03:00');

export type TestService = {
  readonly address: string;
  readonly store: Store;
  readonly pool: ReturnType<typeof openPool>;
  readonly world: World;
  readonly clock: { now: number };
  /** The log records, for tests that no personal data is logged; a test that does not need them empties the list. */
  readonly logged: { about: object; message: string }[];
  /** Stops the worker; due work stays due from then on. */
  stopWorker(): Promise<void>;
};

/** The program name that is stored with each judgement. */
export const PROGRAMA = '0.1.0 c0ffee123456';

/**
 * `worker: false` leaves notes as they were issued; `connection`: a database shared with other processes. `isPatient: false`: the service's
 * short timeouts for connections; `transmission`: a replacement for the local authority.
 */
export async function startTestService(
  options: {
    worker?: boolean;
    clock?: { now: number };
    connection?: ClientConfig;
    isPatient?: boolean;
    transmission?: World['transmission'];
    privateAvisos?: boolean;
    postAviso?: World['postAviso'];
  } = {},
): Promise<TestService> {
  const pool = await (options.connection === undefined ? freshPool() : poolOn(options.connection, options.isPatient));
  const store = createStore(pool);
  const clock = options.clock ?? { now: NOON };
  const logged: { about: object; message: string }[] = [];
  const note = (about: object, message: string): void => void logged.push({ about, message });
  const log = { info: note, warn: note, error: note };
  const local = localAdn(() => clock.now);
  let wake = (_tenant: string): void => undefined;
  const world: World = {
    store,
    transmission: options.transmission ?? (async () => ({ adn: local, signer: undefined })),
    trust: trustOf(log),
    now: () => clock.now,
    randomDigits: (count) => String(randomInt(10 ** count)).padStart(count, '0'),
    log,
    programa: PROGRAMA,
    postAviso: options.postAviso ?? avisoPoster({ isPrivateAllowed: options.privateAvisos ?? true }),
    avisosPrivados: options.privateAvisos ?? true,
    wake: (tenant) => wake(tenant),
  };
  await store.municipios.create({ tenant: SANDBOX_SLUG, ambiente: 'homologacao', codigoIbge: undefined }, clock.now);
  let stopWorker = async (): Promise<void> => undefined;
  if (options.worker !== false) {
    const worker = startWorker(world);
    wake = worker.wake;
    stopWorker = worker.stop;
    onEnd(() => worker.stop());
  }
  const door = await createRestDoor(world, {
    host: '127.0.0.1',
    port: 0,
    baseUrl: undefined,
    trustProxy: false,
    accessLog: true,
  });
  onEnd(() => door.close());
  return { address: door.address, store, pool, world, clock, logged, stopWorker };
}
