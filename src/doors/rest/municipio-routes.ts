/**
 * The routes of the municipalities as HTTP (D-01). A request finds its municipality, passes the limits and brings a valid body; then its
 * flow answers.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type AsideTrouble, CROWDED_ASIDE, TOO_DEAR } from '../../base/http/aside.ts';
import { attend, refuse, writeOutcome } from '../../base/http/attend.ts';
import { clientOf } from '../../base/http/caller.ts';
import { bodyMisfit, headersMisfit } from '../../base/http/content.ts';
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import { addLimits, type RequestQuota } from '../../base/http/quotas.ts';
import {
  refuseMisfit,
  refuseTooDear,
  refuseTooManyMisses,
  refuseTrouble,
  refuseUnavailable,
  refuseUnknownMunicipio,
} from '../../base/http/refusals.ts';
import { keyMisfit, refuseAsFlow } from '../../base/http/repetition.ts';
import type { Call, Outcome, Refused, Route } from '../../base/http/route.ts';
import type { HttpRoute } from '../../base/http/router.ts';
import {
  asideOf,
  CROWD_WAIT_S,
  CROWDED_BODIES,
  CROWDED_QUESTIONS,
  CROWDED_SERVICE,
  type Door,
  findMunicipio,
  presentedIn,
  searchOf,
  siteOf,
  type Visit,
  type Work,
  workInPlace,
} from '../../base/http/visit.ts';
import { traceparentNow } from '../../base/traces/traces.ts';
import { worldOf } from '../../base/world/relogio.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import type { Provocacao } from '../../fiscal/simular.ts';
import { BODY_MAX_BYTES } from '../../published/http-limits.ts';
import { NACIONAL_PATH } from '../../published/paths.ts';
import { AMBIENTE_PATH } from '../../subjects/ensaios/ambientes.rest.ts';
import { keepForOwner } from '../../subjects/ensaios/keep-for-owner.rest.ts';
import { alterAnswer, answerProvoked, provocationIn } from '../../subjects/ensaios/provocar.rest.ts';
import type { Municipio } from '../../subjects/notas/queries.ts';
import { addHeaders, headersOfRoute, PREFLIGHT } from './path-headers.ts';
import { ROUTES } from './routes.ts';

export function municipioRoutes(door: Door): readonly HttpRoute[] {
  return ROUTES.flatMap((route) => spellingsOf(route).flatMap((path) => httpRoutesOf(door, route, path)));
}

/** The patterns of a route: programs of the national API write its segment in two ways. */
function spellingsOf({ path, isNacional }: Route): readonly string[] {
  const own = `/:municipio${path}`;
  return isNacional ? [...new Set([own, own.replace(NACIONAL_PATH, NACIONAL_PATH.toLowerCase())])] : [own];
}

/** The route at one of its patterns, and its preflight when web pages may call it. */
function httpRoutesOf(door: Door, route: Route, path: string): readonly HttpRoute[] {
  const headers = headersOfRoute(route);
  const handleBy =
    (work: Work): HttpRoute['handle'] =>
    async (request) =>
      addHeaders(headers, await attend(door, request, path, work));
  const own: HttpRoute = { method: route.method, path, handle: handleBy((visit) => answerRoute(door, visit, route)) };
  if (!route.isPublic) return [own];
  return [own, { method: 'OPTIONS', path, handle: handleBy((visit) => answerPreflight(door, visit)) }];
}

async function answerPreflight(door: Door, visit: Visit): Promise<HttpAnswer> {
  const slug = visit.request.params['municipio']!;
  if ((await findMunicipio(door, visit, slug)) !== undefined) return PREFLIGHT;
  return refuse(door, visit, refuseUnknownMunicipio(slug));
}

/** A request that has passed every check before its flow. */
type Admitted = {
  readonly municipio: Municipio;
  readonly client: string;
  readonly quota: RequestQuota | undefined;
  readonly body: Buffer;
  /** Bytes of work that the body asks for. */
  readonly weight: number;
};

async function answerRoute(door: Door, visit: Visit, route: Route): Promise<HttpAnswer> {
  const slug = visit.request.params['municipio']!;
  const municipio = await findMunicipio(door, visit, slug);
  if (municipio === undefined) return refuse(door, visit, refuseUnknownMunicipio(slug));
  const provocacao = provocationIn(municipio, visit.request);
  const { answer, corpo } = await answerKnown(door, visit, route, municipio, provocacao);
  // Requests that manage the sandbox itself are not listed among its last requests.
  if (!route.path.startsWith(AMBIENTE_PATH)) keepForOwner(door, visit, corpo, answer);
  return alterAnswer(door, visit, municipio, answer, provocacao);
}

/** `corpo`: undefined when the body was not read. */
type Answered = { readonly answer: HttpAnswer; readonly corpo?: Buffer };

