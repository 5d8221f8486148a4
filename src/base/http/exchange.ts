/** One request and its answer on the wire. The answer may be written before the body is read. */

import { randomUUIDv7 } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { HEADERS_MAX_BYTES, URL_MAX } from '../../published/http-limits.ts';
import { ignoring } from '../traces/ignoring.ts';
import { type Incoming, openBodies, SHORT_BODY_BYTES } from './bodies.ts';
import type { BodyTrouble, HttpAnswer, HttpRequest, Trouble } from './message.ts';

/**
 * An unwanted body is read and dropped up to this size. Many clients read no answer before their whole body is sent. A connection closed
 * earlier looks like a broken network to them.
 */
export const DISCARD_MAX_BYTES = 256 * 1024 * 1024;
/** A sender that still owes a body is answered after this silence. A sender that was answered, and had announced its body, is cut off. */
export const LINGER_MS = 1_000;

/** The raw pair, and the state that is needed when the connection fails. */
export type Exchange = {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** Reason why the rest of the body will not come; the connection then ends with the answer. */
  broken: BodyTrouble | undefined;
  /** The body was announced with `Expect: 100-continue`, and no `100 Continue` was sent yet. */
  isHeldBack: boolean;
  /** Set while the body is being read: ends the reading. */
  endReading: (() => void) | undefined;
  /** Set while an answer waits for the rest of a body that is dropped: writes it, and ends it. */
  answerNow: (() => void) | undefined;
};

/** Whether the request is complete and its answer is written. */
export function isAnswered(exchange: Exchange | undefined): boolean {
  return exchange?.incoming.complete === true && exchange.response.writableFinished;
}

const NO_BODY = Buffer.alloc(0);
const ignoreCut = ignoring(
  'an answer that fails half-way is cut off, and its reader sees that the last chunk is missing',
);
/** Memory limit of all bodies that are still coming to this process, through all its doors. */
const COMING_MAX_BYTES = 256 * 1024 * 1024;
const coming = openBodies(COMING_MAX_BYTES);

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function readBody(exchange: Exchange, max: number): Promise<Buffer | BodyTrouble | 'crowded'> {
  const { incoming, response } = exchange;
  if (!hasBody(incoming)) return Promise.resolve(NO_BODY);
  if (exchange.broken !== undefined) return Promise.resolve(exchange.broken);
  if (incoming.destroyed) return Promise.resolve('gone');
  if (Number(incoming.headers['content-length'] ?? 0) > max) return Promise.resolve('body_too_large');
  if (exchange.isHeldBack) {
    exchange.isHeldBack = false;
    response.writeContinue();
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let body: Incoming | undefined;
    const settle = (outcome: Buffer | BodyTrouble | 'crowded'): void => {
      exchange.endReading = undefined;
      body?.leave();
      incoming.off('data', onData).off('end', onEnd).off('close', onBroken).off('error', onBroken);
      resolve(outcome);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > max) {
        settle('body_too_large');
        return;
      }
      chunks.push(chunk);
      if (size <= SHORT_BODY_BYTES) return;
      const isFirst = body === undefined;
      body ??= coming.begin(incoming.socket.remoteAddress ?? '', () => settle('crowded'));
      body.grow(isFirst ? size : chunk.length);
    };
    const onEnd = (): void => settle(joinPieces(chunks, size));
    const onBroken = (): void => settle(exchange.broken ?? 'gone');
    exchange.endReading = onBroken;
    incoming.on('data', onData).on('end', onEnd).on('close', onBroken).on('error', onBroken);
  });
}

/** A body as one buffer. A piece is a view of the received block: it is copied if most of that block is something else. */
function joinPieces(pieces: readonly Buffer[], size: number): Buffer {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined && first.buffer.byteLength <= 2 * size) return first;
  return Buffer.concat(pieces, size);
}

export function send(exchange: Exchange, request: HttpRequest, answer: HttpAnswer, closing: boolean): void {
  const { incoming, response } = exchange;
  if (response.destroyed) return;
  if (answer.isLost) {
    incoming.socket.destroy();
    return;
  }
  const headers = ownHeaders(request, answer);
  if (closing || exchange.broken !== undefined) headers['Connection'] = 'close';
  const isWhole = incoming.complete || !hasBody(incoming) || exchange.broken !== undefined;
  if (!isWhole && !isMade(answer.body)) {
    answerAfterBody(exchange, { ...answer, headers, body: answer.body });
    return;
  }
  response.writeHead(answer.status, headers);
  if (isMade(answer.body)) pipeline(Readable.from(answer.body, { highWaterMark: 1 }), response, ignoreCut);
  else response.end(answer.body);
}

