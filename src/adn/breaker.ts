/**
 * A circuit breaker. It blocks all attempts for a while after several failures in a row. Then one party probes, and its outcome opens or
 * closes the circuit. A failure is an exchange that did not take place; every answer is a success, even a refusal.
 *
 * Several parties may share a circuit. A failure that one party may have caused makes that party a suspect. The other parties continue. The
 * circuit opens when there are as many suspects as failures needed (D-128). A party that is no suspect may then probe soon, and the
 * suspects in turn.
 */

/** Failures in a row, or suspects, that open the circuit: more than one party's simultaneous lots. */
const FAILURES_TO_OPEN = 5;
const PAUSE_FIRST_MS = 500;
/** The time within which an environment that is back is noticed. */
const PAUSE_MAX_MS = 30_000;
/** Jitter: a pause lasts between this share of its length and all of it, so that several processes do not synchronise. */
const PAUSE_SHARE_MIN = 0.5;
/** The time until the next look while another party probes, or has its turn. */
const PROBE_LOOK_MS = 250;
/** The time for which a turn is kept for its party: longer than the worker's interval between two looks at a party. */
const TURN_MS = 1_500;

/** Permission for one attempt. The caller calls exactly one of its ends; a second call does nothing. */
export type Pass = {
  /** The other side gave an answer of its own. */
  answered(): void;
  /** The other side was unreachable, independently of the party. */
  failed(why?: string): void;
  /** The attempt failed in a way that other parties need not share. */
  suspected(why?: string): void;
  /** The attempt taught nothing. */
  withdrawn(): void;
};

export type Breaker = {
  /** Undefined while the circuit is open, and while another is probing. `party`: the caller, if several share the circuit. */
  enter(party?: object): Pass | undefined;
  /** Whether more than one request at once makes sense. */
  isClosed(): boolean;
  /** Milliseconds until this party should try, or look again; 0 if now. Asking takes a turn. */
  pauseMs(party?: object): number;
};

export type BreakerSettings = {
  readonly failuresToOpen?: number;
  readonly pauseFirstMs?: number;
  readonly pauseMaxMs?: number;
  /** Milliseconds, never going back. */
  readonly now?: () => number;
  /** A number of at least 0 and below 1. */
  readonly random?: () => number;
  /** Called when the circuit opens, and each time a probe has opened it again. `why`: the last failure, if it was told. */
  readonly onOpen?: (about: {
    readonly failures: number;
    readonly pauseMs: number;
    readonly isAgain: boolean;
    readonly why: string | undefined;
  }) => void;
  /** `openMs`: the time since it first opened. */
  readonly onClose?: (about: { readonly openMs: number }) => void;
};

/** The party of a circuit that is not shared. */
const ALONE = {};

type Circuit = {
  readonly settings: Required<Omit<BreakerSettings, 'onOpen' | 'onClose'>> & BreakerSettings;
  /** The number of failures in a row. */
  failures: number;
  /** The parties whose attempts failed since the last answer, with the number of openings at that time. */
  readonly suspects: Map<object, number>;
  /** Undefined: the circuit is closed. */
  opening: Opening | undefined;
};

type Opening = {
  /** The number of openings since the circuit was last closed. */
  count: number;
  /** The time of the first opening. */
  readonly since: number;
  /** The start of the next turn. */
  turnFrom: number;
  /** The time from which a party that is no suspect may probe out of turn. */
  secondFrom: number;
  /** The pass of the probing party. */
  probe: object | undefined;
  /** The waiting parties, in the order of their turns. */
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
      // An attempt that started before the circuit opened, and fails after it, tells nothing new.
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

/** `isDoubtful`: opened by suspicions alone, so that another party may probe soon. */
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

/** The time at which this party may probe. Asking gives it a place in the queue. */
function readyAt({ suspects }: Circuit, { queue, turnFrom, secondFrom }: Opening, party: object): number {
  queue.add(party);
  const isNext = queue.values().next().value === party;
  const inTurn = turnFrom + (isNext ? 0 : TURN_MS);
  return suspects.has(party) ? inTurn : Math.min(inTurn, secondFrom);
}

/**
 * Removes a party whose turn is used up. The parties in front of it missed their turns if the next turn has begun: they are removed too.
 */
function leaveQueue({ queue, turnFrom }: Opening, party: object, now: number): void {
  if (now >= turnFrom + TURN_MS) {
    for (const one of queue) {
      if (one === party) break;
      queue.delete(one);
    }
  }
  queue.delete(party);
}

/** The next turn belongs to another party, and begins as soon as the pause is over. */
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
