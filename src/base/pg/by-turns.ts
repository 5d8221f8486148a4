/**
 * The statements of one turn of the event loop leave in one piece (D-391). A server sends its answers at each `Sync`, the end of a request.
 * Statements of a transaction share one, so that all their answers come in one piece. `pg` needs an end after each, and gets it here.
 */
import type { Socket } from 'node:net';
import type { Client, PoolClient } from './pg.ts';

/** The part of the connection of `pg` that is used here. */
export type OwnConnection = NodeJS.EventEmitter & {
  readonly stream: Socket;
  sync(): void;
  query(text: string): void;
};

export function connectionOf(client: object): OwnConnection {
  return (client as { readonly connection: OwnConnection }).connection;
}

/** SQLSTATE of a statement that the server skips after a failed one of its transaction. */
export const ABORTED = '25P02';

/** Connections with a transaction whose statements share their `Sync`. */
const sharing = new WeakSet<OwnConnection>();

/** `isSharing`: the statements from now on belong to one transaction. */
export function shareSync(client: PoolClient, isSharing: boolean): void {
  if (isSharing) sharing.add(connectionOf(client));
  else sharing.delete(connectionOf(client));
}

export function sendByTurns(client: Client): void {
  const connection = connectionOf(client);
  const [query, sync, send] = [
    client.query.bind(client),
    connection.sync.bind(connection),
    connection.query.bind(connection),
  ];
  /** One entry for each sent statement without an answer; true: the `Sync` of a later one ends it. */
  const sent: boolean[] = [];
  let corked: Socket | undefined;
  let isSyncDue = false;
  const syncNow = (): void => {
    if (!isSyncDue) return;
    isSyncDue = false;
    sent[sent.length - 1] = false;
    sync();
  };
  connection.sync = () => {
    isSyncDue = sharing.has(connection) && corked !== undefined;
    sent.push(isSyncDue);
    if (!isSyncDue) sync();
  };
  // A statement without parameters has its own end. The server would skip it after a failure that no `Sync` has ended.
  connection.query = (text) => {
    syncNow();
    sent.push(false);
    send(text);
  };
  const release = (): void => {
    syncNow();
    corked?.uncork();
    corked = undefined;
  };
  const ask = (...asked: Parameters<typeof query>): unknown => {
    if (corked === undefined) {
      corked = connection.stream;
      corked.cork();
      process.nextTick(release);
    }
    return query(...asked);
  };
  Object.assign(client, { query: ask });
  // The listeners of `pg` are there by now, and come first.
  client.once('connect', () => endEach(connection, sent));
}

/** Ends each answered statement whose `Sync` comes later; a failed one takes the rest along, which the server skips. */
function endEach(connection: OwnConnection, sent: boolean[]): void {
  let isOwn = false;
  const tell = (event: string, message: unknown): void => {
    isOwn = true;
    connection.emit(event, message);
    isOwn = false;
  };
  const end = (): void => {
    sent.shift();
    tell('readyForQuery', { status: 'T' });
  };
  for (const event of ['commandComplete', 'emptyQuery', 'closeComplete']) {
    connection.on(event, () => {
      if (sent[0] === true) end();
    });
  }
  connection.on('readyForQuery', () => {
    if (!isOwn) sent.shift();
  });
  connection.on('errorMessage', () => {
    if (isOwn) return;
    while (sent[0] === true) {
      end();
      tell('errorMessage', Object.assign(new Error('the transaction has failed already'), { code: ABORTED }));
    }
  });
}
