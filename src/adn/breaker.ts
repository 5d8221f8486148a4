/**
 * A circuit breaker: after several failures in a row nobody tries for a while, then one does, and its luck decides.
 *
 * Failing means that the other side could not be talked to. An answer of its own, a refusal too, is no failure.
 * No timers: time is read when somebody asks.
 */

/** Failures in a row that open the circuit: more than the lots that are on their way at once. */
export const FAILURES_TO_OPEN = 5;
const PAUSE_FIRST_MS = 500;
/** An environment that comes back is found within this time. */
const PAUSE_MAX_MS = 30_000;
/** Jitter: a pause lasts between this share of its length and all of it, so that several processes do not march in step. */
const PAUSE_SHARE_MIN = 0.5;
/** While somebody is probing: how soon to look again. */
const PROBE_LOOK_MS = 250;

/** Leave to try once. Exactly one of its three ends is to be called; a second call does nothing. */
export type Pass = {
  /** The other side gave an answer of its own. */
  answered(): void;
  /** It could not be reached, or what came was not its own. */
  failed(): void;
  /** Nothing was learned. */
  withdrawn(): void;
};

export type Breaker = {
  /** Undefined while the circuit is open, and while another is probing. */
  enter(): Pass | undefined;
  /** Whether it is worth trying with more than one request at once. */
  isClosed(): boolean;
  /** Milliseconds until it is worth trying; 0 when it is now. */
  pauseMs(): number;
};

export type BreakerSettings = {
  readonly failuresToOpen?: number;
  readonly pauseFirstMs?: number;
  readonly pauseMaxMs?: number;
  /** Milliseconds, never going back. */
  readonly now?: () => number;
  /** At least 0, below 1. */
  readonly random?: () => number;
  /** Called when the circuit opens, and each time a probe has opened it again. */
  readonly onOpen?: (about: { readonly failures: number; readonly pauseMs: number }) => void;
  readonly onClose?: () => void;
};

export function openBreaker(settings: BreakerSettings = {}): Breaker {
  const { failuresToOpen = FAILURES_TO_OPEN, pauseFirstMs = PAUSE_FIRST_MS, pauseMaxMs = PAUSE_MAX_MS } = settings;
  const { now = () => performance.now(), random = Math.random, onOpen, onClose } = settings;
  /** In a row. */
  let failures = 0;
  /** How often it was opened without closing in between. */
  let openings = 0;
  let openUntil = 0;
  let probe: symbol | undefined;

  const open = (): void => {
    const length = Math.min(pauseFirstMs * 2 ** Math.min(openings, 30), pauseMaxMs);
    const pauseMs = Math.ceil(length * (PAUSE_SHARE_MIN + (1 - PAUSE_SHARE_MIN) * random()));
    openings += 1;
    openUntil = now() + pauseMs;
    onOpen?.({ failures, pauseMs });
  };

  return {
    enter: () => {
      if (openings > 0 && (probe !== undefined || now() < openUntil)) return undefined;
      const own = Symbol('pass');
      if (openings > 0) probe = own;
      let isOver = false;
      /** Runs once, told whether this was the probe. */
      const end =
        (learn: (wasProbe: boolean) => void): (() => void) =>
        () => {
          if (isOver) return;
          isOver = true;
          const wasProbe = probe === own;
          if (wasProbe) probe = undefined;
          learn(wasProbe);
        };
      return {
        answered: end(() => {
          const wasOpen = openings > 0;
          failures = 0;
          openings = 0;
          probe = undefined;
          if (wasOpen) onClose?.();
        }),
        failed: end((wasProbe) => {
          failures += 1;
          // Who set out before the circuit opened and fails after it tells nothing new.
          if (wasProbe || (openings === 0 && failures >= failuresToOpen)) open();
        }),
        withdrawn: end(() => undefined),
      };
    },
    isClosed: () => openings === 0,
    pauseMs: () => {
      if (openings === 0) return 0;
      if (probe !== undefined) return PROBE_LOOK_MS;
      return Math.max(0, Math.ceil(openUntil - now()));
    },
  };
}
