/**
 * A pool that watches its connections, since a connection that dies in silence gives no sign. The server is asked over a separate
 * connection after a while of silence. It counts as gone without an answer: every connection is destroyed, and requests fail at once until
 * it answers again.
 *
 * Time is counted in looks, not by the clock, so that a suspended process blames no server (D-247).
 */

import type { Socket } from 'node:net';
import { ignoreLoss } from '../traces/ignoring.ts';
import { connectionOf, sendByTurns } from './by-turns.ts';
import { FrugalPool, type Overview } from './frugal-pool.ts';
import { Client, type ClientBase, type Pool, type PoolConfig } from './pg.ts';
import { meetPooler, prepareForPooler } from './pooled.ts';
import {
  type Answer,
  askServer,
  type Connection,
  followReports,
  NoServer,
  type Server,
  takesNoWrites,
} from './servers.ts';
import { StoreUnavailable, unavailabilityOf } from './unavailable.ts';

const LOOK_EVERY_MS = 250;
const LOOKS_A_SECOND = 1_000 / LOOK_EVERY_MS;
/** Silence after which the server is asked for a sign of life. */
const DOUBT_LOOKS = 2 * LOOKS_A_SECOND;
/** Limit of silence in the answer, which usually takes milliseconds. */
const QUESTION_LOOKS = LOOKS_A_SECOND;
/** Pauses between two questions: to a server that answers, and to one that does not. */
const ASK_AGAIN_LOOKS = 2 * LOOKS_A_SECOND;
const RETURN_LOOKS = LOOKS_A_SECOND / 2;
/** Silence of one connection to a server that answers others. Our statements take milliseconds, but a disk may take seconds. */
const DEAD_LOOKS = 8 * LOOKS_A_SECOND;
/** Silence allowed for long statements, which the server itself ends after half a minute. */
const SLOW_LOOKS = 35 * LOOKS_A_SECOND;
/** Pause after a refused connection, and between further attempts. */
const ONE_MORE_LOOKS = 2 * LOOKS_A_SECOND;
/** Consecutive unanswered questions after which a server counts as gone. They apply to work that may take an hour and would start again. */
const QUESTIONS_OF_THE_PATIENT = 10;

type Watched = {
  /** Undefined if there is only one server. */
  readonly server: Server | undefined;
  /** The connection must not be used again. */
  isLeft: boolean;
  /** The connection is being opened, or is in use. */
  isAwaited: boolean;
  /** The server accepted the connection. */
  isOpen: boolean;
  /** Bytes received so far, and the number of looks without further ones. */
  bytes: number;
  silent: number;
  limit: number;
  /** The first refusal in the current use. Later statements of the transaction are only refused with 25P02. */
  refusal: Error | undefined;
};

const watched = new WeakMap<object, Watched>();

/** Removes the silence limit of this client until it is released; its own limits are on the server. */
export function mayTakeLong(client: ClientBase): void {
  const one = watched.get(client);
  if (one !== undefined) one.limit = Number.POSITIVE_INFINITY;
}

/** The cause of a refused statement, if the error only says that an earlier one failed. */
export function causeOf(error: unknown, client: ClientBase): unknown {
  const isAfter = (error as { code?: string }).code === AFTER_REFUSAL;
  return (isAfter ? watched.get(client)?.refusal : undefined) ?? error;
}

const AFTER_REFUSAL = '25P02';

/** State of a pool's server. */
export type ServerState = Pick<
  ServerWatch,
  | 'absence'
  | 'refusesConnections'
  | 'refusesWrites'
  | 'hasCommitted'
  | 'noteCommit'
  | 'config'
  | 'leave'
  | 'leaveReader'
>;

const servers = new WeakMap<Pool, ServerState>();

/** Undefined for a foreign pool. */
export function serverOf(pool: Pool): ServerState | undefined {
  return servers.get(pool);
}

/** Limits of waiting: of a request, of a command that the server itself limits, or none while the server answers others. */
export type Patience = 'request' | 'command' | 'endless';

const LIMITS: Readonly<Record<Patience, number>> = {
  request: DEAD_LOOKS,
  command: SLOW_LOOKS,
  endless: Number.POSITIVE_INFINITY,
};

