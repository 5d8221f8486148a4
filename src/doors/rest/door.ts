/**
 * The REST door: finds the municipality of a request, puts it to its route, and writes the answer with all that every
 * answer carries. Whatever goes wrong on the way, a bug included, is answered in the same envelope (D-02).
 */

import { setTimeout as pause } from 'node:timers/promises';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { isoMoment, momentIn } from '../../fiscal/moment.ts';
import { zoneOf } from '../../flows/gather-facts.ts';
import { type Municipio, findMunicipio as municipioOf, tabelaEmVigor } from '../../flows/queries.ts';
import {
  askStore,
  STORE_WAIT_S,
  type StoreTrouble,
  storeTroubleOf,
  tellSeldom,
  tellTrouble,
  troubleOfStore,
} from '../../flows/store-trouble.ts';
import type { World } from '../../flows/world.ts';
import { openapiText } from '../../published/openapi/openapi.ts';
import {
  ARQUIVOS_PATH,
  DOCS_PATH,
  ERROS_JSON_PATH,
  ERROS_PATH,
  OPENAPI_PATH,
  REFERENCE_PATH,
} from '../../published/paths.ts';
import {
  errorIndexPage,
  errorPage,
  errorsJsonText,
  homePage,
  respelt,
  unknownCodePage,
} from '../../published/site/error-pages.ts';
import { PAGE_POLICY } from '../../published/site/page-shell.ts';
import { referenceFile, referencePage, referencePolicy } from '../../published/site/reference.ts';
import { docsFile, docsPage, unknownDocsPage } from '../../published/site/site.ts';
import {
  describeSoap,
  faultSoap,
  internalSoap,
  performSoap,
  SOAP_PATH,
  type SoapAnswer,
  tooManyMissesSoap,
  tooMuchSoap,
} from '../soap/nfes.ts';
import type { Outcome, Refused } from './answers.ts';
import { ASIDE_BYTES, type Aside, CROWDED_ASIDE, TOO_DEAR } from './aside.ts';
import { type CertificateHeader, clientOf, shownBy, siteOf } from './caller.ts';
import { BODY_MAX_BYTES, bodyMisfit, headersMisfit } from './content.ts';
import { CORS_HEADERS, PREFLIGHT_HEADERS } from './cors.ts';
import { envelopeOf, statusOfRefusal } from './envelope.ts';
import { type HttpRoute, listenHttp, type TlsKeys } from './http.ts';
import { isHeld, tagOf } from './kept.ts';
import type { HttpAnswer, HttpRequest, Trouble } from './message.ts';
import { countMisses, type Misses } from './misses.ts';
import { nearPaths } from './near-paths.ts';
import { openQuotas, type Quotas, type RequestQuota, withLimits } from './quotas.ts';
import {
  internal,
  misfitRefused,
  SOAP_HINT,
  storeTroubled,
  tooDear,
  tooManyMisses,
  troubled,
  unavailable,
  unavailableText,
  unknownCodigo,
  unknownMunicipio,
} from './refusals.ts';
import { keyMisfit, refusedAs } from './repetition.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes.ts';

/** Requests with a flow at once. More would only wait in line for the database, each with its body in memory. */
const UNDER_WAY_MAX = 1_000;
const OVERLOAD_WAIT_S = 1;
const OVERLOADED = 'Há requisições demais em andamento.';
const CROWDED_BODIES = 'Há corpos demais chegando ao mesmo tempo, e este não chegou a tempo.';
const CROWDED = 'Há consultas demais em andamento deste endereço de rede.';
/** A database that takes longer to say that it is there is as good as gone. */
const PING_MAX_MS = 1_500;
/** A page changes only with the version of the service. */
const PAGES_FRESH_S = 300;

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PAGE_POLICY,
  'Referrer-Policy': 'same-origin',
};
const API_HEADERS: Readonly<Record<string, string>> = { 'Cache-Control': 'no-store' };
const JSON_TYPE: Readonly<Record<string, string>> = { 'Content-Type': 'application/json; charset=utf-8' };
const TEXT_TYPE: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain; charset=utf-8' };

