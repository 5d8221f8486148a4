/**
 * Chooses the form of an answer by `Accept` and `Accept-Encoding`: qualities, wildcards, and refusals by `q=0` (RFC 9110, 12.5; D-902).
 * Only this file imports negotiator, once a caller names more than one plain type.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type Negotiator from 'negotiator';

const load = createRequire(import.meta.url);

type Headers = Pick<IncomingHttpHeaders, 'accept' | 'accept-encoding'>;

/** The preferred one of these types. The first one is for callers without preference, and for those that take none. */
export function preferType<Type extends string>({ accept }: Headers, types: readonly [Type, ...Type[]]): Type {
  const [usual] = types;
  if (accept === undefined || accept === '*/*' || accept === usual) return usual;
  return (negotiate({ accept }).mediaType([...types]) as Type | undefined) ?? usual;
}

/** Whether the caller takes this type at all. */
export function takesType({ accept }: Headers, type: string): boolean {
  return accept === undefined || negotiate({ accept }).mediaType([type]) !== undefined;
}

/** Whether the caller takes a compressed body at least as gladly as a plain one. */
export function takesGzip({ 'accept-encoding': coding }: Headers): boolean {
  if (coding === undefined) return false;
  return negotiate({ 'accept-encoding': coding }).encoding(['gzip', 'identity']) === 'gzip';
}

function negotiate(headers: Headers): Negotiator {
  const Reader: typeof Negotiator = load('negotiator');
  return new Reader({ headers });
}
