/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { ensaioStore } from './ensaios.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { ensaios: ensaioStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}