/** As in the table of municipalities: what does not look like this is not asked of the database. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

export type { TlsKeys } from './http.ts';

export type RestDoorOptions = {
  readonly host: string;
  readonly port: number;
  /** Public address of the service; without it the caller's Host header tells. */
  readonly baseUrl?: string | undefined;
  /** There is one proxy in front, and its X-Forwarded-* headers are believed. */
  readonly trustProxy: boolean;
  /** Certificate and key in PEM; absent: plain HTTP. */
  readonly tls?: TlsKeys | undefined;
  /** Absent: a certificate is shown in the connection itself, or not at all. */
  readonly certificateHeader?: CertificateHeader | undefined;
  /** One line a request. */
  readonly accessLog: boolean;
  /** Answers requests with large bodies in another thread; absent: they are answered here. */
  readonly aside?: Aside | undefined;
};

export type RestDoor = {
  readonly address: string;
  /** From now on it says that it is not ready; `drainMs` milliseconds later it takes up nothing more, and ends what is under way. */
  close(drainMs?: number): Promise<void>;
};

/** A request on its way through the door, with what was found out about it. */
type Visit = {
  readonly request: HttpRequest;
  /** Pattern of the path, never the path: keys and protocol numbers open what they name. */
  readonly route: string | undefined;
  municipio: Municipio | undefined;
};

type Door = {
  readonly world: World;
  readonly options: RestDoorOptions;
  readonly misses: Misses;
  /** What keeps the database from being written to; undefined: nothing. */
  readonly storeTrouble: () => Promise<StoreTrouble | undefined>;
  readonly quotas: Quotas;
  /** The municipalities as they were last found, so that an error still says whose it is. */
  readonly lastKnown: Map<string, Municipio>;
  address: string;
  underWay: number;
  closing: boolean;
};

type Work = (visit: Visit) => Promise<HttpAnswer> | HttpAnswer;

export async function createRestDoor(world: World, options: RestDoorOptions): Promise<RestDoor> {
  const door: Door = {
    world,
    options,
    misses: countMisses(() => performance.now()),
    storeTrouble: shared(() => troubleIn(world)),
    quotas: openQuotas(() => performance.now()),
    lastKnown: new Map(),
    address: '',
    underWay: 0,
    closing: false,
  };
  const server = await listenHttp({
    host: options.host,
    port: options.port,
    tls: options.tls,
    routes: [...siteRoutes(door), ...soapRoutes(door), ...ROUTES.flatMap((route) => tenantRoutes(door, route))],
    onTrouble: async (trouble, request, allow) =>
      withAlways(
        alwaysAt(request),
        await attend(door, request, undefined, (visit) => answerTrouble(door, visit, trouble, allow)),
      ),
  });
  door.address = server.address;
  return {
    address: server.address,
    close: (drainMs) => {
      door.closing = true;
      return server.close(drainMs);
    },
  };
}

/** Every answer leaves through here, with its log line. */
async function attend(door: Door, request: HttpRequest, route: string | undefined, work: Work): Promise<HttpAnswer> {
  const visit: Visit = { request, route, municipio: undefined };
  let answer: HttpAnswer;
  try {
    answer = await work(visit);
  } catch (error) {
    answer = await answerFailure(door, visit, error);
  }
  const { municipio } = visit;
  if (door.options.accessLog) {
    const ms = Math.round((performance.now() - request.began) * 10) / 10;
    const { id, sentId, method } = request;
    const client = clientOf(request, door.options.trustProxy);
    const { status } = answer;
    const about = { request: id, client, client_request: sentId, method, route, status, ms, tenant: municipio?.tenant };
    door.world.log.info(about, 'request');
  }
  if (municipio === undefined) return answer;
  return { ...answer, headers: { 'X-NFSe-Ambiente': municipio.ambiente, ...answer.headers } };
}

