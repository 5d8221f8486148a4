/** A visit from its arrival to its line in the log. Whatever fails on the way, a bug included, is answered (D-02). */
import { type StoreTrouble, storeTroubleOf, tellSeldom, tellTrouble } from '../../flows/store-trouble.ts';
import { clientOf } from './caller.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';
import { refuseAfterBug, refuseForStore } from './refusals.ts';
import type { Door, Visit, Work } from './visit.ts';
import { refuse } from './write-answer.ts';

/** Every answer leaves through here. `route`: the pattern of the path, where the request has one. */
export async function attend(
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
    const trouble = await logFailure(door, visit, error);
    answer = refuse(door, visit, trouble === undefined ? refuseAfterBug(request.id) : refuseForStore(trouble));
  }
  if (door.options.accessLog) logVisit(door, visit, answer);
  const { municipio } = visit;
  if (municipio === undefined) return answer;
  return { ...answer, headers: { 'X-NFSe-Ambiente': municipio.ambiente, ...answer.headers } };
}

function logVisit({ world, options }: Door, { request, route, municipio }: Visit, { status }: HttpAnswer): void {
  const ms = Math.round((performance.now() - request.began) * 10) / 10;
  const { id, sentId, method } = request;
  const client = clientOf(request, options.trustProxy);
  const about = { request: id, client, client_request: sentId, method, route, status, ms, tenant: municipio?.tenant };
  world.log.info(about, 'request');
}

const FAILED = 'uma requisição falhou';

/** A failure as it is logged whole: of the database, which cannot be used just now, or a bug (undefined). */
export async function logFailure(door: Door, visit: Visit, error: unknown): Promise<StoreTrouble | undefined> {
  const { request, route, municipio } = visit;
  const about = { request: request.id, route, tenant: municipio?.tenant };
  const trouble = storeTroubleOf(error) ?? (await door.storeTrouble());
  const { log } = door.world;
  if (trouble === undefined || storeTroubleOf(error) !== undefined) tellTrouble(log, error, about, FAILED);
  else tellSeldom(log, { err: error, ...about }, `${trouble.mensagem} Por isso ${FAILED}`);
  return trouble;
}
