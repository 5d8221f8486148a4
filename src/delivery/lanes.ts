/**
 * Whose turn it is. A lane delivers batches of one kind of one tenant, one after the other; a tenant's trouble, or its backlog, is
 * not another's: a lane gives its place back after each batch when somebody waits for one, who was served longest ago goes first, and
 * what does not wait for the national environment has places of its own.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing, tellTrouble } from '../flows/store-trouble.ts';
import type { World } from '../flows/world.ts';
import type { Municipio } from '../store/municipios.ts';
import { LEASE_MS } from './backoff.ts';
import type { Delivered } from './deliver.ts';

/** Pause after the database or a bug stopped a delivery. */
const TROUBLE_MS = 1_000;
export type Kind = {
  readonly kind: 'notas' | 'eventos' | 'lotes' | 'retidas';
  /** Batches of one tenant at once: while one waits for its answers the next is signed. */
  readonly lanes: number;
  readonly due: (world: World, now: number) => Promise<readonly string[]>;
  readonly deliver: (world: World, municipio: Municipio, token: string) => Promise<Delivered>;
  /** Whether a batch goes to whom the tenant transmits to, where another one is the service's own affair. */
  readonly isSent: boolean;
};

/**
 * Places for batches at once, by what they wait for. A batch holds a database connection only while it claims and settles, so
 * those that mostly wait for an answer are many. `local`: notes and events of the authority that is in this process.
 */
const PLACES = { notas: 20, eventos: 6, lotes: 2, retidas: 1, local: 4 } as const;
type Room = keyof typeof PLACES;
/** Beyond so many open lanes of a room no tenant has a second one: the rest of the places is for who has none. */
const SECOND_LANES_BELOW = 14;

/** A lane that may be opened, or is. */
export type Turn = { readonly of: Kind; readonly tenant: string; readonly key: string; readonly room: Room };

export type Lanes = {
  /** Takes note of all that is due now, and opens what there is a place for; whether it opened any. */
  offer(turns: readonly Turn[]): boolean;
  /** No batch begins any more. */
  close(): void;
  /** When those under way have ended. */
  end(): Promise<void>;
};

/** `onBatch`: called when a batch has ended, because it may have made something else due. */
export function openLanes(world: World, onBatch: () => void): Lanes {
  let isClosed = false;
  const running = new Set<Promise<void>>();
  /** Lanes open by key, and by room. */
  const open = new Map<string, number>();
  /** Keys of which no second lane is opened for now. */
  const doubtful = new Set<string>();
  /** What is not worth a look before a moment, on the clock of `performance.now`. */
  const pauses = new Map<string, number>();
  /** When a key had its last turn, by the number of that turn. */
  const served = new Map<string, number>();
  let turnsTaken = 0;
  /** Due and without a lane, in the order of their turns. */
  const waiting = new Map<Room, Turn[]>();

  const count = (name: string): number => open.get(name) ?? 0;
  const add = (name: string, more: 1 | -1): void => {
    const now = count(name) + more;
    if (now === 0) open.delete(name);
    else open.set(name, now);
  };
  const pause = (key: string, ms: number): void => {
    if (ms > 0) pauses.set(key, performance.now() + ms);
  };
  const isPaused = (key: string): boolean => {
    const until = pauses.get(key);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    pauses.delete(key);
    return false;
  };
  const waitingIn = (room: Room): readonly Turn[] => waiting.get(room) ?? [];

  /** Batch after batch while nobody waits for the place. */
  const runLane = async (turn: Turn): Promise<void> => {
    const { of, tenant, key, room } = turn;
    let token: string | undefined;
    try {
      while (!isClosed) {
        const municipio = await world.store.municipios.findBySlug(tenant);
        if (municipio === undefined) return;
        turnsTaken += 1;
        served.set(key, turnsTaken);
        token = randomUUID();
        const { isFull, pauseMs, isDoubtful } = await of.deliver(world, municipio, token);
        token = undefined;
        pause(key, pauseMs);
        if (isDoubtful) doubtful.add(key);
        else doubtful.delete(key);
        if (!isFull || pauseMs > 0 || (isDoubtful && count(key) > 1)) return;
        if (waitingIn(room).length > 0) {
          waiting.get(room)!.push(turn);
          return;
        }
        onBatch();
      }
    } catch (error) {
      const about = { tenant, kind: of.kind };
      tellTrouble(world.log, error, about, 'a transmissão de um município falhou; o que esperava segue na fila');
      pause(key, TROUBLE_MS);
      if (token !== undefined && isPassing(error)) await endClaim(tenant, token);
    }
  };

  /** What a batch had claimed goes on when the database is there again, and not when the claim ends. */
  const endClaim = async (tenant: string, token: string): Promise<void> => {
    const until = performance.now() + LEASE_MS;
    while (performance.now() < until) {
      try {
        return await world.store.esperas.endClaim(tenant, token, world.now());
      } catch (error) {
        if (isClosed || !isPassing(error)) return;
        await sleep(TROUBLE_MS);
      }
    }
  };

  const start = (turn: Turn): void => {
    add(turn.key, 1);
    add(turn.room, 1);
    const lane = runLane(turn).finally(() => {
      running.delete(lane);
      add(turn.key, -1);
      add(turn.room, -1);
      startWaiting(turn.room);
      onBatch();
    });
    running.add(lane);
  };

  /** Who waits takes the places that are free; whether anybody did. */
  const startWaiting = (room: Room): boolean => {
    let started = false;
    while (!isClosed && count(room) < PLACES[room]) {
      const turn = waiting.get(room)?.shift();
      if (turn === undefined) break;
      if (count(turn.key) > 0 || isPaused(turn.key)) continue;
      start(turn);
      started = true;
    }
    return started;
  };

  const offer = (turns: readonly Turn[]): boolean => {
    const ready = turns
      .filter(({ key }) => !isPaused(key))
      .toSorted((one, other) => (served.get(one.key) ?? 0) - (served.get(other.key) ?? 0));
    let started = false;
    for (const room of Object.keys(PLACES) as Room[]) {
      const here = ready.filter((turn) => turn.room === room);
      waiting.set(
        room,
        here.filter(({ key }) => count(key) === 0),
      );
      started = startWaiting(room) || started;
      for (const turn of here) {
        if (waitingIn(room).length > 0 || count(room) >= Math.min(SECOND_LANES_BELOW, PLACES[room])) break;
        if (count(turn.key) >= turn.of.lanes || doubtful.has(turn.key)) continue;
        start(turn);
        started = true;
      }
    }
    return started;
  };

  return {
    offer,
    close: () => {
      isClosed = true;
    },
    end: async () => {
      await Promise.all(running);
    },
  };
}
