/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { dueLister } from './due.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { listDue: dueLister(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}