/** The route, and the preflight of one that is open to pages. */
function tenantRoutes(door: Door, route: Route): readonly HttpRoute[] {
  const path = `/:municipio${route.path}`;
  const always = alwaysOf(route);
  const handled =
    (work: Work): HttpRoute['handle'] =>
    async (request) =>
      withAlways(always, await attend(door, request, path, work));
  const own: HttpRoute = { method: route.method, path, handle: handled((visit) => answerRoute(door, visit, route)) };
  if (!route.isPublic) return [own];
  return [own, { method: 'OPTIONS', path, handle: handled((visit) => answerPreflight(door, visit)) }];
}

async function answerPreflight(door: Door, visit: Visit): Promise<HttpAnswer> {
  const slug = visit.request.params.municipio!;
  if ((await findMunicipio(door, visit, slug)) === undefined) return refuse(door, visit, unknownMunicipio(slug));
  return PREFLIGHT;
}

const PREFLIGHT: HttpAnswer = { status: 204, headers: PREFLIGHT_HEADERS, body: '' };

/** Headers of every answer about the path of a route. */
function alwaysOf({ isPublic, always }: Route): Route['always'] {
  return isPublic ? { ...CORS_HEADERS, ...always } : always;
}

/** What every answer about a path says, unless this one says it better. */
function withAlways(always: Route['always'], answer: HttpAnswer): HttpAnswer {
  return always === undefined ? answer : { ...answer, headers: { ...always, ...answer.headers } };
}

/** The paths that have such headers, each as the pattern that it is; `:name` stands for one segment. */
const ALWAYS = ROUTES.flatMap((route) => {
  const always = alwaysOf(route);
  const pattern = new RegExp(`^${route.path.replace(/:\w+/g, '[^/]*')}$`);
  return always === undefined ? [] : [{ pattern, always }];
});

/** What every answer about the path of a request says, where no route takes the request. */
function alwaysAt({ url }: HttpRequest): Route['always'] {
  const path = url.replace(/\?.*$/s, '').replace(/^\/[^/]*/, '');
  return ALWAYS.find(({ pattern }) => pattern.test(path))?.always;
}

/**
 * The legacy port (D-70), which listens here and answers in words of its own (`../soap/nfes.ts`). Its service is called `Nfes`, and some
 * programs write it so in the address.
 */
function soapRoutes(door: Door): readonly HttpRoute[] {
  const route = `/:municipio${SOAP_PATH}`;
  const path = route.replace(/[^/]+$/, ':servico');
  const of = (work: Work) => (request: HttpRequest) =>
    attend(door, request, route, (visit) => (isSoapPath(request) ? work(visit) : besideSoap(door, visit)));
  return [
    { method: 'GET', path, handle: of((visit) => describeAsked(door, visit)) },
    { method: 'POST', path, handle: of((visit) => answerSoapCall(door, visit)) },
  ];
}

function isSoapPath({ params }: HttpRequest): boolean {
  return SOAP_PATH.endsWith(`/${params.servico!.toLowerCase()}`);
}

function besideSoap(door: Door, visit: Visit): HttpAnswer {
  const { method, headers, url } = visit.request;
  if (method !== 'POST') return refuse(door, visit, troubled('unknown_path', undefined, url));
  return faultSoap(headers, 404, `Não há serviço neste endereço. ${SOAP_HINT}`);
}

async function describeAsked(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const slug = request.params.municipio!;
  const municipio = await findMunicipio(door, visit, slug);
  if (municipio === undefined) return refuse(door, visit, unknownMunicipio(slug));
  const described = describeSoap(municipio, siteAs(door, request), searchOf(request));
  return described ?? redirect(307, '?wsdl');
}

