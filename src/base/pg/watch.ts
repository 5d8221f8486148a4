/**
 * A pool whose connections are watched, since a connection that dies in silence says nothing. After a while of silence the server is asked
 * over a connection of its own. Without an answer the server is gone: every connection is given up, and requests fail at once until it
 * answers again.
 *
 * Time is counted in looks, not by the clock: a process that stood still blames nobody.
 */
import type { Socket } from 'node:net';
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
/** Silence after which the server is asked whether it is there. */
const DOUBT_LOOKS = 2 * LOOKS_A_SECOND;
/** The question is answered within milliseconds. */
const QUESTION_LOOKS = LOOKS_A_SECOND;
/** Between two questions to a server that answers, and to one that does not. */
const ASK_AGAIN_LOOKS = 2 * LOOKS_A_SECOND;
const RETURN_LOOKS = LOOKS_A_SECOND / 2;
/** Silence of one connection to a server that answers others: statements of ours take milliseconds, a disk may take seconds. */
const DEAD_LOOKS = 8 * LOOKS_A_SECOND;
/** Of what may be long, which the server ends itself after half a minute. */
const SLOW_LOOKS = 35 * LOOKS_A_SECOND;
/** After the server let no more connections in, and between one more and the next. */
const ONE_MORE_LOOKS = 2 * LOOKS_A_SECOND;
/** Questions without an answer, one after the other, by which a server is gone for work that may take an hour and begins again. */
const QUESTIONS_OF_THE_PATIENT = 10;

type Watched = {
  /** Undefined where there is but one. */
  readonly server: Server | undefined;
  /** It is not used again. */
  isLeft: boolean;
  /** Somebody waits for it: it connects, or is in use. */
  isAwaited: boolean;
  /** The server let it in. */
  isOpen: boolean;
  /** Bytes that it has ever heard, and for how many looks no more of them. */
  bytes: number;
  silent: number;
  limit: number;
  /** The first refusal since it is in use: what follows in a transaction is refused for being after it (25P02). */
  refusal: Error | undefined;
};

const watched = new WeakMap<object, Watched>();

/** What this client is asked until it is given back takes as long as it takes: its own limits are on the server. */
export function mayTakeLong(client: ClientBase): void {
  const one = watched.get(client);
  if (one !== undefined) one.limit = Number.POSITIVE_INFINITY;
}

/** Why a statement was refused, where it says no more than that one before it was. */
export function causeOf(error: unknown, client: ClientBase): unknown {
  const isAfter = (error as { code?: string }).code === AFTER_REFUSAL;
  return (isAfter ? watched.get(client)?.refusal : undefined) ?? error;
}

const AFTER_REFUSAL = '25P02';

/** What is known of the server of a pool. */
export type ServerState = Pick<
  ServerWatch,
  'absence' | 'refusesConnections' | 'refusesWrites' | 'config' | 'leave' | 'leaveReader'
>;

const servers = new WeakMap<Pool, ServerState>();

/** Undefined of what is no pool of ours. */
export function serverOf(pool: Pool): ServerState | undefined {
  return servers.get(pool);
}

/** How long is waited: as a request can, as a command that the server itself limits, or as long as the server answers anybody. */
export type Patience = 'request' | 'command' | 'endless';

const LIMITS: Readonly<Record<Patience, number>> = {
  request: DEAD_LOOKS,
  command: SLOW_LOOKS,
  endless: Number.POSITIVE_INFINITY,
};

/** A server is asked whether it is there. */
type Asked = {
  readonly client: Client;
  /** Bytes of its answer so far, and for how many looks no more of them. */
  bytes: number;
  looks: number;
};

/** All that may have the database are asked. `isHeard`: another connection heard something meanwhile. */
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

/** Looks at the connections of one pool while there are any, or while the server is gone. */
class ServerWatch implements Overview {
  /** It answers nothing, or none of several takes writes: makes the error for who comes meanwhile. */
  absence: (() => StoreUnavailable) | undefined;
  /** What failed when it was last tried: opening a connection where there was no other, writing. */
  refusesConnections = false;
  refusesWrites = false;
  pool: FrugalPool | undefined;
  private readonly connection: Connection;
  private readonly servers: readonly Server[];
  /** The one of several that new connections go to. */
  private current: Server | undefined;
  private readonly limit: number;
  private readonly questionsMax: number;
  private readonly clients = new Map<Client, Watched>();
  private timer: NodeJS.Timeout | undefined;
  private question: Question | undefined;
  /** Questions without an answer, one after the other. */
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

  /** How the server is reached that new connections go to. */
  get config(): PoolConfig {
    return configOf(this.connection, this.current);
  }

  countOpen(): number {
    return this.clients.values().reduce((count, { isOpen }) => count + Number(isOpen), 0);
  }

  /** A new connection of the pool; to a server that is gone it is refused at once. */
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