/** A server that is being asked. */
type Asked = {
  readonly client: Client;
  /** Bytes of its answer so far, and the number of looks without further ones. */
  bytes: number;
  looks: number;
};

/** All servers that may have the database are asked. `isHeard`: another connection received data meanwhile. */
type Question = { readonly asked: readonly Asked[]; isHeard: boolean };

export function openWatchedPool(config: Connection, patience: Patience): Pool {
  const watch = new ServerWatch(config, patience);

  class WatchedClient extends Client {
    constructor() {
      super(watch.config);
      watch.add(this);
    }
  }

  const own = { ...config, Client: WatchedClient as unknown as new () => ClientBase };
  const pool = new FrugalPool(own, watch);
  watch.pool = pool;
  servers.set(pool, watch);
  pool.on('acquire', (client) => watch.renew(client, true));
  pool.on('release', (_error, client) => watch.renew(client, false));
  return pool;
}

/** Checks the connections of one pool while there are any, or while the server is gone. */
class ServerWatch implements Overview {
  /** The server does not answer, or none of several accepts writes: makes the error for callers meanwhile. */
  absence: (() => StoreUnavailable) | undefined;
  /** Operations that failed at the last attempt: opening a connection while there was no other, and writing. */
  refusesConnections = false;
  refusesWrites = false;
  private committedAt = Number.NEGATIVE_INFINITY;
  pool: FrugalPool | undefined;
  private readonly connection: Connection;
  private readonly servers: readonly Server[];
  /** The server among several to which new connections go. */
  private current: Server | undefined;
  private readonly limit: number;
  private readonly questionsMax: number;
  private readonly clients = new Map<Client, Watched>();
  private timer: NodeJS.Timeout | undefined;
  private question: Question | undefined;
  /** Number of consecutive questions without an answer. */
  private unanswered = 0;
  private restLooks = 0;
  private oneMoreLooks = 0;

  constructor(connection: Connection, patience: Patience) {
    this.connection = connection;
    this.servers = connection.servers ?? [];
    this.current = this.servers[0];
    this.limit = LIMITS[patience];
    this.questionsMax = patience === 'endless' ? QUESTIONS_OF_THE_PATIENT : 1;
  }

  /** Connection parameters of the current server. */
  get config(): PoolConfig {
    return configOf(this.connection, this.current);
  }

  /** A transaction was committed within the last second. */
  get hasCommitted(): boolean {
    return performance.now() - this.committedAt < 1_000;
  }

  noteCommit(): void {
    this.committedAt = performance.now();
  }

  countOpen(): number {
    return this.clients.values().reduce((count, { isOpen }) => count + Number(isOpen), 0);
  }

  /** Registers a new connection of the pool; it is refused at once if the server is gone. */
  add(client: Client): void {
    if (this.absence !== undefined) {
      refuse(client, this.absence);
      return;
    }
    const one: Watched = {
      server: this.current,
      isLeft: false,
      isAwaited: true,
      isOpen: false,
      bytes: 0,
      silent: 0,
      limit: this.limit,
      refusal: undefined,
    };
    const isOneTooMany = (): boolean => !one.isOpen && unavailabilityOf(one.refusal) === 'crowded';
    connectionOf(client).on('errorMessage', (refusal) => {
      one.refusal ??= refusal;
      if (!isOneTooMany()) return;
      this.pool?.heedRefusal();
      this.oneMoreLooks = this.oneMoreAfter();
    });
    const noteFailure = (): void => {
      if (!isOneTooMany() || this.countOpen() === 0) this.refusesConnections = true;
    };
    watched.set(client, one);
    this.clients.set(client, one);
    sendByTurns(client);
    if (this.connection.isPooled) this.connectThroughPooler(client, one.server);
    else if (one.server !== undefined) this.connectToWriter(client, one.server);
    client.once('connect', () => {
      one.isOpen = true;
      this.refusesConnections = false;
      client.off('end', noteFailure);
    });
    client.once('end', noteFailure);
    client.once('end', () => this.clients.delete(client));
    this.begin();
  }

