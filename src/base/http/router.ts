/** Finds the route of a request by its method and its path. Only this file imports find-my-way. */
import findMyWay from 'find-my-way';
import type { HttpAnswer, HttpRequest, Trouble } from './message.ts';

/** Work of a route; it never rejects. */
type Handle = (request: HttpRequest) => Promise<HttpAnswer>;

export type HttpRoute = {
  readonly method: 'DELETE' | 'GET' | 'HEAD' | 'OPTIONS' | 'PATCH' | 'POST';
  readonly path: string;
  readonly handle: Handle;
};

/** The route of a request, or the trouble that prevents it. `allow`: the methods of its path. */
export type Found =
  | { readonly handle: Handle; readonly params: Readonly<Record<string, string>> }
  | { readonly trouble: Trouble; readonly allow?: string };

/** Handlers of a path by method, and the names of the methods. */
type Path = { readonly handles: ReadonlyMap<string, Handle>; readonly allow: string };

/** The methods of HTTP. The answer to any other method names the methods of the whole service. */
const METHODS: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);
const NO_QUERY = {};

/** `paramMax`: characters of one segment of a path. A GET route also answers HEAD, unless HEAD has its own row. */
export function openRouter(
  routes: readonly HttpRoute[],
  paramMax: number,
): (method: string | undefined, url: string) => Found {
  // The routes parse their queries themselves.
  const router = findMyWay({ maxParamLength: paramMax, onBadUrl: ignore, querystringParser: () => NO_QUERY });
  const allow = namesOf(new Set(routes.flatMap(methodsOf)));
  for (const [path, rows] of Map.groupBy(routes, (row) => row.path)) {
    const handles = new Map(rows.flatMap((row) => methodsOf(row).map((method) => [method, row.handle])));
    for (const row of rows) handles.set(row.method, row.handle);
    // Every path is registered under one method, so that a wrong method differs from an unknown path.
    router.on('GET', path, ignore, { handles, allow: namesOf(handles.keys()) } satisfies Path);
  }
  return (method = '', url) => {
    if (!METHODS.has(method)) return { trouble: 'method_not_allowed', allow };
    const found = router.find('GET', url);
    if (found === null) return { trouble: 'unknown_path' };
    const { store: path }: { readonly store: Path | null } = found;
    if (path === null) return { trouble: 'bad_url' };
    const handle = path.handles.get(method);
    if (handle === undefined) return { trouble: 'method_not_allowed', allow: path.allow };
    return { handle, params: found.params as Readonly<Record<string, string>> };
  };
}

function methodsOf({ method }: HttpRoute): readonly string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

function namesOf(methods: Iterable<string>): string {
  return [...methods].sort().join(', ');
}

/** The router only finds routes, and calls no handler of its own. */
function ignore(): void {}
