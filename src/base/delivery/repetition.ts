/** Work that the worker repeats by itself, each kind at its own pace. */
import { HOUR_MS } from '../../fiscal/moment.ts';
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
};

/** A smaller difference means that the clock is being adjusted. */
const LEAP_MS = 2_000;
/** The longest wait after a failure. */
const AGAIN_MAX_MS = HOUR_MS;

export class Repetition {
  private readonly world: World;
  private readonly turns: readonly { readonly of: Repeated; dueAt: number; doneAt: number }[];
  /** The difference between the machine's clock and a clock that is never set. */
  private offset: number;

  constructor(world: World, all: readonly Repeated[]) {
    this.world = world;
    this.offset = world.now() - performance.now();
    this.turns = all.map((of) => ({ of, dueAt: Number.NEGATIVE_INFINITY, doneAt: performance.now() }));
  }

  /** The delay of each work. */
  readonly look = (): readonly Sample[] =>
    this.turns.map(({ of, doneAt }) => ({
      name: 'nfse_trabalho_atraso_seconds',
      labels: { trabalho: of.trabalho },
      value: Math.max(0, performance.now() - doneAt - of.everyMs) / 1_000,
    }));

  /** Does a part of each work whose time has come. All are due after the clock was set. */
  async work(): Promise<void> {
    const offset = this.world.now() - performance.now();
    if (Math.abs(offset - this.offset) > LEAP_MS) for (const turn of this.turns) turn.dueAt = Number.NEGATIVE_INFINITY;
    this.offset = offset;
    for (const turn of this.turns) {
      const began = performance.now();
      if (began < turn.dueAt) continue;
      const { of } = turn;
      try {
        const isMore = await of.work(this.world);
        turn.doneAt = performance.now();
        // The pause between two parts is as long as a part took, so that due work need not wait.
        turn.dueAt = isMore ? 2 * turn.doneAt - began : began + of.everyMs;
      } catch (error) {
        turn.dueAt = began + Math.min(of.everyMs, AGAIN_MAX_MS);
        tellTrouble(this.world.log, error, {}, `${of.trouble}; tenta-se mais tarde`);
      }
    }
  }
}