/**
 * The answer is written when its sender has sent everything. A proxy may lose an earlier answer if it fails while sending. It may also
 * leave a connection with half a body to the next request (D-644). A sender that is silent for a while, or waits for `100 Continue`, is
 * answered at once. That connection then ends after the rest was read, because unread bytes would lose the answer.
 */
function answerAfterBody(
  exchange: Exchange,
  { status, headers, body }: HttpAnswer & { readonly body: string | Buffer },
): void {
  const { incoming, response, isHeldBack } = exchange;
  let size = 0;
  const write = (isWhole: boolean): void => {
    if (response.headersSent) return;
    response.writeHead(status, isWhole ? headers : { ...headers, Connection: 'close' });
    response.write(body);
  };
  exchange.answerNow = () => {
    write(false);
    response.end();
  };
  // Bytes that came while the machine was suspended are read before the sender counts as silent.
  const silence = setTimeout(() => {
    const before = size;
    setImmediate(() => (size === before ? onSilence() : silence.refresh()));
  }, LINGER_MS);
  // A client that waits for `100 Continue` need not send its body now, but many do.
  const onSilence = isHeldBack ? exchange.answerNow : () => write(false);
  if (isHeldBack) write(false);
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    silence.refresh();
    // A sender that is cut off has received the answer long before.
    if (size > DISCARD_MAX_BYTES / 2) write(false);
    if (size > DISCARD_MAX_BYTES) incoming.socket.destroy();
  });
  incoming.once('close', () => clearTimeout(silence));
  incoming.once('end', () => {
    write(true);
    response.end();
  });
}

/** Whether a body is made while it is sent. */
function isMade(body: HttpAnswer['body']): body is AsyncIterable<string | Buffer> {
  return typeof body !== 'string' && !Buffer.isBuffer(body);
}

export function ownHeaders(request: HttpRequest, answer: HttpAnswer): Record<string, string> {
  return {
    ...answer.headers,
    // A Content-Length on a 304 would mean the size of the cached copy; a 204 has none (RFC 9110, 8.6).
    ...(answer.status === 304 || answer.status === 204 || isMade(answer.body)
      ? {}
      : { 'Content-Length': String(Buffer.byteLength(answer.body)) }),
    'X-Request-Id': request.id,
    'X-Content-Type-Options': 'nosniff',
  };
}

/** Form of a caller's own request id; only such an id is logged beside ours. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

const HOST = 'host';
const CONTENT_TYPE = 'content-type';
/** Colon, space and line end of a header. */
const HEADER_FRAME_BYTES = 4;

export function findObstacle({ url, rawHeaders, httpVersion }: IncomingMessage): Trouble | undefined {
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

/** Scheme and authority of a request target in absolute form (RFC 9112, 3.2.2). Every server must accept it, and proxies send it. */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** A request target as path and query. */
export function pathOf(target: string): string {
  return target.startsWith('/') ? target : target.replace(AUTHORITY, '');
}

export function requestOf(exchange: Exchange, params: Readonly<Record<string, string>>): HttpRequest {
  const { incoming } = exchange;
  const { headers, socket } = incoming;
  const sent = headers['x-request-id'];
  return {
    id: randomUUIDv7(),
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

/** A substitute for a request that could not be read. `url`: as far as it is known, or empty. */
export function unreadRequest(socket: Socket, url: string): HttpRequest {
  return {
    id: randomUUIDv7(),
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

/** The limit exceeds any chain of ICP-Brasil. */
const PEER_CHAIN_MAX = 8;

function peerCertificatesOf(socket: Socket): readonly Buffer[] {
  const chain: Buffer[] = [];
  if (!('encrypted' in socket)) return chain;
  let one = (socket as TLSSocket).getPeerCertificate(true);
  // The last certificate of a chain names itself as its issuer.
  while (one?.raw !== undefined && chain.length < PEER_CHAIN_MAX && !chain.some((known) => known.equals(one.raw))) {
    chain.push(one.raw);
    one = one.issuerCertificate;
  }
  return chain;
}
