/**
 * Requests that wait for something to happen instead of polling. One query serves all waiting requests of a municipality, a few times a
 * second (D-590).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Municipio } from '../book/municipios.ts';
import { SALAS, Sala } from './lugares.ts';

/** Returns those keys of a municipality whose event has happened. */
export type Look = (tenant: string, keys: readonly string[]) => Promise<readonly string[]>;

const LOOK_EVERY_MS = 250;
/** Maximum number of waiting requests under one name. One network may take half of the places that others leave free. */
const WAITING_EACH_MAX = 8;

/** `who`: name of the waiting client; `rede`: its network. */
export type Asker = { readonly who: string; readonly rede: string };

type Waiter = { readonly key: string; readonly wake: (hasHappened: boolean) => void };

export class Waits {
  private readonly look: Look;
  private readonly waiting = new Map<string, Set<Waiter>>();
  private readonly sala = new Sala(SALAS.esperas);
  /** Numbers of waiting requests, by network in an ambiente, and by name in a municipality. */
  private readonly counts = new Map<string, number>();
  private isEnded = false;

  constructor(look: Look) {
    this.look = look;
  }

  /**
   * Resolves when the event has happened (true), after `ms`, or at once if too many wait already. A look that fails ends the wait of its
   * requests. They then query by themselves and get the error.
   */
  async wait(
    { tenant, ambiente }: Pick<Municipio, 'tenant' | 'ambiente'>,
    key: string,
    { ms, who, rede }: Asker & { readonly ms: number },
  ): Promise<boolean> {
    const [ofName, ofRede] = [`${tenant} ${who}`, `${ambiente} ${rede}`];
    const isCrowded = this.sala.left(ambiente) <= this.count(ofRede) || this.count(ofName) >= WAITING_EACH_MAX;
    if (this.isEnded || ms <= 0 || isCrowded || !this.sala.enter(ambiente)) return false;
    const { promise, resolve: wake } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { key, wake };
    const here = this.waiting.getOrInsertComputed(tenant, () => new Set());
    here.add(waiter);
    const names = [ofRede, ofName];
    for (const name of names) this.counts.set(name, this.count(name) + 1);
    const timer = setTimeout(wake, ms, false);
    if (here.size === 1) void this.lookOn(tenant, here);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      here.delete(waiter);
      this.sala.leave(ambiente);
      for (const name of names) {
        if (this.count(name) === 1) this.counts.delete(name);
        else this.counts.set(name, this.count(name) - 1);
      }
    }
  }

  private count(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  /** Ends all waits. */
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
