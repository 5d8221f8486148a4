/** The messages between the watching process and the answering ones. */
import type { Wanted } from '../base/http/buckets.ts';
import type { Taken } from '../base/http/shared-buckets.ts';
import type { Snapshot } from '../base/measures/counters.ts';
import type { Connection } from '../base/pg/servers.ts';
import type { Failure } from './failure.ts';

/** The settings of an answering process at its start. */
export type ServingSettings = {
  readonly connection: Connection;
  /** The number of answering processes. */
  readonly processes: number;
  /** The index of this process, from 0; the first one performs the tasks that only one may do. */
  readonly place: number;
  /** The shared quotas that are already used. */
  readonly spent: readonly Wanted[];
};

/**
 * Messages to an answering process: its settings; the address of the service; a connection, which is attached; quotas used by the others;
 * the answer of a quota; a query for its counters; the coming end of the service; the order to hold requests, since the service stops
 * listening; the end of connections, with whether another process has taken its place.
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
 * Messages from an answering process: it is ready, or cannot start; the numbers of its handed and open connections; quotas that it used; a
 * quota that it wants; its counters; its requests are on hold.
 */
export type FromServing =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'connections'; readonly handed: number; readonly open: number }
  | { readonly kind: 'spent'; readonly spent: readonly Wanted[] }
  | { readonly kind: 'take'; readonly asked: number; readonly wanted: readonly Wanted[] }
  | { readonly kind: 'measured'; readonly asked: number; readonly snapshot: Snapshot }
  | { readonly kind: 'held' };
