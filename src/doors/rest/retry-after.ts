/** When to ask again about what may still change by itself (D-42, D-217). */
import type { World } from '../../flows/world.ts';

/** `proxima`: moment in milliseconds; undefined: nothing more changes by itself. */
export function retryAfter(world: Pick<World, 'now'>, proxima: number | undefined): Readonly<Record<string, string>> {
  if (proxima === undefined) return {};
  return { 'Retry-After': String(Math.max(1, Math.ceil((proxima - world.now()) / 1000))) };
}
