/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { vigiaStore } from './vigia.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { vigia: vigiaStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}
