/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { bancoStore } from './banco.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { banco: bancoStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}
