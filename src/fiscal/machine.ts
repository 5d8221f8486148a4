/** The common part of the state machines of notas, eventos and lots: each is the list of its moves. */

/**
 * When a worker examines a row again after a move. `lease`: when the worker that claimed it should have finished. `publicacao`: when a
 * newer table of rates exists than the one that judged it. `poll`: now and then, since its wake-up may be lost.
 */
export type Due = 'now' | 'lease' | 'backoff' | 'publicacao' | 'poll' | 'never';

export type Move<Estado extends string = string, Trigger extends string = string> = {
  /** Undefined: the row is created here. */
  readonly from: Estado | undefined;
  readonly on: Trigger;
  readonly to: Estado;
  readonly due: Due;
};

/** The move of a trigger from a state; undefined if the machine has no such move. */
export function moveFrom<Of extends Move>(moves: readonly Of[], from: Of['from'], on: Of['on']): Of | undefined {
  return moves.find((move) => move.from === from && move.on === on);
}

/** The move of a trigger from a state. A machine without it is our own mistake, and throws. */
export function requireMove<Of extends Move>(moves: readonly Of[], from: Of['from'], on: Of['on']): Of {
  const move = moveFrom(moves, from, on);
  if (move === undefined) throw new Error(`the machine has no move ${on} from ${from}`);
  return move;
}

/** States in which a trigger finds a row. */
export function statesBefore<Of extends Move>(moves: readonly Of[], on: Of['on']): readonly NonNullable<Of['from']>[] {
  return moves.flatMap((move) => (move.on === on ? (move.from ?? []) : [])) as NonNullable<Of['from']>[];
}

/** The moves of a trigger that leads to the same state from every state. */
export function movesTo<Of extends Move>(
  moves: readonly Of[],
  on: Of['on'],
): Pick<Of, 'on' | 'to' | 'due'> & { readonly from: readonly NonNullable<Of['from']>[] } {
  const first = moves.find((move) => move.on === on);
  if (first === undefined) throw new Error(`the machine has no move ${on}`);
  return { on, to: first.to, due: first.due, from: statesBefore(moves, on) };
}

/** States without an outgoing move. */
export function finalStates<Of extends Move>(moves: readonly Of[]): readonly Of['to'][] {
  return [...new Set(moves.map(({ to }) => to))].filter((estado) => moves.every(({ from }) => from !== estado));
}