async function answerSoapCall(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const { headers } = request;
  try {
    const municipio = await findMunicipio(door, visit, request.params.municipio!);
    if (municipio === undefined) return faultSoap(headers, 404, 'Não há município neste endereço.');
    const client = clientOf(request, door.options.trustProxy);
    const body = await request.readBody(BODY_MAX_BYTES);
    if (body === 'body_too_large') return faultSoap(headers, 413, 'O corpo passa do limite: divida o lote.');
    if (body === 'crowded') return faultSoap(headers, 503, CROWDED_BODIES, OVERLOAD_WAIT_S);
    if (typeof body === 'string') return faultSoap(headers, 400, 'O corpo não chegou inteiro.');
    if (door.underWay >= UNDER_WAY_MAX) return faultSoap(headers, 503, OVERLOADED, OVERLOAD_WAIT_S);
    door.underWay += 1;
    try {
      const { certificateHeader, tls } = door.options;
      const shown = () => shownBy(request, certificateHeader, tls !== undefined);
      const quota = door.quotas.of(municipio, client);
      quota.measure(body.length);
      // What is short may be a question, which is known when the envelope is read; what is long is counted before.
      if (body.length > ASIDE_BYTES) quota.enter();
      const answer =
        quota.refused !== undefined
          ? undefined
          : asideOf(door, body) === undefined
            ? await performSoap(door.world, municipio, { headers, body }, { shown, quota })
            : await asideSoap(door, visit, municipio, { body, quota });
      if (answer === undefined || quota.refused !== undefined) {
        return withLimits(quota, tooMuchSoap(headers, quota.refused!));
      }
      const wait = answer.isMiss ? door.misses.count(client, 1) : undefined;
      return wait === undefined ? withLimits(quota, answer) : tooManyMissesSoap(headers, wait);
    } finally {
      door.underWay -= 1;
    }
  } catch (error) {
    const trouble = await loggedTrouble(door, visit, error);
    if (trouble === undefined) return internalSoap(headers, request.id);
    return faultSoap(headers, 503, unavailableText(trouble.mensagem, trouble.esperaS), trouble.esperaS);
  }
}

async function asideSoap(
  door: Door,
  visit: Visit,
  municipio: Municipio,
  { body, quota }: { readonly body: Buffer; readonly quota: RequestQuota },
): Promise<SoapAnswer> {
  const { request } = visit;
  const { certificateHeader, tls, aside } = door.options;
  const call = {
    route: 'soap',
    municipio,
    params: request.params,
    search: searchOf(request),
    headers: request.headers,
    body,
    site: siteAs(door, request),
    shown: shownBy(request, certificateHeader, tls !== undefined),
  } as const;
  const answer = await aside!.answer(call, { client: clientOf(request, door.options.trustProxy), quota });
  if (answer === 'crowded') return faultSoap(request.headers, 503, CROWDED_ASIDE, OVERLOAD_WAIT_S);
  return answer === 'too_dear' ? faultSoap(request.headers, 413, TOO_DEAR) : answer;
}

