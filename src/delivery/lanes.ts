/**
 * Whose turn it is. A lane delivers batches of one kind of one tenant, one after the other, and gives its place back when somebody waits:
 * who was served longest ago goes first. What does not wait for the national environment has places of its own.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { worldOf } from '../flows/relogio.ts';
import { isPassing, tellTrouble } from '../flows/store-trouble.ts';
import type { World } from '../flows/world.ts';
import { lookAt } from '../measures/counters.ts';
import type { Sample } from '../measures/metrics.ts';
import type { Municipio } from '../store/municipios.ts';
import type { AnnouncedClaims } from './announced.ts';
import { LEASE_MS } from './backoff.ts';
import type { Delivered, Taking } from './deliver.ts';

/** Pause after the database or a bug stopped a delivery. */
const TROUBLE_MS = 1_000;
export type Kind = {
  readonly kind:
    | 'notas'
    | 'eventos'
    | 'lotes'
    | 'retidas'
    | 'mudancas'
    | 'auditoria'
    | 'avisos'
    | 'avisos_lentos'
    | 'exportacoes';
  /** Batches of one tenant at once: while one waits for its answers the next is signed. */
  readonly lanes: number;
  readonly deliver: (world: World, municipio: Municipio, taking: Taking) => Promise<Delivered>;
  /** Whether a batch goes to whom the tenant transmits to, where another one is the service's own affair. */
  readonly isSent: boolean;
};

/**
 * Places for batches at once, by what they wait for; a batch that waits for an answer holds no database connection. `local`: the authority
 * in this process. Addresses that are quick wait for no slow one, and none of a municipality for one of a rehearsal (D-611).
 */
const PLACES = {
  ...{ notas: 20, eventos: 6, lotes: 2, retidas: 1, mudancas: 2, auditoria: 2, exportacoes: 1, local: 4 },
  ...{ avisos: 8, avisos_lentos: 8, avisos_de_ensaio: 8, avisos_lentos_de_ensaio: 8 },
} as const;
export type Room = keyof typeof PLACES;
/** Beyond so many open lanes of a room no tenant has a second one: the rest of the places is for who has none. */
const SECOND_LANES_BELOW = 14;

/** A lane that may be opened, or is. `isDue`: not only what was announced as it was stored. */
export type Turn = {
  readonly of: Kind;
  readonly tenant: string;
  readonly key: string;
  readonly room: Room;
  readonly isDue: boolean;
};

/** A batch that takes longer says that what is announced now would wait too long for a lane. */
const QUICK_MS = 1_000;
const NONE_ANNOUNCED = { fresh: [], stale: [] };

/**
 * Places for batches, and who has them. `onBatch`: called for its tenant when a batch begins, because there may be more than it takes, and when
 * it has ended, because it may have made something else due; after trouble also when its pause ends.
 */
export class Lanes {
  private readonly world: World;
  private readonly announced: AnnouncedClaims;
  private readonly onBatch: (tenant: string) => void;
  private isClosed = false;
  private readonly running = new Set<Promise<void>>();
  /** Lanes open by key, and by room. */
  private readonly open = new Map<string, number>();
  /** Keys of which no second lane is opened for now. */
  private readonly doubtful = new Set<string>();
  /** What is not worth a look before a moment, on the clock of `performance.now`. */
  private readonly pauses = new Map<string, number>();
  /** When a key had its last turn, by the number of that turn. */
  private readonly served = new Map<string, number>();
  private turnsTaken = 0;
  private readonly endLooking: () => void;
  /** Due and without a lane, in the order of their turns. */
  private readonly waiting = new Map<Room, Turn[]>();

  constructor(world: World, announced: AnnouncedClaims, onBatch: (tenant: string) => void) {
    this.world = world;
    this.announced = announced;
    this.onBatch = onBatch;
    this.endLooking = lookAt(() => this.look());
  }

  /** Takes note of what is due now, and opens what there is a place for. `isAll`: nothing else is due. */
  offer(turns: readonly Turn[], isAll: boolean): void {
    const keys = new Set(turns.map(({ key }) => key));
    const others = isAll ? [] : [...this.waiting.values()].flat().filter(({ key }) => !keys.has(key));
    const ready = [...others, ...turns]
      .filter(({ key }) => !this.isPaused(key))
      .toSorted((one, other) => (this.served.get(one.key) ?? 0) - (this.served.get(other.key) ?? 0));
    for (const room of Object.keys(PLACES) as Room[]) {
      const here = ready.filter((turn) => turn.room === room);
      this.waiting.set(
        room,
        here.filter(({ key }) => this.count(key) === 0),
      );
      this.startWaiting(room);
      for (const turn of here) {
        if (this.waitingIn(room).length > 0 || this.count(room) >= Math.min(SECOND_LANES_BELOW, PLACES[room])) break;
        if (this.count(turn.key) >= turn.of.lanes || this.doubtful.has(turn.key)) continue;
        this.start(turn);
      }
    }
  }

  /** No batch begins any more. */
  close(): void {
    this.isClosed = true;
  }

