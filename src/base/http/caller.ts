/** The client and the requested address, taken from the connection or from the headers of the one trusted proxy. */
import { type BlockList, isIP } from 'node:net';
import type { PresentedCertificate } from '../world/caller.ts';
import { bareAddress } from '../world/redes.ts';
import type { HttpRequest } from './message.ts';

/** Host values that may be repeated in an address: a name or an IPv4 address, or IPv6 in brackets, and a port. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** `https://nfse.exemplo.gov.br`, as the caller wrote it; undefined if its Host header has another form. */
export function siteIn({ headers, encrypted }: HttpRequest, trustProxy: boolean): string | undefined {
  const host = (trustProxy ? lastValueOf(headers['x-forwarded-host']) : undefined) ?? headers.host;
  if (host === undefined || !HOST.test(host)) return undefined;
  const proto = trustProxy ? lastValueOf(headers['x-forwarded-proto']) : undefined;
  const isHttps = proto === 'https' || (proto === undefined && encrypted);
  const site = `${isHttps ? 'https' : 'http'}://${host}`;
  // A port above 65535, or an invalid numeric address, matches the pattern as well.
  return URL.canParse(site) ? site : undefined;
}

/** Network address of the client: of the connection, or the one that the trusted proxy writes. */
export function clientOf({ headers, remoteAddress }: HttpRequest, trustProxy: boolean): string {
  const forwarded = trustProxy ? removePort(lastValueOf(headers['x-forwarded-for']) ?? '') : undefined;
  return plainAddress(forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : remoteAddress);
}

/** Some proxies write the port as well, and IPv6 in brackets then (RFC 7239, 6). */
function removePort(text: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(text) ?? [];
  return bracketed ?? dotted ?? text;
}

/** An address without the zone, which may be any text. A mapped IPv4 address becomes plain IPv4. */
function plainAddress(address: string): string {
  return bareAddress(address.replace(/%.*$/s, ''));
}

/** A header in which a proxy passes the certificate of its client, and the proxy addresses that are trusted. */
export type CertificateHeader = {
  /** Name in lower case. */
  readonly name: string;
  readonly proxies: BlockList;
};

/**
 * The certificate of a request. A request through a proxy has the one that the proxy passes on, never the proxy's own. The header is
 * ignored from any other sender, because anybody can write one.
 */
export function certificateIn(
  request: HttpRequest,
  header: CertificateHeader | undefined,
  hasTls: boolean,
): PresentedCertificate {
  const { headers, remoteAddress } = request;
  if (header !== undefined && isAmong(header.proxies, remoteAddress)) {
    const value = headers[header.name];
    const text = typeof value === 'string' ? value : (value?.join(', ') ?? '');
    return text.trim() === '' ? { kind: 'none', canShow: true } : { kind: 'header', value: text };
  }
  const chain = request.peerCertificates();
  return chain.length > 0 ? { kind: 'tls', chain } : { kind: 'none', canShow: hasTls || header !== undefined };
}

/** `Authorization: Bearer …` (RFC 6750). Another scheme is ignored. */
export function tokenIn({
  headers,
}: Pick<HttpRequest, 'headers'>): { readonly kind: 'token'; readonly value: string } | undefined {
  const [, value] = /^bearer +(\S{1,512}) *$/i.exec(headers.authorization ?? '') ?? [];
  return value === undefined ? undefined : { kind: 'token', value };
}

function isAmong(addresses: BlockList, address: string): boolean {
  const bare = plainAddress(address);
  const family = isIP(bare);
  return family !== 0 && addresses.check(bare, family === 6 ? 'ipv6' : 'ipv4');
}

/** The nearest proxy appends last; earlier values came from outside. */
function lastValueOf(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = typeof header === 'string' ? header : header.join(',');
  return text.slice(text.lastIndexOf(',') + 1).trim();
}