async function answerRoute(door: Door, visit: Visit, route: Route): Promise<HttpAnswer> {
  const { request } = visit;
  const slug = request.params.municipio!;
  const municipio = await findMunicipio(door, visit, slug);
  if (municipio === undefined) return refuse(door, visit, unknownMunicipio(slug));
  const client = clientOf(request, door.options.trustProxy);
  const turn = route.missCost === undefined ? 0 : door.misses.turnOf(client);
  if (turn === undefined) return refuse(door, visit, unavailable(CROWDED, OVERLOAD_WAIT_S));
  if (turn > 0) await pause(turn);
  const quota = route.quotaCost === undefined ? undefined : door.quotas.of(municipio, client, route.quotaCost);
  const spent = quota?.isSpent();
  if (spent !== undefined) return withLimits(quota, refuse(door, visit, refusedAs(spent)));
  const body = route.method === 'POST' ? await acceptedBody(request, route) : NO_BODY;
  if ('refusal' in body) return refuse(door, visit, body);
  quota?.measure(body.length);
  const tooMuch = quota?.enter();
  if (tooMuch !== undefined) return withLimits(quota, refuse(door, visit, refusedAs(tooMuch)));
  if (door.underWay >= UNDER_WAY_MAX) {
    return refuse(door, visit, unavailable(OVERLOADED, OVERLOAD_WAIT_S));
  }
  door.underWay += 1;
  try {
    const { params, headers } = request;
    const { certificateHeader, tls } = door.options;
    const call = { municipio, params, search: searchOf(request), headers, body, site: siteAs(door, request) };
    const shown = () => shownBy(request, certificateHeader, tls !== undefined);
    const aside = asideOf(door, body);
    const outcome =
      aside === undefined
        ? await route.handle({
            ...call,
            world: door.world,
            get query() {
              return queryOf(request);
            },
            shown,
            quota,
          })
        : await aside.answer({ ...call, route: route.id, shown: shown() }, { client, quota });
    if (outcome === 'crowded') return refuse(door, visit, unavailable(CROWDED_ASIDE, OVERLOAD_WAIT_S));
    if (outcome === 'too_dear') return refuse(door, visit, tooDear(TOO_DEAR));
    const answer = withLimits(quota, answerOf(door, visit, outcome, route.status));
    const isGuess = 'isMiss' in outcome && outcome.isMiss === true;
    const isMiss = isGuess || answer.status === 404;
    const wait = route.missCost !== undefined && isMiss ? door.misses.count(client, route.missCost) : undefined;
    // Where signatures are required nothing that was sent is looked up before its own has held: whoever asks for a note has a name.
    const isSigned = !isGuess && route.method === 'POST' && AMBIENTES[municipio.ambiente].signatureRefuses;
    return wait === undefined || isSigned ? answer : refuse(door, visit, tooManyMisses(wait));
  } finally {
    door.underWay -= 1;
  }
}

/** Where a request with this body is answered, if not here. */
function asideOf({ options }: Door, body: Buffer): Aside | undefined {
  return body.length > ASIDE_BYTES ? options.aside : undefined;
}

const NO_BODY = Buffer.alloc(0);

/** What the headers refuse is not read. */
async function acceptedBody(request: HttpRequest, { takes, takesKey }: Route): Promise<Buffer | Refused> {
  const { headers } = request;
  const misfit = (takes && headersMisfit(headers, takes)) ?? (takesKey && keyMisfit(headers));
  if (misfit !== undefined) return misfitRefused(misfit);
  const body = await request.readBody(BODY_MAX_BYTES);
  // D-14: an address that takes anything has one answer, which no body changes.
  if (body === 'body_too_large' && takes === undefined) return NO_BODY;
  if (body === 'crowded') return unavailable(CROWDED_BODIES, OVERLOAD_WAIT_S);
  if (typeof body === 'string') return troubled(body, undefined);
  const contrary = takes && bodyMisfit(request.headers, body, takes);
  return contrary === undefined ? body : misfitRefused(contrary);
}

/** Throws when the store does. */
async function findMunicipio(door: Door, visit: Visit, slug: string): Promise<Municipio | undefined> {
  if (!SLUG.test(slug)) return undefined;
  visit.municipio = door.lastKnown.get(slug);
  visit.municipio = await municipioOf(door.world, slug);
  if (visit.municipio === undefined) door.lastKnown.delete(slug);
  else door.lastKnown.set(slug, visit.municipio);
  return visit.municipio;
}

