/**
 * Requests that wait for something to happen instead of asking again and again. What they wait for is looked up together: one question for
 * all who wait in a municipality, a few times a second, however many they are.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { lookForMudancas } from './mudancas.ts';
import type { World } from './world.ts';

/** Of these keys of a municipality, those of which it has happened. */
export type Look = (tenant: string, keys: readonly string[]) => Promise<readonly string[]>;

const LOOK_EVERY_MS = 250;
/** Who waits holds a place for requests: of a process, and of who waits under one name. */
const WAITING_MAX = 400;
const WAITING_EACH_MAX = 8;

type Waiter = { readonly key: string; readonly wake: (hasHappened: boolean) => void };

export class Waits {
  private readonly look: Look;
  private readonly waiting = new Map<string, Set<Waiter>>();
  private readonly each = new Map<string, number>();
  private count = 0;
  private isEnded = false;

  constructor(look: Look) {
    this.look = look;
  }

  /**
   * Resolves when it has happened (true), after `ms`, or at once where too many wait already. `who`: under whose name. A look that fails
   * ends the waiting of those whom it was for: they ask themselves, and are told.
   */
  async wait(
    tenant: string,
    key: string,
    { ms, who }: { readonly ms: number; readonly who: string },
  ): Promise<boolean> {
    const name = `${tenant} ${who}`;
    const already = this.each.get(name) ?? 0;
    if (this.isEnded || ms <= 0 || this.count >= WAITING_MAX || already >= WAITING_EACH_MAX) return false;
    const { promise, resolve: wake } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { key, wake };
    const here = this.waiting.getOrInsertComputed(tenant, () => new Set());
    here.add(waiter);
    this.count += 1;
    this.each.set(name, already + 1);
    const timer = setTimeout(wake, ms, false);
    if (here.size === 1) void this.lookOn(tenant, here);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      here.delete(waiter);
      this.count -= 1;
      const left = this.each.get(name)! - 1;
      if (left === 0) this.each.delete(name);
      else this.each.set(name, left);
    }
  }

  /** Nobody waits any longer. */
  end(): void {
    this.isEnded = true;
    for (const here of this.waiting.values()) for (const { wake } of here) wake(false);
  }

  private async lookOn(tenant: string, here: Set<Waiter>): Promise<void> {
    while (here.size > 0) {
      const asked = [...here];
      try {
        const happened = new Set(await this.look(tenant, [...new Set(asked.map(({ key }) => key))]));
        for (const { key, wake } of asked) if (happened.has(key)) wake(true);
      } catch {
        for (const { wake } of asked) wake(true);
      }
      await sleep(LOOK_EVERY_MS);
    }
    if (this.waiting.get(tenant) === here) this.waiting.delete(tenant);
  }
}

/** Who waits for a note to be decided, by its key, and for changes of a document, by `keyOfEspera`. */
export function openWaits(world: Pick<World, 'store'>): Readonly<Record<'notas' | 'mudancas', Waits>> {
  return {
    notas: new Waits((tenant, chaves) => world.store.notas.listDecided(tenant, chaves)),
    mudancas: new Waits((tenant, keys) => lookForMudancas(world, tenant, keys)),
  };
}