  /** Resets the state of a connection that is taken or released, because its silence belonged to the earlier use. */
  renew(client: ClientBase, isAwaited: boolean): void {
    const one = watched.get(client);
    if (one === undefined) return;
    Object.assign(one, { isAwaited, silent: 0, limit: this.limit, refusal: undefined });
    // The pool does not keep a connection that has ended.
    if (!isAwaited && one.isLeft) (client as Client).end().catch(ignoreLoss);
  }

  /** Destroys every connection, even in use, as the end of the process would. */
  readonly leave = (): void => {
    for (const one of this.clients.keys()) giveUp(one);
  };

  /** The server of this connection proved read-only. Its connections are not used again, if another server may accept writes. */
  readonly leaveReader = (client: object): void => {
    const server = watched.get(client)?.server;
    if (server === undefined) return;
    if (server === this.current) this.current = this.servers.find((other) => other !== server);
    for (const [other, one] of this.clients) {
      if (one.server !== server) continue;
      one.isLeft = true;
      if (!one.isAwaited) giveUp(other);
    }
  };

  isWorthwhile(error: Error, failures: Map<Server, Error>): boolean {
    const isCrowded = unavailabilityOf(error) === 'crowded';
    const server = serverOfFailure.get(error);
    if (server === undefined || (isCrowded && this.countOpen() > 0)) return isCrowded;
    failures.set(server, error);
    const isUntried = (one: Server): boolean => !failures.has(one);
    if (this.current === server || !isUntried(this.current!)) {
      this.current = this.servers.find(isUntried) ?? this.current;
      this.pool!.forgetRefusal();
    }
    if (this.servers.some(isUntried)) return true;
    const none = new NoServer(failures);
    if (none.isOutage) this.beginAbsence(() => new NoServer(failures));
    throw none;
  }

  /** Opens a connection to one of several servers, and fails if that server is read-only. */
  private connectToWriter(client: Client, server: Server): void {
    const reports = followReports(connectionOf(client), () => this.leaveReader(client));
    checkOnceConnected(client, server, (met) => met(reports.isReadOnly ? takesNoWrites() : undefined));
  }

  /** Opens a connection through a pooler, whose reports may be outdated. */
  private connectThroughPooler(client: Client, server: Server | undefined): void {
    prepareForPooler(client);
    checkOnceConnected(client, server, (met) => {
      const judge = ({ isReadOnly }: { readonly isReadOnly: boolean }): void =>
        met(isReadOnly && server !== undefined ? takesNoWrites() : undefined);
      meetPooler(client).then(judge, met);
    });
  }

  /** Callers fail at once until a question finds a server. */
  private beginAbsence(absence: () => StoreUnavailable): void {
    this.absence = absence;
    this.unanswered = this.questionsMax;
    this.restLooks = RETURN_LOOKS;
    this.begin();
  }