/** What comes before, beside or instead of a route. Below a municipality it is still an answer of that municipality. */
async function answerTrouble(
  door: Door,
  visit: Visit,
  trouble: Trouble,
  allow: string | undefined,
): Promise<HttpAnswer> {
  const slug = firstSegment(visit.request.url);
  const municipio = slug === undefined ? undefined : await findMunicipio(door, visit, slug);
  const isElsewhere = trouble === 'unknown_path' && slug !== undefined && municipio === undefined;
  if (isElsewhere) return refuse(door, visit, unknownMunicipio(slug));
  const nearby = municipio === undefined ? [] : nearbyOf(trouble, visit.request);
  return refuse(door, visit, troubled(trouble, allow, visit.request.url, nearby));
}

/** What exists near to an address that does not, or that has another method. */
function nearbyOf(trouble: Trouble, { url, method }: HttpRequest): readonly string[] {
  if (trouble === 'unknown_path') return nearPaths(url, OPEN_ROUTES);
  if (trouble !== 'method_not_allowed') return [];
  return nearPaths(
    url,
    OPEN_ROUTES.filter((route) => route.method === method),
  );
}

/** Those that still do what they are there for. */
const OPEN_ROUTES = ROUTES.filter(({ status }) => status !== 410);

async function answerFailure(door: Door, visit: Visit, error: unknown): Promise<HttpAnswer> {
  const trouble = await loggedTrouble(door, visit, error);
  return refuse(door, visit, trouble === undefined ? internal(visit.request.id) : storeTroubled(trouble));
}

/** A database that cannot be used just now, or a bug (undefined): logged, and answered without a word of it. */
async function loggedTrouble(door: Door, visit: Visit, error: unknown): Promise<StoreTrouble | undefined> {
  const { request, route, municipio } = visit;
  const about = { request: request.id, route, tenant: municipio?.tenant };
  const trouble = storeTroubleOf(error) ?? (await door.storeTrouble());
  const { log } = door.world;
  if (trouble === undefined || storeTroubleOf(error) !== undefined) tellTrouble(log, error, about, FAILED);
  else tellSeldom(log, { err: error, ...about }, `${trouble.mensagem} Por isso ${FAILED}`);
  return trouble;
}

const FAILED = 'uma requisição falhou';

