/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { loteStore } from './lotes.rows.ts';

export function createStore({ pool, onStored }: StoreSetup) {
  return { lotes: loteStore(pool, onStored) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}
