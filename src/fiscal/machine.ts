/** What the machines of notas, eventos and lots have in common: each is the list of its moves. */

/**
 * When a worker looks at a row again after a move. `lease`: when the worker that claimed it should have finished. `publicacao`: when
 * there is a newer table of rates than the one that judged it. `poll`: now and then, since the wake for it may fail to come.
 */
export type Due = 'now' | 'lease' | 'backoff' | 'publicacao' | 'poll' | 'never';

export type Move<Estado extends string = string, Trigger extends string = string> = {
  /** Undefined: the row begins here. */
  readonly from: Estado | undefined;
  readonly on: Trigger;
  readonly to: Estado;
  readonly due: Due;
};

/** Where a trigger leads from a state; undefined when the machine has no such move. */
export function moveFrom<Of extends Move>(moves: readonly Of[], from: Of['from'], on: Of['on']): Of | undefined {
  return moves.find((move) => move.from === from && move.on === on);
}

/** The move that a trigger makes from a state. A machine without it is our own mistake, and throws. */
export function requireMove<Of extends Move>(moves: readonly Of[], from: Of['from'], on: Of['on']): Of {
  const move = moveFrom(moves, from, on);
  if (move === undefined) throw new Error(`the machine has no move ${on} from ${from}`);
  return move;
}

/** States in which a trigger finds a row. */
export function statesBefore<Of extends Move>(moves: readonly Of[], on: Of['on']): readonly NonNullable<Of['from']>[] {
  return moves.flatMap((move) => (move.on === on ? (move.from ?? []) : [])) as NonNullable<Of['from']>[];
}

/** The moves of a trigger that leads to one place from wherever it finds a row. */
export function movesTo<Of extends Move>(
  moves: readonly Of[],
  on: Of['on'],
): Pick<Of, 'on' | 'to' | 'due'> & { readonly from: readonly NonNullable<Of['from']>[] } {
  const first = moves.find((move) => move.on === on);
  if (first === undefined) throw new Error(`the machine has no move ${on}`);
  return { on, to: first.to, due: first.due, from: statesBefore(moves, on) };
}

/** States from which no move leads. */
export function finalStates<Of extends Move>(moves: readonly Of[]): readonly Of['to'][] {
  return [...new Set(moves.map(({ to }) => to))].filter((estado) => moves.every(({ from }) => from !== estado));
}