  private begin(): void {
    this.timer ??= setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Time until the next attempt; it is shorter while the pool has no connection. */
  private oneMoreAfter(): number {
    return this.countOpen() === 0 ? RETURN_LOOKS : ONE_MORE_LOOKS;
  }

  private look(): void {
    this.oneMoreLooks -= 1;
    if (this.oneMoreLooks <= 0) {
      this.pool?.tryOneMore();
      this.oneMoreLooks = this.oneMoreAfter();
    }
    const { isHeard, isDoubted } = this.lookAtClients();
    if (this.question !== undefined) lookAtQuestion(this.question, isHeard);
    else if (this.restLooks > 0) this.restLooks -= 1;
    else if (isDoubted || this.unanswered > 0) this.ask();
    if (this.clients.size > 0 || this.question !== undefined) return;
    if ((this.absence !== undefined || this.pool?.isRefused) && !this.pool?.ending) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Destroys connections that are silent for too long. */
  private lookAtClients(): { readonly isHeard: boolean; readonly isDoubted: boolean } {
    let isHeard = false;
    let isDoubted = false;
    for (const [client, one] of this.clients) {
      const { bytesRead } = socketOf(client);
      if (bytesRead !== one.bytes) {
        Object.assign(one, { bytes: bytesRead, silent: 0 });
        isHeard = true;
      } else if (one.isAwaited) {
        one.silent += 1;
        if (one.silent >= DOUBT_LOOKS) isDoubted = true;
        if (one.silent >= one.limit) giveUp(client);
      }
    }
    return { isHeard, isDoubted };
  }

  /** Asks every server that may have the database over a separate connection. */
  private ask(): void {
    const all = this.servers.length === 0 ? [undefined] : this.servers;
    const clients = all.map((server) => new Client(configOf({ ...this.connection, pipeline: false }, server)));
    const own: Question = { asked: clients.map((client) => ({ client, bytes: 0, looks: 0 })), isHeard: false };
    this.question = own;
    void Promise.all(clients.map(askServer)).then((answers) => {
      this.question = undefined;
      const absence = this.judge(answers);
      this.restLooks = absence === undefined ? ASK_AGAIN_LOOKS : RETURN_LOOKS;
      this.unanswered = absence === undefined || own.isHeard ? 0 : this.unanswered + 1;
      this.absence = this.unanswered >= this.questionsMax ? absence : undefined;
      if (this.absence !== undefined) this.leave();
    });
  }

  /** Error if there is no usable server; undefined: there is one, and connections to others are destroyed. */
  private judge(answers: readonly Answer[]): (() => StoreUnavailable) | undefined {
    const { current, servers: all } = this;
    if (current === undefined) return answers[0] instanceof Error ? silence : undefined;
    if (answers[all.indexOf(current)] === 'writes') return undefined;
    const writer = all[answers.indexOf('writes')];
    if (writer !== undefined) {
      this.current = writer;
      this.pool?.forgetRefusal();
      for (const [client, { server }] of this.clients) if (server !== writer) giveUp(client);
      return undefined;
    }
    // A server in an unknown state may be the writable one.
    if (answers.includes('there')) return undefined;
    const failures = answers.map((answer, place) => [all[place]!, answer instanceof Error ? answer : takesNoWrites()]);
    return () => new NoServer(new Map(failures as [Server, Error][]));
  }
}

type Connected = (error?: Error | null) => void;

/** The server of a failed connection. */
const serverOfFailure = new WeakMap<Error, Server>();

/** Checks a new connection before it is given out; a failed check counts as a failed connection. */
function checkOnceConnected(client: Client, server: Server | undefined, check: (met: Connected) => void): void {
  const connect = client.connect.bind(client) as (callback: Connected) => void;
  const connectChecked = (callback: Connected): void => {
    const fail = (failure: Error): void => {
      if (server !== undefined) serverOfFailure.set(failure, server);
      callback(failure);
    };
    connect((error) => {
      if (error) return fail(error);
      check((failure) => {
        if (!failure) return callback();
        client.end().catch(ignoreLoss);
        fail(failure);
      });
    });
  };
  Object.assign(client, { connect: connectChecked });
}

function configOf({ servers: _all, ...connection }: Connection, server: Server | undefined): PoolConfig {
  return server === undefined ? connection : { ...connection, connectionString: server.connectionString };
}

/** A question takes several turns of ours and messages of the server. A slow but progressing one is not aborted. */
function lookAtQuestion(question: Question, isHeard: boolean): void {
  question.isHeard ||= isHeard;
  for (const asked of question.asked) {
    const { bytesRead } = socketOf(asked.client);
    asked.looks = bytesRead === asked.bytes ? asked.looks + 1 : 0;
    asked.bytes = bytesRead;
    if (asked.looks > QUESTION_LOOKS) giveUp(asked.client);
  }
}

/** The pool learns at once that this client cannot connect. */
function refuse(client: Client, absence: () => StoreUnavailable): void {
  const connect = (callback: (error: Error) => void): void => process.nextTick(callback, absence());
  Object.assign(client, { connect });
}

function silence(): StoreUnavailable {
  return new StoreUnavailable('gone', 'the database answers nothing');
}

/** Waiting statements of the connection fail, and the pool opens another one. */
function giveUp(client: Client): void {
  socketOf(client).destroy(silence());
}

/** `pg` has no other way to end a connection that does not answer. */
function socketOf(client: Client): Socket {
  return connectionOf(client).stream;
}
