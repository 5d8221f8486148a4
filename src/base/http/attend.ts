/** Handles a visit from its arrival to its answer and its line in the log. Every failure is answered, a bug included (D-02). */

import { isoMoment } from '../../fiscal/moment.ts';
import { statusNacional } from '../../published/openapi/nacional.ts';
import { countRequest } from '../measures/counters.ts';
import { inRequest, noteFailure, noteInSpan } from '../traces/traces.ts';
import { municipalMoment } from '../world/gather-facts.ts';
import { wasDiscarded, worldOf } from '../world/relogio.ts';
import { type StoreTrouble, storeTroubleOf, tellSeldom, tellTrouble } from '../world/store-trouble.ts';
import { answerCacheable, tagOf } from './caching.ts';
import { clientOf } from './caller.ts';
import { challengeOf } from './challenges.ts';
import { envelopeOf, PROBLEM, problemOf, statusOfRefusal } from './envelope.ts';
import { envelopeNacionalOf, isNacional } from './envelope-nacional.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';
import { preferType } from './negotiation.ts';
import { answerFile } from './ranges.ts';
import { refuseAfterBug, refuseForStore, refuseRange, refuseUnknownMunicipio } from './refusals.ts';
import type { Outcome, Refused, Route } from './route.ts';
import { type Door, siteOf, type Visit, type Work } from './visit.ts';

/** Every answer leaves through here. `route`: the pattern of the path, if the request has one. */
export function attend(door: Door, request: HttpRequest, route: string | undefined, work: Work): Promise<HttpAnswer> {
  // Pages and health checks belong to no trace.
  if (route?.startsWith(OF_A_MUNICIPIO) !== true) return answerVisit(door, request, route, work);
  const { id, method, headers } = request;
  const about = { 'nfse.requisicao': id, 'http.request.method': method, 'http.route': route };
  const answering = () => answerVisit(door, request, route, work);
  return inRequest(`${method} ${route}`, headers['traceparent'], about, answering);
}

/** Beginning of all route patterns below a municipality. */
const OF_A_MUNICIPIO = '/:municipio';

async function answerVisit(
  door: Door,
  request: HttpRequest,
  route: string | undefined,
  work: Work,
): Promise<HttpAnswer> {
  const visit: Visit = { request, route, municipio: undefined };
  let answer: HttpAnswer;
  try {
    answer = await work(visit);
  } catch (error) {
    answer = await answerFailure(door, visit, error);
  }
  const ms = performance.now() - request.began;
  countRequest('publica', { method: request.method, route, status: answer.status, ms });
  if (door.options.accessLog) logVisit(door, visit, answer, ms);
  const { municipio } = visit;
  noteInSpan({ 'http.response.status_code': answer.status, 'nfse.municipio': municipio?.tenant });
  if (answer.status >= 500) noteFailure();
  if (municipio === undefined) return answer;
  return { ...answer, headers: { 'X-NFSe-Ambiente': municipio.ambiente, ...answer.headers } };
}

async function answerFailure(door: Door, visit: Visit, error: unknown): Promise<HttpAnswer> {
  const { municipio, request } = visit;
  // A request to a sandbox fails if its owner discards it at the same moment.
  if (municipio !== undefined && (await wasDiscarded(door.world, municipio)))
    return refuse(door, visit, refuseUnknownMunicipio(municipio.tenant));
  const trouble = await logFailure(door, visit, error);
  return refuse(door, visit, trouble === undefined ? refuseAfterBug(request.id) : refuseForStore(trouble));
}

function logVisit(
  { world, options }: Door,
  { request, route, municipio, registro }: Visit,
  { status }: HttpAnswer,
  took: number,
): void {
  const ms = Math.round(took * 10) / 10;
  const { id, sentId, method } = request;
  const client = clientOf(request, options.trustProxy);
  const about = { request: id, client, client_request: sentId, method, route, status, ms, tenant: municipio?.tenant };
  const line = { ...about, ...registro };
  // A load balancer sends these every few seconds.
  if (PROBES.has(route ?? '')) world.log.debug?.(line, 'request');
  else world.log.info(line, 'request');
}

/** Probes, which ask whether the service is up. */
const PROBES: ReadonlySet<string> = new Set(['/health/live', '/health/ready']);

const FAILED = 'uma requisição falhou';

