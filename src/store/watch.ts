/**
 * A pool whose connections are watched, since a connection that dies in silence says nothing. After a while of silence the server is asked
 * over a connection of its own. Without an answer the server is gone: every connection is given up, and requests fail at once until it
 * answers again.
 *
 * Time is counted in looks, not by the clock: a process that stood still blames nobody.
 */
import type { Socket } from 'node:net';
import { FrugalPool } from './frugal-pool.ts';
import { Client, type ClientBase, type Pool, type PoolConfig } from './pg.ts';
import { isSqlState, StoreUnavailable, unavailabilityOf } from './unavailable.ts';

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
export type ServerState = Pick<ServerWatch, 'isGone' | 'refusesConnections' | 'refusesWrites' | 'config' | 'leave'>;

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

/** The server is asked whether it is there. */
type Question = {
  readonly client: Client;
  /** Bytes of its answer so far, and for how many looks no more of them. */
  bytes: number;
  looks: number;
  /** Another connection heard something meanwhile. */
  isHeard: boolean;
};

export function openWatchedPool(config: PoolConfig, patience: Patience): Pool {
  const watch = new ServerWatch(config, patience);

  class WatchedClient extends Client {
    constructor(settings?: PoolConfig) {
      super(settings);
      watch.add(this);
    }
  }

  const own = { ...config, Client: WatchedClient as unknown as new () => ClientBase };
  const pool = new FrugalPool(own, () => watch.countOpen());
  watch.pool = pool;
  servers.set(pool, watch);
  pool.on('acquire', (client) => watch.renew(client, true));
  pool.on('release', (_error, client) => watch.renew(client, false));
  return pool;
}

/** Looks at the connections of one pool while there are any, or while the server is gone. */
class ServerWatch {
  /** It answers nothing. */
  isGone = false;
  /** What failed when it was last tried: opening a connection where there was no other, writing. */
  refusesConnections = false;
  refusesWrites = false;
  /** How it is reached. */
  readonly config: PoolConfig;
  pool: FrugalPool | undefined;
  private readonly limit: number;
  private readonly questionsMax: number;
  private readonly clients = new Map<Client, Watched>();
  private timer: NodeJS.Timeout | undefined;
  private question: Question | undefined;
  /** Questions without an answer, one after the other. */
  private unanswered = 0;
  private restLooks = 0;
  private oneMoreLooks = 0;

  constructor(config: PoolConfig, patience: Patience) {
    this.config = config;
    this.limit = LIMITS[patience];
    this.questionsMax = patience === 'endless' ? QUESTIONS_OF_THE_PATIENT : 1;
  }

  countOpen(): number {
    return this.clients.values().reduce((count, { isOpen }) => count + Number(isOpen), 0);
  }

  /** A new connection of the pool; to a server that is gone it is refused at once. */
  add(client: Client): void {
    if (this.isGone) {
      refuse(client);
      return;
    }
    const one: Watched = {
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
      this.oneMoreLooks = ONE_MORE_LOOKS;
    });
    const noteFailure = (): void => {
      if (!isOneTooMany() || this.countOpen() === 0) this.refusesConnections = true;
    };
    watched.set(client, one);
    this.clients.set(client, one);
    sendByTurns(client);
    client.once('connect', () => {
      one.isOpen = true;
      this.refusesConnections = false;
      client.off('end', noteFailure);
    });
    client.once('end', noteFailure);
    client.once('end', () => this.clients.delete(client));
    this.timer ??= setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** A connection is taken for a use, or given back: what was known of its silence is of the use before. */
  renew(client: object, isAwaited: boolean): void {
    const one = watched.get(client);
    if (one !== undefined) Object.assign(one, { isAwaited, silent: 0, limit: this.limit, refusal: undefined });
  }

  /** Ends every connection, in the midst of what it is asked, as the end of the process would. */
  readonly leave = (): void => {
    for (const one of this.clients.keys()) giveUp(one);
  };

  private look(): void {
    this.oneMoreLooks -= 1;
    if (this.oneMoreLooks <= 0) {
      this.pool?.tryOneMore();
      this.oneMoreLooks = ONE_MORE_LOOKS;
    }
    const { isHeard, isDoubted } = this.lookAtClients();
    if (this.question !== undefined) lookAtQuestion(this.question, isHeard);
    else if (this.restLooks > 0) this.restLooks -= 1;
    else if (isDoubted || this.unanswered > 0) this.ask();
    if (this.clients.size > 0 || this.question !== undefined || (this.isGone && !this.pool?.ending)) return;
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

  /** Asks the server over a connection of its own. */
  private ask(): void {
    const client = new Client({ ...this.config, pipeline: false } as PoolConfig);
    const own: Question = { client, bytes: 0, looks: 0, isHeard: false };
    this.question = own;
    void answers(client).then((isThere) => {
      this.question = undefined;
      this.restLooks = isThere ? ASK_AGAIN_LOOKS : RETURN_LOOKS;
      this.unanswered = isThere || own.isHeard ? 0 : this.unanswered + 1;
      this.isGone = this.unanswered >= this.questionsMax;
      if (this.isGone) this.leave();
    });
  }
}

/** A question takes several turns of ours and messages of the server: one that gets on is slow, and not given up. */
function lookAtQuestion(question: Question, isHeard: boolean): void {
  question.isHeard ||= isHeard;
  const { bytesRead } = socketOf(question.client);
  question.looks = bytesRead === question.bytes ? question.looks + 1 : 0;
  question.bytes = bytesRead;
  if (question.looks > QUESTION_LOOKS) giveUp(question.client);
}

/** Its pool is told at once that it cannot connect. */
function refuse(client: Client): void {
  const connect = (callback: (error: Error) => void): void => process.nextTick(callback, silence());
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

type OwnConnection = { readonly stream: Socket; on(event: 'errorMessage', heard: (refusal: Error) => void): void };

function connectionOf(client: Client): OwnConnection {
  return (client as unknown as { readonly connection: OwnConnection }).connection;
}

/** Whether the server says anything at all but that it is not there yet. Never rejects. */
async function answers(client: Client): Promise<boolean> {
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch (error) {
    return isSqlState((error as { code?: unknown }).code) && unavailabilityOf(error) !== 'restarting';
  } finally {
    // A socket that was given up is at its end already.
    client.end().catch(() => undefined);
  }
}
