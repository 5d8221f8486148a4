/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { evidenciaStore } from './evidencia.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { evidencia: evidenciaStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}
