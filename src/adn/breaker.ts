/**
 * A circuit breaker: after several failures in a row nobody tries for a while; then one party probes, and the outcome decides. A failure is
 * that the other side could not be talked to; an answer, a refusal too, is none.
 *
 * Several parties may share a circuit. A failure that may be the fault of one party makes that party a suspect, and the others go on. As
 * many suspects as failures open the circuit; then a party that is no suspect may probe soon, and the suspects in turn.
 */

/** Failures in a row, or suspects, that open the circuit: more than the lots of one party that are on their way at once. */
const FAILURES_TO_OPEN = 5;
const PAUSE_FIRST_MS = 500;
/** An environment that comes back is found within this time. */
const PAUSE_MAX_MS = 30_000;
/** Jitter: a pause lasts between this share of its length and all of it, so that several processes do not march in step. */
const PAUSE_SHARE_MIN = 0.5;
/** How soon to look again while another party probes, or has its turn. */
const PROBE_LOOK_MS = 250;
/** How long a turn is kept for its party: longer than the worker takes to look at a party again. */
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

/** The party of a circuit that is not shared. */
const ALONE = {};

type Circuit = {
  readonly settings: Required<Omit<BreakerSettings, 'onOpen' | 'onClose'>> & BreakerSettings;
  /** In a row. */
  failures: number;
  /** Since the last answer: whose tries came to nothing, and how often the circuit had been opened by then. */
  readonly suspects: Map<object, number>;
  /** Undefined: it is closed. */
  opening: Opening | undefined;
};

type Opening = {
  /** How often the circuit was opened without closing in between. */
  count: number;
  /** When it opened first. */
  readonly since: number;
  /** When the next turn begins. */
  turnFrom: number;
  /** When a party that is no suspect may probe out of turn. */
  secondFrom: number;
  /** The pass of who is probing. */
  probe: object | undefined;
  /** Who wants to try, in the order of their turns. */
  readonly queue: Set<object>;
};

export function openBreaker({
  failuresToOpen = FAILURES_TO_OPEN,
  pauseFirstMs = PAUSE_FIRST_MS,
  pauseMaxMs = PAUSE_MAX_MS,
  now = () => performance.now(),
  random = Math.random,
  ...told
}: BreakerSettings = {}): Breaker {
  const settings = { failuresToOpen, pauseFirstMs, pauseMaxMs, now, random, ...told };
  const circuit: Circuit = { settings, failures: 0, suspects: new Map(), opening: undefined };
  return {
    enter: (party = ALONE) => enter(circuit, party),
    isClosed: () => circuit.opening === undefined,
    pauseMs: (party = ALONE) => pauseOf(circuit, party),
  };
}

function enter(circuit: Circuit, party: object): Pass | undefined {
  const { opening, settings } = circuit;
  const pass = passOf(circuit, party);
  if (opening !== undefined) {
    const from = readyAt(circuit, opening, party);
    if (opening.probe !== undefined || settings.now() < from) return undefined;
    leaveQueue(opening, party, settings.now());
    opening.probe = pass;
  }
  return pass;
}

function passOf(circuit: Circuit, party: object): Pass {
  let isOver = false;
  /** `learn` runs once, with the opening that this pass is the probe of. */
  const end =
    (learn: (probed: Opening | undefined, why?: string) => void): ((why?: string) => void) =>
    (why) => {
      if (isOver) return;
      isOver = true;
      const { opening } = circuit;
      const probed = opening?.probe === pass ? opening : undefined;
      if (probed !== undefined) probed.probe = undefined;
      learn(probed, why);
    };
  const pass: Pass = {
    answered: end(() => close(circuit)),
    failed: end((probed, why) => {
      circuit.failures += 1;
      const { failures, opening, settings } = circuit;
      // A try that set out before the circuit opened, and fails after it, tells nothing new.
      const isNews = probed !== undefined || (opening === undefined && failures >= settings.failuresToOpen);
      if (isNews) open(circuit, { failures, isDoubtful: false, why });
    }),
    suspected: end((probed, why) => suspect(circuit, party, probed, why)),
    withdrawn: end((probed) => {
      if (probed !== undefined) passOn(probed, circuit.settings.now());
    }),
  };
  return pass;
}

/** `isDoubtful`: for suspicions alone, so that somebody else may look soon. */
function open(
  circuit: Circuit,
  about: { readonly failures: number; readonly isDoubtful: boolean; readonly why: string | undefined },
): void {
  const { pauseFirstMs, pauseMaxMs, now, random, onOpen } = circuit.settings;
  const { failures, isDoubtful, why } = about;
  const before = circuit.opening;
  const count = before?.count ?? 0;
  const length = Math.min(pauseFirstMs * 2 ** count, pauseMaxMs);
  const pauseMs = Math.ceil(length * (PAUSE_SHARE_MIN + (1 - PAUSE_SHARE_MIN) * random()));
  circuit.opening = {
    count: count + 1,
    since: before?.since ?? now(),
    turnFrom: now() + pauseMs,
    secondFrom: isDoubtful ? now() + pauseFirstMs : Number.POSITIVE_INFINITY,
    probe: undefined,
    queue: before?.queue ?? new Set(),
  };
  onOpen?.({ failures, pauseMs, isAgain: before !== undefined, why });
}

function close(circuit: Circuit): void {
  const { opening, settings } = circuit;
  circuit.failures = 0;
  circuit.suspects.clear();
  circuit.opening = undefined;
  if (opening !== undefined) settings.onClose?.({ openMs: settings.now() - opening.since });
}

function suspect(circuit: Circuit, party: object, probed: Opening | undefined, why: string | undefined): void {
  const { suspects, opening, settings } = circuit;
  if (probed === undefined && opening !== undefined) return;
  const count = probed?.count ?? 0;
  suspects.set(party, count);
  const agreeing = [...suspects.values()].filter((when) => when === count).length;
  if (agreeing >= settings.failuresToOpen) open(circuit, { failures: agreeing, isDoubtful: true, why });
  else if (probed !== undefined) passOn(probed, settings.now());
}

/** When this party may probe. Asking gives it a place in the queue. */
function readyAt({ suspects }: Circuit, { queue, turnFrom, secondFrom }: Opening, party: object): number {
  queue.add(party);
  const isNext = queue.values().next().value === party;
  const inTurn = turnFrom + (isNext ? 0 : TURN_MS);
  return suspects.has(party) ? inTurn : Math.min(inTurn, secondFrom);
}

/** Its turn is used up. Past the time of the next one, so are the turns of those that stand before it. */
function leaveQueue({ queue, turnFrom }: Opening, party: object, now: number): void {
  if (now >= turnFrom + TURN_MS) {
    for (const one of queue) {
      if (one === party) break;
      queue.delete(one);
    }
  }
  queue.delete(party);
}

/** The next turn is that of somebody else, and begins at once when the pause is over. */
function passOn(opening: Opening, now: number): void {
  opening.turnFrom = Math.max(opening.turnFrom, now);
}

function pauseOf(circuit: Circuit, party: object): number {
  const { opening, settings } = circuit;
  if (opening === undefined) return 0;
  const now = settings.now();
  const own = readyAt(circuit, opening, party) - now;
  if (opening.probe !== undefined) return PROBE_LOOK_MS;
  // The turn of another may end early, with an answer.
  const next = Math.max(0, opening.turnFrom - now) + PROBE_LOOK_MS;
  return Math.max(0, Math.ceil(Math.min(own, next)));
}
