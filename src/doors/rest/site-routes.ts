/** The addresses of the service itself, outside any municipality: its health, and its pages, which are loaded when one is asked for. */

import { API_HEADERS, attend, JSON_TYPE, refuse } from '../../base/http/attend.ts';
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import { refuseForStore, refuseUnavailable } from '../../base/http/refusals.ts';
import type { HttpRoute } from '../../base/http/router.ts';
import type { Answer, Door, Visit } from '../../base/http/visit.ts';
import { STORE_WAIT_S } from '../../base/world/store-trouble.ts';
import { ARQUIVOS_PATH, ERROS_JSON_PATH, OPENAPI_PATH, PAGE_PATHS, type PagePath } from '../../published/paths.ts';
import { addHeaders, CORS_HEADERS, PREFLIGHT } from './path-headers.ts';

/** The documentation and the description take memory that a service whose pages nobody reads does not spend (D-868). */
const pageAnswer =
  (path: PagePath): Answer =>
  async (door, visit) =>
    (await import('./site-pages.ts')).PAGES[path](door, visit);

const SITE: Readonly<Record<string, Answer>> = {
  '/health/live': () => HEALTHY,
  '/health/ready': answerReadiness,
  ...Object.fromEntries(PAGE_PATHS.map((path) => [path, pageAnswer(path)])),
};

/** The paths outside any municipality; `published/security.ts` says which callers each one admits. */
export const SITE_PATHS: readonly string[] = Object.keys(SITE);

/** Paths for programs outside any municipality; a page of any site may read them (CORS). */
const PUBLIC_PATHS: ReadonlySet<string> = new Set([ERROS_JSON_PATH, `${ARQUIVOS_PATH}/:arquivo`, OPENAPI_PATH]);

export function siteRoutes(door: Door): readonly HttpRoute[] {
  return Object.entries(SITE).flatMap(([path, answer]): HttpRoute[] => {
    const headers = PUBLIC_PATHS.has(path) ? CORS_HEADERS : undefined;
    const handle: HttpRoute['handle'] = async (request) =>
      addHeaders(headers, await attend(door, request, path, (visit) => answer(door, visit)));
    const own: HttpRoute = { method: 'GET', path, handle };
    return headers === undefined ? [own] : [own, { method: 'OPTIONS', path, handle: async () => PREFLIGHT }];
  });
}

const HEALTHY: HttpAnswer = { status: 200, headers: { ...API_HEADERS, ...JSON_TYPE }, body: '{"status":"OK"}' };

async function answerReadiness(door: Door, visit: Visit): Promise<HttpAnswer> {
  if (door.closing) return refuse(door, visit, refuseUnavailable('O serviço está sendo encerrado.', STORE_WAIT_S));
  const trouble = await door.storeTrouble();
  if (trouble !== undefined) return refuse(door, visit, refuseForStore(trouble));
  if (!asksFromHere(visit.request)) return HEALTHY;
  const lacking = await door.lacking();
  if (lacking.length === 0) return HEALTHY;
  return { ...HEALTHY, body: JSON.stringify({ status: 'OK', municipios_sem_arquivos: lacking }) };
}

/** True when a program of this machine asks, and no proxy forwards: the answer then reaches no stranger. */
function asksFromHere({ remoteAddress, headers }: HttpRequest): boolean {
  const isHere = remoteAddress === '::1' || /^(?:::ffff:)?127\./.test(remoteAddress);
  return isHere && headers['x-forwarded-for'] === undefined && headers.forwarded === undefined;
}
