/**
 * Refusals on connections whose bytes are no HTTP request, or stopped coming. The parser reports only the packet in which it failed; an
 * earlier packet may hold the request line.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { URL_MAX } from '../../published/http-limits.ts';
import { DISCARD_MAX_BYTES, type Exchange, LINGER_MS, ownHeaders, pathOf, unreadRequest } from './exchange.ts';
import type { HttpAnswer, HttpRequest, Trouble } from './message.ts';

/** An `import` of node:http would load the undici inside Node, which its exports name. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Node's report of unreadable HTTP: the packet, and how far the parser came in it. */
type BrokenHttp = Error & { readonly code?: string; readonly rawPacket?: Buffer; readonly bytesParsed?: number };

const CLIENT_ERRORS: Readonly<Record<string, Trouble>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'timeout',
};

function troubleOf({ code = '' }: BrokenHttp): Trouble {
  return CLIENT_ERRORS[code] ?? 'malformed';
}

/** A client that aborted the TLS handshake, or is gone, cannot be answered. */
function isUnanswerable({ code = '' }: BrokenHttp): boolean {
  return code === 'ECONNRESET' || code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_');
}

/** Method and target of a request line, at the start of a text or after earlier lines. */
const REQUEST_LINE = /(?:^|\n)[A-Za-z]+ +((?:\/|[a-z][a-z0-9+.-]*:\/\/)[^\s]*)/gi;
/** Bytes of a head that are kept, enough for a request line with the longest target. */
const HEAD_KEPT_BYTES = 4_096;

export type Heads = ReturnType<typeof watchHeads>;

/** `isReading`: whether a body is still being read on a connection, so that further bytes are no head. */
export function watchHeads(server: Server, isTls: boolean, isReading: (socket: Socket) => boolean) {
  const heads = new WeakMap<Socket, Buffer>();
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    // This listener runs before the parser's, which reports requests and failures while it reads a packet.
    socket.prependListener('data', (chunk: Buffer) => {
      const head = heads.get(socket);
      if (head === undefined) {
        if (!isReading(socket)) heads.set(socket, chunk);
      } else if (head.length < HEAD_KEPT_BYTES) heads.set(socket, Buffer.concat([head, chunk]));
    });
  });
  return {
    /** Drops the head of a connection once it has become a request. The rest of its packet is the next head. */
    forget: (socket: Socket, hasBody: boolean): void => {
      const head = heads.get(socket);
      const end = hasBody ? undefined : head?.lastIndexOf(HEAD_END);
      const next = end === undefined || end < 0 ? NOTHING : head!.subarray(end + HEAD_END.length);
      if (next.length === 0) heads.delete(socket);
      else heads.set(socket, next);
    },
    /** Path of the unreadable request, as far as the received bytes show one; at most `max` characters. */
    urlIn: (socket: Socket, { rawPacket, bytesParsed = 0 }: BrokenHttp, max: number): string | undefined => {
      const head = heads.get(socket);
      // A kept head belongs to the failing request alone. The path otherwise comes from the last request line before the failure.
      const target =
        head === undefined
          ? lastTarget(rawPacket ?? NOTHING, bytesParsed)
          : lastTarget(head.subarray(0, HEAD_KEPT_BYTES), 0);
      return target === undefined ? undefined : pathOf(target).slice(0, max);
    },
  };
}

const NOTHING = Buffer.alloc(0);
const HEAD_END = '\r\n\r\n';

/** The last request line that begins at `end` or before. */
function lastTarget(bytes: Buffer, end: number): string | undefined {
  return [...bytes.toString('latin1').matchAll(REQUEST_LINE)].findLast(({ index }) => index <= end)?.[1];
}

/** Answers requests that match no route. `allow` names the methods of the path. Never rejects. */
export type OnTrouble = (trouble: Trouble, request: HttpRequest, allow: string | undefined) => Promise<HttpAnswer>;

/** `lastOf`: the last exchange of a connection. */
export function answerBroken(lastOf: Pick<WeakMap<Socket, Exchange>, 'get'>, heads: Heads, onTrouble: OnTrouble) {
  /** Connections that were answered here, and the timer that ends each after its answer. */
  const refused = new WeakMap<Socket, NodeJS.Timeout | undefined>();
  /** Writes an answer and ends the connection. `url`: the requested address, as far as it is known. */
  const write = async (socket: Socket, trouble: Trouble, allow: string | undefined, url = ''): Promise<void> => {
    if (refused.has(socket) || !socket.writable) return;
    refused.set(socket, undefined);
    const request = unreadRequest(socket, url);
    const answer = await onTrouble(trouble, request, allow);
    const headers = { ...ownHeaders(request, answer), Connection: 'close', Date: new Date().toUTCString() };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const statusLine = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n`;
    socket.end(`${statusLine}${lines.join('')}\r\n${answer.body}`);
    refused.set(socket, setTimeout(() => socket.destroy(), LINGER_MS).unref());
  };
  /** Answers a connection on which Node could not read HTTP. */
  const answer = async (error: BrokenHttp, socket: Socket): Promise<void> => {
    if (refused.has(socket) && socket.bytesRead <= DISCARD_MAX_BYTES) {
      // Further bytes are dropped. A connection closed with unread bytes would lose the answer.
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
    if (exchange !== undefined && !exchange.incoming.complete) breakBody(exchange, trouble, socket);
    else if (exchange === undefined || exchange.response.writableFinished) {
      await write(socket, trouble, undefined, url);
    } else {
      // The answer to the previous request is written first. Otherwise the client would mistake this answer for it.
      exchange.response.once('finish', () => void write(socket, trouble, undefined, url));
    }
  };
  return { answer, write };
}

/** The request's own answer reports a failure within its body, unless that answer does not depend on the body. */
function breakBody(exchange: Exchange, trouble: Trouble, socket: Socket): void {
  const { response } = exchange;
  exchange.broken = trouble === 'timeout' ? 'timeout' : 'malformed';
  exchange.endReading?.();
  if (response.writableFinished) socket.destroySoon();
  else response.once('finish', () => socket.destroySoon());
  // An answer that was waiting for the rest of the body is written now.
  if (exchange.answerNow !== undefined) exchange.answerNow();
  else if (response.headersSent) response.end();
}
