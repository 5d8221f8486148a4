/**
 * Turns of delivery. A lane delivers batches of one kind of one tenant, and gives its place back when another lane waits. The tenant served
 * longest ago goes first. Each kind has places, apart for production and rehearsals (`base/world/lugares.ts`).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AMBIENTES, type Ambiente } from '../../fiscal/ambiente.ts';
import type { Municipio } from '../book/municipios.ts';
import { lookAt } from '../measures/counters.ts';
import type { Sample } from '../measures/metrics.ts';
import { FILAS, type Fila, Sala } from '../world/lugares.ts';
import { worldOf } from '../world/relogio.ts';
import { isPassing, tellTrouble } from '../world/store-trouble.ts';
import type { World } from '../world/world.ts';
import type { AnnouncedClaims } from './announced.ts';
import { LEASE_MS } from './backoff.ts';
import type { Delivered, Taking } from './deliver.ts';

/** Pause after the database or a bug stopped a delivery. */
const TROUBLE_MS = 1_000;
export type Kind = {
  readonly kind: Fila;
  /** Concurrent batches of one tenant: the next is signed while one waits for its answers. */
  readonly lanes: number;
  /** Places of a batch: `most` until its documents are known, then one for each, and `least` at the fewest. Undefined: one place. */
  readonly places?: { readonly least: number; readonly most: number };
  readonly deliver: (world: World, municipio: Municipio, taking: Taking) => Promise<Delivered>;
};

/** Full batches in a room below which a tenant may have a second one. The remaining places are for tenants without a lane. */
const SECOND_LANES_BELOW = 14;

/** A lane that may be opened, or is open. `isDue`: the queue has due rows, and not only announced ones. */
export type Turn = {
  readonly of: Kind;
  readonly tenant: string;
  readonly key: string;
  readonly ambiente: Ambiente;
  readonly isDue: boolean;
};

/** The sides of all rooms. */
const SIDES = (Object.keys(FILAS) as Fila[]).flatMap((fila) =>
  (Object.keys(AMBIENTES) as Ambiente[]).map((ambiente) => [fila, ambiente] as const),
);

/** The name in the metrics. */
function nameOf(fila: Fila, ambiente: Ambiente): string {
  return ambiente === 'producao' ? fila : `${fila}_de_ensaio`;
}

/** Documents of a batch that has not claimed any yet. */
const ANY_NUMBER = Number.POSITIVE_INFINITY;

/** The places of a batch of so many documents. */
function placesOf({ places }: Kind, documents: number): number {
  return places === undefined ? 1 : Math.min(places.most, Math.max(places.least, documents));
}

/** A slower batch shows that newly announced notas would wait too long for a lane. */
const QUICK_MS = 1_000;
const NONE_ANNOUNCED = { fresh: [], stale: [] };

/**
 * Places for batches, and their holders. `onBatch`: called for its tenant when a batch begins, because there may be more rows. It is also
 * called when a batch has ended, because that may have made other rows due. A pause after trouble ends with a call as well.
 */
export class Lanes {
  private readonly world: World;
  private readonly announced: AnnouncedClaims;
  private readonly onBatch: (tenant: string) => void;
  private isClosed = false;
  private readonly running = new Set<Promise<void>>();
  /** Number of open lanes by key. */
  private readonly open = new Map<string, number>();
  private readonly salas = Object.fromEntries(
    Object.entries(FILAS).map(([fila, lugares]) => [fila, new Sala(lugares)]),
  ) as Readonly<Record<Fila, Sala>>;
  /** Keys that get no second lane for now. */
  private readonly doubtful = new Set<string>();
  /** Keys that pause until a moment, on the clock of `performance.now`. */
  private readonly pauses = new Map<string, number>();
  /** Number of the last turn of each key. */
  private readonly served = new Map<string, number>();
  private turnsTaken = 0;
  private readonly endLooking: () => void;
  /** Due turns without a lane, in their order, by side of a room. */
  private readonly waiting = new Map<string, Turn[]>();

  constructor(world: World, announced: AnnouncedClaims, onBatch: (tenant: string) => void) {
    this.world = world;
    this.announced = announced;
    this.onBatch = onBatch;
    this.endLooking = lookAt(() => this.look());
  }

  /** Records the turns that are due now, and opens lanes as far as there are places. `isAll`: nothing else is due. */
  offer(turns: readonly Turn[], isAll: boolean): void {
    const keys = new Set(turns.map(({ key }) => key));
    const others = isAll ? [] : [...this.waiting.values()].flat().filter(({ key }) => !keys.has(key));
    const ready = [...others, ...turns]
      .filter(({ key }) => !this.isPaused(key))
      .toSorted((one, other) => (this.served.get(one.key) ?? 0) - (this.served.get(other.key) ?? 0));
    for (const [fila, ambiente] of SIDES) {
      const here = ready.filter((turn) => turn.of.kind === fila && turn.ambiente === ambiente);
      this.waiting.set(
        nameOf(fila, ambiente),
        here.filter(({ key }) => this.count(key) === 0),
      );
      this.startWaiting(fila, ambiente);
      for (const turn of here) {
        const isCrowded = this.salas[fila].count(ambiente) >= SECOND_LANES_BELOW * (turn.of.places?.most ?? 1);
        if (isCrowded || this.waitingIn(fila, ambiente).length > 0) break;
        if (this.count(turn.key) >= turn.of.lanes || this.doubtful.has(turn.key)) continue;
        if (!this.start(turn)) break;
      }
    }
  }

