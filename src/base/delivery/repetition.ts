/** Work that the worker repeats by itself, each kind at its own pace. */
import { MINUTE_MS } from '../../fiscal/moment.ts';
import type { Sample } from '../measures/metrics.ts';
import { tellTrouble } from '../world/store-trouble.ts';
import type { World } from '../world/world.ts';

export type Repeated = {
  /** Label of its measure; `base/measures/sozinhos.ts` has its page. */
  readonly trabalho: string;
  readonly everyMs: number;
  /** Does a part of the work, which is brief; true: more is left. */
  readonly work: (world: World) => Promise<boolean>;
  /** Log message of a failure, in Portuguese. */
  readonly trouble: string;
  /** True: it is also due when the clock was set, and is done before the look at due work. */
  readonly isOfClock?: true;
};

/** A smaller difference means that the clock is being adjusted. */
const LEAP_MS = 2_000;
/** The longest wait after a failure. */
const AGAIN_MAX_MS = 10 * MINUTE_MS;

export class Repetition {
  private readonly world: World;
  private readonly turns: readonly { readonly of: Repeated; dueAt: number; doneAt: number; isMore: boolean }[];
  /** The pause between two parts is as long as a part took, so that due work need not wait. */
  private restUntil = Number.NEGATIVE_INFINITY;
  /** The difference between the machine's clock and a clock that is never set. */
  private offset: number;

  constructor(world: World, all: readonly Repeated[]) {
    this.world = world;
    this.offset = world.now() - performance.now();
    this.turns = all.map((of) => ({ of, dueAt: Number.NEGATIVE_INFINITY, doneAt: performance.now(), isMore: false }));
  }

  /** The delay of each work. */
  readonly look = (): readonly Sample[] =>
    this.turns.map(({ of, doneAt }) => ({
      name: 'nfse_trabalho_atraso_seconds',
      labels: { trabalho: of.trabalho },
      value: Math.max(0, performance.now() - doneAt - of.everyMs) / 1_000,
    }));

  /** Does the work that the clock may have made due. */
  async followClock(): Promise<void> {
    const offset = this.world.now() - performance.now();
    const isSet = Math.abs(offset - this.offset) > LEAP_MS;
    this.offset = offset;
    await this.doParts((turn) => turn.of.isOfClock === true && (isSet || performance.now() >= turn.dueAt));
  }

  /** Does a part of each other work whose time has come. */
  work(): Promise<void> {
    return this.doParts((turn) => {
      const now = performance.now();
      return turn.of.isOfClock === undefined && now >= turn.dueAt && (!turn.isMore || now >= this.restUntil);
    });
  }

  private async doParts(isDue: (turn: (typeof this.turns)[number]) => boolean): Promise<void> {
    // The work that was done longest ago goes first: none with much left keeps another from its turn.
    for (const turn of this.turns.toSorted((one, other) => one.doneAt - other.doneAt)) {
      if (!isDue(turn)) continue;
      const began = performance.now();
      const { of } = turn;
      try {
        turn.isMore = await of.work(this.world);
        turn.doneAt = performance.now();
        turn.dueAt = turn.isMore ? turn.doneAt : began + of.everyMs;
        if (turn.isMore) this.restUntil = 2 * turn.doneAt - began;
      } catch (error) {
        turn.isMore = false;
        turn.dueAt = began + Math.min(of.everyMs, AGAIN_MAX_MS);
        tellTrouble(this.world.log, error, {}, `${of.trouble}; tenta-se mais tarde`);
      }
    }
  }
}
