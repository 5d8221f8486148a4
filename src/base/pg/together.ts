/**
 * Transactions of several municipalities as one: a commit or a statement costs about the same for one note and for a hundred. Each work
 * names its own tenant; equal statements of several works are sent as one (`merge.ts`). One that fails is repeated alone. Each runs alone
 * on Citus, whose tenants live on several nodes.
 */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { ABORTED } from './by-turns.ts';
import { isDistributed } from './distributed.ts';
import { keepApart, type Merged, mergeQueries } from './merge.ts';
import { type Db, type Pipelined, runPipeline, SHORT_LOCK_MS, type TransactionOptions } from './open.ts';
import type { PoolClient } from './pg.ts';
import { type Unavailability, UncertainCommit, unavailabilityOf } from './unavailable.ts';

/** Works in one transaction, at most. The statements of more would hold the locks of the first for long. */
const WORKS_MAX = 64;
/** A transaction that takes longer, as for a locked row, delays the next one no further. */
const HELD_MAX_MS = 250;

/** Failures of one work among several: a lock, a deadlock, a statement that took too long. */
const OF_ONE: ReadonlySet<Unavailability> = new Set(['locked', 'conflict', 'slow']);

/** A work may run up to three times: with others and merged statements, with others, and alone. */
export type Work<Result> = (client: PoolClient) => Promise<Pipelined<Result>>;

type Member = {
  readonly tenant: string;
  readonly work: Work<unknown>;
  readonly options: TransactionOptions | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

export type Together = {
  /** Runs a work of a tenant in the next transaction, with all works that came meanwhile. `options`: of a transaction of its own. */
  run<Result>(tenant: string, work: Work<Result>, options?: TransactionOptions): Promise<Result>;
  /** Resolves when the next transaction may begin; undefined: at once. */
  ready(): Promise<void> | undefined;
};

/** `spacingMs`: least time between the beginnings of two transactions. A work that comes alone after a pause begins at once. */
export function shareTransactions(pool: Db, spacingMs = 0): Together {
  const queue: Member[] = [];
  /** The transaction under way, and the rest of its spacing. No clock is read: it may be set, or stand still. */
  let running: Promise<void> | undefined;
  let spacing: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const ready = (): Promise<void> | undefined => {
    if (isDistributed(pool) || (running === undefined && spacing === undefined)) return undefined;
    next ??= Promise.all([running, spacing]).then(() => {
      next = undefined;
    });
    return next;
  };
  const depart = async (): Promise<void> => {
    for (let waiting = ready(); waiting !== undefined; waiting = ready()) {
      await waiting;
      // Callers that waited for the same moment add their works in this turn.
      await nextTurn();
    }
    if (spacingMs > 0) {
      spacing = wait(spacingMs, undefined, { ref: false }).then(() => {
        spacing = undefined;
      });
    }
    // One order in all processes: two transactions never wait for each other.
    const members = queue.splice(0, WORKS_MAX).sort((one, other) => (one.tenant < other.tenant ? -1 : 1));
    running = atMost(HELD_MAX_MS, runMembers(pool, members)).then(() => {
      running = undefined;
    });
    if (queue.length > 0) void depart();
  };
  return {
    ready,
    run: <Result>(tenant: string, work: Work<Result>, options?: TransactionOptions): Promise<Result> => {
      if (isDistributed(pool)) return runPipeline(pool, work, options);
      return new Promise<Result>((resolve, reject) => {
        queue.push({ tenant, work, options, resolve: resolve as Member['resolve'], reject });
        // The start is one turn later, so that works of this turn share the transaction.
        if (queue.length === 1) setImmediate(() => void depart());
      });
    },
  };
}

/** Resolves when a promise does, or after a time. The promise never rejects. */
function atMost(ms: number, ending: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void ending.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Runs works together. If a merged statement fails, each work sends its own statements, so that the failed one is known. That one runs
 * again alone, without delaying the others, which run together again.
 */
async function runMembers(pool: Db, members: readonly Member[], isMerged = true): Promise<void> {
  const [only] = members;
  if (only === undefined) return;
  if (members.length === 1) return runAlone(pool, only);
  const failed = new Set<Member>();
  const work = (client: PoolClient) => workTogether((isMerged ? mergeQueries : keepApart)(client), members, failed);
  try {
    const results = await runPipeline(pool, work, { lockMs: SHORT_LOCK_MS });
    members.forEach(({ resolve }, place) => {
      resolve(results[place]);
    });
  } catch (error) {
    if (failed.size === 0 || error instanceof UncertainCommit) for (const { reject } of members) reject(error);
    else if (isMerged) await runMembers(pool, members, false);
    else {
      for (const member of failed) void runAlone(pool, member);
      const others = members.filter((member) => !failed.has(member));
      await runMembers(pool, others);
    }
  }
}

async function runAlone(pool: Db, { work, options, resolve, reject }: Member): Promise<void> {
  await runPipeline(pool, work, options).then(resolve, reject);
}

/** All works are awaited: a statement that one sends after the rollback of the others would stand. */
async function workTogether(
  { createClient, send }: Merged,
  members: readonly Member[],
  failed: Set<Member>,
): Promise<Pipelined<readonly unknown[]>> {
  const ended = await Promise.allSettled(
    members.map(async (member) => {
      const noteFailure = (error: unknown): void => {
        if (isOwn(error)) failed.add(member);
      };
      try {
        const { result, writes } = await member.work(createClient());
        // A write may fail while others still work.
        for (const write of writes) write.catch(noteFailure);
        return { result, writes };
      } catch (error) {
        noteFailure(error);
        throw error;
      }
    }),
  );
  send();
  const failure = ended.find((one) => one.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  const all = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  return { result: all.map(({ result }) => result), writes: all.flatMap(({ writes }) => writes) };
}

/** Whether a failure is of one work: its row is locked or refused. A lost or full server fails all of them. */
function isOwn(error: unknown): boolean {
  const kind = unavailabilityOf(error);
  if (kind !== undefined) return OF_ONE.has(kind);
  return (error as { code?: unknown }).code !== ABORTED;
}

/** Least time between two transactions of the worker, in milliseconds. No caller of the API waits for them. */
const SPACING_MS = 20;

const ofPools = new WeakMap<Db, Together>();

/** The transactions in which the worker settles outcomes, and gives changes and audit entries their places. */
export function sharedOf(pool: Db): Together {
  return ofPools.getOrInsertComputed(pool, () => shareTransactions(pool, SPACING_MS));
}
