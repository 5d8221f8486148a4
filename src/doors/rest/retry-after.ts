/** When to ask again about what may still change by itself (D-42, D-217): in a header, and in the body. */
import { isoMoment, momentIn } from '../../fiscal/moment.ts';
import { zoneOf } from '../../flows/gather-facts.ts';
import type { World } from '../../flows/world.ts';
import type { Field } from './field.ts';

type Clock = Pick<World, 'now'>;
type Headers = Readonly<Record<string, string>>;

/** `proxima`: moment in milliseconds; undefined: nothing more changes by itself. */
export function retryAfter(world: Clock, proxima: number | undefined): Headers {
  return proxima === undefined ? {} : { 'Retry-After': String(secondsUntil(world.now(), proxima)) };
}

function secondsUntil(now: number, proxima: number): number {
  return Math.max(1, Math.ceil((proxima - now) / 1000));
}

export const PROXIMA_CONSULTA = {
  type: 'string',
  formato: 'momento',
  nullable: true,
  about: 'Quando vale a pena consultar de novo, ISO 8601: o momento de Retry-After. null quando nada mais muda por si.',
} as const satisfies Field;

/** The same moment in both places; in the body by the clocks of the municipality of the key. */
export function askAgain(
  world: Clock,
  chave: string,
  proxima: number | undefined,
): { readonly headers: Headers; readonly proxima_consulta: string | null } {
  if (proxima === undefined) return { headers: {}, proxima_consulta: null };
  const now = world.now();
  const moment = momentIn(zoneOf(chave.slice(0, 7)), now + secondsUntil(now, proxima) * 1000);
  return { headers: retryAfter(world, proxima), proxima_consulta: isoMoment(moment) };
}
