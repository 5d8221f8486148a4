/**
 * Headers of every answer about a path, refusals before its route included. CORS is among them: pages of any site may read public answers
 * that need no credential. No other answer is open, so no page can act for its visitor (D-221).
 */
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import type { Route } from '../../base/http/route.ts';
import { ROUTES } from './routes.ts';

/** Headers of every answer of an address that is open to web pages, refusals included. */
export const CORS_HEADERS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' } as const;

/** A browser may keep the preflight for a day. */
const PREFLIGHT_KEPT_S = 86_400;

/** The answer to OPTIONS, the preflight of a request with custom headers. */
export const PREFLIGHT: HttpAnswer = {
  status: 204,
  headers: {
    ...CORS_HEADERS,
    Allow: 'GET, HEAD, OPTIONS',
    'Access-Control-Allow-Methods': 'GET, HEAD',
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Max-Age': String(PREFLIGHT_KEPT_S),
  },
  body: '',
};

type Headers = Readonly<Record<string, string>> | undefined;

export function headersOfRoute({ isPublic, always }: Route): Headers {
  return isPublic ? { ...CORS_HEADERS, ...always } : always;
}

/** An answer with such headers; the answer's own value wins over a duplicate. */
export function addHeaders(headers: Headers, answer: HttpAnswer): HttpAnswer {
  return headers === undefined ? answer : { ...answer, headers: { ...headers, ...answer.headers } };
}

/** The paths that have such headers, as patterns; `:name` stands for one segment. */
const PATHS = ROUTES.flatMap((route) => {
  const headers = headersOfRoute(route);
  const pattern = new RegExp(`^${route.path.replace(/:\w+/g, '[^/]*')}$`);
  return headers === undefined ? [] : [{ pattern, headers }];
});

/** The headers of the path of a request that no route takes. */
export function headersOfPath({ url }: HttpRequest): Headers {
  const path = url.replace(/\?.*$/s, '').replace(/^\/[^/]*/, '');
  return PATHS.find(({ pattern }) => pattern.test(path))?.headers;
}