/** Logs a failure. The result is the trouble of the database behind it; undefined: a bug. */
export async function logFailure(door: Door, visit: Visit, error: unknown): Promise<StoreTrouble | undefined> {
  const { request, route, municipio } = visit;
  const about = { request: request.id, route, tenant: municipio?.tenant };
  const trouble = storeTroubleOf(error) ?? (await door.storeTrouble());
  const { log } = door.world;
  if (trouble === undefined || storeTroubleOf(error) !== undefined) tellTrouble(log, error, about, FAILED);
  else tellSeldom(log, { err: error, ...about }, `${trouble.mensagem} Por isso ${FAILED}`);
  return trouble;
}

export const API_HEADERS: Readonly<Record<string, string>> = { 'Cache-Control': 'no-store' };
export const JSON_TYPE: Readonly<Record<string, string>> = { 'Content-Type': 'application/json; charset=utf-8' };
const TEXT_TYPE: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain; charset=utf-8' };

/** The answer of a route to the request that it took. */
export function writeOutcome(door: Door, visit: Visit, outcome: Outcome, route: Route): HttpAnswer {
  if ('refusal' in outcome) return refuseAt(door, visit, outcome, route);
  const { status, headers: announced } = route;
  if ('written' in outcome) {
    const { written, keeping } = outcome;
    return answerCacheable(visit.request, written.bytes, JSON_TYPE, keeping, written.tag);
  }
  if ('served' in outcome) {
    const { served, type, headers } = outcome;
    return { status, headers: { ...API_HEADERS, 'Content-Type': type, ...headers }, body: served };
  }
  if ('file' in outcome) {
    const { file, type, headers } = outcome;
    const answer = answerFile(visit.request, file, { ...headers, 'Content-Type': type });
    return 'status' in answer ? answer : refuse(door, visit, refuseRange(answer.bytes));
  }
  if ('pendente' in outcome) throw new Error(`${route.id} settles nothing`);
  const { body, headers, registro } = outcome;
  if (registro !== undefined) visit.registro = registro;
  if (body === undefined) return { status, headers: { ...API_HEADERS, ...headers }, body: '' };
  if (typeof body === 'string') return { status, headers: { ...API_HEADERS, ...TEXT_TYPE, ...headers }, body };
  const text = JSON.stringify(body);
  if (announced.includes('ETag')) {
    return answerCacheable(visit.request, text, { ...JSON_TYPE, ...headers }, REVALIDATED, tagOf(text));
  }
  return { status, headers: { ...API_HEADERS, ...JSON_TYPE, ...headers }, body: text };
}

/** A refusal of a route; one for want of a proof of identity says which proofs the route takes. */
function refuseAt(door: Door, visit: Visit, refused: Refused, route: Route): HttpAnswer {
  const answer = refuse(door, visit, refused);
  if (answer.status !== 401) return answer;
  const challenge = challengeOf(route, visit.municipio!, visit.request, refused.refusal.faults[0].codigo);
  return { ...answer, headers: { ...answer.headers, ...challenge } };
}

/** Cacheable only by the client itself, which must revalidate each time. */
const REVALIDATED = 'private, no-cache';

/** A refusal in its envelope, with the time of the municipality. */
export function refuse(door: Door, visit: Visit, { refusal, campo, status, em, headers, beside }: Refused): HttpAnswer {
  const { municipio } = visit;
  visit.registro = { erro: [...new Set(refusal.faults.map(({ codigo }) => codigo))].join(' ') };
  const now = municipio === undefined ? door.world.now() : worldOf(door.world, municipio).now();
  const timestamp = isoMoment(municipalMoment(municipio?.codigoIbge, em ?? now));
  const { request } = visit;
  const [site, usual] = [siteOf(door, request), status ?? statusOfRefusal(refusal)];
  const answer = { headers: { ...API_HEADERS, ...JSON_TYPE, ...headers } };
  if (isNacional(request.url)) {
    const envelope = envelopeNacionalOf(refusal, { site, timestamp, ambiente: municipio?.ambiente });
    return { ...answer, status: statusNacional(usual, request.method), body: JSON.stringify(envelope) };
  }
  const envelope = { ...envelopeOf(refusal, site, timestamp, campo), ...beside };
  const vary = { ...answer.headers, Vary: 'Accept' };
  if (preferType(request.headers, ['application/json', PROBLEM]) !== PROBLEM)
    return { headers: vary, status: usual, body: JSON.stringify(envelope) };
  const problem = { ...problemOf(envelope, usual, request.id), ...envelope };
  return { headers: { ...vary, 'Content-Type': PROBLEM }, status: usual, body: JSON.stringify(problem) };
}

/** `to`: relative to the requested address, so that it works behind any public address. */
export function redirect(status: 303 | 307 | 308, to: string): HttpAnswer {
  return { status, headers: { ...API_HEADERS, Location: to }, body: '' };
}
