/**
 * Notas whose sending was announced as they were stored, on their way to a lane (D-366). Each waits briefly or is given back: to be due,
 * and asked about, like anything that was announced and not sent.
 */
import { randomUUID } from 'node:crypto';
import { LIMITS } from '../../adn/limits.ts';
import type { Announce, AnnouncedClaim } from '../book/claim-notas.ts';
import { LEASE_MS } from './backoff.ts';

/**
 * A claim is taken by a lane within this time of its announcement, or given back. What is left of it is longer than asking, sending and
 * asking again may take (`LIMITS` of the ADN).
 */
const WAIT_MAX_MS = 3_000;
/** Notas of a batch: as many as the national environment is sent at once. */
const BATCH_MAX = LIMITS.lotDocumentsMax * LIMITS.lotsAtOnce;
/** Notas of a tenant that may be announced between two batches, and wait. */
const WAITING_MAX = 2 * BATCH_MAX;
/** Leave ends after this time: nothing is announced for a worker that stands still, or finds no way to send. */
const LEAVE_MS = 2_000;

/** Claims that wait for a lane. `onLeave`: told how many more notas of a tenant may be announced, in place of what it was told before. */
export class AnnouncedClaims {
  private readonly waiting = new Map<string, AnnouncedClaim[]>();
  private readonly onLeave: (tenant: string, notas: number) => void;

  constructor(onLeave: (tenant: string, notas: number) => void) {
    this.onLeave = onLeave;
  }

  put(tenant: string, claim: AnnouncedClaim): void {
    const claims = this.waiting.get(tenant);
    if (claims === undefined) this.waiting.set(tenant, [claim]);
    else claims.push(claim);
  }

  /** Tenants that have some. */
  tenants(): readonly string[] {
    return [...this.waiting.keys()];
  }

  /** The claims of a batch, the oldest first; `stale`: those that are to be given back, by their tokens. */
  take(tenant: string, now: number): { readonly fresh: readonly AnnouncedClaim[]; readonly stale: readonly string[] } {
    const claims = this.waiting.get(tenant) ?? [];
    const fresh: AnnouncedClaim[] = [];
    const stale: string[] = [];
    let notas = 0;
    while (claims.length > 0 && notas < BATCH_MAX) {
      const claim = claims.shift()!;
      // A claim without notas may not have been committed; a clock that was set says nothing of the time that is left.
      if (claim.notas.length === 0 || Math.abs(now - claim.at) > WAIT_MAX_MS) stale.push(claim.token);
      else fresh.push(claim);
      notas += claim.notas.length;
    }
    if (claims.length === 0) this.waiting.delete(tenant);
    return { fresh, stale };
  }

  /** All of them, by tenant and their tokens. */
  takeAll(): readonly (readonly [tenant: string, tokens: readonly string[]])[] {
    const all = [...this.waiting].map(([tenant, claims]) => [tenant, claims.map(({ token }) => token)] as const);
    this.waiting.clear();
    return all;
  }

  /** For as many notas as may wait, or for none. */
  giveLeave(tenant: string, isWelcome: boolean): void {
    const waiting = (this.waiting.get(tenant) ?? []).reduce((sum, { notas }) => sum + notas.length, 0);
    this.onLeave(tenant, isWelcome ? Math.max(0, WAITING_MAX - waiting) : 0);
  }
}

/** Leave that a worker gives to announce notas, by tenant, as whoever stores them keeps it. */
export class Leaves {
  private readonly given = new Map<string, { readonly until: number; notas: number }>();

  /** In place of what was given before. */
  give(tenant: string, notas: number): void {
    this.given.set(tenant, { until: performance.now() + LEAVE_MS, notas });
  }

  /** The worker is gone. */
  clear(): void {
    this.given.clear();
  }

  readonly announce: Announce = (tenant, notas) => {
    const leave = this.given.get(tenant);
    if (leave === undefined || leave.notas < notas || performance.now() > leave.until) return undefined;
    leave.notas -= notas;
    const at = Date.now();
    return { token: randomUUID(), at, until: at + LEASE_MS };
  };
}
