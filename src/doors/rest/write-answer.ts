/** How an answer of a route, or a refusal, is written as HTTP. */
import { isoMoment, momentIn } from '../../fiscal/moment.ts';
import { zoneOf } from '../../flows/gather-facts.ts';
import type { Outcome, Refused } from './answers.ts';
import { answerCacheable } from './caching.ts';
import { envelopeOf, statusOfRefusal } from './envelope.ts';
import type { HttpAnswer } from './message.ts';
import { type Door, siteOf, type Visit } from './visit.ts';

export const API_HEADERS: Readonly<Record<string, string>> = { 'Cache-Control': 'no-store' };
export const JSON_TYPE: Readonly<Record<string, string>> = { 'Content-Type': 'application/json; charset=utf-8' };
const TEXT_TYPE: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain; charset=utf-8' };

/** `status`: of the answer when all is well. */
export function writeOutcome(door: Door, visit: Visit, outcome: Outcome, status: number): HttpAnswer {
  if ('refusal' in outcome) return refuse(door, visit, outcome);
  if ('written' in outcome) {
    const { written, keeping } = outcome;
    return answerCacheable(visit.request, written.bytes, JSON_TYPE, keeping, written.tag);
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

/** A refusal in its envelope, with the time of the municipality. */
export function refuse(door: Door, visit: Visit, { refusal, campo, status, em, headers, beside }: Refused): HttpAnswer {
  const timestamp = isoMoment(momentIn(zoneOf(visit.municipio?.codigoIbge), em ?? door.world.now()));
  return {
    status: status ?? statusOfRefusal(refusal),
    headers: { ...API_HEADERS, ...JSON_TYPE, ...headers },
    body: JSON.stringify({ ...envelopeOf(refusal, siteOf(door, visit.request), timestamp, campo), ...beside }),
  };
}

/** `to`: relative to the address that was asked for, so that it holds behind any other. */
export function redirect(status: 307 | 308, to: string): HttpAnswer {
  return { status, headers: { ...API_HEADERS, Location: to }, body: '' };
}
