/**
 * HTTP as the rest of the code sees it: a request comes in, an answer goes out. An obstacle to reaching the route is a trouble, which is
 * answered as well. Limits and time-outs of the server are set here.
 */
import { constants } from 'node:crypto';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type Socket, Server as TcpServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { HEADERS_MAX_BYTES } from '../../published/http-limits.ts';
import { answerBroken, type OnTrouble, watchHeads } from './broken-http.ts';
import { shareConnections } from './connections.ts';
import { endInOrder, untilNobodyComes } from './end-in-order.ts';
import { type Exchange, findObstacle, hasBody, isAnswered, requestOf, send } from './exchange.ts';
import { listen, type Place } from './listen.ts';
import { openTurns } from './pipelined.ts';
import { type Found, type HttpRoute, openRouter } from './router.ts';

/** An `import` of node:http would load the undici inside Node, which its exports name. */
const { createServer } = process.getBuiltinModule('node:http');

/** The parser accepts more than the limit, so that the refusal of long headers can name the municipality. */
const HEADERS_PARSED_MAX_BYTES = 8 * HEADERS_MAX_BYTES;
/** Honest headers come in one packet or a few. A slower client only holds the connection. */
const HEADERS_TIMEOUT_MS = 15_000;
/** The largest body takes 50 s on a line of 160 kbit/s. */
export const REQUEST_TIMEOUT_MS = 60_000;
/** Interval at which Node checks the two time-outs above. */
const TIMEOUT_LOOK_MS = 5_000;
/** Longer than the 60 s of the usual proxies: the proxy closes first, and never sends into a closing connection. */
export const KEEP_ALIVE_MS = 75_000;
/** A connection without a byte in either direction; longer than any statement of the database may take. */
const SILENCE_MS = 120_000;
/** The limit is far above the needs of integrators, and within the open files that a Linux process usually has. */
export const CONNECTIONS_MAX = 10_000;

export type HttpOptions = {
  /** Certificate and key in PEM: connections are TLS, and a client may present a certificate. Absent: plain HTTP. */
  readonly tls?: TlsKeys | undefined;
  readonly routes: readonly HttpRoute[];
  readonly onTrouble: OnTrouble;
  /** Connections that may be open. */
  readonly connectionsMax: number;
};

export type TlsKeys = { readonly cert: string; readonly key: string };

export type HttpServer = {
  /** `http://127.0.0.1:8080`, with `https` for TLS: the listening address, as a client on this host would write it. */
  readonly address: string;
  /**
   * Serves `drainMs` milliseconds longer, ending each connection with its next answer. Then the server stops accepting, waits for the
   * requests in progress, and cuts off the rest.
   */
  close(drainMs?: number): Promise<void>;
};

/** A server that accepts its own connections. */
export async function listenHttp({ host, port, socket, ...options }: HttpOptions & Place): Promise<HttpServer> {
  const { server, ending } = answerHttp(options);
  return {
    address: await listen(server, { host, port, socket }, options.tls !== undefined),
    close: async (drainMs = 0) => {
      ending.begin();
      if (drainMs > 0) await pause(drainMs);
      ending.hold();
      await untilNobodyComes(server);
      // The close of the TCP server. The one of the HTTP server would also cut off connections that are about to send a request.
      TcpServer.prototype.close.call(server);
      await ending.finish();
    },
  };
}

/** Answers connections that another process has accepted. */
export type HandedHttp = ReturnType<typeof answerHanded>;

export function answerHanded(options: HttpOptions) {
  const { server, ending } = answerHttp(options);
  // Node checks the time-outs of connections after this event.
  server.emit('listening');
  return {
    ...ending,
    take: (socket: Socket): void => {
      // The value that Node itself sets: an HTTP server ends its connections, a TLS server allows them to end.
      socket.allowHalfOpen = options.tls === undefined;
      server.emit('connection', socket);
    },
  };
}

function answerHttp({ tls, routes, onTrouble, connectionsMax }: HttpOptions) {
  const isTls = tls !== undefined;
  // Longer addresses are refused by `findObstacle`.
  const findRoute = openRouter(routes, HEADERS_PARSED_MAX_BYTES);
  const lastOf = new WeakMap<Socket, Exchange>();
  const turns = openTurns();
  const server = openServer(tls);
  shareConnections(server, connectionsMax);
  const ending = endInOrder(server, isTls, (socket) => isAnswered(lastOf.get(socket)));
  const heads = watchHeads(server, isTls, (socket) => lastOf.get(socket)?.incoming.complete === false);
  const broken = answerBroken(lastOf, heads, onTrouble);

  const serve = async (incoming: IncomingMessage, response: ServerResponse, found: Found): Promise<void> => {
    const isHeldBack = incoming.headers.expect !== undefined;
    const own = { broken: undefined, endReading: undefined, answerNow: undefined };
    const exchange: Exchange = { incoming, response, isHeldBack, ...own };
    const { socket } = incoming;
    const before = lastOf.get(socket)?.response;
    lastOf.set(socket, exchange);
    heads.forget(socket, hasBody(incoming));
    if (before !== undefined && !before.writableFinished && !(await turns.waitForTurn(socket, before))) return;
    const request = requestOf(exchange, 'params' in found ? found.params : {});
    const obstacle = findObstacle(incoming);
    const held = ending.held();
    if (held !== undefined) await held;
    try {
      const answer = await (obstacle !== undefined
        ? onTrouble(obstacle, request, undefined)
        : 'handle' in found
          ? found.handle(request)
          : onTrouble(found.trouble, request, found.allow));
      send(exchange, request, answer, ending.isEnding() || turns.isCrowded(socket));
    } catch {
      // Routes and troubles answer their own bugs; the connection ends if there is no answer.
      response.destroy();
    }
  };
  const take = (incoming: IncomingMessage, response: ServerResponse): void =>
    void serve(incoming, response, findRoute(incoming.method, incoming.url ?? ''));
  server.on('request', take);
  // `readBody` asks the sender to continue, so that a refused body is never sent.
  server.on('checkContinue', take);
  server.on('checkExpectation', (incoming, response) => void serve(incoming, response, { trouble: 'expectation' }));
  server.on('connect', ({ method, url = '' }, socket: Socket) => {
    const found = findRoute(method, url);
    if ('trouble' in found) void broken.write(socket, found.trouble, found.allow, url);
  });
  server.on('clientError', (error, socket) => void broken.answer(error, socket as Socket));
  return { server, ending };
}

/** Configuration of Node's HTTP server, with TLS or without. */
function openServer(tls: TlsKeys | undefined): Server {
  const options: ServerOptions = {
    maxHeaderSize: HEADERS_PARSED_MAX_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: TIMEOUT_LOOK_MS,
    // `findObstacle` checks this, because Node refuses with its own message.
    requireHostHeader: false,
  };
  // Each municipality decides which authorities it trusts, so any certificate is accepted here and judged later. A resumed session has lost
  // the authorities that came with the certificate, so session tickets are off.
  const asking = { requestCert: true, rejectUnauthorized: false, secureOptions: constants.SSL_OP_NO_TICKET };
  const server = tls === undefined ? createServer(options) : createTlsServer({ ...options, ...tls, ...asking });
  // The size of the headers is limited. A limit on their number would silently drop some.
  server.maxHeadersCount = 0;
  server.setTimeout(SILENCE_MS);
  return server;
}
