/** Headers of the console: its cookies, and the permissions of its pages in a browser. */
import type { HttpRequest } from '../http/message.ts';

/** Cookie of the session. The prefix requires `Secure` and `Path=/` without `Domain`, so that no other site can set it. */
export const SESSION = '__Host-nfse-painel';
/** Cookie of a visitor on the way to the identity provider. The visitor returns from another site, hence `Lax`. */
export const PASSING = '__Host-nfse-ida';

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
};

export function cookiesOf({ headers }: HttpRequest): ReadonlyMap<string, string> {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2) as [string, string?]);
  return new Map(pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

const COOKIE = 'Path=/; Secure; HttpOnly';

/** Sets the cookie of a session; an empty token deletes it, and undefined leaves it. */
export function sessionCookie(token: string | undefined): Readonly<Record<string, string>> {
  if (token === undefined) return {};
  return { 'Set-Cookie': `${SESSION}=${token}; ${COOKIE}; SameSite=Strict${token === '' ? '; Max-Age=0' : ''}` };
}

const PASSING_S = 600;

export function passingCookie(token: string | undefined): Readonly<Record<string, string>> {
  if (token === undefined) return {};
  return { 'Set-Cookie': `${PASSING}=${token}; ${COOKIE}; SameSite=Lax; Max-Age=${token === '' ? 0 : PASSING_S}` };
}

/** A preference of a browser: names of choices, each of letters, digits and `_`. */
export type Kept = { readonly name: string; readonly values: readonly string[] };

const KEPT_S = 31_536_000;

export function keptCookie(kept: Kept | undefined): Readonly<Record<string, string>> {
  if (kept === undefined) return {};
  const value = kept.values.join('.');
  return { 'Set-Cookie': `__Host-nfse-${kept.name}=${value}; ${COOKIE}; SameSite=Strict; Max-Age=${KEPT_S}` };
}

/** The preference that a browser brought back; none: nothing was chosen. */
export function readKept(request: HttpRequest, name: string): readonly string[] {
  return (cookiesOf(request).get(`__Host-nfse-${name}`) ?? '').split('.');
}

/** Whether a page requests a part of itself again (htmx). */
export function asksForPart({ headers }: HttpRequest): boolean {
  return headers['hx-request'] === 'true';
}
