/**
 * The embedded PostgreSQL, started and supervised by its users: a service, one of its commands, a test.
 *
 * The server is a separate process that survives a crash of the program. Any number of processes may share a data
 * folder, each present by a connection. The first starts the server, the one that notices its death restarts it, and
 * the last one stops it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { findBinaries } from './binaries.ts';
import { boundLog, type Transport } from './cluster.ts';
import { readLock, serves } from './lock.ts';
import {
  childOptions,
  closeSocketDir,
  findPlace,
  type Logger,
  logFolderOf,
  NotReady,
  type Place,
  Unusable,
} from './place.ts';
import {
  type Client,
  type Connection,
  type CreateClient,
  ignoreLoss,
  look,
  presenceOf,
  type Reached,
  reach,
  type Site,
  type Started,
  signalServer,
} from './start.ts';

export { systemIdOf } from './cluster.ts';
export { takeTurn } from './lock.ts';
export { type Logger, NotReady } from './place.ts';
export type { Client, Connection, CreateClient } from './start.ts';

export type EmbeddedOptions = {
  /** The name of the database and its user; files beside the data and temporary folders begin with it. */
  readonly name: string;
  readonly dataDir: string;
  readonly log: Logger;
  /** `(config) => new Client(config)`, with the `Client` of the `pg` package. */
  readonly createClient: CreateClient;
  /** Advice on using another PostgreSQL: the last sentence of an error that it would avoid. */
  readonly wayOut?: string;
  /** The transport of a new cluster. TCP is for Windows; elsewhere only a test asks for it. */
  readonly transport?: Transport;
  /**
   * True: the server leaves each complete segment of its log in {@link EmbeddedServer.logFolder} for backups, from its
   * next start on. Undefined: the last value stays, so that a program without this option interrupts no archiving.
   */
  readonly archives?: boolean | undefined;
  /** Prefix of folders in which another program prepares a cluster for this place: no new cluster is made while one exists. */
  readonly staging?: string | undefined;
};

export type EmbeddedServer = {
  /** Settings for `pg`. They stay the same after a restart of the server, so pools only have to reconnect. */
  readonly connection: Connection;
  /** The real place of the cluster. */
  readonly location: string;
  /** The folder of complete segments. */
  readonly logFolder: string;
  /** False when the server was already running and was adopted. */
  readonly started: boolean;
  /** Stops the server unless another process uses it; the caller closes its pools first. It never rejects. */
  stop(): Promise<void>;
};

/** The name becomes part of paths, of SQL, and of a socket's name, which is short. */
const NAME = /^[a-z][a-z0-9_]{0,19}$/;

const PATROL_EVERY_MS = 2_000;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 30_000;

/** A server that lived this long did not die of its start, so the next start need not wait. */
const STABLE_AFTER_MS = 60_000;

const FAST_STOP_MS = 10_000;
const IMMEDIATE_STOP_MS = 10_000;
const GONE_POLL_MS = 15;

/** Time for a closed pool's connections to leave pg_stat_activity. */
const GUEST_GRACE_MS = 3_000;
const GUEST_POLL_MS = 20;
const STOP_LOOK_MS = 2_000;
const END_TIMEOUT_MS = 2_000;

/** Opens the database of a data folder: creates it, starts its server or joins the one that runs. */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { name, dataDir, log, createClient, wayOut } = options;
  if (!NAME.test(name)) throw new TypeError(`the name of a database is like ${NAME}: ${name}`);
  const transport = options.transport ?? (process.platform === 'win32' ? 'tcp' : 'socket');
  const closing = new AbortController();
  try {
    const { archives, staging } = options;
    const place: Place = { ...(await findPlace(name, dataDir, log)), archives, staging };
    const site: Site = { place, createClient, log };
    const began = performance.now();
    const first = await reach(site, transport, closing.signal);
    const ms = Math.round(performance.now() - began);
    log.info(
      { location: place.location, pid: first.pid, usuario: place.runAs?.name, ms },
      first.started
        ? `PostgreSQL embutido iniciado; os dados ficam em ${place.location}`
        : `PostgreSQL embutido já em execução; os dados ficam em ${place.location}`,
    );
    return supervise(site, first, closing, wayOut);
  } catch (error) {
    throw withWayOut(error, wayOut);
  }
}

/**
 * The server program of a data folder, the cluster, and the options to spawn it. A program with a separate server uses
 * them, such as a standby. `isRunning`: true when a process serves the cluster at this moment.
 */
export async function findServer(name: string, dataDir: string, log: Logger) {
  const place = await findPlace(name, dataDir, log);
  const { postgres, major } = await findBinaries(place, log);
  const { location, runAs } = place;
  return {
    program: postgres,
    major,
    location,
    logFolder: logFolderOf(location),
    spawnOptions: childOptions(runAs),
    account: runAs,
    isRunning: async () => {
      const lock = await readLock(location);
      return lock !== undefined && (await serves(lock.pid, location));
    },
  };
}

function withWayOut(error: unknown, wayOut: string | undefined): unknown {
  // An existing server has the data, and another would not.
  if (error instanceof Unusable && !(error instanceof NotReady) && wayOut !== undefined) error.message += ` ${wayOut}`;
  return error;
}

