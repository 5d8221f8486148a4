/**
 * A pool that works with the connections that a role, a database, a server or a pooler allows. A caller whose new connection was refused
 * waits for an existing one, or for one that is allowed meanwhile. The pool also changes servers, if several may have the database.
 */
import { ignoring } from '../traces/ignoring.ts';
import { Pool, type PoolClient, type PoolConfig } from './pg.ts';
import type { Server } from './servers.ts';
import { StoreUnavailable } from './unavailable.ts';

type Callback = Parameters<Pool['connect']>[0];

/** Information about the pool's connections. */
export type Overview = {
  /** Number of accepted connections that are still open. */
  countOpen(): number;
  /**
   * Whether a refused caller tries again, here or at another server. `failures`: its own so far. Throws the combined error of all servers.
   */
  isWorthwhile(error: Error, failures: Map<Server, Error>): boolean;
};

export class FrugalPool extends Pool {
  /** Maximum number of connections without refusals. */
  readonly #most = this.options.max;
  readonly #overview: Overview;

  constructor(config: PoolConfig, overview: Overview) {
    super(config);
    this.#overview = overview;
  }

  /** Whether a connection was refused, and the full number is not allowed again yet. */
  get isRefused(): boolean {
    return this.options.max < this.#most;
  }

  /** Must be called before the pool learns of the refusal, or it would try again for its next waiting caller. */
  heedRefusal(): void {
    this.options.max = this.#overview.countOpen();
  }

  /** Must be called now and then, since no message says when more connections are allowed. */
  tryOneMore(): void {
    if (!this.isRefused) return;
    this.options.max += 1;
    const refused = ignoring('the refusal is noted as the pool connects, and the next trial comes');
    // The pool serves its waiting list when a connection is released.
    if (this.waitingCount > 0) super.connect().then((client) => client.release(), refused);
  }

  /** Another server has its own limit. */
  forgetRefusal(): void {
    this.options.max = this.#most;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | undefined {
    const connected = this.#connect();
    if (callback === undefined) return connected;
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  async #connect(): Promise<PoolClient> {
    const began = performance.now();
    const held = this.isRefused ? this.#hold() : undefined;
    try {
      return await super.connect();
    } catch (error) {
      return await this.#connectElse(error as Error, began);
    } finally {
      clearTimeout(held);
    }
  }

  /** A timer that keeps the process alive, because the waiting list of the pool does not. */
  #hold(): NodeJS.Timeout {
    return setTimeout(() => undefined, 2 * this.options.connectionTimeoutMillis!);
  }

  /** Waits in the list of the pool after a refusal. An unusable server is left for the next one. */
  async #connectElse(first: Error, began: number): Promise<PoolClient> {
    const waitMax = this.options.connectionTimeoutMillis!;
    const failures = new Map<Server, Error>();
    const held = this.#hold();
    try {
      for (let error = first; ; ) {
        const isLate = performance.now() - began >= waitMax;
        const hasNone = this.isRefused && this.#overview.countOpen() === 0;
        if (isLate && hasNone) throw new StoreUnavailable('crowded', 'no connection was granted', error);
        if (isLate || !this.#overview.isWorthwhile(error, failures)) throw error;
        try {
          return await super.connect();
        } catch (next) {
          error = next as Error;
        }
      }
    } finally {
      clearTimeout(held);
    }
  }
}