  /** A connection is taken for a use, or given back: what was known of its silence is of the use before. */
  renew(client: ClientBase, isAwaited: boolean): void {
    const one = watched.get(client);
    if (one === undefined) return;
    Object.assign(one, { isAwaited, silent: 0, limit: this.limit, refusal: undefined });
    // The pool does not keep what is at its end.
    if (!isAwaited && one.isLeft) (client as Client).end().catch(() => undefined);
  }

  /** Ends every connection, in the midst of what it is asked, as the end of the process would. */
  readonly leave = (): void => {
    for (const one of this.clients.keys()) giveUp(one);
  };

  /** The server of this connection was found to take no writes: where another may, no connection to it is used again. */
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

  /** A connection to one of several servers is had where that takes writes, and otherwise fails. */
  private connectToWriter(client: Client, server: Server): void {
    const reports = followReports(connectionOf(client), () => this.leaveReader(client));
    checkOnceConnected(client, server, (met) => met(reports.isReadOnly ? takesNoWrites() : undefined));
  }

  /** The reports of a pooler may be old. */
  private connectThroughPooler(client: Client, server: Server | undefined): void {
    prepareForPooler(client);
    checkOnceConnected(client, server, (met) => {
      const judge = ({ isReadOnly }: { readonly isReadOnly: boolean }): void =>
        met(isReadOnly && server !== undefined ? takesNoWrites() : undefined);
      meetPooler(client).then(judge, met);
    });
  }

  /** Until a question finds a server, who comes fails at once. */
  private beginAbsence(absence: () => StoreUnavailable): void {
    this.absence = absence;
    this.unanswered = this.questionsMax;
    this.restLooks = RETURN_LOOKS;
    this.begin();
  }

  private begin(): void {
    this.timer ??= setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Who has none waits for the first. */
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

  /** Gives up who is silent for too long. */
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

  /** Asks every server that may have the database over a connection of its own. */
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

  /** Why there is no server to go on with; undefined: there is one, and connections to others are given up. */
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
    // What it is nobody knows: it may be the one.
    if (answers.includes('there')) return undefined;
    const failures = answers.map((answer, place) => [all[place]!, answer instanceof Error ? answer : takesNoWrites()]);
    return () => new NoServer(new Map(failures as [Server, Error][]));
  }
}

type Connected = (error?: Error | null) => void;

/** Where the connection was to lead that failed so. */
const serverOfFailure = new WeakMap<Error, Server>();

/** What it is connected to is looked at before anybody gets it; a failure is told as one to connect. */
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
        client.end().catch(() => undefined);
        fail(failure);
      });
    });
  };
  Object.assign(client, { connect: connectChecked });
}

function configOf({ servers: _all, ...connection }: Connection, server: Server | undefined): PoolConfig {
  return server === undefined ? connection : { ...connection, connectionString: server.connectionString };
}

/** A question takes several turns of ours and messages of the server: one that gets on is slow, and not given up. */
function lookAtQuestion(question: Question, isHeard: boolean): void {
  question.isHeard ||= isHeard;
  for (const asked of question.asked) {
    const { bytesRead } = socketOf(asked.client);
    asked.looks = bytesRead === asked.bytes ? asked.looks + 1 : 0;
    asked.bytes = bytesRead;
    if (asked.looks > QUESTION_LOOKS) giveUp(asked.client);
  }
}

/** Its pool is told at once that it cannot connect. */
function refuse(client: Client, absence: () => StoreUnavailable): void {
  const connect = (callback: (error: Error) => void): void => process.nextTick(callback, absence());
  Object.assign(client, { connect });
}

function silence(): StoreUnavailable {
  return new StoreUnavailable('gone', 'the database answers nothing');
}

/** What waits for it fails; the pool opens another. */
function giveUp(client: Client): void {
  socketOf(client).destroy(silence());
}

/** `pg` has no other way to end a connection that does not answer. */
function socketOf(client: Client): Socket {
  return connectionOf(client).stream;
}

/** What is asked in one turn is sent in one piece, so that the server is woken once for it (D-391). */
function sendByTurns(client: Client): void {
  const query = client.query.bind(client);
  let held: Socket | undefined;
  const release = (): void => {
    held?.uncork();
    held = undefined;
  };
  const ask = (...asked: Parameters<typeof query>): unknown => {
    if (held === undefined) {
      held = socketOf(client);
      held.cork();
      process.nextTick(release);
    }
    return query(...asked);
  };
  Object.assign(client, { query: ask });
}

type OwnConnection = Parameters<typeof followReports>[0] & {
  readonly stream: Socket;
  on(event: 'errorMessage', heard: (refusal: Error) => void): void;
};

function connectionOf(client: Client): OwnConnection {
  return (client as unknown as { readonly connection: OwnConnection }).connection;
}
