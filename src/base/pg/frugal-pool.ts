/**
 * A pool that makes do with the connections that a role, a database, a server or a pooler allows: who is refused a new one waits for one
 * that there is, or that is granted meanwhile. And one that goes from server to server, where several may have the database.
 */
import { Pool, type PoolClient, type PoolConfig } from './pg.ts';
import type { Server } from './servers.ts';
import { StoreUnavailable } from './unavailable.ts';

type Callback = Parameters<Pool['connect']>[0];

/** What the pool has to know of its connections. */
export type Overview = {
  /** Connections that the server let in, and that are there still. */
  countOpen(): number;
  /** Whether who was refused tries again, here or at another server. `failures`: its own so far. Throws what is to be told of all servers. */
  isWorthwhile(error: Error, failures: Map<Server, Error>): boolean;
};

export class FrugalPool extends Pool {
  /** What it opens where nobody hinders it. */
  readonly #most = this.options.max;
  readonly #overview: Overview;

  constructor(config: PoolConfig, overview: Overview) {
    super(config);
    this.#overview = overview;
  }

  /** Whether it was refused a connection, and has not been allowed all since. */
  get isRefused(): boolean {
    return this.options.max < this.#most;
  }

  /** To be told before the pool hears that it was refused one more: it would try again for the next who waits. */
  heedRefusal(): void {
    this.options.max = this.#overview.countOpen();
  }

  /** To be told now and then, since nobody says when more are allowed. */
  tryOneMore(): void {
    if (!this.isRefused) return;
    this.options.max += 1;
    // Who waits is heard when a connection is given back.
    if (this.waitingCount > 0)
      super.connect().then(
        (client) => client.release(),
        () => undefined,
      );
  }

  /** Another server allows what it allows. */
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

  /** The line of the pool keeps no process from ending that does nothing else. */
  #hold(): NodeJS.Timeout {
    return setTimeout(() => undefined, 2 * this.options.connectionTimeoutMillis!);
  }

  /** Waits in the line of the pool where it was refused, and goes on to the next server where one is no good. */
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
