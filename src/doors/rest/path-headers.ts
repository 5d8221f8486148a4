/** Headers that every answer about a path carries, a refusal included that comes before its route. */
import { CORS_HEADERS } from './cors.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes.ts';

type Headers = Readonly<Record<string, string>> | undefined;

export function headersOfRoute({ isPublic, always }: Route): Headers {
  return isPublic ? { ...CORS_HEADERS, ...always } : always;
}

/** An answer with such headers, where it does not say them better itself. */
export function addHeaders(headers: Headers, answer: HttpAnswer): HttpAnswer {
  return headers === undefined ? answer : { ...answer, headers: { ...headers, ...answer.headers } };
}

/** The paths that have such headers, each as the pattern that it is; `:name` stands for one segment. */
const PATHS = ROUTES.flatMap((route) => {
  const headers = headersOfRoute(route);
  const pattern = new RegExp(`^${route.path.replace(/:\w+/g, '[^/]*')}$`);
  return headers === undefined ? [] : [{ pattern, headers }];
});

/** Those of the path of a request that no route takes. */
export function headersOfPath({ url }: HttpRequest): Headers {
  const path = url.replace(/\?.*$/s, '').replace(/^\/[^/]*/, '');
  return PATHS.find(({ pattern }) => pattern.test(path))?.headers;
}
