/**
 * HTTP as the rest of the room sees it: a request comes in, an answer goes out, and whatever keeps a request from its
 * route is a trouble to be answered like any other. Limits and time-outs are decided here.
 *
 * The only importer of fastify, of which it uses the server and the router. Answers are written in its first hook,
 * because what follows there (content types, schemas, serialisation) has words of its own for refusing.
 */
import { constants, randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type FastifyHttpOptions, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { type BrokenHttp, isUnanswerable, pathOf, troubleOf, watchHeads } from './broken-http.ts';
import { shareConnections } from './connections.ts';
import { endInOrder } from './end-in-order.ts';
import { DISCARD_MAX_BYTES, type Exchange, isAnswered, LINGER_MS, ownHeaders, readBody, send } from './exchange.ts';
import type { HttpAnswer, HttpRequest, Trouble } from './message.ts';
import { openTurns } from './pipelined.ts';

/** The longest path of ours with the longest identifier in it stays below 200 characters; queries are short. */
export const URL_MAX = 2_048;
/** A detached signature with its chain of certificates travels in one header and has about 12 KiB. */
export const HEADERS_MAX_BYTES = 32 * 1024;
/** The parser reads more, so that headers beyond the limit are refused with their municipality known. */
const HEADERS_PARSED_MAX_BYTES = 8 * HEADERS_MAX_BYTES;
/** Headers come in one packet or a few; who takes longer is holding a connection for its own sake. */
const HEADERS_TIMEOUT_MS = 15_000;
/** The largest body takes 50 s on a line of 160 kbit/s. */
export const REQUEST_TIMEOUT_MS = 60_000;
/** How often the two time-outs above are looked at. */
const TIMEOUT_LOOK_MS = 5_000;
/** Longer than the 60 s of the usual proxies, so that it is they who close and none sends into a closing connection. */
const KEEP_ALIVE_MS = 75_000;
/** A connection without a byte in either direction; longer than any statement of the database may take. */
const SILENCE_MS = 120_000;
/** Far more than integrators hold, and within the open files that a Linux process usually has. */
export const CONNECTIONS_MAX = 10_000;
/** A request id of the caller's own is logged beside ours only when it looks like this. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** What a route does; it never rejects. */
export type Handle = (request: HttpRequest) => Promise<HttpAnswer>;

export type HttpRoute = {
  readonly method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST';
  readonly path: string;
  readonly handle: Handle;
};

export type HttpOptions = {
  readonly host: string;
  readonly port: number;
  /** Certificate and key in PEM: connections are TLS, and who connects may show a certificate. Absent: plain HTTP. */
  readonly tls?: TlsKeys | undefined;
  /** A GET answers HEAD as well, unless a row of its own does. */
  readonly routes: readonly HttpRoute[];
  /** Answers what no route does. `allow` names the methods of the path. Never rejects. */
  readonly onTrouble: (trouble: Trouble, request: HttpRequest, allow: string | undefined) => Promise<HttpAnswer>;
};

export type TlsKeys = { readonly cert: string; readonly key: string };

export type HttpServer = {
  /** `http://127.0.0.1:8080`, with `https` where there is TLS: where it listens, as a client on this host would write it. */
  readonly address: string;
  /**
   * Serves `drainMs` milliseconds longer, ending each connection with its next answer; then stops accepting, lets what is under way
   * finish, and cuts off what does not.
   */
  close(drainMs?: number): Promise<void>;
};

type RawHandler = (incoming: IncomingMessage, response: ServerResponse) => void;

export async function listenHttp(options: HttpOptions): Promise<HttpServer> {
  const { onTrouble } = options;
  const lastOf = new WeakMap<Socket, Exchange>();
  const turns = openTurns();
  const serve = async (
    incoming: IncomingMessage,
    response: ServerResponse,
    params: Readonly<Record<string, string>>,
    handle: Handle,
  ): Promise<void> => {
    const isHeldBack = incoming.headers.expect !== undefined;
    const exchange: Exchange = { incoming, response, broken: undefined, isHeldBack, endReading: undefined };
    const { socket } = incoming;
    const before = lastOf.get(socket);
    lastOf.set(socket, exchange);
    heads.forget(socket);
    if (before !== undefined && !before.response.writableFinished && !(await turns.comes(socket, before.response)))
      return;
    const request = requestOf(exchange, params);
    const obstacle = obstacleOf(incoming);
    const held = ending.held();
    if (held !== undefined) await held;
    try {
      const answer = await (obstacle === undefined ? handle(request) : onTrouble(obstacle, request, undefined));
      send(exchange, request, answer, ending.isEnding() || turns.isCrowded(socket));
    } catch {
      // Routes and troubles answer their own bugs; without an answer to give, the connection ends.
      response.destroy();
    }
  };
  const refuse =
    (trouble: Trouble, allow?: string): RawHandler =>
    (incoming, response) =>
      void serve(incoming, response, {}, (request) => onTrouble(trouble, request, allow));

  const allMethods = [...new Set(options.routes.flatMap(methodsOf))].sort().join(', ');
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: SILENCE_MS,
    ...serverOptions(options.tls),
    routerOptions: {
      // Longer addresses are refused below, in our words.
      maxParamLength: HEADERS_MAX_BYTES,
      // The router gives up only on paths that are not in the table and on methods that no path has.
      defaultRoute: (incoming, response) => {
        const isKnown = app.supportedMethods.includes(incoming.method ?? '');
        (isKnown ? refuse('unknown_path') : refuse('method_not_allowed', allMethods))(incoming, response);
      },
      onBadUrl: (_path, incoming, response) => refuse('bad_url')(incoming, response),
    },
    // The packet is a Buffer, whatever the types of the library say.
    clientErrorHandler: (error, socket) => void answerBrokenHttp(error as Error, socket),
  });
  register(app, options.routes, serve, refuse);

  const { server } = app;
  shareConnections(server, CONNECTIONS_MAX);
  // Headers are limited by their size; limited by their number, some would be dropped unread.
  server.maxHeadersCount = 0;
  // The body is asked for by who reads it, so that one that would be refused is never sent.
  server.on('checkContinue', (incoming, response) => app.routing(incoming, response));
  server.on('checkExpectation', refuse('expectation'));
  server.on('connect', ({ url }, socket: Socket) => void writeRaw(socket, 'method_not_allowed', allMethods, url));
  const isReading = (socket: Socket): boolean => lastOf.get(socket)?.incoming.complete === false;
  const ending = endInOrder(server, options.tls !== undefined, (socket) => isAnswered(lastOf.get(socket)));
  const heads = watchHeads(server, options.tls !== undefined, isReading);

  /** Bytes that are not HTTP, or that stopped coming. */
  const answerBrokenHttp = async (error: BrokenHttp, socket: Socket): Promise<void> => {
    if (refused.has(socket) && socket.bytesRead <= DISCARD_MAX_BYTES) {
      // What is still on its way is dropped: closed with unread bytes, the connection would lose the answer.
      refused.get(socket)?.refresh();
      return;
    }
    if (isUnanswerable(error) || !socket.writable) {
      socket.destroy();
      return;
    }
    const trouble = troubleOf(error);
    const exchange = lastOf.get(socket);
    const url = heads.urlIn(socket, error, URL_MAX);
    if (exchange === undefined) {
      await writeRaw(socket, trouble, undefined, url);
    } else if (!exchange.incoming.complete) {
      // In the middle of a body. Its own answer says so, unless it is one that does not depend on the body.
      exchange.broken = trouble === 'timeout' ? 'timeout' : 'malformed';
      exchange.endReading?.();
      if (exchange.response.writableFinished) socket.destroySoon();
      else exchange.response.once('finish', () => socket.destroySoon());
      // An answer that was waiting for the rest of the body waits no longer.
      if (exchange.response.headersSent) exchange.response.end();
    } else if (exchange.response.writableFinished) {
      await writeRaw(socket, trouble, undefined, url);
    } else {
      // The answer to what came before is still to be written, and nobody may take ours for it.
      exchange.response.once('finish', () => void writeRaw(socket, trouble, undefined, url));
    }
  };
  /** Connections that are told that they do not speak HTTP, and what ends each once it was told. */
  const refused = new WeakMap<Socket, NodeJS.Timeout | undefined>();
  const writeRaw = async (socket: Socket, trouble: Trouble, allow: string | undefined, url = ''): Promise<void> => {
    if (refused.has(socket) || !socket.writable) return;
    refused.set(socket, undefined);
    const request = requestWithout(socket, url);
    const answer = await onTrouble(trouble, request, allow);
    const headers = { ...ownHeaders(request, answer), Connection: 'close', Date: new Date().toUTCString() };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const statusLine = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n`;
    socket.end(`${statusLine}${lines.join('')}\r\n${answer.body}`);
    refused.set(socket, setTimeout(() => socket.destroy(), LINGER_MS).unref());
  };

  // 'localhost' would open a second server for the other family, without what was set on this one.
  await app.listen({ host: options.host === 'localhost' ? '127.0.0.1' : options.host, port: options.port });
  return {
    address: addressOf(server.address() as AddressInfo, options.tls === undefined ? 'http' : 'https'),
    close: (drainMs = 0) => ending.end(drainMs),
  };
}

/** How Node reads HTTP, with TLS or without. */
function serverOptions(tls: TlsKeys | undefined): FastifyHttpOptions<Server> {
  const http = {
    maxHeaderSize: HEADERS_PARSED_MAX_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_LOOK_MS,
    // Looked at here, because Node refuses in its own words.
    requireHostHeader: false,
  };
  if (tls === undefined) return { http };
  // Whom to believe is each municipality's to say, so that any certificate is let in and judged later.
  // A session that is taken up again has lost the authorities that came with the certificate, so there are none.
  const secureOptions = constants.SSL_OP_NO_TICKET;
  const https = { ...http, ...tls, requestCert: true, rejectUnauthorized: false, secureOptions };
  // A server with TLS is one of HTTP to whoever uses it; only the types of the library tell them apart.
  return { https } as object as FastifyHttpOptions<Server>;
}

type App = ReturnType<typeof fastify>;
type Serve = (
  incoming: IncomingMessage,
  response: ServerResponse,
  params: Readonly<Record<string, string>>,
  handle: Handle,
) => Promise<void>;

/** The routes, and on each of their paths a refusal for every method that it does not have. */
function register(
  app: App,
  routes: readonly HttpRoute[],
  serve: Serve,
  refuse: (trouble: Trouble, allow?: string) => RawHandler,
): void {
  const paths = Map.groupBy(routes, ({ path }) => path);
  for (const [path, rows] of paths) {
    const handles = new Map<string, Handle>();
    for (const row of rows) handles.set(row.method, row.handle);
    for (const row of rows)
      for (const method of methodsOf(row)) if (!handles.has(method)) handles.set(method, row.handle);
    const allow = [...handles.keys()].sort().join(', ');
    const refuseMethod = refuse('method_not_allowed', allow);
    for (const method of app.supportedMethods) {
      const handle = handles.get(method);
      app.route({
        method,
        url: path,
        // `done` is not called: the answer is written here.
        onRequest: (request: FastifyRequest, reply: FastifyReply): void => {
          if (handle === undefined) refuseMethod(request.raw, reply.raw);
          else void serve(request.raw, reply.raw, request.params as Readonly<Record<string, string>>, handle);
        },
        handler: unreachable,
      });
    }
  }
}

function methodsOf({ method }: HttpRoute): readonly string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

function unreachable(): never {
  throw new Error('a request went past the hook that answers it');
}

/** What is wrong with a request before anybody looks at its route. */
function obstacleOf({ url, rawHeaders, httpVersion }: IncomingMessage): Trouble | undefined {
  // A line without a version, which the parser still takes for the HTTP of 1991.
  if (httpVersion === '0.9') return 'malformed';
  if (url !== undefined && url.length > URL_MAX) return 'url_too_long';
  let size = 0;
  let hosts = 0;
  let types = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    size += name.length + rawHeaders[index + 1]!.length + HEADER_FRAME_BYTES;
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
    if (name.length === CONTENT_TYPE.length && name.toLowerCase() === CONTENT_TYPE) types += 1;
  }
  if (size > HEADERS_MAX_BYTES) return 'headers_too_large';
  if (hosts > 1) return 'many_hosts';
  if (types > 1) return 'many_types';
  if (hosts === 0 && httpVersion === '1.1') return 'no_host';
  return undefined;
}

const HOST = 'host';
const CONTENT_TYPE = 'content-type';
/** Colon, space and line end of a header. */
const HEADER_FRAME_BYTES = 4;

function requestOf(exchange: Exchange, params: Readonly<Record<string, string>>): HttpRequest {
  const { incoming } = exchange;
  const { headers, socket } = incoming;
  const sent = headers['x-request-id'];
  return {
    id: randomUUID(),
    sentId: typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : undefined,
    began: performance.now(),
    method: incoming.method ?? '',
    url: pathOf(incoming.url ?? ''),
    params,
    headers,
    encrypted: 'encrypted' in socket,
    remoteAddress: socket.remoteAddress ?? '',
    peerCertificates: () => peerCertificatesOf(socket),
    readBody: (max) => readBody(exchange, max),
  };
}

/** Stands in for a request that could not be read. `url`: as far as it is known, or empty. */
function requestWithout(socket: Socket, url: string): HttpRequest {
  return {
    id: randomUUID(),
    sentId: undefined,
    began: performance.now(),
    method: '',
    url,
    params: {},
    headers: {},
    encrypted: false,
    remoteAddress: socket.remoteAddress ?? '',
    peerCertificates: () => [],
    readBody: async () => 'gone',
  };
}

/** Deeper than any chain of ICP-Brasil. */
const PEER_CHAIN_MAX = 8;

function peerCertificatesOf(socket: Socket): readonly Buffer[] {
  const chain: Buffer[] = [];
  if (!('encrypted' in socket)) return chain;
  let one = (socket as TLSSocket).getPeerCertificate(true);
  // The last of a chain names itself as its issuer.
  while (one?.raw !== undefined && chain.length < PEER_CHAIN_MAX && !chain.some((known) => known.equals(one.raw))) {
    chain.push(one.raw);
    one = one.issuerCertificate;
  }
  return chain;
}

function addressOf({ address, family, port }: AddressInfo, scheme: 'http' | 'https'): string {
  if (address === '0.0.0.0' || address === '::') return `${scheme}://localhost:${port}`;
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
