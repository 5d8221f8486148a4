/**
 * The REST door: finds the municipality of a request, puts it to its route, and writes the answer with all that every
 * answer carries. Whatever goes wrong on the way, a bug included, is answered in the same envelope (D-02).
 */
import { isIP } from 'node:net';
import type { Fault } from '../../fiscal/fault.ts';
import { isoMoment, momentIn } from '../../fiscal/moment.ts';
import { zoneOf } from '../../flows/gather-facts.ts';
import type { World } from '../../flows/world.ts';
import type { Municipio } from '../../store/municipios.ts';
import { bodyMisfit, headersMisfit } from './content.ts';
import { ERROS_PATH, envelopeOf, statusOfRefusal } from './envelope.ts';
import { type BodyTrouble, type HttpAnswer, type HttpRequest, type HttpRoute, listenHttp, type Trouble } from './http.ts';
import { countMisses } from './misses.ts';
import { errorIndexPage, errorPage, homePage } from './pages.ts';
import { type Outcome, type Refused, ROUTES, type Route } from './routes.ts';

/** D-02. The largest DPS that the layout can describe, a thousand deduction documents, has about 900 KiB. */
const BODY_MAX_BYTES = 1024 * 1024;
/** Requests with a flow at once. More would only wait in line for the database, each with its body in memory. */
const UNDER_WAY_MAX = 1_000;
const OVERLOAD_WAIT_S = 1;
/** A database that takes longer to say that it is there is as good as gone. */
const PING_MAX_MS = 2_000;
const STORE_WAIT_S = 5;
const PAGES_FRESH_S = 300;

/** The pages bring their own style and nothing else. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': `public, max-age=${PAGES_FRESH_S}`,
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
};
const JSON_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
};

/** As in the table of municipalities: what does not look like this is not asked of the database. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** What a Host header may hold to be repeated in an address: a name or an IPv4 address, or IPv6 in brackets, and a port. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

export type RestDoorOptions = {
  readonly host: string;
  readonly port: number;
  /** Public address of the service; without it the caller's Host header tells. */
  readonly baseUrl?: string | undefined;
  /** There is one proxy in front, and its X-Forwarded-* headers are believed. */
  readonly trustProxy: boolean;
  /** One line a request. */
  readonly accessLog: boolean;
};

export type RestDoor = { readonly address: string; close(): Promise<void> };

/** A request on its way through the door, with what was found out about it. */
type Visit = {
  readonly request: HttpRequest;
  /** Pattern of the path, never the path: keys and protocol numbers open what they name. */
  readonly route: string | undefined;
  municipio: Municipio | undefined;
};