async function answerKnown(
  door: Door,
  visit: Visit,
  route: Route,
  municipio: Municipio,
  provocacao: Provocacao,
): Promise<Answered> {
  const { request } = visit;
  const client = clientOf(request, door.options.trustProxy);
  const turn = route.missCost === undefined ? 0 : door.misses.turnOf(client);
  if (turn === undefined) return { answer: refuse(door, visit, refuseUnavailable(CROWDED_QUESTIONS, CROWD_WAIT_S)) };
  if (turn > 0) await pause(turn);
  const quota = route.quotaCost === undefined ? undefined : door.quotas.of(municipio, client, route.quotaCost);
  const spent = quota?.isSpent();
  if (spent !== undefined) return { answer: addLimits(quota, refuse(door, visit, refuseAsFlow(spent))) };
  const provoked = answerProvoked(door, visit, provocacao);
  if (provoked !== undefined) return { answer: addLimits(quota, provoked) };
  const body = route.method === 'POST' || route.method === 'PATCH' ? await readFitBody(request, route) : NO_BODY;
  if ('refusal' in body) return { answer: refuse(door, visit, body) };
  const weight = route.weigh?.(body) ?? body.length;
  return { answer: await answerFit(door, visit, route, { municipio, client, quota, body, weight }), corpo: body };
}

async function answerFit(door: Door, visit: Visit, route: Route, admitted: Admitted): Promise<HttpAnswer> {
  const { quota, weight } = admitted;
  quota?.measure(weight);
  const tooMuch = await quota?.enter();
  if (tooMuch !== undefined) return addLimits(quota, refuse(door, visit, refuseAsFlow(tooMuch)));
  const answer = await workInPlace(door, admitted.municipio, () => answerAdmitted(door, visit, route, admitted));
  return answer ?? refuse(door, visit, refuseUnavailable(CROWDED_SERVICE, CROWD_WAIT_S));
}

const NO_BODY = Buffer.alloc(0);

/** A body that its headers refuse is not read. */
async function readFitBody(
  request: HttpRequest,
  { takes, nacional, takesKey, isBodyOptional }: Route,
): Promise<Buffer | Refused> {
  const { headers } = request;
  if (isBodyOptional && headers['content-type'] === undefined && Number(headers['content-length'] ?? 0) === 0)
    return NO_BODY;
  const misfit = (takes && headersMisfit(headers, { takes, nacional })) ?? (takesKey && keyMisfit(headers));
  if (misfit !== undefined) return refuseMisfit(misfit);
  const body = await request.readBody(BODY_MAX_BYTES);
  // D-14: an address that accepts any body has one answer for every body.
  if (body === 'body_too_large' && takes === undefined) return NO_BODY;
  if (body === 'crowded') return refuseUnavailable(CROWDED_BODIES, CROWD_WAIT_S);
  if (typeof body === 'string') return refuseTrouble(body, undefined);
  const contrary = takes && bodyMisfit(headers, body, { takes, nacional });
  return contrary === undefined ? body : refuseMisfit(contrary);
}

async function answerAdmitted(door: Door, visit: Visit, route: Route, admitted: Admitted): Promise<HttpAnswer> {
  const { municipio, client, quota } = admitted;
  const outcome = await settleRoute(door, visit, route, admitted);
  if (outcome === 'crowded') return refuse(door, visit, refuseUnavailable(CROWDED_ASIDE, CROWD_WAIT_S));
  if (outcome === 'too_dear') return refuse(door, visit, refuseTooDear(TOO_DEAR));
  const answer = addLimits(quota, writeOutcome(door, visit, outcome, route));
  const isGuess = 'isMiss' in outcome && outcome.isMiss === true;
  const isMiss = isGuess || answer.status === 404;
  const excess = route.missCost !== undefined && isMiss ? await door.misses.count(client, route.missCost) : undefined;
  // A signed POST is no guess: with mandatory signatures, the note is looked up only after the signature is verified.
  const isSigned = !isGuess && route.method === 'POST' && AMBIENTES[municipio.ambiente].signatureRefuses;
  return excess === undefined || isSigned ? answer : refuse(door, visit, refuseTooManyMisses(excess));
}

/** Performs the flow of a route, and makes the answer of what it left pending. */
async function settleRoute(
  door: Door,
  visit: Visit,
  route: Route,
  admitted: Admitted,
): Promise<Outcome | AsideTrouble> {
  const call = callOf(door, visit, admitted);
  const outcome = await performRoute(door, visit, route, admitted, call);
  if (typeof outcome === 'string' || !('pendente' in outcome) || route.settle === undefined) return outcome;
  return route.settle(call, outcome.pendente as never);
}

function callOf(door: Door, { request }: Visit, { municipio, client, quota, body }: Admitted): Call {
  const { params, headers, id: requisicao } = request;
  const [site, search] = [siteOf(door, request), searchOf(request)];
  const [world, shown] = [worldOf(door.world, municipio), () => presentedIn(door, request)];
  return { municipio, requisicao, params, search, headers, body, site, world, client, waits: door.waits, shown, quota };
}

/** Performs a flow in this thread, or in the other one for a large body. */
async function performRoute(
  door: Door,
  { request }: Visit,
  route: Route,
  { client, quota, weight }: Admitted,
  call: Call,
): Promise<Outcome | AsideTrouble> {
  const aside = asideOf(door, weight);
  if (aside === undefined) return route.handle(call);
  const { municipio, requisicao, params, search, headers, body, site } = call;
  const sent = { municipio, requisicao, params, search, headers, body, site };
  const [shown, traceparent] = [presentedIn(door, request), traceparentNow()];
  return aside.answer({ ...sent, route: route.id, shown, traceparent }, { client, quota });
}