  /** Whether no turn of a kind waits for a lane. */
  isFree(fila: Fila): boolean {
    return SIDES.every(([name, ambiente]) => name !== fila || this.waitingIn(fila, ambiente).length === 0);
  }

  /** No batch begins any more. */
  close(): void {
    this.isClosed = true;
  }

  /** Resolves when the batches in progress have ended. Claims that no batch has begun are given back. */
  async end(): Promise<void> {
    await Promise.all(this.running);
    this.endLooking();
    for (const [tenant, tokens] of this.announced.takeAll()) await this.endClaims(tenant, tokens);
  }

  private look(): readonly Sample[] {
    return SIDES.flatMap(([name, ambiente]): readonly Sample[] => {
      const labels = { fila: nameOf(name, ambiente) };
      return [
        { name: 'nfse_faixas_ocupadas', labels, value: this.salas[name].count(ambiente) },
        { name: 'nfse_faixas_lugares', labels, value: FILAS[name][ambiente] },
      ];
    });
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

  private waitingIn(fila: Fila, ambiente: Ambiente): Turn[] {
    return this.waiting.get(nameOf(fila, ambiente)) ?? [];
  }

  /** Opens a lane; false: there is no place for one. */
  private start(turn: Turn): boolean {
    const { of, ambiente } = turn;
    const sala = this.salas[of.kind];
    let held = placesOf(of, turn.isDue ? ANY_NUMBER : this.announced.count(turn.tenant));
    if (!sala.enter(ambiente, held)) return false;
    this.add(turn.key, 1);
    this.onBatch(turn.tenant);
    const hold = (documents: number): void => {
      const places = placesOf(of, documents);
      sala.leave(ambiente, held - places);
      held = places;
      this.startWaiting(of.kind, ambiente);
    };
    const lane = this.runLane(turn, hold).finally(() => {
      this.running.delete(lane);
      this.add(turn.key, -1);
      sala.leave(ambiente, held);
      this.startWaiting(of.kind, ambiente);
      this.onBatch(turn.tenant);
    });
    this.running.add(lane);
    return true;
  }

  /** Gives free places to the turns that wait. */
  private startWaiting(fila: Fila, ambiente: Ambiente): void {
    const waiting = this.waitingIn(fila, ambiente);
    while (!this.isClosed && this.salas[fila].left(ambiente) > 0) {
      const turn = waiting.shift();
      if (turn === undefined) break;
      if (this.count(turn.key) > 0 || this.isPaused(turn.key)) continue;
      this.start(turn);
    }
  }

  /** Runs batch after batch while no other turn waits for the place. */
  private async runLane(turn: Turn, hold: (documents: number) => void): Promise<void> {
    const { of, tenant, key, ambiente } = turn;
    let { isDue } = turn;
    let tokens: readonly string[] = [];
    try {
      while (!this.isClosed) {
        const municipio = await this.world.store.municipios.findBySlug(tenant);
        // Announced notas of a closed municipality keep their claim until its lease ends.
        if (municipio === undefined || (municipio.fechado === true && of.kind !== 'auditoria')) return;
        this.turnsTaken += 1;
        this.served.set(key, this.turnsTaken);
        const token = randomUUID();
        const { fresh, stale } = of.kind === 'notas' ? this.announced.take(tenant, this.world.now()) : NONE_ANNOUNCED;
        const handed = fresh.map((claim) => claim.token);
        tokens = [token, ...handed, ...stale];
        const began = performance.now();
        const taking = { token, announced: fresh, isDue, onTaken: hold };
        const done = await of.deliver(worldOf(this.world, municipio), municipio, taking);
        const { delivered, isFull, pauseMs, isDoubtful } = done;
        await this.endClaims(tenant, delivered === 0 ? [...handed, ...stale] : stale);
        tokens = [];
        const isQuick = performance.now() - began < QUICK_MS && this.waitingIn(of.kind, ambiente).length === 0;
        const isWell = !isFull && pauseMs === 0 && !isDoubtful && stale.length === 0;
        if (of.kind === 'notas') this.announced.giveLeave(tenant, isQuick && isWell);
        this.pause(key, pauseMs);
        if (isDoubtful) this.doubtful.add(key);
        else this.doubtful.delete(key);
        if (!isFull || pauseMs > 0 || (isDoubtful && this.count(key) > 1)) return;
        if (this.waitingIn(of.kind, ambiente).length > 0) {
          this.waitingIn(of.kind, ambiente).push({ ...turn, isDue: true });
          return;
        }
        isDue = true;
        hold(ANY_NUMBER);
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

  /**
   * Ends the claims of a batch that failed, or was not begun, as soon as the database answers. Its rows then need not wait for the lease.
   */
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
