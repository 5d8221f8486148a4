/**
 * Reaches the server of a cluster: finds the running one, waits for one that starts or recovers, or starts one.
 *
 * The result is a connection that is held while the server is in use: it proves that the server answers, reports its
 * death, and shows this process to others. `embedded.ts` decides when to try again or to stop.
 */

import { spawn } from 'node:child_process';
import { readFile, realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Binaries, findBinaries, forgetOtherCopies } from './binaries.ts';
import { ensureCluster, logPathOf, logSince, openLog, passwordOf, systemIdOf, type Transport } from './cluster.ts';
import { type Lock, readLock, removeForeignLock, serves, takeTurn } from './lock.ts';
import {
  absent,
  childOptions,
  codeOf,
  fitsSocket,
  type Logger,
  NotReady,
  namedFileOf,
  openSocketDir,
  type Place,
  run,
  SOCKET_PORT,
  Unusable,
} from './place.ts';

export type Connection = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** The password of a server on TCP alone. */
  readonly password?: string;
};

/** The used part of a client of the `pg` package, which only the caller knows. */
export type Client = {
  connect(): Promise<unknown>;
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
  end(): Promise<void>;
  on(event: 'error', listen: (error: Error) => void): unknown;
  once(event: 'end', listen: () => void): unknown;
};

/** Makes an unconnected client; the settings are those of `pg`. */
export type CreateClient = (
  config: Connection & {
    readonly ssl: false;
    readonly application_name: string;
    readonly connectionTimeoutMillis: number;
    readonly query_timeout: number;
  },
) => Client;

/** A cluster, and the means to reach its server and to log. */
export type Site = { readonly place: Place; readonly createClient: CreateClient; readonly log: Logger };

export type Reached = {
  readonly client: Client;
  readonly connection: Connection;
  /** Undefined: the server answers but is no process of this machine, as from another container. */
  readonly pid: number | undefined;
  /** Resolves when the connection is lost, for any reason. */
  readonly lost: Promise<void>;
};

/** `started`: this process started the server, and did not join a running one. */
export type Started = Reached & { readonly started: boolean };

/** A server that is not ready, or none at all. */
export type Silent = {
  readonly client?: undefined;
  readonly state: 'busy' | 'absent';
  /** The answer of the server, if any. */
  readonly answer?: string;
  /** The position of the replay, when the server tells it. */
  readonly replayed?: string;
};

/** The name of the presence connections in pg_stat_activity, which keeps only ASCII. */
export function presenceOf({ name }: Place): string {
  return `${name}-presente`;
}

/** Longest time without progress: a recovering server is waited for while its recovery goes on. */
const READY_TIMEOUT_MS = 60_000;
const NOTICE_EVERY_MS = 3_000;
const POLL_MS = 15;
/** Each look at a recovering server is a line in its log. */
const RECOVERING_POLL_MS = 200;
const EAGER_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 5_000;
const START_FAILURES_MAX = 3;
const RETRY_AFTER_MS = 150;

/** Time for another process with the turn to make the cluster. */
const MAKING_MAX_MS = 300_000;

/** pg_ctl returns before the server has written its lock; the server only seems absent until then. */
const PG_CTL_GRACE_MS = 10_000;

/** Messages of PostgreSQL when another server, or a remnant of the last one, still holds the data. */
const CONTENDED = /lock file ".*" already exists|still in use|already in use/i;

type Launched = {
  readonly pid: number | undefined;
  readonly running: () => boolean;
  /** The text logged since the launch. */
  readonly said: () => Promise<string>;
};

/**
 * Resolves with a server that answers, or throws an error with advice. A missing cluster is created only when its
 * transport is given.
 */
