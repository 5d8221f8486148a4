/**
 * A pool that makes do with the connections that a role, a database or a server allows. A caller who is refused a new one waits for one
 * that there is, and fails only where there is none.
 */
import { Pool, type PoolClient, type PoolConfig } from './pg.ts';
import { unavailabilityOf } from './unavailable.ts';

type Callback = Parameters<Pool['connect']>[0];

export class FrugalPool extends Pool {
  /** What it opens where nobody hinders it. */
  readonly #most = this.options.max;
  /** Connections that the server let in, and that are there still. */
  readonly #countOpen: () => number;

  constructor(config: PoolConfig, countOpen: () => number) {
    super(config);
    this.#countOpen = countOpen;
  }

  /** To be told before the pool hears that it was refused one more: it would try again for the next who waits. */
  heedRefusal(): void {
    this.options.max = Math.max(1, this.#countOpen());
  }

  /** To be told now and then, since nobody says when more are allowed. */
  tryOneMore(): void {
    this.options.max = Math.min(this.#most, this.options.max + 1);
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
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await super.connect();
      } catch (error) {
        // Who is the first to be refused may see the others still on their way.
        const mayCome = isFirst || this.#countOpen() > 0;
        const isLate = performance.now() - began >= this.options.connectionTimeoutMillis!;
        if (unavailabilityOf(error) !== 'crowded' || !mayCome || isLate) throw error;
      }
    }
  }
}