export async function createRestDoor(world: World, options: RestDoorOptions): Promise<RestDoor> {
  const misses = countMisses(() => performance.now());
  const storeAnswers = shared(() => pingStore(world));
  const lastKnown = new Map<string, Municipio>();
  let address = '';
  let underWay = 0;
  let closing = false;

  /** Throws when the store does; the last answer is remembered, so that an error still says whose it is. */
  const find = async (visit: Visit, slug: string): Promise<Municipio | undefined> => {
    if (!SLUG.test(slug)) return undefined;
    visit.municipio = lastKnown.get(slug);
    visit.municipio = await world.store.municipioBySlug(slug);
    if (visit.municipio === undefined) lastKnown.delete(slug);
    else lastKnown.set(slug, visit.municipio);
    return visit.municipio;
  };

  const siteOf = (request: HttpRequest): string => options.baseUrl ?? addressed(request, options.trustProxy) ?? address;

  const refuse = (visit: Visit, refused: Refused): HttpAnswer => {
    const timestamp = isoMoment(momentIn(zoneOf(visit.municipio?.codigoIbge), world.now()));
    const envelope = envelopeOf(refused.refusal, siteOf(visit.request), timestamp, refused.campo);
    return {
      status: refused.status ?? statusOfRefusal(refused.refusal),
      headers: { ...JSON_HEADERS, ...refused.headers },
      body: JSON.stringify(envelope),
    };
  };

  const answered = (visit: Visit, outcome: Outcome, status: number): HttpAnswer => {
    if ('refusal' in outcome) return refuse(visit, outcome);
    const { body, headers } = outcome;
    if (body === undefined) return { status, headers: { 'Cache-Control': 'no-store', ...headers }, body: '' };
    return { status, headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(body) };
  };

  /** A bug, or a database that is not there: logged whole, and answered without a word of it. */
  const broken = async (visit: Visit, error: unknown): Promise<HttpAnswer> => {
    const { request, route } = visit;
    const isThere = await storeAnswers();
    world.log.error({ err: error, request: request.id, route, tenant: visit.municipio?.tenant }, 'a request failed');
    return refuse(visit, isThere ? internal(request) : unavailable('O banco de dados não responde.', STORE_WAIT_S));
  };

  /** Every answer leaves through here. */
  const attend = async (
    request: HttpRequest,
    route: string | undefined,
    work: (visit: Visit) => Promise<HttpAnswer> | HttpAnswer,
  ): Promise<HttpAnswer> => {
    const visit: Visit = { request, route, municipio: undefined };
    let answer: HttpAnswer;
    try {
      answer = await work(visit);
    } catch (error) {
      answer = await broken(visit, error);
    }
    const { municipio } = visit;
    if (options.accessLog) {
      const ms = Math.round((performance.now() - request.began) * 10) / 10;
      const { id, method } = request;
      world.log.info({ request: id, method, route, status: answer.status, ms, tenant: municipio?.tenant }, 'request');
    }
    if (municipio === undefined) return answer;
    return { ...answer, headers: { 'X-NFSe-Ambiente': municipio.ambiente, ...answer.headers } };
  };

  const throughRoute = async (visit: Visit, route: Route): Promise<HttpAnswer> => {
    const { request } = visit;
    const { params } = request;
    const municipio = await find(visit, params.municipio!);
    if (municipio === undefined) return refuse(visit, unknownMunicipio(params.municipio!));
    const client = clientOf(request, options.trustProxy);
    const wait = route.missCost === undefined ? undefined : misses.waitOf(client);
    if (wait !== undefined) return refuse(visit, tooManyMisses(wait));
    let body = NO_BODY;
    if (route.method === 'POST') {
      const misfit = route.takes && headersMisfit(request.headers, route.takes);
      if (misfit !== undefined) return refuse(visit, { refusal: { faults: [misfit.fault] }, campo: misfit.campo });
      const read = await request.readBody(BODY_MAX_BYTES);
      if (typeof read === 'string') return refuse(visit, troubled(read));
      const contrary = route.takes && bodyMisfit(read);
      if (contrary !== undefined) return refuse(visit, { refusal: { faults: [contrary.fault] }, campo: contrary.campo });
      body = read;
    }
    if (underWay >= UNDER_WAY_MAX) {
      return refuse(visit, unavailable('Há requisições demais em andamento.', OVERLOAD_WAIT_S));
    }
    underWay += 1;
    try {
      const outcome = await route.handle({ world, municipio, params, body, site: siteOf(request) });
      const answer = answered(visit, outcome, route.status ?? 500);
      if (route.missCost !== undefined && answer.status === 404) misses.count(client, route.missCost);
      return answer;
    } finally {
      underWay -= 1;
    }
  };

  const live = async (): Promise<HttpAnswer> => healthy();
  const ready = async (visit: Visit): Promise<HttpAnswer> => {
    if (closing) return refuse(visit, unavailable('O serviço está sendo encerrado.', STORE_WAIT_S));
    if (!(await storeAnswers())) return refuse(visit, unavailable('O banco de dados não responde.', STORE_WAIT_S));
    return healthy();
  };
  const erro = (visit: Visit): HttpAnswer => {
    const codigo = visit.request.params.codigo!;
    const html = errorPage(codigo);
    return html === undefined ? refuse(visit, unknownCodigo()) : page(html);
  };
  const siteRoutes: Readonly<Record<string, (visit: Visit) => Promise<HttpAnswer> | HttpAnswer>> = {
    '/': (visit) => page(homePage(siteOf(visit.request))),
    '/health/live': live,
    '/health/ready': ready,
    [ERROS_PATH]: () => page(errorIndexPage()),
    [`${ERROS_PATH}/:codigo`]: erro,
  };

  const routes: HttpRoute[] = [
    ...Object.entries(siteRoutes).map(([path, work]): HttpRoute => {
      return { method: 'GET', path, handle: (request) => attend(request, path, work) };
    }),
    ...ROUTES.map((route): HttpRoute => {
      const path = `/:municipio${route.path}`;
      return { method: route.method, path, handle: (request) => attend(request, path, (visit) => throughRoute(visit, route)) };
    }),
  ];
  const server = await listenHttp({
    host: options.host,
    port: options.port,
    routes,
    onTrouble: (trouble, request, allow) =>
      attend(request, undefined, async (visit) => {
        const slug = firstSegment(request.url);
        const municipio = slug === undefined ? undefined : await find(visit, slug);
        if (trouble === 'unknown_path' && slug !== undefined && municipio === undefined) {
          return refuse(visit, unknownMunicipio(slug));
        }
        return refuse(visit, troubled(trouble, allow));
      }),
  });
  address = server.address;
  return {
    address,
    close: () => {
      closing = true;
      return server.close();
    },
  };
}

const NO_BODY = Buffer.alloc(0);

function page(html: string): HttpAnswer {
  return { status: 200, headers: PAGE_HEADERS, body: html };
}

function healthy(): HttpAnswer {
  return { status: 200, headers: JSON_HEADERS, body: '{"status":"OK"}' };
}

async function pingStore(world: World): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, PING_MAX_MS, false).unref());
  const there = world.store.ping().then(
    () => true,
    () => false,
  );
  return Promise.race([there, late]);
}

/** Who asks while a question is under way gets its answer, so that trouble does not multiply questions. */
function shared<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let asking: Promise<Value> | undefined;
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/** The address by which the caller reached us, when its headers hold one. */
function addressed({ headers, encrypted }: HttpRequest, trustProxy: boolean): string | undefined {
  const forwarded = trustProxy ? lastOf(headers['x-forwarded-host']) : undefined;
  const host = forwarded ?? headers.host;
  if (host === undefined || !HOST.test(host)) return undefined;
  const proto = trustProxy ? lastOf(headers['x-forwarded-proto']) : undefined;
  const isHttps = proto === 'https' || (proto === undefined && encrypted);
  return `${isHttps ? 'https' : 'http'}://${host}`;
}

/** The nearest proxy writes last; what stands before it came from outside. */
function clientOf({ headers, remoteAddress }: HttpRequest, trustProxy: boolean): string {
  const forwarded = trustProxy ? lastOf(headers['x-forwarded-for']) : undefined;
  return forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : remoteAddress;
}

function lastOf(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = typeof header === 'string' ? header : header.join(',');
  return text.slice(text.lastIndexOf(',') + 1).trim();
}

function firstSegment(url: string): string | undefined {
  const match = /^\/([^/?#]+)/.exec(url);
  if (match === null) return undefined;
  try {
    return decodeURIComponent(match[1]!);
  } catch {
    return match[1];
  }
}