export async function reach(site: Site, creating: Transport | undefined, signal: AbortSignal): Promise<Started> {
  const { place, log } = site;
  const began = performance.now();
  let deadline = began + READY_TIMEOUT_MS;
  let answer: string | undefined;
  let replayed: string | undefined;
  const progressOf = async (): Promise<string> => `${replayed} ${await lastSaid(place)}`;
  let progress = await progressOf();
  let isThere = false;
  const notice = setInterval(() => {
    const segundos = Math.round((performance.now() - began) / 1000);
    const starting = isThere && !answer ? 'ele não responde' : 'partida, ou recuperação após uma queda';
    const far = replayed === undefined ? starting : `em recuperação: até ${replayed}`;
    log.info(
      { location: place.location, segundos, resposta: answer },
      `aguardando o PostgreSQL embutido ficar pronto (${far}): ${segundos} s`,
    );
  }, NOTICE_EVERY_MS);
  let turn: (() => void) | undefined;
  let binaries: Binaries | undefined;
  let launched: Launched | undefined;
  let failures = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      if (performance.now() >= deadline) {
        const now = await progressOf();
        // A server that restarts again and again logs something each time.
        if (now === progress || !isThere) break;
        progress = now;
        deadline = performance.now() + READY_TIMEOUT_MS;
      }
      const seen = await look(site);
      if (seen.client) {
        const started = launched !== undefined && (launched.pid ?? seen.pid) === seen.pid;
        if (started && binaries) await forgetOtherCopies(place, binaries);
        return { ...seen, started };
      }
      ({ answer, replayed } = seen);
      isThere = seen.state === 'busy';
      if (seen.state === 'absent' && launched?.running() !== true) {
        if (!turn) {
          turn = await takeTurn(place);
          // No other process starts one now, so the previous look may be out of date.
          if (turn) continue;
          // Another process may be making the cluster. That time does not count either.
          deadline = Math.max(deadline, Math.min(performance.now() + READY_TIMEOUT_MS, began + MAKING_MAX_MS));
        } else {
          if (launched && !CONTENDED.test(await launched.said())) failures += 1;
          if (launched && failures >= START_FAILURES_MAX) throw await startFailed(place, launched);
          if (launched) await sleep(RETRY_AFTER_MS, undefined, { signal });
          binaries ??= await findBinaries(place, log);
          await ensureCluster(place, binaries, creating, log);
          // The time to create a cluster on a slow disk does not count as waiting for the server.
          if (!launched) deadline = performance.now() + READY_TIMEOUT_MS;
          launched = await launch(place, binaries, log);
        }
      }
      const isEager = seen.state === 'absent' || performance.now() - began < EAGER_MS;
      await sleep(isEager ? POLL_MS : RECOVERING_POLL_MS, undefined, { signal });
    }
    throw await notReady(place, launched, answer);
  } finally {
    clearInterval(notice);
    turn?.();
  }
}

/** Only the end of a connection matters here, which follows every error; a lost one needs no end. */
export const ignoreLoss = (): void => {};

