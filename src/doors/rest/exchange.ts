/** One request and its answer on the wire: the body is read and the answer written, whichever comes first. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { type Incoming, openBodies, SHORT_BODY_BYTES } from './bodies.ts';
import type { BodyTrouble, HttpAnswer, HttpRequest } from './message.ts';

/**
 * An unwanted body is read and dropped up to here. Many clients read no answer before their whole body is sent, and a
 * connection closed earlier looks like a broken network to them.
 */
export const DISCARD_MAX_BYTES = 256 * 1024 * 1024;
/** A sender that was answered before its body had come whole, and then is silent for this long, is cut off. */
export const LINGER_MS = 1_000;

/** The raw pair, and what must be known about it when the connection fails. */
export type Exchange = {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** The rest of the body will not come, and the connection cannot be used after the answer. */
  broken: BodyTrouble | undefined;
  /** The body was announced with `Expect: 100-continue`, and its sender was not told to go on. */
  isHeldBack: boolean;
  /** Set while the body is being read: ends the reading. */
  endReading: (() => void) | undefined;
};

/** Whether the request has come whole and its answer is written. */
export function isAnswered(exchange: Exchange | undefined): boolean {
  return exchange?.incoming.complete === true && exchange.response.writableFinished;
}

const NO_BODY = Buffer.alloc(0);
/** Bodies that are still coming may take so much memory, of this process as of all its doors. */
const COMING_MAX_BYTES = 256 * 1024 * 1024;
const coming = openBodies(COMING_MAX_BYTES);

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

export function readBody(exchange: Exchange, max: number): Promise<Buffer | BodyTrouble | 'crowded'> {
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
    // Copied also when it came in one piece, which is a view of a larger block that would be kept with it.
    const onEnd = (): void => settle(Buffer.concat(chunks, size));
    const onBroken = (): void => settle(exchange.broken ?? 'gone');
    exchange.endReading = onBroken;
    incoming.on('data', onData).on('end', onEnd).on('close', onBroken).on('error', onBroken);
  });
}

export function send(exchange: Exchange, request: HttpRequest, answer: HttpAnswer, closing: boolean): void {
  const { incoming, response } = exchange;
  if (response.destroyed) return;
  const headers = ownHeaders(request, answer);
  if (closing || exchange.broken !== undefined) headers.Connection = 'close';
  response.writeHead(answer.status, headers);
  if (isMade(answer.body)) {
    // An answer that fails half-way is cut off; its reader sees that the last chunk is missing.
    pipeline(Readable.from(answer.body, { highWaterMark: 1 }), response, () => undefined);
    return;
  }
  const isWhole = incoming.complete || !hasBody(incoming) || exchange.broken !== undefined;
  if (isWhole) response.end(answer.body);
  else answerBeforeBody(exchange, answer.body);
}

/**
 * The answer is written at once, whole by its length, and ended only when its sender has sent everything. Ended earlier,
 * the connection might be closed with unread bytes in it, and the answer would be lost.
 */
function answerBeforeBody({ incoming, response, isHeldBack }: Exchange, body: string | Buffer): void {
  let size = 0;
  response.write(body);
  // A client that waits for `100 Continue` need not send its body now, and many send it all the same.
  const silence = isHeldBack ? setTimeout(() => response.end(), LINGER_MS) : undefined;
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    silence?.refresh();
    if (size > DISCARD_MAX_BYTES) incoming.socket.destroy();
  });
  incoming.once('close', () => clearTimeout(silence));
  incoming.once('end', () => response.end());
}

/** Whether a body is made while it is sent. */
function isMade(body: HttpAnswer['body']): body is AsyncIterable<string> {
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
