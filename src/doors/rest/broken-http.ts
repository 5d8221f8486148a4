/**
 * What is known of bytes that are not HTTP: what went wrong, and which address they asked for, so that the refusal names its
 * municipality. The parser reports only the packet in which it gave up; the request line may have come in an earlier one.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Trouble } from './message.ts';

/** Node's report of unreadable HTTP: the packet, and how far the parser came in it. */
export type BrokenHttp = Error & { readonly code?: string; readonly rawPacket?: Buffer; readonly bytesParsed?: number };

const CLIENT_ERRORS: Readonly<Record<string, Trouble>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'timeout',
};

export function troubleOf({ code = '' }: BrokenHttp): Trouble {
  return CLIENT_ERRORS[code] ?? 'malformed';
}

/** A client that broke off the TLS handshake, or is gone, cannot be answered. */
export function isUnanswerable({ code = '' }: BrokenHttp): boolean {
  return code === 'ECONNRESET' || code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_');
}

/** Scheme and authority of a request target that has them (RFC 9112, 3.2.2): what every server must take, and proxies send. */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** A request target as path and query. */
export function pathOf(target: string): string {
  return target.startsWith('/') ? target : target.replace(AUTHORITY, '');
}

/** Method and target of a request line, at the start of a text or after what was read before it. */
const REQUEST_LINE = /(?:^|\n)[A-Za-z]+ +((?:\/|[a-z][a-z0-9+.-]*:\/\/)[^\s]*)/gi;
/** As much of a head as may hold its request line, with a target of the longest kind. */
const HEAD_KEPT_BYTES = 4_096;

export type Heads = {
  /** Drops the head of a connection, which has become a request; what stands behind it in its packet is the next head. */
  forget(socket: Socket, hasBody: boolean): void;
  /** Path of the unreadable request, as far as what came shows one; at most `max` characters. */
  urlIn(socket: Socket, error: BrokenHttp, max: number): string | undefined;
};

/** `isReading`: whether a body is still being read on a connection, so that what comes is no head. */
export function watchHeads(server: Server, isTls: boolean, isReading: (socket: Socket) => boolean): Heads {
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
    forget: (socket, hasBody) => {
      const head = heads.get(socket);
      const end = hasBody ? undefined : head?.lastIndexOf(HEAD_END);
      const next = end === undefined || end < 0 ? NOTHING : head!.subarray(end + HEAD_END.length);
      if (next.length === 0) heads.delete(socket);
      else heads.set(socket, next);
    },
    urlIn: (socket, { rawPacket, bytesParsed = 0 }, max) => {
      const head = heads.get(socket);
      // A kept head holds the failing request alone. Without one, it is the last request line before the failure.
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