/** Looks once, without starting a server or waiting for one. */
export async function look({ place, createClient }: Site): Promise<Reached | Silent> {
  const lock = await readLock(place.location);
  if (!lock) return { state: 'absent' };
  const connection = await connectionTo(place, lock);
  if (!connection) return silent(place, lock);

  const client = createClient({
    ...connection,
    ssl: false,
    application_name: presenceOf(place),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  client.on('error', ignoreLoss);
  const lost = new Promise<void>((done) => client.once('end', () => done()));
  try {
    await client.connect();
    // The presence connection must not keep a process alive. (The types of pg do not list this method.)
    (client as Client & { unref?(): void }).unref?.();
    if (await isThisCluster(client, place, lock)) {
      const recovering = await recoveryOf(client, place);
      if (recovering !== undefined) {
        await client.end().catch(ignoreLoss);
        return recovering;
      }
      const pid = (await serves(lock.pid, place.location)) ? lock.pid : undefined;
      return { client, connection, pid, lost };
    }
  } catch (error) {
    void client.end().catch(ignoreLoss);
    if (error instanceof Unusable) throw error;
    return meaningOf(error, place, lock, connection);
  }
  await client.end().catch(ignoreLoss);
  return silent(place, lock);
}

/** Interrupts a server: INT rolls back and ends with a checkpoint, QUIT aborts and leaves recovery to the next start. */
export async function signalServer({ place, log }: Site, pid: number, signal: 'INT' | 'QUIT'): Promise<void> {
  if (!(await serves(pid, place.location))) return;
  if (process.platform === 'win32') {
    // Windows knows no such signals; the server listens for them on a pipe that pg_ctl can use.
    await run((await findBinaries(place, log)).pg_ctl, ['kill', signal, String(pid)], undefined);
    return;
  }
  try {
    process.kill(pid, `SIG${signal}`);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/** The address of the server of a lock file; undefined while the file has none yet. */
async function connectionTo(place: Place, lock: Lock): Promise<Connection | undefined> {
  const who = { user: place.name, database: place.name };
  const password = await passwordOf(place);
  if (password !== undefined)
    return lock.port > 0 ? { host: '127.0.0.1', port: lock.port, ...who, password } : undefined;
  const host = fitsSocket(place.location) ? place.location : lock.socketDir;
  return host === '' ? undefined : { host, port: SOCKET_PORT, ...who };
}

/**
 * True when the server that answered has its data here. A socket inside the cluster is its own. The lock file of a
 * copied folder may name the socket or port of the original.
 */
async function isThisCluster(client: Client, place: Place, lock: Lock): Promise<boolean> {
  const { rows } = await client.query(
    "SELECT system_identifier::text AS id, current_setting('data_directory') AS folder FROM pg_control_system()",
  );
  const { id, folder } = rows[0] as { id: string; folder: string };
  if (id !== (await systemIdOf(place.location))) return false;
  if ((await passwordOf(place)) === undefined && fitsSocket(place.location)) return true;
  const [theirs, ours] = await Promise.all([folder, place.location].map((path) => realpath(path).catch(() => path)));
  return theirs === ours || (process.platform !== 'win32' && (await serves(lock.pid, place.location)));
}

/**
 * A replaying server answers queries long before the end, and accepts no writes. Undefined: the replay has ended, or
 * the server is a standby. It throws when the server has reached its recovery target and is paused.
 */
async function recoveryOf(client: Client, place: Place): Promise<Silent | undefined> {
  const { rows } = await client.query(`
    SELECT pg_last_wal_replay_lsn()::text AS replayed, pg_get_wal_replay_pause_state() AS pause WHERE pg_is_in_recovery()`);
  const [row] = rows as { replayed: string; pause: string }[];
  if (row === undefined || (await stat(join(place.location, 'standby.signal')).catch(absent))) return undefined;
  if (row.pause !== 'paused') return { state: 'busy', answer: 'recovering', replayed: row.replayed };
  throw new Unusable(
    `O PostgreSQL embutido em ${place.location} chegou ao momento pedido da recuperação (${row.replayed}) e espera: só aceita leituras. ` +
      `Confira-o e conclua com select pg_wal_replay_resume(); ` +
      `com recovery_target_action = 'promote' a recuperação se conclui sozinha.`,
  );
}

const COMPLAINT = /\b(FATAL|DETAIL|HINT): /;
/** A recovering server logs its progress every ten seconds, and dozens of refusals in between. */
const REFUSALS_MAX_BYTES = 16_000;

/** The last line of the log that is no refusal of an early connection. */
async function lastSaid(place: Place): Promise<string | undefined> {
  return (await logSince(place, 0, REFUSALS_MAX_BYTES)).split('\n').findLast((line) => !COMPLAINT.test(line));
}

/** The process alone shows whether a silent server is starting or ending, or absent. */
async function silent(place: Place, lock: Lock, answer = ''): Promise<Silent> {
  return { state: (await serves(lock.pid, place.location)) ? 'busy' : 'absent', answer };
}

/** The meaning of a failed connection: no server, not ready yet, or a fault that only the user can mend. */
async function meaningOf(error: unknown, place: Place, lock: Lock, connection: Connection): Promise<Silent> {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  // An error without a code carries the library's own text for silence.
  const answer = code === message ? '' : message;
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    // A process number proves nothing on Windows; starting a server gives the proof.
    return process.platform === 'win32' ? { state: 'absent' } : silent(place, lock);
  }
  // The port may belong to another program now, whose answer can be anything.
  if (connection.password !== undefined) return silent(place, lock, answer);
  if (code === 'EACCES' || code === 'EPERM') {
    throw new Unusable(
      `Sem permissão para falar com o PostgreSQL embutido em ${connection.host}: ` +
        `rode este comando com a conta dona de ${place.location} ou como root (sudo).`,
      { cause: error },
    );
  }
  // Refusals of the login (28…) and a dropped database (3D000) do not pass with time; all else does.
  if (/^(28|3D)/.test(code)) {
    throw new Unusable(
      `O PostgreSQL embutido em ${place.location} recusou a conexão: ${answer}. ` +
        `Confira pg_hba.conf e se o banco e o usuário ${place.name} existem.`,
      { cause: error },
    );
  }
  return { state: 'busy', answer };
}

async function launch(place: Place, binaries: Binaries, log: Logger): Promise<Launched> {
  const usesTcp = (await passwordOf(place)) !== undefined;
  const socketDir = usesTcp ? undefined : await openSocketDir(place);
  const lastPort = (await readLock(place.location))?.port;
  const port = usesTcp ? await freePort(lastPort) : SOCKET_PORT;
  await removeForeignLock(place.location, socketDir, log);
  const file = await openLog(place);
  try {
    const position = (await file.stat()).size;
    const said = () => logSince(place, position);
    if (process.platform === 'win32') return await launchOnWindows(place, binaries, port, said);

    // The option takes a list of folders, in which quotes protect commas and spaces.
    const listen = socketDir === undefined ? [] : ['-k', `"${socketDir.replaceAll('"', '""')}"`];
    const settings = ['-c', `config_file=${namedFileOf(place, 'conf')}`, '-p', String(port)];
    // A separate process group: Ctrl-C in the terminal is for the service, which stops the server after it has drained.
    const child = spawn(binaries.postgres, ['-D', place.location, ...settings, ...listen], {
      ...childOptions(place.runAs),
      detached: true,
      stdio: ['ignore', file.fd, file.fd],
    });
    let running = true;
    let complaint = '';
    child.once('exit', () => {
      running = false;
    });
    child.once('error', (error) => {
      running = false;
      complaint = error.message;
    });
    child.unref();
    return { pid: child.pid, running: () => running, said: async () => complaint || said() };
  } finally {
    await file.close();
  }
}

/** pg_ctl starts the server, because it can drop the rights of an administrator, with which a server refuses to run. */
async function launchOnWindows(
  place: Place,
  binaries: Binaries,
  port: number,
  said: () => Promise<string>,
): Promise<Launched> {
  // A path within the option would need quotes for cmd.exe; a bare name suffices in the working folder.
  const options = `-c config_file=${basename(namedFileOf(place, 'conf'))} -p ${port}`;
  const args = ['start', '-W', '-D', place.location, '-l', logPathOf(place), '-o', options];
  const child = spawn(binaries.pg_ctl, args, {
    ...childOptions(undefined),
    cwd: place.location,
    detached: true,
    stdio: 'ignore',
  });
  const began = performance.now();
  const code = await new Promise((done) => {
    child.once('exit', done);
    child.once('error', done);
  });
  return { pid: undefined, running: () => code === 0 && performance.now() - began < PG_CTL_GRACE_MS, said };
}

/** The port of the last start if it is free, so that existing pools find the server again; else any free port. */
async function freePort(preferred: number | undefined): Promise<number> {
  for (const port of preferred ? [preferred, 0] : [0]) {
    const server = createServer();
    const found = await new Promise<number | undefined>((done) => {
      server.once('error', () => done(undefined));
      server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
        const address = server.address();
        done(typeof address === 'object' && address ? address.port : undefined);
      });
    });
    await new Promise((done) => server.close(done));
    if (found !== undefined) return found;
  }
  throw new Unusable('Não há porta livre em 127.0.0.1 para o PostgreSQL embutido.');
}

async function startFailed(place: Place, launched: Launched): Promise<Error> {
  return new Unusable(
    `O PostgreSQL embutido não iniciou em ${place.location}. O que ele disse:\n${await launched.said()}\n` +
      `O log inteiro está em ${logPathOf(place)}. Os dados não foram alterados.`,
  );
}

async function notReady(place: Place, launched: Launched | undefined, answer = ''): Promise<Error> {
  const lock = await readLock(place.location);
  const isServer = lock !== undefined && (await serves(lock.pid, place.location));
  const advice = launched?.running()
    ? 'Ele continua se recuperando em segundo plano: tente de novo em alguns instantes.'
    : isServer && answer === ''
      ? await adviseOnSilence(lock.pid, place)
      : `Se o processo ${lock?.pid ?? '?'} não for um PostgreSQL, apague ${join(place.location, 'postmaster.pid')}; ` +
        'se for e não responder, encerre-o com kill -QUIT.';
  return new NotReady(
    `O PostgreSQL embutido em ${place.location} não ficou pronto em ${READY_TIMEOUT_MS / 1000} s` +
      `${answer && ` (resposta: ${answer})`}. ${advice} Veja o log em ${logPathOf(place)}.`,
  );
}

/** The process state of Linux shows why a server is silent. */
async function adviseOnSilence(pid: number, { location }: Place): Promise<string> {
  const [, state] = /^State:\s*(\S)/m.exec((await readFile(`/proc/${pid}/status`, 'utf8').catch(absent)) ?? '') ?? [];
  const then = 'e inicie de novo; nada que foi confirmado se perde.';
  if (state === 'T' || state === 't')
    return `O processo ${pid} está parado (por SIGSTOP ou por um depurador): faça-o seguir com kill -CONT ${pid} ${then}`;
  const disk = `confira o disco em que fica ${location}`;
  if (state === 'D') return `O processo ${pid} espera pelo disco: ${disk} ${then}`;
  return `O processo ${pid} está vivo e não responde: ${disk}; se estiver bem, encerre o processo com kill -QUIT ${pid} ${then}`;
}
