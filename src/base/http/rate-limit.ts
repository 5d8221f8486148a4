/** The fields of draft-ietf-httpapi-ratelimit-headers-11: the limits that count at an address, and the amounts left (D-901). */
import type { Cota } from '../world/idempotency.ts';

type Headers = Readonly<Record<string, string>>;

/** `resta`: the amount left; `voltaS`: seconds until more is there. */
export type Estado = Cota & { readonly resta: number; readonly voltaS: number };

export function writeLimits(limits: readonly Estado[]): Headers {
  if (limits.length === 0) return {};
  const policies = limits.map(
    ({ nome, max, janelaS }) => `"${nome}";q=${max}${janelaS === undefined ? '' : `;w=${janelaS}`}`,
  );
  const left = limits.map(({ nome, resta, voltaS }) => `"${nome}";r=${resta};t=${voltaS}`);
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: left.join(', ') };
}

/** The headers of a refusal for want of room: its limit, and the seconds until there is room. */
export function writeExcess(cota: Cota, waitS: number): Headers {
  return { 'Retry-After': String(waitS), ...writeLimits([{ ...cota, resta: 0, voltaS: waitS }]) };
}

/** The limits of two sets of headers. Those of the first come first: a refusal names the limit that refused before all others. */
export function joinLimits(first: Headers = {}, then: Headers): Headers {
  const joined = Object.entries(then).map(([name, value]) => {
    const before = first[name];
    return [name, before === undefined ? value : `${before}, ${value}`];
  });
  return { ...first, ...Object.fromEntries(joined) };
}
