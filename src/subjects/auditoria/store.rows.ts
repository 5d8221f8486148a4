/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { auditoriaStore } from './auditoria.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { auditoria: auditoriaStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}