  /** When those under way have ended; what nobody has begun is given back. */
  async end(): Promise<void> {
    await Promise.all(this.running);
    this.endLooking();
    for (const [tenant, tokens] of this.announced.takeAll()) await this.endClaims(tenant, tokens);
  }

  private look(): readonly Sample[] {
    return (Object.keys(PLACES) as Room[]).flatMap((fila): readonly Sample[] => [
      { name: 'nfse_faixas_ocupadas', labels: { fila }, value: this.count(fila) },
      { name: 'nfse_faixas_lugares', labels: { fila }, value: PLACES[fila] },
    ]);
  }

  private count(name: string): number {
    return this.open.get(name) ?? 0;
  }

  private add(name: string, more: 1 | -1): void {
    const now = this.count(name) + more;
    if (now === 0) this.open.delete(name);
    else this.open.set(name, now);
  }

  private pause(key: string, ms: number): void {
    if (ms > 0) this.pauses.set(key, performance.now() + ms);
  }

  private isPaused(key: string): boolean {
    const until = this.pauses.get(key);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.pauses.delete(key);
    return false;
  }

  private waitingIn(room: Room): Turn[] {
    return this.waiting.get(room) ?? [];
  }

  private start(turn: Turn): void {
    this.add(turn.key, 1);
    this.add(turn.room, 1);
    this.onBatch(turn.tenant);
    const lane = this.runLane(turn).finally(() => {
      this.running.delete(lane);
      this.add(turn.key, -1);
      this.add(turn.room, -1);
      this.startWaiting(turn.room);
      this.onBatch(turn.tenant);
    });
    this.running.add(lane);
  }

  /** Gives free places to the turns that wait. */
  private startWaiting(room: Room): void {
    while (!this.isClosed && this.count(room) < PLACES[room]) {
      const turn = this.waiting.get(room)?.shift();
      if (turn === undefined) break;
      if (this.count(turn.key) > 0 || this.isPaused(turn.key)) continue;
      this.start(turn);
    }
  }

  /** Batch after batch while nobody waits for the place. */
  private async runLane(turn: Turn): Promise<void> {
    const { of, tenant, key, room } = turn;
    let { isDue } = turn;
    let tokens: readonly string[] = [];
    try {
      while (!this.isClosed) {
        const municipio = await this.world.store.municipios.findBySlug(tenant);
        // What was announced of a closed one keeps its claim until that ends by itself.
        if (municipio === undefined || (municipio.fechado === true && of.kind !== 'auditoria')) return;
        this.turnsTaken += 1;
        this.served.set(key, this.turnsTaken);
        const token = randomUUID();
        const { fresh, stale } = of.kind === 'notas' ? this.announced.take(tenant, this.world.now()) : NONE_ANNOUNCED;
        const handed = fresh.map((claim) => claim.token);
        tokens = [token, ...handed, ...stale];
        const began = performance.now();
        const done = await of.deliver(worldOf(this.world, municipio), municipio, { token, announced: fresh, isDue });
        const { delivered, isFull, pauseMs, isDoubtful } = done;
        await this.endClaims(tenant, delivered === 0 ? [...handed, ...stale] : stale);
        tokens = [];
        const isQuick = performance.now() - began < QUICK_MS && this.waitingIn(room).length === 0;
        const isWell = !isFull && pauseMs === 0 && !isDoubtful && stale.length === 0;
        // What is announced is due again by the clock of the machine.
        const isByOurClock = municipio.relogioMs === undefined;
        if (of.kind === 'notas') this.announced.giveLeave(tenant, isQuick && isWell && isByOurClock);
        this.pause(key, pauseMs);
        if (isDoubtful) this.doubtful.add(key);
        else this.doubtful.delete(key);
        if (!isFull || pauseMs > 0 || (isDoubtful && this.count(key) > 1)) return;
        if (this.waitingIn(room).length > 0) {
          this.waitingIn(room).push({ ...turn, isDue: true });
          return;
        }
        isDue = true;
        this.onBatch(tenant);
      }
    } catch (error) {
      const about = { tenant, kind: of.kind };
      tellTrouble(this.world.log, error, about, 'a transmissão de um município falhou; o que esperava segue na fila');
      this.pause(key, TROUBLE_MS);
      setTimeout(this.onBatch, TROUBLE_MS, tenant).unref();
      if (of.kind === 'notas') this.announced.giveLeave(tenant, false);
      if (isPassing(error)) await this.endClaims(tenant, tokens);
    }
  }

  /** Ends the claims of a batch that failed, or was not begun, as soon as the database answers: its rows need not wait for the lease. */
  private async endClaims(tenant: string, tokens: readonly string[]): Promise<void> {
    if (tokens.length === 0) return;
    const until = performance.now() + LEASE_MS;
    while (performance.now() < until) {
      try {
        return await this.world.store.esperas.endClaims(tenant, tokens, this.world.now());
      } catch (error) {
        if (this.isClosed || !isPassing(error)) return;
        await sleep(TROUBLE_MS);
      }
    }
  }
}