/** Holds a connection to the server, restores it after a loss, and leaves in order. */
function supervise(site: Site, first: Started, closing: AbortController, wayOut: string | undefined): EmbeddedServer {
  const { place, log } = site;
  let held: Reached = first;
  let heldSince = performance.now();
  let attached = true;
  let deaths = 0;

  async function watchConnection(): Promise<void> {
    const closed = new Promise<void>((done) => closing.signal.addEventListener('abort', () => done()));
    for (;;) {
      await Promise.race([held.lost, closed]);
      if (closing.signal.aborted) return;
      attached = false;
      log.warn({ pid: held.pid }, 'conexão com o PostgreSQL embutido perdida; verificando o servidor');
      if (performance.now() - heldSince > STABLE_AFTER_MS) deaths = 0;
      while (!attached && !closing.signal.aborted) await reachAgain();
    }
  }

  async function reachAgain(): Promise<void> {
    try {
      if (deaths > 0) {
        const wait = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (deaths - 1));
        await sleep(wait, undefined, { signal: closing.signal });
      }
      deaths += 1;
      const again = await reach(site, undefined, closing.signal);
      held = again;
      heldSince = performance.now();
      attached = true;
      if (again.started) log.error({ pid: held.pid }, 'o PostgreSQL embutido havia morrido; foi iniciado de novo');
      else log.info({ pid: held.pid }, 'conexão com o PostgreSQL embutido refeita');
    } catch (error) {
      if (closing.signal.aborted) return;
      log.error({ err: withWayOut(error, wayOut) }, 'o PostgreSQL embutido não voltou; nova tentativa em seguida');
    }
  }

  /** A stopping server keeps its connections and accepts no new ones: it ends once this process leaves, and is then restarted. */
  async function patrol(): Promise<void> {
    await boundLog(place);
    if (attached && (await readLock(place.location))?.status === 'stopping') await leave(held.client);
  }

  const watching = watchConnection();
  // One patrol at a time: a second one would truncate what the server has written since the first.
  let patrolled: Promise<void> | undefined;
  const patrolling = setInterval(() => {
    patrolled ??= patrol()
      .catch((error) => log.warn({ err: error }, 'a ronda do PostgreSQL embutido falhou'))
      .finally(() => {
        patrolled = undefined;
      });
  }, PATROL_EVERY_MS);
  patrolling.unref();

  async function stop(): Promise<void> {
    // No handle of this package keeps a process alive: an idle process would end in the middle of the stop.
    const awake = setInterval(() => {}, PATROL_EVERY_MS);
    closing.abort();
    clearInterval(patrolling);
    await patrolled;
    await watching;
    await endPresence(site, held).catch((error) => log.error({ err: error }, 'falha ao parar o PostgreSQL embutido'));
    clearInterval(awake);
  }

  let stopping: Promise<void> | undefined;
  return {
    get connection() {
      return held.connection;
    },
    location: place.location,
    logFolder: logFolderOf(place.location),
    started: first.started,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Leaves, and stops the server when no other process remains. */
async function endPresence(site: Site, held: Reached): Promise<void> {
  const { place, log } = site;
  let present: Reached | undefined = held;
  let alone = await isLastOne(held.client, place).catch(() => undefined);
  if (alone === undefined) {
    // The connection was lost just before; another restart may still have brought the server back.
    present = await lookAgain(site);
    if (present) alone = await isLastOne(present.client, place).catch(() => false);
  }
  if (!present) {
    log.warn({ location: place.location }, 'o PostgreSQL embutido não respondia ao sair; nada a parar por aqui');
    return;
  }
  await leave(present.client);
  if (!alone || present.pid === undefined) {
    log.info({ pid: present.pid }, 'o PostgreSQL embutido continua: ainda está em uso por outro processo');
    return;
  }
  await shutDown(site, present.pid);
  await closeSocketDir(place);
}

/** Asks the server itself for other users, after it has marked this process as leaving. */
async function isLastOne(client: Client, place: Place): Promise<boolean> {
  // Two processes that leave at once do not wait for each other.
  const leaving = `${place.name}-saindo`;
  await client.query(`SET application_name = '${leaving}'`);
  const began = performance.now();
  for (;;) {
    const { rows } = await client.query(`
      SELECT count(*) FILTER (WHERE application_name = '${presenceOf(place)}')::int AS presences,
             count(*) FILTER (WHERE application_name <> '${presenceOf(place)}')::int AS guests
        FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> '${leaving}'`);
    const { presences, guests } = rows[0] as { presences: number; guests: number };
    if (presences + guests === 0) return true;
    // Other present processes will stop the server. Guests without a host may be our own pool, just closed.
    if (presences > 0 || performance.now() - began > GUEST_GRACE_MS) return false;
    await sleep(GUEST_POLL_MS);
  }
}

async function lookAgain(site: Site): Promise<Reached | undefined> {
  const began = performance.now();
  while (performance.now() - began < STOP_LOOK_MS) {
    const seen = await look(site).catch(() => undefined);
    if (seen?.client) return seen;
    if (seen?.state !== 'busy') return undefined;
    await sleep(GONE_POLL_MS);
  }
  return undefined;
}

async function leave(client: Client): Promise<void> {
  await Promise.race([client.end().catch(ignoreLoss), sleep(END_TIMEOUT_MS, undefined, { ref: false })]);
}

async function shutDown(site: Site, pid: number): Promise<void> {
  const { place, log } = site;
  const began = performance.now();
  await signalServer(site, pid, 'INT');
  if (!(await isGone(place, pid, FAST_STOP_MS))) {
    log.warn({ pid }, 'o PostgreSQL embutido demora a parar; parada imediata (ele se recupera na próxima partida)');
    await signalServer(site, pid, 'QUIT');
    if (!(await isGone(place, pid, IMMEDIATE_STOP_MS))) {
      log.error({ pid }, `o PostgreSQL embutido não parou; confira o processo ${pid}`);
      return;
    }
  }
  log.info({ pid, ms: Math.round(performance.now() - began) }, 'PostgreSQL embutido parado');
}

async function isGone(place: Place, pid: number, withinMs: number): Promise<boolean> {
  const began = performance.now();
  while (await serves(pid, place.location)) {
    if (performance.now() - began > withinMs) return false;
    await sleep(GONE_POLL_MS);
  }
  return true;
}
