/** A request of Node's as the rest of the room sees it, and what is wrong with its head before anybody looks at its route. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { HEADERS_MAX_BYTES, URL_MAX } from '../../published/http-limits.ts';
import { pathOf } from './broken-http.ts';
import { type Exchange, readBody } from './exchange.ts';
import type { HttpRequest, Trouble } from './message.ts';

/** A request id of the caller's own is logged beside ours only when it looks like this. */
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

export function requestOf(exchange: Exchange, params: Readonly<Record<string, string>>): HttpRequest {
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
export function unreadRequest(socket: Socket, url: string): HttpRequest {
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
