/**
 * A circuit breaker: after several failures in a row nobody tries for a while, then one does, and its luck decides.
 *
 * Failing means that the other side could not be talked to. An answer of its own, a refusal too, is no failure. Several
 * parties may share one circuit, and what is wrong with one of them must not keep the others out. So a failure that may
 * concern only who tried makes it a suspect: it takes as many suspects as failures to open the circuit, who is not
 * suspected may look for itself soon, and the others probe in turn.
 * No timers: time is read when somebody asks.
 */

/** Failures in a row, or suspects, that open the circuit: more than the lots of one party that are on their way at once. */
const FAILURES_TO_OPEN = 5;
const PAUSE_FIRST_MS = 500;
/** An environment that comes back is found within this time. */
const PAUSE_MAX_MS = 30_000;
/** Jitter: a pause lasts between this share of its length and all of it, so that several processes do not march in step. */
const PAUSE_SHARE_MIN = 0.5;
/** While another is probing, or has its turn: how soon to look again. */
const PROBE_LOOK_MS = 250;
/** For how long a turn is kept for whose it is: longer than the worker takes to look at a party again. */
const TURN_MS = 1_500;

/** Leave to try once. Exactly one of its ends is to be called; a second call does nothing. */
export type Pass = {
  /** The other side gave an answer of its own. */
  answered(): void;
  /** It could not be reached, whoever tries. */
  failed(why?: string): void;
  /** It came to nothing in a way that others need not share. */
  suspected(why?: string): void;
  /** Nothing was learned. */
  withdrawn(): void;
};

export type Breaker = {
  /** Undefined while the circuit is open, and while another is probing. `party`: who tries, when several share it. */
  enter(party?: object): Pass | undefined;
  /** Whether it is worth trying with more than one request at once. */
  isClosed(): boolean;
  /** Milliseconds until it is worth trying, or looking again, for this party; 0 when it is now. Asking takes a turn. */
  pauseMs(party?: object): number;
};

export type BreakerSettings = {
  readonly failuresToOpen?: number;
  readonly pauseFirstMs?: number;
  readonly pauseMaxMs?: number;
  /** Milliseconds, never going back. */
  readonly now?: () => number;
  /** At least 0, below 1. */
  readonly random?: () => number;
  /** Called when the circuit opens, and each time a probe has opened it again. `why`: what came to nothing last, where that was told. */
  readonly onOpen?: (about: {
    readonly failures: number;
    readonly pauseMs: number;
    readonly isAgain: boolean;
    readonly why: string | undefined;
  }) => void;
  /** `openMs`: since it opened first. */
  readonly onClose?: (about: { readonly openMs: number }) => void;
};

/** Who shares a circuit with nobody. */
const ALONE = {};

export function openBreaker(settings: BreakerSettings = {}): Breaker {
  const { failuresToOpen = FAILURES_TO_OPEN, pauseFirstMs = PAUSE_FIRST_MS, pauseMaxMs = PAUSE_MAX_MS } = settings;
  const { now = () => performance.now(), random = Math.random, onOpen, onClose } = settings;
  /** In a row. */
  let failures = 0;
  /** Since the last answer: whose tries came to nothing, and how often the circuit had been opened by then. */
  const suspects = new Map<object, number>();
  /** How often it was opened without closing in between. */
  let openings = 0;
  /** While it is open: since when. */
  let openedAt = 0;
  /** While it is open: when the next turn begins. */
  let turnFrom = 0;
  /** While it is open: when a party may probe out of turn that is no suspect. */
  let secondFrom = 0;
  let probe: symbol | undefined;
  /** While it is open: who wants to try, in the order of their turns. */
  const queue = new Set<object>();

  /** `isDoubtful`: for suspicions alone, so that somebody else may look soon. */
  const open = (count: number, isDoubtful: boolean, why: string | undefined): void => {
    const isAgain = openings > 0;
    if (!isAgain) openedAt = now();
    const length = Math.min(pauseFirstMs * 2 ** Math.min(openings, 30), pauseMaxMs);
    const pauseMs = Math.ceil(length * (PAUSE_SHARE_MIN + (1 - PAUSE_SHARE_MIN) * random()));
    openings += 1;
    turnFrom = now() + pauseMs;
    secondFrom = isDoubtful ? now() + pauseFirstMs : Number.POSITIVE_INFINITY;
    onOpen?.({ failures: count, pauseMs, isAgain, why });
  };

  /** When this party, which asks now, may probe. */
  const readyAt = (party: object): number => {
    queue.add(party);
    const isNext = queue.values().next().value === party;
    const inTurn = turnFrom + (isNext ? 0 : TURN_MS);
    return suspects.has(party) ? inTurn : Math.min(inTurn, secondFrom);
  };

  /** Its turn is used up; in turn, so are those that others let pass. */
  const leaveQueue = (party: object): void => {
    if (now() >= turnFrom + TURN_MS) {
      for (const one of queue) {
        if (one === party) break;
        queue.delete(one);
      }
    }
    queue.delete(party);
  };

  /** The next turn is that of somebody else, and begins at once when the pause is over. */
  const passOn = (): void => {
    turnFrom = Math.max(turnFrom, now());
  };

  return {
    enter: (party = ALONE) => {
      const own = Symbol('pass');
      if (openings > 0) {
        const from = readyAt(party);
        if (probe !== undefined || now() < from) return undefined;
        leaveQueue(party);
        probe = own;
      }
      let isOver = false;
      /** Runs once, told whether this was the probe. */
      const end =
        (learn: (wasProbe: boolean, why?: string) => void): ((why?: string) => void) =>
        (why) => {
          if (isOver) return;
          isOver = true;
          const wasProbe = probe === own;
          if (wasProbe) probe = undefined;
          learn(wasProbe, why);
        };
      return {
        answered: end(() => {
          const wasOpen = openings > 0;
          failures = 0;
          openings = 0;
          probe = undefined;
          suspects.clear();
          queue.clear();
          if (wasOpen) onClose?.({ openMs: now() - openedAt });
        }),
        failed: end((wasProbe, why) => {
          failures += 1;
          // Who set out before the circuit opened and fails after it tells nothing new.
          if (wasProbe || (openings === 0 && failures >= failuresToOpen)) open(failures, false, why);
        }),
        suspected: end((wasProbe, why) => {
          if (!wasProbe && openings > 0) return;
          suspects.set(party, openings);
          const agreeing = [...suspects.values()].filter((when) => when === openings).length;
          if (agreeing >= failuresToOpen) open(agreeing, true, why);
          else if (wasProbe) passOn();
        }),
        withdrawn: end((wasProbe) => {
          if (wasProbe) passOn();
        }),
      };
    },
    isClosed: () => openings === 0,
    pauseMs: (party = ALONE) => {
      if (openings === 0) return 0;
      const own = readyAt(party) - now();
      if (probe !== undefined) return PROBE_LOOK_MS;
      // The turn of another may end early, with an answer.
      const next = Math.max(0, turnFrom - now()) + PROBE_LOOK_MS;
      return Math.max(0, Math.ceil(Math.min(own, next)));
    },
  };
}
