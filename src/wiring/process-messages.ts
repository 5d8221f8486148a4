/** What the process that watches and those that answer say to each other. */
import type { Wanted } from '../base/http/buckets.ts';
import type { Taken } from '../base/http/shared-buckets.ts';
import type { Snapshot } from '../base/measures/counters.ts';
import type { Connection } from '../base/pg/servers.ts';
import type { Failure } from './failure.ts';

/** What a process that answers is started with. */
export type ServingSettings = {
  readonly connection: Connection;
  /** How many answer. */
  readonly processes: number;
  /** Which of them it is, from 0; the first does what one of them does for all. */
  readonly place: number;
  /** What was spent so far of what they count together. */
  readonly spent: readonly Wanted[];
};

/**
 * To a process that answers: how to start; where the service listens; a connection, which comes along; what the others took; the answer
 * of the count; what it has counted; that the service is about to end; that requests are to wait, since the service stops listening; that no connection comes any
 * more, and whether another process has taken its place.
 */
export type ToServing =
  | { readonly kind: 'start'; readonly settings: ServingSettings }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'connection' }
  | { readonly kind: 'spent'; readonly spent: readonly Wanted[] }
  | { readonly kind: 'taken'; readonly asked: number; readonly taken: Taken }
  | { readonly kind: 'measure'; readonly asked: number }
  | { readonly kind: 'drain' }
  | { readonly kind: 'hold' }
  | { readonly kind: 'end'; readonly isReplaced: boolean };

/**
 * From a process that answers: it is ready, or cannot start; how many connections it was handed and has open; what it took; what it would
 * take; what it has counted; that its requests wait.
 */
export type FromServing =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'connections'; readonly handed: number; readonly open: number }
  | { readonly kind: 'spent'; readonly spent: readonly Wanted[] }
  | { readonly kind: 'take'; readonly asked: number; readonly wanted: readonly Wanted[] }
  | { readonly kind: 'measured'; readonly asked: number; readonly snapshot: Snapshot }
  | { readonly kind: 'held' };
