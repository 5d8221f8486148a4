/**
 * The legacy port (D-70) as HTTP: it listens in the REST door, shares its limits, and has its own answers (`nfes.ts`). Its service is
 * called `Nfes`, and some programs write that name in the address.
 */

import { ASIDE_BYTES, CROWDED_ASIDE, TOO_DEAR } from '../../base/http/aside.ts';
import { attend, logFailure, redirect, refuse } from '../../base/http/attend.ts';
import { clientOf } from '../../base/http/caller.ts';
import type { HttpAnswer, HttpRequest, SoapAnswer } from '../../base/http/message.ts';
import { addLimits, type RequestQuota } from '../../base/http/quotas.ts';
import { refuseTrouble, refuseUnknownMunicipio, SOAP_HINT, sayUnavailable } from '../../base/http/refusals.ts';
import type { HttpRoute } from '../../base/http/router.ts';
import {
  asideOf,
  CROWD_WAIT_S,
  CROWDED_BODIES,
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
import { BODY_MAX_BYTES } from '../../published/http-limits.ts';
import { keepForOwner } from '../../subjects/ensaios/keep-for-owner.rest.ts';
import {
  describePort,
  performSoap,
  refuseAfterBug,
  refuseTooManyMisses,
  refuseTooMuch,
  SOAP_PATH,
  writeFault,
} from '../../subjects/lotes/nfes.soap.ts';
import type { Municipio } from '../../subjects/notas/queries.ts';

export function soapRoutes(door: Door): readonly HttpRoute[] {
  const route = `/:municipio${SOAP_PATH}`;
  const path = route.replace(/[^/]+$/, ':servico');
  const handleBy = (work: Work) => (request: HttpRequest) =>
    attend(door, request, route, (visit) => (isSoapPath(request) ? work(visit) : refuseOtherService(door, visit)));
  return [
    { method: 'GET', path, handle: handleBy((visit) => answerDescription(door, visit)) },
    { method: 'POST', path, handle: handleBy((visit) => answerEnvelope(door, visit)) },
  ];
}

function isSoapPath({ params }: HttpRequest): boolean {
  return SOAP_PATH.endsWith(`/${params['servico']!.toLowerCase()}`);
}

function refuseOtherService(door: Door, visit: Visit): HttpAnswer {
  const { method, headers, url } = visit.request;
  if (method !== 'POST') return refuse(door, visit, refuseTrouble('unknown_path', undefined, url));
  return writeFault(headers, 404, `Não há serviço neste endereço. ${SOAP_HINT}`);
}

const NO_BODY = Buffer.alloc(0);

async function answerDescription(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const slug = request.params['municipio']!;
  const municipio = await findMunicipio(door, visit, slug);
  if (municipio === undefined) return refuse(door, visit, refuseUnknownMunicipio(slug));
  const answer = describePort(municipio, siteOf(door, request), searchOf(request)) ?? redirect(307, '?wsdl');
  keepForOwner(door, visit, NO_BODY, answer);
  return answer;
}

async function answerEnvelope(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const { headers } = request;
  try {
    const municipio = await findMunicipio(door, visit, request.params['municipio']!);
    if (municipio === undefined) return writeFault(headers, 404, 'Não há município neste endereço.');
    const body = await request.readBody(BODY_MAX_BYTES);
    const answer = await answerRead(door, visit, municipio, body);
    keepForOwner(door, visit, typeof body === 'string' ? undefined : body, answer);
    return answer;
  } catch (error) {
    const trouble = await logFailure(door, visit, error);
    if (trouble === undefined) return refuseAfterBug(headers, request.id);
    return writeFault(headers, 503, sayUnavailable(trouble.mensagem, trouble.esperaS), trouble.esperaS);
  }
}

async function answerRead(
  door: Door,
  visit: Visit,
  municipio: Municipio,
  body: Awaited<ReturnType<HttpRequest['readBody']>>,
): Promise<HttpAnswer> {
  const { headers } = visit.request;
  if (body === 'body_too_large') return writeFault(headers, 413, 'O corpo passa do limite: divida o lote.');
  if (body === 'crowded') return writeFault(headers, 503, CROWDED_BODIES, CROWD_WAIT_S);
  if (typeof body === 'string') return writeFault(headers, 400, 'O corpo não chegou inteiro.');
  const answer = await workInPlace(door, municipio, () => answerWithinLimits(door, visit, municipio, body));
  return answer ?? writeFault(headers, 503, CROWDED_SERVICE, CROWD_WAIT_S);
}

async function answerWithinLimits(door: Door, visit: Visit, municipio: Municipio, body: Buffer): Promise<HttpAnswer> {
  const { request } = visit;
  const { headers } = request;
  const client = clientOf(request, door.options.trustProxy);
  const quota = door.quotas.of(municipio, client);
  quota.measure(body.length);
  // A short envelope may be a query, which only parsing shows; a long one is counted before.
  if (body.length > ASIDE_BYTES) await quota.enter();
  const answer = quota.refused === undefined ? await perform(door, request, municipio, body, quota) : undefined;
  if (answer === undefined || quota.refused !== undefined) {
    return addLimits(quota, refuseTooMuch(headers, quota.refused!));
  }
  if (answer.erro !== undefined) visit.registro = { erro: answer.erro };
  const excess = answer.isMiss ? await door.misses.count(client, 1) : undefined;
  return excess === undefined ? addLimits(quota, answer) : refuseTooManyMisses(headers, excess);
}

/** Performs the operation of an envelope: in this thread, or in the other one for a large envelope. */
async function perform(
  door: Door,
  request: HttpRequest,
  municipio: Municipio,
  body: Buffer,
  quota: RequestQuota,
): Promise<SoapAnswer> {
  const { headers, params } = request;
  const aside = asideOf(door, body.length);
  if (aside === undefined) {
    const shown = () => presentedIn(door, request);
    const companhia = { shown, requisicao: request.id, quota };
    return performSoap(worldOf(door.world, municipio), municipio, { headers, body }, companhia);
  }
  const shown = presentedIn(door, request);
  const [search, site] = [searchOf(request), siteOf(door, request)];
  const traceparent = traceparentNow();
  const call = {
    route: 'soap',
    municipio,
    requisicao: request.id,
    params,
    search,
    headers,
    body,
    site,
    shown,
    traceparent,
  } as const;
  const answer = await aside.answer(call, { client: clientOf(request, door.options.trustProxy), quota });
  if (answer === 'crowded') return writeFault(headers, 503, CROWDED_ASIDE, CROWD_WAIT_S);
  return answer === 'too_dear' ? writeFault(headers, 413, TOO_DEAR) : answer;
}
