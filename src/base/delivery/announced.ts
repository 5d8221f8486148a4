/**
 * Notas whose sending was announced as they were stored, on their way to a lane (D-366). Each waits briefly for a lane, or is given back.
 * It is then due, and asked about, like any nota that was announced and not sent.
 */
import { randomUUID } from 'node:crypto';
import { LIMITS } from '../../adn/limits.ts';
import type { Announce, AnnouncedClaim } from '../book/claim-notas.ts';
import { LEASE_MS } from './backoff.ts';

/**
 * A lane takes a claim within this time of its announcement; otherwise the claim is given back. The rest of its lease suffices for asking,
 * sending and asking again (`LIMITS` of the ADN).
 */
const WAIT_MAX_MS = 3_000;
/** Notas of a batch: as many as the national environment accepts at once. */
export const BATCH_MAX = LIMITS.lotDocumentsMax * LIMITS.lotsAtOnce;
/** Notas of a tenant that may be announced between two batches and wait. */
const WAITING_MAX = 2 * BATCH_MAX;
/** Permission ends after this time, so that nothing is announced for a worker that is stuck or cannot send. */
const LEAVE_MS = 2_000;

/**
 * Receives how many further notas of a tenant may be announced; the number replaces the earlier one. Undefined: of each tenant that has no
 * number of its own.
 */
export type OnLeave = (tenant: string | undefined, notas: number) => void;

/** Claims that wait for a lane. */
export class AnnouncedClaims {
  private readonly waiting = new Map<string, AnnouncedClaim[]>();
  private readonly onLeave: OnLeave;

  constructor(onLeave: OnLeave) {
    this.onLeave = onLeave;
  }

  /** Returns whether the tenant has a full batch now. */
  put(tenant: string, claim: AnnouncedClaim): boolean {
    const claims = this.waiting.getOrInsertComputed(tenant, () => []);
    claims.push(claim);
    return this.count(tenant) >= BATCH_MAX;
  }

  /** Tenants with waiting claims. */
  tenants(): readonly string[] {
    return [...this.waiting.keys()];
  }

  /** The claims of a batch, the oldest first; `stale`: tokens of the claims that must be given back. */
  take(tenant: string, now: number): { readonly fresh: readonly AnnouncedClaim[]; readonly stale: readonly string[] } {
    const claims = this.waiting.get(tenant) ?? [];
    const fresh: AnnouncedClaim[] = [];
    const stale: string[] = [];
    let notas = 0;
    while (claims.length > 0 && notas < BATCH_MAX) {
      const claim = claims.shift()!;
      // A claim without notas may not have been committed. A clock that was changed says nothing about the time left.
      if (claim.notas.length === 0 || Math.abs(now - claim.at) > WAIT_MAX_MS) stale.push(claim.token);
      else fresh.push(claim);
      notas += claim.notas.length;
    }
    if (claims.length === 0) this.waiting.delete(tenant);
    return { fresh, stale };
  }

  /** Removes all claims; returns their tokens by tenant. */
  takeAll(): readonly (readonly [tenant: string, tokens: readonly string[]])[] {
    const all = [...this.waiting].map(([tenant, claims]) => [tenant, claims.map(({ token }) => token)] as const);
    this.waiting.clear();
    return all;
  }

  /** Permits as many notas as may still wait, or none. */
  giveLeave(tenant: string, isWelcome: boolean): void {
    this.onLeave(tenant, isWelcome ? Math.max(0, WAITING_MAX - this.count(tenant)) : 0);
  }

  /** Permits notas of all tenants that have no number of their own, because lanes are free. */
  giveOthersLeave(): void {
    this.onLeave(undefined, WAITING_MAX);
  }

  /** Notas of a tenant that wait. */
  count(tenant: string): number {
    return (this.waiting.get(tenant) ?? []).reduce((sum, { notas }) => sum + notas.length, 0);
  }
}

/** `until`: on the clock of `performance.now`. */
type Given = { readonly until: number; notas: number };

const NONE: Given = { until: Number.NEGATIVE_INFINITY, notas: 0 };

/**
 * Permissions of a worker to announce notas, by tenant. The process that stores notas keeps them. A tenant whose last batch went badly has
 * none until a batch goes well; any other has what is given to all.
 */
export class Leaves {
  private readonly given = new Map<string, Given>();
  private others: Given = NONE;

  /** Replaces the earlier permission. */
  give(tenant: string | undefined, notas: number): void {
    const until = notas === 0 ? Number.POSITIVE_INFINITY : performance.now() + LEAVE_MS;
    if (tenant === undefined) this.others = { until, notas };
    else this.given.set(tenant, { until, notas });
  }

  /** Ends all permissions when the worker is gone. */
  clear(): void {
    this.given.clear();
    this.others = NONE;
  }

  readonly announce: Announce = (tenant, notas) => {
    const now = performance.now();
    let leave = this.given.get(tenant);
    if (leave === undefined || now > leave.until) {
      leave = { ...this.others };
      this.given.set(tenant, leave);
    }
    if (leave.notas < notas || now > leave.until) return undefined;
    leave.notas -= notas;
    const at = Date.now();
    return { token: randomUUID(), at, until: at + LEASE_MS };
  };
}