function answerOf(door: Door, visit: Visit, outcome: Outcome, status: number): HttpAnswer {
  if ('refusal' in outcome) return refuse(door, visit, outcome);
  if ('written' in outcome) {
    const { written, keeping } = outcome;
    return unlessHeld(visit.request, written.bytes, written.tag, JSON_TYPE, keeping);
  }
  if ('served' in outcome) {
    const { served, type, headers } = outcome;
    return { status, headers: { ...API_HEADERS, 'Content-Type': type, ...headers }, body: served };
  }
  const { body, headers } = outcome;
  if (body === undefined) return { status, headers: { ...API_HEADERS, ...headers }, body: '' };
  if (typeof body === 'string') return { status, headers: { ...API_HEADERS, ...TEXT_TYPE, ...headers }, body };
  return { status, headers: { ...API_HEADERS, ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
}

function refuse(door: Door, visit: Visit, { refusal, campo, status, em, headers, beside }: Refused): HttpAnswer {
  const timestamp = isoMoment(momentIn(zoneOf(visit.municipio?.codigoIbge), em ?? door.world.now()));
  return {
    status: status ?? statusOfRefusal(refusal),
    headers: { ...API_HEADERS, ...JSON_TYPE, ...headers },
    body: JSON.stringify({ ...envelopeOf(refusal, siteAs(door, visit.request), timestamp, campo), ...beside }),
  };
}

/** Address of the service as the caller knows it. */
function siteAs({ options, address }: Door, request: HttpRequest): string {
  return options.baseUrl ?? siteOf(request, options.trustProxy) ?? address;
}

/** What the service answers for itself, outside any municipality. */
const SITE: Readonly<Record<string, (door: Door, visit: Visit) => ReturnType<Work>>> = {
  // It shows the address by which it was asked for, so it is nobody else's.
  '/': (door, { request }) => page(request, homePage(siteAs(door, request)), 'no-store'),
  '/health/live': () => healthy(),
  '/health/ready': answerReadiness,
  [ERROS_PATH]: (_door, { request }) => page(request, errorIndexPage(questionOf(request)), PAGES_KEPT),
  // Kept by who asked for it, for it shows the address by which it was asked for.
  [ERROS_JSON_PATH]: async (door, { request }) =>
    kept(request, await errorsJsonText(siteAs(door, request)), JSON_TYPE, OWN_KEPT),
  [DOCS_PATH]: (door, visit) => answerDocs(door, visit, ''),
  [`${DOCS_PATH}/`]: () => redirect(308, '../docs'),
  [`${DOCS_PATH}/:pagina`]: (door, visit) => answerDocs(door, visit, visit.request.params.pagina!),
  [`${ARQUIVOS_PATH}/:arquivo`]: answerDocsFile,
  [REFERENCE_PATH]: (door, { request }) => reference(door, request),
  [`${REFERENCE_PATH}/:arquivo`]: answerReferenceFile,
  [OPENAPI_PATH]: (door, { request }) => kept(request, openapiText(siteAs(door, request)), JSON_TYPE, OWN_KEPT),
  [`${ERROS_PATH}/:codigo`]: (door, visit) => answerCode(door, visit, visit.request.params.codigo!),
};

/** Their paths; who may ask is said in `published/security.ts`. */
export const SITE_PATHS: readonly string[] = Object.keys(SITE);

function siteRoutes(door: Door): readonly HttpRoute[] {
  return Object.entries(SITE).flatMap(([path, answer]): HttpRoute[] => {
    const always = PUBLIC_PATHS.has(path) ? CORS_HEADERS : undefined;
    const handle: HttpRoute['handle'] = async (request) =>
      withAlways(always, await attend(door, request, path, (visit) => answer(door, visit)));
    const own: HttpRoute = { method: 'GET', path, handle };
    return always === undefined ? [own] : [own, { method: 'OPTIONS', path, handle: async () => PREFLIGHT }];
  });
}

/** What programs read outside any municipality; a page of any site may (CORS). */
const PUBLIC_PATHS: ReadonlySet<string> = new Set([ERROS_JSON_PATH, `${ARQUIVOS_PATH}/:arquivo`, OPENAPI_PATH]);

/** The page of a code, whatever its letters; a person who asks for one that does not exist gets a page, a program the envelope. */
function answerCode(door: Door, visit: Visit, codigo: string): HttpAnswer {
  const html = errorPage(codigo);
  if (html !== undefined) return page(visit.request, html, PAGES_KEPT);
  const right = respelt(codigo);
  if (right !== undefined) return redirect(308, right);
  return orPage(visit.request, refuse(door, visit, unknownCodigo()), unknownCodePage(codigo));
}

/** A refusal, or the page that says the same, for who would rather have a page. */
function orPage({ headers }: HttpRequest, refused: HttpAnswer, html: string): HttpAnswer {
  const vary = { Vary: 'Accept' };
  if (!/\btext\/html\b/.test(headers.accept ?? '')) return { ...refused, headers: { ...refused.headers, ...vary } };
  return { status: refused.status, headers: { ...API_HEADERS, ...PAGE_HEADERS, ...vary }, body: html };
}

function reference(door: Door, request: HttpRequest): HttpAnswer {
  const policy = { 'Content-Security-Policy': referencePolicy(siteAs(door, request)) };
  return kept(request, referencePage(), { ...PAGE_HEADERS, ...policy }, OWN_KEPT);
}

async function answerReferenceFile(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const file = await referenceFile(request.params.arquivo!);
  if (file === undefined) return refuse(door, visit, troubled('unknown_path', undefined));
  const { type, bytes, zipped } = file;
  const isZipped = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(request.headers['accept-encoding'] ?? ''));
  const headers = { 'Content-Type': type, Vary: 'Accept-Encoding', ...(isZipped && { 'Content-Encoding': 'gzip' }) };
  const body = isZipped ? zipped : bytes;
  return unlessHeld(request, body, tagOf(body), headers, PAGES_KEPT);
}

/** A page of the documentation; it shows the address by which it was asked for. */
async function answerDocs(door: Door, visit: Visit, slug: string): Promise<HttpAnswer> {
  const { request } = visit;
  const html = await docsPage(slug, siteAs(door, request), queryOf(request), () => tabelaEmVigor(door.world));
  if (html !== undefined) return kept(request, html, PAGE_HEADERS, OWN_KEPT);
  return orPage(request, refuse(door, visit, troubled('unknown_path', undefined)), unknownDocsPage());
}

/** A file that a page offers, with the address of the service in it. */
function answerDocsFile(door: Door, visit: Visit): HttpAnswer {
  const { request } = visit;
  const file = docsFile(request.params.arquivo!, siteAs(door, request));
  if (file === undefined) return refuse(door, visit, troubled('unknown_path', undefined));
  return kept(request, file.text, { 'Content-Type': file.type }, OWN_KEPT);
}

/** `to`: relative to the address that was asked for, so that it holds behind any other. */
function redirect(status: 307 | 308, to: string): HttpAnswer {
  return { status, headers: { ...API_HEADERS, Location: to }, body: '' };
}

async function answerReadiness(door: Door, visit: Visit): Promise<HttpAnswer> {
  if (door.closing) return refuse(door, visit, unavailable('O serviço está sendo encerrado.', STORE_WAIT_S));
  const trouble = await door.storeTrouble();
  return trouble === undefined ? healthy() : refuse(door, visit, storeTroubled(trouble));
}

const PAGES_KEPT = `public, max-age=${PAGES_FRESH_S}`;
const OWN_KEPT = `private, max-age=${PAGES_FRESH_S}`;

function page(request: HttpRequest, html: string, cacheControl: string): HttpAnswer {
  return kept(request, html, PAGE_HEADERS, cacheControl);
}

function kept(
  request: HttpRequest,
  body: string,
  own: Readonly<Record<string, string>>,
  cacheControl: string,
): HttpAnswer {
  return unlessHeld(request, body, tagOf(body), own, cacheControl);
}

/** Who has it already as it is now need not get it again. */
function unlessHeld(
  { headers }: HttpRequest,
  body: string | Buffer,
  tag: string,
  own: Readonly<Record<string, string>>,
  cacheControl: string,
): HttpAnswer {
  const caching = { 'Cache-Control': cacheControl, ETag: tag };
  if (isHeld(headers, tag)) return { status: 304, headers: caching, body: '' };
  return { status: 200, headers: { ...own, ...caching }, body };
}

/** What is searched for, as a form sends it. */
function questionOf(request: HttpRequest): string {
  return queryOf(request).get('q') ?? '';
}

function queryOf(request: HttpRequest): URLSearchParams {
  return new URLSearchParams(searchOf(request));
}

function searchOf({ url }: HttpRequest): string {
  const place = url.indexOf('?');
  return place < 0 ? '' : url.slice(place);
}

function healthy(): HttpAnswer {
  return { status: 200, headers: { ...API_HEADERS, ...JSON_TYPE }, body: '{"status":"OK"}' };
}

async function troubleIn(world: World): Promise<StoreTrouble | undefined> {
  const late = new Promise<StoreTrouble>((resolve) => {
    setTimeout(resolve, PING_MAX_MS, troubleOfStore(undefined)).unref();
  });
  return Promise.race([askStore(world), late]);
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

function firstSegment(url: string): string | undefined {
  const match = /^\/([^/?#]+)/.exec(url);
  if (match === null) return undefined;
  try {
    return decodeURIComponent(match[1]!);
  } catch {
    return match[1];
  }
}
