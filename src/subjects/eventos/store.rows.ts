/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { eventoStore } from './eventos.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { eventos: eventoStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}
